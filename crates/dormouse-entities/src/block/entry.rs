//! One entity's entry in the entity block of a prompt.

use std::cmp::Reverse;

use dormouse_contracts::{Audience, Sources, Timestamp, Trust};
use dormouse_text::escape_id;

use super::{AttributeLine, BlockHearing, BlockPolicy};
use crate::{
    attributes::{AttributeName, Attributes},
    conversation::Conversation,
    plain::{content, name},
    profile::Profile,
};

const NAME: usize = 40;
const OBSERVATION: usize = 200;
const TOPIC: usize = 60;
const ACTION: usize = 100;
const ATTRIBUTES: usize = 300;
/// The maximum number of pending actions per entity.
const MOST_ACTIONS: usize = 5;

/// The lines of one entity.
pub(super) struct BlockEntry {
    heading: String,
    attributes: Option<String>,
    observations: Vec<String>,
    conversation: Vec<String>,
    /// Who perceived all of it.
    pub(super) audience: Audience,
    /// Its parts, each with what it was made from, as far as that is known.
    pub(super) parts: Vec<(String, Sources)>,
}

impl BlockEntry {
    pub(super) fn new(
        profile: &Profile,
        conversation: Option<&Conversation>,
        policy: &BlockPolicy,
        hearing: &BlockHearing<'_>,
        now: Timestamp,
    ) -> Self {
        let shown_name = name(profile.name.as_str(), NAME, "someone");
        let id = escape_id(profile.entity_id.as_str());
        let (kind, state) = (profile.entity_type, hearing.state(profile, now));
        let is_alone = hearing.is_alone(&profile.entity_id);
        let heading = format!("{kind} {shown_name} ({id})");
        let attributes_audience = profile.attributes.audience.as_ref();
        let observations = observations(profile, policy, hearing);
        let actions = conversation.map(|conversation| actions(conversation, hearing));
        let actions = actions.unwrap_or_default();
        let mut parts = [&observations[..], &actions[..]].concat();
        let attributes = match policy.attributes {
            AttributeLine::Omitted => None,
            AttributeLine::Shown if !hearing.may_learn(attributes_audience) => None,
            AttributeLine::Shown => attributes(&profile.attributes, policy.min_trust),
        };
        let of_attributes = attributes.clone();
        parts.extend(of_attributes.map(|text| (text, profile.attributes.sources.clone())));
        if is_alone {
            let known = profile
                .relationship
                .without(|it| hearing.may_learn(Some(it)));
            let judged = known.judgements().iter();
            let judged = judged.flat_map(|one| one.sources.as_slice().to_vec());
            parts.push((format!(" - {state}"), judged.collect()));
        }
        parts.retain(|(text, sources)| !text.is_empty() && !sources.is_empty());
        let texts = |parts: Vec<(String, Sources)>| -> Vec<String> {
            parts.into_iter().map(|(text, _)| text).collect()
        };
        Self {
            heading: match is_alone {
                true => format!("{heading} - {state}"),
                false => heading,
            },
            attributes,
            audience: audience(profile, conversation, policy, hearing),
            observations: texts(observations),
            conversation: conversation
                .map(|conversation| talk(conversation, is_alone, &texts(actions)))
                .unwrap_or_default(),
            parts,
        }
    }

    /// All forms of the entry, the most detailed first.
    pub(super) fn forms(&self) -> Vec<String> {
        let richest = self.observations.len();
        let mut forms: Vec<_> = (0..=richest).rev().map(|count| self.form(count)).collect();
        forms.push(self.heading.clone());
        forms
    }

    fn form(&self, observations: usize) -> String {
        let mut lines = vec![self.heading.clone()];
        lines.extend(self.attributes.clone());
        let observed: Vec<_> = self
            .observations
            .iter()
            .take(observations)
            .cloned()
            .collect();
        if !observed.is_empty() {
            lines.push(format!("Observations: {}", observed.join(", ")));
        }
        lines.extend(self.conversation.iter().cloned());
        lines.join("\n")
    }
}

/// Who perceived everything that an entry may say. An entry about somebody who is alone with the assistant is for that
/// person.
fn audience(
    profile: &Profile,
    conversation: Option<&Conversation>,
    policy: &BlockPolicy,
    hearing: &BlockHearing<'_>,
) -> Audience {
    let observations = profile.observations.iter();
    let observations = observations.map(|o| o.audience.as_ref());
    let actions = conversation
        .into_iter()
        .flat_map(|all| &all.pending_actions);
    let actions = actions.map(|action| action.audience.as_ref());
    let attributes = match policy.attributes {
        AttributeLine::Omitted => None,
        AttributeLine::Shown => Some(profile.attributes.audience.as_ref()),
    };
    let is_alone = hearing.is_alone(&profile.entity_id);
    let judgements = profile.relationship.judgements().iter();
    let judgements = judgements.filter(|_| is_alone);
    let judgements = judgements.map(|one| Some(&one.audience));
    let parts = observations
        .chain(actions)
        .chain(attributes)
        .chain(judgements);
    let learnt = parts.filter(|audience| hearing.may_learn(*audience));
    let alone = Audience::from_iter([profile.entity_id.clone()]);
    let all = match is_alone {
        true => alone,
        false => Audience::Public,
    };
    let nobody = Audience::nobody();
    learnt.fold(all, |all, one| {
        all.intersection(&hearing.one_id_each(one.unwrap_or(&nobody)))
    })
}

fn observations(
    profile: &Profile,
    policy: &BlockPolicy,
    hearing: &BlockHearing<'_>,
) -> Vec<(String, Sources)> {
    let believed = profile.observations.iter();
    let believed = believed.filter(|o| hearing.may_learn(o.audience.as_ref()));
    let mut believed: Vec<_> = believed.filter(|o| o.trust >= policy.min_trust).collect();
    believed.sort_by_key(|o| Reverse((o.timestamp, o.number)));
    believed
        .into_iter()
        .map(|o| (content(o.content.as_str(), OBSERVATION), o.rests_on()))
        .filter(|(text, _)| !text.is_empty())
        .take(policy.max_observations)
        .collect()
}

fn talk(conversation: &Conversation, is_alone: bool, actions: &[String]) -> Vec<String> {
    let topic = conversation.topic.as_ref();
    let topic = topic.map(|topic| content(topic.as_str(), TOPIC));
    let topic = topic.filter(|topic| !topic.is_empty());
    let topic = topic.unwrap_or_else(|| "no topic".to_owned());
    let count = conversation.message_count;
    let plural = if count == 1 { "" } else { "s" };
    let mut lines = match is_alone {
        true => vec![format!("Conversation: {topic} ({count} message{plural})")],
        false => Vec::new(),
    };
    if !actions.is_empty() {
        lines.push(format!("Pending: {}", actions.join(", ")));
    }
    lines
}

/// The pending actions for somebody, the most urgent first.
fn actions(conversation: &Conversation, hearing: &BlockHearing<'_>) -> Vec<(String, Sources)> {
    let actions = conversation.pending_actions.iter();
    let actions = actions.filter(|action| hearing.may_learn(action.audience.as_ref()));
    let mut actions: Vec<_> = actions.collect();
    actions.sort_by_key(|action| (Reverse(action.priority), action.id));
    let actions = actions.into_iter().map(|action| {
        let text = content(action.description.as_str(), ACTION);
        // A condition contains only ids, moments, and words of the action itself.
        let condition = match text.is_empty() || !action.waits() {
            true => String::new(),
            false => format!(" ({})", content(&action.condition(), ACTION)),
        };
        (text + &condition, action.sources.clone())
    });
    let shown = actions.filter(|(text, _)| !text.is_empty());
    shown.take(MOST_ACTIONS).collect()
}

fn attributes(attributes: &Attributes, min_trust: Trust) -> Option<String> {
    let is_believed = |name| attributes.trust_in(name).is_some_and(|t| t >= min_trust);
    let mut parts = Vec::new();
    if is_believed(AttributeName::CommunicationStyle) {
        let style = attributes.communication_style.iter();
        parts.extend(style.map(|style| format!("communication style: {style}")));
    }
    if is_believed(AttributeName::Temperament) {
        parts.extend(attributes.temperament.iter().map(ToString::to_string));
    }
    if is_believed(AttributeName::Interests) && !attributes.interests.is_empty() {
        let interests: Vec<_> = attributes.interests.iter().map(|i| i.as_str()).collect();
        parts.push(format!("interested in {}", interests.join(", ")));
    }
    if is_believed(AttributeName::Preferences) {
        let preferences = attributes.preferences.iter();
        parts.extend(preferences.map(|(subject, value)| format!("{subject}: {value}")));
    }
    let text = content(&parts.join("; "), ATTRIBUTES);
    (!text.is_empty()).then(|| format!("Attributes: {text}"))
}
