//! Showing earlier turns shorter, when the context window fills up.
//!
//! Words first: old results of tools become one line each, then the oldest turns are left out, which can be recalled, and then
//! one summary is made of what is left out. A summary is made from the turns themselves, never from another summary,
//! and is not changed later. Standing orders and pending actions are in no summary, because prompts show them word for
//! word.
//!
//! All of it is a view. The log and the memory keep everything, and what a prompt shows follows from the state alone.

mod planned;
mod settings;
mod summary;

use dormouse_contracts::{Audience, Seq};
use serde::Serialize;

use crate::{
    config::Privacy,
    event::{Compacted, CompactionMode, FactsBefore, HistorySpan},
    privacy::known_to_all,
    prompt::{HistoryMeasure, MeasuredTurn},
    state::{State, Turn},
};
pub(crate) use planned::planned_again;
pub use planned::{CompactError, Compacting, Compactor};
pub use settings::CompactionSettings;
pub(crate) use summary::{SummaryAsk, failed, is_summed_up, summarized};

/// To what percentage of the limit the history shrinks. It leaves room for the next turns: otherwise every tick would
/// change the beginning of the prompt, which the provider has cached.
const SHRINKS_TO: u32 = 75;
/// Turns that take fewer tokens than this are left out without a summary, which would hardly be shorter.
const WORTH_A_SUMMARY: u32 = 150;
/// If fewer turns than this exceed the number that a prompt may show, nothing is decided for them.
const WORTH_A_STEP: usize = 10;

/// Decides what of the history is shown shorter, if there is too much of it. Pure.
pub(crate) fn plan(
    state: &State,
    found: &HistoryMeasure<'_>,
    mode: CompactionMode,
) -> Option<Compacted> {
    let limits = Limits::of(state, found, mode)?;
    let kept = kept(state, found, limits, mode);
    let old = found.turns.len().saturating_sub(kept);
    let old = found.turns.get(..old).unwrap_or_default();
    let saved = old.iter().map(|turn| turn.saved_by_masking);
    let mut tokens = saved.fold(found.of_turns(), u32::saturating_sub);
    let mut dropped = Vec::new();
    for turn in old {
        let shown = found.turns.len().saturating_sub(dropped.len());
        if tokens <= limits.tokens && shown <= limits.turns {
            break;
        }
        tokens = tokens.saturating_sub(turn.tokens.saturating_sub(turn.saved_by_masking));
        dropped.push(turn);
    }
    let masked = old.iter().skip(dropped.len());
    let masked = masked.filter(|turn| turn.saved_by_masking > 0);
    let masked: Vec<Seq> = masked.map(|turn| turn.turn.trigger_seq()).collect();
    if masked.is_empty() && dropped.is_empty() {
        return None;
    }
    Some(Compacted {
        mode,
        before: found.tokens(),
        after: found.fixed.saturating_add(tokens),
        window: found.window,
        masked,
        dropped: spans(state, &dropped, mode),
        extraction: None,
    })
}

/// Whether so much is left out that facts are extracted first. Pure.
pub(crate) fn is_worth_a_request(compacted: &Compacted) -> bool {
    compacted.before.saturating_sub(compacted.after) >= WORTH_A_SUMMARY
}

/// The same decision after facts were extracted. If nothing is left to do, the event says so.
pub(crate) fn plan_after(
    state: &State,
    found: &HistoryMeasure<'_>,
    facts: FactsBefore,
) -> Compacted {
    let mode = CompactionMode::Emergency;
    let nothing = || Compacted {
        mode,
        before: found.tokens(),
        after: found.tokens(),
        window: found.window,
        masked: Vec::new(),
        dropped: Vec::new(),
        extraction: None,
    };
    Compacted {
        extraction: Some(facts),
        ..plan(state, found, mode).unwrap_or_else(nothing)
    }
}

/// How much of the history is shown afterwards.
#[derive(Clone, Copy, Debug)]
struct Limits {
    tokens: u32,
    turns: usize,
}

impl Limits {
    /// The limits; `None` if nothing has to be shortened.
    fn of(state: &State, found: &HistoryMeasure<'_>, mode: CompactionMode) -> Option<Self> {
        let settings = &state.configuration.settings;
        let percent = match mode {
            CompactionMode::Emergency => settings.compaction.emergency_percent,
            CompactionMode::Planned => settings.compaction.sleep_percent,
        };
        let full = share(found.window, percent);
        let most_turns = settings.limits.max_history();
        let fewer = most_turns * SHRINKS_TO as usize / 100;
        let is_long = found.turns.len() > most_turns && most_turns - fewer >= WORTH_A_STEP;
        let is_full = found.tokens() >= full || found.of_turns() > found.room;
        let tokens = share(full, SHRINKS_TO).saturating_sub(found.fixed);
        (settings.compaction.is_on && (is_full || is_long)).then_some(Self {
            tokens: tokens.min(share(found.room, SHRINKS_TO)),
            turns: if is_long { fewer } else { usize::MAX },
        })
    }
}

/// How many of the newest turns stay as they are.
fn kept(state: &State, found: &HistoryMeasure<'_>, limits: Limits, mode: CompactionMode) -> usize {
    let preserve = state.configuration.settings.compaction.preserve;
    let (mut messages, mut tokens) = (0, 0);
    let newest = found.turns.iter().rev().take(limits.turns);
    let kept = newest.take_while(|turn| {
        let is_last = messages == 0;
        let is_new = messages < preserve;
        messages += 1 + turn.turn.own_steps().count();
        tokens = u32::saturating_add(tokens, turn.tokens);
        // In an emergency a sender waits, so keeping long messages must not use up the room for the answer.
        is_new && (mode == CompactionMode::Planned || is_last || tokens <= limits.tokens)
    });
    kept.count()
}

/// The turns that are left out, in spans that have one summary each.
fn spans(state: &State, dropped: &[&MeasuredTurn<'_>], mode: CompactionMode) -> Vec<HistorySpan> {
    let mut groups: Vec<(Audience, Vec<&MeasuredTurn<'_>>)> = Vec::new();
    for measured in dropped {
        let known_to = match mode {
            // All of them are known to those who hear the answer.
            CompactionMode::Emergency => Audience::Public,
            CompactionMode::Planned => known_to_all(state, [measured.turn]),
        };
        match groups
            .iter_mut()
            .find(|(audience, _)| *audience == known_to)
        {
            Some((_, group)) => group.push(measured),
            None => groups.push((known_to, vec![measured])),
        }
    }
    let spans = groups.iter().filter_map(|(_, group)| span(state, group));
    spans.collect()
}

fn span(state: &State, group: &[&MeasuredTurn<'_>]) -> Option<HistorySpan> {
    let turns: Vec<&Turn> = group.iter().map(|measured| measured.turn).collect();
    let tokens = group.iter().map(|measured| measured.tokens);
    let is_private = state.configuration.settings.privacy == Privacy::Kept;
    // If nobody perceived all turns of a span, nobody could be shown its summary.
    let is_for_nobody =
        is_private && known_to_all(state, turns.iter().copied()) == Audience::nobody();
    let is_long = tokens.fold(0, u32::saturating_add) >= WORTH_A_SUMMARY;
    let says_something = turns.iter().any(|turn| is_summed_up(turn));
    Some(HistorySpan {
        from: turns.iter().map(|turn| turn.trigger_seq()).min()?,
        to: turns.iter().map(|turn| turn.last_seq()).max()?,
        is_to_be_summarized: is_long && says_something && !is_for_nobody,
        turns: turns.iter().map(|turn| turn.trigger_seq()).collect(),
    })
}

fn share(tokens: u32, percent: u32) -> u32 {
    u32::try_from(u64::from(tokens) * u64::from(percent) / 100).unwrap_or(u32::MAX)
}

/// How full a context window is, for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WindowLevel {
    /// Less than 70 %.
    #[default]
    Ok,
    /// Up to 85 %.
    Warning,
    /// Up to 95 %.
    Danger,
    /// More than that.
    Critical,
}

impl WindowLevel {
    /// The level of a prompt of `tokens` tokens in a window of this size.
    #[must_use]
    pub fn of(tokens: u32, window: u32) -> Self {
        let (tokens, window) = (u64::from(tokens) * 100, u64::from(window));
        match tokens {
            _ if tokens < window * 70 => Self::Ok,
            _ if tokens <= window * 85 => Self::Warning,
            _ if tokens <= window * 95 => Self::Danger,
            _ => Self::Critical,
        }
    }

    /// Its name for users: `ok`, `warning`, `danger`, `critical`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Danger => "danger",
            Self::Critical => "critical",
        }
    }
}
