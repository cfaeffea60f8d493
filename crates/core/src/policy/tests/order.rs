//! Which of several options is selected, and what a client that takes the first one would sign.

use super::*;
use crate::finding::Finding;

/// Options of one seller in its order, at these prices in millionths of a dollar, on Base.
fn priced(prices: &[u64]) -> Vec<Offer> {
    let at = |(index, price): (usize, &u64)| Offer {
        index,
        subject: format!("accepts[{index}]"),
        amount: Some(Amount::from(*price)),
        usd: Some(Amount::from(*price).usd(6)),
        ..offer(BASE, A)
    };
    prices.iter().enumerate().map(at).collect()
}

/// What the rule on clients that take the first option saw and would have wanted.
fn told(findings: &[Finding]) -> Option<(&str, &str)> {
    let found = findings.first()?;
    assert_eq!((found.rule, found.subject.as_str(), findings.len()), ("selection.stock_client", "selection", 1));
    Some((found.observed.as_str(), found.expected.as_deref()?))
}

/// At most five cents.
fn five_cents() -> CheckRequest {
    CheckRequest { max_price_usd: usd("0.05"), ..ask() }
}

#[test]
fn a_millionth_of_a_dollar_buys_no_place_before_a_clean_option() {
    let mut offers = priced(&[9_999, 10_000]);
    offers[0].word = Word::PayableWithWarnings;
    for objective in [Objective::Best, Objective::Cheapest, Objective::LowestTotalCost, Objective::FastestSettlement] {
        let request = CheckRequest { objective, ..ask() };
        let reading = reading(offers.clone());
        assert_eq!(run(&request, &reading, &Standing::default()).selected, Some(1), "{objective:?}");
    }
    let preferred = CheckRequest { prefer_network: Some(network(BASE)), ..ask() };
    let elsewhere = reading(vec![offers[0].clone(), offer(SOLANA, SOL)]);
    assert_eq!(run(&preferred, &elsewhere, &Standing::default()).selected, Some(1), "a preference is no reason either");
    let clean = reading(priced(&[9_999, 10_000]));
    assert_eq!(run(&ask(), &clean, &Standing::default()).selected, Some(0), "the control");
    offers[1].word = Word::PayableWithWarnings;
    assert_eq!(
        run(&ask(), &reading(offers), &Standing::default()).selected,
        Some(0),
        "of two with warnings the cheaper"
    );
}

/// The word that history gives is told apart from the reading, and it is the one that people see.
#[test]
fn a_warning_of_history_ranks_like_any_other() {
    let offers = reading(priced(&[9_999, 10_000]));
    let found = [finding("history.price_raised", "accepts[0].amount", "9999", Some("9000"))];
    let facts = Facts { latency_ms: Some(200), history: &found };
    assert_eq!(decide(&ask(), &offers, &Standing::default(), &facts, minute(40)).selected, Some(1));
}

#[test]
fn an_earlier_option_that_the_rules_exclude_is_told_with_every_bound() {
    let offers = reading(priced(&[900_000, 10_000]));
    let bounds = CheckRequest { max_amount_atomic: Some(Amount::from(50_000)), ..five_cents() };
    let decided = run(&bounds, &offers, &Standing::default());
    assert_eq!(decided.selected, Some(1));
    assert_eq!(told(&decided.findings), Some(("accepts[0]: max_price_usd, max_amount_atomic", "accepts[1]")));
    assert_eq!(told(&run(&ask(), &offers, &Standing::default()).findings), None, "the control: without a bound");
}

#[test]
fn an_earlier_stranger_is_told() {
    let mut offers = priced(&[10_000, 10_000]);
    offers[0].pay_to = B.to_owned();
    let request = CheckRequest { allow_pay_to: vec![A.to_owned()], ..ask() };
    let decided = run(&request, &reading(offers), &Standing::default());
    assert_eq!(told(&decided.findings), Some(("accepts[0]: allow_pay_to", "accepts[1]")));
}

/// The reference client signs a payment to the zero address.
#[test]
fn an_earlier_option_that_nobody_should_pay_is_told_without_any_bound() {
    let mut offers = priced(&[10_000, 10_000]);
    offers[0].word = Word::NotPayable;
    let decided = run(&ask(), &reading(offers), &Standing::default());
    assert_eq!(
        (decided.selected, told(&decided.findings)),
        (Some(1), Some(("accepts[0]: its own findings", "accepts[1]")))
    );
}

/// What was ranked below the selected one for its warnings is what such a client takes.
#[test]
fn an_earlier_option_with_a_warning_is_told_where_the_selected_one_has_none() {
    let mut offers = priced(&[9_999, 10_000]);
    offers[0].word = Word::PayableWithWarnings;
    let warned = |offers: &[Offer], found: &[Finding]| {
        let facts = Facts { latency_ms: Some(200), history: found };
        let decided = decide(&ask(), &reading(offers.to_vec()), &Standing::default(), &facts, minute(40));
        (decided.selected, told(&decided.findings).map(|(saw, _)| saw.to_owned()))
    };
    let told = Some("accepts[0]: its warnings".to_owned());
    assert_eq!(warned(&offers, &[]), (Some(1), told.clone()));
    let history = [finding("history.price_raised", "accepts[0].amount", "9999", Some("9000"))];
    assert_eq!(warned(&priced(&[9_999, 10_000]), &history), (Some(1), told), "history's warnings count");
    offers[1].word = Word::PayableWithWarnings;
    assert_eq!(warned(&offers, &[]), (Some(0), None), "the control: both have one");
    offers[0].amount = Some(Amount::from(10_001));
    offers[0].usd = usd("0.010001");
    assert_eq!(warned(&offers, &[]), (Some(1), None), "the word of the selected one warns already");
}

#[test]
fn what_such_a_client_would_not_sign_first_is_not_told() {
    let quiet = |request: &CheckRequest, offers: Vec<Offer>, why: &str| {
        let decided = run(request, &reading(offers), &Standing::default());
        assert!(decided.selected.is_some() && decided.findings.is_empty(), "{why}: {:?}", decided.findings);
    };
    quiet(&five_cents(), priced(&[10_000, 900_000]), "the excluded one stands behind");
    let mut refused = priced(&[2_000_000, 10_000]);
    refused[0].interop = Interop::Fail("amount.over_default_cap");
    quiet(&five_cents(), refused, "the client refuses it itself");
    quiet(&five_cents(), priced(&[20_000, 900_000, 10_000]), "it would sign one before it, which may be paid");
    let mut twice = priced(&[10_000, 10_000]);
    twice[0] = Offer { subject: "accepts[0]".to_owned(), ..offer(SOLANA, SOL) };
    let networks = CheckRequest { networks: vec![network(BASE)], ..ask() };
    quiet(&networks, twice.clone(), "the buyer has no money on that network");
    let denied = CheckRequest { deny_networks: vec![network(SOLANA)], ..ask() };
    quiet(&denied, twice, "nor on that one");
    let nothing = run(&five_cents(), &reading(priced(&[900_000])), &Standing::default());
    assert!(nothing.selected.is_none() && nothing.findings.is_empty(), "nothing was selected");
}

/// A client with money on the second network only signs the first option there.
#[test]
fn an_option_that_may_be_paid_on_another_network_excuses_nothing() {
    let mut offers = priced(&[10_000, 900_000, 9_000]);
    offers[0] = Offer { usd: usd("0.02"), ..offer(SOLANA, SOL) };
    let decided = run(&five_cents(), &reading(offers), &Standing::default());
    assert_eq!(
        (decided.selected, told(&decided.findings)),
        (Some(2), Some(("accepts[1]: max_price_usd", "accepts[2]")))
    );
}
