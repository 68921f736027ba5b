//! Acts that a person has to confirm, until they are done, refused or expired.

use dormouse_contracts::{FORGOTTEN, Seq, Timestamp};
use dormouse_text::{beginning, escape_template_tokens, one_line};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::trigger::{Occasion, OccasionKind};
use crate::event::{ApprovalAnswer, ApprovalAnswered, ApprovalRequested, Event};

/// The most characters of an act that the prompt shows.
const SHOWN: usize = 2_000;

/// Acts that a person has to confirm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Approvals(Vec<Approval>);

/// An act that a person has to confirm, or has confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Its number: the place in the log of the event that asked for it.
    pub seq: Seq,
    /// When the assistant asked for confirmation.
    pub at: Timestamp,
    /// What the assistant wants to do.
    pub request: ApprovalRequested,
    /// Who confirmed it, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_by: Option<String>,
}

impl Approvals {
    /// The maximum number of acts that wait. Further ones are refused.
    pub const MOST: usize = 20;

    /// Folds one event in. Returns the occasion for a turn if the event is a person's answer.
    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) -> Option<Occasion> {
        match event {
            Event::ApprovalRequested(request) => {
                self.0.retain(|approval| approval.is_open(at));
                self.0.push(Approval {
                    seq,
                    at,
                    request: request.clone(),
                    allowed_by: None,
                });
            }
            Event::ApprovalAnswered(answered) => return self.answered(seq, at, answered),
            Event::EffectIntended(intended) => {
                if let Some(used) = intended.approval {
                    self.0.retain(|approval| approval.seq != used);
                }
            }
            _ => {}
        }
        None
    }

    fn answered(
        &mut self,
        seq: Seq,
        at: Timestamp,
        answered: &ApprovalAnswered,
    ) -> Option<Occasion> {
        let mut open = self.0.iter();
        let place = open.position(|it| it.seq == answered.approval && it.waits(at))?;
        let approval = match answered.answer {
            ApprovalAnswer::Denied => self.0.remove(place),
            ApprovalAnswer::Allowed => {
                let approval = self.0.get_mut(place)?;
                approval.allowed_by = Some(answered.by.clone());
                approval.clone()
            }
        };
        Some(approval.occasion(seq, at, answered))
    }

    /// The acts that are neither done nor refused at `now`, the oldest first.
    pub fn open(&self, now: Timestamp) -> impl Iterator<Item = &Approval> {
        self.0.iter().filter(move |approval| approval.is_open(now))
    }

    /// The acts that wait for an answer at `now`, the oldest first.
    pub fn waiting(&self, now: Timestamp) -> impl Iterator<Item = &Approval> {
        let waiting = self.0.iter().filter(move |approval| approval.waits(now));
        waiting.filter(|approval| !approval.is_forgotten())
    }
}

impl Approval {
    fn is_open(&self, now: Timestamp) -> bool {
        // If `now` is before the request, the clock was set back, and the request would be valid for too long.
        self.at <= now && now < self.request.expires_at
    }

    /// Whether the words of the act were forgotten. Then nobody could know what they confirm.
    fn is_forgotten(&self) -> bool {
        self.request.digest == FORGOTTEN
    }

    fn waits(&self, now: Timestamp) -> bool {
        self.allowed_by.is_none() && self.is_open(now)
    }

    /// The act as text: the tool and its arguments.
    #[must_use]
    pub fn act(&self) -> String {
        let arguments = Value::Object(self.request.arguments.clone());
        format!("{} {arguments}", self.request.tool)
    }

    fn occasion(&self, seq: Seq, at: Timestamp, answered: &ApprovalAnswered) -> Occasion {
        let shown = |text: &str| {
            let text = escape_template_tokens(beginning(text, SHOWN));
            one_line(&text)
        };
        let (by, act) = (shown(&answered.by), shown(&self.act()));
        let reason = answered.reason.as_deref().map(shown);
        let reason = reason.map_or_else(String::new, |reason| format!(" The reason: {reason}"));
        let text = match answered.answer {
            ApprovalAnswer::Allowed => format!(
                "({by} confirmed what you wanted to do: {act}.{reason} Make this call now, with exactly these arguments. Any \
                 other call would have to be confirmed again.)"
            ),
            ApprovalAnswer::Denied => {
                format!("({by} refused what you wanted to do: {act}.{reason} Do not do it.)")
            }
        };
        Occasion {
            task: None,
            seq,
            at,
            kind: OccasionKind::ApprovalAnswered,
            // No tokenizer makes more tokens than bytes.
            tokens: u32::try_from(text.len()).unwrap_or(u32::MAX),
            text,
            trust: self.request.trust,
            goal: None,
            promise: None,
            name: String::new(),
            audience: self.request.audience.clone(),
        }
    }
}
