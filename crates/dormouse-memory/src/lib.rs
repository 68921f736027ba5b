//! Long-term memory on redb: records that can be recalled at once, with trust, provenance and reversible changes.
//!
//! Layer 3. A [`Memory`] stores [`Note`]s and answers [`RecallRequest`]s; neither needs a model. Its file is the source of
//! everything: the changes in their order, each with its reason, and the [`Record`]s that resulted. The search index, the
//! vectors of an encoder and the index of vectors are projections with checkpoints, so deleting one loses nothing.
//!
//! Read in this order: [`Note`] (the input), [`Record`] (what is kept), [`Change`] (what can happen to it), [`Memory`] (the
//! handle), [`RecallRequest`] and [`Recall`] (searching), [`Intake`] (an event log as the source), [`EncoderState`] and
//! [`MigrationPlan`] (encoders and changing them).
//!
//! Stability: experimental; a file written by this version opens in later ones.

pub mod admission;
mod builder;
mod change;
mod fallback;
pub mod hygiene;
mod index_copy;
mod indexing;
mod intake;
pub mod links;
mod memory;
mod migrate;
mod note;
mod opening;
mod ops;
mod orders;
mod people;
mod projection;
mod recall;
mod record;
mod spaces;
mod store;
mod transfer;
mod vectors;
pub mod write;

pub use builder::{MemoryBuilder, MemoryOpenError, Progress};
pub use change::{Change, ChangeSeq, Comparison, ExtractedFact, MemoryChange, StoredChange};
pub use fallback::Fallback;
pub use indexing::{
    check::{CheckIndexError, IndexReport, IndexedCollection},
    progress::IndexProgress,
};
pub use intake::{EventHash, Intake, IntakeStep, LogPosition, Taken};
pub use memory::{
    Memory, MemoryError,
    reading::{LostWords, Stats, Why},
};
pub use migrate::{
    MigrateError, Migration, MigrationPlan, Probe, ProbeReport, Scores, SwitchPolicy,
};
pub use note::{LABEL_LIMIT, LIST_LIMIT, Note, NoteError, OperatorNote, TEXT_LIMIT};
pub use ops::{Added, ChangeError, ChangeRef};
pub use recall::{
    CALIBRATED_FROM, DEFAULT_LIMIT, MAX_LIMIT, MIN_QUOTE_TRUST, MIN_TRUST, Recall, RecallRequest,
    Recollection, RecordExcerpt, Role, SearchMode, Validity, Withheld,
};
pub use record::{
    Collection, Derivation, Link, LinkKind, Provenance, Record, RecordId, RecordKind,
    RecordKindError, RecordStatus,
};
pub use spaces::{EncoderState, Space, SpaceState};
pub use store::{StoreError, StoreErrorKind};
pub use transfer::{
    ExportError, ExportPage, Exported, ImportBatch, ImportClaims, ImportError, ImportLines,
    Imported, LINE_LIMIT, LineError, source_key_of,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
