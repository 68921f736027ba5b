//! Asks the memory of an assistant about a conversation that it heard. A derived record counts for a turn that it was
//! made from if it still has what identifies that turn: its numbers and its rarest words.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dormouse_contracts::{Attribution, Timestamp, Trust};
use dormouse_memory::{
    Collection, Derivation, Memory, MemoryError, RecallRequest, Record, RecordId, RecordKind, Role,
    Validity,
};
use dormouse_retrieval::terms;
use tokio::time::Instant;

use crate::{
    contender::Answer,
    dataset::{Conversation, Grain, Question},
    measuring::marks,
    metrics::{BUDGETS, Marks},
};

/// How many of the rarest words of a turn identify it, in addition to its numbers.
const RAREST: usize = 3;
/// How many answers are ranked for each question.
const RANKED: usize = 50;
/// How many records are read at a time.
const PAGE: usize = 1_000;
/// How many steps a record may be away from the turns that it was made from.
const DEEPEST: usize = 4;

/// What a memory knows about a conversation.
pub(crate) struct Known<'a> {
    conversation: &'a Conversation,
    memory: Memory,
    /// For each record, the turns that it counts for.
    turns_of: HashMap<RecordId, BTreeSet<usize>>,
    /// The turns that some record in use counts for.
    stored: BTreeSet<usize>,
    /// The records in use that a model derived.
    derived: Vec<Record>,
    entries: BTreeSet<RecordId>,
    in_use: usize,
    bytes: u64,
}

/// The answer to one question, measured.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) marks: Marks,
    /// Whether the memory has any of the evidence.
    pub(crate) is_stored: bool,
}

impl<'a> Known<'a> {
    /// Reads what the memory knows. `said_at` says which turn was said when.
    pub(crate) async fn of(
        memory: Memory,
        conversation: &'a Conversation,
        said_at: &BTreeMap<Timestamp, usize>,
    ) -> Result<Self, MemoryError> {
        let records = all_records(&memory).await?;
        let identifying = identifying(conversation);
        let mut made_from: HashMap<RecordId, BTreeSet<usize>> = HashMap::new();
        for record in &records {
            let heard = record.provenance.derivation == Derivation::Heard
                && record.speaker != Attribution::Myself;
            if let Some(place) = said_at.get(&record.at).filter(|_| heard) {
                made_from.insert(record.id, BTreeSet::from([*place]));
            }
        }
        // An entry that a command wrote has no sources. It counts for the turn whose words it has.
        let said = said_at.values().filter_map(|place| {
            let turn = conversation.turns.get(*place)?;
            Some((turn.text.as_str(), *place))
        });
        let said: HashMap<&str, usize> = said.collect();
        let entries = records
            .iter()
            .filter(|record| record.collection == Collection::Journal);
        for (entry, place) in
            entries.filter_map(|entry| Some((entry.id, said.get(entry.text.as_str())?)))
        {
            made_from.insert(entry, BTreeSet::from([*place]));
        }
        let word_for_word: BTreeSet<RecordId> = made_from.keys().copied().collect();
        for _ in 0..DEEPEST {
            for record in records
                .iter()
                .filter(|record| !word_for_word.contains(&record.id))
            {
                let sources = record.provenance.derived_from.iter();
                let turns = sources.filter_map(|source| made_from.get(source)).flatten();
                let turns = turns.copied().collect();
                made_from.insert(record.id, turns);
            }
        }
        let turns_of = records.iter().map(|record| {
            let mut turns = made_from.remove(&record.id).unwrap_or_default();
            if !word_for_word.contains(&record.id) {
                let words: BTreeSet<String> = terms(&record.text).into_iter().collect();
                turns.retain(|turn| {
                    let wanted = identifying.get(*turn);
                    wanted.is_some_and(|wanted| !wanted.is_empty() && wanted.is_subset(&words))
                });
            }
            (record.id, turns)
        });
        let turns_of: HashMap<_, _> = turns_of.collect();
        let in_use = records.iter().filter(|record| record.is_in_use());
        let stored = in_use.clone().filter_map(|record| turns_of.get(&record.id));
        let stored = stored.flatten().copied().collect();
        let made_by_model = |record: &&Record| {
            record.kind == RecordKind::Insight || record.provenance.derivation.is_by_model()
        };
        let derived: Vec<_> = in_use.clone().filter(made_by_model).cloned().collect();
        let in_use = in_use.count();
        let entries = records
            .iter()
            .filter(|it| it.collection == Collection::Journal);
        let entries = entries.map(|entry| entry.id).collect();
        let bytes = memory.stats().await?.file_bytes;
        Ok(Self {
            conversation,
            memory,
            turns_of,
            stored,
            derived,
            entries,
            in_use,
            bytes,
        })
    }

    /// The records in use that a model derived.
    pub(crate) fn derived(&self) -> &[Record] {
        &self.derived
    }

    /// The record of each turn that was heard.
    pub(crate) fn heard(&self, said_at: &BTreeMap<Timestamp, usize>) -> BTreeMap<usize, RecordId> {
        let all: BTreeSet<usize> = said_at.values().copied().collect();
        let derived: BTreeSet<RecordId> = self.derived.iter().map(|record| record.id).collect();
        let single = self.turns_of.iter().filter_map(|(id, turns)| {
            let turn = turns.first().filter(|turn| all.contains(turn))?;
            let is_heard = !derived.contains(id) && !self.entries.contains(id);
            is_heard.then_some((*turn, *id))
        });
        single.collect()
    }

    /// How many records can be recalled.
    pub(crate) fn in_use(&self) -> usize {
        self.in_use
    }

    /// The size of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Asks questions, and measures the answers.
    pub(crate) async fn ask<'q>(
        &self,
        questions: impl IntoIterator<Item = &'q Question>,
    ) -> Result<Vec<Measured>, MemoryError> {
        let mut measured = Vec::new();
        for question in questions {
            let answer = self.answer(question).await?;
            measured.push(Measured {
                marks: marks(Grain::Turn, self.conversation, question, &answer),
                is_stored: !self.stored.is_disjoint(&question.gold),
            });
        }
        Ok(measured)
    }

    /// Whether any evidence is shown within this many tokens.
    pub(crate) async fn is_answered(
        &self,
        question: &Question,
        budget: u32,
    ) -> Result<bool, MemoryError> {
        let shown = self.shown(question, budget).await?;
        Ok(shown.iter().any(|turn| question.gold.contains(turn)))
    }

    pub(crate) async fn close(self) {
        self.memory.close().await;
    }

    /// The turns that the shown records count for, within this many tokens.
    async fn shown(&self, question: &Question, budget: u32) -> Result<Vec<usize>, MemoryError> {
        let packed = request(question).tokens(budget);
        let items = self.memory.recall(packed).await?.items;
        let turns = items.iter();
        let turns = turns.filter_map(|item| self.turns_of.get(&item.record.id));
        Ok(turns.flatten().copied().collect())
    }

    async fn answer(&self, question: &Question) -> Result<Answer, MemoryError> {
        let begun = Instant::now();
        let recall = self.memory.recall(request(question).limit(RANKED)).await?;
        let took = begun.elapsed();
        let mut seen = BTreeSet::new();
        let matches = recall.items.iter().filter(|item| item.role == Role::Match);
        let ranked = matches.enumerate().map(|(rank, item)| {
            let turns = self.turns_of.get(&item.record.id);
            let mut gold = turns
                .into_iter()
                .flatten()
                .filter(|turn| question.gold.contains(*turn));
            // A record without new evidence keeps its rank, so it gets an index that no turn has.
            let elsewhere = self.conversation.turns.len() + rank;
            let new = gold.find(|turn| seen.insert(**turn)).copied();
            (new.unwrap_or(elsewhere), item.score)
        });
        let ranked = ranked.collect();
        let mut shown = Vec::with_capacity(BUDGETS.len());
        for budget in BUDGETS {
            shown.push(self.shown(question, budget).await?);
        }
        Ok(Answer {
            ranked,
            shown,
            took,
        })
    }
}

fn request(question: &Question) -> RecallRequest {
    RecallRequest::new(&*question.text)
        .min_trust(Trust::NONE)
        .valid(Validity::Any)
        .asked_at(question.asked_at)
}

async fn all_records(memory: &Memory) -> Result<Vec<Record>, MemoryError> {
    let mut records: Vec<Record> = Vec::new();
    loop {
        let after = records.last().map(|record| record.id);
        let page = memory.records(after, PAGE).await?;
        if page.is_empty() {
            return Ok(records);
        }
        records.extend(page);
    }
}

/// For each turn, the words that identify it.
fn identifying(conversation: &Conversation) -> Vec<BTreeSet<String>> {
    let turns = conversation.turns.iter();
    let turns: Vec<BTreeSet<String>> = turns
        .map(|turn| terms(&turn.text).into_iter().collect())
        .collect();
    let mut having: HashMap<&str, usize> = HashMap::new();
    for word in turns.iter().flatten() {
        *having.entry(word).or_default() += 1;
    }
    let of = |words: &BTreeSet<String>| {
        let is_number = |word: &&String| word.chars().any(char::is_numeric);
        let (numbers, mut rest): (Vec<_>, Vec<_>) = words.iter().partition(is_number);
        rest.sort_by_key(|word| having.get(word.as_str()).copied().unwrap_or_default());
        numbers
            .into_iter()
            .chain(rest.into_iter().take(RAREST))
            .cloned()
            .collect()
    };
    turns.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::AssistantId;
    use dormouse_memory::Note;

    use super::*;
    use crate::{
        dataset::{Category, Turn},
        metrics::Measure,
    };

    const TURNS: [&str; 4] = [
        "My copper kettle cost 40 coins at the market in Bergen",
        "The market was crowded with people",
        "People say that the mill is closed",
        "We walked along the river to the market",
    ];

    fn conversation() -> Conversation {
        let turns = TURNS.iter().enumerate().map(|(place, text)| Turn {
            id: format!("D1:{place}"),
            session: 0,
            speaker: Some("Ann".to_owned()),
            text: (*text).to_owned(),
            thread: "room".to_owned(),
            at: Timestamp::from_micros(i64::try_from(place).unwrap() * 1_000_000),
        });
        Conversation {
            name: "one".to_owned(),
            sessions: vec!["session_1".to_owned()],
            turns: turns.collect(),
            questions: Vec::new(),
        }
    }

    fn question(text: &str, gold: usize) -> Question {
        Question {
            text: text.to_owned(),
            category: Category {
                number: 4,
                name: "single-hop".to_owned(),
            },
            gold: BTreeSet::from([gold]),
            dangling: 0,
            asked_at: Timestamp::from_micros(9_000_000),
        }
    }

    /// A memory without the first turn but with something derived from it.
    async fn measured(derived: &str) -> Measured {
        let conversation = conversation();
        let id = AssistantId::try_new("dormouse").unwrap();
        let clock = || Timestamp::from_micros(5_000_000);
        let memory = Memory::builder(id, clock).ephemeral().unwrap();
        let notes = conversation.turns.iter().map(|turn| {
            Note::new(&*turn.text)
                .at(turn.at)
                .said_by("Ann")
                .in_thread("room")
        });
        let added = memory.add_all(notes.collect(), "test").await.unwrap();
        let first = added[0].id();
        let fact = Note::new(derived)
            .kind(RecordKind::Fact)
            .derivation(Derivation::Extracted)
            .derived_from([first]);
        memory.add(fact, "test").await.unwrap();
        memory.withdraw(first, "test").await.unwrap();
        let turns = conversation.turns.iter().enumerate();
        let said_at = turns.map(|(place, turn)| (turn.at, place)).collect();
        let known = Known::of(memory, &conversation, &said_at).await.unwrap();
        let asked = question("What did the copper kettle cost?", 0);
        known.ask([&asked]).await.unwrap().remove(0)
    }

    #[tokio::test]
    async fn what_is_derived_counts_for_its_turn_if_it_has_what_identifies_it() {
        let kept = measured("Ann's copper kettle from Bergen cost 40 coins").await;
        assert!(kept.is_stored);
        assert_eq!(kept.marks.mean(Measure::Any(5)), Some(1.0));
        assert_eq!(kept.marks.mean(Measure::AnyWithin(256)), Some(1.0));

        let lost = measured("Ann's copper kettle cost 50 coins").await;
        assert!(!lost.is_stored, "the number is another");
        assert_eq!(lost.marks.mean(Measure::Any(10)), Some(0.0));
        assert_eq!(lost.marks.mean(Measure::AnyWithin(1_024)), Some(0.0));
    }
}
