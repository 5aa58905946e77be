//! QoS on Linux: scheduling class, nice value and I/O priority of the calling thread.
//!
//! One table says what a level means; it knows nothing of what other systems do with it.

use std::io;

use super::{Level, Step};

/// The thread itself, wherever the system takes a thread's number.
const THIS_THREAD: libc::c_int = 0;

/// What a level asks for; `None` leaves the thread's as it is.
struct Request {
    class: Option<Class>,
    nice: i32,
    io: IoPriority,
}

/// A scheduling class below the usual one.
#[derive(Clone, Copy)]
enum Class {
    /// Never pre-empts a thread that wakes up.
    Batch,
    /// Runs when nothing else wants to: below nice 19.
    Idle,
}

/// The place of a thread's reads in the queue of a device.
#[derive(Clone, Copy)]
enum IoPriority {
    /// Served by level, 0 first and 7 last; 4 is usual.
    BestEffort(libc::c_int),
    /// Served when nobody else has asked for a while.
    Idle,
}

/// Asks for what the level means, step by step.
pub(super) fn apply_to_thread(level: Level) -> Vec<Step> {
    let Some(request) = request(level) else {
        return Vec::new();
    };
    let mut steps = Vec::with_capacity(3);
    if let Some(class) = request.class {
        steps
            .push(Step { what: format!("scheduling class {}", class.name()), result: class.set() });
    }
    // For the number 0 Linux changes the calling thread, not its process.
    let nice = rustix::process::setpriority_process(None, request.nice);
    steps.push(Step {
        what: format!("nice {}", request.nice),
        result: nice.map_err(io::Error::from),
    });
    steps.push(Step { what: request.io.describe(), result: request.io.set() });
    steps
}

/// The table of levels; the default asks for nothing.
fn request(level: Level) -> Option<Request> {
    let (class, nice, io) = match level {
        Level::Background => (Some(Class::Idle), 19, IoPriority::Idle),
        Level::Utility => (Some(Class::Batch), 10, IoPriority::BestEffort(7)),
        Level::Default => return None,
        Level::UserInitiated => (None, -5, IoPriority::BestEffort(2)),
        Level::UserInteractive => (None, -10, IoPriority::BestEffort(0)),
    };
    Some(Request { class, nice, io })
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Batch => "SCHED_BATCH",
            Self::Idle => "SCHED_IDLE",
        }
    }

    /// Moves the calling thread to the class.
    #[expect(unsafe_code, reason = "rustix has no form of sched_setscheduler")]
    fn set(self) -> io::Result<()> {
        let policy = match self {
            Self::Batch => libc::SCHED_BATCH,
            Self::Idle => libc::SCHED_IDLE,
        };
        // The only field of `struct sched_param`, 0 for every class without real-time priority.
        let priority: libc::c_int = 0;
        // The call itself, because musl's function of that name only ever refuses.
        // SAFETY: `priority` has the layout of `struct sched_param` and outlives the call.
        let code = unsafe {
            libc::syscall(libc::SYS_sched_setscheduler, THIS_THREAD, policy, &raw const priority)
        };
        if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl IoPriority {
    fn describe(self) -> String {
        match self {
            Self::BestEffort(level) => format!("I/O priority best-effort {level}"),
            Self::Idle => "I/O priority idle".to_owned(),
        }
    }

    /// Returns class and level in one number.
    ///
    /// Source: `linux/ioprio.h`: the class above 13 bits, 2 best-effort and 3 idle.
    fn encode(self) -> libc::c_int {
        const CLASS_SHIFT: u32 = 13;
        match self {
            Self::BestEffort(level) => 2 << CLASS_SHIFT | level,
            Self::Idle => 3 << CLASS_SHIFT,
        }
    }

    /// Gives the calling thread this I/O priority.
    #[expect(unsafe_code, reason = "rustix has no form of ioprio_set")]
    fn set(self) -> io::Result<()> {
        /// `IOPRIO_WHO_PROCESS` of `linux/ioprio.h`, which takes a thread's number.
        const WHO_PROCESS: libc::c_int = 1;
        // SAFETY: all arguments are integers by value.
        let code =
            unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, THIS_THREAD, self.encode()) };
        if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
