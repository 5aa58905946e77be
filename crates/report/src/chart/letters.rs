//! Widths of letters: how much room words need in a picture, in any viewer.
//!
//! In: text. Out: widths in the picture's own units, and text that fits a width. The font depends
//! on the viewer, so the widths are those of the widest common font. Pictures name two fonts that
//! nearly all systems have or replace by one as wide: with few fonts, what a system takes for
//! `sans-serif` can be a monospaced one, whose narrow letters are twice as wide.

/// Size of letters in a picture.
pub(super) const SIZE: f64 = 12.5;

/// The end of a text that is cut.
const CUT: char = '…';

/// Returns the width of a text.
pub(super) fn width_of(text: &str) -> i32 {
    (text.chars().map(width).sum::<f64>() * SIZE).ceil() as i32
}

/// Returns the text, or as much of its beginning as fits the width.
pub(super) fn fitted(text: &str, width_max: i32) -> String {
    if width_of(text) <= width_max {
        return text.to_owned();
    }
    let room = f64::from(width_max) / SIZE - width(CUT);
    let mut used = 0.0;
    let fits = |letter: &char| {
        used += width(*letter);
        used <= room
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.push(CUT);
    cut
}

/// Returns the text in lines that fit the width.
pub(super) fn lines_of(text: &str, width_max: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}")) <= width_max => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitted(word, width_max)),
        }
    }
    lines
}

/// Returns the width of a letter as a share of its size.
///
/// Source: advance widths of DejaVu Sans 2.37, rounded up within each group. A letter in no group
/// is as wide as an ideograph.
fn width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '\'' => 0.28,
        '.' | ',' | ' ' | ':' | ';' | '/' | '|' | 'I' | 'J' | '[' | ']' | 'f' | '-' => 0.37,
        '(' | ')' | 'r' | 't' => 0.42,
        's' | 'c' | 'z' | '_' | '–' => 0.55,
        'm' | 'M' | 'W' | '%' | '—' | '…' => 1.0,
        'w' | '×' | '÷' | '±' | '+' | '=' | '<' | '>' | '~' | '−' => 0.84,
        'a'..='z' | '0'..='9' | 'µ' | 'E' | 'F' | 'L' | 'S' | 'T' | 'Y' => 0.64,
        'A'..='Z' => 0.79,
        '\u{80}'..='\u{24f}' => 0.79,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_room_that_the_widest_letters_need() {
        // Measured in Chromium with DejaVu Sans at 12.5.
        let turns = "read and hash by turns, buffer of 1048576 bytes";
        for (text, least) in
            [("0", 7.95), ("100 ms", 46.5), ("chacha20-poly1305", 123.5), (turns, 304.4)]
        {
            let width = f64::from(width_of(text));
            assert!(width >= least && width < 1.25 * least, "{text}: {width} for {least}");
        }
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(lines_of("one two  three", 60), ["one two", "three"]);
        assert!(lines_of(" ", 60).is_empty());
    }

    #[test]
    fn what_is_too_long_ends_in_a_mark() {
        assert_eq!(fitted("short", 100), "short");
        let cut = fitted("a name that is much too long", 100);
        assert!(cut.starts_with("a name") && cut.ends_with('…'), "{cut}");
        assert!(width_of(&cut) <= 100, "{cut}: {}", width_of(&cut));
        assert_eq!(fitted("anything", 0), "…");
    }
}
