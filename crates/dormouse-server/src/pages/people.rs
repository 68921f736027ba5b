//! The people and things that a resident knows, and its relationships with them.

mod picture;

use axum::extract::State;
use dormouse_contracts::EntityId;
use dormouse_entities::{Entities, Profile, SpeakerRole};
use maud::{Markup, html};

use super::{
    Page, frame,
    seen::Seen,
    words::{beginning, counted, meter, moment, outside, passage, trust},
};
use crate::{extract::Key, guard::Caller, problem::Problem, service::Shared};

/// How many characters of a topic are shown.
const TOPIC: usize = 120;

/// Shows everybody whom a resident knows.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::of(&service, &caller, &key)).await?;
    let resident = Box::pin(service.remembering(&key)).await?;
    let now = service.now();
    let (count, picture, cards) = resident.memory().with_entities(|entities| {
        let mut profiles: Vec<_> = entities.profiles().collect();
        profiles.sort_by_key(|it| std::cmp::Reverse(it.relationship.interaction_count()));
        let cards = html! {
            @for (place, it) in profiles.iter().enumerate() {
                @let relationship = &it.relationship;
                li.card id={ "who" (place) } {
                    div.strip {
                        h3 { (outside(it.name.as_str())) }
                        span.tag { (it.entity_type) }
                        span { (relationship.state_at(now)) }
                        span.quiet { (outside(it.entity_id.as_str())) }
                    }
                    @if !it.aliases.is_empty() {
                        p.quiet { "Also called " @for alias in &it.aliases { "“" (outside(alias.as_str())) "” " } }
                    }
                    dl.bars {
                        (bar("Likes", relationship.favorability().value().into(), -1.0))
                        (bar("Trusts", relationship.trust().score().into(), 0.0))
                        (bar("Knows well", relationship.rapport().value().into(), 0.0))
                    }
                    p.facts {
                        span { (counted(relationship.interaction_count(), "conversation turn", "conversation turns")) }
                        @if let Some(at) = relationship.last_interaction_at() { span { "last at " (moment(at)) } }
                    }
                    @let attributes = &it.attributes;
                    @if !attributes.is_empty() {
                        ul.plain {
                            @if let Some(style) = &attributes.communication_style { li { "Talks: " (outside(&style.to_string())) } }
                            @if let Some(temperament) = &attributes.temperament { li { "Is " (outside(temperament.as_str())) } }
                            @for interest in &attributes.interests { li { "Cares about " (outside(interest.as_str())) } }
                            @for (subject, what) in &attributes.preferences { li { "Prefers, for " (outside(subject.as_str())) ": " (outside(what.as_str())) } }
                        }
                    }
                    @if !it.observations.is_empty() {
                        details {
                            summary { (counted(it.observations.len() as u64, "note", "notes")) }
                            ul.plain {
                                @for note in &it.observations {
                                    li {
                                        (outside(note.content.as_str()))
                                        p.facts {
                                            span { (moment(note.timestamp)) }
                                            span { (outside(note.source.as_str())) }
                                            span { "trust " (trust(note.trust)) }
                                            @if let Some(origin) = note.origin {
                                                a href={ "/a/" (key) "/event/" (origin.seq()) "/" } { "#" (origin.seq()) }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                    (conversations(entities, &it.entity_id, &seen.name))
                }
            }
        };
        let circle: Vec<_> = profiles.iter().map(|it| person(it)).collect();
        (profiles.len(), picture::draw(&seen.name, &circle), cards)
    });
    let body = html! {
        p.quiet { @if count == 0 { "It knows nobody yet." } @else { "Those with whom it has to do most come first." } }
        (picture)
        ul.records { (cards) }
    };
    Ok(frame::about(&seen, &caller, "people/", &body))
}

/// A relationship, for the picture.
fn person(it: &Profile) -> picture::Person<'_> {
    let relationship = &it.relationship;
    picture::Person {
        name: it.name.as_str(),
        likes: relationship.favorability().value().into(),
        trusts: relationship.trust().score().into(),
        knows: relationship.rapport().value().into(),
        turns: relationship.interaction_count(),
    }
}

/// What was talked about with somebody: the conversation that runs with its last messages, and those that have ended.
fn conversations(known: &Entities, with: &EntityId, own_name: &str) -> Markup {
    let running = known.conversation(with);
    let ended = known.archived(with);
    let topic = |it: &dormouse_entities::Conversation| {
        it.topic
            .as_ref()
            .map(|topic| beginning(topic.as_str(), TOPIC))
    };
    html! {
        @if let Some(it) = running {
            details {
                summary {
                    "Conversation since " (moment(it.started_at)) ", " (counted(it.message_count, "message", "messages"))
                    @if let Some(topic) = topic(it) { ", about " (topic) }
                }
                @if it.message_count > it.messages.len() as u64 { p.quiet { "Its last " (it.messages.len()) " messages:" } }
                ol.plain {
                    @for message in &it.messages {
                        li {
                            p.facts {
                                b { @match message.role { SpeakerRole::Assistant => (outside(own_name)), _ => "Them" } }
                                span { (moment(message.timestamp)) }
                            }
                            (passage(message.content.as_str()))
                        }
                    }
                }
            }
        }
        @if !ended.is_empty() {
            details {
                summary { (counted(ended.len() as u64, "conversation that has ended", "conversations that have ended")) }
                ul.plain {
                    @for it in ended.iter().rev() {
                        li {
                            (moment(it.conversation.started_at)) " to " (moment(it.ended_at)) ", "
                            (counted(it.conversation.message_count, "message", "messages"))
                            @if let Some(topic) = topic(&it.conversation) { ", about " (topic) }
                        }
                    }
                }
            }
        }
    }
}

fn bar(name: &str, value: f64, least: f64) -> Markup {
    html! { div { dt { (name) } dd { (meter(value, least, 1.0)) " " (format!("{value:.2}")) } } }
}
