//! Earlier turns as a prompt shows them shorter: old results as one line, summaries in place of turns that are left out, and a note that
//! the words can be recalled.

use dormouse_contracts::{Seq, TokenCounter};

use super::{MESSAGE, Preamble, fitting, room, turn_tokens};
use crate::{
    builtin::{RECALL_HISTORY, is_own},
    privacy::Shareable,
    render,
    state::{CallState, HistorySummary, State, Turn, TurnView},
};

/// A sequence number with as many digits as one can have.
const LONGEST: Seq = Seq(u64::MAX);

/// How much is shown in place of turns that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Earlier {
    /// How many of the newest summaries.
    pub(super) summaries: usize,
    /// The first and the last turn that is not shown at all.
    note: Option<(Seq, Seq)>,
    pub(super) tokens: u32,
}

impl Earlier {
    /// What fits into `left` tokens, the newest summaries first. More than `most_turns` turns are not shown, however much room
    /// there is.
    pub(super) fn within(
        left: u32,
        most_turns: usize,
        shareable: &Shareable<'_>,
        preamble: &Preamble,
    ) -> Self {
        let sizes = shareable.summaries.iter().rev();
        let sizes = sizes.map(|made| made.tokens.saturating_add(MESSAGE));
        let (summaries, tokens) = fitting(sizes, room::summaries(left));
        let gone = shareable.summaries.len().saturating_sub(summaries);
        let unseen = shareable.summaries.iter().take(gone);
        let unseen = unseen.map(|made| (made.span.from, made.span.to));
        let too_many = shareable.turns.len().saturating_sub(most_turns);
        let dropped = shareable.dropped.iter();
        let dropped = dropped.chain(shareable.turns.iter().take(too_many));
        let dropped = dropped.map(|turn| (turn.trigger_seq(), turn.last_seq()));
        let note = unseen
            .chain(dropped)
            .reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let with_note = preamble.left_out.saturating_add(MESSAGE);
        let note = note.filter(|_| tokens.saturating_add(with_note) <= left);
        Self {
            summaries,
            note,
            tokens: tokens.saturating_add(note.map_or(0, |_| with_note)),
        }
    }

    /// The summaries that are shown, oldest first.
    pub(super) fn shown<'a>(self, shareable: &'a Shareable<'_>) -> &'a [&'a HistorySummary] {
        let all = &shareable.summaries;
        let gone = all.len().saturating_sub(self.summaries);
        all.get(gone..).unwrap_or_default()
    }

    /// The parts, in their order.
    pub(super) fn parts(self, shareable: &Shareable<'_>) -> Vec<String> {
        let note = self.note.map(|(from, to)| left_out(from, to));
        let summaries = self.shown(shareable).iter();
        let summaries = summaries.map(|made| summary(made));
        note.into_iter().chain(summaries).collect()
    }
}

/// A summary as a prompt shows it, and its number of tokens.
pub(crate) fn counted_summary(made: &HistorySummary, counter: &dyn TokenCounter) -> u32 {
    counter.count(&summary(made)).tokens
}

/// A summary as a prompt shows it. No outside text can imitate its first line, because every quoted line starts with a
/// mark.
fn summary(made: &HistorySummary) -> String {
    let (from, to) = (made.span.from, made.span.to);
    let text = render::quoted(&made.text);
    format!(
        "[SUMMARY of events #{from} to #{to}, trust {}: made from what was said and done then, not word for word. \
         {RECALL_HISTORY} with from \"#{from}\" and to \"#{to}\" shows the words.]{text}",
        made.trust
    )
}

/// The note that turns are left out.
fn left_out(from: Seq, to: Seq) -> String {
    format!(
        "(What was said to you and done from event #{from} to #{to} is not shown any more. {RECALL_HISTORY} with from \
         \"#{from}\" and to \"#{to}\" shows the words.)"
    )
}

/// How many tokens a finished turn takes in a prompt, at most.
pub(super) fn tokens(state: &State, turn: &Turn, message_cap: u32, preamble: &Preamble) -> u32 {
    let form = state.configuration.settings.tool_calling;
    let whole = turn_tokens(turn, message_cap, form, preamble);
    match shows_masked(state, turn) {
        true => whole.saturating_sub(saved_by_masking(turn, preamble)),
        false => whole,
    }
}

/// How many tokens fewer a turn takes if old results are one line each, at least.
pub(super) fn saved_by_masking(turn: &Turn, preamble: &Preamble) -> u32 {
    let calls = turn.shown_steps().flat_map(|step| &step.calls);
    let saved = calls.filter(|call| is_maskable(call, preamble));
    let saved = saved.map(|call| call.tokens.saturating_sub(preamble.masked));
    saved.fold(0, u32::saturating_add)
}

/// Whether the line in place of a result is so much shorter that it is worth it.
fn is_maskable(call: &CallState, preamble: &Preamble) -> bool {
    call.tokens > preamble.masked.saturating_mul(2)
}

pub(super) fn shows_masked(state: &State, turn: &Turn) -> bool {
    state.configuration.settings.compaction.is_on && turn.view == TurnView::Masked
}

/// The result of a call in a finished turn, as it is shown.
pub(super) fn result(state: &State, turn: &Turn, call: &CallState, preamble: &Preamble) -> String {
    match shows_masked(state, turn) && is_maskable(call, preamble) {
        true => masked(turn, call),
        false => super::result(call).to_owned(),
    }
}

/// The line that a prompt shows in place of the result of a call in this turn.
fn masked(turn: &Turn, call: &CallState) -> String {
    let look = match is_own(&call.call.name) {
        true => "look it up again".to_owned(),
        false => handle(turn.trigger_seq()),
    };
    format!("{{\"not_shown\":\"this result is old: {look}\"}}")
}

fn handle(seq: Seq) -> String {
    format!("{RECALL_HISTORY} with results_of #{seq} shows it")
}

/// How many tokens the note that turns are left out takes, and the line in place of a result, at most.
pub(super) fn longest(counter: &dyn TokenCounter) -> (u32, u32) {
    let count = |text: &str| counter.count(text).tokens;
    let masked = format!(
        "{{\"not_shown\":\"this result is old: {}\"}}",
        handle(LONGEST)
    );
    (count(&left_out(LONGEST, LONGEST)), count(&masked))
}
