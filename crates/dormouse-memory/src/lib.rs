//! Long-term memory on redb: records that are recallable at once, with trust, lineage and reversible change.
//!
//! Stability: experimental.

mod builder;
mod change;
mod feed;
mod intake;
mod memory;
mod note;
mod ops;
mod orders;
mod people;
mod projection;
mod recall;
mod record;
mod secrets;
mod spaces;
mod store;

pub use builder::{MemoryBuilder, OpenError, Progress};
pub use change::{Change, ChangeSeq, StoredChange};
pub use feed::Tended;
pub use intake::{Intake, Taken};
pub use memory::{Memory, MemoryError, Stats, Why};
pub use note::{LABEL_LIMIT, LIST_LIMIT, Note, NoteError, TEXT_LIMIT};
pub use ops::{Added, ChangeError};
pub use recall::{
    DEFAULT_LIMIT, Fallback, MAX_LIMIT, MIN_TRUST, Mode, Recall, RecallRequest, Recollection, Role,
    Validity,
};
pub use record::{
    Derivation, Lineage, Link, LinkKind, Record, RecordId, RecordIdError, RecordKind,
    RecordKindError, Shelf, Speaker, Standing,
};
pub use spaces::{EncoderState, Space, SpaceState};
pub use store::{StoreError, StoreErrorKind};
