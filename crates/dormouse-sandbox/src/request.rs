//! What is asked of the keeper, and by whom the answer is awaited.

use dormouse_contracts::{Clock, WorldError, WorldErrorKind};
use tokio::sync::{mpsc, oneshot};

use crate::{draft::Draft, keeper::View, records::StoreError};

/// What is sent to the keeper.
pub(crate) enum Request {
    /// A change, answered when it is durable.
    Change(Box<dyn Change>),
    /// A question, answered from what is durable.
    Ask(Box<dyn Question>),
}

/// A change that waits for its turn, and somebody who waits for its answer.
pub(crate) trait Change: Send {
    /// Makes the change on the draft and keeps the answer.
    fn make(&mut self, draft: &mut Draft<'_>, clock: &dyn Clock) -> Result<(), StoreError>;
    /// Gives the answer, now that the fate of the draft is known.
    fn answer(self: Box<Self>, fate: Result<(), WorldError>);
}

/// A question that waits for its turn.
pub(crate) trait Question: Send {
    /// Gives the answer.
    fn answer(self: Box<Self>, view: Result<View<'_>, WorldError>);
}

type Reply<T> = oneshot::Sender<Result<T, WorldError>>;

struct Making<F, T> {
    make: F,
    made: Option<T>,
    reply: Reply<T>,
}

impl<F, T> Change for Making<F, T>
where
    F: FnMut(&mut Draft<'_>, &dyn Clock) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn make(&mut self, draft: &mut Draft<'_>, clock: &dyn Clock) -> Result<(), StoreError> {
        self.made = Some((self.make)(draft, clock)?);
        Ok(())
    }

    fn answer(self: Box<Self>, fate: Result<(), WorldError>) {
        let never_made = || WorldError::new(WorldErrorKind::NotReached, None);
        let Self { made, reply, .. } = *self;
        let answer = fate.and_then(|()| made.ok_or_else(never_made));
        // Whoever asked may have gone; the change stands all the same.
        reply.send(answer).ok();
    }
}

struct Asking<F, T> {
    ask: F,
    reply: Reply<T>,
}

impl<F, T> Question for Asking<F, T>
where
    F: FnOnce(View<'_>) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn answer(self: Box<Self>, view: Result<View<'_>, WorldError>) {
        let Self { ask, reply } = *self;
        let answer = view.and_then(|view| {
            ask(view).map_err(|e| WorldError::new(WorldErrorKind::NotReached, Some(e.into())))
        });
        reply.send(answer).ok();
    }
}

/// Has the keeper make a change, and waits until it is durable.
pub(crate) async fn change<T: Send + 'static>(
    keeper: Option<&mpsc::Sender<Request>>,
    make: impl FnMut(&mut Draft<'_>, &dyn Clock) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, WorldError> {
    let (reply, answer) = oneshot::channel();
    let made = None;
    send(
        keeper,
        Request::Change(Box::new(Making { make, made, reply })),
    )
    .await?;
    receive(answer).await
}

/// Asks the keeper something.
pub(crate) async fn ask<T: Send + 'static>(
    keeper: Option<&mpsc::Sender<Request>>,
    ask: impl FnOnce(View<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, WorldError> {
    let (reply, answer) = oneshot::channel();
    send(keeper, Request::Ask(Box::new(Asking { ask, reply }))).await?;
    receive(answer).await
}

async fn send(keeper: Option<&mpsc::Sender<Request>>, request: Request) -> Result<(), WorldError> {
    let gone = || WorldError::new(WorldErrorKind::NotReached, Some(KeeperGone.into()));
    let sent = keeper.ok_or_else(gone)?.send(request).await;
    sent.map_err(|_unsent| gone())
}

async fn receive<T>(answer: oneshot::Receiver<Result<T, WorldError>>) -> Result<T, WorldError> {
    let gone = |_| WorldError::new(WorldErrorKind::Unanswered, Some(KeeperGone.into()));
    answer.await.map_err(gone)?
}

/// The thread that keeps the world has ended, which it does only by a defect.
#[derive(Debug, thiserror::Error)]
#[error("the world is no longer kept: open it again")]
pub(crate) struct KeeperGone;
