//! What makes one entry impossible to settle, or a loss, though a client signs it.

use super::*;

/// What was told beside the absent signature.
fn told(reading: &Reading) -> (Word, Vec<&'static str>) {
    let all = reading.findings.iter().map(|one| one.rule).filter(|rule| *rule != "signature.absent");
    (reading.word, all.collect())
}

/// One entry of an honest challenge after these members changed.
fn entry(changes: &[(&str, Value)]) -> Reading {
    let mut whole = honest();
    for (member, value) in changes {
        whole["accepts"][0][member] = value.clone();
    }
    challenge(&whole)
}

/// MegaUSD, which the table knows as Permit2's alone, with this transfer method in `extra`.
fn mega(method: Value) -> Reading {
    let mut extra = json!({"name": "MegaUSD", "version": "1", "assetTransferMethod": method});
    if method.is_null() {
        extra.as_object_mut().unwrap().remove("assetTransferMethod");
    }
    let asset = json!("0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7");
    entry(&[
        ("network", json!("eip155:4326")),
        ("asset", asset),
        ("amount", json!("10000000000000000")),
        ("extra", extra),
    ])
}

#[test]
fn a_token_without_eip_3009_is_not_paid_by_it() {
    assert_eq!(told(&mega(json!("permit2"))), (Word::Payable, vec![]));
    assert_eq!(told(&mega(json!("erc7710"))), (Word::Payable, vec![]));
    let explicit = mega(json!("eip3009"));
    assert_eq!(told(&explicit), (Word::NotPayable, vec!["asset.transfer_method"]));
    let found = explicit.findings.iter().find(|one| one.rule == "asset.transfer_method").unwrap();
    assert_eq!(found.subject, "accepts[0].extra.assetTransferMethod");
    assert_eq!((found.observed.as_str(), found.expected.as_deref()), ("eip3009", Some("permit2")));
    assert_eq!(told(&mega(Value::Null)), (Word::PayableWithWarnings, vec!["asset.transfer_default"]));
    // USDC on Base has it, and every token can be moved through Permit2.
    for method in ["eip3009", "permit2"] {
        let extra = json!({"name": "USD Coin", "version": "2", "assetTransferMethod": method});
        assert_eq!(told(&edited("extra", extra)), (Word::Payable, vec![]), "{method}");
    }
}

/// The reference client's version 1 signs EIP-3009 whatever `extra` says.
#[test]
fn version_1_has_one_way_to_move_a_token() {
    let old = |changes: Value| {
        let mut entry = json!({"scheme": "exact", "network": "base", "maxAmountRequired": "10000", "resource": URL,
            "asset": honest()["accepts"][0]["asset"], "payTo": honest()["accepts"][0]["payTo"],
            "description": "weather", "maxTimeoutSeconds": 60});
        for (name, value) in changes.as_object().unwrap() {
            entry[name] = value.clone();
        }
        let body = json!({"x402Version": 1, "error": "", "accepts": [entry]}).to_string();
        exchange(402, &headers(Vec::new())[1..], body.as_bytes())
    };
    let named = json!({"name": "USD Coin", "version": "2", "assetTransferMethod": "permit2"});
    assert_eq!(told(&old(json!({"extra": named}))), (Word::Payable, vec![]));
    let unnamed = old(json!({"extra": {"assetTransferMethod": "permit2"}}));
    assert_eq!(told(&unnamed), (Word::NotPayable, vec!["asset.eip712_missing"]));
    for method in ["eip3009", "permit2"] {
        let mega = json!({"network": "megaeth", "asset": "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7",
            "extra": {"name": "MegaUSD", "version": "1", "assetTransferMethod": method}});
        assert_eq!(told(&old(mega)), (Word::NotPayable, vec!["asset.transfer_method"]), "{method}");
    }
}

/// Tether's own token on Ethereum, of which no source names a signing domain.
#[test]
fn a_signing_name_that_nobody_knows_is_said_not_to_be_compared() {
    let tether = |extra: Value| {
        let asset = json!("0xdAC17F958D2ee523a2206206994597C13D831ec7");
        entry(&[("network", json!("eip155:1")), ("asset", asset), ("extra", extra)])
    };
    let named = tether(json!({"name": "anything", "version": "9"}));
    assert_eq!(told(&named), (Word::PayableWithWarnings, vec!["asset.not_default", "asset.eip712_unjudged"]));
    let permit2 = tether(json!({"assetTransferMethod": "permit2"}));
    assert_eq!(told(&permit2).1, ["asset.not_default"], "Permit2 signs under its own name");
}

#[test]
fn a_version_that_is_a_number_is_said_to_be_one() {
    let seen = |extra: Value| {
        let reading = edited("extra", extra);
        let found = reading.findings.into_iter().find(|one| one.rule == "asset.eip712_name").unwrap();
        (found.observed, found.expected.unwrap())
    };
    let right = "USD Coin / 2".to_owned();
    let number = seen(json!({"name": "USD Coin", "version": 2}));
    assert_eq!(number, ("USD Coin / 2 (a number, not text)".to_owned(), right.clone()));
    assert_eq!(seen(json!({"name": "USDC", "version": "2"})), ("USDC / 2".to_owned(), right));
}

/// Base settles in about 2,000 ms, Algorand in 2,820; of Polygon no time is known.
#[test]
fn a_lifetime_below_the_networks_own_time_is_told() {
    for (seconds, word, rules) in
        [(1, Word::PayableWithWarnings, vec!["timeout.short"]), (2, Word::Payable, vec![]), (60, Word::Payable, vec![])]
    {
        assert_eq!(told(&edited("maxTimeoutSeconds", json!(seconds))), (word, rules), "{seconds}");
    }
    assert_eq!(told(&edited("maxTimeoutSeconds", json!(1.0))).1, ["timeout.short"], "one in another spelling");
    let algorand = |seconds: u64| {
        let payee = json!("7ZUECA7HFLZTXENRV24SHLU4AVPUTMTTDUFUBNBD64C73F3UHRTHAIOF6Q");
        entry(&[
            ("network", json!("algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k")),
            ("asset", json!("31566704")),
            ("payTo", payee),
            ("maxTimeoutSeconds", json!(seconds)),
        ])
    };
    assert_eq!((told(&algorand(2)).1, told(&algorand(3)).1), (vec!["timeout.short"], vec![]));
    let polygon = json!("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359");
    let polygon = entry(&[("network", json!("eip155:137")), ("asset", polygon), ("maxTimeoutSeconds", json!(1))]);
    assert_eq!(told(&polygon), (Word::Payable, vec![]));
}

/// The honest challenge was asked for by GET.
#[test]
fn a_declared_method_that_was_not_asked_with_is_told() {
    let declares = |input: Value| {
        let mut whole = honest();
        whole["extensions"]["bazaar"]["info"]["input"] = input;
        let reading = challenge(&whole);
        (told(&reading), reading.schema.unwrap().called)
    };
    let method = |name: &str| declares(json!({"type": "http", "method": name}));
    let warned = (Word::PayableWithWarnings, vec!["extension.other_method"]);
    let fine = (Word::Payable, vec![]);
    assert_eq!(method("get"), (fine.clone(), Some(Called::AsAsked("GET"))));
    assert_eq!(method("POST"), (warned.clone(), Some(Called::Otherwise("POST"))));
    let unasked = (Word::PayableWithWarnings, vec!["extension.method_not_asked"]);
    for name in ["DELETE", "HEAD", "PATCH", "PUT"] {
        assert_eq!(method(name), (unasked.clone(), Some(Called::Otherwise(name))));
    }
    let unreadable = (Word::PayableWithWarnings, vec!["extension.method_form"]);
    for said in [json!("PURGE"), json!("POST "), json!(""), json!(7), json!(["POST"])] {
        let input = json!({"type": "http", "method": said});
        assert_eq!(declares(input), (unreadable.clone(), Some(Called::Unreadable)), "{said}");
    }
    assert_eq!(declares(json!({"type": "http", "method": null})), (fine.clone(), None), "nothing is declared");
    assert_eq!(declares(json!({"type": "mcp", "toolName": "weather"})), (fine.clone(), None));
    // Version 1 says it in its entries, and what is true of one is true of all.
    let entry = json!({"scheme": "exact", "network": "base", "maxAmountRequired": "10000", "resource": URL,
        "asset": honest()["accepts"][0]["asset"], "payTo": honest()["accepts"][0]["payTo"], "description": "weather",
        "maxTimeoutSeconds": 60, "extra": honest()["accepts"][0]["extra"]});
    let mut second = entry.clone();
    second["outputSchema"]["input"] = json!({"type": "http", "method": "POST"});
    let body = json!({"x402Version": 1, "error": "", "accepts": [entry, second]}).to_string();
    let old = exchange(402, &headers(Vec::new())[1..], body.as_bytes());
    assert_eq!(told(&old), warned);
    let found = old.findings.iter().find(|one| one.rule == "extension.other_method").unwrap();
    assert_eq!((found.observed.as_str(), found.expected.as_deref()), ("GET", Some("POST")));
    // In an input schema of the envelope, `method` is a property like any other.
    let mut whole = honest();
    whole["inputSchema"] = json!({"method": "POST"});
    assert_eq!(told(&challenge(&whole)), fine);
}

#[test]
fn what_payments_are_made_with_is_nobody_to_pay() {
    for address in [
        "0x000000000022D473030F116dDEE9F6B43aC78BA3",
        "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
        "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002",
        "0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003",
    ] {
        let reading = edited("payTo", json!(address));
        assert_eq!(told(&reading), (Word::NotPayable, vec!["payee.is_program"]), "{address}");
        assert_eq!(reading.offers[0].interop, Interop::Pass, "the reference buyer signs it");
    }
    let solana = |payee: &str| {
        entry(&[
            ("network", json!("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp")),
            ("asset", json!("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")),
            ("payTo", json!(payee)),
            ("extra", json!({"feePayer": "EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd"})),
        ])
    };
    let program = solana("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
    assert_eq!(told(&program), (Word::NotPayable, vec!["payee.is_program"]));
    assert_eq!(told(&solana("2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4")), (Word::Payable, vec![]));
}

#[test]
fn an_id_that_forks_share_is_said_to_be_one() {
    let bitcoin = edited("network", json!("bip122:000000000019d6689c085ae165831e93"));
    assert_eq!((bitcoin.word, told(&bitcoin).1[0]), (Word::NotPayable, "network.ambiguous"));
    assert_eq!(bitcoin.offers[0].spec, Grade::Pass, "it is an id of CAIP-2");
    let odd = edited("network", json!("bip122:000000000019d6689c085ae165831e93:1"));
    assert_eq!(told(&odd).1[0], "network.form");
}

/// Terms behind the scheme are terms in a header that no standard client reads; `x402` alone names no other way to pay.
#[test]
fn terms_in_www_authenticate_are_read() {
    let header = |value: String| vec![("WWW-Authenticate".to_owned(), value.into_bytes())];
    let terms = header(format!("x402 {}", STANDARD.encode(honest().to_string())));
    let alone = exchange(402, &terms, b"");
    assert!(rules(&alone).contains(&"header.alias") && !rules(&alone).contains(&"terms.none"), "{:?}", rules(&alone));
    assert_eq!((alone.offers.len(), alone.word), (1, Word::NotPayable));
    let named = exchange(402, &header("x402".to_owned()), b"");
    assert!(rules(&named).contains(&"terms.none"));
    let mut dear = honest();
    dear["accepts"][0]["amount"] = json!("90000000");
    let mut both = headers(STANDARD.encode(honest().to_string()).into_bytes());
    both.extend(header(format!("x402 {}", STANDARD.encode(dear.to_string()))));
    assert_eq!(exchange(402, &both, b"{}").word, Word::Mismatch);
}
