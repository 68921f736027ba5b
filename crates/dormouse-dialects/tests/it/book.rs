//! What is learnt about models, and that it settles.

use dormouse_contracts::{ModelName, ProviderId, Timestamp};
use dormouse_dialects::{
    Anomaly, BookError, CallingChange, DialectBook, Evidence, ProbeVerdict, Signs, ToolCalling,
};
use proptest::prelude::*;

fn provider() -> ProviderId {
    ProviderId::try_new("local").unwrap()
}

fn model(name: &str) -> ModelName {
    ModelName::try_new(name).unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

fn native() -> Signs {
    Signs {
        native: 1,
        ..Signs::default()
    }
}

fn printed() -> Signs {
    Signs {
        printed: 1,
        ..Signs::default()
    }
}

/// Observes each of these in the current calling mode, like a caller that follows the book.
fn follow(book: &mut DialectBook, seen: impl IntoIterator<Item = Signs>) -> Vec<CallingChange> {
    let (provider, model) = (provider(), model("m"));
    let changes = seen.into_iter().zip(0_i64..).filter_map(|(signs, second)| {
        let offered = book.calling(&provider, &model).calling;
        book.observe(&provider, &model, &signs, offered, at(second))
    });
    changes.collect()
}

#[test]
fn an_unknown_model_starts_with_native_calling() {
    let learnt = DialectBook::default().calling(&provider(), &model("m"));
    assert_eq!(learnt.calling, ToolCalling::Native);
    assert_eq!((learnt.evidence, learnt.since), (Evidence::None, None));
}

#[test]
fn two_printed_calls_switch_to_text_calling() {
    let mut book = DialectBook::default();
    assert_eq!(follow(&mut book, [printed(), Signs::default()]), []);
    let changes = follow(&mut book, [printed()]);
    assert_eq!(changes.len(), 1, "plain text between them tells nothing");
    assert_eq!(
        (changes[0].to, changes[0].evidence),
        (ToolCalling::Fallback, Evidence::PrintedCalls(2))
    );
}

#[test]
fn native_calling_is_dropped_more_slowly_after_a_native_call() {
    let mut book = DialectBook::default();
    let slips = || std::iter::repeat_n(printed(), 3);
    assert_eq!(follow(&mut book, [native()]), []);
    assert_eq!(follow(&mut book, slips()), []);
    assert_eq!(follow(&mut book, [native()]), []);
    assert_eq!(follow(&mut book, slips()), []);
    assert_eq!(follow(&mut book, [printed()]).len(), 1);
}

#[test]
fn left_out_tools_switch_to_text_calling_at_once() {
    let mut left_out = Signs::default();
    left_out.anomalies.insert(Anomaly::ToolsLeftOut);
    let changes = follow(&mut DialectBook::default(), [left_out]);
    assert_eq!(changes[0].evidence, Evidence::ToolsLeftOut);
}

#[test]
fn unexpected_native_calls_restore_native_calling_and_a_probe_decides() {
    let mut book = DialectBook::default();
    follow(&mut book, [printed(), printed()]);
    let changes = follow(&mut book, [native(), native(), native(), native()]);
    assert_eq!(
        changes[0].evidence,
        Evidence::NativeCalls(4),
        "twice as slowly"
    );
    let (provider, model) = (provider(), model("m"));
    let change = book.probed(&provider, &model, ProbeVerdict::IgnoresTools, at(9));
    assert_eq!(change.unwrap().to, ToolCalling::Fallback);
    let inconclusive = book.probed(&provider, &model, ProbeVerdict::Inconclusive, at(10));
    assert_eq!(inconclusive, None);
    let learnt = book.calling(&provider, &model);
    assert_eq!(learnt.since, Some(at(9)));
    assert!(book.forget(&provider, &model));
    assert_eq!(book, DialectBook::default());
}

#[test]
fn replies_from_before_a_change_of_mode_do_not_count() {
    let mut book = DialectBook::default();
    let (provider, model) = (provider(), model("m"));
    book.probed(&provider, &model, ProbeVerdict::PrintsCalls, at(0));
    for second in 1..10 {
        let late = book.observe(
            &provider,
            &model,
            &native(),
            ToolCalling::Native,
            at(second),
        );
        assert_eq!(late, None);
    }
}

#[test]
fn the_book_keeps_a_bounded_number_of_recent_models() {
    let mut book = DialectBook::default();
    for number in 0..DialectBook::MODELS_LIMIT as i64 + 10 {
        let name = model(&number.to_string());
        book.probed(&provider(), &name, ProbeVerdict::PrintsCalls, at(number));
    }
    assert_eq!(book.iter().count(), DialectBook::MODELS_LIMIT);
    let oldest = book.iter().filter_map(|(_, _, learnt)| learnt.since).min();
    assert_eq!(oldest, Some(at(10)));
    assert!(book.to_json().unwrap().len() < DialectBook::JSON_LIMIT);
}

#[test]
fn an_invalid_book_is_an_error() {
    let json = |text: &str| DialectBook::from_json(text).unwrap_err();
    assert!(matches!(json("{}"), BookError::Json(_)));
    assert!(matches!(json("[1"), BookError::Json(_)));
    assert!(matches!(
        json(r#"{"format": 2, "models": 7}"#),
        BookError::Newer { found: 2 }
    ));
    let long = " ".repeat(DialectBook::JSON_LIMIT + 1);
    assert!(matches!(json(&long), BookError::TooLong { .. }));
    let first = r#"{"format": 1, "models": [{"provider": "local", "model": "m", "seen_at": 7,
        "calling": "fallback", "evidence": {"printed_calls": 2}, "since": 7}]}"#;
    let book = DialectBook::from_json(first).unwrap();
    let learnt = book.calling(&provider(), &model("m"));
    assert_eq!(learnt.evidence, Evidence::PrintedCalls(2));
}

fn signs() -> impl Strategy<Value = Signs> {
    prop_oneof![Just(native()), Just(printed()), Just(Signs::default())]
}

fn book() -> impl Strategy<Value = DialectBook> {
    let step = (0_u8..4, 0_i64..6, signs(), any::<bool>());
    proptest::collection::vec(step, 0..12).prop_map(|steps| {
        let mut book = DialectBook::default();
        for (name, second, signs, is_native) in steps {
            let offered = if is_native {
                ToolCalling::Native
            } else {
                ToolCalling::Fallback
            };
            book.observe(
                &provider(),
                &model(&name.to_string()),
                &signs,
                offered,
                at(second),
            );
        }
        book
    })
}

fn merged(one: &DialectBook, other: &DialectBook) -> DialectBook {
    let mut book = one.clone();
    book.merge(other);
    book
}

proptest! {
    #[test]
    fn the_calling_mode_never_oscillates(
        seen in proptest::collection::vec(signs(), 0..600),
    ) {
        let most = seen.len().max(1).ilog2() as usize + 2;
        let changes = follow(&mut DialectBook::default(), seen);
        prop_assert!(changes.len() <= most, "{} of at most {most}", changes.len());
    }

    #[test]
    fn a_consistent_model_changes_its_mode_at_most_once(
        signs in signs(), times in 1_usize..200,
    ) {
        let changes = follow(&mut DialectBook::default(), vec![signs; times]);
        prop_assert!(changes.len() <= 1);
    }

    #[test]
    fn a_book_read_back_is_the_same(book in book()) {
        let json = book.to_json().unwrap();
        prop_assert_eq!(DialectBook::from_json(&json).unwrap(), book);
    }

    #[test]
    fn the_order_of_merging_never_matters(a in book(), b in book(), c in book()) {
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&a, &a), a.clone());
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
    }
}
