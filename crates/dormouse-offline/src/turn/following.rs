//! Walking along with somebody: a pending action that waits until they leave, and is noted again after each move.

use dormouse_contracts::{DueAction, TurnTrigger};
use serde_json::{Value, json};

use super::{MessageTurn, Steps, failed};
use crate::{
    act::Act,
    done::Outcome,
    english::said::Topic,
    english::understood::DIRECTIONS,
    event::PendingEvent,
    intent::{Intent, recognise},
    phrasing::Voice,
    place, promises,
    words::words,
};

/// What it means to do for somebody whom it follows.
pub(super) const FOLLOW: &str = "walk along with you";

impl MessageTurn<'_> {
    /// Looks whether the speaker is here and whom it follows already, and notes that it follows them.
    pub(super) fn begin_to_follow(&self) -> Option<Act> {
        let steps = &self.steps;
        if let Some(look) = steps.if_fresh(Act::call("inspect_location", [])) {
            return Some(look);
        }
        let who = self.event.who.as_ref()?.as_str();
        let can_follow = steps.offer.has("move") && steps.offer.has("add_pending_action");
        if !can_follow || !self.is_speaker_here() {
            return None;
        }
        if let Some(look) = steps.if_fresh(Act::call("get_entity_profile", [("entity", who)])) {
            return Some(look);
        }
        match steps.follows() {
            Some(_) => None,
            None => steps.if_fresh(follow(who)),
        }
    }

    /// Says that it follows, or why it does not.
    pub(super) fn followed(&self) -> String {
        if !self.is_speaker_here() {
            return self.voice.say(Topic::NotHere, "");
        }
        match self.steps.outcome("add_pending_action") {
            None if self.steps.follows().is_none() => self.voice.say(Topic::NoFollowing, ""),
            None | Some(Outcome::Success(_)) => self.voice.say(Topic::Follow, ""),
            Some(other) => failed("I cannot promise that", &other),
        }
    }

    /// Takes off that it follows the speaker, if it does.
    pub(super) fn end_following(&self) -> Option<Act> {
        let steps = &self.steps;
        let who = self.event.who.as_ref()?.as_str();
        if !steps.offer.has("complete_pending_action") {
            return None;
        }
        steps.take_off(who, following)
    }

    fn is_speaker_here(&self) -> bool {
        match self.steps.outcome("inspect_location") {
            Some(Outcome::Success(place)) => place::has(&place, &self.event.name),
            _ => true,
        }
    }
}

impl Steps<'_> {
    /// The id of the pending action by which it follows somebody, from their profile.
    fn follows(&self) -> Option<u64> {
        match self.outcome("get_entity_profile") {
            Some(Outcome::Success(profile)) => following(&profile),
            _ => None,
        }
    }

    /// Whether the last thing that somebody said about following was that it should wait.
    fn was_told_to_wait(&self, who: &str, voice: &Voice<'_>) -> bool {
        let lately = self.context.earlier.iter().rev();
        let wishes = lately.filter_map(|turn| {
            let TurnTrigger::Message(message) = &turn.trigger else {
                return None;
            };
            let event = PendingEvent::from(&**message);
            let is_theirs = event.who.as_ref().is_some_and(|it| it.as_str() == who);
            is_theirs.then(|| recognise(&event.words, &[&voice.character.name]))
        });
        let mut wishes = wishes.filter(|it| matches!(it, Intent::Follow | Intent::Wait));
        matches!(wishes.next(), Some(Intent::Wait))
    }
}

/// Goes where somebody went whom it follows, and notes that it still follows them. They may have left the world, or in a
/// way that the world does not name, or have told it to wait while others listened, to whom the pending action must not be
/// mentioned: then it stays.
pub(super) fn go_along(due: &DueAction, voice: &Voice<'_>, steps: &Steps<'_>) -> Act {
    let who = due.entity.as_str();
    if let Some(act) = steps.take_off(who, following) {
        return act;
    }
    let direction = due.movement.as_deref().and_then(direction_in);
    let Some(direction) = direction.filter(|_| !steps.was_told_to_wait(who, voice)) else {
        return steps.rest();
    };
    if let Some(go) = steps.if_fresh(Act::call("move", [("direction", &*direction)])) {
        return go;
    }
    match steps.outcome("move") {
        Some(Outcome::Success(_)) => steps.if_fresh(follow(who)).unwrap_or_else(|| steps.rest()),
        Some(other) => {
            let words = format!(
                "{}, {}",
                voice.name,
                failed("I could not follow you", &other)
            );
            steps.tell_in_private(&due.name, &words)
        }
        None => steps.rest(),
    }
}

fn direction_in(movement: &str) -> Option<String> {
    let words = words(movement).into_iter().map(|word| word.text);
    words
        .into_iter()
        .find(|word| DIRECTIONS.contains(&word.as_str()))
}

/// The pending action by which it follows somebody.
fn following(profile: &Value) -> Option<u64> {
    promises::id_of(profile, FOLLOW, None)
}

fn follow(who: &str) -> Act {
    let when = json!([{ "event": "leaves", "who": who }]);
    let arguments = [
        ("entity", who.into()),
        ("description", FOLLOW.into()),
        ("when", when),
    ];
    Act::call_with("add_pending_action", arguments)
}
