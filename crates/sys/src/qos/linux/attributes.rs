//! The settings of a Linux thread that make up a level: reads, sets, prints and parses them.

use std::io;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use strum::{EnumDiscriminants, EnumString, IntoStaticStr, VariantArray};

use crate::cores::{cpu_list, parse_cpu_list};

/// The number of a thread; 0 is the calling thread.
pub(in crate::qos) type ThreadNumber = u32;

/// A setting of a thread with its value. An [`Attribute`] is a setting without its value.
#[derive(Clone, Debug, PartialEq, Eq, EnumDiscriminants)]
#[strum_discriminants(name(Attribute), derive(EnumString, IntoStaticStr, VariantArray))]
#[strum_discriminants(strum(serialize_all = "snake_case"))]
pub(in crate::qos) enum Setting {
    /// The number of a scheduling class, without flags.
    Class(libc::c_int),
    Nice(i32),
    /// Class and level of I/O in one number, as in `linux/ioprio.h`; 0 follows the nice value.
    Io(libc::c_int),
    /// The highest utilisation, of 1024, for which frequency and core type are chosen.
    UtilisationMax(u32),
    /// Processors, ascending.
    Affinity(Vec<usize>),
    /// The nice value of the session against other sessions, where Linux shares processors by
    /// session. All processes of the session have it.
    SessionNice(i32),
}

impl Attribute {
    /// Returns the name that a stored setting goes by.
    pub(in crate::qos) fn name(self) -> &'static str {
        self.into()
    }

    /// Reads what a thread has.
    pub(in crate::qos) fn get(self, thread: ThreadNumber) -> io::Result<Setting> {
        Ok(match self {
            Attribute::Class => Setting::Class(class_and_flags(thread)?.0),
            Attribute::Nice => Setting::Nice(rustix::process::getpriority_process(pid(thread))?),
            Attribute::Io => Setting::Io(io_priority(thread)?),
            Attribute::UtilisationMax => Setting::UtilisationMax(utilisation_max(thread)?),
            Attribute::Affinity => {
                let cpus = sched_getaffinity(pid(thread))?;
                Setting::Affinity((0..CpuSet::MAX_CPU).filter(|cpu| cpus.is_set(*cpu)).collect())
            }
            Attribute::SessionNice => Setting::SessionNice(session_nice(thread)?),
        })
    }

    /// Reads a value as [`Setting::text`] writes it.
    pub(in crate::qos) fn parse(self, text: &str) -> Option<Setting> {
        Some(match self {
            Attribute::Class => Setting::Class(text.parse().ok()?),
            Attribute::Nice => Setting::Nice(text.parse().ok()?),
            Attribute::Io => Setting::Io(text.parse().ok()?),
            Attribute::UtilisationMax => Setting::UtilisationMax(text.parse().ok()?),
            Attribute::Affinity => {
                Setting::Affinity(parse_cpu_list(text).filter(|cpus| !cpus.is_empty())?)
            }
            Attribute::SessionNice => Setting::SessionNice(text.parse().ok()?),
        })
    }
}

impl Setting {
    /// Prints the value without its name and without blanks.
    pub(in crate::qos) fn text(&self) -> String {
        match self {
            Setting::Class(number) | Setting::Io(number) => number.to_string(),
            Setting::Nice(nice) | Setting::SessionNice(nice) => nice.to_string(),
            Setting::UtilisationMax(most) => most.to_string(),
            Setting::Affinity(cpus) => cpu_list(cpus),
        }
    }

    /// Describes it, for people.
    pub(in crate::qos) fn describe(&self) -> String {
        match self {
            Setting::Class(class) => format!("scheduling class {}", class_name(*class)),
            Setting::Nice(nice) => format!("nice {nice}"),
            Setting::Io(priority) => format!("I/O priority {}", io_name(*priority)),
            Setting::UtilisationMax(most) => format!("utilisation at most {most} of 1024"),
            Setting::Affinity(cpus) => format!("processors {}", cpu_list(cpus)),
            Setting::SessionNice(nice) => format!("nice {nice} of its session"),
        }
    }

    /// Sets it for a thread, and checks that the system reports it afterwards.
    pub(in crate::qos) fn set(&self, thread: ThreadNumber) -> io::Result<()> {
        match self {
            Setting::Class(class) => set_class(thread, *class)?,
            // Linux takes the number of a thread here and changes that thread, not its process.
            Setting::Nice(nice) => rustix::process::setpriority_process(pid(thread), *nice)?,
            Setting::Io(priority) => set_io_priority(thread, *priority)?,
            Setting::UtilisationMax(most) => set_utilisation_max(thread, *most)?,
            Setting::Affinity(cpus) => set_affinity(thread, cpus)?,
            Setting::SessionNice(nice) => {
                std::fs::write(format!("/proc/{thread}/autogroup"), nice.to_string())?;
            }
        }
        let found = Attribute::from(self).get(thread)?;
        if found == *self {
            return Ok(());
        }
        Err(io::Error::other(format!("the system did it, and has {}", found.describe())))
    }
}

/// Reads the nice value of a session: `/autogroup-17 nice 0`.
fn session_nice(thread: ThreadNumber) -> io::Result<i32> {
    let told = std::fs::read_to_string(format!("/proc/{thread}/autogroup"))?;
    let nice = told.rsplit_once(" nice ").and_then(|(_, nice)| nice.trim().parse().ok());
    nice.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no nice value of a session"))
}

/// `SCHED_EXT` of Linux 6.12.
const SCHED_EXT: libc::c_int = 7;

/// Returns the name of a scheduling class in the headers of the system.
fn class_name(class: libc::c_int) -> String {
    match class {
        libc::SCHED_OTHER => "SCHED_OTHER".to_owned(),
        libc::SCHED_FIFO => "SCHED_FIFO".to_owned(),
        libc::SCHED_RR => "SCHED_RR".to_owned(),
        libc::SCHED_BATCH => "SCHED_BATCH".to_owned(),
        libc::SCHED_IDLE => "SCHED_IDLE".to_owned(),
        libc::SCHED_DEADLINE => "SCHED_DEADLINE".to_owned(),
        SCHED_EXT => "SCHED_EXT".to_owned(),
        other => format!("number {other}"),
    }
}

/// `IOPRIO_CLASS_SHIFT` of `linux/ioprio.h`.
const IO_CLASS_SHIFT: u32 = 13;

/// I/O that is served by level, 0 first and 7 last; 4 is the default.
pub(in crate::qos) const fn io_best_effort(level: libc::c_int) -> Setting {
    Setting::Io(2 << IO_CLASS_SHIFT | level)
}

/// I/O that is served when no other request came for a while.
pub(in crate::qos) const fn io_idle() -> Setting {
    Setting::Io(3 << IO_CLASS_SHIFT)
}

/// Orders I/O priorities, the most urgent first. 0, which follows the nice value, counts as the
/// default.
pub(in crate::qos) fn io_rank(priority: libc::c_int) -> (libc::c_int, libc::c_int) {
    match priority >> IO_CLASS_SHIFT {
        0 => (2, 4),
        3 => (3, 0),
        class => (class, priority & 7),
    }
}

fn io_name(priority: libc::c_int) -> String {
    let level = priority & 7;
    match priority >> IO_CLASS_SHIFT {
        0 => "by the nice value".to_owned(),
        1 => format!("real-time {level}"),
        2 => format!("best-effort {level}"),
        3 => "idle".to_owned(),
        class => format!("class {class} level {level}"),
    }
}

/// The form that rustix wants, in which the calling thread is nobody.
fn pid(thread: ThreadNumber) -> Option<Pid> {
    i32::try_from(thread).ok().and_then(Pid::from_raw)
}

/// The form that the system wants.
fn raw(thread: ThreadNumber) -> libc::c_int {
    libc::c_int::try_from(thread).unwrap_or(-1)
}

/// Reads the class, and the flag that children do not inherit it.
#[expect(unsafe_code, reason = "rustix has no form of sched_getscheduler")]
fn class_and_flags(thread: ThreadNumber) -> io::Result<(libc::c_int, libc::c_int)> {
    // The call itself, because musl's function of that name only ever refuses.
    // SAFETY: the argument is an integer by value.
    let code = unsafe { libc::syscall(libc::SYS_sched_getscheduler, raw(thread)) };
    let number = libc::c_int::try_from(code).unwrap_or(-1);
    match number {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok((number & !libc::SCHED_RESET_ON_FORK, number & libc::SCHED_RESET_ON_FORK)),
    }
}

/// Moves a thread to a class without real-time priority.
#[expect(unsafe_code, reason = "rustix has no form of sched_setscheduler")]
fn set_class(thread: ThreadNumber, class: libc::c_int) -> io::Result<()> {
    let (_, flags) = class_and_flags(thread)?;
    // The only field of `struct sched_param`, 0 for every class without real-time priority.
    let priority: libc::c_int = 0;
    // SAFETY: `priority` has the layout of `struct sched_param` and outlives the call.
    let code = unsafe {
        libc::syscall(libc::SYS_sched_setscheduler, raw(thread), class | flags, &raw const priority)
    };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `IOPRIO_WHO_PROCESS` of `linux/ioprio.h`, which takes a thread's number.
const WHO_PROCESS: libc::c_int = 1;

#[expect(unsafe_code, reason = "rustix has no form of ioprio_get")]
fn io_priority(thread: ThreadNumber) -> io::Result<libc::c_int> {
    // SAFETY: all arguments are integers by value.
    let code = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, raw(thread)) };
    match libc::c_int::try_from(code) {
        Ok(priority) if priority >= 0 => Ok(priority),
        _ => Err(io::Error::last_os_error()),
    }
}

#[expect(unsafe_code, reason = "rustix has no form of ioprio_set")]
fn set_io_priority(thread: ThreadNumber, priority: libc::c_int) -> io::Result<()> {
    // SAFETY: all arguments are integers by value.
    let code = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, raw(thread), priority) };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set_affinity(thread: ThreadNumber, cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            let reason = format!("processor {cpu} is beyond the {} known", CpuSet::MAX_CPU);
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        set.set(cpu);
    }
    Ok(sched_setaffinity(pid(thread), &set)?)
}

/// `struct sched_attr` of Linux 5.3, which is where the utilisation came in.
///
/// Source: `linux/sched/types.h`.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
    util_min: u32,
    util_max: u32,
}

/// The size as the system is told it: 56.
const SCHED_ATTR_LEN: u32 = size_of::<SchedAttr>() as u32;

#[expect(unsafe_code, reason = "rustix has no form of sched_getattr")]
fn utilisation_max(thread: ThreadNumber) -> io::Result<u32> {
    let mut attributes = SchedAttr::default();
    // SAFETY: `attributes` is writable for the length that is said, and all its bit patterns are
    // values.
    let code = unsafe {
        libc::syscall(
            libc::SYS_sched_getattr,
            raw(thread),
            &raw mut attributes,
            SCHED_ATTR_LEN,
            0_u32,
        )
    };
    if code == 0 { Ok(attributes.util_max) } else { Err(io::Error::last_os_error()) }
}

#[expect(unsafe_code, reason = "rustix has no form of sched_setattr")]
fn set_utilisation_max(thread: ThreadNumber, most: u32) -> io::Result<()> {
    /// Leaves class and parameters, and sets the upper clamp: `SCHED_FLAG_KEEP_POLICY`,
    /// `SCHED_FLAG_KEEP_PARAMS` and `SCHED_FLAG_UTIL_CLAMP_MAX` of `linux/sched.h`.
    const FLAGS: u64 = 0x08 | 0x10 | 0x40;
    let attributes =
        SchedAttr { size: SCHED_ATTR_LEN, flags: FLAGS, util_max: most, ..SchedAttr::default() };
    // SAFETY: `attributes` is readable for the length that it says and outlives the call.
    let code = unsafe {
        libc::syscall(libc::SYS_sched_setattr, raw(thread), &raw const attributes, 0_u32)
    };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
