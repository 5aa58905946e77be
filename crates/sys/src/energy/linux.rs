//! Energy on Linux: the counters of processor packages, beneath `/sys/class/powercap`.

use std::fs;
use std::path::Path;

use super::EnergyReading;
use crate::{clock, kernel_files};

/// Reads the counters, and the processor time of this process.
pub(super) fn now() -> EnergyReading {
    EnergyReading {
        cpu_ns: clock::process_cpu_ns(),
        energy_nj: packages_nj(Path::new("/sys/class/powercap")),
        of_machine: true,
        ..EnergyReading::default()
    }
}

/// Adds up the packages. `None` if there is none, or one may not be read: since Linux 5.10 only
/// root may. Zones within a package, `intel-rapl:0:1`, are part of it and not counted.
fn packages_nj(zones: &Path) -> Option<u64> {
    let mut sum: Option<u64> = None;
    for zone in fs::read_dir(zones).ok()?.flatten() {
        let name = zone.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("intel-rapl:"));
        if !number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
            continue;
        }
        // `psys` is the whole machine, with the packages in it.
        if kernel_files::text(zone.path().join("name")).is_some_and(|name| name == "psys") {
            continue;
        }
        let energy_uj: u64 = kernel_files::number(zone.path().join("energy_uj"))?;
        sum = Some(sum.unwrap_or(0).checked_add(energy_uj.checked_mul(1000)?)?);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zones(zones: &[(&str, &str, Option<&str>)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (zone, name, energy) in zones {
            fs::create_dir(root.path().join(zone)).unwrap();
            fs::write(root.path().join(zone).join("name"), format!("{name}\n")).unwrap();
            if let Some(energy) = energy {
                fs::write(root.path().join(zone).join("energy_uj"), format!("{energy}\n")).unwrap();
            }
        }
        root
    }

    #[test]
    fn packages_are_added_up_and_their_parts_are_not() {
        let root = zones(&[
            ("intel-rapl:0", "package-0", Some("5")),
            ("intel-rapl:0:0", "core", Some("3")),
            ("intel-rapl:1", "package-1", Some("7")),
            ("intel-rapl:2", "psys", Some("40")),
            ("intel-rapl", "control", None),
        ]);
        assert_eq!(packages_nj(root.path()), Some(12_000));
    }

    #[test]
    fn a_package_that_may_not_be_read_makes_the_sum_unknown() {
        let packages = [("intel-rapl:0", "package-0", Some("5")), ("intel-rapl:1", "p", None)];
        assert_eq!(packages_nj(zones(&packages).path()), None);
        assert_eq!(packages_nj(zones(&[]).path()), None);
        assert_eq!(packages_nj(Path::new("/nonexistent")), None);
    }
}
