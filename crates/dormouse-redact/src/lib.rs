//! Detects secrets and personal data. All functions are pure, and the crate uses no other crate of the workspace.
//!
//! Read in this order: [`RedactionProfile`] (what is searched), [`SensitiveKind`] and [`Match`] (what is found),
//! [`scan`] and [`mask`], [`KnownSecrets`] (secrets that the caller knows), [`is_named_secret`] and [`scan_query`] (a
//! name and its value), [`clean_error`] (errors for others), [`is_about_itself`] (what a character must not remember about itself).
//!
//! Each rule is a row of a table: key formats in `formats`, patterns in `rules`, names of secrets in `assigned`, card
//! schemes in `card`. Validators (Luhn, IP addresses, randomness) check the matches.
//!
//! Stability: the API may still change. The tables grow, so a later version may find more in the same text.

mod kind;
mod matches;
mod profile;

mod scan;

mod pattern;
mod rules;

mod assigned;
mod card;
mod formats;
mod network;
mod phone;
mod random;

mod encoded;
mod view;

mod known;
mod persona;

mod bytes;
mod error;

pub use assigned::{is_named_secret, scan_query};
pub use error::clean_error;
pub use kind::SensitiveKind;
pub use known::KnownSecrets;
pub use matches::{Match, merged};
pub use persona::{ABOUT_ITSELF, asks_about_itself, is_about_itself};
pub use profile::RedactionProfile;
pub use scan::{mask, scan};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
