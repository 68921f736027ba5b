//! What was seen of one model.

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Evidence, Learnt};
use crate::{Oddity, ProbeVerdict, Signs, ToolCalling};

/// Replies in a row that show that a model is asked for calls in the wrong way.
const ENOUGH: u32 = 2;
/// How much more it takes of a model that has made native calls before.
const PROVEN: u32 = 2;
/// No more doublings than this; more replies than that nobody gets.
const DOUBLINGS: u32 = 24;

/// What was seen of one model. They are ordered by when that was; the rest of the order only makes merging well defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Record {
    seen_at: Timestamp,
    calling: ToolCalling,
    evidence: Evidence,
    since: Timestamp,
    /// How many decisions by replies there were since the last probe.
    #[serde(default)]
    decisions: u32,
    /// Replies with native calls, since the last probe, where tools were offered natively.
    #[serde(default)]
    native: u32,
    /// Replies in a row that speak against the way tools are offered.
    #[serde(default)]
    against: u32,
}

impl Record {
    pub(super) fn new(at: Timestamp) -> Self {
        Self {
            seen_at: at,
            calling: ToolCalling::default(),
            evidence: Evidence::None,
            since: at,
            decisions: 0,
            native: 0,
            against: 0,
        }
    }

    pub(super) fn seen_at(&self) -> Timestamp {
        self.seen_at
    }

    pub(super) fn learnt(&self) -> Learnt {
        Learnt {
            calling: self.calling,
            evidence: self.evidence,
            since: (self.evidence != Evidence::None).then_some(self.since),
        }
    }

    pub(super) fn probed(&mut self, verdict: ProbeVerdict, calling: ToolCalling, at: Timestamp) {
        *self = Self {
            seen_at: self.seen_at.max(at),
            calling,
            evidence: Evidence::Probed(verdict),
            since: at,
            decisions: 0,
            native: u32::from(verdict == ProbeVerdict::NativeWorks),
            against: 0,
        };
    }

    pub(super) fn observe(&mut self, signs: &Signs, offered: ToolCalling, at: Timestamp) {
        self.seen_at = self.seen_at.max(at);
        if offered != self.calling {
            // It was asked before something was learnt; that is no answer to the way it is asked now.
            return;
        }
        let against = match offered {
            ToolCalling::Native if signs.has(Oddity::ToolsLeftOut) => {
                self.decide(Evidence::ToolsLeftOut, at);
                return;
            }
            ToolCalling::Native if signs.native > 0 => {
                self.native = self.native.saturating_add(1);
                Some(false)
            }
            ToolCalling::Native => (signs.printed > 0).then_some(true),
            ToolCalling::Fallback if signs.native > 0 => Some(true),
            ToolCalling::Fallback => (signs.printed > 0).then_some(false),
        };
        match against {
            Some(true) => self.against = self.against.saturating_add(1),
            Some(false) => self.against = 0,
            None => {}
        }
        if self.against >= self.enough() {
            let evidence = match offered {
                ToolCalling::Native => Evidence::PrintedCalls(self.against),
                ToolCalling::Fallback => Evidence::NativeCalls(self.against),
            };
            self.decide(evidence, at);
        }
    }

    /// How many replies in a row decide.
    fn enough(&self) -> u32 {
        let is_proven = self.calling == ToolCalling::Native && self.native > 0;
        let base = if is_proven { ENOUGH * PROVEN } else { ENOUGH };
        base << self.decisions.min(DOUBLINGS)
    }

    fn decide(&mut self, evidence: Evidence, at: Timestamp) {
        self.calling = match self.calling {
            ToolCalling::Native => ToolCalling::Fallback,
            ToolCalling::Fallback => ToolCalling::Native,
        };
        self.evidence = evidence;
        self.since = at;
        self.decisions = self.decisions.saturating_add(1);
        self.against = 0;
    }
}
