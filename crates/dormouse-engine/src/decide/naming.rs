//! The calls of a reply, with ids of our own.

use dormouse_contracts::{CallId, invariant};

use super::view::View;
use crate::{
    event::Call,
    reply::{self, RawCall},
    state::Heard,
};

/// The calls that say `text` to whom a message came from, in place of the model, and their tokens. Without a tool that
/// speaks, or without a text, nothing is said.
pub(super) fn said(view: View<'_>, message: &Heard, text: &str) -> (Vec<Call>, u32) {
    let tools: Vec<_> = view.tools.specs().collect();
    let text = text.trim();
    let call = (!text.is_empty()).then(|| reply::spoken(text, message, &tools));
    let calls = named(view, call.flatten().into_iter().collect());
    let tokens = match calls.is_empty() {
        true => 0,
        false => view.counter.count(text).tokens,
    };
    (calls, tokens)
}

/// Gives the calls of a reply our own ids, which are unique in the whole conversation; the ids of the provider may not be.
///
/// Neighbouring calls that speak are parts of one answer, like those of a text that is too long for one call.
pub(super) fn named(view: View<'_>, mut calls: Vec<RawCall>) -> Vec<Call> {
    let place = view.state.seq.next();
    let most = view.config().limits.max_parts();
    let speech = |call: &RawCall| view.tools.get(&call.name).filter(|it| it.speech.is_some());
    // A model that repeats the same speech in one reply says it once.
    calls.dedup_by(|call, before| call == before && speech(call).is_some());
    let mut has_spoken = false;
    let parts = calls.into_iter().flat_map(|call| {
        let tool = speech(&call);
        let continues = has_spoken && tool.is_some();
        has_spoken = tool.is_some();
        reply::in_parts(RawCall { continues, ..call }, tool, most)
    });
    let calls = parts.zip(0_u32..).filter_map(|(call, index)| {
        let id = CallId::try_new(format!("call_{place}_{index}"));
        let id = invariant!(id.map(Some), "a call's id is made of numbers")?;
        Some(Call {
            id,
            name: call.name,
            arguments: call.arguments,
            continues: call.continues,
        })
    });
    calls.collect()
}
