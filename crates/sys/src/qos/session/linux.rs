//! Groups on Linux: control groups of the cpu controller, and sessions by `autogroup`.
//!
//! Sessions have an effect only for processes in the root control group.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Child;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::super::{Level, Step};
use super::Grouping;
use crate::kernel_files::text;

/// Returns the nice value of a session at a level. Each nice value has a quarter more weight than
/// the next, so 19 has 1.5 % of the weight of 0.
///
/// Source: `sched(7)`, the autogroup feature.
pub(in crate::qos) fn session_nice(level: Level) -> Option<i32> {
    match level {
        Level::Background => Some(19),
        Level::Utility => Some(10),
        Level::Default | Level::UserInitiated | Level::UserInteractive => None,
    }
}

pub(super) fn grouping(root: &Path) -> Grouping {
    grouping_of("self", root)
}

/// Returns the group of the process with this name in `/proc`.
pub(in crate::qos) fn grouping_of(process: &str, root: &Path) -> Grouping {
    if let Some(group) = control_group(process, root) {
        return group;
    }
    let on = text(root.join("proc/sys/kernel/sched_autogroup_enabled")).as_deref() == Some("1");
    // `/autogroup-17 nice 0`
    let told = text(root.join(format!("proc/{process}/autogroup"))).unwrap_or_default();
    let nice = told.rsplit_once(" nice ").and_then(|(_, nice)| nice.parse().ok());
    match nice {
        Some(nice) if on => Grouping::Session { nice },
        _ => Grouping::Threads,
    }
}

/// Returns the innermost control group that has a share of the processors. The root has none.
fn control_group(process: &str, root: &Path) -> Option<Grouping> {
    let lines = text(root.join(format!("proc/{process}/cgroup")))?;
    for line in lines.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(name)) = (parts.next(), parts.next()) else { continue };
        if controllers.split(',').any(|controller| controller == "cpu") && name != "/" {
            return Some(Grouping::ControlGroup {
                name: name.to_owned(),
                weight: None,
                idle: false,
            });
        }
        if !controllers.is_empty() {
            continue;
        }
        for name in Path::new(name).ancestors() {
            let below = name.strip_prefix("/").unwrap_or(name);
            let folder = root.join("sys/fs/cgroup").join(below);
            // The real root has no such file; the root of a container is a group and has one.
            let Some(weight) = text(folder.join("cpu.weight")) else { continue };
            return Some(Grouping::ControlGroup {
                name: name.to_string_lossy().into_owned(),
                weight: weight.parse().ok(),
                idle: text(folder.join("cpu.idle")).as_deref() == Some("1"),
            });
        }
    }
    None
}

pub(super) fn lead(level: Level) -> Vec<Step> {
    let Some(nice) = session_nice(level) else { return Vec::new() };
    let led = rustix::process::setsid();
    let failed = led.is_err();
    let led = led.map(|_| ()).map_err(io::Error::from);
    let mut steps = vec![Step { what: "a session of its own".to_owned(), result: led }];
    if !failed {
        let result = fs::write("/proc/self/autogroup", nice.to_string()).and_then(|()| {
            match grouping(Path::new("/")) {
                Grouping::Session { nice: found } if found == nice => Ok(()),
                found => Err(io::Error::other(format!("the system did it, and has {found:?}"))),
            }
        });
        steps.push(Step { what: format!("the session's nice {nice}"), result });
    }
    steps
}

pub(super) fn end_with_parent(parent: u32) -> bool {
    let signal = Some(Signal::TERM);
    // Without the signal, the parent ends this process itself, if it is still running.
    let _ = rustix::process::set_parent_process_death_signal(signal);
    let now = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    now.and_then(|now| u32::try_from(now).ok()) == Some(parent)
}

/// A handle of the child. It stays valid when another process gets the same number.
#[derive(Debug)]
pub(super) struct ChildHandle(OwnedFd);

impl ChildHandle {
    pub(super) fn of(child: &Child) -> io::Result<ChildHandle> {
        let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let number = number.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(ChildHandle(pidfd_open(number, PidfdFlags::empty())?))
    }

    pub(super) fn send(&self, signal: i32) -> io::Result<()> {
        let signal = Signal::from_named_raw(signal).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(pidfd_send_signal(&self.0, signal)?)
    }
}
