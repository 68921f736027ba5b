//! One request with a time limit, and how its reply arrived.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatReply, ChatRequest, Message, ModelError, ModelErrorKind,
    ModelName, ProviderId, ToolChoice, complete,
};
use dormouse_dialects::{ProbeVerdict, ToolProbe};
use futures_util::StreamExt;
use tokio::time::{Instant, timeout};

use crate::exit::Report;

/// Why there was no reply.
#[derive(Debug)]
pub(crate) enum Silence {
    /// The model failed.
    Failed(ModelError),
    /// It took longer than the limit.
    TooLong(Duration),
}

impl Silence {
    fn kind(&self) -> ModelErrorKind {
        match self {
            Self::Failed(error) => error.kind(),
            Self::TooLong(_) => ModelErrorKind::TimedOut,
        }
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "{}", Report(error)),
            Self::TooLong(limit) => write!(f, "no answer within {} s", limit.as_secs()),
        }
    }
}

/// The result of a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(super) outcome: Result<ChatReply, Silence>,
    /// When the first piece arrived, if one did.
    pub(super) first: Option<Duration>,
    /// How long the whole request took.
    pub(super) whole: Duration,
    /// In how many pieces text and thoughts arrived.
    pub(super) pieces: u32,
}

impl Answer {
    pub(crate) fn reply(&self) -> Option<&ChatReply> {
        self.outcome.as_ref().ok()
    }
}

/// Asks once, without retries.
pub(super) async fn ask(model: &dyn ChatModel, request: &ChatRequest, limit: Duration) -> Answer {
    let timed = Timed {
        model,
        began: Instant::now(),
        seen: Mutex::default(),
    };
    let outcome = match timeout(limit, complete(&timed, request)).await {
        Ok(reply) => reply.map_err(Silence::Failed),
        Err(_) => Err(Silence::TooLong(limit)),
    };
    let whole = timed.began.elapsed();
    let Seen { first, pieces } = timed
        .seen
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    Answer {
        outcome,
        first,
        whole,
        pieces,
    }
}

/// Asks for one word.
pub(crate) async fn one_word(model: &dyn ChatModel, limit: Duration) -> Result<(), Silence> {
    let request = ChatRequest {
        messages: vec![Message::User {
            content: "Say: tea".to_owned(),
        }],
        tool_choice: ToolChoice::None,
        max_tokens: Some(16),
        ..ChatRequest::default()
    };
    ask(model, &request, limit).await.outcome.map(drop)
}

/// The result of a probe of the tools.
#[derive(Debug)]
pub(crate) struct Probed {
    pub(crate) verdict: ProbeVerdict,
    /// The answers of the probe, one or two.
    pub(super) answers: Vec<Answer>,
}

impl Probed {
    /// Why the probe was inconclusive, if that is known.
    pub(crate) fn failure(&self) -> Option<String> {
        let last = self.answers.last()?.outcome.as_ref();
        Some(last.err()?.to_string())
    }
}

/// Asks for a tool call. If the model makes no native one, asks again and forces a call. Some servers crash on a forced
/// call.
pub(crate) async fn probe_tools(model: &dyn ChatModel, limit: Duration) -> Probed {
    let mut answers = Vec::new();
    let mut verdict = ProbeVerdict::Inconclusive;
    for probe in [ToolProbe::Auto, ToolProbe::Required] {
        let answer = ask(model, &probe.request(), limit).await;
        let shown = probe.judge(answer.outcome.as_ref().map_err(Silence::kind));
        let failed = answer.outcome.is_err();
        answers.push(answer);
        let is_last_word = matches!(
            shown,
            ProbeVerdict::NativeWorks | ProbeVerdict::PrintsCalls | ProbeVerdict::IgnoresTools
        );
        // If a server rejects the forced call, the first result still counts.
        if probe == ToolProbe::Auto || is_last_word {
            verdict = shown;
        }
        if failed || verdict == ProbeVerdict::NativeWorks {
            break;
        }
    }
    Probed { verdict, answers }
}

/// A model that records when its replies arrive.
struct Timed<'a> {
    model: &'a dyn ChatModel,
    began: Instant,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    first: Option<Duration>,
    pieces: u32,
}

impl Timed<'_> {
    fn see(&self, delta: &Result<ChatDelta, ModelError>) {
        let is_piece = match delta {
            Ok(ChatDelta::Text(_) | ChatDelta::Reasoning(_)) => true,
            Ok(ChatDelta::CallStart { .. } | ChatDelta::CallArguments { .. }) => false,
            _ => return,
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.first.get_or_insert(self.began.elapsed());
        seen.pieces = seen.pieces.saturating_add(is_piece.into());
    }
}

impl ChatModel for Timed<'_> {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        Box::pin(self.model.stream(request).inspect(|delta| self.see(delta)))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.model.identity()
    }
}
