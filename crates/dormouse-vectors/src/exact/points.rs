//! The points of one collection.

use std::collections::HashMap;

use dormouse_contracts::{AssistantId, Hit, Point, PointFilter, PointPayload, VectorErrorKind};
use fearless_simd::Level;

use super::{
    block::{self, Block, Label},
    code::{Code, QueryCode},
    kernel,
    nearest::{Candidates, Nearest, Place},
};

/// A point whose vector is coded already, so that the collection is locked only while it is stored.
pub(super) struct CodedPoint<'a> {
    id: u64,
    payload: &'a PointPayload,
    code: Code,
}

impl<'a> CodedPoint<'a> {
    /// Codes a point whose vector has been turned into `unit`.
    pub(super) fn new(point: &'a Point, unit: &[f32]) -> Self {
        Self {
            id: point.id,
            payload: &point.payload,
            code: Code::of(unit),
        }
    }
}

/// Points of one length in blocks, all of which but the last are full.
#[derive(Debug)]
pub(super) struct Points {
    dimensions: usize,
    rows_per_block: usize,
    blocks: Vec<Block>,
    places: HashMap<u64, Place>,
    assistants: HashMap<AssistantId, u32>,
}

impl Points {
    pub(super) fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            rows_per_block: block::capacity(dimensions),
            blocks: Vec::new(),
            places: HashMap::new(),
            assistants: HashMap::new(),
        }
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Adds a point or replaces the one of its number.
    pub(super) fn put(&mut self, point: &CodedPoint<'_>) -> Result<(), VectorErrorKind> {
        let label = self.label(point)?;
        match self.places.get(&point.id) {
            Some(place) => {
                if let Some(block) = self.blocks.get_mut(place.block as usize) {
                    block.replace(place.row as usize, label, &point.code);
                }
            }
            None => self.push(label, &point.code)?,
        }
        Ok(())
    }

    fn label(&mut self, point: &CodedPoint<'_>) -> Result<Label, VectorErrorKind> {
        Ok(Label {
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
        let number = small(self.assistants.len())?;
        self.assistants.insert(assistant.clone(), number);
        Ok(number)
    }

    fn push(&mut self, label: Label, code: &Code) -> Result<(), VectorErrorKind> {
        let full = |block: &Block| block.labels().len() == self.rows_per_block;
        if self.blocks.last().is_none_or(full) {
            self.blocks.push(Block::default());
        }
        let block = small(self.blocks.len() - 1)?;
        if let Some(last) = self.blocks.last_mut() {
            let row = small(last.labels().len())?;
            last.push(label, &code.high, &code.low);
            self.places.insert(label.id, Place { block, row });
        }
        Ok(())
    }

    /// Removes the point of that number, if it is there, by moving the last one into its place.
    pub(super) fn remove(&mut self, id: u64) {
        let Some(place) = self.places.remove(&id) else {
            return;
        };
        let Some((last, code)) = self.pop() else {
            return;
        };
        if last.id == id {
            return;
        }
        if let Some(block) = self.blocks.get_mut(place.block as usize) {
            block.replace(place.row as usize, last, &code);
            self.places.insert(last.id, place);
        }
    }

    fn pop(&mut self) -> Option<(Label, Code)> {
        let last = self.blocks.last_mut()?;
        let popped = last.pop(self.dimensions);
        if last.labels().is_empty() {
            self.blocks.pop();
        }
        popped
    }

    /// The nearest points, of those the filter admits.
    pub(super) fn nearest(
        &self,
        level: Level,
        query: &QueryCode,
        filter: &PointFilter,
        limit: usize,
    ) -> Vec<Hit> {
        let Some(sieve) = Sieve::new(filter, &self.assistants) else {
            return Vec::new();
        };
        let candidates = self.guess(level, query, &sieve, limit.min(self.len()));
        let mut nearest = Nearest::new(limit.min(self.len()));
        for (place, at_most) in candidates.best_first() {
            if nearest.is_beyond(at_most) {
                break;
            }
            nearest.extend(self.score(level, query, place));
        }
        nearest.best_first()
    }

    /// The first pass: whichever points may be among the nearest.
    fn guess(&self, level: Level, query: &QueryCode, sieve: &Sieve, limit: usize) -> Candidates {
        let mut candidates = Candidates::new(limit);
        let (mut chosen, mut products) = (Vec::new(), Vec::new());
        for (number, block) in (0..).zip(&self.blocks) {
            chosen.clear();
            let rows = (0..).zip(block.labels());
            chosen.extend(
                rows.filter(|(_, label)| sieve.admits(label))
                    .map(|(row, _)| row),
            );
            kernel::rough(level, block.high(), &query.coded, &chosen, &mut products);
            for (row, product) in chosen.iter().zip(&products) {
                if let Some(label) = block.labels().get(*row as usize) {
                    let guess = query.guess(*product, label.scale, label.rest);
                    candidates.offer(
                        Place {
                            block: number,
                            row: *row,
                        },
                        guess,
                    );
                }
            }
        }
        candidates
    }

    /// The second pass: the score of one point from both of its bytes.
    fn score(&self, level: Level, query: &QueryCode, place: Place) -> Option<Hit> {
        let block = self.blocks.get(place.block as usize)?;
        let (label, high, low) = block.row(place.row as usize, self.dimensions)?;
        let score = label.scale * kernel::fine(level, high, low, &query.plain);
        Some(Hit {
            id: label.id,
            score: score.clamp(-1.0, 1.0),
        })
    }

    /// What the collection takes from the heap, counted from its own bookkeeping.
    pub(super) fn memory_bytes(&self) -> usize {
        // A hash map keeps a byte beside each slot, and an eighth of its slots empty.
        let slots = self.places.capacity() * 8 / 7;
        let per_slot = size_of::<(u64, Place)>() + 1;
        let blocks: usize = self.blocks.iter().map(Block::memory_bytes).sum();
        blocks + self.blocks.capacity() * size_of::<Block>() + slots * per_slot
    }
}

fn small(number: usize) -> Result<u32, VectorErrorKind> {
    u32::try_from(number).map_err(|_too_many| VectorErrorKind::Refused)
}

/// A filter in the terms of a collection.
struct Sieve {
    assistant: Option<u32>,
    min_trust: f32,
    from: i64,
    until: Option<i64>,
}

impl Sieve {
    /// `None` if the filter asks for an assistant that has no points here.
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

    fn admits(&self, label: &Label) -> bool {
        self.assistant.is_none_or(|asked| asked == label.assistant)
            && label.trust >= self.min_trust
            && label.at >= self.from
            && self.until.is_none_or(|until| label.at < until)
    }
}
