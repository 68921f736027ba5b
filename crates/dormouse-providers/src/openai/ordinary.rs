//! The ordinary event of a streamed reply, read without a detour.
//!
//! Nearly every event of a reply is one piece of text, one piece of arguments, or nothing. These are read straight
//! into borrowed texts. Whatever differs is none of them, and is read as a [`Chunk`](super::chunk::Chunk), which forgives. All that a
//! `Chunk` looks at is named here too, so that nothing is passed over.

use std::borrow::Cow;

use serde::Deserialize;

/// What must be absent, or null.
type Nothing = ();

/// An event with one piece of one reply.
#[derive(Debug, Deserialize)]
pub(super) struct Ordinary<'a> {
    #[serde(borrow)]
    pub(super) choices: [OrdinaryChoice<'a>; 1],
    #[serde(borrow, default)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) provider: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(default, rename = "usage")]
    _usage: Nothing,
    #[serde(default, rename = "error")]
    _error: Nothing,
    #[serde(default, rename = "x_groq")]
    _x_groq: Nothing,
}

/// The piece.
#[derive(Debug, Deserialize)]
pub(super) struct OrdinaryChoice<'a> {
    #[serde(default)]
    pub(super) index: u64,
    #[serde(borrow)]
    pub(super) delta: OrdinaryDelta<'a>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) native_finish_reason: Option<Cow<'a, str>>,
    #[serde(default, rename = "error")]
    _error: Nothing,
}

/// What is new.
#[derive(Debug, Deserialize)]
pub(super) struct OrdinaryDelta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    #[serde(default, rename = "refusal")]
    _refusal: Nothing,
    #[serde(default, rename = "reasoning")]
    _reasoning: Nothing,
    #[serde(default, rename = "reasoning_details")]
    _reasoning_details: Nothing,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<[OrdinaryCall<'a>; 1]>,
    #[serde(default, rename = "function_call")]
    _function_call: Nothing,
}

/// More of the arguments of a call that has begun.
#[derive(Debug, Deserialize)]
pub(super) struct OrdinaryCall<'a> {
    pub(super) index: u64,
    #[serde(default, rename = "id")]
    _id: Nothing,
    #[serde(borrow)]
    pub(super) function: OrdinaryFunction<'a>,
}

/// The arguments.
#[derive(Debug, Deserialize)]
pub(super) struct OrdinaryFunction<'a> {
    #[serde(default, rename = "name")]
    _name: Nothing,
    #[serde(borrow)]
    pub(super) arguments: Cow<'a, str>,
}
