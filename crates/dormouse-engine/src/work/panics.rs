//! Turns a panic of a model, a world or a memory into an ordinary failure, so that the assistant keeps running.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dormouse_contracts::{
    BoxFuture, CallId, ModelError, ModelErrorKind, ProviderId, WorldErrorKind,
};
use dormouse_resilience::{Exhausted, RetryStopReason};
use futures_util::FutureExt;

use super::{Done, Seen, WorldFailure, recall::nothing};
use crate::{
    builtin::MemoryAnswer,
    compacting::SummaryAsk,
    decide::Asked,
    event::{AssessmentCall, FactsBefore, RecallFailure},
};

/// Which call it was, as far as its failure has to report that.
pub(crate) enum Called {
    Model(Box<Asked>, ProviderId),
    Assessment(Box<AssessmentCall>),
    Summary(Box<SummaryAsk>),
    Extraction,
    Act,
    Query(CallId),
    Recall,
    Memory(CallId),
}

impl Called {
    fn name(&self) -> &'static str {
        match self {
            Self::Model(..) | Self::Assessment(_) | Self::Summary(_) | Self::Extraction => "model",
            Self::Act | Self::Query(_) => "world",
            Self::Recall | Self::Memory(_) => "memory",
        }
    }

    /// How the call ended, if it panicked.
    fn failed(self) -> Done {
        const DEFECT: &str = "it has a defect and panicked";
        match self {
            Self::Model(asked, provider) => Done::Failed {
                error: Exhausted {
                    error: Arc::new(ModelError::new(
                        provider,
                        ModelErrorKind::Malformed,
                        Some(DEFECT.into()),
                    )),
                    attempts: 1,
                    reason: RetryStopReason::GivenUp,
                },
                service: None,
                asked: *asked,
                duration_ms: 0.0,
            },
            Self::Assessment(asked) => Done::Assessed(*asked),
            Self::Summary(ask) => Done::Summarized {
                ask,
                outcome: Err(ModelErrorKind::Malformed),
                duration_ms: 0.0,
            },
            Self::Extraction => Done::FactsExtracted(FactsBefore::Failed),
            // The act may have been done.
            Self::Act => Done::WorldFailed(WorldFailure {
                kind: WorldErrorKind::Unanswered,
                reason: Some(DEFECT.to_owned()),
            }),
            Self::Query(call) => Done::Observed {
                call,
                seen: Seen::NoAnswer(DEFECT.to_owned()),
            },
            Self::Recall => Done::Recollected(Box::new(nothing(RecallFailure::Memory))),
            Self::Memory(call) => Done::MemoryAnswered {
                call,
                answer: MemoryAnswer::Refused(DEFECT.to_owned()),
            },
        }
    }
}

/// The call. If it panics, it ends as a failure, and the panic is counted.
pub(crate) fn caught(
    called: Called,
    call: BoxFuture<'static, Done>,
    panics: Arc<AtomicU64>,
) -> BoxFuture<'static, Done> {
    Box::pin(async move {
        match AssertUnwindSafe(call).catch_unwind().await {
            Ok(done) => done,
            Err(panic) => {
                let (who, panic) = (called.name(), text_of(&*panic));
                tracing::error!(who, panic, "a call to the outside panicked");
                panics.fetch_add(1, Ordering::Relaxed);
                called.failed()
            }
        }
    })
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("nothing more is known")
}
