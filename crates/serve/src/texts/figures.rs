//! Writes figures as German does: 1.234,5 for 1,234.5.

use steadfast_report::units;

/// Returns a whole number with points between thousands.
pub(super) fn count(number: u64) -> String {
    units::count(number).replace(',', ".")
}

/// Returns a number and its noun.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Words that follow a number, with their German.
const WORDS: [(&str, &str); 3] =
    [("thousand", "Tausend"), ("million", "Millionen"), ("billion", "Milliarden")];

/// Units that follow a number, which are the same in German.
const UNITS: [&str; 24] = [
    "B", "kB", "MB", "GB", "TB", "PB", "EB", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ns", "µs",
    "ms", "s", "min", "h", "d", "%", "mJ", "J", "kJ",
];

/// Returns a figure in German: a number, with its unit and the ends of its interval if it has them.
/// `None` if the text is anything else, such as a version or a date.
pub(super) fn figure(text: &str) -> Option<String> {
    if !text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-') {
        return None;
    }
    let mut german = String::with_capacity(text.len());
    for piece in text.split_inclusive([' ', '–', '[', ']']) {
        let word = piece.trim_end_matches([' ', '–', '[', ']']);
        let (bare, rate) = word.strip_suffix("/s").map_or((word, ""), |bare| (bare, "/s"));
        match WORDS.iter().find(|(english, _)| *english == bare) {
            Some((_, word)) => german.push_str(word),
            None if bare.is_empty() || UNITS.contains(&bare) => german.push_str(bare),
            None => german.push_str(&number(bare)?),
        }
        german.push_str(rate);
        german.push_str(&piece[word.len()..]);
    }
    Some(german)
}

/// Returns a number in German: with a sign and a multiplication sign, if it has them.
fn number(text: &str) -> Option<String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let digits = digits.strip_suffix('×').unwrap_or(digits);
    if digits.strip_prefix("0x").is_some_and(|hex| u64::from_str_radix(hex, 16).is_ok()) {
        return Some(text.to_owned());
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|of| of.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next().is_some_and(is_digits);
    let is_number = first && groups.all(|group| is_digits(group) && group.len() == 3);
    (is_number && is_digits(fraction)).then(|| {
        let turned = text.chars().map(|letter| match letter {
            ',' => '.',
            '.' => ',',
            other => other,
        });
        turned.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_german_does() {
        for (english, german) in [
            ("0", "0"),
            ("1,234,567", "1.234.567"),
            ("5.20 GB", "5,20 GB"),
            ("3.5 %", "3,5 %"),
            ("-2.00 ms [-3.00–1.50]", "-2,00 ms [-3,00–1,50]"),
            ("2.00 GB/s [1.00 MB/s–3.00 GB/s]", "2,00 GB/s [1,00 MB/s–3,00 GB/s]"),
            ("3 min 05 s", "3 min 05 s"),
            ("5.61× [2.49–12.0]", "5,61× [2,49–12,0]"),
            ("4.03 million/s", "4,03 Millionen/s"),
            ("1,234/s", "1.234/s"),
            ("0x1000", "0x1000"),
        ] {
            assert_eq!(figure(english).as_deref(), Some(german), "{english}");
        }
    }

    #[test]
    fn what_is_no_figure_stays() {
        for text in [
            "",
            "-",
            "–",
            "0.2.0",
            "1,23",
            ",123",
            "1.",
            "1..9",
            "2024-03-01",
            "2024-03-01 12:00:05Z",
            "3 files",
            "GB",
            "1 GB.txt",
            "0xyz",
            "12a",
            "1.5 s.txt",
        ] {
            assert_eq!(figure(text), None, "{text}");
        }
    }
}
