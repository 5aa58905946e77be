//! Timers: their text, and what the system's programs are told.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use steadfast_watch::timer::{self, TimerHost, UserService};
use steadfast_watch::{
    Alert, AlertList, Channel, CheckSchedule, Every, Journal, QuietHours, ScheduleList, TimeOfDay,
    TimerKind,
};

fn schedule(timer: TimerKind) -> CheckSchedule {
    CheckSchedule {
        name: "photos".into(),
        directory: "/srv/100 % of \"my\" photos & <more> $1".into(),
        every: Every::Night,
        at: TimeOfDay { hour: 2, minute: 5 },
        cover_days: 30,
        max_time_s: Some(7_200),
        update: true,
        parity: false,
        repair: false,
        from_medium: None,
        timer,
        made_s: 1_700_000_000,
        tree_made_s: None,
        tree_volume: None,
    }
}

/// A host whose programs write down what they are told.
fn host(folder: &Path) -> TimerHost {
    let programs = folder.join("bin");
    fs::create_dir_all(&programs).expect("a folder");
    for name in ["systemctl", "launchctl"] {
        let log = folder.join("log");
        let script = format!("#!/bin/sh\necho {name} \"$@\" >> '{}'\n", log.display());
        program(&programs.join(name), &script);
    }
    let table = folder.join("crontab");
    let script = format!(
        "#!/bin/sh\nexport PATH=/usr/bin:/bin\ncase \"$1\" in\n\
         -l) test -e '{0}' || {{ echo no crontab for you >&2; exit 1; }}; cat '{0}' ;;\n\
         -r) rm '{0}' ;;\n-) cat > '{0}' ;;\nesac\n",
        table.display()
    );
    program(&programs.join("crontab"), &script);
    TimerHost {
        more_starts: Vec::new(),
        program: "/opt/my tools/steadfast".into(),
        home: folder.join("home"),
        config: folder.join("home/.config"),
        state: vec!["/var/lib/steadfast".into()],
        is_root: false,
        search_path: Some(programs.into()),
        root: folder.join("root"),
    }
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).expect("a program");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn units_say_when_and_what() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let files = timer::files(&schedule(TimerKind::SystemdSystem), &host);
    let [service, timer] = files.as_slice() else { panic!("{files:?}") };
    assert!(service.path.ends_with("etc/systemd/system/steadfast-photos.service"));
    let lines: Vec<&str> = service.text.lines().collect();
    for line in [
        r#"ExecStart="/opt/my tools/steadfast" schedule run photos"#,
        r#"Description=Check /srv/100 %% of "my" photos & <more> $1 for silent corruption"#,
        &format!(r#"Environment="HOME={}""#, folder.path().join("home").display()),
        r#"Environment="XDG_STATE_HOME=/var/lib""#,
        "PrivateTmp=yes",
        r#"ReadWritePaths="-/srv/100 %% of \"my\" photos & <more> $1" "-/var/lib/steadfast""#,
        "ProtectSystem=strict",
        "SuccessExitStatus=1",
    ] {
        assert!(lines.contains(&line), "{line} is not in\n{}", service.text);
    }
    assert!(timer.text.contains("\nOnCalendar=*-*-* 02:05:00\n"));
    assert!(timer.text.contains("\nPersistent=true\n"));
    let weekly = CheckSchedule { every: Every::Week, ..schedule(TimerKind::SystemdUser) };
    let files = timer::files(&weekly, &host);
    assert!(files[1].path.ends_with(".config/systemd/user/steadfast-photos.timer"));
    assert!(files[1].text.contains("OnCalendar=Sun *-*-* 02:05:00"));
    assert!(!files[0].text.contains("ProtectSystem"), "user units cannot have it everywhere");
}

/// What systemd itself says of the times, where it is installed.
#[test]
fn systemd_understands_the_calendar() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    for every in [Every::Night, Every::Week, Every::Month] {
        let schedule = CheckSchedule { every, ..schedule(TimerKind::SystemdUser) };
        let text = timer::files(&schedule, &host)[1].text.clone();
        let calendar = text.lines().find_map(|line| line.strip_prefix("OnCalendar=")).unwrap();
        assert!(calendar.ends_with(" 02:05:00"));
        let Ok(output) = Command::new("systemd-analyze").args(["calendar", calendar]).output()
        else {
            continue;
        };
        assert!(output.status.success(), "{every}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn an_agent_is_a_property_list() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = host(folder.path());
    host.program = "/Apps & <Tools>/steadfast".into();
    let weekly = CheckSchedule { every: Every::Week, ..schedule(TimerKind::Launchd) };
    let file = timer::files(&weekly, &host).remove(0);
    assert!(file.path.ends_with("Library/LaunchAgents/org.steadfast.schedule.photos.plist"));
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&file.text, options).unwrap();
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    for text in ["/Apps & <Tools>/steadfast", "org.steadfast.schedule.photos", "Background"] {
        assert!(texts.contains(&text), "{text}");
    }
    let value = |key: &str| {
        let mut nodes = document.descendants().filter(|node| node.has_tag_name("key"));
        let key = nodes.find(|node| node.text() == Some(key)).unwrap();
        key.next_sibling_element().unwrap().text().unwrap().to_owned()
    };
    assert_eq!([value("Hour"), value("Minute"), value("Weekday")], ["2", "5", "0"]);
}

#[test]
fn adding_and_removing_leaves_nothing() {
    for kind in [TimerKind::SystemdUser, TimerKind::SystemdSystem, TimerKind::Launchd] {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path());
        let before = all_files(folder.path());
        for _ in 0..20 {
            timer::install(&schedule(kind), &host).unwrap();
            timer::install(&schedule(kind), &host).unwrap();
            assert!(all_files(folder.path()).len() > before.len());
            timer::uninstall(&schedule(kind), &host).unwrap();
            timer::uninstall(&schedule(kind), &host).unwrap();
            fs::remove_file(folder.path().join("log")).unwrap();
        }
        assert_eq!(all_files(folder.path()).len(), before.len(), "{kind}");
    }
}

#[test]
fn the_system_is_told_to_enable_and_disable() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    timer::install(&schedule(TimerKind::SystemdUser), &host).unwrap();
    timer::uninstall(&schedule(TimerKind::SystemdUser), &host).unwrap();
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    let expected = "systemctl --user daemon-reload\n\
                    systemctl --user enable --now steadfast-photos.timer\n\
                    systemctl --user disable --now steadfast-photos.timer\n\
                    systemctl --user daemon-reload\n";
    assert_eq!(log, expected);
    let script = "#!/bin/sh\necho 'no bus here\n\nHint: log in' >&2\nexit 1\n";
    program(&folder.path().join("bin/systemctl"), script);
    let error = timer::install(&schedule(TimerKind::SystemdUser), &host).unwrap_err();
    assert!(error.to_string().contains("reload` failed: no bus here; Hint: log in"), "{error}");
}

#[test]
fn a_crontab_of_others_is_kept_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let table = folder.path().join("crontab");
    let schedule = schedule(TimerKind::Crontab);
    timer::install(&schedule, &host).unwrap();
    let alone = fs::read_to_string(&table).unwrap();
    let line = "5 2 * * * XDG_STATE_HOME=/var/lib nice -n 10 '/opt/my tools/steadfast' schedule \
                run photos >/dev/null 2>&1";
    assert_eq!(alone, format!("# BEGIN steadfast photos\n{line}\n# END steadfast photos\n"));
    assert_eq!(timer::is_running(&schedule, &host), None);
    for (name, runs) in [("sh\n", false), ("crond\n", true)] {
        let process = host.root.join("proc").join(name.trim());
        fs::create_dir_all(&process).unwrap();
        fs::write(process.join("comm"), name).unwrap();
        assert_eq!(timer::is_running(&schedule, &host), Some(runs));
    }
    timer::uninstall(&schedule, &host).unwrap();
    assert!(!table.exists(), "an empty crontab is removed");
    let others = b"MAILTO=me\n# \xff\n0 1 * * * date +\\%F\n";
    fs::write(&table, others).unwrap();
    for _ in 0..3 {
        timer::install(&schedule, &host).unwrap();
        assert!(fs::read(&table).unwrap().starts_with(others));
    }
    timer::uninstall(&schedule, &host).unwrap();
    assert_eq!(fs::read(&table).unwrap(), others);
    program(&folder.path().join("bin/crontab"), "#!/bin/sh\necho you may not >&2\nexit 1\n");
    let error = timer::install(&schedule, &host).unwrap_err();
    assert!(error.to_string().contains("you may not"), "{error}");
}

#[test]
fn the_kind_of_timer_is_the_machines() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = host(folder.path());
    assert_eq!(host.detect("linux"), TimerKind::Crontab);
    assert_eq!(host.detect("macos"), TimerKind::Launchd);
    fs::create_dir_all(host.root.join("run/systemd/system")).unwrap();
    assert_eq!(host.detect("linux"), TimerKind::SystemdUser);
    host.is_root = true;
    assert_eq!(host.detect("linux"), TimerKind::SystemdSystem);
    host.root = "/nowhere".into();
    host.search_path = Some("/nowhere".into());
    assert_eq!(host.detect("linux"), TimerKind::Manual);
}

#[test]
fn a_list_is_a_private_file_that_can_be_edited() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("steadfast/schedules.toml");
    let mut list = ScheduleList::read(&file).unwrap();
    assert!(list.schedules().is_empty());
    list.put(schedule(TimerKind::Manual)).unwrap();
    list.put(CheckSchedule { name: "docs".into(), ..schedule(TimerKind::Crontab) }).unwrap();
    list.put(CheckSchedule { cover_days: 90, ..schedule(TimerKind::Manual) }).unwrap();
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let read = ScheduleList::read(&file).unwrap();
    let names: Vec<&str> = read.schedules().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["docs", "photos"]);
    assert_eq!(read.find("photos").unwrap().cover_days, 90);
    assert!(read.find("x").unwrap_err().to_string().contains("docs, photos"));
    let text = fs::read_to_string(&file).unwrap();
    let rows = [
        (text.replace("cover_days = 90", "cover_days = 0"), "cover"),
        (text.replace("02:05", "25:00"), "hours and minutes"),
        (text.replace("every", "evry"), "evry"),
        (text.replace("\"docs\"", "\"photos\""), "two schedules"),
        (text.replace("\"night\"", "\"fortnight\""), "fortnight"),
    ];
    for (text, expected) in rows {
        fs::write(&file, text).unwrap();
        let error = ScheduleList::read(&file).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("schedules.toml"), "{error}");
    }
    fs::write(&file, text).unwrap();
    assert!(list.remove("docs").unwrap() && !list.remove("docs").unwrap());
}

fn service(kind: TimerKind) -> UserService {
    let words = ["serve", "--port", "8674", "/srv/100 % of \"my\" photos & <more> $HOME"];
    UserService {
        description: "Steadfast in the browser".into(),
        arguments: words.map(str::to_owned).into(),
        kind,
    }
}

#[test]
fn a_service_is_started_replaced_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let service = service(TimerKind::SystemdUser);
    let before = all_files(folder.path()).len();
    assert!(!service.uninstall(&host).unwrap());
    fs::remove_file(folder.path().join("log")).unwrap();
    let file = service.install(&host).unwrap();
    assert!(file.path.ends_with("systemd/user/steadfast.service"));
    let text = fs::read_to_string(&file.path).unwrap();
    let command = "ExecStart=\"/opt/my tools/steadfast\" \"serve\" \"--port\" \"8674\" \
                   \"/srv/100 %% of \\\"my\\\" photos & <more> $$HOME\"\n";
    assert!(text.contains(command), "{text}");
    assert!(text.contains("WantedBy=default.target") && text.contains("StandardOutput=null"));
    assert!(service.uninstall(&host).unwrap());
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    let expected = "systemctl --user disable --now steadfast.service\n\
                    systemctl --user daemon-reload\n\
                    systemctl --user enable steadfast.service\n\
                    systemctl --user restart steadfast.service\n\
                    systemctl --user disable --now steadfast.service\n";
    assert_eq!(log, expected);
    assert_eq!(all_files(folder.path()).len(), before + 1, "the log alone is left");
}

#[test]
fn a_service_of_launchd_is_a_property_list() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let file = service(TimerKind::Launchd).install(&host).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&file.text, options).unwrap();
    let words: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    assert!(words.contains(&"/srv/100 % of \"my\" photos & <more> $HOME"), "{words:?}");
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("launchctl load -w") && log.ends_with("org.steadfast.serve.plist\n"));
}

#[test]
fn without_services_the_command_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let error = service(TimerKind::Manual).install(&host(folder.path())).unwrap_err().to_string();
    assert!(
        error.contains("neither systemd nor launchd") && error.contains("--port 8674"),
        "{error}"
    );
}

#[test]
fn a_schedule_and_its_timer_are_made_changed_and_removed_together() {
    let folder = tempfile::tempdir().unwrap();
    let (host, file) = (host(folder.path()), folder.path().join("steadfast/schedules.toml"));
    let journals = folder.path().join("journals");
    let mut list = ScheduleList::read(&file).unwrap();
    list.set_metrics(Some("/srv/metrics/steadfast.prom".into())).unwrap();
    assert!(list.set_metrics(Some("steadfast.prom".into())).is_err());
    let before = all_files(folder.path());
    list.establish(schedule(TimerKind::Crontab), &host).unwrap();
    list.establish(schedule(TimerKind::SystemdUser), &host).unwrap();
    assert!(!folder.path().join("crontab").exists(), "the earlier timer is removed");
    let read = ScheduleList::read(&file).unwrap();
    assert_eq!(read.find("photos").unwrap().timer, TimerKind::SystemdUser);
    assert_eq!(read.metrics(), Some(Path::new("/srv/metrics/steadfast.prom")));
    Journal::of(&journals, "photos").change(|last| last.skipped = Some("busy".into())).unwrap();
    list.dissolve("photos", &host, &journals).unwrap();
    assert!(!journals.join("photos.toml").exists());
    assert!(ScheduleList::read(&file).unwrap().schedules().is_empty());
    assert!(list.dissolve("photos", &host, &journals).is_err());
    fs::remove_file(folder.path().join("log")).unwrap();
    assert_eq!(all_files(folder.path()), before, "nothing is left");

    program(&folder.path().join("bin/systemctl"), "#!/bin/sh\nexit 1\n");
    let error = list.establish(schedule(TimerKind::SystemdUser), &host).unwrap_err();
    assert!(error.to_string().contains("so there is no schedule"), "{error}");
    assert!(ScheduleList::read(&file).unwrap().schedules().is_empty());
}

#[test]
fn timers_also_start_when_quiet_hours_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let quiet = |text: &str| text.parse::<QuietHours>().expect("two times");
    let list = folder.path().join("alerts.toml");
    let mut alerts = AlertList::read(&list).expect("no alerts");
    for (address, hours) in [("a@x", "22:00-07:30"), ("b@x", "23:00-07:30"), ("c@x", "12:00-13:00")]
    {
        let alert = Alert::new(Channel::Sendmail(address.into()));
        alerts.add(Alert { quiet: Some(quiet(hours)), ..alert }).expect("an alert");
    }
    let alerts = AlertList::read(&list).expect("three alerts");
    assert_eq!(alerts.alerts()[0].quiet, Some(quiet("22:00-07:30")));
    let host = TimerHost { more_starts: alerts.ends_of_quiet(), ..host(folder.path()) };
    let text = |kind| timer::files(&schedule(kind), &host).pop().expect("a file").text;
    let systemd = text(TimerKind::SystemdUser);
    assert!(systemd.contains(":00\nOnCalendar=*-*-* 07:30:00\nOnCalendar=*-*-* 13:00:00\n"));
    let agent = text(TimerKind::Launchd);
    assert!(agent.contains("<integer>13</integer>\n    <key>Minute</key><integer>0</integer>"));
    timer::install(&schedule(TimerKind::Crontab), &host).expect("a crontab");
    let table = fs::read_to_string(folder.path().join("crontab")).expect("a crontab");
    assert!(table.contains("\n30 7 * * * ") && table.contains("\n0 13 * * * "), "{table}");
    timer::uninstall(&schedule(TimerKind::Crontab), &host).expect("no crontab");
    let in_hours = |hours: &str, now: &str| quiet(hours).contain(now.parse().expect("a time"));
    for (hours, now, expected) in [
        ("22:00-07:30", "22:00", true),
        ("22:00-07:30", "02:00", true),
        ("22:00-07:30", "07:30", false),
        ("12:00-13:00", "12:59", true),
        ("12:00-13:00", "13:00", false),
        ("00:00-00:00", "05:00", true),
    ] {
        assert_eq!(in_hours(hours, now), expected, "{hours} {now}");
    }
}
