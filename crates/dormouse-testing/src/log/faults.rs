//! The faults that a test requested of a log.

use dormouse_contracts::{AppendErrorKind, ReadErrorKind};

use crate::fault::Fault;

#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) appends: Fault<AppendErrorKind>,
    /// Appends that are written, although the answer is that this is unknown.
    pub(super) answers: Fault<AppendErrorKind>,
    pub(super) reads: Fault<ReadErrorKind>,
    pub(super) snapshots: Fault<AppendErrorKind>,
    /// How many more appends succeed before the log closes.
    pub(super) closes_after: Option<usize>,
}

impl Faults {
    pub(super) fn append(&mut self) -> Result<(), AppendErrorKind> {
        if let Some(left) = &mut self.closes_after {
            *left = left.checked_sub(1).ok_or(AppendErrorKind::Closed)?;
        }
        self.appends.strike()
    }

    pub(super) fn read(&mut self) -> Result<(), ReadErrorKind> {
        match self.closes_after {
            Some(0) => Err(ReadErrorKind::Closed),
            _ => self.reads.strike(),
        }
    }

    pub(super) fn save(&mut self) -> Result<(), AppendErrorKind> {
        match self.closes_after {
            Some(0) => Err(AppendErrorKind::Closed),
            _ => self.snapshots.strike(),
        }
    }
}
