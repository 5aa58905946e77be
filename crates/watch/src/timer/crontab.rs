//! A marked block in the user's crontab. Lines of others stay byte for byte.

use super::TimerHost;
use crate::schedule::{CheckSchedule, Every};

/// Returns the line of a schedule, and one for each further start.
pub(super) fn line(schedule: &CheckSchedule, host: &TimerHost) -> String {
    let (hour, minute) = (schedule.at.hour, schedule.at.minute);
    let days = match schedule.every {
        Every::Night => "* * *",
        Every::Week => "* * 0",
        Every::Month => "1 * *",
    };
    // Quiet, because cron mails what a command prints; the alerts tell. cron takes `%` for the end
    // of the line.
    let command = command_line(schedule, host).replace('%', "\\%");
    let of = |(minute, hour, days)| format!("{minute} {hour} {days} {command} >/dev/null 2>&1");
    let more = host.more_starts.iter().map(|at| (at.minute, at.hour, "* * *"));
    let lines: Vec<String> = std::iter::once((minute, hour, days)).chain(more).map(of).collect();
    lines.join("\n")
}

/// Returns the command line, quoted for a shell: with the folders of the user's environment if they
/// are not the usual ones, and at a low priority.
pub(super) fn command_line(schedule: &CheckSchedule, host: &TimerHost) -> String {
    let state = host.state.first().and_then(|state| state.parent());
    let folders = [
        ("XDG_CONFIG_HOME", Some(host.config.as_path()), ".config"),
        ("XDG_STATE_HOME", state, ".local/state"),
    ];
    let unusual = folders.into_iter().filter_map(|(name, folder, usual)| {
        let folder = folder.filter(|folder| **folder != host.home.join(usual))?;
        Some(format!("{name}={} ", quoted(&folder.to_string_lossy())))
    });
    let (set, program) = (unusual.collect::<String>(), quoted(&host.program.to_string_lossy()));
    format!("{set}nice -n 10 {program} schedule run {}", schedule.name)
}

/// Quotes a word for a shell if it needs that.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte);
    match word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Returns a crontab with the block of a schedule, at its end or in place of the old block.
pub fn with_block(crontab: &[u8], name: &str, line: &str) -> Vec<u8> {
    let mut new = without_block(crontab, name);
    if !new.is_empty() && !new.ends_with(b"\n") {
        new.push(b'\n');
    }
    let [begin, end] = marks(name);
    new.extend_from_slice(format!("{begin}\n{line}\n{end}\n").as_bytes());
    new
}

/// Returns a crontab without the block of a schedule. Without its last mark, a block was edited by
/// hand, and stays.
pub fn without_block(crontab: &[u8], name: &str) -> Vec<u8> {
    let [begin, end] = marks(name);
    let lines: Vec<&[u8]> = crontab.split_inclusive(|&byte| byte == b'\n').collect();
    let is = |line: &&[u8], mark: &str| line.trim_ascii_end() == mark.as_bytes();
    let from = lines.iter().position(|line| is(line, &begin));
    let range = from.and_then(|from| {
        let length = lines[from..].iter().position(|line| is(line, &end))?;
        Some(from..from + length + 1)
    });
    let Some(range) = range else { return crontab.to_vec() };
    let kept = |(number, _): &(usize, &&[u8])| !range.contains(number);
    lines.iter().enumerate().filter(kept).flat_map(|(_, line)| line.iter().copied()).collect()
}

fn marks(name: &str) -> [String; 2] {
    [format!("# BEGIN steadfast {name}"), format!("# END steadfast {name}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_others_stay() {
        let others: [&[u8]; 5] = [
            b"",
            b"MAILTO=me\n\n# a comment\n0 1 * * * true % with percent\n",
            b"\xff\xfe not text\n",
            b"# BEGIN steadfast photos-2\n1 1 * * * x\n# END steadfast photos-2\n",
            b"# BEGIN steadfast photos\nedited by hand, the end is gone\n",
        ];
        for other in others {
            let mut crontab = other.to_vec();
            for round in 0..100 {
                crontab = with_block(&crontab, "docs", &format!("{round} 2 * * * steadfast"));
                assert!(crontab.starts_with(other));
                if round % 3 == 0 {
                    crontab = without_block(&crontab, "docs");
                    assert_eq!(crontab, other);
                }
            }
            assert_eq!(without_block(&crontab, "docs"), without_block(other, "docs"));
        }
    }
}
