//! Some hundred points, side by side in memory.

use super::code::Code;

/// About as many bytes of high halves as a block holds: small beside a collection, large beside a row.
const BLOCK_BYTES: usize = 1 << 18;

/// Rows that a block makes room for at first, so that many small collections stay small.
const FIRST_ROWS: usize = 16;

/// How many points of this length a block holds.
pub(super) fn capacity(dimensions: usize) -> usize {
    (BLOCK_BYTES / dimensions.max(1)).clamp(FIRST_ROWS, 4_096)
}

/// What is known of a point beside its vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) id: u64,
    pub(super) at: i64,
    pub(super) trust: f32,
    /// The number of its assistant within the collection.
    pub(super) assistant: u32,
    /// By what its code is to be multiplied.
    pub(super) scale: f32,
    /// How far its high bytes are from the whole.
    pub(super) rest: f32,
}

/// Rows of the same length, with a label each. The high bytes are kept apart, since the first pass reads them alone.
#[derive(Debug, Default)]
pub(super) struct Block {
    labels: Vec<Label>,
    high: Vec<i8>,
    low: Vec<i8>,
}

impl Block {
    pub(super) fn labels(&self) -> &[Label] {
        &self.labels
    }

    pub(super) fn high(&self) -> &[i8] {
        &self.high
    }

    pub(super) fn row(&self, row: usize, dimensions: usize) -> Option<(&Label, &[i8], &[i8])> {
        let within = row * dimensions..(row + 1) * dimensions;
        Some((
            self.labels.get(row)?,
            self.high.get(within.clone())?,
            self.low.get(within)?,
        ))
    }

    pub(super) fn push(&mut self, label: Label, high: &[i8], low: &[i8]) {
        if self.labels.len() == self.labels.capacity() {
            self.grow(high.len());
        }
        self.labels.push(label);
        self.high.extend_from_slice(high);
        self.low.extend_from_slice(low);
    }

    /// Makes room in two steps rather than by doubling, which would waste up to half of it.
    fn grow(&mut self, dimensions: usize) {
        let rows = if self.labels.is_empty() {
            FIRST_ROWS
        } else {
            capacity(dimensions) - self.labels.len()
        };
        self.labels.reserve_exact(rows);
        self.high.reserve_exact(rows * dimensions);
        self.low.reserve_exact(rows * dimensions);
    }

    pub(super) fn replace(&mut self, row: usize, label: Label, code: &Code) {
        let within = row * code.high.len()..(row + 1) * code.high.len();
        if let (Some(known), Some(high), Some(low)) = (
            self.labels.get_mut(row),
            self.high.get_mut(within.clone()),
            self.low.get_mut(within),
        ) {
            *known = label;
            high.copy_from_slice(&code.high);
            low.copy_from_slice(&code.low);
        }
    }

    /// Takes the last point out.
    pub(super) fn pop(&mut self, dimensions: usize) -> Option<(Label, Code)> {
        let label = self.labels.pop()?;
        let from = self.labels.len() * dimensions;
        let code = Code {
            high: self.high.split_off(from),
            low: self.low.split_off(from),
            scale: label.scale,
            rest: label.rest,
        };
        Some((label, code))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.labels.capacity() * size_of::<Label>() + self.high.capacity() + self.low.capacity()
    }
}
