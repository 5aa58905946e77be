//! Other processes on macOS: whether a process is in Darwin's background.
//!
//! The system keeps this apart from what a program sets for itself. It is read from the flags of
//! `proc_bsdinfo`: `getpriority` tells of the calling process whatever process it is asked about
//! (`get_background_proc` of xnu).

use std::io;
use std::mem::MaybeUninit;

use super::super::Level;
use super::super::macos::set_darwin_background;
use super::{LoweringPlan, Process, Reverted, ThreadChange, ThreadIdentity, ThreadTimes};
use crate::darwin;

/// The only thing that changes.
const WHAT: &str = "darwin_background";

pub(super) fn find(number: u32) -> io::Result<Process> {
    match started(number) {
        Some(started) => Ok(Process { number, started }),
        None => {
            let text = format!("there is no process {number} that may be looked at");
            Err(io::Error::new(io::ErrorKind::NotFound, text))
        }
    }
}

pub(super) fn level(process: &Process) -> io::Result<Level> {
    Ok(if is_lowered(process.number)? { Level::Background } else { Level::Default })
}

pub(super) fn times(_: &Process) -> io::Result<Vec<ThreadTimes>> {
    let text = "macOS does not say on which processors the threads of another process run";
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

pub(super) fn plan(
    process: &Process,
    level: Level,
    _: Option<&[usize]>,
) -> io::Result<LoweringPlan> {
    if level != Level::Background {
        let text = "macOS lowers another process to background and to nothing else";
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    }
    let thread = ThreadIdentity { number: process.number, started: process.started.clone() };
    let mut plan = LoweringPlan { seen: vec![thread.clone()], ..LoweringPlan::default() };
    if !is_lowered(process.number)? {
        let (before, after) = ("0".to_owned(), "1".to_owned());
        plan.changes.push(ThreadChange { thread, what: WHAT.to_owned(), before, after });
    }
    Ok(plan)
}

pub(super) fn change(process: &Process, change: &ThreadChange) -> io::Result<()> {
    lower(process.number, parsed(&change.what, &change.after)?)
}

pub(super) fn revert(process: &Process, change: &ThreadChange) -> io::Result<Reverted> {
    let before = parsed(&change.what, &change.before)?;
    if started(process.number).as_ref() != Some(&process.started) {
        return Ok(Reverted::Gone);
    }
    if is_lowered(process.number)? != before {
        lower(process.number, before)?;
    }
    Ok(Reverted::Done)
}

/// Empty: lowering covers the whole process, including later threads.
pub(super) fn inherited(
    _: &Process,
    _: &[ThreadChange],
    _: &[ThreadIdentity],
) -> io::Result<Vec<ThreadChange>> {
    Ok(Vec::new())
}

pub(super) fn describe(what: &str, value: &str) -> String {
    match parsed(what, value) {
        Ok(true) => "Darwin background".to_owned(),
        Ok(false) => "no Darwin background".to_owned(),
        Err(_) => format!("{what} {value}"),
    }
}

fn parsed(what: &str, value: &str) -> io::Result<bool> {
    match (what, value) {
        (WHAT, "0") => Ok(false),
        (WHAT, "1") => Ok(true),
        _ => {
            let text = format!("`{what} {value}` is no setting");
            Err(io::Error::new(io::ErrorKind::InvalidData, text))
        }
    }
}

/// Puts a process into the background or takes it out, and looks whether that came about.
fn lower(number: u32, lowered: bool) -> io::Result<()> {
    set_darwin_background(number, lowered)?;
    match is_lowered(number)? == lowered {
        true => Ok(()),
        false => Err(io::Error::other("the system did it, and says otherwise")),
    }
}

/// Says whether a process is in the background because another one put it there.
fn is_lowered(number: u32) -> io::Result<bool> {
    let facts = facts(number).ok_or(io::ErrorKind::NotFound)?;
    Ok(darwin::is_background(facts.pbi_flags, number == std::process::id()))
}

/// Returns when a process started: seconds and microseconds since 1970.
fn started(number: u32) -> Option<String> {
    let facts = facts(number)?;
    Some(format!("{}.{:06}", facts.pbi_start_tvsec, facts.pbi_start_tvusec))
}

/// Returns what the kernel tells of a process; `None` if there is none that may be looked at.
#[expect(unsafe_code, reason = "rustix has no form of proc_pidinfo")]
fn facts(number: u32) -> Option<libc::proc_bsdinfo> {
    let number = libc::c_int::try_from(number).ok()?;
    let mut facts = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    let length = libc::c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    // SAFETY: `facts` is writable for `length` bytes, its own size.
    let written = unsafe {
        libc::proc_pidinfo(number, libc::PROC_PIDTBSDINFO, 0, facts.as_mut_ptr().cast(), length)
    };
    if written != length {
        return None;
    }
    // SAFETY: all fields are integers, for which the zeros of `zeroed` are a value too.
    Some(unsafe { facts.assume_init() })
}
