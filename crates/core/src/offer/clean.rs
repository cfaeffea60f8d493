//! A stranger's text, made safe to show: capped, without controls and invisible characters.
//!
//! What is capped is what comes out, in characters and in bytes: a text that is all escapes is not ten times as long
//! as any other, so the size of a document that shows such texts has a bound.

/// Longest text, in characters as shown.
const MOST: usize = 120;
/// Longest place.
const MOST_PLACE: usize = 200;

/// At most 120 characters of `text`; what must not be shown stands as `\u{…}`.
pub fn shown(text: &str) -> String {
    cut(text, MOST)
}

/// At most 200 characters of a path into what a seller sent, whose names are the seller's own.
pub fn place(path: &str) -> String {
    cut(path, MOST_PLACE)
}

/// At most `most` characters and three times as many bytes, and a mark where something is missing. An escape stands
/// whole or not at all, so what was cut once is not cut again.
fn cut(text: &str, most: usize) -> String {
    // What nearly every seller sends; the rest is looked at letter by letter.
    if text.len() <= most && super::text::plain(text) {
        return text.to_owned();
    }
    let (mut out, mut letters) = (String::new(), 0);
    for one in text.chars() {
        let one = if hidden(one) { one.escape_unicode().to_string() } else { one.to_string() };
        letters += one.chars().count();
        if letters > most || out.len() + one.len() > 3 * most {
            out.push('…');
            break;
        }
        out.push_str(&one);
    }
    out
}

/// What a reader does not see, or what moves what he sees: general categories Cc, Cf, Zl and Zp (Unicode 16), the rest
/// of `Default_Ignorable_Code_Point` (fillers, variation selectors), and the blank Braille pattern. Ordinary spaces are
/// not: they are seen as space.
pub fn hidden(one: char) -> bool {
    one.is_control() || format(one) || filler(one) || matches!(one, '\u{2028}' | '\u{2029}')
}

/// Category Cf, whole blocks where the rest of a block is reserved for more of it.
fn format(one: char) -> bool {
    matches!(u32::from(one),
        0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x890..=0x891 | 0x8e2 | 0x180e | 0x200b..=0x200f
        | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfff0..=0xfffb | 0x110bd | 0x110cd | 0x13430..=0x1343f
        | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

/// Marks and letters without a picture.
fn filler(one: char) -> bool {
    matches!(u32::from(one),
        0x34f | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180d | 0x180f | 0x2800 | 0x3164 | 0xfe00..=0xfe0f
        | 0xffa0 | 0x1d159)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

    /// Held against an outside table of categories.
    #[test]
    fn controls_formats_and_separators_of_lines_are_hidden_and_letters_are_not() {
        let category = |one: char| one.general_category();
        for one in '\0'..=char::MAX {
            match category(one) {
                GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator => assert!(hidden(one), "{}", one.escape_unicode()),
                GeneralCategory::SpaceSeparator
                | GeneralCategory::LowercaseLetter
                | GeneralCategory::UppercaseLetter
                | GeneralCategory::DecimalNumber
                | GeneralCategory::OtherPunctuation
                | GeneralCategory::MathSymbol => assert!(!hidden(one), "{}", one.escape_unicode()),
                _ => {}
            }
        }
        for one in ['\u{3164}', '\u{115f}', '\u{1160}', '\u{ffa0}', '\u{2800}', '\u{34f}', '\u{fe0f}', '\u{e0101}'] {
            assert!(hidden(one), "{}", one.escape_unicode());
        }
        for one in ['한', 'ᄀ', 'ㄱ', '⠁', '́', '文', '😀'] {
            assert!(!hidden(one), "{one}");
        }
    }

    #[test]
    fn the_cap_counts_what_comes_out() {
        assert_eq!(shown(&"x".repeat(120)), "x".repeat(120));
        assert_eq!(shown(&"x".repeat(121)), format!("{}…", "x".repeat(120)));
        // 15 escapes of 8 characters are 120.
        assert_eq!(shown(&"\u{202e}".repeat(16)), format!("{}…", "\\u{202e}".repeat(15)));
        // 90 emoji are 360 bytes.
        assert_eq!(shown(&"😀".repeat(91)), format!("{}…", "😀".repeat(90)));
        assert_eq!(place(&"x".repeat(201)), format!("{}…", "x".repeat(200)));
        for text in ["\u{202e}".repeat(16), "😀".repeat(91), "x".repeat(121)] {
            assert_eq!(shown(&shown(&text)), shown(&text), "what was cut once is not cut again");
        }
    }
}
