//! What the way an answer came says of it. Every remark and every refusal of the door is a rule
//! `transport.<its word>`, so that it is documented, weighed and put into words as any other finding.

use countersign_core::finding::Finding;
use countersign_core::offer::BodyEnd;
use countersign_core::offer::rules::{self, finding};
use countersign_probe::{Answer, Refused, TransportFlag};

/// Findings `transport.*` about what the door brought back.
pub(crate) fn findings(result: &Result<Answer, Refused>) -> Vec<Finding> {
    match result {
        Ok(answer) => answer.flags.iter().filter_map(|flag| told(flag.as_str(), answer)).collect(),
        Err(refused) => {
            let rule = rule(refused.code.as_str());
            rule.map(|rule| finding(rule, "transport", &refused.detail, None)).into_iter().collect()
        }
    }
}

/// Who ended the body: of all that keeps a body from being whole, only a break is not our doing.
pub(crate) fn body_end(answer: &Answer) -> BodyEnd {
    match answer.body_complete {
        true => BodyEnd::Whole,
        false if answer.flags.contains(&TransportFlag::BodyShort) => BodyEnd::CutOff,
        false => BodyEnd::Stopped,
    }
}

fn told(word: &str, answer: &Answer) -> Option<Finding> {
    let seen = format!(
        "{} bytes of head, {} of body, {} interim answers",
        answer.head_bytes,
        answer.body.len(),
        answer.interim
    );
    Some(finding(rule(word)?, "transport", &seen, None))
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
    use countersign_probe::RefusedCode;

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

    /// Only a break is laid at the other side's door.
    #[test]
    fn who_ended_a_body_is_told_apart() {
        let answer = |body_complete, flags: &[TransportFlag]| Answer {
            status: 402,
            headers: Vec::new(),
            body: Vec::new(),
            body_complete,
            head_bytes: 0,
            interim: 0,
            peer: ([127, 0, 0, 1], 443).into(),
            chain: Vec::new(),
            latency_ms: 1,
            flags: flags.to_vec(),
        };
        use TransportFlag as F;
        assert_eq!(body_end(&answer(true, &[F::BodyLong])), BodyEnd::Whole);
        assert_eq!(body_end(&answer(false, &[F::BareLf, F::BodyShort])), BodyEnd::CutOff);
        for flag in [F::BodySlow, F::BodyCapped, F::ChunkPadding, F::ContentEncoding] {
            assert_eq!(body_end(&answer(false, &[flag])), BodyEnd::Stopped);
        }
    }

    #[test]
    fn a_refusal_is_told_with_its_reason() {
        let refused = Refused {
            code: RefusedCode::LengthAndChunked,
            detail: "both".to_owned(),
            chain: Vec::new(),
            elapsed_ms: 3,
        };
        let found = findings(&Err(refused));
        assert_eq!((found[0].rule, found[0].severity), ("transport.length_and_chunked", Severity::High));
        assert_eq!((found.len(), found[0].observed.as_str()), (1, "both"));
    }
}
