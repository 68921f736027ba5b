//! One reply of the corpus.

use std::{
    collections::BTreeSet,
    future::Future as _,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use dormouse_contracts::{
    BoxStream, CallId, ChatDelta, ChatModel, ChatReply, ChatRequest, FinishReason, ModelError,
    ModelErrorKind, ModelName, ProviderId, ReplyInfo, RequestField, complete,
};
use futures_core::Stream;
use serde::Deserialize;
use serde_json::Value;

use crate::{Anomaly, CallFormat, Content, ParsedReply, ToolCalling, parse_reply};

/// A reply and its expected result.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusCase {
    /// A short description, unique in its family.
    pub name: String,
    /// How the tools were offered.
    pub mode: CorpusMode,
    /// The names of the offered tools.
    #[serde(default = "usual_tools")]
    pub offered: Vec<String>,
    /// The reply, in the pieces in which it arrives.
    pub pieces: Vec<Piece>,
    /// How many calls the model meant to make. It is larger than the number of parsed calls if some cannot be parsed or
    /// must be rejected.
    #[serde(default)]
    pub meant: usize,
    /// The expected result.
    pub expect: ExpectedReply,
}

/// How tools were offered in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorpusMode {
    /// Natively.
    Native,
    /// In the text.
    Fallback,
    /// In both ways, with the same result.
    Both,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Piece {
    /// More text.
    Text(String),
    /// More thoughts, in the provider's own field.
    Reasoning(String),
    /// A native call starts: its number and name.
    Call(usize, String),
    /// More arguments of a native call: its number and the fragment.
    Arguments(usize, String),
    /// The provider left this field out of the request.
    LeftOut(RequestField),
    /// The model stopped.
    Finish(FinishReason),
}

/// The expected result of a reply.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExpectedReply {
    /// The calls: name, and arguments as JSON, or as text if they are not valid JSON. Empty if the reply contains no
    /// accepted call.
    pub calls: Vec<(String, Value)>,
    /// The text, if the reply is text.
    pub text: Option<String>,
    /// Otherwise the outcome: `clipped` (in addition to the text), `thoughts_only`, `empty`, `cut_off`, `filtered`,
    /// `unreadable`.
    pub outcome: Option<String>,
    /// The thoughts in the text.
    pub thoughts: String,
    /// The format of the first printed call.
    pub form: Option<CallFormat>,
    /// The anomalies.
    pub anomalies: BTreeSet<Anomaly>,
}

fn usual_tools() -> Vec<String> {
    ["say", "look", "noop"].map(str::to_owned).to_vec()
}

impl CorpusCase {
    /// The ways in which the tools may be offered.
    #[must_use]
    pub fn callings(&self) -> Vec<ToolCalling> {
        match self.mode {
            CorpusMode::Native => vec![ToolCalling::Native],
            CorpusMode::Fallback => vec![ToolCalling::Fallback],
            CorpusMode::Both => vec![ToolCalling::Native, ToolCalling::Fallback],
        }
    }

    /// Whether a tool of that name is offered.
    #[must_use]
    pub fn offers(&self, name: &str) -> bool {
        self.offered.iter().any(|offered| offered == name)
    }

    /// The pieces as the deltas of a model's stream.
    #[must_use]
    pub fn deltas(&self) -> Vec<ChatDelta> {
        self.pieces.iter().filter_map(Piece::delta).collect()
    }

    /// The whole reply, assembled by [`complete`].
    ///
    /// # Errors
    ///
    /// As [`complete`]: [`ModelErrorKind::Interrupted`] for a reply without an end, [`ModelErrorKind::Malformed`] for
    /// arguments of a call that never started.
    pub fn reply(&self) -> Result<ChatReply, ModelErrorKind> {
        let playback = CaseModel::of(self.deltas());
        let request = ChatRequest::default();
        let mut whole = pin!(complete(&playback, &request));
        let mut context = Context::from_waker(Waker::noop());
        match whole.as_mut().poll(&mut context) {
            Poll::Ready(reply) => reply.map_err(|error| error.kind()),
            // The stream is always ready, so one poll completes it.
            Poll::Pending => Err(ModelErrorKind::TimedOut),
        }
    }

    /// Parses the reply.
    ///
    /// # Errors
    ///
    /// As [`reply`](Self::reply).
    pub fn reading(&self, calling: ToolCalling) -> Result<ParsedReply, ModelErrorKind> {
        Ok(parse_reply(&self.reply()?, calling, |name| {
            self.offers(name)
        }))
    }
}

impl Piece {
    fn delta(&self) -> Option<ChatDelta> {
        Some(match self {
            Self::Text(text) => ChatDelta::Text(text.clone()),
            Self::Reasoning(text) => ChatDelta::Reasoning(text.clone()),
            Self::Call(index, name) => ChatDelta::CallStart {
                index: *index,
                id: CallId::try_new(format!("call_{index}")).ok()?,
                name: name.clone(),
            },
            Self::Arguments(index, fragment) => ChatDelta::CallArguments {
                index: *index,
                fragment: fragment.clone(),
            },
            Self::LeftOut(field) => ChatDelta::Info(Box::new(ReplyInfo {
                provider: ProviderId::try_new("corpus").ok()?,
                model: ModelName::try_new("corpus").ok()?,
                served_model: None,
                request_id: None,
                rate_limits: dormouse_contracts::RateLimits::default(),
                left_out: vec![field.clone()],
            })),
            Self::Finish(reason) => ChatDelta::Finished(reason.clone()),
        })
    }
}

impl ExpectedReply {
    /// The result of parsing, in the terms of the corpus.
    #[must_use]
    pub fn of(reading: &ParsedReply) -> Self {
        let calls = reading.calls().iter().map(|call| {
            let arguments = serde_json::from_str(&call.arguments);
            let arguments = arguments.unwrap_or_else(|_| Value::String(call.arguments.clone()));
            (call.name.clone(), arguments)
        });
        let (text, outcome) = match &reading.content {
            Content::Calls(_) => (None, None),
            Content::Text(text) => (Some(text.clone()), None),
            Content::ClippedText(text) => (Some(text.clone()), Some("clipped")),
            Content::ThoughtsOnly => (None, Some("thoughts_only")),
            Content::Empty => (None, Some("empty")),
            Content::CutOff => (None, Some("cut_off")),
            Content::Filtered => (None, Some("filtered")),
            Content::Unreadable => (None, Some("unreadable")),
        };
        Self {
            calls: calls.collect(),
            text,
            outcome: outcome.map(str::to_owned),
            thoughts: reading.thoughts.clone(),
            form: reading.signs.form,
            anomalies: reading.signs.anomalies.clone(),
        }
    }
}

/// A model that gives a single reply.
struct CaseModel {
    provider: ProviderId,
    model: ModelName,
    deltas: Vec<ChatDelta>,
}

struct CaseDeltas(std::vec::IntoIter<ChatDelta>);

impl Stream for CaseDeltas {
    type Item = Result<ChatDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}

impl CaseModel {
    #[expect(clippy::expect_used, reason = "a constant that a test covers")]
    fn of(deltas: Vec<ChatDelta>) -> Self {
        Self {
            provider: ProviderId::try_new("corpus").expect("a provider id"),
            model: ModelName::try_new("corpus").expect("a model name"),
            deltas,
        }
    }
}

impl ChatModel for CaseModel {
    fn stream<'a>(&'a self, _: &'a ChatRequest) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        Box::pin(CaseDeltas(self.deltas.clone().into_iter()))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.model)
    }
}
