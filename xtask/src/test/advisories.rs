//! Compares `Cargo.lock` with published advisories about packages, from a snapshot with its date.
//!
//! In: `xtask/advisories.tsv`, which `xtask/advisories.py` makes before a release. Out: an error
//! that names each package that an advisory is about. Asks no network.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use semver::{Version, VersionReq};

/// The snapshot of https://github.com/rustsec/advisory-db.
const SNAPSHOT: &str = "xtask/advisories.tsv";

/// Advisories that do not apply to this program, and why. Each is about a package that is used.
const ACCEPTED: &[(&str, &str)] = &[(
    "RUSTSEC-2023-0071",
    "timing tells of a private key, and `crates/codesign` has none: it verifies signatures",
)];

/// Compares the packages of the repository with the snapshot.
pub(super) fn check(root: &Path) -> anyhow::Result<()> {
    let lock = fs::read_to_string(root.join("Cargo.lock")).context("reading `Cargo.lock`")?;
    let snapshot = fs::read_to_string(root.join(SNAPSHOT)).context("reading the advisories")?;
    let found = affected(&packages(&lock)?, &snapshot)?;
    let is_accepted = |line: &&String| ACCEPTED.iter().any(|(id, _)| line.starts_with(id));
    let open: Vec<&String> = found.iter().filter(|line| !is_accepted(line)).collect();
    ensure!(open.is_empty(), "advisories about packages that are used: {open:#?}");
    for (id, why) in ACCEPTED {
        let used = found.iter().any(|line| line.starts_with(id));
        ensure!(used, "{id} is about no package that is used; it was accepted because {why}");
    }
    Ok(())
}

/// Returns the packages of a lock file with their versions.
fn packages(lock: &str) -> anyhow::Result<Vec<(&str, Version)>> {
    let value = |line: &'static str| {
        lock.lines().filter_map(move |found| found.strip_prefix(line)?.strip_suffix('"'))
    };
    // The first version is that of the format, a number without quotation marks.
    let pairs = value("name = \"").zip(value("version = \""));
    pairs.map(|(name, version)| Ok((name, Version::parse(version)?))).collect()
}

/// Returns a line for each advisory about one of the packages.
fn affected(packages: &[(&str, Version)], snapshot: &str) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for line in snapshot.lines().filter(|line| !line.starts_with('#')) {
        let [id, package, kind, fine] = line.split('\t').collect::<Vec<_>>()[..] else {
            anyhow::bail!("{SNAPSHOT}: a line without four columns: {line}");
        };
        for (name, version) in packages.iter().filter(|(name, _)| *name == package) {
            let ranges = fine.split(" || ").filter(|range| !range.is_empty());
            let ranges: Vec<VersionReq> =
                ranges.map(VersionReq::parse).collect::<Result<_, _>>()?;
            if !ranges.iter().any(|range| range.matches(version)) {
                found.push(format!("{id}: {name} {version}, {kind}"));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.2.3\"\n\n\
                        [[package]]\nname = \"b\"\nversion = \"0.4.0\"\n";

    #[test]
    fn a_package_is_affected_outside_the_ranges() {
        let packages = packages(LOCK).unwrap();
        let found = |line: &str| affected(&packages, line).unwrap();
        assert_eq!(
            found("X\ta\tvulnerability\t>= 1.2.4 || < 1.0.0"),
            ["X: a 1.2.3, vulnerability"]
        );
        assert_eq!(found("X\ta\tvulnerability\t>= 1.2.3 || < 1.0.0"), [""; 0]);
        assert_eq!(found("X\tb\tunsound\t").len(), 1);
        assert_eq!(found("X\tc\tunsound\t"), [""; 0]);
        assert!(affected(&packages, "X\ta").is_err());
    }

    #[test]
    fn the_packages_of_this_repository_have_no_open_advisory() {
        check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))).unwrap();
    }
}
