//! What the way an answer came says of it. Every remark and every refusal of the door is a rule
//! `transport.<its word>`, so that it is documented, weighed and put into words as any other finding.

use countersign_core::finding::Finding;
use countersign_core::offer::BodyEnd;
use countersign_core::offer::rules::{self, finding};
use countersign_probe::{Answer, Refused, TransportFlag};
use sha2::{Digest, Sha256};

/// Findings `transport.*` about what the door brought back.
pub(crate) fn findings(result: &Result<Answer, Refused>) -> Vec<Finding> {
    match result {
        Ok(answer) => answer.flags.iter().filter_map(|flag| told(*flag, answer)).collect(),
        Err(refused) => {
            let rule = rule(refused.code.as_str());
            rule.map(|rule| finding(rule, "transport", &refused.detail, None)).into_iter().collect()
        }
    }
}

/// The remarks by their stable words.
pub(crate) fn flags(answer: &Answer) -> Vec<&'static str> {
    answer.flags.iter().map(|flag| flag.as_str()).collect()
}

/// Who ended the body: of all that keeps a body from being whole, only a break is not our doing.
pub(crate) fn body_end(answer: &Answer) -> BodyEnd {
    match answer.body_complete {
        true => BodyEnd::Whole,
        false if answer.flags.contains(&TransportFlag::BodyShort) => BodyEnd::CutOff,
        false => BodyEnd::Stopped,
    }
}

fn told(flag: TransportFlag, answer: &Answer) -> Option<Finding> {
    Some(finding(rule(flag.as_str())?, "transport", &seen(flag, answer), None))
}

/// What was there, in the terms of the remark.
fn seen(flag: TransportFlag, answer: &Answer) -> String {
    use TransportFlag as F;
    match flag {
        F::LoopbackAllowed => format!("answered by {}", answer.peer),
        F::ExtraRoots => certificate(answer),
        F::HeadAbove8KiB | F::HeadAbove16KiB | F::BareLf => format!("{} bytes of head", answer.head_bytes),
        F::Interim => format!("{} interim answers", answer.interim),
        F::ContentEncoding => header(answer, "content-encoding"),
        F::BodyLong | F::BodyShort | F::BodyCapped | F::BodySlow | F::ChunkPadding => {
            format!("{} bytes of body", answer.body.len())
        }
    }
}

/// Which certificate the extra authorities were there to vouch for.
fn certificate(answer: &Answer) -> String {
    let leaf = answer.chain.first().map(|der| hex::encode(Sha256::digest(der)));
    leaf.map_or_else(|| "no certificate".to_owned(), |sha256| format!("certificate with SHA-256 {sha256}"))
}

/// All lines of one header.
fn header(answer: &Answer, name: &str) -> String {
    let lines = answer.headers.iter().filter(|(named, _)| named == name);
    lines.map(|(_, value)| String::from_utf8_lossy(value)).collect::<Vec<_>>().join(", ")
}

/// The rule for a word of the door. A test holds every word of the door against the table.
fn rule(word: &str) -> Option<&'static str> {
    let of = |rule: &&rules::Rule| rule.id.strip_prefix("transport.") == Some(word);
    rules::table().iter().find(of).map(|rule| rule.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::finding::Severity;
    use countersign_probe::{RefusedCode, Wire};

    #[test]
    fn every_word_of_the_door_is_a_rule_and_every_rule_a_word() {
        let codes = RefusedCode::ALL.iter().map(|code| code.as_str());
        let words: Vec<&str> = codes.chain(TransportFlag::ALL.iter().map(|flag| flag.as_str())).collect();
        let missing: Vec<_> = words.iter().filter(|word| rule(word).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let rules = rules::table().iter().filter_map(|rule| rule.id.strip_prefix("transport."));
        let idle: Vec<_> = rules.filter(|word| !words.contains(word)).collect();
        assert!(idle.is_empty(), "{idle:?}");
        assert_eq!(rule("no such word"), None);
    }

    fn answer(body_complete: bool, flags: &[TransportFlag]) -> Answer {
        Answer {
            status: 402,
            headers: vec![("content-encoding".to_owned(), b"br".to_vec())],
            body: b"four".to_vec(),
            body_complete,
            head_bytes: 9000,
            interim: 2,
            peer: ([127, 0, 0, 1], 443).into(),
            chain: vec![b"abc".to_vec()],
            wire: Wire::default(),
            latency_ms: 1,
            flags: flags.to_vec(),
        }
    }

    /// Only a break is laid at the other side's door.
    #[test]
    fn who_ended_a_body_is_told_apart() {
        use TransportFlag as F;
        assert_eq!(body_end(&answer(true, &[F::BodyLong])), BodyEnd::Whole);
        assert_eq!(body_end(&answer(false, &[F::BareLf, F::BodyShort])), BodyEnd::CutOff);
        for flag in [F::BodySlow, F::BodyCapped, F::ChunkPadding, F::ContentEncoding] {
            assert_eq!(body_end(&answer(false, &[flag])), BodyEnd::Stopped);
        }
    }

    /// SHA-256 of `abc` by FIPS 180-2, appendix B.1.
    #[test]
    fn a_remark_says_what_was_seen() {
        use TransportFlag as F;
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for (flag, wanted) in [
            (F::LoopbackAllowed, "answered by 127.0.0.1:443".to_owned()),
            (F::ExtraRoots, format!("certificate with SHA-256 {abc}")),
            (F::HeadAbove8KiB, "9000 bytes of head".to_owned()),
            (F::Interim, "2 interim answers".to_owned()),
            (F::ContentEncoding, "br".to_owned()),
            (F::BodyShort, "4 bytes of body".to_owned()),
        ] {
            let found = findings(&Ok(answer(false, &[flag])));
            assert_eq!(found.iter().map(|one| one.observed.as_str()).collect::<Vec<_>>(), [wanted]);
        }
    }

    #[test]
    fn a_refusal_is_told_with_its_reason() {
        let refused = Refused {
            code: RefusedCode::LengthAndChunked,
            detail: "both".to_owned(),
            chain: Vec::new(),
            wire: Wire::default(),
            elapsed_ms: 3,
        };
        let found = findings(&Err(refused));
        assert_eq!((found[0].rule, found[0].severity), ("transport.length_and_chunked", Severity::High));
        assert_eq!((found.len(), found[0].observed.as_str()), (1, "both"));
    }
}
