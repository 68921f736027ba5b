//! One detector of secrets and personal data. Pure, and without any other crate of the workspace.
//!
//! Read in this order: [`RedactionProfile`] (what is looked for), [`SensitiveKind`] and [`Match`] (what is found), [`scan`] and
//! [`mask`], [`KnownSecrets`] (secrets known word for word), [`is_named_secret`] and [`scan_query`] (a name and its value),
//! [`is_about_itself`] (what a character must not remember of itself).
//!
//! Inside, each rule is a row: key formats in `formats`, patterns in `rules`, names of secrets in `assigned`, card schemes in
//! `card`.
//!
//! Stability: the API may still change. The tables grow, so a text may be judged more strictly later.

mod kind;
mod profile;

mod scan;

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

pub use assigned::{is_named_secret, scan_query};
pub use kind::SensitiveKind;
pub use known::KnownSecrets;
pub use persona::{ABOUT_ITSELF, is_about_itself};
pub use profile::RedactionProfile;
pub use scan::{Match, mask, merged, scan};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
