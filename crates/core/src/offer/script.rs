//! Hosts that only look like another (after UTS 39): a label that mixes Latin with a script whose letters pass for
//! Latin ones, or one written wholly in such letters. An ordinary name in one script, accents included, is neither.

/// Whether a label of `host` (A-labels) may be taken for other letters than it is written with.
pub(super) fn deceives(host: &str) -> bool {
    host.split('.').filter(|label| label.starts_with("xn--")).any(|label| {
        let (name, read) = idna::domain_to_unicode(label);
        read.is_err() || mixes(&name) || passes_for_ascii(&name)
    })
}

/// Latin letters beside letters of a look-alike script, or two of those scripts.
fn mixes(name: &str) -> bool {
    let mut scripts: Vec<u8> = name.chars().filter_map(script).collect();
    scripts.sort_unstable();
    scripts.dedup();
    scripts.len() > 1
}

/// Scripts whose letters pass for each other's; others (Han, Arabic, Thai) pass for none of these.
fn script(letter: char) -> Option<u8> {
    match letter {
        'a'..='z' | '\u{df}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Some(0),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(1),
        '\u{400}'..='\u{52f}' => Some(2),
        '\u{530}'..='\u{58f}' => Some(3),
        '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Some(4),
        _ => None,
    }
}

/// Not one letter that shows the script: Cyrillic and Greek letters drawn like ASCII ones.
fn passes_for_ascii(name: &str) -> bool {
    const TWINS: &str = "асԁеһіјӏорԛѕԝхуαικνορτυ";
    let mut letters = name.chars().filter(|letter| letter.is_alphabetic()).peekable();
    letters.peek().is_some() && letters.all(|letter| TWINS.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_names_of_one_script_pass_and_borrowed_letters_do_not() {
        let label = |name: &str| idna::domain_to_ascii(name).unwrap();
        for name in
            ["zürich.example", "москва.example", "例え.example", "αθηνα.example", "plain.example", "tōkyō東京.example"]
        {
            assert!(!deceives(&label(name)), "{name}");
        }
        for name in ["pаypal.example", "аррӏе.example", "gοogle.example", "һоѕе.example"] {
            assert!(deceives(&label(name)), "{name}");
        }
    }
}
