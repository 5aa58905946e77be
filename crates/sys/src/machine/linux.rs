//! The machine on Linux: `/proc`, `/sys`, `/etc/os-release`, `uname`, `sysinfo`.

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::kernel_files;

/// The most that is read of the kernel's messages. Its buffer usually has 128 KiB to 1 MiB.
const LOG_LEN_MAX: usize = 16 << 20;

/// Reads the records that are there, without waiting for more.
pub(super) fn kernel_log() -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let log = rustix::fs::open("/dev/kmsg", flags, Mode::empty()).ok()?;
    let mut text = String::new();
    // A shorter buffer than the kernel's longest record would be refused.
    let mut record = [0; 8192];
    while text.len() < LOG_LEN_MAX {
        match rustix::io::read(&log, &mut record) {
            Ok(0) | Err(Errno::AGAIN) => break,
            Ok(length) => text.push_str(&String::from_utf8_lossy(&record[..length])),
            // The record was overwritten before it was read; the next read goes on after it.
            Err(Errno::PIPE | Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(text)
}

/// Returns the model; on Arm, which has none, the board and the part.
pub(super) fn cpu_model() -> Option<String> {
    let facts = fs::read_to_string("/proc/cpuinfo").ok()?;
    if let Some(model) = value_of(&facts, "model name", ':') {
        return Some(model.to_owned());
    }
    let board = fs::read_to_string("/sys/firmware/devicetree/base/model").ok();
    let board = board.as_deref().map(|board| board.trim_end_matches('\0'));
    match (board, part(&facts)) {
        (Some(board), Some(part)) => Some(format!("{board} ({part})")),
        (Some(board), None) => Some(board.to_owned()),
        (None, part) => part,
    }
}

/// Returns the name of the distribution and the release of the kernel.
pub(super) fn os_version() -> Option<String> {
    let kernel = rustix::system::uname();
    let kernel =
        format!("{} {}", kernel.sysname().to_string_lossy(), kernel.release().to_string_lossy());
    let facts = fs::read_to_string("/etc/os-release").unwrap_or_default();
    match value_of(&facts, "PRETTY_NAME", '=') {
        Some(name) => Some(format!("{}, {kernel}", name.trim_matches(['"', '\'']))),
        None => Some(kernel),
    }
}

/// Returns the memory that the kernel manages.
pub(super) fn memory_bytes() -> Option<u64> {
    let facts = rustix::system::sysinfo();
    Some(facts.totalram * u64::from(facts.mem_unit))
}

/// Reads the peak of this program. The peak of `getrusage` survives `exec`, so it would include the
/// shell that started the program.
pub(super) fn peak_rss_bytes() -> Option<u64> {
    let facts = fs::read_to_string("/proc/self/status").ok()?;
    kib(value_of(&facts, "VmHWM", ':')?)
}

/// Reads the first of the three averages.
pub(super) fn load_average() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Reads the eighth number of the line of all processors, in ticks of 10 ms. The tick of the kernel
/// itself does not matter here.
pub(super) fn stolen_ns() -> Option<u64> {
    let facts = fs::read_to_string("/proc/stat").ok()?;
    let ticks: u64 = facts.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    ticks.checked_mul(10_000_000)
}

/// Adds user, nice, system and the two kinds of interrupts of the line of all processors.
pub(super) fn busy_ns() -> Option<u64> {
    let facts = fs::read_to_string("/proc/stat").ok()?;
    busy_of(facts.lines().next()?)
}

/// Source: `proc_stat(5)`: user, nice, system, idle, iowait, irq, softirq, steal.
fn busy_of(line: &str) -> Option<u64> {
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).map_while(|number| number.parse().ok()).collect();
    let &[user, nice, system, _, _, irq, softirq, ..] = ticks.as_slice() else { return None };
    (user + nice + system + irq + softirq).checked_mul(10_000_000)
}

/// Returns the highest frequency of all processors that have one.
pub(super) fn frequency_khz() -> Option<u64> {
    highest("/sys/devices/system/cpu/cpufreq", "scaling_cur_freq")
}

/// Returns the highest temperature of all thermal zones.
pub(super) fn temperature_millidegrees() -> Option<i64> {
    highest("/sys/class/thermal", "temp")
}

/// Returns the highest number in the files of one name, one folder down.
fn highest<T: FromStr + Ord>(folder: &str, file: &str) -> Option<T> {
    let folders = fs::read_dir(folder).ok()?.flatten();
    folders.filter_map(|entry| kernel_files::number(entry.path().join(file))).max()
}

/// The flags of the processor tell whether there is a hypervisor, and the firmware names it.
pub(super) fn virtual_machine() -> Option<String> {
    let facts = fs::read_to_string("/proc/cpuinfo").ok()?;
    let flags = value_of(&facts, "flags", ':').unwrap_or_default();
    let named = kernel_files::text("/sys/class/dmi/id/sys_vendor").filter(|name| !name.is_empty());
    let virtual_ = flags.split(' ').any(|flag| flag == "hypervisor");
    virtual_.then(|| named.unwrap_or_else(|| "a hypervisor".to_owned()))
}

/// Reads the governor of the first processor.
pub(super) fn governor() -> Option<String> {
    kernel_files::text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
}

/// Checks every power supply that is an external line. `None` if there is no such supply.
pub(super) fn on_mains() -> Option<bool> {
    let supplies = fs::read_dir("/sys/class/power_supply").ok()?;
    let lines = supplies.flatten().filter_map(|supply| {
        let kind = kernel_files::text(supply.path().join("type"))?;
        let online = kernel_files::text(supply.path().join("online"))?;
        (kind == "Mains" || kind == "USB").then(|| online != "0")
    });
    lines.reduce(|one, other| one || other)
}

/// Describes an Arm processor by its identifiers.
fn part(facts: &str) -> Option<String> {
    let implementer = value_of(facts, "CPU implementer", ':')?;
    let part = value_of(facts, "CPU part", ':')?;
    Some(format!("implementer {implementer}, part {part}"))
}

/// Finds the first `key<separator>value` line and returns its value, trimmed.
fn value_of<'a>(facts: &'a str, key: &str, separator: char) -> Option<&'a str> {
    facts.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// Reads a number of KiB, which `/proc` writes as `kB`.
fn kib(value: &str) -> Option<u64> {
    value.strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// None but that of `XDG_RUNTIME_DIR`.
pub(super) fn user_folder() -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::{busy_of, kib, part, value_of};

    #[test]
    fn a_value_is_found_by_its_whole_key() {
        let facts = "model\t\t: 97\nmodel name\t: AMD EPYC: 9R14\nmodel name\t: other\n";
        assert_eq!(value_of(facts, "model name", ':'), Some("AMD EPYC: 9R14"));
        assert_eq!(value_of(facts, "model", ':'), Some("97"));
        assert_eq!(value_of(facts, "name", ':'), None);
    }

    #[test]
    fn an_arm_processor_is_named_by_its_identifiers() {
        let facts = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd40\n";
        assert_eq!(part(facts).as_deref(), Some("implementer 0x41, part 0xd40"));
        assert_eq!(part("processor : 0\n"), None);
    }

    #[test]
    fn busy_is_neither_idle_nor_stolen() {
        let line = "cpu  100 20 30 9999 8888 4 6 7777 0 0";
        assert_eq!(busy_of(line), Some(160 * 10_000_000));
        assert_eq!(busy_of("cpu  100 20"), None);
    }

    #[test]
    fn kib_are_read_and_nothing_else() {
        assert_eq!(kib("    1234 kB"), Some(1234 * 1024));
        assert_eq!(kib("1234"), None);
        assert_eq!(kib("18446744073709551615 kB"), None);
    }
}
