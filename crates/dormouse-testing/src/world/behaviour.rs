//! How a fake world treats an effect.

use serde_json::Value;

use crate::{gate::Gate, perception::Perceive};

/// What a [`FakeWorld`](crate::FakeWorld) does with the next undecided effect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Behaviour {
    /// Carries it out.
    Do,
    /// Carries it out, and returns this text in the receipt.
    DoWith(Value),
    /// Carries it out, and delivers these perceptions to the actor in order. Those of the actor itself are the output
    /// of the effect; the receipt's mark names the last of them. The others happen meanwhile.
    Print(Vec<Perceive>),
    /// Does what the inner behaviour says, but answers only when the gate is open.
    AnswerLate(Gate, Box<Behaviour>),
    /// Does what the inner behaviour says, and fails with `Unanswered`: the answer was lost.
    LoseAnswer(Box<Behaviour>),
    /// Rejects it finally, for this reason.
    Reject(String),
    /// Fails with `NotReached`: nothing happened.
    NotReached,
    /// Carries it out and fails with `Unanswered`: the answer was lost.
    DoneButUnanswered,
    /// Fails with `Unanswered` without carrying it out: the request was lost.
    LostBeforeDoing,
    /// Never answers and does not carry it out.
    Hang,
    /// Carries it out and never answers.
    DoneButHangs,
    /// Waits until the gate is open, then does what the inner behaviour says.
    Wait(Gate, Box<Behaviour>),
}
