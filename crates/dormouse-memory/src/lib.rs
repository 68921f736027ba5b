//! Long-term memory on redb: records that are recallable at once, with trust, lineage and reversible change.
//!
//! Stability: experimental.
