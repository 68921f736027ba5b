//! Every combination of what classification depends on.

use dormouse_classify::{
    ChannelAction, ChannelConfig, Classification, ClassifyConfig, Mention, RoomPolicy, classify,
};
use dormouse_contracts::{
    Attested, ChannelId, Delivery, EffectKey, EntityId, Sender, SourceKind, Timestamp, WorldId,
};

/// One combination, and what it was made of.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) source: &'static str,
    pub(crate) sender: &'static str,
    pub(crate) attested: Attested,
    pub(crate) mention: Mention,
    pub(crate) config: ClassifyConfig,
}

impl Case {
    pub(crate) fn classify(&self) -> Classification {
        classify(&self.attested, self.mention, &self.config)
    }
}

pub(crate) fn entity(id: &str) -> EntityId {
    EntityId::try_new(id).unwrap()
}

pub(crate) fn channel(id: &str) -> ChannelId {
    ChannelId::try_new(id).unwrap()
}

pub(crate) fn attested(source: SourceKind, sender: Sender) -> Attested {
    let delivery = Delivery {
        world: WorldId::try_new("teahouse").unwrap(),
        number: 1,
    };
    Attested::new(delivery, source, sender, Timestamp::EPOCH)
}

pub(crate) fn sources() -> Vec<(&'static str, SourceKind)> {
    vec![
        ("whisper", SourceKind::Whisper),
        ("page", SourceKind::Page),
        ("addressed", SourceKind::Addressed),
        ("loud", SourceKind::Channel(channel("loud"))),
        ("calm", SourceKind::Channel(channel("calm"))),
        ("mute", SourceKind::Channel(channel("mute"))),
        ("unlisted", SourceKind::Channel(channel("unlisted"))),
        ("say", SourceKind::Say),
        ("pose", SourceKind::Pose),
        ("movement", SourceKind::Movement),
        ("emit", SourceKind::Emit),
        ("output", SourceKind::CommandOutput),
    ]
}

pub(crate) fn senders() -> Vec<(&'static str, Sender)> {
    let person = |id| Sender::Entity {
        id: entity(id),
        name: "Alice".to_owned(),
    };
    let assistant = |id| Sender::Assistant {
        id: entity(id),
        name: "Hatter".to_owned(),
    };
    vec![
        ("person", person("#7")),
        ("permitted person", person("#permitted")),
        ("assistant", assistant("#8")),
        ("permitted assistant", assistant("#permitted")),
        ("self, marked", Sender::Myself { marked: true }),
        ("self, unmarked", Sender::Myself { marked: false }),
        ("nobody", Sender::Unattributed),
    ]
}

pub(crate) fn config() -> ClassifyConfig {
    let listed = |name, action| (channel(name), ChannelConfig::new(action));
    ClassifyConfig {
        trigger_permissions: [entity("#permitted")].into(),
        channels: [
            listed("loud", ChannelAction::Trigger),
            listed("calm", ChannelAction::Context),
            listed("mute", ChannelAction::Ignore),
        ]
        .into(),
        ..ClassifyConfig::default()
    }
}

fn configs() -> Vec<ClassifyConfig> {
    let mut configs = Vec::new();
    for interaction_enabled in [true, false] {
        for enable_addressing in [true, false] {
            for rooms in [RoomPolicy::Context, RoomPolicy::Ignore, RoomPolicy::Trigger] {
                configs.push(ClassifyConfig {
                    interaction_enabled,
                    enable_addressing,
                    rooms,
                    ..config()
                });
            }
        }
    }
    configs
}

pub(crate) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for config in configs() {
        for (source, kind) in sources() {
            for (sender, who) in senders() {
                for mention in [Mention::Addressed, Mention::NotAddressed] {
                    for cause in [None, Some(EffectKey::try_new("dormouse/7").unwrap())] {
                        cases.push(Case {
                            source,
                            sender,
                            attested: Attested {
                                cause,
                                ..attested(kind.clone(), who.clone())
                            },
                            mention,
                            config: config.clone(),
                        });
                    }
                }
            }
        }
    }
    cases
}
