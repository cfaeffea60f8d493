use super::*;
use crate::merkle::empty_root;

const ROOT: &str = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

#[test]
fn three_lines() {
    let text = format!("log.example.test/verdicts/2026\n0\n{ROOT}\n");
    let checkpoint = Checkpoint::parse(&text).unwrap();
    let origin = Origin::parse("log.example.test/verdicts/2026").unwrap();
    assert_eq!(checkpoint, Checkpoint::new(origin, 0, empty_root()));
    assert_eq!(checkpoint.to_string(), text);
    let extended = format!("{text}first\nsecond\n");
    let checkpoint = Checkpoint::parse(&extended).unwrap();
    assert_eq!(checkpoint.extensions, ["first", "second"]);
    assert_eq!(checkpoint.to_string(), extended);
}

#[test]
fn what_is_not_a_checkpoint() {
    use CheckpointError::{Extension, Lines, Origin, Root, Size};
    let long = "o".repeat(256);
    let rows = [
        ("".to_owned(), Lines),
        ("\n".to_owned(), Lines),
        (format!("o\n0\n{ROOT}"), Lines),
        ("o\n0\n".to_owned(), Lines),
        (format!("\n0\n{ROOT}\n"), Origin),
        (format!("{long}\n0\n{ROOT}\n"), Origin),
        (format!("o\r\n0\n{ROOT}\n"), Origin),
        (format!("o\n\n{ROOT}\n"), Size),
        (format!("o\n00\n{ROOT}\n"), Size),
        (format!("o\n-1\n{ROOT}\n"), Size),
        (format!("o\n9223372036854775808\n{ROOT}\n"), Size),
        (format!("o\n18446744073709551616\n{ROOT}\n"), Size),
        ("o\n1\n\n".to_owned(), Root),
        ("o\n1\nAA==\n".to_owned(), Root),
        (format!("o\n1\n{ROOT} \n"), Root),
        (format!("o\n1\n{ROOT}\n\n"), Extension),
        (format!("o\n1\n{ROOT}\na\n\nb\n"), Extension),
        (format!("o\n1\n{ROOT}\n{}", "x\n".repeat(17)), Extension),
    ];
    for (text, error) in rows {
        assert_eq!(Checkpoint::parse(&text), Err(error), "{text:?}");
    }
    assert!(Checkpoint::parse(&format!("o\n9223372036854775807\n{ROOT}\n{}", "x\n".repeat(16))).is_ok());
}
