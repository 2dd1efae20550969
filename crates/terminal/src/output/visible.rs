//! Cells in a form that is safe for a terminal: one line each, and without control sequences.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every control character replaced by a visible one: `␛` for an escape, `␊` for a line feed,
/// `\u{9b}` for those without a Unicode picture.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            picture @ '\0'..='\x1f' => {
                shown.extend(char::from_u32(0x2400 + u32::from(picture)));
            }
            '\x7f' => shown.push('␡'),
            hidden if is_hidden(hidden) => {
                // Writing to a string never fails.
                let _ = write!(shown, "{}", hidden.escape_unicode());
            }
            plain => shown.push(plain),
        }
    }
    Cow::Owned(shown)
}

/// Controls, line and paragraph separators, and characters that turn the direction of the text around them.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(visible("a\x1b[31mred\x07\x7f"), "a␛[31mred␇␡");
        assert_eq!(visible("two\r\nlines\tand\0"), "two␍␊lines␉and␀");
        assert_eq!(visible("\u{9b}2J \u{202e}olleh\u{2028}"), "\\u{9b}2J \\u{202e}olleh\\u{2028}");
        for hidden in (0..=0x2fff).filter_map(char::from_u32).filter(|character| character.is_control()) {
            assert!(!visible(&hidden.to_string()).contains(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn plain_text_is_as_it_was() {
        for plain in ["", "rs7410291", "Zürich", "東京 👩‍🔬 \u{301}"] {
            assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain), "{plain}");
        }
    }
}
