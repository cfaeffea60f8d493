use proptest::prelude::*;

use super::*;
use crate::cosign::MAX_TIME;
use crate::key::{KeyName, SignerKey};
use crate::merkle::empty_root;
use crate::note::NoteSignature;

const LOG: &str = "log.example.test/verdicts/2026";

fn key(name: &str, algorithm: Algorithm, first: u8) -> SignerKey {
    SignerKey::from_seed(KeyName::parse(name).unwrap(), algorithm, &[first; 32]).unwrap()
}

fn witness(n: u8) -> SignerKey {
    key(&format!("w{n}.example.test"), Algorithm::Ed25519Cosignature, 100 + n)
}

/// A log with two keys, witnesses w1 to w5, and whatever follows.
fn file(rest: &str) -> String {
    let log = key(LOG, Algorithm::Ed25519, 1);
    let pq = key(LOG, Algorithm::MlDsa44, 2);
    let mut text = format!("# trust\n\nlog {}\n \tlog\t{} https://log.example.test\n", log.verifier(), pq.verifier());
    for n in 1..=5 {
        text += &format!("witness w{n} {}\n", witness(n).verifier());
    }
    text + rest
}

fn note(text: &str, signers: &[SignerKey]) -> Note {
    let lines: Vec<NoteSignature> = signers.iter().map(|signer| signer.sign(text, 7).unwrap()).collect();
    Note::new(text, &lines).unwrap()
}

fn text(origin: &str) -> String {
    Checkpoint::new(Origin::parse(origin).unwrap(), 0, empty_root()).to_string()
}

#[test]
fn the_quorum_counts_as_written() {
    let two_level = "group x 2 w1 w2 w3\ngroup y any w4 w5\ngroup both all x y\nquorum both\n";
    let rows: [(&str, &[u8], bool); 12] = [
        ("quorum none\n", &[], true),
        ("quorum w2\n", &[2], true),
        ("quorum w2\n", &[1, 3], false),
        (two_level, &[1, 3, 5], true),
        (two_level, &[1, 2, 3, 4, 5], true),
        (two_level, &[1, 2, 3], false),
        (two_level, &[1, 4, 5], false),
        (two_level, &[1, 1, 4], false),
        ("group g all w1 w2\nquorum g\n", &[1], false),
        ("group g all w1 w2\nquorum g\n", &[2, 1], true),
        ("group g any w1 w2\nquorum g\n", &[2], true),
        ("group g 1 w1\nquorum g\n", &[], false),
    ];
    for (rest, cosigners, expected) in rows {
        let policy = Policy::parse(file(rest).as_bytes()).unwrap();
        let signers: Vec<SignerKey> =
            std::iter::once(key(LOG, Algorithm::Ed25519, 1)).chain(cosigners.iter().map(|n| witness(*n))).collect();
        let note = note(&text(LOG), &signers);
        let result = policy.accept(&note, PostQuantum::Optional);
        match result {
            Ok(accepted) => assert!(expected && accepted.witnesses.len() == cosigners.len(), "{rest} {cosigners:?}"),
            Err(error) => assert!(!expected && error == RejectError::QuorumMissing, "{rest} {cosigners:?} {error}"),
        }
    }
}

#[test]
fn the_origin_s_own_log_must_have_signed() {
    let other = key("other.example.test", Algorithm::Ed25519, 9);
    let rest = format!("log {}\nquorum none\n", other.verifier());
    let policy = Policy::parse(file(&rest).as_bytes()).unwrap();
    let accept = |origin: &str, signers: &[SignerKey], pq| {
        policy.accept(&note(&text(origin), signers), pq).map(|accepted| accepted.log.len()).map_err(|e| e.code())
    };
    let (ed, pq) = (|| key(LOG, Algorithm::Ed25519, 1), || key(LOG, Algorithm::MlDsa44, 2));
    assert_eq!(accept(LOG, &[ed(), pq()], PostQuantum::Required), Ok(2));
    assert_eq!(accept(LOG, &[ed()], PostQuantum::Optional), Ok(1));
    assert_eq!(accept(LOG, &[ed()], PostQuantum::Required), Err("pq_missing"));
    assert_eq!(accept("nobody.example.test", &[ed()], PostQuantum::Optional), Err("log_unknown"));
    assert_eq!(accept("other.example.test", &[ed()], PostQuantum::Optional), Err("log_not_signed"));
    assert_eq!(accept(LOG, &[witness(1)], PostQuantum::Optional), Err("log_not_signed"));
    assert_eq!(accept(LOG, &[witness(9)], PostQuantum::Optional), Err("note_no_known_key"));
    // A witness's ML-DSA key is no substitute for the log's.
    assert_eq!(accept(LOG, &[ed(), key("w", Algorithm::MlDsa44, 3)], PostQuantum::Required), Err("pq_missing"));
}

/// A log key is of type 0x01 or 0x06, a witness key of type 0x04 or 0x06.
#[test]
fn extension_lines_are_accepted_only_under_a_log_signature_that_covers_them() {
    let (ed, pq) = (|| key(LOG, Algorithm::Ed25519, 1), || key(LOG, Algorithm::MlDsa44, 2));
    let quantum_witness = || key("w9.example.test", Algorithm::MlDsa44, 109);
    let rest = format!("witness w9 {}\nquorum none\n", quantum_witness().verifier());
    let policy = Policy::parse(file(&rest).as_bytes()).unwrap();
    let rows = [
        (vec![ed()], true),
        (vec![pq()], false),
        (vec![ed(), pq()], true),
        (vec![ed(), witness(1)], true),
        (vec![pq(), witness(1)], false),
        (vec![pq(), quantum_witness()], false),
        (vec![pq(), witness(1), quantum_witness()], false),
        (vec![ed(), pq(), witness(1), quantum_witness()], true),
    ];
    let plain = Checkpoint::new(Origin::parse(LOG).unwrap(), 0, empty_root());
    let extended = Checkpoint { extensions: vec!["a stranger's line".into()], ..plain.clone() };
    for (signers, covered) in rows {
        let accept = |checkpoint: &Checkpoint| {
            let note = note(&checkpoint.to_string(), &signers);
            policy.accept(&note, PostQuantum::Optional).map(|accepted| accepted.checkpoint).map_err(|e| e.code())
        };
        assert_eq!(accept(&plain), Ok(plain.clone()), "{signers:?} without extension lines");
        let expected = if covered { Ok(extended.clone()) } else { Err("extensions_not_signed") };
        assert_eq!(accept(&extended), expected, "{signers:?}");
    }
}

#[test]
fn every_wrong_line_has_its_fault() {
    let log_key = key(LOG, Algorithm::Ed25519, 1).verifier().to_string();
    let cosigner = witness(1).verifier().to_string();
    let renamed = key("renamed", Algorithm::Ed25519Cosignature, 101).verifier().to_string();
    let rows = [
        ("quorum none".to_owned(), Fault::Unterminated),
        ("quorum\rnone\n".to_owned(), Fault::ControlCharacter),
        ("Quorum none\n".to_owned(), Fault::Keyword),
        ("quorum\n".to_owned(), Fault::Words),
        ("quorum w1 w2\n".to_owned(), Fault::Words),
        ("log\n".to_owned(), Fault::Words),
        ("log a b c\n".to_owned(), Fault::Words),
        ("witness w9\n".to_owned(), Fault::Words),
        ("group g any\n".to_owned(), Fault::Words),
        ("log x\n".to_owned(), Fault::Key(KeyError::Malformed)),
        (format!("log {cosigner}\n"), Fault::KeyRole),
        (format!("witness w9 {log_key}\n"), Fault::KeyRole),
        (format!("log {log_key}\n"), Fault::DuplicateKey),
        (format!("witness w9 {renamed}\n"), Fault::DuplicateKey),
        (format!("witness w1 {}\n", witness(9).verifier()), Fault::NameTaken),
        (format!("witness none {}\n", witness(9).verifier()), Fault::NameTaken),
        ("group w1 any w2\n".to_owned(), Fault::NameTaken),
        ("group g any w1 w9\n".to_owned(), Fault::NameUnknown),
        ("group g any g\n".to_owned(), Fault::NameUnknown),
        ("group g any none\n".to_owned(), Fault::NameUnknown),
        ("quorum w9\n".to_owned(), Fault::NameUnknown),
        ("group g any w1 w1\n".to_owned(), Fault::MemberTwice),
        ("group g 0 w1\n".to_owned(), Fault::Threshold),
        ("group g 2 w1\n".to_owned(), Fault::Threshold),
        ("group g 01 w1\n".to_owned(), Fault::Threshold),
        ("group g some w1\n".to_owned(), Fault::Threshold),
    ];
    for (line, fault) in rows {
        assert_eq!(Policy::parse(file(&line).as_bytes()).err(), Some(PolicyError::Line { line: 10, fault }), "{line}");
    }
    let twice = Policy::parse(file("quorum w1\nquorum w1\n").as_bytes()).err();
    assert_eq!(twice, Some(PolicyError::Line { line: 11, fault: Fault::SecondQuorum }));
    let shared = Policy::parse(file("group g any w1\ngroup h any w1\n").as_bytes()).err();
    assert_eq!(shared, Some(PolicyError::Line { line: 11, fault: Fault::MemberTwice }));
    assert_eq!(Policy::parse(file("").as_bytes()).err(), Some(PolicyError::NoQuorum));
    assert_eq!(Policy::parse(&vec![b'\n'; MAX_POLICY + 1]).err(), Some(PolicyError::TooLarge));
}

#[test]
fn names_are_octets_and_there_is_room_for_64() {
    let mut bytes = Vec::new();
    for n in 0..64 {
        bytes.extend_from_slice(b"witness \xff");
        bytes.extend_from_slice(format!("{n} {}\n", witness(n).verifier()).as_bytes());
    }
    let with_quorum = [bytes.as_slice(), b"quorum \xff7\n"].concat();
    assert_eq!(Policy::parse(&with_quorum).unwrap().witnesses().count(), 64);
    bytes.extend_from_slice(format!("witness more {}\n", witness(64).verifier()).as_bytes());
    assert_eq!(Policy::parse(&bytes).err(), Some(PolicyError::Line { line: 65, fault: Fault::TooMany }));
}

proptest! {
    #[test]
    fn no_bytes_panic(lines in proptest::collection::vec("(group|quorum|witness|log|#)( (w[1-5]|g|any|all|[0-9]|none)){0,5}", 0..8), noise in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = Policy::parse(file(&(lines.join("\n") + "\n")).as_bytes());
        let _ = Policy::parse(&noise);
    }
}

/// The times of a log's Ed25519, its two ML-DSA keys and five witnesses; the quorum; and the time that decides.
#[test]
fn the_log_s_own_time_decides_the_age_and_else_a_quorum_of_two_witnesses() {
    let second = || key(LOG, Algorithm::MlDsa44, 12);
    let quorums = [
        ("none", "quorum none\n"),
        ("both", "group both all w1 w2\nquorum both\n"),
        ("any", "group any any w1 w2 w3\nquorum any\n"),
        ("two", "group two 2 w1 w2 w3\nquorum two\n"),
        ("one", "quorum w1\n"),
        ("nested", "group a 2 w1 w2 w3\ngroup b any w4 w5\ngroup c all a b\nquorum c\n"),
    ];
    type Row = (&'static str, &'static [u64], &'static [(u8, u64)], Option<u64>);
    let rows: [Row; 20] = [
        // The log's own: the newest of its keys, whoever else says what.
        ("none", &[900], &[], Some(900)),
        ("none", &[900, 950], &[(1, 2000), (2, 2000)], Some(950)),
        ("both", &[900], &[(1, 100), (2, 100)], Some(900)),
        ("both", &[0, 800], &[(1, 900), (2, 900)], Some(800)),
        // A time of 0 claims nothing, so the witnesses are asked.
        ("both", &[0], &[(1, 100), (2, 90)], Some(90)),
        // The quorum and two names: when the later of them has signed.
        ("none", &[], &[], None),
        ("none", &[], &[(1, 100)], None),
        ("none", &[], &[(1, 100), (2, 90)], Some(90)),
        ("none", &[], &[(1, 100), (2, 90), (3, 95)], Some(95)),
        ("both", &[], &[(1, 100), (2, 5000)], Some(100)),
        ("both", &[], &[(1, 100), (2, 0)], None),
        ("any", &[], &[(1, 100)], None),
        ("any", &[], &[(1, 100), (3, 70)], Some(70)),
        ("two", &[], &[(1, 10), (2, 20), (3, 30)], Some(20)),
        ("one", &[], &[(1, 50)], None),
        ("one", &[], &[(1, 50), (2, 99), (3, 98)], Some(50)),
        ("one", &[], &[(1, 50), (2, 40)], Some(40)),
        ("nested", &[], &[(1, 10), (2, 20), (4, 5)], Some(5)),
        ("nested", &[], &[(1, 10), (2, 20), (3, 15), (4, 5), (5, 18)], Some(15)),
        ("nested", &[], &[(1, 10), (2, 20), (3, 0), (4, 5), (5, 0)], Some(5)),
    ];
    let text = text(LOG);
    for (quorum, log, witnesses, decides) in rows {
        let lines = quorums.iter().find(|(name, _)| *name == quorum).unwrap().1;
        let policy = Policy::parse(file(&format!("log {}\n{lines}", second().verifier())).as_bytes()).unwrap();
        let own = log.iter().zip([key(LOG, Algorithm::MlDsa44, 2), second()]);
        let mut signed = vec![key(LOG, Algorithm::Ed25519, 1).sign(&text, 0).unwrap()];
        signed.extend(own.map(|(time, key)| key.sign(&text, *time).unwrap()));
        signed.extend(witnesses.iter().map(|(n, time)| witness(*n).sign(&text, *time).unwrap()));
        let note = Note::new(&text, &signed).unwrap();
        let accepted = policy.accept(&note, PostQuantum::Optional).unwrap();
        assert_eq!(accepted.time, decides, "{quorum} {log:?} {witnesses:?}");
    }
}

/// Both keys of a witness are its one word, and leaving the quorum out of the demand leaves it in the age.
#[test]
fn two_keys_of_a_witness_are_one_name_and_the_age_keeps_to_the_quorum() {
    let text = text(LOG);
    let twin = || key("w1.example.test", Algorithm::MlDsa44, 77);
    let rest = format!("witness twin {}\ngroup both all w1 twin\nquorum both\n", twin().verifier());
    let policy = Policy::parse(file(&rest).as_bytes()).unwrap();
    let log = || key(LOG, Algorithm::Ed25519, 1).sign(&text, 0).unwrap();
    let time = |policy: &Policy, lines: Vec<NoteSignature>| {
        policy.accept(&Note::new(&text, &lines).unwrap(), PostQuantum::Optional).unwrap().time
    };
    let twins = vec![log(), witness(1).sign(&text, 100).unwrap(), twin().sign(&text, 100).unwrap()];
    assert_eq!(time(&policy, twins.clone()), None, "the quorum is met, by one name");
    let third = [twins, vec![witness(2).sign(&text, 100).unwrap()]].concat();
    assert_eq!(time(&policy, third), Some(100), "the control");
    let others = vec![log(), witness(2).sign(&text, 100).unwrap(), witness(3).sign(&text, 100).unwrap()];
    assert_eq!(time(&policy.without_quorum(), others), None, "two names, and not the quorum");
}

#[test]
fn an_age_is_held_against_the_clock() {
    let at = |now, max_age| Freshness { now, max_age };
    assert_eq!(at(1000, 60).judge(None), Err(StaleError::NoTime));
    assert_eq!(at(1000, 60).judge(Some(940)), Ok(940), "exactly as old as allowed");
    assert_eq!(at(1000, 60).judge(Some(939)), Err(StaleError::TooOld(939)));
    assert_eq!(at(1000, 60).judge(Some(1300)), Ok(1300), "five minutes ahead");
    assert_eq!(at(1000, 60).judge(Some(1301)), Err(StaleError::InFuture(1301)));
    assert_eq!(at(0, u64::MAX).judge(Some(MAX_TIME)), Err(StaleError::InFuture(MAX_TIME)));
}
