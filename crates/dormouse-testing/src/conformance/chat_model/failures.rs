//! Failures have the same kinds with every backend.

use std::time::Duration;

use dormouse_contracts::{ModelError, ModelErrorKind};

use super::{
    backend::{BackendAnswer, ChatBackend, REQUEST_ID},
    protocol::Protocol,
    replies::asking,
    said::{more, start, text, thought},
};

/// The error kind of each status. It does not depend on the text that the vendor sends.
const STATUSES: [(u16, u64, ModelErrorKind); 11] = [
    (400, 0, ModelErrorKind::Refused),
    (401, 0, ModelErrorKind::Auth),
    (402, 0, ModelErrorKind::Auth),
    (404, 0, ModelErrorKind::NotFound),
    (408, 0, ModelErrorKind::TimedOut),
    (429, 0, ModelErrorKind::RateLimited(None)),
    (
        429,
        7,
        ModelErrorKind::RateLimited(Some(Duration::from_secs(7))),
    ),
    (500, 0, ModelErrorKind::Unavailable),
    (502, 0, ModelErrorKind::Unavailable),
    (503, 0, ModelErrorKind::Unavailable),
    (529, 0, ModelErrorKind::Unavailable),
];

pub(super) async fn a_status_is_a_kind(backend: &dyn ChatBackend) {
    for (status, seconds, kind) in STATUSES {
        let answer = BackendAnswer::Status(status, Duration::from_secs(seconds));
        let error = failure(backend, &answer).await;
        assert_eq!(error.kind(), kind, "what {status} means");
        let id = error.request_id();
        assert_eq!(
            id,
            Some(REQUEST_ID),
            "an error has the backend's id of the request"
        );
    }
}

pub(super) async fn a_reply_that_is_cut_off_is_interrupted(backend: &dyn ChatBackend) {
    for begun in [
        vec![text("Good ")],
        vec![thought("They greet me.")],
        vec![start(0, "say"), more(0, "{}")],
        vec![],
    ] {
        let error = failure(backend, &BackendAnswer::CutOff(begun.clone())).await;
        assert_eq!(
            error.kind(),
            ModelErrorKind::Interrupted,
            "cut off after {begun:?}"
        );
    }
}

async fn failure(backend: &dyn ChatBackend, answer: &BackendAnswer) -> ModelError {
    let stage = backend.stage(answer);
    let came = Protocol::read(stage.model(), &asking()).await;
    let Err(error) = came else {
        panic!("{answer:?} is a failure, and not {came:?}");
    };
    assert_eq!(
        stage.requests(),
        1,
        "a request that failed is not made again"
    );
    let provider = stage.model().identity().0;
    assert_eq!(error.provider(), provider, "an error names the provider");
    error
}
