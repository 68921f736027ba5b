//! Requests to the actor.

use dormouse_contracts::{Clock, WorldError, WorldErrorKind};
use tokio::sync::{mpsc, oneshot};

use crate::{records::StoreError, transaction::WorldTransaction, world::WorldView};

/// A request to the actor.
pub(crate) enum ActorRequest {
    /// A change, answered when it is durable.
    Change(Box<dyn ChangeRequest>),
    /// A question, answered from what is durable.
    Ask(Box<dyn QuestionRequest>),
}

/// A change in the queue, with the sender for its answer.
pub(crate) trait ChangeRequest: Send {
    /// Makes the change on the transaction and keeps the answer.
    fn make(
        &mut self,
        transaction: &mut WorldTransaction<'_>,
        clock: &dyn Clock,
    ) -> Result<(), StoreError>;
    /// Sends the answer, after the transaction has succeeded or failed.
    fn answer(self: Box<Self>, fate: Result<(), WorldError>);
}

/// A question in the queue.
pub(crate) trait QuestionRequest: Send {
    /// Sends the answer.
    fn answer(self: Box<Self>, view: Result<WorldView<'_>, WorldError>);
}

type Reply<T> = oneshot::Sender<Result<T, WorldError>>;

struct PendingChange<F, T> {
    make: F,
    made: Option<T>,
    reply: Reply<T>,
}

impl<F, T> ChangeRequest for PendingChange<F, T>
where
    F: FnMut(&mut WorldTransaction<'_>, &dyn Clock) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn make(
        &mut self,
        transaction: &mut WorldTransaction<'_>,
        clock: &dyn Clock,
    ) -> Result<(), StoreError> {
        self.made = Some((self.make)(transaction, clock)?);
        Ok(())
    }

    fn answer(self: Box<Self>, fate: Result<(), WorldError>) {
        let never_made = || WorldError::new(WorldErrorKind::NotReached, None);
        let Self { made, reply, .. } = *self;
        let answer = fate.and_then(|()| made.ok_or_else(never_made));
        // The caller may have gone; the change stays valid.
        reply.send(answer).ok();
    }
}

struct PendingQuestion<F, T> {
    ask: F,
    reply: Reply<T>,
}

impl<F, T> QuestionRequest for PendingQuestion<F, T>
where
    F: FnOnce(WorldView<'_>) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn answer(self: Box<Self>, view: Result<WorldView<'_>, WorldError>) {
        let Self { ask, reply } = *self;
        let answer = view.and_then(|view| ask(view).map_err(not_reached));
        reply.send(answer).ok();
    }
}

/// Sends a change to the actor, and waits until it is durable.
pub(crate) async fn change<T: Send + 'static>(
    actor: Option<&mpsc::Sender<ActorRequest>>,
    make: impl FnMut(&mut WorldTransaction<'_>, &dyn Clock) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, WorldError> {
    let (reply, answer) = oneshot::channel();
    let made = None;
    send(
        actor,
        ActorRequest::Change(Box::new(PendingChange { make, made, reply })),
    )
    .await?;
    receive(answer).await
}

/// Sends a question to the actor.
pub(crate) async fn ask<T: Send + 'static>(
    actor: Option<&mpsc::Sender<ActorRequest>>,
    ask: impl FnOnce(WorldView<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, WorldError> {
    let (reply, answer) = oneshot::channel();
    send(
        actor,
        ActorRequest::Ask(Box::new(PendingQuestion { ask, reply })),
    )
    .await?;
    receive(answer).await
}

async fn send(
    actor: Option<&mpsc::Sender<ActorRequest>>,
    request: ActorRequest,
) -> Result<(), WorldError> {
    let gone = || WorldError::new(WorldErrorKind::NotReached, Some(ActorGone.into()));
    let sent = actor.ok_or_else(gone)?.send(request).await;
    sent.map_err(|_unsent| gone())
}

async fn receive<T>(answer: oneshot::Receiver<Result<T, WorldError>>) -> Result<T, WorldError> {
    let gone = |_| WorldError::new(WorldErrorKind::Unanswered, Some(ActorGone.into()));
    answer.await.map_err(gone)?
}

/// The error of a question that found no answer.
pub(crate) fn not_reached(error: StoreError) -> WorldError {
    WorldError::new(WorldErrorKind::NotReached, Some(error.into()))
}

/// The actor thread has ended, which only a bug can cause.
#[derive(Debug, thiserror::Error)]
#[error("the thread of the world has ended: open the world again")]
pub(crate) struct ActorGone;
