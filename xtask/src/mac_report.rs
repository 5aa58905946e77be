//! What only a Mac can tell: ten checks, each with what it should print, as one text.
//!
//! In come a folder in iCloud Drive and one on a network volume, if there are any; out goes a text
//! to paste into an issue. Scripts work in a folder of their own and leave nothing behind. The
//! home folder is shown as `~`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// One check.
struct MacCheck {
    title: &'static str,
    /// What a Mac prints on which everything is as it should be.
    expected: &'static str,
    /// For `/bin/sh`. `$steadfast` is the program, `$repository` its sources, `$cloud` and `$nas`
    /// the given folders, or nothing.
    script: &'static str,
}

const CHECKS: [MacCheck; 10] = [
    MacCheck {
        title: "the machine",
        expected: "version and kernels; performance and efficiency cores as sysctl names them; \
                   every level `set`",
        script: "sw_vers; sysctl -n machdep.cpu.brand_string hw.nperflevels hw.memsize
                 sysctl hw.perflevel0.name hw.perflevel0.logicalcpu hw.perflevel1.logicalcpu
                 $steadfast --version; $steadfast qos show",
    },
    MacCheck {
        title: "the tests",
        expected: "`test result: ok` for every crate",
        script: "cd \"$repository\"; cargo test --workspace --all-features --no-fail-fast 2>&1 \
                 | grep -E '^(test result|failures:|    [a-z_]+::|error)'",
    },
    MacCheck {
        title: "tags, copies and tools",
        expected: "`OK` of plutil; a tag `org.steadfast.tag#S` on each copy; `3 intact`; a table \
                   of tools in which ditto, cp and Finder have `kept`",
        script: "plutil -lint \"$repository\"/share/macos/*.workflow/Contents/*.plist
                 echo photo > a; $steadfast tag a; cp a b; cp -p a c; ditto a d; xattr -l a b c d
                 $steadfast check a c d",
    },
    MacCheck {
        title: "exFAT, where attributes are `._` files",
        expected: "`._a` is listed; tag and check have status 0 and skip 1 AppleDouble file; the \
                   volume's own folders are skipped",
        script: "hdiutil create -quiet -size 20m -fs ExFAT -volname SFTEST image.dmg
                 hdiutil attach -quiet -nobrowse -mountpoint \"$PWD/volume\" image.dmg
                 echo photo > volume/a; $steadfast tag volume; echo status $?; ls -la volume
                 $steadfast check volume; echo status $?
                 hdiutil detach -quiet volume",
    },
    MacCheck {
        title: "another process in the background",
        expected: "`set` and a lower PRI; then as before; no status but 0",
        script: "sleep 60 & pid=$!; ps -o pid,pri,nice,command -p $pid
                 $steadfast qos set background --pid $pid; echo status $?
                 ps -o pid,pri,nice,command -p $pid
                 $steadfast qos set default --pid $pid; echo status $?
                 ps -o pid,pri,nice,command -p $pid; kill $pid",
    },
    MacCheck {
        title: "a file in iCloud Drive (give its folder with --cloud)",
        expected: "flags with `dataless`; at once: status 2 and `no file's contents are on this \
                   machine`, nothing downloaded; then with --download 1 file intact",
        script: "test -n \"$cloud\" || { echo 'not given'; exit; }
                 f=\"$cloud/steadfast-test-$$\"; head -c 3000000 /dev/urandom > \"$f\"
                 $steadfast tag \"$f\"; sleep 60; brctl evict \"$f\"; sleep 5; ls -lO@ \"$f\"
                 time $steadfast check --json \"$f\"; echo status $?; ls -lO \"$f\"
                 $steadfast check --download \"$f\"; echo status $?; rm \"$f\"",
    },
    MacCheck {
        title: "reads from the medium, and an emptied cache",
        expected: "`from`: `cache` after cat; samples of `cold` with `cached_bytes` 0",
        script: "head -c 64000000 /dev/urandom > big; $steadfast tag big; cat big > /dev/null
                 $steadfast check --read-from media --json big | head -1
                 $steadfast measure read . --json 2>&1 | tail -5",
    },
    MacCheck {
        title: "locked files, privacy, a network volume (give a folder on one with --nas)",
        expected: "`locked`/`immutable` with chflags; a hint at Full Disk Access for Mail; on the \
                   volume a tag, a check, and a catalogue refused with advice",
        script: "echo x > locked; chflags uchg locked; $steadfast tag locked; chflags nouchg locked
                 $steadfast check ~/Library/Mail 2>&1 | head -3
                 test -n \"$nas\" || { echo 'no network volume'; exit; }
                 d=\"$nas/steadfast-test-$$\"; mkdir \"$d\"; echo x > \"$d/a\"; mount | grep -i smb
                 $steadfast tag \"$d\"; echo status $?; $steadfast check \"$d\"; echo status $?
                 $steadfast init \"$d\"; echo status $?; ls -la \"$d\"; rm -r \"$d\"",
    },
    MacCheck {
        title: "each level: time, cores and joules",
        expected: "background: hardly any `performance_cpu_ns`, fewest joules, longest time",
        script: "head -c 2000000000 /dev/zero > big; $steadfast tag big
                 for level in background utility default user-initiated user-interactive; do
                   echo $level; $steadfast check --qos $level --json big | tail -1 \
                     | grep -oE '\"(elapsed_ns|(performance_)?(energy_nj|cpu_ns))\":[0-9a-z]+'
                 done
                 $steadfast qos run utility -- $steadfast check big",
    },
    MacCheck {
        title: "a file that Dintch tagged (tag one on the Desktop with it first), and forks",
        expected: "`co.eclecticlight.dintch.hash` in hex; a check that judges it; 1 resource fork",
        script: "for f in ~/Desktop/*; do xattr \"$f\" | grep -q dintch || continue
                   xattr -lx \"$f\"; $steadfast check \"$f\"; done
                 echo data > forked; echo fork > forked/..namedfork/rsrc; $steadfast tag forked
                 $steadfast check --json forked | grep -o '\"resource_forks\":[0-9]*'",
    },
];

/// Runs all checks, or with `--show` prints them.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<bool> {
    let (mut cloud, mut nas, mut show) = ("", "", false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().map(String::as_str);
        match argument.as_str() {
            "--show" => show = true,
            "--cloud" => cloud = value().context("--cloud takes a folder")?,
            "--nas" => nas = value().context("--nas takes a folder")?,
            other => bail!("no option `{other}`: --cloud DIR, --nas DIR, --show"),
        }
    }
    if show {
        CHECKS.iter().enumerate().for_each(|(at, check)| print!("{}", heading(at, check)));
        return Ok(true);
    }
    if std::env::consts::OS != "macos" {
        bail!("this is for a Mac; `cargo xtask mac-report --show` prints what it would run");
    }
    let build = ["build", "--release", "--package", "steadfast-cli", "--all-features"];
    let built = Command::new(crate::cargo()).args(build).current_dir(root).status()?;
    anyhow::ensure!(built.success(), "steadfast cannot be built");
    let folder = std::env::temp_dir().join(format!("steadfast-mac-report-{}", std::process::id()));
    std::fs::create_dir(&folder).with_context(|| format!("making `{}`", folder.display()))?;
    println!("```text");
    for (at, check) in CHECKS.iter().enumerate() {
        print!("{}{}", heading(at, check), output(check, root, &folder, cloud, nas)?);
    }
    println!("```");
    std::fs::remove_dir_all(&folder).with_context(|| format!("removing `{}`", folder.display()))?;
    Ok(true)
}

fn heading(at: usize, check: &MacCheck) -> String {
    let lines = check.script.lines().map(|line| format!("  $ {}\n", line.trim()));
    let script: String = lines.collect();
    format!("\n== {}. {}\nexpected: {}\n{script}", at + 1, check.title, check.expected)
}

/// Runs a script in a folder, and returns what it printed.
fn output(
    check: &MacCheck,
    root: &Path,
    folder: &Path,
    cloud: &str,
    nas: &str,
) -> anyhow::Result<String> {
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("exec 2>&1\n{}", check.script)])
        .current_dir(folder)
        .env("steadfast", root.join("target/release/steadfast"))
        .env("repository", root)
        .envs([("cloud", cloud), ("nas", nas)])
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(match std::env::var("HOME") {
        Ok(home) if home.len() > 1 => text.replace(&home, "~"),
        _ => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_is_one_that_a_shell_can_read() {
        for check in &CHECKS {
            let read = Command::new("/bin/sh").args(["-n", "-c", check.script]).status().unwrap();
            assert!(read.success(), "{}", check.title);
            assert!(!check.expected.is_empty());
        }
    }

    #[test]
    fn what_a_script_prints_is_in_the_report() {
        let check = MacCheck { title: "t", expected: "e", script: "echo $nas; echo no >&2; pwd" };
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let text = output(&check, Path::new("/r"), &folder, "", "volume").unwrap();
        let last = folder.file_name().unwrap().to_string_lossy();
        assert!(text.starts_with("volume\nno\n") && text.trim().ends_with(&*last), "{text}");
        assert!(heading(0, &check).contains("== 1. t\nexpected: e\n  $ echo $nas;"));
    }
}
