//! Choosing the evidence that fits a budget of tokens.

use std::collections::BTreeMap;

use dormouse_contracts::{Timestamp, TokenCounter};
use dormouse_retrieval::{ItemRole, PackItem, pack, passages};

use super::{
    Recollection, RecordExcerpt, Role, admits, hearing::Hearing, repeating::Originals,
    request::RecallRequest,
};
use crate::{
    memory::Inner,
    projection::speaker,
    record::{Record, RecordId},
    store::StoreError,
};

/// How many of the best matches contribute their neighbours.
const WITH_NEIGHBOURS: usize = 3;
/// The score of a neighbour, as a share of the score of its match. It is below the score of every match, because neighbours
/// that were packed before matches cost evidence at every budget that was measured (`docs/recall.md`).
const NEIGHBOUR_SHARE: f32 = 1e-3;

/// What stands for the text before and after an excerpt.
const LEFT_OUT_BEFORE: &str = "[…] ";
const LEFT_OUT_AFTER: &str = " […]";

impl Recollection {
    /// The line for a prompt: time, speaker and text.
    #[must_use]
    pub fn line(&self) -> String {
        line_of(&self.record)
    }
}

fn line_of(record: &Record) -> String {
    format!("{}{}", label_of(record), record.text)
}

fn label_of(record: &Record) -> String {
    let at = record.at;
    match record.speaker_name() {
        Some(name) => format!("[{at}] {name}: "),
        None => format!("[{at}] "),
    }
}

impl Inner {
    /// The best of `matches` that fit `budget` tokens, with neighbours that help to understand them, in order of time.
    pub(super) fn packed(
        &self,
        request: &RecallRequest,
        asked_at: Timestamp,
        hearing: &Hearing,
        matches: Vec<Recollection>,
        budget: u32,
    ) -> Result<Vec<Recollection>, StoreError> {
        let neighbours = self.neighbours(request, asked_at, hearing, &matches)?;
        let mut candidates: BTreeMap<u64, Recollection> = BTreeMap::new();
        let mut items_of: Vec<(u64, ItemRole, f32)> = Vec::new();
        let most = {
            let projection = self.projection()?;
            projection.index.config().passage_words
        };
        for one in matches {
            let one = excerpt(one, most);
            let id = one.record.id.to_number();
            // What is out of date is shown only together with what replaced it.
            let role = match one.updated_by {
                Some(later) => ItemRole::Neighbour(later.to_number()),
                None => ItemRole::Found,
            };
            items_of.push((id, role, one.score));
            candidates.insert(id, one);
        }
        for (record, role, next_to, score) in neighbours {
            let id = record.id.to_number();
            items_of.push((id, ItemRole::Neighbour(next_to.to_number()), score));
            candidates
                .entry(id)
                .or_insert_with(|| neighbour(record, role));
        }
        let packed = {
            let items: Vec<PackItem<'_>> = items_of
                .iter()
                .filter_map(|(id, role, score)| {
                    let record = &candidates.get(id)?.record;
                    Some(item(record, *role, *score, self.counter.as_ref()))
                })
                .collect();
            pack(&items, budget, self.counter.as_ref())
        };
        let chosen = packed.into_iter().filter_map(|packed| {
            let mut one = candidates.remove(&packed.id)?;
            one.tokens = packed.tokens;
            let near = packed.folded.iter();
            for near in near.filter_map(|id| candidates.remove(id)) {
                one.folded.push(near.record.id);
                one.folded.extend(near.folded);
            }
            Some(one)
        });
        Ok(chosen.collect())
    }

    /// The neighbours of the best matches in their conversations, and the records linked with them, as far as the request
    /// allows them.
    fn neighbours(
        &self,
        request: &RecallRequest,
        asked_at: Timestamp,
        hearing: &Hearing,
        matches: &[Recollection],
    ) -> Result<Vec<(Record, Role, RecordId, f32)>, StoreError> {
        let mut wanted: Vec<(RecordId, Role, RecordId, f32)> = Vec::new();
        {
            let projection = self.projection()?;
            let mut seen = request.without.clone();
            seen.extend(matches.iter().map(|one| one.record.id));
            for one in matches.iter().take(WITH_NEIGHBOURS) {
                let id = one.record.id;
                let score = one.score * NEIGHBOUR_SHARE;
                let neighbours = projection.index.neighbours(id.to_number(), 1).into_iter();
                let neighbours =
                    neighbours.map(|near| (RecordId::from_number(near), Role::Neighbour, score));
                let links = one.record.links.iter();
                let links = links.map(|link| (link.to, Role::Linked, score * link.weight));
                for (near, role, score) in neighbours.chain(links) {
                    let may = projection.metas.get(near).is_some_and(|meta| {
                        admits(request, asked_at, meta) && hearing.admits(meta)
                    });
                    if may && seen.insert(near) {
                        wanted.push((near, role, id, score));
                    }
                }
            }
        }
        let ids: Vec<_> = wanted.iter().map(|(id, ..)| *id).collect();
        let records = self.store.read(|reading| reading.records(&ids))?;
        let originals = Originals::among(matches);
        let pairs = wanted.into_iter().zip(records);
        let found = pairs.filter_map(|((_, role, next_to, score), record)| {
            let record = record.filter(|it| originals.of(it).is_none())?;
            Some((record, role, next_to, score))
        });
        Ok(found.collect())
    }
}

/// A match with the text of its best passage, if its record is longer than that.
fn excerpt(mut one: Recollection, most: usize) -> Recollection {
    let passages = passages(&one.record.text, most);
    let number = usize::try_from(one.passage).unwrap_or(usize::MAX);
    let (Some(passage), 2..) = (passages.get(number), passages.len()) else {
        return one;
    };
    let before = if number > 0 { LEFT_OUT_BEFORE } else { "" };
    let is_last = number + 1 == passages.len();
    let after = if is_last { "" } else { LEFT_OUT_AFTER };
    let text = format!("{before}{}{after}", passage.trim());
    one.excerpt = Some(RecordExcerpt {
        passage: number + 1,
        of: passages.len(),
    });
    one.record.text = text;
    one
}

fn neighbour(record: Record, role: Role) -> Recollection {
    Recollection {
        record,
        role,
        score: 0.0,
        parts: Vec::new(),
        folded: Vec::new(),
        updated_by: None,
        passage: 0,
        excerpt: None,
        tokens: 0,
    }
}

fn item<'a>(
    record: &'a Record,
    role: ItemRole,
    score: f32,
    counter: &dyn TokenCounter,
) -> PackItem<'a> {
    PackItem {
        id: record.id.to_number(),
        text: &record.text,
        speaker: speaker(&record.speaker),
        thread: record.thread.as_deref(),
        at: record.at,
        score,
        label_tokens: counter.count(&label_of(record)).tokens + 1,
        role,
    }
}
