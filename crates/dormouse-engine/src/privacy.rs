//! What a prompt may show, by who hears the answer.

use dormouse_contracts::{Arguments, Audience};
use serde_json::Value;

use crate::{
    config::Privacy,
    state::{Heard, State, Trigger, Turn},
};

/// Who hears what is said in a turn, other than the assistant itself; `None` if everything may be told to everybody. Pure.
pub(crate) fn listeners(state: &State, turn: &Turn) -> Option<Audience> {
    if state.configuration.settings.privacy == Privacy::Shared {
        return None;
    }
    let reached = turn.trigger.answer_reaches();
    let others = state.identities.own().fold(reached, Audience::without);
    // An answer that reaches nobody who is known may still be heard.
    let is_unknown = others == Audience::nobody();
    Some(if is_unknown { Audience::Public } else { others })
}

/// What the prompts of a turn may show in addition to the turn itself and to what was recalled for it, which the memory
/// filters in the same way. Everybody who hears the answer was party to it. Pure; takes time in proportion to the turns
/// and lines that a state keeps.
#[derive(Debug)]
pub(crate) struct Shareable<'a> {
    /// Finished turns, oldest first.
    pub(crate) turns: Vec<&'a Turn>,
    /// Overheard lines, oldest first.
    pub(crate) overheard: Vec<&'a Heard>,
}

impl<'a> Shareable<'a> {
    pub(crate) fn of(state: &'a State, turn: &Turn) -> Self {
        let listeners = listeners(state, turn);
        let listeners = listeners.map(|all| renamed(&all, state));
        let covers = |audience: Audience| {
            let listeners = listeners.as_ref();
            listeners.is_none_or(|all| renamed(&audience, state).covers(all))
        };
        let is_kept = listeners.is_some();
        let turns = state.history.turns();
        let lines = state.overheard.shown();
        Self {
            turns: turns
                .filter(|turn| !is_kept || covers(turn.known_to()))
                .collect(),
            overheard: lines
                .filter(|line| !is_kept || covers(line.known_to()))
                .collect(),
        }
    }
}

fn renamed(audience: &Audience, state: &State) -> Audience {
    audience.renamed(|id| state.identities.id_of(id))
}

/// Who may learn what is made in a turn, as far as that is recorded. Pure.
pub(crate) fn audience_of_notes(state: &State, turn: &Turn) -> Option<Audience> {
    let is_kept = state.configuration.settings.privacy == Privacy::Kept;
    is_kept.then(|| turn.known_to())
}

/// Who may learn what an act says. What is said to one person is known to that person alone. Pure.
pub(crate) fn audience_of_act(
    state: &State,
    turn: &Turn,
    arguments: &Arguments,
) -> Option<Audience> {
    let known_to = audience_of_notes(state, turn)?;
    let Some(to) = arguments.get("to").and_then(Value::as_str) else {
        return Some(known_to);
    };
    let sender = sender_called(&turn.trigger, to);
    let by_name = state.people.attribution(to);
    let id = match sender {
        Some(heard) => heard.perception.attested.sender.id(),
        None => by_name.id(),
    };
    let listener: Audience = id.cloned().into_iter().collect();
    Some(known_to.intersection(&listener))
}

fn sender_called<'a>(trigger: &'a Trigger, name: &str) -> Option<&'a Heard> {
    let message = trigger.message()?;
    let sender = message.perception.attested.sender.name();
    (sender.to_lowercase() == name.to_lowercase()).then_some(message)
}
