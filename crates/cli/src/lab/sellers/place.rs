//! Sellers that lie about where: the URL, the resource, redirects, names and certificates.

use super::super::authority::Shown;
use super::super::challenge::{Answer, Asked, edited, resource, v1};
use super::{Reply, Seller, Tls, declined, finds, hostile, refuses, says};
use serde_json::json;

/// A cloud's metadata service: the classic target of a forged request.
const METADATA: &str = "http://169.254.169.254/latest/meta-data/";
/// The ordinary honest answer.
const PLAIN: Reply = Reply::Whole(|asked| edited(asked, |_| ()));

pub(super) const ALL: &[Seller] = &[
    hostile(
        "other-resource",
        "sells a resource of another site",
        finds("mismatch", "resource.other_domain"),
        "honest-v2",
        Reply::Whole(|asked| resource(asked, "url", "https://api.seller.example/paid")),
    ),
    hostile(
        "other-resource-v1",
        "sells a resource of another site in a v1 body",
        finds("mismatch", "resource.other_domain"),
        "honest-v1",
        Reply::Whole(other_v1),
    ),
    hostile(
        "sibling-resource",
        "names another path of its own as what is sold",
        finds("payable_with_warnings", "resource.other_url"),
        "honest-v2",
        Reply::Whole(|asked| resource(asked, "url", asked.url().replace("/paid", "/else"))),
    ),
    hostile(
        "http-resource",
        "names its resource without TLS",
        finds("payable_with_warnings", "resource.scheme"),
        "honest-v2",
        Reply::Whole(|asked| resource(asked, "url", asked.url().replacen("https:", "http:", 1))),
    ),
    hostile(
        "inner-resource",
        "names a cloud's metadata service as its resource",
        finds("mismatch", "resource.other_domain"),
        "honest-v2",
        Reply::Whole(|asked| resource(asked, "url", METADATA)),
    ),
    hostile(
        "schema-reference",
        "puts a reference to an inner address into its input schema",
        finds("payable_with_warnings", "schema.remote_reference"),
        "honest-schema",
        Reply::Whole(reference),
    ),
    hostile(
        "sign-in-elsewhere",
        "asks for a login signature that is good at another site",
        finds("mismatch", "extension.sign_in_domain"),
        "honest-schema",
        Reply::Whole(sign_in),
    ),
    hostile(
        "redirect-away",
        "sends the buyer to another host",
        finds("not_evaluated", "http.redirect"),
        "honest-v2",
        Reply::Whole(|asked| moved("https://honest-v2.localhost", asked)),
    ),
    hostile(
        "redirect-inward",
        "sends the buyer to a cloud's metadata service",
        finds("not_evaluated", "http.redirect"),
        "honest-v2",
        Reply::Whole(|_| redirect(METADATA)),
    ),
    hostile(
        "redirect-downgrade",
        "sends the buyer to itself without TLS",
        finds("not_evaluated", "http.redirect"),
        "honest-v2",
        Reply::Whole(|asked| redirect(&asked.url().replacen("https:", "http:", 1))),
    ),
    hostile("plain-url", "advertises a URL without TLS", declined("url_not_https"), "honest-v2", PLAIN)
        .found_at(|port| format!("http://plain-url.localhost:{port}/paid")),
    hostile(
        "userinfo-url",
        "hides its host behind what looks like another one and an @",
        declined("url_userinfo"),
        "honest-v2",
        PLAIN,
    )
    .found_at(|port| format!("https://api.seller.example@userinfo-url.localhost:{port}/paid")),
    hostile(
        "address-url",
        "advertises a bare address instead of a name",
        declined("url_ip_literal"),
        "honest-v2",
        PLAIN,
    )
    .found_at(|port| format!("https://127.0.0.1:{port}/paid")),
    hostile("octal-url", "spells a loopback address in octal", declined("url_ip_literal"), "honest-v2", PLAIN)
        .found_at(|port| format!("https://0177.0.0.1:{port}/paid")),
    hostile(
        "xn--hnest-v2-nbh",
        "uses a name that reads honest-v2 with a Cyrillic letter",
        says("payable_with_warnings", Some("host.homograph")),
        "honest-v2",
        PLAIN,
    ),
    hostile(
        "honest-v2-pay",
        "uses a name close to another seller's, with a good certificate of its own",
        says("payable", None),
        "honest-v2",
        PLAIN,
    ),
    hostile(
        "other-certificate",
        "shows a good certificate, for another name: whoever answers here proves to be somebody else",
        refuses("certificate_wrong_host"),
        "honest-v2",
        PLAIN,
    )
    .opening(Tls::Shows(Shown::OtherName)),
    hostile(
        "expired-certificate",
        "shows a certificate that ran out yesterday",
        refuses("certificate_expired"),
        "honest-v2",
        PLAIN,
    )
    .opening(Tls::Shows(Shown::Expired)),
    hostile(
        "own-certificate",
        "shows a certificate that it signed itself",
        refuses("certificate_untrusted"),
        "honest-v2",
        PLAIN,
    )
    .opening(Tls::Shows(Shown::SelfSigned)),
    hostile("no-tls", "answers in clear text where TLS was asked for", refuses("tls_failed"), "honest-v2", PLAIN)
        .opening(Tls::Clear),
    hostile(
        "wildcard",
        "asks money for any path, whether or not anything is there",
        finds("payable_with_warnings", "http.wildcard"),
        "honest-v2",
        Reply::Anywhere(|asked| edited(asked, |_| ())),
    ),
];

fn other_v1(asked: &Asked) -> Vec<u8> {
    let mut body = v1(asked);
    body["accepts"][0]["resource"] = json!("https://api.seller.example/paid");
    Answer::payment(body.to_string()).bytes()
}

fn redirect(to: &str) -> Vec<u8> {
    Answer::new("307 Temporary Redirect", "text/plain", "").with("Location", to).bytes()
}

fn moved(origin: &str, asked: &Asked) -> Vec<u8> {
    redirect(&format!("{origin}:{}{}", asked.port, asked.path))
}

fn reference(asked: &Asked) -> Vec<u8> {
    edited(asked, |challenge| {
        challenge["extensions"] = json!({"bazaar": {
            "info": {"input": {"type": "http", "method": "GET", "queryParams": {"city": "Bern"}}},
            "schema": {"$ref": METADATA}
        }});
    })
}

fn sign_in(asked: &Asked) -> Vec<u8> {
    edited(asked, |challenge| {
        challenge["extensions"] = json!({"sign-in-with-x": {
            "info": {
                "domain": "wallet.example", "uri": "https://wallet.example/login", "version": "1",
                "nonce": "a1b2c3d4e5f60718", "issuedAt": "2026-12-01T00:00:00Z"
            },
            "supportedChains": [{"chainId": "eip155:8453", "type": "eip191"}],
            "schema": {"type": "object"}
        }});
    })
}
