//! Cached results of queries.

use std::collections::VecDeque;

use dormouse_contracts::{
    Arguments, Audience, CachePolicy, CacheScope, FORGOTTEN, Timestamp, ToolReach, ToolSpec, Trust,
};
use serde::{Deserialize, Serialize};

use super::turns::Turns;
use crate::{
    decide::without_advice,
    event::{Event, ToolAnswered, Verdict},
};

/// How many results are kept, and how many bytes of them, so that they don't make snapshots large.
const KEPT: usize = 16;
const BYTES_KEPT: usize = 64 * 1024;

/// Cached results of queries whose tools allow caching, the latest last. An act of the assistant removes the results
/// from the world, because it may change the answers. The cache is part of the state, so a replay uses the same
/// results.
///
/// A cached result belongs to this assistant alone. A turn shows it like the result of a new query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CachedResults(VecDeque<CachedResult>);

/// A cached result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CachedResult {
    tool: String,
    arguments: Arguments,
    /// The result as the model saw it, without advice.
    pub(crate) content: String,
    /// When it was obtained.
    pub(crate) at: Timestamp,
    policy: CachePolicy,
    /// The lowest trust of the remembered lines in it, if it holds any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trust: Option<Trust>,
    /// The listeners of the turn, if the result of a builtin tool was only for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    listeners: Option<Audience>,
}

impl CachedResult {
    fn is_fresh(&self, now: Timestamp) -> bool {
        let is_young = |ttl| now.since(self.at) < ttl;
        // The clock may have been set back.
        now >= self.at && self.policy.ttl.is_none_or(is_young)
    }
}

impl CachedResults {
    /// The cached result of the same query for the same listeners that is valid at `now`, if any.
    pub(crate) fn find(
        &self,
        tool: &ToolSpec,
        arguments: &Arguments,
        listeners: Option<&Audience>,
        now: Timestamp,
    ) -> Option<&CachedResult> {
        let mut known = self.0.iter();
        known.find(|known| {
            known.tool == tool.name.as_str()
                && known.arguments == *arguments
                && tool.cache == Some(known.policy)
                && known.listeners.as_ref() == listeners
                && known.is_fresh(now)
        })
    }

    /// Whether the cache is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Folds one event in. `turns` are those before the event, and `listeners` those of the turn under way, if the event is the
    /// result of [`is_own_query`].
    pub(super) fn apply(
        &mut self,
        at: Timestamp,
        event: &Event,
        tools: &[ToolSpec],
        turns: &Turns,
        listeners: Option<Audience>,
    ) {
        match event {
            Event::ToolAnswered(answered) => {
                if let Some(result) = result(at, answered, tools, turns) {
                    self.take_in(CachedResult {
                        listeners,
                        ..result
                    });
                }
            }
            Event::TickStarted(_) | Event::TickEnded(_) => {
                self.0
                    .retain(|known| known.policy.scope != CacheScope::Tick);
            }
            // A session begins, or somebody is forgotten.
            Event::Configured(_) | Event::Woke(_) | Event::Forgotten(_) => self.0.clear(),
            // An act may change the world, but not what the assistant keeps for itself.
            Event::EffectIntended(_) | Event::EffectSettled(_) => {
                self.0.retain(|known| is_own_query(tools, &known.tool));
            }
            // Two people may turn out to be one, who perceived more.
            Event::EntityChanged(changed) if !changed.is_by_call() => {
                self.0.retain(|known| !is_own_query(tools, &known.tool));
            }
            Event::JournalChanged(_) => self.0.retain(|known| !is_own_query(tools, &known.tool)),
            _ => {}
        }
    }

    fn take_in(&mut self, result: CachedResult) {
        self.0
            .retain(|old| old.tool != result.tool || old.arguments != result.arguments);
        self.0.push_back(result);
        let bytes = |all: &VecDeque<CachedResult>| -> usize {
            all.iter().map(|known| known.content.len()).sum()
        };
        while self.0.len() > KEPT || bytes(&self.0) > BYTES_KEPT {
            self.0.pop_front();
        }
    }
}

/// Whether results of this tool may be used again and are of the assistant itself, not of the world.
pub(super) fn is_own_query(tools: &[ToolSpec], name: &str) -> bool {
    let is_own = |tool: &ToolSpec| tool.reach == ToolReach::Builtin && tool.cache.is_some();
    let mut tools = tools.iter();
    tools.any(|tool| tool.name.as_str() == name && is_own(tool))
}

/// The result of a query, if it may be cached.
fn result(
    at: Timestamp,
    answered: &ToolAnswered,
    tools: &[ToolSpec],
    turns: &Turns,
) -> Option<CachedResult> {
    let is_new = answered.verdict == Verdict::Success && answered.cached.is_none();
    if !is_new || answered.content.contains(FORGOTTEN) {
        return None;
    }
    let tool = tools
        .iter()
        .find(|tool| tool.name.as_str() == answered.tool)?;
    let policy = tool.cache?;
    let call = turns.current()?.open_call()?;
    if call.call.id != answered.call {
        return None;
    }
    Some(CachedResult {
        tool: answered.tool.clone(),
        arguments: call.call.object()?,
        content: without_advice(&answered.content),
        at,
        policy,
        trust: answered.trust,
        listeners: None,
    })
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::Timestamp;

    use super::*;

    fn result(number: usize, bytes: usize) -> CachedResult {
        let mut arguments = Arguments::new();
        arguments.insert("number".to_owned(), number.into());
        CachedResult {
            tool: "weather".to_owned(),
            arguments,
            content: "x".repeat(bytes),
            at: Timestamp::EPOCH,
            policy: CachePolicy {
                scope: CacheScope::Session,
                ttl: None,
            },
            trust: None,
            listeners: None,
        }
    }

    #[test]
    fn the_last_results_are_kept_within_both_bounds() {
        for (bytes, kept) in [(10, KEPT), (BYTES_KEPT / 4, 4), (BYTES_KEPT + 1, 0)] {
            let mut cached = CachedResults::default();
            for number in 0..40 {
                cached.take_in(result(number, bytes));
                cached.take_in(result(number, bytes));
            }
            let expected: VecDeque<_> = (40 - kept..40).map(|n| result(n, bytes)).collect();
            assert_eq!(cached.0, expected, "{bytes} bytes each");
        }
    }

    #[test]
    fn a_result_from_the_future_is_not_used() {
        let mut known = result(1, 1);
        known.at = Timestamp::from_micros(5);
        assert!(known.is_fresh(Timestamp::from_micros(5)));
        assert!(!known.is_fresh(Timestamp::from_micros(4)));
    }
}
