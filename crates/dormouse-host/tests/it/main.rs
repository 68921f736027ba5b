//! A host with its residents, in a folder of its own.
#![expect(clippy::unwrap_used, reason = "what tests share fails like a test")]

mod archive;
mod delegation;
mod errands;
mod interleavings;
#[cfg(test)]
#[cfg(feature = "mcp")]
mod mcp;
mod one_resident;
mod residency;
mod roster;
mod tea_house;
mod tools;
