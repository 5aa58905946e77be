//! Timers of systemd, of the user or of the system.

use super::{TimerFile, TimerHost};
use crate::schedule::{CheckSchedule, Every, TimerKind};

/// Returns the service and the timer.
pub(super) fn files(schedule: &CheckSchedule, host: &TimerHost) -> Vec<TimerFile> {
    let folder = match schedule.timer {
        TimerKind::SystemdSystem => host.root.join("etc/systemd/system"),
        _ => host.config.join("systemd/user"),
    };
    let unit = unit(schedule);
    vec![
        TimerFile { path: folder.join(format!("{unit}.service")), text: service(schedule, host) },
        TimerFile { path: folder.join(format!("{unit}.timer")), text: timer(schedule) },
    ]
}

/// Returns the commands that enable the timer.
pub(super) fn enable(schedule: &CheckSchedule) -> Vec<Vec<String>> {
    let timer = format!("{}.timer", unit(schedule));
    vec![reload(schedule), systemctl(schedule, &["enable", "--now", &timer])]
}

/// Returns the command that disables the timer.
pub(super) fn disable(schedule: &CheckSchedule) -> Vec<String> {
    systemctl(schedule, &["disable", "--now", &format!("{}.timer", unit(schedule))])
}

/// Returns the command that makes systemd read its files again.
pub(super) fn reload(schedule: &CheckSchedule) -> Vec<String> {
    systemctl(schedule, &["daemon-reload"])
}

fn systemctl(schedule: &CheckSchedule, words: &[&str]) -> Vec<String> {
    let user = (schedule.timer == TimerKind::SystemdUser).then_some("--user");
    ["systemctl"].into_iter().chain(user).chain(words.iter().copied()).map(str::to_owned).collect()
}

fn unit(schedule: &CheckSchedule) -> String {
    format!("steadfast-{}", schedule.name)
}

fn service(schedule: &CheckSchedule, host: &TimerHost) -> String {
    let name = &schedule.name;
    let directory = escaped(&schedule.directory.to_string_lossy());
    let program = quoted(&host.program.to_string_lossy());
    let mut text = format!(
        "# Made by `steadfast schedule add`. To remove it: steadfast schedule remove {name}\n\
         [Unit]\n\
         Description=Check {directory} for silent corruption\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         ExecStart={program} schedule run {name}\n\
         # 1: files were modified or are missing; that is no failure of the service.\n\
         SuccessExitStatus=1\n\
         Nice=10\n\
         IOSchedulingClass=idle\n"
    );
    // The system's services have no HOME, and a user's manager need not have the folders that the
    // user's shell names.
    let mut folders = vec![("HOME", host.home.as_path()), ("XDG_CONFIG_HOME", &host.config)];
    folders.extend(host.state.first().and_then(|state| Some(("XDG_STATE_HOME", state.parent()?))));
    for (name, folder) in folders {
        let setting = quoted_setting(&format!("{name}={}", folder.to_string_lossy()));
        text.push_str(&format!("Environment={setting}\n"));
    }
    if schedule.timer == TimerKind::SystemdSystem {
        // A /tmp of its own would hide a folder there.
        let is_temporary =
            ["/tmp", "/var/tmp"].iter().any(|tmp| schedule.directory.starts_with(tmp));
        let private = if is_temporary { "" } else { "PrivateTmp=yes\n" };
        let written = std::iter::once(&schedule.directory).chain(&host.state);
        let written: Vec<String> =
            written.map(|path| quoted(&format!("-{}", path.to_string_lossy()))).collect();
        text.push_str(&format!(
            "NoNewPrivileges=yes\n\
             {private}\
             ProtectSystem=strict\n\
             ReadWritePaths={}\n",
            written.join(" ")
        ));
    }
    text
}

fn timer(schedule: &CheckSchedule) -> String {
    let days = match schedule.every {
        Every::Night => "*-*-*",
        Every::Week => "Sun *-*-*",
        Every::Month => "*-*-01",
    };
    format!(
        "[Unit]\n\
         Description=Check {} regularly\n\
         \n\
         [Timer]\n\
         OnCalendar={days} {}:00\n\
         RandomizedDelaySec=10min\n\
         # Catches up after the machine was off.\n\
         Persistent=true\n\
         \n\
         [Install]\n\
         WantedBy=timers.target\n",
        escaped(&schedule.directory.to_string_lossy()),
        schedule.at
    )
}

/// Escapes the specifiers of systemd.
fn escaped(text: &str) -> String {
    text.replace('%', "%%")
}

/// Quotes a word of a command line or of a list of paths.
fn quoted(text: &str) -> String {
    quoted_setting(&text.replace('$', "$$"))
}

/// Quotes a word of a setting in which no variable is replaced.
fn quoted_setting(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped(&text))
}
