//! The suite for adapters passes on a faithful one, and catches each that breaks a promise.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    BoxFuture, BoxStream, ChatDelta, ChatModel, ChatRequest, FinishReason, ModelError,
    ModelErrorKind, ModelName, ProviderId, RateLimits, ReplyInfo, Usage,
};
use dormouse_testing::conformance::{
    BackendAnswer, ChatBackend, ChatStage, Cut, REQUEST_ID, chat_adapter,
};
use futures_util::{FutureExt, StreamExt, future, stream};

use crate::complaint;

/// A defect of an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    ThoughtsAsText,
    LosesTheLastPiece,
    MixesUpArguments,
    OneCallOnly,
    LosesUsage,
    CountsZero,
    AlwaysStops,
    TellsNothing,
    TellsAnotherProvider,
    LosesTheRequestId,
    TalksBehindTheEnd,
    LosesWhatIsCut,
    AsksTwice,
    AsksUnread,
    StaysForEver,
    WaitsForTheWhole,
    MixesUpReplies,
    FinishesWhatIsCutOff,
    AllFailuresAlike,
    ForgetsThePause,
    GoesOnBehindAFailure,
    NamesAnotherProvider,
    FailsWithoutRequestId,
}

struct Backend(Wrong);

struct Stage {
    wrong: Wrong,
    answer: BackendAnswer,
    identity: (ProviderId, ModelName),
    requests: Arc<AtomicUsize>,
    left: Arc<AtomicBool>,
}

impl ChatBackend for Backend {
    fn stage(&self, answer: &BackendAnswer) -> Box<dyn ChatStage> {
        Box::new(Stage {
            wrong: self.0,
            answer: answer.clone(),
            identity: ("faithful".parse().unwrap(), "tiny".parse().unwrap()),
            requests: Arc::default(),
            left: Arc::default(),
        })
    }
}

impl ChatStage for Stage {
    fn model(&self) -> &dyn ChatModel {
        self
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    fn left(&mut self) -> BoxFuture<'_, bool> {
        Box::pin(future::ready(self.left.load(Ordering::Relaxed)))
    }
}

type Pieces = Vec<Result<ChatDelta, ModelError>>;

/// Tells the backend that its client has gone.
struct Leaving(Option<Arc<AtomicBool>>);

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(left) = &self.0 {
            left.store(true, Ordering::Relaxed);
        }
    }
}

impl ChatModel for Stage {
    fn stream<'a>(&'a self, _: &'a ChatRequest) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let ask = || {
            self.requests.fetch_add(
                1 + usize::from(self.wrong == Wrong::AsksTwice),
                Ordering::Relaxed,
            )
        };
        if self.wrong == Wrong::AsksUnread {
            ask();
        }
        let leaving = Leaving((self.wrong != Wrong::StaysForEver).then(|| self.left.clone()));
        let pieces = stream::once(async move {
            if self.wrong != Wrong::AsksUnread {
                ask();
            }
            let is_silent = matches!(self.answer, BackendAnswer::Silence(_));
            if is_silent && self.wrong == Wrong::WaitsForTheWhole {
                future::pending::<()>().await;
            }
            let silence = if is_silent { 1 } else { 0 };
            let silence = stream::iter(0..silence).then(|_| future::pending());
            stream::iter(self.pieces()).chain(silence)
        });
        Box::pin(pieces.flatten().map(move |piece| {
            let _ = &leaving;
            piece
        }))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.identity.0, &self.identity.1)
    }
}

impl Stage {
    fn pieces(&self) -> Pieces {
        let (said, kind) = match &self.answer {
            BackendAnswer::Reply(said, Cut::Bytes) if self.wrong == Wrong::LosesWhatIsCut => {
                let is_text = |delta: &&ChatDelta| !matches!(delta, ChatDelta::Text(_));
                (said.iter().filter(is_text).cloned().collect(), None)
            }
            BackendAnswer::Reply(said, _) | BackendAnswer::Silence(said) => (said.clone(), None),
            BackendAnswer::CutOff(said) => (said.clone(), Some(ModelErrorKind::Interrupted)),
            BackendAnswer::Status(status, pause) => (Vec::new(), Some(kind(*status, *pause))),
            _ => unreachable!("another answer"),
        };
        let said = self.garbled(said);
        let mut pieces: Pieces = said.into_iter().map(Ok).collect();
        match kind {
            Some(ModelErrorKind::Interrupted) if self.wrong == Wrong::FinishesWhatIsCutOff => {
                pieces.push(Ok(ChatDelta::Finished(FinishReason::Stop)));
            }
            Some(kind) => {
                pieces.push(Err(self.error(kind)));
                if self.wrong == Wrong::GoesOnBehindAFailure {
                    pieces.push(Ok(ChatDelta::Text("anyway".to_owned())));
                }
            }
            None => pieces.extend(self.info().map(Ok)),
        }
        pieces
    }

    fn error(&self, kind: ModelErrorKind) -> ModelError {
        let kind = match self.wrong {
            Wrong::AllFailuresAlike => ModelErrorKind::Unavailable,
            Wrong::ForgetsThePause if kind.pause().is_some() => ModelErrorKind::RateLimited(None),
            _ => kind,
        };
        let provider = match self.wrong {
            Wrong::NamesAnotherProvider => "another".parse().unwrap(),
            _ => self.identity.0.clone(),
        };
        let id = (self.wrong != Wrong::FailsWithoutRequestId).then(|| REQUEST_ID.to_owned());
        ModelError::new(provider, kind, None).with_request_id(id)
    }

    fn info(&self) -> Option<ChatDelta> {
        if matches!(self.answer, BackendAnswer::Silence(_)) || self.wrong == Wrong::TellsNothing {
            return None;
        }
        let provider = match self.wrong {
            Wrong::TellsAnotherProvider => "another".parse().unwrap(),
            _ => self.identity.0.clone(),
        };
        let id = (self.wrong != Wrong::LosesTheRequestId).then(|| REQUEST_ID.to_owned());
        Some(ChatDelta::Info(Box::new(ReplyInfo {
            provider,
            model: self.identity.1.clone(),
            served_model: None,
            request_id: id,
            rate_limits: RateLimits::default(),
            left_out: Vec::new(),
        })))
    }

    fn garbled(&self, mut said: Vec<ChatDelta>) -> Vec<ChatDelta> {
        let is_start = |delta: &ChatDelta| matches!(delta, ChatDelta::CallStart { .. });
        match self.wrong {
            Wrong::LosesTheLastPiece => {
                let last = said
                    .iter()
                    .rposition(|delta| matches!(delta, ChatDelta::Text(_)));
                last.map(|last| said.remove(last));
            }
            Wrong::OneCallOnly if said.iter().filter(|delta| is_start(delta)).count() > 1 => {
                said.retain(|delta| match delta {
                    ChatDelta::CallStart { index, .. } | ChatDelta::CallArguments { index, .. } => {
                        *index == 0
                    }
                    _ => true,
                });
            }
            Wrong::LosesUsage => said.retain(|delta| !matches!(delta, ChatDelta::Usage(_))),
            Wrong::CountsZero
                if !said
                    .iter()
                    .any(|delta| matches!(delta, ChatDelta::Usage(_))) =>
            {
                said.push(ChatDelta::Usage(Usage::default()));
            }
            Wrong::TalksBehindTheEnd => said.push(ChatDelta::Text("And".to_owned())),
            _ => {}
        }
        said.into_iter().map(|delta| self.changed(delta)).collect()
    }

    fn changed(&self, delta: ChatDelta) -> ChatDelta {
        match (self.wrong, delta) {
            (Wrong::ThoughtsAsText, ChatDelta::Reasoning(text)) => ChatDelta::Text(text),
            (Wrong::MixesUpReplies, ChatDelta::Text(text)) => {
                ChatDelta::Text(text.replace("number 3", "number 2"))
            }
            (Wrong::MixesUpArguments, ChatDelta::CallArguments { fragment, .. }) => {
                ChatDelta::CallArguments { index: 0, fragment }
            }
            (Wrong::AlwaysStops, ChatDelta::Finished(_)) => ChatDelta::Finished(FinishReason::Stop),
            (_, delta) => delta,
        }
    }
}

fn kind(status: u16, pause: Duration) -> ModelErrorKind {
    match status {
        401 | 402 => ModelErrorKind::Auth,
        408 => ModelErrorKind::TimedOut,
        429 => ModelErrorKind::RateLimited(Some(pause).filter(|pause| !pause.is_zero())),
        500.. => ModelErrorKind::Unavailable,
        404 => ModelErrorKind::NotFound,
        _ => ModelErrorKind::Refused,
    }
}

/// The error that the suite reports; an endless wait is one too, since nothing here ever wakes it.
fn complaint_about(wrong: Wrong) -> Option<String> {
    let backend = Backend(wrong);
    let judged = complaint(chat_adapter(&backend)).now_or_never();
    judged.unwrap_or_else(|| Some("it hangs".to_owned()))
}

#[test]
fn a_faithful_adapter_keeps_every_promise() {
    assert_eq!(complaint_about(Wrong::Nothing), None);
}

#[test]
fn every_promise_that_an_adapter_breaks_is_caught_by_the_check_that_is_about_it() {
    for (wrong, about) in [
        (
            Wrong::ThoughtsAsText,
            "the text is the one that the backend sent",
        ),
        (
            Wrong::LosesTheLastPiece,
            "the text is the one that the backend sent",
        ),
        (Wrong::MixesUpArguments, "calls arrive complete, separate"),
        (Wrong::OneCallOnly, "calls arrive complete, separate"),
        (Wrong::LosesUsage, "usage is what the backend reported"),
        (
            Wrong::CountsZero,
            "usage that the backend did not report is unknown",
        ),
        (Wrong::AlwaysStops, "the finish reason is the reported one"),
        (Wrong::TellsNothing, "has an `Info`"),
        (
            Wrong::TellsAnotherProvider,
            "`Info` names the model that was asked",
        ),
        (Wrong::LosesTheRequestId, "`Info` has the backend's id"),
        (Wrong::TalksBehindTheEnd, "nothing but `Usage`"),
        (Wrong::LosesWhatIsCut, "a reply in single bytes is the same"),
        (Wrong::AsksTwice, "a request is made once"),
        (
            Wrong::AsksUnread,
            "a stream that is not read sends no request",
        ),
        (Wrong::StaysForEver, "dropping a stream cancels"),
        (Wrong::WaitsForTheWhole, "it hangs"),
        (Wrong::MixesUpReplies, "replies are not mixed up"),
        (Wrong::FinishesWhatIsCutOff, "is a failure, and not"),
        (Wrong::AllFailuresAlike, "what 400 means"),
        (Wrong::ForgetsThePause, "what 429 means"),
        (Wrong::GoesOnBehindAFailure, "nothing comes after a failure"),
        (Wrong::NamesAnotherProvider, "an error names the provider"),
        (
            Wrong::FailsWithoutRequestId,
            "an error has the backend's id",
        ),
    ] {
        let said = complaint_about(wrong);
        let said = said.unwrap_or_else(|| panic!("{wrong:?} was not caught"));
        assert!(said.contains(about), "{wrong:?}: {said}");
    }
}
