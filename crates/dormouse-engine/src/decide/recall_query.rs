//! What to search the memory for, before the model is asked.

use dormouse_contracts::{EntityId, Origin};
use dormouse_text::beginning;

use super::view::View;
use crate::{
    builtin::pending,
    privacy::{Shareable, listeners},
    prompt,
    state::{State, Turn},
    work::RecallQuery,
};

/// How much of a message becomes the query, in characters.
const WORDS: usize = 2_000;
/// A message with fewer words says little about its subject; then the last message of the same person helps.
const FEW_WORDS: usize = 4;
/// How much of that earlier message is used, in characters.
const BEFORE: usize = 300;

/// What to search the memory for in a turn. Excludes what the prompt shows anyway, and events that wait for their turn:
/// the message must not be found as its own answer.
pub(super) fn question(view: View<'_>, turn: &Turn) -> RecallQuery {
    let (state, preamble) = (view.state, view.preamble());
    let (budgets, shown) = prompt::recall_room(state, turn, &preamble);
    let mut without = pending(state, turn);
    without.extend(shown.iter().copied().map(Origin::event));
    RecallQuery {
        query: query(state, turn),
        without,
        through: state.seq,
        budgets,
        quote_trust: view.config().quote_trust,
        asker: sender(turn).cloned(),
        listeners: listeners(state, turn),
        now: view.now,
    }
}

fn query(state: &State, turn: &Turn) -> String {
    let words = beginning(words(turn), WORDS);
    if words.split_whitespace().count() >= FEW_WORDS {
        return words.to_owned();
    }
    let who = sender(turn);
    let shareable = Shareable::of(state, turn);
    let mut earlier = shareable.turns.into_iter().rev();
    let earlier = earlier.find(|turn| sender(turn) == who);
    match earlier {
        Some(earlier) if who.is_some() => {
            let before = beginning(self::words(earlier), BEFORE);
            format!("{words}\n{before}")
        }
        _ => words.to_owned(),
    }
}

fn words(turn: &Turn) -> &str {
    turn.trigger.words()
}

fn sender(turn: &Turn) -> Option<&EntityId> {
    turn.trigger.entity()
}
