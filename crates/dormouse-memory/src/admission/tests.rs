use dormouse_contracts::{Attribution, Seq};

use proptest::prelude::*;

use super::*;
use crate::{note::Note, ops::record_of};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn record(id: u64, speaker: &str, seconds: i64, text: &str) -> Record {
    let note = Note::new(text).said_by(speaker).at(at(seconds));
    Record {
        id: RecordId::event(Seq(id)),
        ..record_of(note, at(seconds))
    }
}

fn alice() -> Attribution {
    Attribution::Named("Alice".to_owned())
}

fn judged(
    profile: AdmissionProfile,
    text: &str,
    trust: f32,
    context: &AdmissionContext<'_>,
) -> Admission {
    let candidate = Candidate {
        text,
        speaker: &alice(),
        at: at(1_000),
        trust: Trust::try_new(trust).unwrap(),
        audience: &Audience::nobody(),
        profile,
    };
    admit(&candidate, context, &AdmissionPolicy::default())
}

fn ignored(reason: IgnoreReason, like: Option<u64>) -> Admission {
    Admission::Ignore {
        reason,
        like: like.map(|like| RecordId::event(Seq(like))),
    }
}

#[test]
fn a_derived_text_is_kept_only_if_it_says_something_new_about_the_world() {
    let neighbours = [record(
        1,
        "Bob",
        0,
        "Alice keeps her kettle in the blue box under the stairs of the mill.",
    )];
    let recalled = [record(2, "Bob", 0, "The gate opens at dawn")];
    let context = AdmissionContext {
        neighbours: &neighbours,
        recalled: &recalled,
        names: &["Dormouse"],
    };
    let long = "tea ".repeat(300);
    let cases = [
        ("Alice prefers green tea", Admission::Admit),
        (
            "👋😀 hello, how are you",
            ignored(IgnoreReason::NoContent, None),
        ),
        ("...", ignored(IgnoreReason::NoContent, None)),
        ("", ignored(IgnoreReason::NoContent, None)),
        (
            "alice keeps her kettle in the blue box under the stairs of the mill",
            ignored(IgnoreReason::Duplicate, Some(1)),
        ),
        (
            "Alice keeps the kettle in a blue box, under the stairs of the mill",
            ignored(IgnoreReason::NearDuplicate, Some(1)),
        ),
        (
            "The gate opens at dawn!",
            ignored(IgnoreReason::Echo, Some(2)),
        ),
        ("The gate does not open at dawn", Admission::Admit),
        (
            "I should be more polite to Alice",
            ignored(IgnoreReason::AboutItself, None),
        ),
        (
            "Alice thinks the Assistant is kind",
            ignored(IgnoreReason::AboutItself, None),
        ),
        (
            "It shows that my behavior helps",
            ignored(IgnoreReason::AboutItself, None),
        ),
        ("I’ll meet Alice", ignored(IgnoreReason::AboutItself, None)),
        (
            "Dormouse is curious",
            ignored(IgnoreReason::AboutItself, None),
        ),
        (
            "Alice is grateful when she is greeted politely",
            Admission::Admit,
        ),
        (
            "Alice hopes that the assistants' guild wins",
            Admission::Admit,
        ),
        (long.as_str(), ignored(IgnoreReason::TooLong, None)),
    ];
    for (text, expected) in cases {
        assert_eq!(
            judged(AdmissionProfile::Derived, text, 0.9, &context),
            expected,
            "{text}"
        );
    }
    assert_eq!(
        judged(
            AdmissionProfile::Derived,
            "Alice prefers green tea",
            0.49,
            &context
        ),
        ignored(IgnoreReason::LowTrust, None)
    );
}

#[test]
fn a_heard_text_is_refused_only_if_it_has_no_content_or_was_just_said() {
    let neighbours = [
        record(1, "Alice", 900, "Where is Bob?"),
        record(2, "Bob", 900, "I am at the mill"),
        record(3, "Alice", 100, "The kettle is hot"),
    ];
    let context = AdmissionContext {
        neighbours: &neighbours,
        recalled: &neighbours,
        names: &["Dormouse"],
    };
    let cases = [
        ("where is bob?", ignored(IgnoreReason::Duplicate, Some(1))),
        ("I am at the mill", Admission::Admit),
        ("The kettle is hot", Admission::Admit),
        ("I will go there, the assistant said", Admission::Admit),
        ("no", Admission::Admit),
        ("Yes!", Admission::Admit),
        ("お茶をください", Admission::Admit),
        ("hello there", ignored(IgnoreReason::NoContent, None)),
        ("🎉🎉", ignored(IgnoreReason::NoContent, None)),
    ];
    for (text, expected) in cases {
        assert_eq!(
            judged(AdmissionProfile::Heard, text, 0.1, &context),
            expected,
            "{text}"
        );
    }
}

#[test]
fn a_record_that_is_not_live_does_not_count_as_a_duplicate() {
    let mut old = record(1, "Alice", 900, "The gate opens at dawn");
    old.status = RecordStatus::Superseded { by: None };
    let context = AdmissionContext {
        neighbours: &[old],
        ..AdmissionContext::default()
    };
    for profile in [AdmissionProfile::Heard, AdmissionProfile::Derived] {
        assert_eq!(
            judged(profile, "The gate opens at dawn", 0.9, &context),
            Admission::Admit
        );
    }
}

#[test]
fn a_record_of_less_trust_does_not_keep_a_fact_out() {
    let mut rumour = record(1, "Bob", 900, "The gate opens at dawn");
    rumour.trust = Trust::try_new(0.3).unwrap();
    let context = AdmissionContext {
        neighbours: &[rumour],
        ..AdmissionContext::default()
    };
    let derived = AdmissionProfile::Derived;
    assert_eq!(
        judged(derived, "The gate opens at dawn", 0.9, &context),
        Admission::Admit
    );
}

proptest! {
    #[test]
    fn a_heard_text_with_a_word_of_content_is_always_kept(text in "\\PC{0,60}") {
        let text = format!("{text} kettle");
        prop_assert_eq!(
            judged(AdmissionProfile::Heard, &text, 0.0, &AdmissionContext::default()),
            Admission::Admit
        );
    }

    #[test]
    fn a_derived_text_is_never_kept_twice(text in "([a-z]{1,9} ){1,12}") {
        let there = [record(7, "Bob", 5, &text)];
        let context = AdmissionContext { neighbours: &there, ..AdmissionContext::default() };
        prop_assert_ne!(judged(AdmissionProfile::Derived, &text, 1.0, &context), Admission::Admit);
    }
}
