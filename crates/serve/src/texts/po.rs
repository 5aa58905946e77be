//! Reads the part of gettext's `.po` format that translations need.
//!
//! In: a file. Out: its messages in order: texts and their translations. Comments are skipped;
//! everything else must be understood.

/// A text and its translation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PoMessage {
    /// The text in English: `msgid`.
    pub(super) text: String,
    /// The same in the language of the file: `msgstr`.
    pub(super) translation: String,
}

/// Returns the messages of a file without its header, or the number of a line that is not
/// understood.
pub(super) fn messages(po: &str) -> Result<Vec<PoMessage>, usize> {
    let mut messages: Vec<PoMessage> = Vec::new();
    let mut is_translation = true;
    for (at, line) in po.lines().map(str::trim).enumerate() {
        let understood = |text: Option<String>| text.ok_or(at + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let quoted = if let Some(text) = line.strip_prefix("msgid ") {
            if !is_translation {
                return Err(at + 1);
            }
            is_translation = false;
            messages.push(PoMessage::default());
            text
        } else if let Some(text) = line.strip_prefix("msgstr ") {
            if is_translation {
                return Err(at + 1);
            }
            is_translation = true;
            text
        } else {
            line
        };
        let text = understood(unquoted(quoted))?;
        let message = messages.last_mut().ok_or(at + 1)?;
        match is_translation {
            true => message.translation.push_str(&text),
            false => message.text.push_str(&text),
        }
    }
    messages.retain(|message| !message.text.is_empty());
    Ok(messages)
}

/// Returns what a string in quotation marks says; `None` if it is none.
fn unquoted(quoted: &str) -> Option<String> {
    let mut letters = quoted.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                escaped @ ('"' | '\\') => escaped,
                _ => return None,
            },
            '"' => return None,
            letter => letter,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_go_on_over_lines() {
        let po = "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n#. A part.\nmsgid \"a \"\n\"b\"\n\
                  msgstr \"\"\n\"say \\\"c\\\\d\\\"\\n\"\n";
        let message = PoMessage { text: "a b".into(), translation: "say \"c\\d\"\n".into() };
        assert_eq!(messages(po), Ok(vec![message]));
    }

    #[test]
    fn what_is_not_understood_is_named_by_its_line() {
        for (po, line) in [
            ("\"a\"", 1),
            ("msgid \"a\"\nmsgid \"b\"", 2),
            ("msgid \"a\"\nmsgstr \"b\"\nmsgstr \"c\"", 3),
            ("\nmsgctxt \"a\"", 2),
            ("msgid \"a", 1),
            ("msgid \"a\\t\"", 1),
            ("msgid \"a\"b\"", 1),
            ("msgid \"a\\\"", 1),
        ] {
            assert_eq!(messages(po), Err(line), "{po}");
        }
    }
}
