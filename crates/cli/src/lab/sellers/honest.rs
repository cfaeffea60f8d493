//! Sellers with nothing to hide. Each is the twin of hostile ones that differ from it in one thing.

use super::super::challenge::{Answer, Asked, edited, header_of, one, requirement, resource, v1, v2};
use super::{Reply, Seller, honest};
use serde_json::{Value, json};

/// Polygon, Solana mainnet and a Solana payee: the rest of what the seller of several networks offers.
const POLYGON_USDC: &str = "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359";
const SOLANA: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const SOLANA_USDC: &str = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const SOLANA_PAYEE: &str = "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4";
const SOLANA_FEE_PAYER: &str = "EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd";

/// Whoever carries a payment to the chain; an address made up for the lab.
const FACILITATOR: &str = "0xfac1fac1fac1fac1fac1fac1fac1fac1fac1fac1";

pub(super) const ALL: &[Seller] = &[
    honest("honest-v2", "asks one cent in a v2 header", Reply::Whole(|asked| edited(asked, |_| ()))),
    honest("honest-v1", "asks one cent in a v1 body", Reply::Whole(|asked| body(asked).bytes())),
    honest("honest-dual", "asks the same cent in a v2 header and a v1 body", Reply::Whole(dual)),
    honest("honest-post", "sells by POST only: GET is answered 405 with Allow", Reply::Whole(post_only)),
    honest("honest-networks", "asks one cent on Base, Polygon or Solana", Reply::Whole(networks)),
    honest("honest-solana", "asks one cent on Solana only", Reply::Whole(|asked| solana(asked, "payTo", SOLANA_PAYEE))),
    honest("honest-tiers", "asks one cent or five, in header and body alike", Reply::Whole(tiers)),
    honest("honest-two-names", "sends the same header under an older name too", Reply::Whole(two_names)),
    honest("honest-upto", "may charge up to one cent, by the scheme upto", Reply::Whole(upto)),
    honest("honest-old-header", "sends a stray header of its own in front of a v1 body", Reply::Whole(old_header)),
    honest("honest-empty-header", "sends an empty payment header in front of a v1 body", Reply::Whole(empty_header)),
    honest("honest-l402", "offers L402 in WWW-Authenticate beside the x402 header", Reply::Whole(l402)),
    honest("honest-dear", "asks exactly one dollar", Reply::Whole(|asked| one(asked, "amount", "1000000"))),
    honest("honest-lower", "writes its address without capitals", Reply::Whole(lower)),
    honest("honest-words", "describes itself in several languages", Reply::Whole(words)),
    honest("honest-schema", "declares its input schema in a bazaar extension", Reply::Whole(schema)),
    honest("honest-chunked", "sends its body in chunks", Reply::Whole(chunked)),
    honest("honest-interim", "sends one 103 before the answer", Reply::Whole(interim)),
    honest("honest-spaced", "pads its header value with spaces, as HTTP allows", Reply::Whole(spaced)),
    honest("honest-ample", "sends a body of 40 kB", Reply::Whole(ample)),
];

/// A v1 challenge in the body.
pub(super) fn body(asked: &Asked) -> Answer {
    Answer::payment(v1(asked).to_string())
}

fn dual(asked: &Asked) -> Vec<u8> {
    let header = base64(&v2(asked).to_string());
    body(asked).with("PAYMENT-REQUIRED", header).bytes()
}

fn two_names(asked: &Asked) -> Vec<u8> {
    let terms = v2(asked).to_string();
    header_of(&terms).with("X-PAYMENT-REQUIRED", base64(&terms)).bytes()
}

fn post_only(asked: &Asked) -> Vec<u8> {
    if asked.method == "POST" {
        return edited(asked, |_| ());
    }
    Answer::new("405 Method Not Allowed", "text/plain", "POST only\n").with("Allow", "POST").bytes()
}

fn networks(asked: &Asked) -> Vec<u8> {
    edited(asked, |challenge| challenge["accepts"] = options())
}

/// One cent on Base, Polygon or Solana.
pub(super) fn options() -> Value {
    let mut polygon = requirement();
    polygon["network"] = json!("eip155:137");
    polygon["asset"] = json!(POLYGON_USDC);
    json!([requirement(), polygon, on_solana()])
}

fn on_solana() -> Value {
    json!({
        "scheme": "exact", "network": SOLANA, "amount": "10000", "asset": SOLANA_USDC, "payTo": SOLANA_PAYEE,
        "maxTimeoutSeconds": 60, "extra": {"feePayer": SOLANA_FEE_PAYER}
    })
}

/// One cent of USDC on Solana with one member replaced.
pub(super) fn solana(asked: &Asked, member: &str, value: &str) -> Vec<u8> {
    edited(asked, |challenge| {
        challenge["accepts"] = json!([on_solana()]);
        challenge["accepts"][0][member] = json!(value);
    })
}

/// The same two tiers in both versions.
fn tiers(asked: &Asked) -> Vec<u8> {
    let (mut header, mut body) = (v2(asked), v1(asked));
    let (mut dear, mut dear_v1) = (header["accepts"][0].clone(), body["accepts"][0].clone());
    dear["amount"] = json!("50000");
    dear_v1["maxAmountRequired"] = json!("50000");
    header["accepts"] = json!([header["accepts"][0], dear]);
    body["accepts"] = json!([dear_v1, body["accepts"][0]]);
    Answer::payment(body.to_string()).with("PAYMENT-REQUIRED", base64(&header.to_string())).bytes()
}

fn upto(asked: &Asked) -> Vec<u8> {
    edited(asked, |challenge| {
        challenge["accepts"][0]["scheme"] = json!("upto");
        challenge["accepts"][0]["extra"]["facilitatorAddress"] = json!(FACILITATOR);
    })
}

/// A name no client reads in front of an ordinary v1 body.
fn old_header(asked: &Asked) -> Vec<u8> {
    body(asked).with("X-PAYMENT-REQUIRED", base64(&v2(asked).to_string())).bytes()
}

/// Clients read an empty header as none.
fn empty_header(asked: &Asked) -> Vec<u8> {
    body(asked).with("PAYMENT-REQUIRED", "").bytes()
}

fn l402(asked: &Asked) -> Vec<u8> {
    let macaroon = base64("macaroon of the lab");
    header_of(v2(asked).to_string())
        .with("WWW-Authenticate", format!("L402 version=\"0\", token=\"{macaroon}\", invoice=\"lnbc100n1lab\""))
        .bytes()
}

fn lower(asked: &Asked) -> Vec<u8> {
    one(asked, "payTo", super::super::challenge::PAYEE.to_ascii_lowercase())
}

fn words(asked: &Asked) -> Vec<u8> {
    resource(asked, "description", "Wetterbericht für Zürich ☀️👩🏽‍🚀 · 天気予報 · прогноз погоды · پیش‌بینی آب‌وهوا")
}

fn schema(asked: &Asked) -> Vec<u8> {
    edited(asked, |challenge| {
        challenge["extensions"] = json!({"bazaar": {
            "info": {"input": {"type": "http", "method": "GET", "queryParams": {"city": "Bern"}}},
            "schema": {"type": "object", "properties": {"input": {"type": "object"}}, "required": ["input"]}
        }});
    })
}

fn chunked(asked: &Asked) -> Vec<u8> {
    let body = v1(asked).to_string();
    let (first, second) = body.split_at(body.len() / 2);
    let mut raw = Answer::payment("").head();
    raw.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
    for part in [first, second, ""] {
        raw.extend_from_slice(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes());
    }
    raw
}

fn interim(asked: &Asked) -> Vec<u8> {
    let mut raw = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n".to_vec();
    raw.extend(edited(asked, |_| ()));
    raw
}

fn spaced(asked: &Asked) -> Vec<u8> {
    Answer::payment("{}").with("PAYMENT-REQUIRED", format!("  {}  ", base64(&v2(asked).to_string()))).bytes()
}

fn ample(asked: &Asked) -> Vec<u8> {
    let filler = json!({"note": "The terms are in the header. ".repeat(1400)});
    Answer::payment(filler.to_string()).with("PAYMENT-REQUIRED", base64(&v2(asked).to_string())).bytes()
}

/// Standard base64 of a text.
pub(super) fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}
