//! Launch agents of macOS.

use super::{TimerFile, TimerHost, UserService};
use crate::schedule::{CheckSchedule, Every, TimeOfDay};

/// Returns the agent's property list.
pub(super) fn file(schedule: &CheckSchedule, host: &TimerHost) -> TimerFile {
    let label = format!("org.steadfast.schedule.{}", schedule.name);
    let path = host.home.join("Library/LaunchAgents").join(format!("{label}.plist"));
    let day = match schedule.every {
        Every::Night => "",
        Every::Week => "\n    <key>Weekday</key><integer>0</integer>",
        Every::Month => "\n    <key>Day</key><integer>1</integer>",
    };
    let start = |day: &str, at: &TimeOfDay| {
        let TimeOfDay { hour, minute } = at;
        format!(
            "  <dict>{day}\n    <key>Hour</key><integer>{hour}</integer>\n    \
             <key>Minute</key><integer>{minute}</integer>\n  </dict>\n"
        )
    };
    let more = host.more_starts.iter().map(|at| start("", at));
    let starts = start(day, &schedule.at) + &more.collect::<String>();
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>{label}</string>
  <key>ProgramArguments</key>
  <array>
    <string>{program}</string>
    <string>schedule</string>
    <string>run</string>
    <string>{name}</string>
  </array>
  <key>StartCalendarInterval</key>
  <array>
{starts}  </array>
  <key>ProcessType</key><string>Background</string>
  <key>LowPriorityIO</key><true/>
  <key>StandardErrorPath</key><string>{log}</string>
</dict>
</plist>
"#,
        program = escaped(&host.program.to_string_lossy()),
        name = schedule.name,
        log = escaped(&host.home.join("Library/Logs/Steadfast.log").to_string_lossy()),
    );
    TimerFile { path, text }
}

/// Returns the property list of a service.
pub(super) fn serving(service: &UserService, host: &TimerHost) -> TimerFile {
    let path = host.home.join("Library/LaunchAgents/org.steadfast.serve.plist");
    let program = host.program.to_string_lossy();
    let words = std::iter::once(&*program);
    let words = words.chain(service.arguments.iter().map(String::as_str));
    let words: String =
        words.map(|word| format!("    <string>{}</string>\n", escaped(word))).collect();
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>org.steadfast.serve</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>StandardErrorPath</key><string>{log}</string>
</dict>
</plist>
"#,
        log = escaped(&host.home.join("Library/Logs/Steadfast.log").to_string_lossy()),
    );
    TimerFile { path, text }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
