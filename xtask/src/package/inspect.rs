//! Looks into what cannot be tried on this machine: packages for another processor, the archive for
//! macOS, and recipes whose package managers are not there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::linux::Machine;
use super::{Release, printed, succeed};
use crate::test::{MACOS_UNIVERSAL, is_ready};

/// Parts of a package for Linux.
const PARTS: [&str; 9] = [
    "/usr/bin/steadfast",
    "man1/steadfast-check.1.gz",
    "man5/steadfast-formats.5.gz",
    "bash-completion/completions/steadfast",
    "zsh/",
    "steadfast.fish",
    "steadfast-check@.timer",
    "steadfast.desktop",
    "doc/steadfast/",
];

/// Unpacks the archive for macOS, and reads its property lists.
const MACOS: &str = r#"
import plistlib, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
archive.extractall(sys.argv[2])
lists = [name for name in archive.namelist() if name.endswith((".plist", ".wflow"))]
assert len(lists) == 3, lists
for name in lists:
    plistlib.loads(archive.read(name))
programs = [entry for entry in archive.infolist() if entry.filename.endswith("/bin/steadfast")]
assert [entry.external_attr >> 16 & 0o777 for entry in programs] == [0o755], programs
"#;

/// Compares the processor and the parts of both packages for a machine.
pub(super) fn packages(release: &Release, machine: Machine) -> anyhow::Result<()> {
    let deb = release.out.join(format!("steadfast_{}_{}.deb", release.version, machine.debian));
    let ask = |question: &[&str]| printed(Command::new("dpkg-deb").args(question).arg(&deb));
    has(&deb, &ask(&["-c"])?, &["zsh/vendor-completions/_steadfast", "doc/steadfast/copyright"])?;
    let control = printed(Command::new("dpkg-deb").arg("-f").arg(&deb).arg("Architecture"))?;
    ensure!(control == machine.debian, "`{}` is for {control}", deb.display());

    let rpm = release.out.join(format!("steadfast-{}-1.{}.rpm", release.version, machine.fedora));
    let ask = |question: &[&str]| printed(Command::new("rpm").args(question).arg(&rpm));
    has(&rpm, &ask(&["-qpl"])?, &["zsh/site-functions/_steadfast"])?;
    let header = ask(&["-qp", "--qf", "%{ARCH}"])?;
    ensure!(header == machine.fedora, "`{}` is for {header}", rpm.display());
    println!("looked into: the packages for {}", machine.fedora);
    Ok(())
}

fn has(package: &Path, listed: &str, further: &[&str]) -> anyhow::Result<()> {
    for part in PARTS.iter().chain(further) {
        ensure!(listed.contains(part), "`{}` lacks {part}", package.display());
    }
    Ok(())
}

/// Looks into the archive for macOS, and verifies the seals of its program by `own`, the program
/// for this machine.
pub(super) fn macos(release: &Release, own: &Path) -> anyhow::Result<()> {
    let name = release.name(MACOS_UNIVERSAL);
    let archive = release.out.join(format!("{name}.zip"));
    if !archive.exists() {
        println!("not there: the archive for macOS");
        return Ok(());
    }
    let mut unpack = Command::new("python3");
    succeed(unpack.args(["-c", MACOS]).arg(&archive).arg(&release.scratch))?;
    let mut verify = Command::new(own);
    verify.args(["code", "verify", "--json"]);
    verify.arg(release.scratch.join(&name).join("bin/steadfast"));
    // The status is that of the whole program, of which one part need not be signed.
    let output = verify.output().with_context(|| format!("running {verify:?}"))?;
    seals(&String::from_utf8_lossy(&output.stdout))?;
    println!("looked into: the archive for macOS; the seal of its program for Arm is intact");
    Ok(())
}

/// Fails unless the program has an intact seal for Arm, which does not start without, and is
/// intact or unsigned for Intel: the linker signs for Arm only. `report` is that of `code verify`.
fn seals(report: &str) -> anyhow::Result<()> {
    let mut states = BTreeMap::new();
    for line in report.lines() {
        let object: serde_json::Value = serde_json::from_str(line)?;
        if let Some(state) = object["bytes"]["state"].as_str() {
            let architecture = object["architecture"].as_str().unwrap_or_default();
            states.insert(architecture.to_owned(), state.to_owned());
        }
    }
    let state = |name: &str| states.get(name).map(String::as_str);
    ensure!(
        states.len() == 2
            && state("arm64") == Some("intact")
            && matches!(state("x86_64"), Some("intact" | "unsigned")),
        "the seals of the program for macOS: {states:?}"
    );
    Ok(())
}

/// Compares the digests of recipes with those of the release, and has their languages read them.
pub(super) fn recipes(release: &Release) -> anyhow::Result<()> {
    let sums = fs::read_to_string(release.out.join("SHA256SUMS"))?;
    for (name, digests, reader) in
        [("PKGBUILD", 2, ["bash", "-n"]), ("steadfast.rb", 3, ["ruby", "-c"])]
    {
        let path = release.out.join(name);
        let Ok(recipe) = fs::read_to_string(&path) else {
            println!("not there: {name}");
            continue;
        };
        let stated: Vec<&str> = recipe.split(['"', '\'']).filter(|word| word.len() == 64).collect();
        ensure!(stated.len() == digests, "`{name}` has {} digests", stated.len());
        for digest in stated {
            ensure!(sums.contains(digest), "`{name}` has a digest of no archive: {digest}");
        }
        if is_ready(reader[0]) {
            succeed(Command::new(reader[0]).arg(reader[1]).arg(&path))?;
            println!("read: {name}, with the digests of the archives");
        } else {
            println!("not read: {name}, because there is no {}", reader[0]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_for_macos_must_be_sealed_for_arm() {
        let report = |intel: &str, arm: &str| {
            format!(
                r#"{{"path":"steadfast","code":"file"}}
                {{"architecture":"x86_64","bytes":{{"state":"{intel}"}}}}
                {{"architecture":"arm64","bytes":{{"state":"{arm}"}}}}"#
            )
        };
        seals(&report("unsigned", "intact")).unwrap();
        seals(&report("intact", "intact")).unwrap();
        for (intel, arm) in [("unsigned", "unsigned"), ("damaged", "intact"), ("intact", "damaged")]
        {
            assert!(seals(&report(intel, arm)).is_err(), "{intel}, {arm}");
        }
        assert!(seals("").is_err());
    }
}
