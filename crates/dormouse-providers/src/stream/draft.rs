//! A reply in the making.

use std::collections::VecDeque;

use dormouse_contracts::{CallId, ChatDelta, FinishReason, ReplyInfo};

use super::counts::Counts;
use crate::http::{Complaint, Failure, Redact};

/// The most that a reply may say, texts, thoughts, names and arguments together, in bytes. Some 60 000 tokens: more than models
/// write at once, and little enough to be kept, counted and shown again.
pub(crate) const REPLY_LIMIT: usize = 256 * 1024;

/// The most tool calls of one reply.
const CALL_LIMIT: usize = 128;

/// The longest name of a model that is kept, in bytes.
const NAME_LIMIT: usize = 256;

/// A reply in the making, within its bounds. It knows no network and no vendor: a decoder tells what came, and
/// pieces of the reply come out.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Made part of ids that the server leaves out, so that those of two replies differ.
    place: usize,
    ready: VecDeque<ChatDelta>,
    /// The server's ids of the calls that have begun; empty where it gave none.
    calls: Vec<String>,
    bytes: usize,
    finished: bool,
    closed: bool,
    counts: Counts,
    info: ReplyInfo,
    redact: Redact,
}

impl Draft {
    /// The reply to a conversation of `place` messages.
    pub(crate) fn new(place: usize, info: ReplyInfo, redact: Redact) -> Self {
        Self {
            place,
            ready: VecDeque::from([ChatDelta::Info(Box::new(info.clone()))]),
            calls: Vec::new(),
            bytes: 0,
            finished: false,
            closed: false,
            counts: Counts::default(),
            info,
            redact,
        }
    }

    /// The next piece that is ready.
    pub(crate) fn next(&mut self) -> Option<ChatDelta> {
        self.ready.pop_front()
    }

    /// Has the server said that the reply is finished?
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Is nothing more to come?
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// What takes the key out of what the server says.
    pub(crate) fn redact(&self) -> &Redact {
        &self.redact
    }

    /// How many calls have begun.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// More text.
    pub(crate) fn text(&mut self, text: String) -> Result<(), Failure> {
        if !text.is_empty() {
            self.weigh(text.len())?;
            self.say(ChatDelta::Text(text));
        }
        Ok(())
    }

    /// More of what the model thinks.
    pub(crate) fn reasoning(&mut self, text: String) -> Result<(), Failure> {
        if !text.is_empty() {
            self.weigh(text.len())?;
            self.say(ChatDelta::Reasoning(text));
        }
        Ok(())
    }

    /// A call begins; its index is answered. Where the server gives no id, or one that it has given to another call of this
    /// reply or that cannot be kept, the call gets one of ours.
    pub(crate) fn begin_call(&mut self, id: &str, name: String) -> Result<usize, Failure> {
        let index = self.calls.len();
        if index >= CALL_LIMIT {
            return Err(Failure::TooMuch {
                what: "tool calls",
                limit: CALL_LIMIT,
            });
        }
        self.weigh(name.len())?;
        let is_new = !id.is_empty() && !self.calls.iter().any(|given| given == id);
        let given = is_new.then(|| CallId::try_new(id).ok()).flatten();
        let id_of_ours = || CallId::try_new(format!("call_{}_{index}", self.place));
        let call = match given {
            Some(id) => id,
            None => id_of_ours().map_err(|error| self.unreadable(&error.to_string()))?,
        };
        self.calls.push(id.to_owned());
        self.say(ChatDelta::CallStart {
            index,
            id: call,
            name,
        });
        Ok(index)
    }

    /// More arguments of a call that has begun.
    pub(crate) fn arguments(&mut self, index: usize, fragment: String) -> Result<(), Failure> {
        if !fragment.is_empty() {
            self.weigh(fragment.len())?;
            self.say(ChatDelta::CallArguments { index, fragment });
        }
        Ok(())
    }

    /// The model stopped. Only the first reason counts.
    pub(crate) fn finish(&mut self, reason: FinishReason) {
        if !std::mem::replace(&mut self.finished, true) {
            let reason = match reason {
                FinishReason::Other(words) => FinishReason::Other(self.redact.line(&words)),
                known => known,
            };
            self.ready.push_back(ChatDelta::Finished(reason));
        }
    }

    /// What the server counted; what it says later wins.
    pub(crate) fn count(&mut self, counts: Counts) {
        self.counts = self.counts.updated(counts);
    }

    /// Which model the server says it used.
    pub(crate) fn served_by(&mut self, model: &str) {
        if self.info.served_model.is_none() && !model.is_empty() && model.len() <= NAME_LIMIT {
            self.info.served_model = Some(self.redact.line(model));
        }
    }

    /// The server's name for the request, where no header told it.
    pub(crate) fn request_id(&mut self, id: &str) {
        if self.info.request_id.is_none() && !id.is_empty() && id.len() <= NAME_LIMIT {
            self.info.request_id = Some(self.redact.line(id));
        }
    }

    /// The server says that this was all.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Nothing more is read: tells what was counted, and what is known now.
    pub(crate) fn end(&mut self) {
        self.closed = true;
        let usage = self.counts.usage().map(ChatDelta::Usage);
        self.ready.extend(usage);
        self.ready
            .push_back(ChatDelta::Info(Box::new(self.info.clone())));
    }

    /// The failure of an event that cannot be read, for this reason.
    pub(crate) fn unreadable(&self, why: &str) -> Failure {
        Failure::Unreadable(Complaint::of(why, &self.redact))
    }

    /// A piece of the reply. What is said behind its finish is no part of it.
    fn say(&mut self, piece: ChatDelta) {
        if !self.finished {
            self.ready.push_back(piece);
        }
    }

    fn weigh(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > REPLY_LIMIT {
            return Err(Failure::TooMuch {
                what: "bytes",
                limit: REPLY_LIMIT,
            });
        }
        Ok(())
    }
}

/// A draft for the tests of those who read into it.
#[cfg(test)]
pub(crate) fn draft_to_try() -> Draft {
    let info = ReplyInfo {
        provider: "local".parse().unwrap(),
        model: "tiny".parse().unwrap(),
        served_model: None,
        request_id: None,
        rate_limits: dormouse_contracts::RateLimits::default(),
        left_out: Vec::new(),
    };
    Draft::new(3, info, Redact::default())
}
