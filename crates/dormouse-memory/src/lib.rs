//! Long-term memory on redb: records that are recallable at once, with trust, lineage and reversible change.
//!
//! Layer 3. A [`Memory`] is given [`Note`]s and asked with [`RecallRequest`]s; neither needs a model. What is in its file is
//! the truth: changes in their order, each with its reason, and the [`Record`]s that came of them. The search index, the
//! vectors of an encoder and the index of vectors are projections with checkpoints, so that deleting one loses nothing.
//!
//! Read in this order: [`Note`] (what is given), [`Record`] (what is kept), [`Change`] (what can happen to it),
//! [`Memory`] (the handle), [`RecallRequest`] and [`Recall`] (asking), [`Intake`] (an event log as the source),
//! [`EncoderState`] and [`MigrationPlan`] (encoders and changing them).
//!
//! Stability: experimental; a file written by this version opens in later ones.

pub mod admission;
mod builder;
mod change;
mod feed;
pub mod hygiene;
mod intake;
mod likeness;
pub mod links;
mod memory;
mod migrate;
mod note;
mod ops;
mod orders;
mod people;
mod projection;
mod recall;
mod record;
mod spaces;
mod store;
mod transfer;
pub mod write;

pub use builder::{MemoryBuilder, MemoryOpenError, Progress};
pub use change::{Change, ChangeSeq, StoredChange};
pub use feed::{CheckIndexError, IndexReport, IndexedCollection, Tended};
pub use intake::{Intake, LogPosition, Taken};
pub use memory::{Memory, MemoryError, Stats, Why};
pub use migrate::{
    MigrateError, Migration, MigrationPlan, Probe, ProbeReport, Scores, SwitchPolicy,
};
pub use note::{LABEL_LIMIT, LIST_LIMIT, Note, NoteError, TEXT_LIMIT};
pub use ops::{Added, ChangeError};
pub use recall::{
    DEFAULT_LIMIT, Fallback, MAX_LIMIT, MIN_TRUST, Recall, RecallRequest, Recollection, Role,
    SearchMode, Validity,
};
pub use record::{
    Derivation, Lineage, Link, LinkKind, Record, RecordId, RecordIdError, RecordKind,
    RecordKindError, Shelf, Speaker, Standing,
};
pub use spaces::{EncoderState, Space, SpaceState};
pub use store::{StoreError, StoreErrorKind};
pub use transfer::{
    ExportError, Exported, ImportError, ImportStep, Imported, LINE_LIMIT, LineError, origin_of,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
