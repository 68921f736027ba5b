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

use crate::{Content, Form, Oddity, Reading, ToolCalling, read};

/// One reply, and how it is to be read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it is, in a few words; unique in its family.
    pub name: String,
    /// How the tools were offered.
    pub mode: Mode,
    /// The names of the tools that were offered.
    #[serde(default = "usual_tools")]
    pub offered: Vec<String>,
    /// The reply, piece by piece as it arrives.
    pub pieces: Vec<Piece>,
    /// How many calls the model meant to make. It is more than are read where nothing can be made of them, or where they
    /// must not be taken.
    #[serde(default)]
    pub meant: usize,
    /// What is read.
    pub expect: Expected,
}

/// How tools were offered in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Natively.
    Native,
    /// In the text.
    Fallback,
    /// It makes no difference.
    Both,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Piece {
    /// More text.
    Text(String),
    /// More thoughts, as the provider tells them.
    Reasoning(String),
    /// A native call begins: its number and name.
    Call(usize, String),
    /// More of the arguments of a native call: its number and the fragment.
    Arguments(usize, String),
    /// The provider left this out of the request.
    LeftOut(RequestField),
    /// The model stopped.
    Finish(FinishReason),
}

/// How a reply is to be read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expected {
    /// The calls: name, and arguments as JSON, or as text where they are none. Empty where there is something else.
    pub calls: Vec<(String, Value)>,
    /// The text, where it is text.
    pub text: Option<String>,
    /// In one word what it is, where it is neither: `clipped` (besides the text), `thoughts_only`, `empty`, `cut_off`,
    /// `filtered`, `unreadable`.
    pub outcome: Option<String>,
    /// The thoughts that stood in the text.
    pub thoughts: String,
    /// The form of the first printed call.
    pub form: Option<Form>,
    /// What was odd.
    pub oddities: BTreeSet<Oddity>,
}

fn usual_tools() -> Vec<String> {
    ["say", "look", "noop"].map(str::to_owned).to_vec()
}

impl Case {
    /// The ways in which the tools may have been offered.
    #[must_use]
    pub fn callings(&self) -> Vec<ToolCalling> {
        match self.mode {
            Mode::Native => vec![ToolCalling::Native],
            Mode::Fallback => vec![ToolCalling::Fallback],
            Mode::Both => vec![ToolCalling::Native, ToolCalling::Fallback],
        }
    }

    /// Whether a tool of that name was offered.
    #[must_use]
    pub fn offers(&self, name: &str) -> bool {
        self.offered.iter().any(|offered| offered == name)
    }

    /// The pieces as a model's stream would bring them.
    #[must_use]
    pub fn deltas(&self) -> Vec<ChatDelta> {
        self.pieces.iter().filter_map(Piece::delta).collect()
    }

    /// The whole reply, put together as every other is.
    ///
    /// # Errors
    ///
    /// As [`complete`]: [`ModelErrorKind::Interrupted`] for a reply without an end, [`ModelErrorKind::Malformed`] for
    /// arguments of a call that never began.
    pub fn reply(&self) -> Result<ChatReply, ModelErrorKind> {
        let playback = Playback::of(self.deltas());
        let request = ChatRequest::default();
        let mut whole = pin!(complete(&playback, &request));
        let mut context = Context::from_waker(Waker::noop());
        match whole.as_mut().poll(&mut context) {
            Poll::Ready(reply) => reply.map_err(|error| error.kind()),
            // Nothing in it waits.
            Poll::Pending => Err(ModelErrorKind::TimedOut),
        }
    }

    /// Reads the reply.
    ///
    /// # Errors
    ///
    /// As [`reply`](Self::reply).
    pub fn reading(&self, calling: ToolCalling) -> Result<Reading, ModelErrorKind> {
        Ok(read(&self.reply()?, calling, |name| self.offers(name)))
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

impl Expected {
    /// What a reading comes to, in the words of the corpus.
    #[must_use]
    pub fn of(reading: &Reading) -> Self {
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
            oddities: reading.signs.oddities.clone(),
        }
    }
}

/// A model that gives one reply.
struct Playback {
    provider: ProviderId,
    model: ModelName,
    deltas: Vec<ChatDelta>,
}

struct Deltas(std::vec::IntoIter<ChatDelta>);

impl Stream for Deltas {
    type Item = Result<ChatDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}

impl Playback {
    #[expect(clippy::expect_used, reason = "a constant that a test covers")]
    fn of(deltas: Vec<ChatDelta>) -> Self {
        Self {
            provider: ProviderId::try_new("corpus").expect("a provider id"),
            model: ModelName::try_new("corpus").expect("a model name"),
            deltas,
        }
    }
}

impl ChatModel for Playback {
    fn stream<'a>(&'a self, _: &'a ChatRequest) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        Box::pin(Deltas(self.deltas.clone().into_iter()))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.model)
    }
}
