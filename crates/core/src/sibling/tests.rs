use super::*;
use crate::finding::Severity;
use crate::offer::{BodyEnd, Exchange, Reading, Word, read};

const SOLD: &str = "https://api.example.com/v1/weather";
const ASKED: &str = "https://api.example.com/v1/abcdefghijklmnopqrst";

fn parsed(text: &str) -> ResourceUrl {
    ResourceUrl::parse(text).unwrap()
}

/// Bytes 0, 1, 2 … name the first twenty letters; 26 to 31 the digits; 32 begins again.
#[test]
fn a_sibling_stands_in_the_same_folder_under_a_random_name_and_without_a_query() {
    let ascending = std::array::from_fn(|at| u8::try_from(at).unwrap());
    for (asked, expected) in [
        ("https://api.example.com/v1/weather?city=Bern", ASKED),
        ("https://api.example.com/v1/", ASKED),
        ("https://api.example.com:8443", "https://api.example.com:8443/abcdefghijklmnopqrst"),
        ("https://api.example.com/?next=/a/b", "https://api.example.com/abcdefghijklmnopqrst"),
        ("https://api.example.com/%7e//x", "https://api.example.com/%7e//abcdefghijklmnopqrst"),
    ] {
        assert_eq!(url(&parsed(asked), &ascending).unwrap().as_str(), expected, "{asked}");
    }
    let late = std::array::from_fn(|at| 24 + u8::try_from(at).unwrap());
    assert_eq!(url(&parsed("https://a.example/"), &late).unwrap().as_str(), "https://a.example/yz234567abcdefghijkl");
}

/// 2048 bytes are the most that a URL may have.
#[test]
fn a_folder_without_room_for_a_name_has_no_sibling() {
    let folder = |length: usize| {
        let start = "https://a.example/";
        parsed(&format!("{start}{}/", "f".repeat(length - start.len() - 1)))
    };
    assert_eq!(url(&folder(2028), &[0; 32]).unwrap().as_str().len(), 2048);
    assert_eq!(url(&folder(2029), &[0; 32]), Err(UrlError::TooLong));
}

fn answer(status: u16, body: &[u8], body_end: BodyEnd) -> Reading {
    let (headers, seen_at) = (&[][..], crate::time::Timestamp::from_seconds(0));
    read(&Exchange { url: SOLD, method: "GET", status, headers, body, body_end, seen_at, keys: &[] })
}

const TERMS: &[u8] = br#"{"x402Version":1,"error":"pay","accepts":[{"scheme":"exact","network":"base","maxAmountRequired":"10000","resource":"https://api.example.com/v1/weather","description":"d","mimeType":"application/json","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,"asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","extra":{"name":"USD Coin","version":"2"}}]}"#;

fn sold() -> Reading {
    answer(402, TERMS, BodyEnd::Whole)
}

fn look(seen: Seen, refused: Option<&str>) -> Look {
    Look { asked: ASKED.to_owned(), seen, refused: refused.map(str::to_owned) }
}

fn told(main: &Reading, seen: Seen, age_ms: i64) -> Option<Finding> {
    examine(main.kind, &look(seen, None), age_ms)
}

#[test]
fn only_terms_are_held_against_a_host() {
    assert_eq!(Seen::of(sold().kind), Seen::Challenge);
    for (status, seen) in [
        (200, Seen::Page),
        (204, Seen::Page),
        (301, Seen::Closed),
        (400, Seen::Closed),
        (401, Seen::Closed),
        (402, Seen::Closed),
        (403, Seen::Closed),
        (404, Seen::Closed),
        (410, Seen::Closed),
        (429, Seen::Closed),
        (405, Seen::NoGet),
        (501, Seen::NoGet),
        (500, Seen::Nothing),
        (503, Seen::Nothing),
    ] {
        assert_eq!(Seen::of(answer(status, b"", BodyEnd::Whole).kind), seen, "{status}");
    }
    assert_eq!(Seen::of(answer(402, &TERMS[..40], BodyEnd::CutOff).kind), Seen::Nothing);
    assert_eq!(Seen::of(Reading::not_seen().kind), Seen::Nothing);
    for seen in [Seen::Closed, Seen::NoGet, Seen::Nothing, Seen::NotAsked] {
        assert!(told(&sold(), seen, 0).is_none(), "{seen:?}");
    }
}

#[test]
fn a_host_that_sells_any_path_is_payable_with_warnings() {
    assert_eq!(sold().word, Word::Payable, "positive control");
    let found = told(&sold(), Seen::Challenge, 59_999).unwrap();
    assert_eq!((found.rule, found.severity, found.subject.as_str()), ("http.wildcard", Severity::Medium, "path"));
    assert_eq!(found.observed, "402 with terms at abcdefghijklmnopqrst");
    assert_eq!(found.expected.as_deref(), Some("404"));
    let warned = sold().and([found]);
    assert_eq!((warned.word, warned.offers[0].word), (Word::PayableWithWarnings, Word::PayableWithWarnings));
}

#[test]
fn terms_elsewhere_say_nothing_of_a_url_that_states_none() {
    for status in [200, 402, 404, 500] {
        assert!(told(&answer(status, b"", BodyEnd::Whole), Seen::Challenge, 0).is_none(), "{status}");
    }
    assert!(told(&Reading::not_seen(), Seen::Challenge, 0).is_none());
}

#[test]
fn a_page_for_any_path_is_told_and_changes_no_word() {
    let found = told(&sold(), Seen::Page, 0).unwrap();
    assert_eq!((found.rule, found.severity), ("http.catch_all", Severity::Info));
    assert_eq!(sold().and([found]).word, Word::Payable);
    assert!(told(&answer(200, b"", BodyEnd::Whole), Seen::Page, 0).is_some(), "a free page may be no page at all");
}

#[test]
fn the_age_of_a_look_is_told() {
    let day = 24 * 3_600_000;
    for (age_ms, said) in [(-1, ""), (60_000, "1 min ago: "), (3_599_999, "59 min ago: "), (day - 1, "23 h ago: ")] {
        let found = told(&sold(), Seen::Challenge, age_ms).unwrap();
        assert_eq!(found.observed, format!("{said}402 with terms at abcdefghijklmnopqrst"));
    }
}

#[test]
fn an_answer_stands_for_a_day_and_a_failure_for_ten_minutes() {
    for seen in [Seen::Challenge, Seen::Page, Seen::Closed, Seen::NoGet] {
        assert_eq!([-1, 0, 86_399_999, 86_400_000].map(|age| seen.stands(age)), [false, true, true, false], "{seen:?}");
    }
    for seen in [Seen::Nothing, Seen::NotAsked] {
        assert_eq!([-1, 0, 599_999, 600_000].map(|age| seen.stands(age)), [false, true, true, false], "{seen:?}");
    }
}

#[test]
fn what_was_not_learned_is_said() {
    let unknown: Vec<_> = [Seen::Challenge, Seen::Page, Seen::Closed, Seen::NoGet, Seen::Nothing, Seen::NotAsked]
        .into_iter()
        .filter(|seen| look(*seen, None).unknown().is_some())
        .collect();
    assert_eq!(unknown, [Seen::NoGet, Seen::Nothing, Seen::NotAsked]);
}

/// The sentences are those of the rules; a word that a newer version wrote has none here.
#[test]
fn what_was_not_asked_is_not_said_to_have_been_asked() {
    for (word, why) in [
        (Some("name_not_found"), "the name does not exist"),
        (Some("port_refused"), "the port belongs to a service that is no seller"),
        (Some("first_byte_timeout"), "the URL itself was answered first"),
        (Some("another word"), "no request could be sent"),
    ] {
        let told = look(Seen::NotAsked, word).unknown();
        assert_eq!(told.as_deref(), Some(format!("a path that cannot exist could not be asked: {why}").as_str()));
    }
}

#[test]
fn a_look_is_read_back_as_it_was_stored() {
    for (look, written) in [
        (look(Seen::NoGet, None), format!(r#"{{"asked":"{ASKED}","seen":"no_get"}}"#)),
        (
            look(Seen::NotAsked, Some("dns_failed")),
            format!(r#"{{"asked":"{ASKED}","refused":"dns_failed","seen":"not_asked"}}"#),
        ),
    ] {
        let text = String::from_utf8(crate::json::to_canonical(&look).unwrap()).unwrap();
        assert_eq!(text, written);
        assert_eq!(serde_json::from_str::<Look>(&text).unwrap(), look);
    }
}
