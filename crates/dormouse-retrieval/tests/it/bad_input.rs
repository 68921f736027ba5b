//! Huge, empty and strange input.

use dormouse_contracts::{Hit, Timestamp};
use dormouse_retrieval::{Config, Index, Insertion, Ranking, Removal, SearchQuery, Unit, terms};
use proptest::prelude::*;

fn unit(id: u64, text: &str) -> Unit<'_> {
    Unit {
        id,
        text,
        speaker: Some("Alice".into()),
        thread: Some("kitchen"),
        at: Timestamp::EPOCH,
    }
}

#[test]
fn an_empty_index_or_an_empty_query_finds_nothing() {
    let mut index = Index::default();
    assert!(index.search(&SearchQuery::new("kettle"), 10).is_empty());
    index.insert(&unit(1, "the kettle"));
    for text in ["", " \n", "the of and", "?!", "\u{0}\u{fffd}"] {
        assert!(
            index.search(&SearchQuery::new(text), 10).is_empty(),
            "{text:?}"
        );
    }
    assert!(index.search(&SearchQuery::new("kettle"), 0).is_empty());
    assert!(index.neighbours(2, 3).is_empty());
    assert!(index.session(2).is_empty());
}

#[test]
fn a_query_of_a_megabyte_finds_what_its_rarest_words_say() {
    let mut index = Index::default();
    for id in 0..200 {
        index.insert(&unit(id, &format!("filler{} filler{}", id, id + 1)));
    }
    index.insert(&unit(1_000, "the kettle is blue"));
    let mut text: String = (0..150).map(|id| format!("filler{id} ")).collect();
    text.push_str("kettle ");
    text.push_str(&"nonsense".repeat(150_000));
    assert!(text.len() > 1_000_000);
    let found = index.search(&SearchQuery::new(&text), 200);
    assert!(found.iter().any(|found| found.id == 1_000));
}

#[test]
fn a_query_of_ten_thousand_different_words_is_answered_too() {
    let mut index = Index::default();
    for id in 0..3_000 {
        index.insert(&unit(id, &format!("filler{} common words", id)));
    }
    let text: String = (0..10_000).map(|id| format!("filler{id} ")).collect();
    let found = index.search(&SearchQuery::new(&text), 100);
    assert!(!found.is_empty());
}

#[test]
fn of_a_text_of_ten_megabytes_the_beginning_is_found() {
    let mut text = String::from("kettle ");
    while text.len() < 10_000_000 {
        text.push_str("so it goes on and on about teapots ");
    }
    text.push_str("ferry");
    let config = Config {
        max_terms_per_unit: 100,
        ..Config::default()
    };
    let mut index = Index::new(config);
    index.insert(&unit(1, &text));
    assert_eq!(index.search(&SearchQuery::new("kettle"), 10).len(), 1);
    assert_eq!(index.search(&SearchQuery::new("ferry"), 10).len(), 0);
    assert!(index.memory_bytes() < 100_000);
}

#[test]
fn inserting_twice_replaces() {
    let mut index = Index::default();
    assert_eq!(index.insert(&unit(1, "the kettle")), Insertion::Added);
    assert_eq!(index.insert(&unit(1, "the ferry")), Insertion::Replaced);
    assert_eq!(index.len(), 1);
    assert!(index.search(&SearchQuery::new("kettle"), 10).is_empty());
    assert_eq!(index.search(&SearchQuery::new("ferry"), 10)[0].id, 1);
    assert_eq!(index.remove(1), Removal::Removed);
    assert_eq!(index.remove(1), Removal::Absent);
    assert!(index.is_empty());
}

#[test]
fn invalid_vectors_and_vectors_of_unknown_units_are_ignored() {
    let mut index = Index::default();
    index.insert(&unit(1, "the kettle"));
    index.insert(&unit(2, "the ferry"));
    let hits = [
        Hit {
            id: 1,
            score: f32::NAN,
        },
        Hit { id: 7, score: 0.9 },
        Hit { id: 2, score: 0.5 },
        Hit {
            id: 2,
            score: f32::INFINITY,
        },
    ];
    let found = index.search(&SearchQuery::new("").dense(&hits), 10);
    let ids: Vec<u64> = found.iter().map(|found| found.id).collect();
    assert_eq!(ids, [2]);
    assert!(found[0].score.is_finite());
}

#[test]
fn extreme_times_are_accepted() {
    let mut index = Index::default();
    for (id, micros) in [i64::MIN, -1, 0, i64::MAX].into_iter().enumerate() {
        index.insert(&Unit {
            at: Timestamp::from_micros(micros),
            ..unit(id as u64, "kettle in May 2023")
        });
    }
    for at in [i64::MIN, i64::MAX] {
        let query =
            SearchQuery::new("the kettle, last year, in May").asked_at(Timestamp::from_micros(at));
        assert_eq!(index.search(&query, 10).len(), 4);
    }
    assert_eq!(index.session(1), [1, 2]);
    assert_eq!(index.session(0), [0]);
}

#[test]
fn a_session_that_never_pauses_is_split_and_joined() {
    let mut index = Index::default();
    let minute = 60_000_000;
    for id in 0..20_000_u64 {
        index.insert(&Unit {
            at: Timestamp::from_micros(i64::try_from(id).unwrap() * 45 * minute),
            ..unit(id, "tea")
        });
    }
    assert_eq!(index.session(0).len(), 20_000);
    index.remove(19_000);
    assert_eq!(index.session(0).len(), 19_000);
    assert_eq!(index.session(19_999).len(), 999);
    index.insert(&Unit {
        at: Timestamp::from_micros(19_000 * 45 * minute),
        ..unit(19_000, "tea")
    });
    assert_eq!(index.session(0).len(), 20_000);
}

proptest! {
    #[test]
    fn any_text_can_be_inserted_and_asked_for(
        texts in proptest::collection::vec("\\PC{0,40}|[a-z' ]{0,40}|[ぁ-ん一-鿋]{0,9}", 0..8),
        question in "\\PC{0,60}",
        name in "\\PC{0,10}",
    ) {
        let mut index = Index::new(Config { exhaustive_up_to: 3, ..Config::default() });
        for (id, text) in texts.iter().enumerate() {
            index.insert(&Unit { speaker: Some((&*name).into()), ..unit(id as u64, text) });
        }
        for ranking in [Ranking::Fused, Ranking::PlainBm25] {
            let found = index.search(&SearchQuery::new(&question).ranking(ranking), 10);
            prop_assert!(found.iter().all(|found| found.score.is_finite()));
        }
        for text in &texts {
            let found = index.search(&SearchQuery::new(text).ranking(Ranking::PlainBm25), 10);
            prop_assert_eq!(found.is_empty(), terms(text).is_empty());
        }
    }
}
