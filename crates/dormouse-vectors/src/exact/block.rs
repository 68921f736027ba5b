//! A block of points, contiguous in memory.

use super::code::Code;

/// The approximate size of a block's high bytes: small compared with a collection, and large compared with a row.
const BLOCK_BYTES: usize = 1 << 18;

/// The first capacity of a block in rows, so that many small collections stay small.
const FIRST_ROWS: usize = 16;

/// The number of points in a block, by the length of their vectors.
pub(super) fn capacity(dimensions: usize) -> usize {
    (BLOCK_BYTES / dimensions.max(1)).clamp(FIRST_ROWS, 4_096)
}

/// What is stored about a point in addition to its vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointLabel {
    pub(super) id: u64,
    pub(super) at: i64,
    pub(super) trust: f32,
    /// The number of the assistant within the collection.
    pub(super) assistant: u32,
    /// The factor between the integers of the code and the numbers of the vector.
    pub(super) scale: f32,
    /// The distance between the high bytes alone and the whole code.
    pub(super) rest: f32,
}

/// Rows of the same length with their labels. The high bytes are stored apart, because the first pass reads only them.
#[derive(Debug, Default)]
pub(super) struct VectorBlock {
    labels: Vec<PointLabel>,
    high: Vec<i8>,
    low: Vec<i8>,
}

impl VectorBlock {
    pub(super) fn labels(&self) -> &[PointLabel] {
        &self.labels
    }

    pub(super) fn high(&self) -> &[i8] {
        &self.high
    }

    pub(super) fn row(&self, row: usize, dimensions: usize) -> Option<(&PointLabel, &[i8], &[i8])> {
        let within = row * dimensions..(row + 1) * dimensions;
        Some((
            self.labels.get(row)?,
            self.high.get(within.clone())?,
            self.low.get(within)?,
        ))
    }

    pub(super) fn push(&mut self, label: PointLabel, high: &[i8], low: &[i8]) {
        if self.labels.len() == self.labels.capacity() {
            self.grow(high.len());
        }
        self.labels.push(label);
        self.high.extend_from_slice(high);
        self.low.extend_from_slice(low);
    }

    /// Grows in two steps. Doubling would waste up to half of the memory.
    fn grow(&mut self, dimensions: usize) {
        let rows = if self.labels.is_empty() {
            FIRST_ROWS
        } else {
            // The second step reserves the rest of the block at once. A block never grows beyond its capacity.
            capacity(dimensions) - self.labels.len()
        };
        self.labels.reserve_exact(rows);
        self.high.reserve_exact(rows * dimensions);
        self.low.reserve_exact(rows * dimensions);
    }

    pub(super) fn replace(&mut self, row: usize, label: PointLabel, code: &Code) {
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

    /// Removes the last point.
    pub(super) fn pop(&mut self, dimensions: usize) -> Option<(PointLabel, Code)> {
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
        self.labels.capacity() * size_of::<PointLabel>()
            + self.high.capacity()
            + self.low.capacity()
    }
}
