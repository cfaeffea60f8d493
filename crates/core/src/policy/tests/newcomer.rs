//! Recipients on a network or asset that the URL never offered before, beside known ones and in their place.

use super::*;

#[test]
fn a_second_network_is_told_as_unrecorded_while_the_known_recipient_is_offered() {
    let only = CheckRequest { networks: vec![network(SOLANA)], ..ask() };
    let both = run(&only, &reading(vec![offer(BASE, A), offer(SOLANA, SOL)]), &four());
    assert_eq!((both.selected, both.not_evaluated[0].what), (Some(1), "payTo history"));
    let alone = run(&only, &reading(vec![offer(SOLANA, SOL)]), &four());
    assert_eq!((alone.selected, alone.pay_to_changed), (None, true));
}

/// The known recipient at a price out of reach, a stranger within it: who set the price chose who is paid.
#[test]
fn a_newcomer_takes_no_place_that_the_seller_made_free() {
    let dear = Offer { usd: Some(Usd::parse("0.9").unwrap()), ..offer(BASE, A) };
    let bound = CheckRequest { max_price_usd: usd("0.05"), ..ask() };
    let offers = || reading(vec![dear.clone(), offer(SOLANA, SOL)]);
    let miss = run(&bound, &offers(), &four());
    assert_eq!((miss.selected, miss.excluded.len()), (None, 2));
    assert_eq!(miss.excluded[1].reasons, [Reason { constraint: "accept_payTo_change", why: Why::Outside }]);
    assert_eq!(run(&CheckRequest { accept_payto_change: true, ..bound.clone() }, &offers(), &four()).selected, Some(1));
    assert_eq!(run(&ask(), &offers(), &four()).selected, Some(0), "without the bound the known one is chosen");
    let beside = reading(vec![offer(BASE, A), offer(SOLANA, SOL)]);
    let cheapest = CheckRequest { prefer_network: Some(network(SOLANA)), ..bound };
    assert_eq!(run(&cheapest, &beside, &four()).selected, Some(1), "the control: beside a known one within reach");
}

/// What nobody can choose keeps nobody known, whatever keeps it from being chosen.
#[test]
fn a_known_recipient_in_a_decoy_is_gone() {
    for word in [Word::NotEvaluated, Word::Mismatch, Word::NotPayable] {
        let decoy = Offer { word, ..offer(BASE, A) };
        let miss = run(&ask(), &reading(vec![decoy, offer(SOLANA, SOL)]), &four());
        assert_eq!((miss.selected, &miss.unmet_constraints[..]), (None, &["accept_payTo_change"][..]), "{word:?}");
        assert!(miss.pay_to_changed, "{word:?}");
    }
    let warned = Offer { word: Word::PayableWithWarnings, ..offer(BASE, A) };
    assert!(run(&ask(), &reading(vec![warned, offer(SOLANA, SOL)]), &four()).selected.is_some(), "the control");
}
