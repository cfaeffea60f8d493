use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::key::KeyName;
use crate::merkle::{MemoryTree, consistency_proof, leaf_hash};

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/witness.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn published(name: &str) -> AddCheckpoint {
    AddCheckpoint::parse(vectors()[name].as_str().unwrap().as_bytes()).unwrap()
}

fn signer(name: &str, algorithm: Algorithm, first: u8) -> SignerKey {
    SignerKey::from_seed(KeyName::parse(name).unwrap(), algorithm, &std::array::from_fn(|i| first + i as u8)).unwrap()
}

const LOG: &str = "log.example.test/verdicts/2026";

fn logs() -> Vec<VerifierKey> {
    vec![signer(LOG, Algorithm::Ed25519, 0).verifier().clone()]
}

fn tree(size: u64) -> MemoryTree {
    let mut tree = MemoryTree::new();
    for n in 0..size {
        tree.push(leaf_hash(format!("entry-{n}").as_bytes()));
    }
    tree
}

fn state(size: u64) -> State {
    State { size, root: tree(size).root() }
}

/// A request of our log with any root.
fn request(old: u64, size: u64, root: Hash, proof: Vec<Hash>) -> AddCheckpoint {
    let text = Checkpoint::new(Origin::parse(LOG).unwrap(), size, root).to_string();
    let line = signer(LOG, Algorithm::Ed25519, 0).sign(&text, 0).unwrap();
    AddCheckpoint { old, proof, checkpoint: Note::new(&text, &[line]).unwrap() }
}

#[test]
fn the_published_requests_are_cosigned() {
    let all = vectors();
    for (name, before) in [("0_to_257", State::empty()), ("3_to_257", state(3))] {
        let request = published(name);
        assert_eq!(request.to_string(), all[name].as_str().unwrap());
        assert_eq!(judge(&request, &logs(), &before).map(|judged| judged.state), Ok(state(257)), "{name}");
    }
    assert_eq!(
        monitoring_path(&Origin::parse(LOG).unwrap()),
        format!("{}/checkpoint", all["origin_hash"].as_str().unwrap())
    );
}

#[test]
fn every_refusal_has_its_status() {
    let good = published("3_to_257");
    let status = |request: &AddCheckpoint, logs: &[VerifierKey], state: &State| {
        judge(request, logs, state).map_or_else(|refusal| (refusal.status(), refusal.code()), |_| (200, ""))
    };
    assert_eq!(status(&good, &logs(), &state(3)), (200, ""), "the control");

    let other_log = [signer("log.example.test/other", Algorithm::Ed25519, 0).verifier().clone()];
    assert_eq!(status(&good, &other_log, &state(3)), (404, "witness_unknown_origin"));
    let other_key = [signer(LOG, Algorithm::Ed25519, 9).verifier().clone()];
    assert_eq!(status(&good, &other_key, &state(3)), (403, "witness_not_signed"));
    let changed = good.to_string().replace("\n257\n", "\n258\n");
    let changed = AddCheckpoint::parse(changed.as_bytes()).unwrap();
    assert_eq!(status(&changed, &logs(), &state(3)), (403, "witness_not_signed"));

    let backwards = AddCheckpoint { old: 258, ..good.clone() };
    assert_eq!(status(&backwards, &logs(), &state(258)), (400, "witness_old_beyond_new"));
    assert_eq!(status(&good, &logs(), &State::empty()), (409, "witness_other_old"));
    assert_eq!(status(&good, &logs(), &state(5)), (409, "witness_other_old"));

    let no_proof = AddCheckpoint { proof: Vec::new(), ..good.clone() };
    assert_eq!(status(&no_proof, &logs(), &state(3)), (422, "witness_not_consistent"));
    let from_zero = AddCheckpoint { old: 0, ..good.clone() };
    assert_eq!(status(&from_zero, &logs(), &State::empty()), (422, "witness_not_consistent"), "a proof from nothing");
    let other_root = Hash::from_bytes([7; 32]);
    assert_eq!(status(&request(3, 3, state(3).root, vec![]), &logs(), &state(3)), (200, ""), "the same once more");
    assert_eq!(status(&request(3, 3, other_root, vec![]), &logs(), &state(3)), (422, "witness_not_consistent"));
    assert_eq!(status(&request(0, 0, empty_root(), vec![]), &logs(), &State::empty()), (200, ""));
    assert_eq!(status(&request(0, 0, other_root, vec![]), &logs(), &State::empty()), (422, "witness_not_consistent"));
    let forked = State { size: 3, root: other_root };
    assert_eq!(status(&good, &logs(), &forked), (422, "witness_not_consistent"), "a log that told two stories");
}

/// The log signs types 0x01, 0x04 and 0x06 in every combination, over a checkpoint with and without extension lines.
#[test]
fn extension_lines_are_cosigned_only_under_a_log_signature_that_covers_them() {
    use Algorithm::{Ed25519, Ed25519Cosignature, MlDsa44};
    let rows: [(&[Algorithm], bool); 7] = [
        (&[Ed25519], true),
        (&[Ed25519Cosignature], true),
        (&[MlDsa44], false),
        (&[Ed25519, Ed25519Cosignature], true),
        (&[Ed25519, MlDsa44], true),
        (&[Ed25519Cosignature, MlDsa44], true),
        (&[Ed25519, Ed25519Cosignature, MlDsa44], true),
    ];
    let plain = Checkpoint::new(Origin::parse(LOG).unwrap(), 3, tree(3).root());
    let extended = Checkpoint { extensions: vec!["a stranger's line".into()], ..plain.clone() };
    for (types, covered) in rows {
        let signers: Vec<SignerKey> =
            types.iter().zip([10, 20, 30]).map(|(algorithm, seed)| signer(LOG, *algorithm, seed)).collect();
        let known: Vec<VerifierKey> = signers.iter().map(|signer| signer.verifier().clone()).collect();
        let judged = |checkpoint: &Checkpoint| {
            let text = checkpoint.to_string();
            let lines: Vec<_> = signers.iter().map(|signer| signer.sign(&text, 7).unwrap()).collect();
            let request = AddCheckpoint { old: 3, proof: vec![], checkpoint: Note::new(&text, &lines).unwrap() };
            judge(&request, &known, &state(3))
                .map(|judged| judged.state)
                .map_err(|refusal| (refusal.status(), refusal.code()))
        };
        assert_eq!(judged(&plain), Ok(state(3)), "{types:?} without extension lines");
        let expected = if covered { Ok(state(3)) } else { Err((403, "witness_extensions_not_signed")) };
        assert_eq!(judged(&extended), expected, "{types:?}");
    }
}

#[test]
fn a_text_that_leaves_no_room_for_cosignatures_is_refused() {
    let known = [signer(LOG, Algorithm::Ed25519Cosignature, 10)];
    let plain = Checkpoint::new(Origin::parse(LOG).unwrap(), 3, tree(3).root());
    let room = MAX_TEXT - plain.to_string().len() - 1;
    let judged = |line: usize| {
        let text = Checkpoint { extensions: vec!["x".repeat(line)], ..plain.clone() }.to_string();
        let checkpoint = Note::new(&text, &[known[0].sign(&text, 7).unwrap()]).unwrap();
        let judged =
            judge(&AddCheckpoint { old: 3, proof: vec![], checkpoint }, &[known[0].verifier().clone()], &state(3));
        judged.map(|judged| judged.checkpoint.text().len()).map_err(|refusal| refusal.code())
    };
    assert_eq!(judged(room), Ok(65_536), "half of what a note may have");
    assert_eq!(judged(room + 1), Err("witness_malformed"));
}

#[test]
fn a_409_says_the_size_and_the_log_asks_again_from_there() {
    let refusal = judge(&published("0_to_257"), &logs(), &state(3)).unwrap_err();
    let (content_type, body) = refusal.body();
    assert_eq!((refusal.status(), content_type, body.as_str()), (409, "text/x.tlog.size", "3\n"));
    let Answer::OtherOld(old) = Answer::read(409, body.as_bytes()) else { panic!("a size") };
    let proof = consistency_proof(&tree(257), old, 257).unwrap();
    let again = AddCheckpoint { old, proof, ..published("0_to_257") };
    assert_eq!(again, published("3_to_257"));
    assert_eq!(Answer::read(409, vectors()["conflict_body"].as_str().unwrap().as_bytes()), Answer::OtherOld(257));
}

#[test]
fn a_cosigned_note_satisfies_whoever_trusts_the_witness() {
    let note = published("3_to_257").checkpoint;
    let keys = [
        signer("witness.example.test/w1", Algorithm::Ed25519Cosignature, 0x20),
        signer("witness.example.test/w1", Algorithm::MlDsa44, 0x60),
    ];
    let now = 1_764_500_000;
    let body = cosign(&note, &keys, now).unwrap();
    let Answer::Cosigned(lines) = Answer::read(200, body.as_bytes()) else { panic!("cosignatures") };
    let known: Vec<VerifierKey> = keys.iter().map(|key| key.verifier().clone()).collect();
    let whole = with_cosignatures(&note, &lines, &known, now);
    assert_eq!(whole.signatures().len(), 3);
    let times: Vec<_> = whole.verify(&known).unwrap().iter().map(|verified| verified.time).collect();
    assert_eq!(times, [Some(1_764_500_000); 2]);
    assert_eq!(with_cosignatures(&whole, &lines, &known, now), whole, "added once");
    assert_eq!(with_cosignatures(&note, &lines, &known[..1], now).signatures().len(), 2, "of known witnesses only");
    let other = request(0, 1, Hash::from_bytes([1; 32]), vec![]).checkpoint;
    assert_eq!(with_cosignatures(&other, &lines, &known, now), other, "a cosignature of another checkpoint");
    assert_eq!(cosign(&note, &[signer("w", Algorithm::Ed25519, 1)], 1), Err(NotSignable::Text));
}

/// The one allowance between clocks, 300 seconds, also for what a witness dates.
#[test]
fn a_cosignature_dated_far_ahead_of_the_clock_is_left_out() {
    let note = published("3_to_257").checkpoint;
    let witness = signer("witness.example.test/w1", Algorithm::Ed25519Cosignature, 0x20);
    let known = [witness.verifier().clone()];
    let line = witness.sign(note.text(), 1_764_500_301).unwrap();
    for (now, is) in [
        (1_764_500_000, Cosignature::InFuture),
        (1_764_500_001, Cosignature::Holds),
        (0, Cosignature::InFuture),
        (u64::MAX, Cosignature::Holds),
    ] {
        assert_eq!(Cosignature::of(&line, note.text(), &known, now), is, "{now}");
        let kept = with_cosignatures(&note, std::slice::from_ref(&line), &known, now) != note;
        assert_eq!(kept, is == Cosignature::Holds, "{now}");
    }
    assert_eq!(Cosignature::of(&line, note.text(), &[], 0), Cosignature::Unknown);
    assert_eq!(Cosignature::of(&line, &note.text().replace("257", "256"), &known, 0), Cosignature::Unknown);
}

#[test]
fn bodies_that_are_no_requests() {
    let good = vectors()["3_to_257"].as_str().unwrap().to_owned();
    let code = |body: &str| AddCheckpoint::parse(body.as_bytes()).map_err(|error| format!("{error:?}"));
    assert!(code(&good).is_ok());
    assert_eq!(code(&good.replace("old 3", "old 03")), Err("Old".into()));
    assert_eq!(code(&good.replace("old 3", "new 3")), Err("Old".into()));
    assert_eq!(code(&good.replace("BJ19", "B")), Err("Proof".into()));
    let hash = "BJ19zbVrz+vTEzBMmDnxlqPUtu873AsIKY+TrIGR8Kg=\n";
    assert!(code(&good.replacen(hash, &hash.repeat(54), 1)).is_ok(), "63 hashes");
    assert_eq!(code(&good.replacen(hash, &hash.repeat(55), 1)), Err("Proof".into()));
    assert_eq!(code("old 3\n\n"), Err("Note(NoSignatures)".into()));
    assert_eq!(code(&"x".repeat(MAX_REQUEST + 1)), Err("NotText".into()));
    for body in ["", "3", "03\n", "x\n"] {
        assert_eq!(Answer::read(409, body.as_bytes()), Answer::Refused(409), "{body:?}");
        assert_eq!(Answer::read(200, body.as_bytes()), Answer::Refused(200), "{body:?}");
    }
    assert_eq!(Answer::read(422, b"no\n"), Answer::Refused(422));
}

proptest! {
    #[test]
    fn any_bytes_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), status in 0u16..600) {
        let _ = (AddCheckpoint::parse(&[b"old 1\n", bytes.as_slice()].concat()), Answer::read(status, &bytes));
    }
}
