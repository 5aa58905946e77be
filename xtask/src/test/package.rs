//! What a release consists of besides programs: recipes, units, workflows, dependencies, and the
//! package for Python, the commands of README; and one package, of the program that the other tests
//! run, which is made and tried. `cargo xtask package --verify` tries a whole release, which takes
//! too long for a step.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::Session;
use super::steps::{cargo, metadata, program, succeed, target_folder, trial};

/// The documents that state the version of the workspace, each with the beginning of its line.
const VERSIONED: [(&str, &str); 3] = [
    ("CHANGELOG.md", "## "),
    ("python/pyproject.toml", "version = \""),
    ("fleet/pyproject.toml", "version = \""),
];

pub(super) fn package(session: &mut Session) -> anyhow::Result<()> {
    versions(&session.root)?;
    recipes(session)?;
    units(session)?;
    workflows(session)?;
    dependencies(session)?;
    python(session)?;
    programs(&session.root)?;
    readme(session)?;
    one_package(session)
}

/// Makes sure that `cargo install --path crates/cli --all-features`, which README has, and a plain
/// `cargo build` make the command and nothing else: the program of the tests, which takes verdicts
/// and the clock from the environment, is in no package.
fn programs(root: &Path) -> anyhow::Result<()> {
    let metadata = metadata(root, &["--no-deps"])?;
    let built = metadata["workspace_default_members"].as_array().context("no members")?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let is_built = |package: &&Value| built.contains(&package["id"]);
    let targets = packages.iter().filter(is_built).flat_map(|it| it["targets"].as_array());
    let programs = targets.flatten().filter(|target| target["kind"][0] == "bin");
    let names: Vec<&str> = programs.filter_map(|target| target["name"].as_str()).collect();
    ensure!(names == ["steadfast"], "these programs are built for users: {}", names.join(", "));
    ensure!(
        built.len() == 1
            && packages.iter().filter(is_built).all(|it| it["name"] == "steadfast-cli")
    );
    Ok(())
}

/// Runs the commands under *Use* in README on a folder of its own, and its copy. Each must succeed,
/// and the repair restores a file that is gone.
fn readme(session: &Session) -> anyhow::Result<()> {
    let text = fs::read_to_string(session.root.join("README.md"))?;
    let commands = commands_of_use(&text).context("README has no commands under `## Use`")?;
    let folder = target_folder(session)?.join("readme");
    let _ = fs::remove_dir_all(&folder);
    for name in ["Pictures", "backup/Pictures"] {
        fs::create_dir_all(folder.join(name))?;
        for photograph in ["a.jpg", "b.jpg"] {
            fs::write(folder.join(name).join(photograph), photograph)?;
        }
    }
    let program = program(session)?;
    let program = program.parent().context("the command is in a folder")?;
    let path = format!("{}:/usr/bin:/bin", program.display());
    for command in commands {
        let words = command.replace("/mnt/backup", "backup").replace("~/", "");
        let words = words.replace("schedule add", "schedule add --timer manual");
        if words.starts_with("steadfast repair") {
            fs::remove_file(folder.join("Pictures/a.jpg"))?;
        }
        let words = words.replace("steadfast repair", "steadfast repair --yes");
        let mut shell = Command::new("sh");
        shell.args(["-ec", &words]).current_dir(&folder).env("PATH", &path);
        shell.env("XDG_STATE_HOME", folder.join("state"));
        shell.env("XDG_CONFIG_HOME", folder.join("config"));
        succeed(&mut shell).with_context(|| format!("README: `{command}`"))?;
    }
    ensure!(folder.join("Pictures/a.jpg").exists(), "the repair of README repaired nothing");
    Ok(())
}

/// The lines of the first block under the heading *Use*, without comments.
fn commands_of_use(text: &str) -> Option<Vec<&str>> {
    let block = text.split_once("## Use\n")?.1.split_once("```sh\n")?.1.split_once("```")?.0;
    Some(block.lines().map(|line| line.split('#').next().unwrap_or(line).trim()).collect())
}

/// Makes a package of the program that the other tests run, and tries it.
fn one_package(session: &Session) -> anyhow::Result<()> {
    if session.lacks(&["dpkg-deb", "gzip"]) {
        return Ok(());
    }
    let out = target_folder(session)?.join("package");
    fs::create_dir_all(&out)?;
    crate::package::make_and_try(&session.root, &out, &program(session)?)
}

/// Compares the version of the workspace with those that documents state.
fn versions(root: &Path) -> anyhow::Result<()> {
    let read = |file: &str| {
        fs::read_to_string(root.join(file)).with_context(|| format!("reading `{file}`"))
    };
    let workspace = read("Cargo.toml")?;
    let version = after(&workspace, "version = \"").context("the workspace states no version")?;
    for (file, begin) in VERSIONED {
        let text = read(file)?;
        let stated = after(&text, begin).with_context(|| format!("`{file}` states no version"))?;
        ensure!(stated == version, "`{file}` states version {stated}, the workspace {version}");
    }
    Ok(())
}

/// The version after the first line that begins so.
fn after<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    let rest = text.lines().find_map(|line| line.strip_prefix(begin))?;
    rest.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next()
}

/// Has the recipes read by the languages that they are written in.
fn recipes(session: &Session) -> anyhow::Result<()> {
    let folder = session.root.join("share/packaging");
    succeed(Command::new("bash").arg("-n").arg(folder.join("PKGBUILD")))?;
    let trees =
        [folder.join("unraid.xml"), session.root.join("share/macos/org.steadfast.check.plist")];
    let parse = "import sys, xml.dom.minidom as m; [m.parse(path) for path in sys.argv[1:]]";
    if !session.lacks(&["python3"]) {
        succeed(Command::new("python3").args(["-c", parse]).args(trees))?;
    }
    Ok(())
}

/// Has systemd read the units, which name a program that is not installed here.
fn units(session: &Session) -> anyhow::Result<()> {
    if session.lacks(&["systemd-analyze"]) {
        return Ok(());
    }
    let folder = target_folder(session)?.join("units");
    fs::create_dir_all(&folder)?;
    let mut units: Vec<PathBuf> = Vec::new();
    for end in ["service", "timer"] {
        let unit = session.root.join(format!("share/systemd/steadfast-check@.{end}"));
        let text = fs::read_to_string(unit)?.replace("/usr/bin/steadfast", "/bin/true");
        let instance = folder.join(format!("steadfast-check@srv.{end}"));
        fs::write(&instance, text)?;
        units.push(instance);
    }
    let mut verify = Command::new("systemd-analyze");
    succeed(verify.args(["verify", "--man=no"]).args(units))
}

fn workflows(session: &Session) -> anyhow::Result<()> {
    if session.lacks(&["actionlint"]) {
        return Ok(());
    }
    succeed(Command::new("actionlint").current_dir(&session.root))
}

/// Compares dependencies with advisories, and their licences and sources with `deny.toml`.
fn dependencies(session: &Session) -> anyhow::Result<()> {
    super::advisories::check(&session.root)?;
    if session.lacks(&["cargo-deny"]) {
        return Ok(());
    }
    succeed(cargo(session).args(["deny", "check", "licenses", "bans", "sources"]))
}

/// Runs the tests of the package for Python with the command that the other tests run.
fn python(session: &Session) -> anyhow::Result<()> {
    if session.lacks(&["python3"]) {
        return Ok(());
    }
    let program = trial(session)?;
    let folder = program.parent().context("the command is in a folder")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path)),
    )?;
    let mut tests = Command::new("python3");
    tests.args(["-m", "unittest", "discover", "-s", "tests"]);
    tests.current_dir(session.root.join("python")).env("PYTHONPATH", "src").env("PATH", path);
    let temporary = target_folder(session)?.join("tmp");
    fs::create_dir_all(&temporary)?;
    succeed(tests.env("STEADFAST_TEST_FOLDER", temporary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_under_use() {
        let text = "## Install\n```sh\nno\n```\n## Use\n\n```sh\na b # c\nd\n```\n```sh\ne\n```\n";
        assert_eq!(commands_of_use(text), Some(vec!["a b", "d"]));
        assert_eq!(commands_of_use("## Use it\n"), None);
    }

    #[test]
    fn a_version_ends_at_what_is_no_number() {
        let text = "# Changelog\n\n## 0.2.0, unreleased\n\n## 0.1.0\n";
        assert_eq!(after(text, "## "), Some("0.2.0"));
        assert_eq!(after("version = \"1.0.0\"\n", "version = \""), Some("1.0.0"));
        assert_eq!(after(text, "version"), None);
    }
}
