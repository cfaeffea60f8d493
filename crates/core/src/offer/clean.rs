//! A stranger's text, made safe to show: capped, without controls and invisible characters.

const MOST: usize = 120;

/// At most 120 characters of `text`; what must not be shown stands as `\u{…}`.
pub fn shown(text: &str) -> String {
    // What nearly every seller sends; the rest is looked at letter by letter.
    if text.len() <= MOST && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    let mut out: String = text
        .chars()
        .take(MOST)
        .flat_map(|one| if hidden(one) { Shown::Code(one.escape_unicode()) } else { Shown::Plain(Some(one)) })
        .collect();
    if text.chars().nth(MOST).is_some() {
        out.push('…');
    }
    out
}

enum Shown {
    Plain(Option<char>),
    Code(std::char::EscapeUnicode),
}

impl Iterator for Shown {
    type Item = char;
    fn next(&mut self) -> Option<char> {
        match self {
            Self::Plain(one) => one.take(),
            Self::Code(code) => code.next(),
        }
    }
}

/// Controls, bidirectional overrides, zero-width and tag characters, variation selectors.
pub fn hidden(one: char) -> bool {
    one.is_control()
        || matches!(u32::from(one), 0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfe00..=0xfe0f | 0xfeff | 0xe0000..=0xe0fff)
}
