//! Trust comes from the source and from the operator, and from nowhere else.

use dormouse_classify::{
    ChannelAction, ChannelConfig, ClassifyConfig, SenderHistory, source_trust, trust_with_history,
};
use dormouse_contracts::{Sender, SourceKind, Trust};
use proptest::{prelude::*, sample::select};

use crate::cases::{self, attested, channel, entity};

fn of(source: &str) -> f32 {
    match source {
        "whisper" | "page" => 0.9,
        "addressed" => 0.7,
        "say" => 0.4,
        "pose" | "movement" => 0.3,
        "emit" | "output" => 0.2,
        _ => 0.6,
    }
}

#[test]
fn without_overrides_trust_depends_only_on_the_source() {
    for case in cases::all() {
        let trust = source_trust(&case.attested, &case.config);
        assert_eq!(trust.score(), of(case.source), "{case:?}");
    }
}

#[test]
fn a_channel_may_have_its_own_trust() {
    let trust = Trust::try_new(0.85).unwrap();
    let config = ClassifyConfig {
        channels: [(
            channel("staff"),
            ChannelConfig::new(ChannelAction::Ignore).with_trust(trust),
        )]
        .into(),
        ..ClassifyConfig::default()
    };
    let on = |name| attested(SourceKind::Channel(channel(name)), Sender::Unattributed);
    assert_eq!(source_trust(&on("staff"), &config), trust);
    assert_eq!(source_trust(&on("public"), &config).score(), 0.6);
}

#[test]
fn sender_trust_overrides_channel_trust() {
    let bob = Sender::Entity {
        id: entity("#9"),
        name: "Bob".to_owned(),
    };
    let listed = ChannelConfig::new(ChannelAction::Context).with_trust(Trust::FULL);
    let config = ClassifyConfig {
        channels: [(channel("staff"), listed)].into(),
        trust_overrides: [(entity("#9"), Trust::NONE)].into(),
        ..ClassifyConfig::default()
    };
    let said = attested(SourceKind::Channel(channel("staff")), bob);
    assert_eq!(source_trust(&said, &config), Trust::NONE);
}

fn history(interactions: u64, trust: f32) -> SenderHistory {
    SenderHistory {
        interactions,
        trust: Trust::try_new(trust).unwrap(),
    }
}

#[test]
fn a_history_moves_trust_by_a_fifth_of_what_the_relationship_differs_from_a_half() {
    let staff = ChannelConfig::new(ChannelAction::Context).with_trust(Trust::FULL);
    let config = ClassifyConfig {
        channels: [(channel("staff"), staff)].into(),
        trust_overrides: [(entity("#8"), Trust::try_new(0.3).unwrap())].into(),
        ..ClassifyConfig::default()
    };
    let person = |id: &str| Sender::Entity {
        id: entity(id),
        name: "Alice".to_owned(),
    };
    let staff = SourceKind::Channel(channel("staff"));
    let public = SourceKind::Channel(channel("public"));
    for (case, source, sender, history, expected) in [
        (
            "liked",
            SourceKind::Say,
            person("#7"),
            history(5, 0.9),
            0.48,
        ),
        (
            "fully trusted",
            SourceKind::Say,
            person("#7"),
            history(5, 1.0),
            0.5,
        ),
        (
            "distrusted",
            SourceKind::Say,
            person("#7"),
            history(5, 0.0),
            0.3,
        ),
        (
            "neither",
            SourceKind::Say,
            person("#7"),
            history(99, 0.5),
            0.4,
        ),
        (
            "four only",
            SourceKind::Say,
            person("#7"),
            history(4, 1.0),
            0.4,
        ),
        (
            "never above 0.9",
            SourceKind::Whisper,
            person("#7"),
            history(5, 1.0),
            0.9,
        ),
        (
            "distrusted in private",
            SourceKind::Page,
            person("#7"),
            history(5, 0.0),
            0.8,
        ),
        (
            "a mention",
            SourceKind::Addressed,
            person("#7"),
            history(5, 0.7),
            0.74,
        ),
        ("a channel", public, person("#7"), history(5, 0.3), 0.56),
        (
            "a channel above 0.9",
            staff.clone(),
            person("#7"),
            history(5, 1.0),
            1.0,
        ),
        (
            "distrusted there",
            staff,
            person("#7"),
            history(5, 0.25),
            0.95,
        ),
        (
            "never below 0",
            SourceKind::Emit,
            person("#7"),
            history(5, 0.0),
            0.1,
        ),
        (
            "the operator decided",
            SourceKind::Say,
            person("#8"),
            history(9, 1.0),
            0.3,
        ),
        (
            "nobody",
            SourceKind::Emit,
            Sender::Unattributed,
            history(9, 1.0),
            0.2,
        ),
        (
            "own output",
            SourceKind::CommandOutput,
            person("#7"),
            history(9, 1.0),
            0.2,
        ),
        (
            "myself",
            SourceKind::Say,
            Sender::Myself { marked: true },
            history(9, 1.0),
            0.4,
        ),
    ] {
        let trust = trust_with_history(&attested(source, sender), &config, history).score();
        assert!((trust - expected).abs() < 1e-6, "{case}: {trust}");
    }
}

proptest! {
    #[test]
    fn no_history_moves_trust_by_more_than_a_tenth_nor_raises_it_above_nine_tenths(
        case in select(cases::all()),
        interactions in 0_u64..20,
        score in 0.0_f32..=1.0,
    ) {
        let source = source_trust(&case.attested, &case.config).score();
        let moved = trust_with_history(&case.attested, &case.config, history(interactions, score)).score();
        prop_assert!((moved - source).abs() <= 0.1 + 1e-6, "{source} to {moved}");
        prop_assert!(moved <= source.max(0.9));
        prop_assert!(interactions >= 5 || moved == source);
        prop_assert!(moved <= source || score > 0.5, "who is not liked is not believed more");
        prop_assert!(moved >= source || score < 0.5, "who is liked is not believed less");
        let more = trust_with_history(&case.attested, &case.config, history(interactions, (score + 0.1).min(1.0)));
        prop_assert!(more.score() >= moved, "more trust in somebody never means less in a message");
    }

    #[test]
    fn an_override_of_the_operator_always_wins_over_a_history(
        case in select(cases::all()),
        set in 0.0_f32..=1.0,
        score in 0.0_f32..=1.0,
    ) {
        let set = Trust::try_new(set).unwrap();
        let config = ClassifyConfig {
            trust_overrides: [(entity("#7"), set)].into(),
            ..case.config
        };
        if case.sender == "person" {
            let with = trust_with_history(&case.attested, &config, history(99, score));
            prop_assert_eq!(with, source_trust(&case.attested, &config));
        }
    }

    #[test]
    fn only_the_operator_moves_trust_and_only_for_the_sender_named(
        case in select(cases::all()),
        score in 0.0f32..=1.0,
    ) {
        let trust = Trust::try_new(score).unwrap();
        let config = ClassifyConfig {
            trust_overrides: [(entity("#7"), trust)].into(),
            ..case.config
        };
        let found = source_trust(&case.attested, &config);
        if case.sender == "person" && case.source != "output" {
            prop_assert_eq!(found, trust);
        } else {
            prop_assert_eq!(found.score(), of(case.source));
        }
    }
}
