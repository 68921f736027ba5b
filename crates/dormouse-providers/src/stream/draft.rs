//! A reply under construction.

use std::collections::VecDeque;

use dormouse_contracts::{CallId, ChatDelta, FinishReason, ReplyInfo};

use dormouse_text::beginning;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::counts::TokenCounts;
use crate::http::{ErrorBody, Failure, Redact};

/// The maximum size of a reply in bytes: texts, thoughts, names and arguments together. About 60,000 tokens: more than
/// models write at once, and small enough to store, count and display.
pub(crate) const REPLY_LIMIT: usize = 256 * 1024;

/// The maximum number of tool calls in a reply.
const CALL_LIMIT: usize = 128;

/// The longest finish reason that is kept, in characters.
const REASON_LIMIT: usize = 64;

/// The longest model name that is kept, in bytes.
const NAME_LIMIT: usize = 256;

/// A reply under construction, with limits on its size. A vendor's decoder writes into it, and [`next`](Self::next)
/// returns the deltas.
#[derive(Debug)]
pub(crate) struct Draft {
    /// The number of messages in the conversation. It is part of generated call ids, so that they differ between
    /// replies.
    place: usize,
    ready: VecDeque<ChatDelta>,
    /// The server's ids of the calls so far; empty if it sent none.
    calls: Vec<String>,
    bytes: usize,
    finished: bool,
    closed: bool,
    counts: TokenCounts,
    info: ReplyInfo,
    redact: Redact,
}

impl Draft {
    /// Starts a reply to a conversation of `place` messages.
    pub(crate) fn new(place: usize, info: ReplyInfo, redact: Redact) -> Self {
        Self {
            place,
            ready: VecDeque::from([ChatDelta::Info(Box::new(info.clone()))]),
            calls: Vec::new(),
            bytes: 0,
            finished: false,
            closed: false,
            counts: TokenCounts::default(),
            info,
            redact,
        }
    }

    /// Returns the next delta that is ready.
    pub(crate) fn next(&mut self) -> Option<ChatDelta> {
        self.ready.pop_front()
    }

    /// Whether the server finished the reply.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether the server announced the end of the stream.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the redactor that removes the key from server texts.
    pub(crate) fn redact(&self) -> &Redact {
        &self.redact
    }

    /// Returns the number of calls so far.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Adds text.
    pub(crate) fn text(&mut self, text: String) -> Result<(), Failure> {
        if !text.is_empty() {
            self.weigh(text.len())?;
            self.say(ChatDelta::Text(text));
        }
        Ok(())
    }

    /// Adds thoughts.
    pub(crate) fn reasoning(&mut self, text: String) -> Result<(), Failure> {
        if !text.is_empty() {
            self.weigh(text.len())?;
            self.say(ChatDelta::Reasoning(text));
        }
        Ok(())
    }

    /// Starts a call and returns its index. If the server sends no id, a repeated one or an invalid one, an id is
    /// generated.
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

    /// Adds a fragment of arguments to a call.
    pub(crate) fn arguments(&mut self, index: usize, fragment: String) -> Result<(), Failure> {
        if !fragment.is_empty() {
            self.weigh(fragment.len())?;
            self.say(ChatDelta::CallArguments { index, fragment });
        }
        Ok(())
    }

    /// Finishes the reply. Only the first reason counts.
    pub(crate) fn finish(&mut self, reason: FinishReason) {
        if !std::mem::replace(&mut self.finished, true) {
            let reason = match reason {
                FinishReason::Other(words) => {
                    let words = self.redact.line(&words);
                    FinishReason::Other(beginning(&words, REASON_LIMIT).to_owned())
                }
                known => known,
            };
            self.ready.push_back(ChatDelta::Finished(reason));
        }
    }

    /// Updates the token counts. Newer numbers replace older ones.
    pub(crate) fn count(&mut self, counts: TokenCounts) {
        self.counts = self.counts.updated(counts);
    }

    /// Sets the model that the server reports.
    pub(crate) fn served_by(&mut self, model: &str) {
        if self.info.served_model.is_none() && !model.is_empty() && model.len() <= NAME_LIMIT {
            self.info.served_model = Some(self.redact.line(model));
        }
    }

    /// Sets the server's id of the request, if there was none in the headers.
    pub(crate) fn request_id(&mut self, id: &str) {
        if self.info.request_id.is_none() && !id.is_empty() && id.len() <= NAME_LIMIT {
            self.info.request_id = Some(self.redact.line(id));
        }
    }

    /// Records that the server announced the end of the stream.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Ends the reply: passes on the usage and the final metadata.
    pub(crate) fn end(&mut self) {
        self.closed = true;
        let usage = self.counts.usage().map(ChatDelta::Usage);
        self.ready.extend(usage);
        self.ready
            .push_back(ChatDelta::Info(Box::new(self.info.clone())));
    }

    /// Parses the data of an event.
    pub(crate) fn parse<T: DeserializeOwned>(&self, data: &[u8]) -> Result<T, Failure> {
        super::json::read(data).map_err(|error| self.unreadable(&error.to_string()))
    }

    /// The error to return for an invalid event.
    pub(crate) fn unreadable(&self, why: &str) -> Failure {
        Failure::Unreadable(ErrorBody::of(why, &self.redact))
    }

    /// The error to return for a reply that the server ended with this error.
    pub(crate) fn broken_off(&self, error: &Value) -> Failure {
        Failure::BrokenOff(ErrorBody::from_json(error, &self.redact))
    }

    /// Adds a delta, unless the reply is finished.
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
