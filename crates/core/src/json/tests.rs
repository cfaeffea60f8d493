use super::*;

mod es6;
mod properties;

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
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
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
}

#[test]
fn depth_costs_no_stack_however_far_a_caller_raises_it() {
    assert_eq!(canonical(&"[".repeat(10_000)), Err("json_depth"), "positive control");
    let limits = Limits { depth: usize::MAX, ..Limits::default() };
    let arrays = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    assert_eq!(canonicalize(arrays.as_bytes(), Profile::Signed, &limits).unwrap(), arrays.as_bytes());
    let (doc, _) = observe(arrays.as_bytes(), &limits).unwrap();
    assert_eq!(doc.root().items().count(), 1);
    let objects = format!("{}1{}", "{\"b\":".repeat(2_000), ",\"a\":0}".repeat(2_000));
    let ordered = format!("{}1{}", "{\"a\":0,\"b\":".repeat(2_000), "}".repeat(2_000));
    assert_eq!(canonicalize(objects.as_bytes(), Profile::Signed, &limits).unwrap(), ordered.as_bytes());
}

/// Where the shortcut for literals that are canonical as they stand begins and ends.
#[test]
fn numbers_are_copied_only_where_they_are_canonical() {
    for (text, expected) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e5", "0"),
        ("10", "10"),
        ("1.0", "1"),
        ("1.50", "1.5"),
        ("-1.5", "-1.5"),
        ("1e0", "1"),
        ("1E2", "100"),
        ("0.000001", "0.000001"),
        ("0.0000012", "0.0000012"),
        ("0.0000001", "1e-7"),
        ("-0.00000012", "-1.2e-7"),
        ("12345678.1234567", "12345678.1234567"),
        ("123456789.12345678", "123456789.12345678"),
        ("0.10000000000000001", "0.1"),
        ("0.1000000000000000055511151231257827", "0.1"),
        ("9007199254740991", "9007199254740991"),
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740993", "-9007199254740992"),
        ("100000000000000000000", "100000000000000000000"),
        ("1000000000000000000000", "1e+21"),
        ("1e-400", "0"),
    ] {
        assert_eq!(canonical(text).unwrap(), expected, "{text}");
    }
}

/// The places where a string is scanned eight bytes at a time and where it is not.
#[test]
fn strings_end_where_they_end_at_every_length() {
    for length in 0..40 {
        let plain = "\u{7f}".repeat(length);
        assert_eq!(canonical(&format!("\"{plain}\"")).unwrap(), format!("\"{plain}\""));
        assert_eq!(canonical(&format!("\"{plain}\\/{plain}\"")).unwrap(), format!("\"{plain}/{plain}\""));
        assert_eq!(canonical(&format!("\"{plain}")), Err("json_syntax"), "{length}");
        for control in ["\u{0}", "\u{1}", "\u{1f}"] {
            assert_eq!(canonical(&format!("\"{plain}{control}{plain}\"")), Err("json_syntax"), "{length} {control:?}");
        }
    }
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
fn of_members_with_one_name_the_first_counts_wherever_the_others_stand() {
    let text = br#"{"b":1,"a":{"z":1,"y":2,"z":3},"b":2,"c":3,"\u0062":4}"#;
    let (doc, defects) = observe(text, &Limits::default()).unwrap();
    assert_eq!(defects.iter().map(|defect| defect.at).collect::<Vec<_>>(), [24, 31, 43], "in source order");
    let members: Vec<_> = doc.root().members().map(|(name, value)| (name.into_owned(), value.raw())).collect();
    let expected = [("b", "1"), ("a", r#"{"z":1,"y":2,"z":3}"#), ("c", "3")];
    assert_eq!(members, expected.map(|(name, value)| (name.to_owned(), value)));
    assert_eq!(doc.root().get("a").unwrap().members().count(), 2);
    let refused = canonicalize(text, Profile::Rfc8785, &Limits::default()).unwrap_err();
    assert_eq!((refused.kind, refused.at), (Kind::Duplicate, 24));
}

#[test]
fn a_member_is_taken_out_with_its_comma() {
    let without = |text: &str, name| {
        let parted = canonicalize_without(text.as_bytes(), name, Profile::Signed, &Limits::default()).unwrap();
        assert_eq!(parted.whole, canonicalize(text.as_bytes(), Profile::Signed, &Limits::default()).unwrap());
        String::from_utf8(parted.rest).unwrap()
    };
    for (text, name, rest) in [
        (r#"{"b":1, "a":2,"c":3}"#, "a", r#"{"b":1,"c":3}"#),
        (r#"{"b":1,"a":2,"c":3}"#, "b", r#"{"a":2,"c":3}"#),
        (r#"{"a":1,"b":2,"c":{"c":0}}"#, "c", r#"{"a":1,"b":2}"#),
        (r#"{"\u0061":1}"#, "a", "{}"),
        (r#"{"b":{"a":1}}"#, "a", r#"{"b":{"a":1}}"#),
        (r#"[{"a":1}]"#, "a", r#"[{"a":1}]"#),
    ] {
        assert_eq!(without(text, name), rest, "{text}");
    }
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
        return crate::testing::say_skipped("the reference files of RFC 8785");
    }
    for name in ["arrays", "french", "structures", "unicode", "values", "weird"] {
        let input = std::fs::read(folder.join("input").join(format!("{name}.json"))).unwrap();
        let hexed = std::fs::read_to_string(folder.join("outhex").join(format!("{name}.txt"))).unwrap();
        let expected = hex::decode(hexed.split_whitespace().collect::<String>()).unwrap();
        assert_eq!(canonicalize(&input, Profile::Rfc8785, &Limits::default()).unwrap(), expected, "{name}");
    }
}
