//! The people and things that a resident knows, and how it stands with them.

use axum::extract::State;
use maud::{Markup, html};

use super::{
    Page, frame,
    seen::Seen,
    words::{counted, meter, moment, outside, trust},
};
use crate::{extract::Key, guard::Caller, problem::Problem, service::Shared};

/// Shows everybody whom a resident knows.
pub(super) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Page, Problem> {
    let seen = Box::pin(Seen::of(&service, &caller, &key)).await?;
    let resident = Box::pin(service.remembering(&key)).await?;
    let now = service.now();
    let (count, cards) = resident.memory().with_entities(|entities| {
        let mut profiles: Vec<_> = entities.profiles().collect();
        profiles.sort_by_key(|it| std::cmp::Reverse(it.relationship.interaction_count()));
        let cards = html! {
            @for it in &profiles {
                @let relationship = &it.relationship;
                li.card {
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
                }
            }
        };
        (profiles.len(), cards)
    });
    let body = html! {
        p.quiet { @if count == 0 { "It knows nobody yet." } @else { "Those with whom it has to do most come first." } }
        ul.records { (cards) }
    };
    Ok(frame::about(&seen, &caller, "people/", &body))
}

fn bar(name: &str, value: f64, least: f64) -> Markup {
    html! { div { dt { (name) } dd { (meter(value, least, 1.0)) " " (format!("{value:.2}")) } } }
}
