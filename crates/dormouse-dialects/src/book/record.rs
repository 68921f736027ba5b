//! The evidence about one model.

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Anomaly, ProbeVerdict, Signs, ToolCalling};

/// The evidence for how tools are offered to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Evidence {
    /// No evidence. The default is [`ToolCalling::Native`].
    None,
    /// The result of a probe.
    Probed(ProbeVerdict),
    /// The model printed calls in this many replies in a row, although tools were offered natively.
    PrintedCalls(u32),
    /// The model made native calls in this many replies in a row, although tools were offered in the text: its server
    /// converts printed calls.
    NativeCalls(u32),
    /// The provider left the tools out of the request, because it or the model does not support them.
    ToolsLeftOut,
}

/// What is known about one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learnt {
    /// How tools should be offered to the model.
    pub calling: ToolCalling,
    /// The evidence.
    pub evidence: Evidence,
    /// The time of the evidence; `None` without evidence.
    pub since: Option<Timestamp>,
}

/// How many replies in a row show that tools are offered to a model in the wrong way.
const ENOUGH: u32 = 2;
/// The number of replies is multiplied by this factor if the model has made native calls before.
const PROVEN: u32 = 2;
/// The number of replies is doubled at most this often. No model produces that many replies.
const DOUBLINGS: u32 = 24;

/// The evidence about one model. Records are ordered by the time of the last reply; the other fields only make the
/// order total, so that merging is well defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct ModelRecord {
    seen_at: Timestamp,
    calling: ToolCalling,
    evidence: Evidence,
    since: Timestamp,
    /// How many decisions replies have caused since the last probe.
    #[serde(default)]
    decisions: u32,
    /// Replies with native calls since the last probe, while tools were offered natively.
    #[serde(default)]
    native: u32,
    /// Replies in a row that contradict the way tools are offered.
    #[serde(default)]
    against: u32,
}

impl ModelRecord {
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
            // The request was sent before the last change, so its reply is no evidence about the current way of
            // offering tools.
            return;
        }
        let against = match offered {
            ToolCalling::Native if signs.has(Anomaly::ToolsLeftOut) => {
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
        // `against` counts replies in a row; a reply without any call neither adds to it nor resets it.
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

    /// How many replies in a row cause a change.
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
