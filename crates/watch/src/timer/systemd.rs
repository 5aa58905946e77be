//! Timers of systemd, of the user or of the system.

use std::path::{Path, PathBuf};

use super::{TimerFile, TimerHost, UserService};
use crate::schedule::{CheckSchedule, Every, TimerKind};

/// The unit of the user's service.
pub(super) const UNIT: &str = "steadfast.service";

/// Returns the service and the timer.
pub(super) fn files(schedule: &CheckSchedule, host: &TimerHost) -> Vec<TimerFile> {
    let folder = folder(schedule.timer, host);
    let unit = unit(schedule);
    vec![
        TimerFile { path: folder.join(format!("{unit}.service")), text: service(schedule, host) },
        TimerFile { path: folder.join(format!("{unit}.timer")), text: timer(schedule, host) },
    ]
}

/// Returns the unit of a service.
pub(super) fn serving(service: &UserService, host: &TimerHost) -> TimerFile {
    let program = host.program.to_string_lossy();
    let words = std::iter::once(&*program);
    let words = words.chain(service.arguments.iter().map(String::as_str)).map(quoted);
    let command = words.collect::<Vec<_>>().join(" ");
    let (description, environment) = (escaped(&service.description), environment(host));
    // The command prints an address that lets a browser in, which belongs in no log.
    let text = format!(
        "# Made by `steadfast serve --install`. To remove it: steadfast serve --uninstall\n\
         [Unit]\n\
         Description={description}\n\
         \n\
         [Service]\n\
         ExecStart={command}\n\
         StandardOutput=null\n\
         Restart=on-failure\n\
         {environment}\
         \n\
         [Install]\n\
         WantedBy={}\n",
        match service.kind {
            TimerKind::SystemdSystem => "multi-user.target",
            _ => "default.target",
        }
    );
    TimerFile { path: folder(service.kind, host).join(UNIT), text }
}

/// Returns the folder of units.
fn folder(kind: TimerKind, host: &TimerHost) -> PathBuf {
    match kind {
        TimerKind::SystemdSystem => host.root.join("etc/systemd/system"),
        _ => host.config.join("systemd/user"),
    }
}

/// Returns the commands that enable the timer.
pub(super) fn enable(schedule: &CheckSchedule) -> Vec<Vec<String>> {
    let timer = format!("{}.timer", unit(schedule));
    vec![reload(schedule), systemctl(schedule.timer, &["enable", "--now", &timer])]
}

/// Returns the command that disables the timer.
pub(super) fn disable(schedule: &CheckSchedule) -> Vec<String> {
    systemctl(schedule.timer, &["disable", "--now", &format!("{}.timer", unit(schedule))])
}

/// Returns the command that succeeds if the timer is active.
pub(super) fn is_active(schedule: &CheckSchedule) -> Vec<String> {
    let timer = format!("{}.timer", unit(schedule));
    systemctl(schedule.timer, &["is-active", "--quiet", &timer])
}

/// Returns the command that makes systemd read its files again.
pub(super) fn reload(schedule: &CheckSchedule) -> Vec<String> {
    systemctl(schedule.timer, &["daemon-reload"])
}

/// Returns a command of systemd's.
pub(super) fn systemctl(kind: TimerKind, words: &[&str]) -> Vec<String> {
    let user = (kind == TimerKind::SystemdUser).then_some("--user");
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
    text.push_str(&environment(host));
    if schedule.timer == TimerKind::SystemdSystem {
        // A /tmp of its own would hide a folder there.
        let is_temporary =
            ["/tmp", "/var/tmp"].iter().any(|tmp| schedule.directory.starts_with(tmp));
        let private = if is_temporary { "" } else { "PrivateTmp=yes\n" };
        let written = std::iter::once(&schedule.directory).chain(&host.state);
        let written: Vec<String> =
            written.map(|path| quoted_setting(&format!("-{}", path.to_string_lossy()))).collect();
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

/// Returns the settings of the user's folders. The system's services have no HOME, and a user's
/// manager need not have the folders that the user's shell names.
fn environment(host: &TimerHost) -> String {
    let mut folders = vec![("HOME", host.home.as_path()), ("XDG_CONFIG_HOME", &host.config)];
    folders.extend(host.state.first().and_then(|state| Some(("XDG_STATE_HOME", state.parent()?))));
    let line = |(name, folder): (&str, &Path)| {
        let setting = quoted_setting(&format!("{name}={}", folder.to_string_lossy()));
        format!("Environment={setting}\n")
    };
    folders.into_iter().map(line).collect()
}

fn timer(schedule: &CheckSchedule, host: &TimerHost) -> String {
    let days = match schedule.every {
        Every::Night => "*-*-*",
        Every::Week => "Sun *-*-*",
        Every::Month => "*-*-01",
    };
    let more = host.more_starts.iter().map(|at| format!("OnCalendar=*-*-* {at}:00\n"));
    let more: String = more.collect();
    format!(
        "[Unit]\n\
         Description=Check {} regularly\n\
         \n\
         [Timer]\n\
         OnCalendar={days} {}:00\n\
         {more}\
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

/// Quotes a word of a command line.
fn quoted(text: &str) -> String {
    quoted_setting(&text.replace('$', "$$"))
}

/// Quotes a word of a setting in which no variable is replaced, such as a list of paths.
fn quoted_setting(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped(&text))
}
