//! What a buyer needs for a call: the input that the endpoint takes, by the method whose terms were seen.

use super::*;

/// Terms that were seen by GET are not those of a call by POST.
#[test]
fn what_is_called_by_another_method_is_not_invocable() {
    for (called, invocable) in
        [(Called::AsAsked("POST"), true), (Called::Otherwise("POST"), false), (Called::Unreadable, false)]
    {
        let seen = Reading { schema: Some(schema(Some(called))), ..reading(vec![offer(BASE, A)]) };
        let free = run(&ask(), &seen, &four());
        assert_eq!((free.selected, free.payable, free.invocable), (Some(0), true, invocable), "{called:?}");
        let strict = run(&CheckRequest { require_invocable: true, ..ask() }, &seen, &four());
        assert_eq!(strict.selected.is_some(), invocable, "{called:?}");
    }
}

#[test]
fn invocable_needs_a_schema_only_when_required() {
    let bare = Reading { schema: None, ..reading(vec![offer(BASE, A)]) };
    let free = run(&ask(), &bare, &four());
    assert_eq!((free.selected, free.payable, free.invocable), (Some(0), true, false));
    let strict = CheckRequest { require_invocable: true, ..ask() };
    let miss = run(&strict, &bare, &four());
    assert_eq!((miss.selected, miss.miss_reason), (None, Some(MissReason::NoInputSchema)));
    assert!(run(&strict, &reading(vec![offer(BASE, A)]), &four()).invocable);
}
