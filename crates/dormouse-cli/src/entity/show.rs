//! Printing entities.

use dormouse_contracts::{Clock, EntityId, TokenCounter};
use dormouse_entities::{BlockPolicy, Profile, entity_block};
use dormouse_host::SystemClock;
use dormouse_memory::Memory;
use dormouse_providers::Estimate;
use dormouse_text::escape_id;
use serde::Serialize;

use super::who::WhoError;
use crate::{
    command::{CommandError, Printing},
    grammar::counted,
};

#[derive(Serialize)]
struct Entry<'a> {
    r#type: &'static str,
    entity: &'a EntityId,
    entity_type: dormouse_entities::EntityType,
    name: &'a str,
    aliases: Vec<&'a str>,
    relationship: String,
    observations: usize,
}

impl<'a> Entry<'a> {
    fn of(profile: &'a Profile) -> Self {
        Self {
            r#type: "entity",
            entity: &profile.entity_id,
            entity_type: profile.entity_type,
            name: profile.name.as_str(),
            aliases: profile.aliases.iter().map(|name| name.as_str()).collect(),
            relationship: state(profile),
            observations: profile.observations.len(),
        }
    }
}

fn state(profile: &Profile) -> String {
    profile.relationship.state_at(SystemClock.now()).to_string()
}

/// Prints all entities, ordered by id; with a topic, only those with a current conversation on it.
pub(super) fn list(
    memory: &Memory,
    topic: Option<&str>,
    printing: Printing,
) -> Result<(), CommandError> {
    memory.with_entities(|entities| {
        let about = topic.map(|topic| entities.talking_about(topic));
        let is_wanted = |profile: &&Profile| {
            let about = about.as_ref();
            about.is_none_or(|about| about.contains(&&profile.entity_id))
        };
        for profile in entities.profiles().filter(is_wanted) {
            printing.print(&Entry::of(profile), || brief(profile))?;
        }
        Ok(())
    })
}

fn brief(profile: &Profile) -> String {
    let Profile {
        entity_id,
        entity_type,
        ..
    } = profile;
    let names: Vec<&str> = profile.names().map(|name| name.as_str()).collect();
    let count = profile.observations.len() as u64;
    let observations = counted(count, "observation", "observations");
    format!(
        "{}  {entity_type}  {}  {}  {observations}",
        escape_id(entity_id.as_str()),
        names.join(", "),
        state(profile)
    )
}

#[derive(Serialize)]
struct Whole<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    profile: &'a Profile,
}

/// Prints everything known about one entity.
pub(super) fn show(memory: &Memory, id: &EntityId, printing: Printing) -> Result<(), CommandError> {
    memory.with_entities(|entities| {
        let profile = entities.profile(id);
        let profile = profile.ok_or_else(|| WhoError::Unknown {
            who: id.to_string(),
        })?;
        let whole = Whole {
            r#type: "profile",
            profile,
        };
        printing.print(&whole, || everything(profile))?;
        Ok(())
    })
}

fn everything(profile: &Profile) -> Vec<String> {
    let relationship = &profile.relationship;
    let mut lines = vec![
        brief(profile),
        format!(
            "favorability {:.2}, trust {:.2}, rapport {:.2}, {}",
            relationship.favorability().value(),
            relationship.trust().score(),
            relationship.rapport().value(),
            counted(
                relationship.interaction_count(),
                "interaction",
                "interactions"
            )
        ),
    ];
    let attributes = &profile.attributes;
    if let Some(style) = &attributes.communication_style {
        lines.push(format!("communication style: {style}"));
    }
    if let Some(temperament) = &attributes.temperament {
        lines.push(format!("is {}", temperament.as_str()));
    }
    for interest in &attributes.interests {
        lines.push(format!("cares about {}", interest.as_str()));
    }
    for (subject, what) in &attributes.preferences {
        lines.push(format!("prefers {}: {}", subject.as_str(), what.as_str()));
    }
    for observation in &profile.observations {
        lines.push(format!(
            "{}. {} ({}, trust {}, {})",
            observation.number,
            observation.content.as_str(),
            observation.source.as_str(),
            observation.trust,
            observation.timestamp
        ));
    }
    lines
}

#[derive(Serialize)]
struct Block<'a> {
    r#type: &'static str,
    text: &'a str,
    tokens: u32,
    exact: bool,
    shown: &'a [EntityId],
    left_out: usize,
}

/// Prints the block of entities as a prompt has it.
pub(super) fn block(memory: &Memory, tokens: u32, printing: Printing) -> Result<(), CommandError> {
    let counter: &dyn TokenCounter = &Estimate::default();
    let policy = BlockPolicy::default();
    let block = memory.with_entities(|entities| {
        entity_block(entities, &policy, SystemClock.now(), tokens, counter)
    });
    let line = Block {
        r#type: "block",
        text: &block.text,
        tokens: block.tokens.tokens,
        exact: block.tokens.exact,
        shown: &block.shown,
        left_out: block.left_out,
    };
    printing.print(&line, || match block.text.as_str() {
        "" => vec!["no entity is shown".to_owned()],
        // Text from outside never begins a line of the block.
        text => text.lines().map(str::to_owned).collect(),
    })?;
    Ok(())
}
