//! What holds for every text, tried on random ones.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn documents() -> impl Strategy<Value = Value> {
    let double = any::<f64>().prop_filter("finite", |value| value.is_finite());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        double.prop_map(Into::into),
        (-999_999_i32..999_999, 0_i32..12)
            .prop_map(|(digits, places)| { format!("{digits}e-{places}").parse::<f64>().unwrap().into() }),
        ".{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let name = "[a-c\u{0}\u{1f}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}\\\\\"]{0,10}";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(name, inner, 0..6).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Chooses among spellings, the same ones for the same seed.
struct Choice(u64);

impl Choice {
    fn of(&mut self, ways: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % ways
    }

    fn space(&mut self) -> &'static str {
        ["", "", " ", "\n\t", "\r\n  "][self.of(5) as usize]
    }
}

/// One of the many texts that say `value`.
fn respelled(value: &Value, choice: &mut Choice) -> String {
    let body = match value {
        Value::Number(number) => number_respelled(number.as_f64().unwrap(), choice),
        Value::String(text) => string_respelled(text, choice),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| respelled(item, choice)).collect();
            format!("[{}{}]", items.join(","), choice.space())
        }
        Value::Object(map) => {
            let mut members: Vec<_> = map
                .iter()
                .map(|(name, value)| {
                    let name = string_respelled(name, choice);
                    format!("{}{name}{}:{}", choice.space(), choice.space(), respelled(value, choice))
                })
                .collect();
            for last in (1..members.len()).rev() {
                members.swap(last, choice.of(last as u64 + 1) as usize);
            }
            format!("{{{}{}}}", members.join(","), choice.space())
        }
        word => word.to_string(),
    };
    format!("{}{body}{}", choice.space(), choice.space())
}

fn number_respelled(value: f64, choice: &mut Choice) -> String {
    match choice.of(6) {
        0 => format!("{value:e}"),
        1 => format!("{value:E}").replace('E', "E+").replace("+-", "-"),
        2 => format!("{value:.17e}"),
        3 if value.fract() == 0.0 => format!("{value:.1}"),
        4 if value.fract() != 0.0 => format!("{value}000"),
        _ => format!("{value}"),
    }
}

fn string_respelled(text: &str, choice: &mut Choice) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        let plain = !matches!(character, '\0'..' ' | '"' | '\\');
        match (choice.of(4), character) {
            (0..3, _) if plain => out.push(character),
            (0, '/') => out.push_str("\\/"),
            (0 | 1, '"' | '\\') => out.extend(['\\', character]),
            (0 | 1, '\n') => out.push_str("\\n"),
            (case, _) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&if case == 2 { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
                }
            }
        }
    }
    out.push('"');
    out
}

/// What the spans of a text say, as a tree.
fn tree(node: Node<'_>) -> Value {
    match node.kind() {
        NodeKind::Array => node.items().map(tree).collect(),
        NodeKind::Object => node.members().map(|(name, value)| (name.into_owned(), tree(value))).collect(),
        NodeKind::String => node.as_str().unwrap().into(),
        _ => serde_json::from_str(node.raw()).unwrap(),
    }
}

fn agrees_with_an_outside_canonicalizer(document: &Value) -> Result<(), TestCaseError> {
    let text = serde_json::to_vec(document).unwrap();
    let ours = canonicalize(&text, Profile::Rfc8785, &Limits::default()).unwrap();
    prop_assert_eq!(&ours, &serde_json_canonicalizer::to_vec(document).unwrap());
    prop_assert_eq!(&canonicalize(&ours, Profile::Rfc8785, &Limits::default()).unwrap(), &ours);
    Ok(())
}

/// Texts that are nearly JSON: a good one with a few bytes changed.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let bytes =
        prop_oneof![prop::sample::select(b"{}[]\",:\\ue0123456789.-+ \n\x00\xff\xc3\xa9dD/t".to_vec()), any::<u8>(),];
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, bytes), 0..4);
    (documents(), any::<u64>(), edits).prop_map(|(document, seed, edits)| {
        let mut text = respelled(&document, &mut Choice(seed)).into_bytes();
        for (place, edit, byte) in edits {
            let at = place.index(text.len() + 1);
            match edit {
                0 => text.insert(at, byte),
                1 if at < text.len() => text[at] = byte,
                _ => text.truncate(at),
            }
        }
        text
    })
}

/// The sinks accept and refuse alike, and the patient reader finds what the strict one stumbled on.
fn readers_agree(text: &[u8]) -> Result<(), TestCaseError> {
    let limits = Limits { depth: 6, members: 5, string: 40, size: 4_000 };
    for profile in [Profile::Signed, Profile::Rfc8785] {
        let scanned = scan(text, profile, &limits);
        prop_assert_eq!(parse(text, profile, &limits).map(|_| ()), scanned);
        prop_assert_eq!(canonicalize(text, profile, &limits).map(|_| ()), scanned);
        prop_assert_eq!(canonicalize_without(text, "a", profile, &limits).map(|_| ()), scanned);
    }
    let observed = observe(text, &limits);
    match (scan(text, Profile::Signed, &limits), &observed) {
        (Ok(()), Ok((_, defects))) => prop_assert!(defects.is_empty()),
        (Err(_), Ok((_, defects))) if defects.len() == 64 => {}
        (Err(error), Ok((_, defects))) => {
            prop_assert!(defects.iter().any(|defect| (defect.at, Kind::from(defect.kind)) == (error.at, error.kind)));
        }
        (strict, Err(error)) => prop_assert!(strict == Err(*error) || strict.is_err_and(|strict| strict.at < error.at)),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]
    #[test]
    fn equals_an_outside_canonicalizer_and_is_idempotent(document in documents()) {
        agrees_with_an_outside_canonicalizer(&document)?;
    }

    #[test]
    fn neither_order_nor_spelling_changes_the_canonical_form(document in documents(), seed: u64) {
        let text = respelled(&document, &mut Choice(seed));
        let ours = canonical(&text).unwrap();
        prop_assert_eq!(ours, serde_json_canonicalizer::to_string(&document).unwrap(), "{}", text);
    }

    #[test]
    fn spans_say_what_the_text_says(document in documents(), seed: u64) {
        let text = respelled(&document, &mut Choice(seed));
        let doc = parse(text.as_bytes(), Profile::Rfc8785, &Limits::default()).unwrap();
        prop_assert_eq!(tree(doc.root()), serde_json::from_str::<Value>(&text).unwrap());
    }

    #[test]
    fn a_member_taken_out_leaves_the_canonical_form_of_the_rest(document in documents(), name in "[a-c]{0,2}", seed: u64) {
        let mut rest = document.clone();
        if let Value::Object(map) = &mut rest {
            map.remove(&name);
        }
        let text = respelled(&document, &mut Choice(seed));
        let parted = canonicalize_without(text.as_bytes(), &name, Profile::Rfc8785, &Limits::default()).unwrap();
        prop_assert_eq!(parted.whole, serde_json_canonicalizer::to_vec(&document).unwrap());
        prop_assert_eq!(parted.rest, serde_json_canonicalizer::to_vec(&rest).unwrap());
    }

    #[test]
    fn readers_agree_on_anything(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        readers_agree(&bytes)?;
    }

    #[test]
    fn readers_agree_on_what_is_nearly_json(text in damaged()) {
        readers_agree(&text)?;
    }

    /// Apart from names that stand twice, which an outside reader lets pass.
    #[test]
    fn strict_is_what_an_outside_reader_accepts(text in damaged()) {
        let ours = scan(&text, Profile::Rfc8785, &Limits::default());
        if ours.map_err(|error| error.kind) != Err(Kind::Duplicate) {
            prop_assert_eq!(ours.is_ok(), serde_json::from_slice::<Value>(&text).is_ok(), "{:?}", ours);
        }
    }
}

/// A value that is as often a leaf as it is deep; the same one for the same choices.
fn value(choice: &mut Choice, depth: u8) -> Value {
    match choice.of(if depth == 0 { 6 } else { 10 }) {
        0 => Value::Null,
        1 => (choice.of(2) == 0).into(),
        2 => (i32::try_from(choice.of(1 << 31)).unwrap() - (1 << 30)).into(),
        3 => double(choice).into(),
        4 => format!("{}e-{}", choice.of(1_000_000), choice.of(12)).parse::<f64>().unwrap().into(),
        5 => text(choice).into(),
        _ => container(choice, depth),
    }
}

fn container(choice: &mut Choice, depth: u8) -> Value {
    let (size, below) = (choice.of(6), depth.saturating_sub(1));
    match choice.of(2) {
        0 => (0..size).map(|_| value(choice, below)).collect(),
        _ => Value::Object((0..size).map(|_| (text(choice), value(choice, below))).collect()),
    }
}

/// Any finite one: sign, exponent and fraction are all chosen.
fn double(choice: &mut Choice) -> f64 {
    let bits = choice.of(1 << 22) << 42 | choice.of(1 << 21) << 21 | choice.of(1 << 21);
    Some(f64::from_bits(bits)).filter(|double| double.is_finite()).unwrap_or_default()
}

/// Of the letters that sort or are written in ways of their own, and of all others.
fn text(choice: &mut Choice) -> String {
    let letter = |choice: &mut Choice| match choice.of(4) {
        0 => char::from(b'a' + choice.of(3) as u8),
        1 => char::from(choice.of(128) as u8),
        2 => ['\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}'][choice.of(5) as usize],
        _ => char::from_u32(choice.of(0x11_0000) as u32).unwrap_or('"'),
    };
    (0..choice.of(8)).map(|_| letter(choice)).collect()
}

/// Every one of them is made from its number, so that a failure can be looked at.
#[test]
fn two_hundred_thousand_documents_equal_an_outside_canonicalizers() {
    for number in 0..200_000 {
        let document = container(&mut Choice(number), 4);
        if let Err(error) = agrees_with_an_outside_canonicalizer(&document) {
            panic!("document {number}: {error}");
        }
    }
}
