use dormouse_testing::effort;
use proptest::prelude::*;

use super::*;
use crate::{
    EntryId, JournalChange, JournalSettings, NewEntry,
    testkit::{hour, importance, journal_of, said, write},
};

fn points(content: &str, source: SourceType) -> i8 {
    ImportanceRule::default().points(content, source)
}

fn documented(content: &str, source: SourceType) -> i8 {
    let rule = ImportanceRule {
        matching: KeywordMatching::Substring,
        ..ImportanceRule::default()
    };
    rule.points(content, source)
}

#[test]
fn every_part_of_the_formula_is_worth_what_is_documented() {
    use SourceType::{Direct, Environmental, Inference, Observation};
    let long = |letters: usize| "a".repeat(letters);
    for (content, source, expected) in [
        ("tea", Direct, 7),
        ("tea", Observation, 6),
        ("tea", Inference, 5),
        ("tea", Environmental, 4),
        ("a secret", Inference, 7),
        ("a secret treasure", Inference, 9),
        // Three high keywords are worth no more than two.
        ("a secret treasure quest", Inference, 9),
        // A keyword that occurs twice counts once.
        ("secret, secret", Inference, 7),
        ("she walked", Inference, 4),
        ("she walked and moved", Inference, 3),
        ("routine: walked, moved, entered, ordinary", Inference, 0),
        ("she walked, a secret", Inference, 6),
        (&long(200), Inference, 5),
        (&long(201), Inference, 6),
        // Characters, not bytes.
        (&"ä".repeat(200), Inference, 5),
        ("tea!", Inference, 6),
        ("tea?", Inference, 6),
        ("tea?!", Inference, 6),
        (
            "routine: walked, moved, entered, ordinary",
            Environmental,
            -1,
        ),
        (&format!("secret treasure! {}", long(200)), Direct, 13),
    ] {
        assert_eq!(points(content, source), expected, "{content}");
        assert_eq!(documented(content, source), expected, "{content}");
    }
    let history = ImportanceHistory::default();
    let rule = ImportanceRule::default();
    for (points, expected) in [
        (-1, 1),
        (0, 1),
        (1, 1),
        (2, 2),
        (10, 10),
        (11, 10),
        (13, 10),
    ] {
        assert_eq!(
            rule.importance(points, &history),
            importance(expected),
            "{points}"
        );
    }
}

#[test]
fn every_documented_keyword_counts_in_any_case_and_in_the_plural() {
    for keyword in HIGH_KEYWORDS {
        for form in [keyword.to_owned(), keyword.to_uppercase(), plural(keyword)] {
            assert_eq!(
                points(&format!("the {form}."), SourceType::Inference),
                7,
                "{form}"
            );
        }
    }
    for keyword in LOW_KEYWORDS {
        assert_eq!(
            points(&format!("the {keyword}."), SourceType::Inference),
            4,
            "{keyword}"
        );
    }
    assert_eq!((HIGH_KEYWORDS.len(), LOW_KEYWORDS.len()), (19, 5));
}

#[test]
fn a_keyword_inside_of_another_word_counts_only_if_that_is_asked_for() {
    for (content, as_documented) in [
        ("toward the door", 7),
        ("a warm reward", 7),
        ("a question", 7),
        ("wares", 7),
        ("removed", 4),
        ("peaceful", 7),
    ] {
        assert_eq!(points(content, SourceType::Inference), 5, "{content}");
        assert_eq!(
            documented(content, SourceType::Inference),
            as_documented,
            "{content}"
        );
    }
    let own = ImportanceRule {
        high: vec!["Drache".to_owned()],
        low: Vec::new(),
        ..ImportanceRule::default()
    };
    assert_eq!(own.points("ein drache", SourceType::Inference), 7);
    assert_eq!(own.points("a war, she walked", SourceType::Inference), 5);
}

#[test]
fn a_rank_is_the_place_among_the_assistants_own_entries() {
    let rule = ImportanceRule {
        scale: ImportanceScale::Calibrated,
        ..ImportanceRule::default()
    };
    let mut history = ImportanceHistory::default();
    for _ in 0..29 {
        history.count(9);
    }
    assert_eq!(
        rule.importance(9, &history),
        importance(9),
        "too few entries: the formula"
    );
    history.count(9);
    assert_eq!(rule.importance(9, &history), importance(5), "as usual");
    assert_eq!(
        rule.importance(10, &history),
        importance(10),
        "more than ever"
    );
    assert_eq!(
        rule.importance(8, &history),
        importance(1),
        "less than ever"
    );
    for _ in 0..100_000 {
        history.count(5);
    }
    assert!(history.len() < 2_000, "bounded");
    assert_eq!(
        rule.importance(9, &history),
        importance(10),
        "the present counts"
    );
}

#[test]
fn three_entries_are_scored_at_a_time_and_never_what_somebody_gave() {
    let settings = JournalSettings::default();
    let mut journal = journal_of(&["one", "two", "three", "four"]);
    let given = NewEntry {
        importance: Some(importance(2)),
        ..said("five")
    };
    write(&mut journal, given, hour(9), &settings);
    let total = journal.reflection().cumulative_importance;

    let pending = pending_scores(&journal, &settings.scoring);
    assert_eq!(pending, [1, 2, 3].map(EntryId));
    let request = scoring_request(&journal, &pending, &settings.scoring).unwrap();
    assert_eq!(request.purpose, dormouse_contracts::Purpose::Scoring);
    let reply = r#"[{"id":"1","score":10},{"id":2,"score":"3/10"},{"id":"3","score":"eleven"},{"id":"5","score":9}]"#;
    let change = read_scores(reply, &pending).into_change();
    journal.apply(&change, hour(10)).unwrap();
    // All entries had 7 points from a direct source: 10 and 3 instead are a difference of −1.
    assert_eq!(journal.reflection().cumulative_importance, total - 1);
    assert_eq!(
        pending_scores(&journal, &settings.scoring),
        [3, 4].map(EntryId)
    );

    // A score for an entry that already has a score, or a given importance, changes nothing.
    let again = JournalChange::Rescored {
        scores: [1, 5]
            .map(|id| EntryScore {
                entry: EntryId(id),
                importance: importance(1),
            })
            .to_vec(),
        unreadable: Vec::new(),
    };
    journal.apply(&again, hour(11)).unwrap();
    let scores: Vec<u8> = journal
        .entries()
        .map(|entry| entry.importance.get())
        .collect();
    assert_eq!(scores, [10, 3, 7, 7, 2]);

    for _ in 0..2 {
        let change = read_scores("Roses are red.", &[EntryId(3)]).into_change();
        journal.apply(&change, hour(12)).unwrap();
    }
    assert_eq!(
        pending_scores(&journal, &settings.scoring),
        [EntryId(4)],
        "given up after three replies"
    );
    assert_eq!(
        journal.entry(EntryId(3)).unwrap().importance,
        importance(7),
        "the formula's score stays"
    );
}

#[test]
fn a_score_is_read_from_many_replies_and_out_of_range_from_none() {
    let one = [EntryId(5)];
    let poem = "Seven swans on silver water\nsail where evening meets the sea,\nand the miller's only daughter\n\
        counts them: one and two and three.";
    for (reply, expected) in [
        ("8", Some(8)),
        ("8/10", Some(8)),
        ("10/10.", Some(10)),
        ("7 out of 10", Some(7)),
        ("Score: 4", Some(4)),
        ("I would rate this a 6.", Some(6)),
        ("seven", Some(7)),
        ("Ten!", Some(10)),
        ("3.0", Some(3)),
        ("[9]", Some(9)),
        ("```json\n[9]\n```", Some(9)),
        ("[5] 3", Some(3)),
        (r#"{"score": 4}"#, Some(4)),
        (
            r#"{"scores":[{"id":"[5]","score":4,"reason":"x"}]}"#,
            Some(4),
        ),
        (r#"Sure: [{"id":5,"score":4},{"id":6,"sc"#, Some(4)),
        ("eleven", None),
        ("11", None),
        ("0", None),
        ("-3", None),
        ("7.5", None),
        ("80%", None),
        ("8/100", None),
        ("6 or 7", None),
        ("7-8", None),
        ("NaN", None),
        ("1e400", None),
        (r#"[{"id":"5","score":null}]"#, None),
        (r#"[{"id":"6","score":7},{"id":"7","score":7}]"#, None),
        (poem, None),
        ("", None),
        (" \n", None),
    ] {
        let read = read_scores(reply, &one);
        let score = read.scores.first().map(|score| score.importance.get());
        assert_eq!(score, expected, "{reply}");
        assert_eq!(read.unreadable.is_empty(), expected.is_some(), "{reply}");
    }
    let three = [4, 5, 6].map(EntryId);
    for reply in [
        "[1, 2, 3]",
        "4: 1\n5: 2\n6: 3",
        "[4] 1\n[5] 2/10\n- [6] three",
    ] {
        let read = read_scores(reply, &three);
        let scores: Vec<u8> = read
            .scores
            .iter()
            .map(|score| score.importance.get())
            .collect();
        assert_eq!(scores, [1, 2, 3], "{reply}");
    }
    assert_eq!(read_scores("7", &three).unreadable, three, "of which one?");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(512)))]

    #[test]
    fn any_reply_is_survived_and_every_entry_is_accounted_for(reply in "[\\[\\]{}\":,0-9a-z/é\n -]{0,60}|\\PC{0,60}") {
        let asked = [1, 2, 30].map(EntryId);
        let read = read_scores(&reply, &asked);
        let mut named: Vec<_> = read.scores.iter().map(|score| score.entry).collect();
        named.extend(&read.unreadable);
        named.sort();
        prop_assert_eq!(named, asked);
        let _read = crate::read_questions(&reply, 3, &["Dormouse"]);
    }

    #[test]
    fn more_points_never_mean_less_importance(counts in prop::collection::vec(0_u8..80, 15), a in -1_i8..14, b in -1_i8..14) {
        let mut history = ImportanceHistory::default();
        for (points, count) in (-1..).zip(counts) {
            (0..count).for_each(|_| history.count(points));
        }
        for scale in [ImportanceScale::Formula, ImportanceScale::Calibrated] {
            let rule = ImportanceRule { scale, ..ImportanceRule::default() };
            let (less, more) = (a.min(b), a.max(b));
            prop_assert!(rule.importance(less, &history) <= rule.importance(more, &history));
        }
    }
}

#[test]
fn brackets_without_end_are_read_in_bounded_time() {
    for piece in ["{", "[", "{\"a\":", "[{"] {
        let reply = piece.repeat(100_000);
        assert_eq!(read_scores(&reply, &[EntryId(1)]).scores, []);
    }
}
