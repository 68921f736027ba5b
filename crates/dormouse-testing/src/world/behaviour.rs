//! How a fake world treats an effect.

use serde_json::Value;

use crate::Gate;

/// What a [`FakeWorld`](crate::FakeWorld) does with the next effect it has not decided yet.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Behaviour {
    /// Carries it out.
    Do,
    /// Carries it out, with this as what the receipt says.
    DoWith(Value),
    /// Refuses it, for good, for this reason.
    Reject(String),
    /// Fails as not reached: nothing happened.
    NotReached,
    /// Carries it out, and fails as unanswered: the answer was lost.
    DoneButUnanswered,
    /// Fails as unanswered without having carried it out: the request was lost.
    LostBeforeDoing,
    /// Never answers, and carries nothing out.
    Hang,
    /// Carries it out and never answers.
    DoneButHangs,
    /// Waits until the gate is opened, then does as the behaviour inside says.
    Wait(Gate, Box<Behaviour>),
}
