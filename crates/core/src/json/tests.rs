use super::*;

fn canonical(text: &str) -> Result<String, &'static str> {
    let bytes = canonicalize(text.as_bytes(), Profile::Rfc8785, &Limits::default()).map_err(|error| error.code())?;
    Ok(String::from_utf8(bytes).unwrap())
}

fn signed(text: &str) -> Result<String, &'static str> {
    let bytes = canonicalize(text.as_bytes(), Profile::Signed, &Limits::default()).map_err(|error| error.code())?;
    Ok(String::from_utf8(bytes).unwrap())
}

#[test]
fn sorts_names_by_utf16_units_and_drops_space() {
    assert_eq!(canonical(" { \"b\" : [ 1 , true , null ] , \"a\" : { } } ").unwrap(), r#"{"a":{},"b":[1,true,null]}"#);
    // U+1F600 is d83d de00 in UTF-16 and sorts before U+FB33, though its UTF-8 bytes sort after.
    assert_eq!(canonical("{\"\u{fb33}\":1,\"\u{1f600}\":2}").unwrap(), "{\"\u{1f600}\":2,\"\u{fb33}\":1}");
}

#[test]
fn escapes_as_rfc_8785_does() {
    assert_eq!(
        canonical(r#""\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/""#).unwrap(),
        "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\""
    );
    assert_eq!(canonical("\"\\ud83d\\ude00\"").unwrap(), "\"\u{1f600}\"");
    assert_eq!(canonical(r#""a\n\tb\ud83d\ude00c\u0041""#).unwrap(), "\"a\\n\\tb\u{1f600}cA\"");
}

/// Bits and text from RFC 8785 appendix B and its reference test data.
#[test]
fn prints_doubles_as_ecmascript_does() {
    for (bits, text) in [
        (0x0000_0000_0000_0001, "5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        (0x8000_0000_0000_0000, "0"),
    ] {
        let literal = format!("{:e}", f64::from_bits(bits));
        assert_eq!(canonical(&literal).unwrap(), text, "{literal}");
    }
}

#[test]
fn refuses_what_strict_json_refuses() {
    for (text, code) in [
        ("", "json_syntax"),
        ("{\"a\":1,}", "json_syntax"),
        ("01", "json_syntax"),
        ("1.", "json_syntax"),
        ("+1", "json_syntax"),
        ("NaN", "json_syntax"),
        ("\"\t\"", "json_syntax"),
        ("\"\\x\"", "json_syntax"),
        ("\"\\u12g4\"", "json_syntax"),
        ("\"open", "json_syntax"),
        ("1 2", "json_trailing"),
        ("\u{feff}1", "json_bom"),
        ("{\"a\":1,\"\\u0061\":2}", "json_duplicate"),
        ("\"\\ud800\"", "json_surrogate"),
        ("\"\\ude00\\ud83d\"", "json_surrogate"),
        ("1e400", "json_overflow"),
    ] {
        assert_eq!(canonical(text), Err(code), "{text}");
    }
    assert_eq!(canonicalize(b"\"\xff\"", Profile::Rfc8785, &Limits::default()).unwrap_err().code(), "json_utf8");
}

#[test]
fn signed_refuses_integers_a_double_cannot_tell_apart_however_spelled() {
    for text in [
        "9007199254740992",
        "-9007199254740992",
        "9007199254740991.6",
        "9007199254740993.0",
        "1e20",
        "-1E+21",
        "1e21",
        "1.7976931348623157e308",
        "123456789012345678901234567890",
    ] {
        assert_eq!(signed(text), Err("json_unsafe_integer"), "{text}");
    }
    assert_eq!(signed("9007199254740991").unwrap(), "9007199254740991");
    assert_eq!(signed("-9007199254740991").unwrap(), "-9007199254740991");
    assert_eq!(signed("9.007199254740991e15").unwrap(), "9007199254740991");
    assert_eq!(canonical("1e21").unwrap(), "1e+21");
    assert_eq!(canonical("1e20").unwrap(), "100000000000000000000", "plain I-JSON takes it");
}

#[test]
fn limits_are_exact() {
    let limits = Limits { depth: 2, members: 2, string: 3, size: 40 };
    let code = |text: &str| {
        canonicalize(text.as_bytes(), Profile::Signed, &limits).map(|_| "fine").unwrap_or_else(|error| error.code())
    };
    assert_eq!(code("[[1]]"), "fine");
    assert_eq!(code("[[[1]]]"), "json_depth");
    assert_eq!(code(r#"{"a":1,"b":2}"#), "fine");
    assert_eq!(code(r#"{"a":1,"b":2,"c":3}"#), "json_members");
    assert_eq!(code("\"abc\""), "fine");
    assert_eq!(code("\"abcd\""), "json_string");
    assert_eq!(code(&format!("[{}1]", " ".repeat(38))), "json_size");
    assert_eq!(canonical(&"[".repeat(10_000)), Err("json_depth"), "hostile depth costs no stack");
}

#[test]
fn observing_reads_on_and_lists_every_defect() {
    let text = "\u{feff}{\"a\":1,\"a\":2,\"b\":\"\\ud800\",\"c\":9007199254740993}";
    let (doc, defects) = observe(text.as_bytes(), &Limits::default()).unwrap();
    let kinds: Vec<_> = defects.iter().map(|defect| defect.kind).collect();
    assert_eq!(kinds, [DefectKind::Bom, DefectKind::Duplicate, DefectKind::Surrogate, DefectKind::UnsafeInteger]);
    assert_eq!(doc.root().get("a").unwrap().as_u64(), Some(1), "the first of two counts");
    assert_eq!(doc.root().get("b").unwrap().as_str().unwrap(), "\u{fffd}");
    assert_eq!(doc.root().members().count(), 3);
}

#[test]
fn nodes_are_spans_of_the_text() {
    let doc = parse(br#"{"n":1.50,"list":[{"x":"y"},[],"z"],"t":true}"#, Profile::Rfc8785, &Limits::default()).unwrap();
    let root = doc.root();
    assert_eq!(root.get("n").unwrap().raw(), "1.50");
    let kinds: Vec<_> = root.get("list").unwrap().items().map(Node::kind).collect();
    assert_eq!(kinds, [NodeKind::Object, NodeKind::Array, NodeKind::String]);
    assert_eq!(root.get("t").unwrap().as_bool(), Some(true));
    assert!(root.get("absent").is_none() && root.get("n").unwrap().get("x").is_none());
}

/// The RFC's reference files, read where they are present.
#[test]
fn official_files() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/third-party/jcs");
    if !folder.exists() {
        println!("skipped: the reference files of RFC 8785 are not here");
        return;
    }
    for name in ["arrays", "french", "structures", "unicode", "values", "weird"] {
        let input = std::fs::read(folder.join("input").join(format!("{name}.json"))).unwrap();
        let hexed = std::fs::read_to_string(folder.join("outhex").join(format!("{name}.txt"))).unwrap();
        let expected = hex::decode(hexed.split_whitespace().collect::<String>()).unwrap();
        assert_eq!(canonicalize(&input, Profile::Rfc8785, &Limits::default()).unwrap(), expected, "{name}");
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn documents() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i32>().prop_map(Into::into),
            any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Into::into),
            ".{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map("[a-c\u{e000}\u{10000}\\\\\"]{0,3}", inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn equals_an_outside_canonicalizer_and_is_idempotent(document in documents()) {
            let text = serde_json::to_vec(&document).unwrap();
            let ours = canonicalize(&text, Profile::Rfc8785, &Limits::default()).unwrap();
            prop_assert_eq!(&ours, &serde_json_canonicalizer::to_vec(&document).unwrap());
            prop_assert_eq!(&canonicalize(&ours, Profile::Rfc8785, &Limits::default()).unwrap(), &ours);
        }

        #[test]
        fn the_order_of_members_does_not_matter(names in prop::collection::btree_set("[a-c\u{e000}\u{10000}]{0,3}", 0..8)) {
            let object = |names: Vec<&String>| {
                let members: Vec<_> = names.iter().map(|name| format!("\"{name}\":\"{name}\"")).collect();
                canonical(&format!("{{{}}}", members.join(","))).unwrap()
            };
            prop_assert_eq!(object(names.iter().collect()), object(names.iter().rev().collect()));
        }

        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _any = canonicalize(&bytes, Profile::Signed, &Limits::default());
            let _any = observe(&bytes, &Limits::default());
        }
    }
}
