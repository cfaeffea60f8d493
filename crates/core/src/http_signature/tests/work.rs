//! No header of a megabyte makes more work than reading it once for each component that a message may cover.

use super::*;
use crate::steps;

const MEGABYTE: usize = 1 << 20;
/// Reading a header once takes no more steps than these for each of its bytes.
const ONCE: usize = 3;

/// Verifies an answer with these headers by no key, and reads its digest.
fn bounded(name: &str, headers: &[(&str, String)]) -> Result<Vec<Signature>, Malformed> {
    let headers: Vec<(String, Vec<u8>)> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into_bytes())).collect();
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    let url = ResourceUrl::parse("https://api.seller.example/paid").unwrap();
    let message = Message { status: 402, headers: &headers, method: "GET", url: &url };
    let mut found = Ok(Vec::new());
    let taken = steps::of(|| {
        found = verify(&message, |_| None);
        let _read = content_digest(&headers, b"{}");
    });
    let most = ONCE * bytes * (MOST_COMPONENTS + 4);
    assert!(taken <= most, "{name}: {taken} steps for {bytes} bytes");
    found
}

fn signed(input: String) -> [(&'static str, String); 2] {
    [("signature-input", input), ("signature", "a=:AA==:".to_owned())]
}

#[test]
fn one_sign_repeated_a_million_times_ends_at_once() {
    for sign in
        ["(", ")", ";a", ";", ",", "\"", "\"\\", "a=", "a,", "=", ":", "%\"", "@", "*", " ", "\t", "a=1,", "a=("]
    {
        let long = sign.repeat(MEGABYTE / sign.len());
        assert!(bounded(sign, &signed(long)).is_err(), "{sign}");
        let short = sign.repeat(16_000 / sign.len());
        for before in ["", "a=", "a=(", "a=()", "a=(\"x\"", "a=(\"x\")"] {
            let input = format!("{before}{short}");
            let _any = bounded(sign, &signed(input.clone()));
            let _any = bounded(sign, &[("signature-input", "a=()".to_owned()), ("signature", input.clone())]);
            let _any = bounded(sign, &[("content-digest", input)]);
        }
    }
}

/// Names that are all different have to be told apart: of a dictionary's members and of parameters.
#[test]
fn thousands_of_names_are_told_apart_in_one_pass() {
    let names: Vec<String> = (0..5_000).map(|at| format!("a{at:x}")).collect();
    let short = |text: &str| text.chars().take(16_000).collect::<String>();
    let params = short(&names.iter().map(|name| format!(";{name}")).collect::<String>());
    let params = params.rsplit_once(';').unwrap().0;
    let found = bounded("parameters", &signed(format!("a=(){params};keyid=\"k\""))).unwrap();
    assert_eq!(found[0].keyid.as_deref(), Some("k"), "they were read");
    let members = short(&names.join(","));
    let members = members.rsplit_once(',').unwrap().0.to_owned();
    assert_eq!(bounded("members", &signed(members)), Err(Malformed("labels")));
    let of_a_list = "a=(\"cache-status\";sf);keyid=\"k\"".to_owned();
    let list = [signed(of_a_list).to_vec(), vec![("cache-status", format!("x{params}{params}"))]].concat();
    assert_eq!(bounded("a list", &list).unwrap()[0].outcome, Outcome::Invalid("component_not_structured"));
}

/// Each component has the header read for it; no message is followed that names more of them than any honest one.
#[test]
fn many_components_do_not_have_a_header_read_many_times() {
    let digest = (0..2_000).map(|at| format!("k{at:x}")).collect::<Vec<_>>().join(",");
    let digest = format!("{digest},sha-256=:AA==:");
    let component = |at: usize| format!("\"content-digest\";key=\"k{at:x}\"");
    let covering = |count: usize| (0..count).map(component).collect::<Vec<_>>().join(" ");
    let of = |count: usize| {
        let headers =
            [signed(format!("a=({});keyid=\"k\"", covering(count))).to_vec(), vec![("content-digest", digest.clone())]];
        bounded("keys", &headers.concat()).unwrap().remove(0).outcome
    };
    assert_eq!(of(MOST_COMPONENTS), Outcome::KeyNotFound, "the most that are followed");
    assert_eq!(of(MOST_COMPONENTS + 1), Outcome::NotSupported("components"));
    assert_eq!(of(400), Outcome::NotSupported("components"));
    let labels = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let inputs: Vec<String> = labels.map(|label| format!("{label}=({});keyid=\"k\"", covering(9))).to_vec();
    let signatures: Vec<String> = labels.map(|label| format!("{label}=:AA==:")).to_vec();
    let eight = [
        ("signature-input", inputs.join(", ")),
        ("signature", signatures.join(", ")),
        ("content-digest", digest.clone()),
    ];
    let found = bounded("labels", &eight).unwrap();
    assert!(found.iter().all(|one| one.outcome == Outcome::NotSupported("components")), "72 in all");
}

/// A header of its own for each line of a megabyte.
#[test]
fn many_headers_are_gone_through_once_for_each_component() {
    let mut headers = signed("a=(\"x-1\" \"x-2\";bs \"x-3\");keyid=\"k\"".to_owned()).to_vec();
    headers.extend((0..50_000).map(|at| (["x-1", "x-2", "x-3"][at % 3], "0123456789".to_owned())));
    assert_eq!(bounded("lines", &headers).unwrap()[0].outcome, Outcome::KeyNotFound);
}
