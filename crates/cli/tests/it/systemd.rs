//! A timer in a real user session of systemd: made, listed, started, removed.
//!
//! The session has its own `/run`, process numbers and control group, so nothing of the machine's
//! is touched. That takes root; the session itself belongs to a user without a name.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use steadfast_testing::{Need, program, skip};

/// A user that no system has.
const USER: u32 = 54_321;

/// Enters the session's namespaces, as root.
const OUTER: &str = "\
mount -t tmpfs none /run && mkdir -p /run/systemd/system /run/user/session || exit 90
chown $USER:$USER /run/user/session && chmod 700 /run/user/session || exit 90
for group in $GROUPS_OF_TEST; do
  mkdir -p $group && chown -R $USER:$USER $group && echo $$ > $group/cgroup.procs || exit 90
done
export XDG_RUNTIME_DIR=/run/user/session
exec setpriv --reuid $USER --regid $USER --clear-groups sh -c \"$INNER\"
";

/// What the user does there. Each answer is in a file of its own.
const INNER: &str = "\
cd $HOME
/lib/systemd/systemd --user --log-target=console > manager.log 2>&1 & manager=$!
tries=0
until systemctl --user is-system-running > running 2>&1; do
  tries=$((tries + 1)); [ $tries = 100 ] && exit 91; sleep 0.1
done
./steadfast init photos && ./steadfast tag photos || exit 92
./steadfast schedule add photos --timer systemd --cover 1d || exit 93
systemctl --user list-timers --all --no-pager > timers
# Older than a week, so that a busy machine is no reason to wait.
sed -i 's/^made_s = .*/made_s = 1000000000/' .config/steadfast/schedules.toml
printf X | dd of=photos/a conv=notrunc status=none; touch -r time photos/a
systemctl --user start steadfast-photos.service
systemctl --user show steadfast-photos.service -p ExecMainStatus --value > status
./steadfast schedule remove photos || exit 94
systemctl --user list-timers --all --no-pager > timers-after
kill $manager; wait $manager
exit 0
";

/// A home folder with photographs, and the control groups of a session; removed at the end.
struct Session {
    home: tempfile::TempDir,
    groups: Vec<PathBuf>,
}

impl Drop for Session {
    fn drop(&mut self) {
        for group in &self.groups {
            remove_groups(group);
        }
    }
}

/// Removes a control group with those beneath it. One that is in use stays.
fn remove_groups(group: &Path) {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_groups(&entry.path());
        }
    }
    let _ = fs::remove_dir(group);
}

impl Session {
    fn new() -> Session {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        fs::create_dir(path("photos")).unwrap();
        fs::write(path("photos/a"), "a photograph").unwrap();
        let made = fs::File::open(path("photos/a")).unwrap().metadata().unwrap().modified();
        fs::File::create(path("time")).unwrap().set_modified(made.unwrap()).unwrap();
        fs::copy(crate::tree::PROGRAM, path("steadfast")).unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["", "photos", "photos/a", "time", "steadfast"] {
            std::os::unix::fs::chown(path(name), Some(USER), Some(USER)).unwrap();
        }
        // The one hierarchy of today, or those of older systems that systemd uses.
        let all = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
        let is_hierarchy = |path: &&&str| Path::new(path).join("cgroup.procs").exists();
        let name = format!("steadfast-test-{}", std::process::id());
        let groups = all.iter().filter(is_hierarchy).map(|path| Path::new(path).join(&name));
        Session { groups: groups.collect(), home }
    }

    fn said(&self, name: &str) -> String {
        fs::read_to_string(self.home.path().join(name)).unwrap_or_default()
    }
}

#[test]
fn a_user_session_of_systemd_runs_a_schedule() {
    let tools = ["unshare", "setpriv", "systemctl"].map(program);
    if tools.iter().any(Option::is_none) {
        return;
    }
    if !Path::new("/lib/systemd/systemd").exists() {
        return skip(Need::Program("systemd"), "it is not in /lib/systemd");
    }
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return skip(Need::Root, "a session needs a control group of its own");
    }
    let session = Session::new();
    let groups: Vec<&str> = session.groups.iter().map(|path| path.to_str().unwrap()).collect();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", OUTER]);
    command.env("HOME", session.home.path()).env("USER", USER.to_string()).env("INNER", INNER);
    command.env("GROUPS_OF_TEST", groups.join(" "));
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "DBUS_SESSION_BUS_ADDRESS"] {
        command.env_remove(name);
    }
    let output = command.current_dir("/").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(90) || said.contains("unshare failed") {
        return skip(Need::Root, format!("no session can be made here: {said}"));
    }
    if said.contains("cannot change root filesystem propagation") {
        return skip(Need::System("root that is a mount"), "a chroot has none of its own");
    }
    let manager = session.said("manager.log");
    assert_eq!(output.status.code(), Some(0), "{said}\n{manager}");
    assert_eq!(session.said("running"), "running\n", "{manager}");
    assert!(
        session.said("timers").contains("steadfast-photos.timer"),
        "{}",
        session.said("timers")
    );
    assert_eq!(session.said("status"), "3\n", "its service finds the damage: {manager}");
    assert!(session.said("timers-after").contains("0 timers"), "{}", session.said("timers-after"));
}
