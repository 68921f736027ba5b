//! Trust comes from the source and from the operator, and from nowhere else.

use dormouse_classify::{ChannelAction, ChannelConfig, ClassifyConfig, source_trust};
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

proptest! {
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
