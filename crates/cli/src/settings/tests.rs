//! What stands where, and what wins.

use super::*;

fn with(pairs: &'static [(&str, &str)], flags: &Global) -> anyhow::Result<Settings> {
    let pairs = [pairs, &[("HOME", "/home/one")]].concat();
    Settings::load(flags, |name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
}

#[test]
fn flags_beat_variables_beat_the_file_beat_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, "data = \"from-file\"\nallow_loopback = true\n").unwrap();
    let file = Global { config: Some(path.clone()), ..Global::default() };
    assert_eq!(with(&[], &file).unwrap().data, (PathBuf::from("from-file"), Origin::File(path)));
    let variable = with(&[("COUNTERSIGN_DATA", "from-env")], &file).unwrap();
    assert_eq!(variable.data.1, Origin::Variable("COUNTERSIGN_DATA"));
    let flag = Global { data: Some("from-flag".into()), ..file };
    assert_eq!(with(&[("COUNTERSIGN_DATA", "from-env")], &flag).unwrap().data.1, Origin::Flag);
    assert!(!with(&[], &Global::default()).unwrap().allow_loopback.0, "off unless somebody says so");
}

#[test]
fn logging_of_misses_is_switched_in_the_file_or_by_its_variable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, "log_misses = true\n").unwrap();
    let file = Global { config: Some(path.clone()), ..Global::default() };
    assert_eq!(with(&[], &Global::default()).unwrap().log_misses, (false, Origin::Default));
    assert_eq!(with(&[], &file).unwrap().log_misses, (true, Origin::File(path)));
    let variable = Origin::Variable("COUNTERSIGN_LOG_MISSES");
    assert_eq!(with(&[("COUNTERSIGN_LOG_MISSES", "0")], &file).unwrap().log_misses, (false, variable));
    let refused = with(&[("COUNTERSIGN_LOG_MISSES", "yes please")], &file).unwrap_err();
    assert!(refused.to_string().contains("COUNTERSIGN_LOG_MISSES"), "{refused}");
}

#[test]
fn unknown_keys_and_words_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, "dta = \"x\"\n").unwrap();
    assert!(with(&[], &Global { config: Some(path), ..Global::default() }).is_err());
    assert!(with(&[("COUNTERSIGN_ALLOW_LOOPBACK", "yes please")], &Global::default()).is_err());
}

#[test]
fn without_a_home_a_data_directory_must_be_named() {
    let load = |flags: &Global| Settings::load(flags, |name| (name == "HOME").then(String::new));
    assert!(load(&Global::default()).unwrap_err().to_string().contains("--data"));
    assert!(load(&Global { data: Some("here".into()), ..Global::default() }).is_ok());
    assert_eq!(with(&[], &Global::default()).unwrap().data.0, PathBuf::from("/home/one/.countersign"));
}

#[test]
fn only_postgresql_has_an_address() {
    let of = |address: &str| with(&[], &Global { database: Some(address.to_owned()), ..Global::default() });
    for address in ["mysql://h/x", "not a url", "sqlite:x", "postgres:secret"] {
        let error = of(address).unwrap_err().to_string();
        assert!(error.contains("--database") && !error.contains(address), "{error}");
    }
    let shown = |address: &str| of(address).unwrap().database_shown();
    assert_eq!(shown("postgresql://me:secret@h:5433/db?password=hunter2"), "postgresql://h:5433/db");
    assert_eq!(shown("postgres://h/db"), "postgres://h/db");
}

#[test]
fn a_password_is_never_shown() {
    let flags = Global { database: Some("postgres://me:secret@db.example/x".into()), ..Global::default() };
    assert!(!with(&[], &flags).unwrap().database_shown().contains("secret"));
}

#[test]
fn lists_add_up_and_keep_their_origins() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, "deny_addresses = [\"203.0.113.0/24\"]\nnat64 = [\"64:ff9b::/96\"]\n").unwrap();
    let flags =
        Global { config: Some(path.clone()), deny_addresses: vec!["2001:db8::/32".to_owned()], ..Global::default() };
    let settings = with(&[("COUNTERSIGN_DENY_ADDRESSES", "198.51.100.7, 192.0.2.0/24")], &flags).unwrap();
    let variable = Origin::Variable("COUNTERSIGN_DENY_ADDRESSES");
    let told: Vec<_> = settings.deny_addresses.iter().map(|(cidr, from)| (cidr.to_string(), from.clone())).collect();
    let expected = [
        ("203.0.113.0/24", Origin::File(path.clone())),
        ("198.51.100.7/32", variable.clone()),
        ("192.0.2.0/24", variable),
        ("2001:db8::/32", Origin::Flag),
    ];
    assert_eq!(told, expected.map(|(cidr, from)| (cidr.to_owned(), from)));
    assert_eq!(settings.nat64, [("64:ff9b::/96".parse().unwrap(), Origin::File(path))]);
    assert!(with(&[], &Global::default()).unwrap().deny_addresses.is_empty(), "none unless somebody says so");
}

#[test]
fn a_name_server_is_an_address_with_or_without_a_port() {
    let asked = |text: &str| {
        let flags = Global { name_server: Some(text.to_owned()), ..Global::default() };
        with(&[("COUNTERSIGN_NAME_SERVER", "192.0.2.53")], &flags).map(|settings| settings.name_server)
    };
    for (text, address) in [
        ("127.0.0.1:5353", "127.0.0.1:5353"),
        ("10.0.0.2", "10.0.0.2:53"),
        ("2001:db8::53", "[2001:db8::53]:53"),
        ("[2001:db8::53]:5353", "[2001:db8::53]:5353"),
    ] {
        assert_eq!(asked(text).unwrap(), (Some(address.parse().unwrap()), Origin::Flag), "{text}");
    }
    for text in ["ns.example.com", "ns.example.com:53", "127.0.0.1:0", "0.0.0.0", "127.0.0.1:x", ""] {
        let refused = asked(text).unwrap_err().to_string();
        assert!(refused.starts_with("--name-server: "), "{refused}");
    }
}

/// The place that a message names is the one to correct.
#[test]
fn a_garbled_value_is_refused_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    let of_file = |text: &str| {
        std::fs::write(&path, text).unwrap();
        with(&[], &Global { config: Some(path.clone()), ..Global::default() }).unwrap_err()
    };
    let of_flag = |flags: Global| with(&[], &flags).unwrap_err();
    let some = |text: &str| vec![text.to_owned()];
    let rows = [
        (of_file("deny_addresses = [\"10.0.0.1/8\"]"), "deny_addresses in"),
        (of_file("nat64 = [\"64:ff9b::/95\"]"), "nat64 in"),
        (of_file("name_server = \"here\""), "name_server in"),
        (
            with(&[("COUNTERSIGN_DENY_ADDRESSES", "10.0.0.0/8,,")], &Global::default()).unwrap_err(),
            "COUNTERSIGN_DENY_ADDRESSES: ",
        ),
        (with(&[("COUNTERSIGN_NAT64", "10.0.0.0/8")], &Global::default()).unwrap_err(), "COUNTERSIGN_NAT64: "),
        (with(&[("COUNTERSIGN_NAME_SERVER", "x")], &Global::default()).unwrap_err(), "COUNTERSIGN_NAME_SERVER: "),
        (of_flag(Global { deny_addresses: some("here"), ..Global::default() }), "--deny-address: "),
        (of_flag(Global { nat64: some("::/0"), ..Global::default() }), "--nat64: "),
    ];
    for (error, place) in rows {
        assert!(format!("{error:#}").starts_with(place), "{error:#}");
    }
    assert!(
        format!("{:#}", of_file("deny_addresses = \"10.0.0.0/8\"")).contains("deny_addresses"),
        "a list is asked for"
    );
}
