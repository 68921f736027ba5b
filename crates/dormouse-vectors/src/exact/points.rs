//! The points of a collection.

use std::collections::HashMap;

use dormouse_contracts::{AssistantId, Hit, Point, PointFilter, PointPayload, VectorErrorKind};
use fearless_simd::Level;

use super::{
    block::{self, PointLabel, VectorBlock},
    code::{Code, QueryCode},
    kernel,
    nearest::{Candidates, PointPosition, TopHits},
};

/// A point with its coded vector. Coding happens before the collection is locked.
pub(super) struct CodedPoint<'a> {
    id: u64,
    payload: &'a PointPayload,
    code: Code,
}

impl<'a> CodedPoint<'a> {
    /// Codes a point from its normalised vector `unit`.
    pub(super) fn new(point: &'a Point, unit: &[f32]) -> Self {
        Self {
            id: point.id,
            payload: &point.payload,
            code: Code::of(unit),
        }
    }
}

/// Points of one length in blocks. All blocks except the last one are full.
#[derive(Debug)]
pub(super) struct Points {
    dimensions: usize,
    rows_per_block: usize,
    blocks: Vec<VectorBlock>,
    positions: HashMap<u64, PointPosition>,
    assistants: HashMap<AssistantId, u32>,
}

impl Points {
    pub(super) fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            rows_per_block: block::capacity(dimensions),
            blocks: Vec::new(),
            positions: HashMap::new(),
            assistants: HashMap::new(),
        }
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Adds a point, or replaces the point with the same id.
    pub(super) fn put(&mut self, point: &CodedPoint<'_>) -> Result<(), VectorErrorKind> {
        let label = self.label(point)?;
        match self.positions.get(&point.id) {
            Some(position) => {
                if let Some(block) = self.blocks.get_mut(position.block as usize) {
                    block.replace(position.row as usize, label, &point.code);
                }
            }
            None => self.push(label, &point.code)?,
        }
        Ok(())
    }

    fn label(&mut self, point: &CodedPoint<'_>) -> Result<PointLabel, VectorErrorKind> {
        Ok(PointLabel {
            id: point.id,
            at: point.payload.at.as_micros(),
            trust: point.payload.trust.score(),
            assistant: self.number(&point.payload.assistant)?,
            scale: point.code.scale,
            rest: point.code.rest,
        })
    }

    fn number(&mut self, assistant: &AssistantId) -> Result<u32, VectorErrorKind> {
        if let Some(number) = self.assistants.get(assistant) {
            return Ok(*number);
        }
        // Assistants are compared as integers in the inner loop, not as strings.
        let number = small(self.assistants.len())?;
        self.assistants.insert(assistant.clone(), number);
        Ok(number)
    }

    fn push(&mut self, label: PointLabel, code: &Code) -> Result<(), VectorErrorKind> {
        let full = |block: &VectorBlock| block.labels().len() == self.rows_per_block;
        if self.blocks.last().is_none_or(full) {
            self.blocks.push(VectorBlock::default());
        }
        let block = small(self.blocks.len() - 1)?;
        if let Some(last) = self.blocks.last_mut() {
            let row = small(last.labels().len())?;
            last.push(label, &code.high, &code.low);
            self.positions
                .insert(label.id, PointPosition { block, row });
        }
        Ok(())
    }

    /// Removes the point with this id, by moving the last point into its position.
    pub(super) fn remove(&mut self, id: u64) {
        let Some(position) = self.positions.remove(&id) else {
            return;
        };
        // The last point is moved into the gap, so all blocks but the last stay full.
        let Some((last, code)) = self.pop() else {
            return;
        };
        if last.id == id {
            return;
        }
        if let Some(block) = self.blocks.get_mut(position.block as usize) {
            block.replace(position.row as usize, last, &code);
            self.positions.insert(last.id, position);
        }
    }

    fn pop(&mut self) -> Option<(PointLabel, Code)> {
        let last = self.blocks.last_mut()?;
        let popped = last.pop(self.dimensions);
        if last.labels().is_empty() {
            self.blocks.pop();
        }
        popped
    }

    /// The nearest points that the filter admits.
    pub(super) fn nearest(
        &self,
        level: Level,
        query: &QueryCode,
        filter: &PointFilter,
        limit: usize,
    ) -> Vec<Hit> {
        let Some(compiled) = CompiledFilter::new(filter, &self.assistants) else {
            return Vec::new();
        };
        let candidates = self.estimate(level, query, &compiled, limit.min(self.len()));
        let mut nearest = TopHits::new(limit.min(self.len()));
        for (position, at_most) in candidates.best_first() {
            // Candidates come in order of their upper bounds, so no later one can reach the worst hit.
            if nearest.is_beyond(at_most) {
                break;
            }
            nearest.extend(self.score(level, query, position));
        }
        nearest.best_first()
    }

    /// The first pass: the points that may be among the nearest.
    fn estimate(
        &self,
        level: Level,
        query: &QueryCode,
        compiled: &CompiledFilter,
        limit: usize,
    ) -> Candidates {
        let mut candidates = Candidates::new(limit);
        let (mut chosen, mut products) = (Vec::new(), Vec::new());
        for (number, block) in (0..).zip(&self.blocks) {
            chosen.clear();
            let rows = (0..).zip(block.labels());
            // The filter is applied before the kernel, which then computes only admitted rows.
            chosen.extend(
                rows.filter(|(_, label)| compiled.admits(label))
                    .map(|(row, _)| row),
            );
            kernel::rough(level, block.high(), &query.coded, &chosen, &mut products);
            for (row, product) in chosen.iter().zip(&products) {
                if let Some(label) = block.labels().get(*row as usize) {
                    let estimate = query.estimate(*product, label.scale, label.rest);
                    candidates.offer(
                        PointPosition {
                            block: number,
                            row: *row,
                        },
                        estimate,
                    );
                }
            }
        }
        candidates
    }

    /// The second pass: the score of one point, from both of its bytes.
    fn score(&self, level: Level, query: &QueryCode, position: PointPosition) -> Option<Hit> {
        let block = self.blocks.get(position.block as usize)?;
        let (label, high, low) = block.row(position.row as usize, self.dimensions)?;
        let score = label.scale * kernel::fine(level, high, low, &query.plain);
        Some(Hit {
            id: label.id,
            // Float errors can move the cosine of equal vectors above 1.
            score: score.clamp(-1.0, 1.0),
        })
    }

    /// The heap memory of the collection, computed from its capacities.
    pub(super) fn memory_bytes(&self) -> usize {
        // hashbrown stores one control byte per slot and keeps an eighth of the slots empty.
        let slots = self.positions.capacity() * 8 / 7;
        let per_slot = size_of::<(u64, PointPosition)>() + 1;
        let blocks: usize = self.blocks.iter().map(VectorBlock::memory_bytes).sum();
        blocks + self.blocks.capacity() * size_of::<VectorBlock>() + slots * per_slot
    }
}

fn small(number: usize) -> Result<u32, VectorErrorKind> {
    u32::try_from(number).map_err(|_too_many| VectorErrorKind::Refused)
}

/// A filter in the numbers that [`PointLabel`] stores.
struct CompiledFilter {
    assistant: Option<u32>,
    min_trust: f32,
    from: i64,
    until: Option<i64>,
}

impl CompiledFilter {
    /// `None` if the filter asks for an assistant without points here.
    fn new(filter: &PointFilter, assistants: &HashMap<AssistantId, u32>) -> Option<Self> {
        let assistant = match &filter.assistant {
            Some(assistant) => Some(*assistants.get(assistant)?),
            None => None,
        };
        Some(Self {
            assistant,
            min_trust: filter.min_trust.map_or(0.0, |trust| trust.score()),
            from: filter.from.map_or(i64::MIN, |from| from.as_micros()),
            until: filter.until.map(|until| until.as_micros()),
        })
    }

    fn admits(&self, label: &PointLabel) -> bool {
        self.assistant.is_none_or(|asked| asked == label.assistant)
            && label.trust >= self.min_trust
            && label.at >= self.from
            && self.until.is_none_or(|until| label.at < until)
    }
}
