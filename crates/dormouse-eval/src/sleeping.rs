//! `dormouse-eval sleep`: what is recalled before sleep, after one night and after seven. Controls replace what the
//! nights made by random insights or by raw turns.

use std::fmt::{self, Display, Formatter};

use dormouse_contracts::Timestamp;
use dormouse_memory::{Derivation, Note, Record, RecordId, RecordKind};

use crate::{
    args::{ModelName, Sleep},
    comparison::Difference,
    dataset::{self, Conversation, Question},
    error::EvalError,
    evidence::{Known, Measured},
    life::{self, Life, LifeError},
    metrics::{Marks, Measure},
    seeded::Seeded,
    week,
};

/// What is measured, with the headings of the columns.
const COLUMNS: [(&str, Measure); 5] = [
    ("any@5", Measure::Any(5)),
    ("any@10", Measure::Any(10)),
    ("MRR", Measure::ReciprocalRank),
    ("256", Measure::AnyWithin(256)),
    ("1,024", Measure::AnyWithin(1_024)),
];
/// The columns whose differences are printed.
const COMPARED: [(&str, Measure); 3] = [
    ("any@5", Measure::Any(5)),
    ("any@10", Measure::Any(10)),
    ("within 1,024", Measure::AnyWithin(1_024)),
];
/// The row with which the others are compared.
const AWAKE: &str = "journal, no night";

/// All conditions.
#[derive(Debug)]
pub(crate) struct SleepReport {
    seed: u64,
    conversations: usize,
    turns: usize,
    rows: Vec<Row>,
}

/// All answers under one condition.
#[derive(Debug)]
struct Row {
    name: String,
    measured: Vec<Measured>,
    records: usize,
    derived: usize,
    bytes: u64,
}

impl SleepReport {
    pub(crate) async fn of(asked: &Sleep) -> Result<Self, EvalError> {
        let dataset = dataset::read(&asked.file, asked.format.map(Into::into))?;
        let mut report = Self {
            seed: asked.seed,
            conversations: 0,
            turns: 0,
            rows: Vec::new(),
        };
        let conversations: Vec<_> = match asked.conversation {
            Some(number) => vec![dataset::numbered(&dataset, number)?],
            None => dataset.conversations.iter().collect(),
        };
        for conversation in conversations {
            report.conversations += 1;
            report.turns += conversation.turns.len();
            report.all(conversation).await?;
        }
        Ok(report)
    }

    /// Measures a conversation under each condition.
    async fn all(&mut self, conversation: &Conversation) -> Result<(), LifeError> {
        let seed = self.seed;
        let without = heard(conversation, ModelName::Offline, seed, Journal::None).await?;
        self.add("talk alone, no night", ask(&without).await?);
        without.end().await;
        for model in [ModelName::Offline, ModelName::Scripted] {
            let mut life = heard(conversation, model, seed, Journal::Entries).await?;
            if model == ModelName::Offline {
                self.add(AWAKE, ask(&life).await?);
            }
            let said_at = life.said_at().clone();
            let awake = known(&life).await?;
            let turns = awake.heard(&said_at).into_iter().collect();
            awake.close().await;
            let (random, random_files) = life.copied_memory().await?;
            let (raw, raw_files) = life.copied_memory().await?;
            life.night().await?;
            self.add(&format!("{model}: one night"), ask(&life).await?);
            life.end().await;

            let mut life = Life::begin(conversation, week::model(model)?, seed).await?;
            for day in life::days(conversation) {
                life.hear(&day).await?;
                life.write_entries(&day).await?;
                life.night().await?;
            }
            let rested = known(&life).await?;
            let derived = rested.derived().to_vec();
            self.add(
                &format!("{model}: seven nights"),
                Row::of(&rested, conversation).await?,
            );
            rested.close().await;
            life.end().await;

            let controls = Controls {
                conversation,
                turns,
                seeded: Seeded::new(seed),
            };
            for (what, memory, notes) in [
                (
                    "random insights",
                    random,
                    controls.random_insights(&derived),
                ),
                ("raw turns", raw, controls.raw_turns(&derived)),
            ] {
                memory.add_all(notes, "control").await?;
                let known = Known::of(memory, conversation, &said_at).await?;
                let row = Row::of(&known, conversation).await?;
                known.close().await;
                self.add(&format!("{model}: {what}"), row);
            }
            drop((random_files, raw_files));
        }
        Ok(())
    }

    fn add(&mut self, name: &str, more: Row) {
        match self.rows.iter_mut().find(|row| row.name == name) {
            Some(row) => {
                row.measured.extend(more.measured);
                row.records += more.records;
                row.derived += more.derived;
                row.bytes += more.bytes;
            }
            None => self.rows.push(Row {
                name: name.to_owned(),
                ..more
            }),
        }
    }
}

/// Whether entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Journal {
    None,
    Entries,
}

/// An assistant that has heard everything and never slept.
async fn heard(
    conversation: &Conversation,
    model: ModelName,
    seed: u64,
    journal: Journal,
) -> Result<Life<'_>, LifeError> {
    let mut life = Life::begin(conversation, week::model(model)?, seed).await?;
    for day in life::days(conversation) {
        life.hear(&day).await?;
        if journal == Journal::Entries {
            life.write_entries(&day).await?;
        }
    }
    Ok(life)
}

async fn known<'a>(life: &Life<'a>) -> Result<Known<'a>, LifeError> {
    Ok(Known::of(life.memory().await?, life.conversation(), life.said_at()).await?)
}

async fn ask(life: &Life<'_>) -> Result<Row, LifeError> {
    let known = known(life).await?;
    let row = Row::of(&known, life.conversation()).await?;
    known.close().await;
    Ok(row)
}

impl Row {
    async fn of(known: &Known<'_>, conversation: &Conversation) -> Result<Self, LifeError> {
        let has_evidence = |question: &&Question| !question.gold.is_empty();
        let questions = conversation.questions.iter().filter(has_evidence);
        Ok(Self {
            name: String::new(),
            measured: known.ask(questions).await?,
            records: known.in_use(),
            derived: known.derived().len(),
            bytes: known.bytes(),
        })
    }

    /// The share of the questions whose evidence is not in the store.
    fn write_gap(&self) -> f64 {
        let missing = self.measured.iter().filter(|one| !one.is_stored);
        missing.count() as f64 / self.measured.len().max(1) as f64
    }

    /// Of those whose evidence is in the store, the share that is not answered within 1,024 tokens.
    fn search_gap(&self) -> f64 {
        let stored = self.measured.iter().filter(|one| one.is_stored);
        let found = |one: &&Measured| {
            let share = one.marks.mean(Measure::AnyWithin(1_024));
            share.is_some_and(|share| share > 0.0)
        };
        let (all, found) = (stored.clone().count(), stored.filter(found).count());
        1.0 - found as f64 / all.max(1) as f64
    }
}

/// What the memory could hold in place of what the nights made.
struct Controls<'a> {
    conversation: &'a Conversation,
    /// The turns that were heard, with their records.
    turns: Vec<(usize, RecordId)>,
    seeded: Seeded,
}

impl Controls<'_> {
    /// For each derived record, one of the same kind and length, made of the words of equally many random turns.
    fn random_insights(&self, derived: &[Record]) -> Vec<Note> {
        let made = derived.iter().filter_map(|record| {
            let count = record.provenance.derived_from.len().max(1);
            let mut drawn = Vec::new();
            let mut words: Vec<&str> = Vec::new();
            let length = record.text.chars().count();
            // If the turns are short, more are drawn, until the text is long enough.
            while drawn.len() < count
                || words.iter().map(|word| word.len() + 1).sum::<usize>() < length
            {
                let (turn, id) = self.drawn()?;
                words.extend(self.text(turn).split_whitespace());
                drawn.push(id);
            }
            for place in (1..words.len()).rev() {
                words.swap(place, self.seeded.place(place + 1));
            }
            let text = words.join(" ");
            let text = dormouse_text::beginning(&text, length);
            Some(derived_note(text, record.kind, record.at, drawn))
        });
        made.collect()
    }

    /// Random turns, remembered a second time, until they are as long as all derived records together.
    fn raw_turns(&self, derived: &[Record]) -> Vec<Note> {
        let length: usize = derived.iter().map(|record| record.text.len()).sum();
        let at = derived
            .iter()
            .map(|record| record.at)
            .max()
            .unwrap_or_default();
        let (mut notes, mut used) = (Vec::new(), 0);
        while used < length
            && let Some((turn, id)) = self.drawn()
        {
            let text = self.text(turn);
            used += text.len();
            notes.push(derived_note(text, RecordKind::Fact, at, vec![id]));
        }
        notes
    }

    fn drawn(&self) -> Option<(usize, RecordId)> {
        self.turns.get(self.seeded.place(self.turns.len())).copied()
    }

    fn text(&self, turn: usize) -> &str {
        self.conversation
            .turns
            .get(turn)
            .map_or("", |turn| &turn.text)
    }
}

fn derived_note(text: &str, kind: RecordKind, at: Timestamp, sources: Vec<RecordId>) -> Note {
    let sources: std::collections::BTreeSet<_> = sources.into_iter().collect();
    Note::new(text)
        .kind(kind)
        .derivation(Derivation::Consolidated)
        .derived_from(sources)
        .at(at)
}

impl Display for SleepReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let questions = self.rows.first().map_or(0, |row| row.measured.len());
        writeln!(
            f,
            "{questions} questions about {} conversations of {} turns, seed {}. Percentages; MRR from 0 to 1; 256 and 1,024: any \
             evidence within so many tokens.",
            self.conversations, self.turns, self.seed
        )?;
        writeln!(f)?;
        write!(f, "{:<28}", "")?;
        COLUMNS
            .iter()
            .try_for_each(|(heading, _)| write!(f, " {heading:>7}"))?;
        writeln!(
            f,
            " {:>9} {:>10} {:>8} {:>8} {:>7}",
            "write gap", "search gap", "records", "derived", "MB"
        )?;
        for row in &self.rows {
            let mut total = Marks::default();
            row.measured.iter().for_each(|one| total.add(&one.marks));
            write!(f, "{:<28}", row.name)?;
            for (_, measure) in COLUMNS {
                let mean = total.mean(measure).unwrap_or_default();
                match measure {
                    Measure::ReciprocalRank => write!(f, " {mean:>7.3}")?,
                    _ => write!(f, " {:>7.1}", mean * 100.0)?,
                }
            }
            let (write_gap, search_gap) = (row.write_gap() * 100.0, row.search_gap() * 100.0);
            let megabytes = row.bytes as f64 / 1e6;
            writeln!(
                f,
                " {write_gap:>9.1} {search_gap:>10.1} {:>8} {:>8} {megabytes:>7.1}",
                row.records, row.derived
            )?;
        }
        let Some(awake) = self.rows.iter().find(|row| row.name == AWAKE) else {
            return Ok(());
        };
        writeln!(
            f,
            "\nDifference to \"{AWAKE}\" in points, with the middle 95 % of a paired bootstrap:"
        )?;
        write!(f, "{:<28}", "")?;
        COMPARED
            .iter()
            .try_for_each(|(heading, _)| write!(f, " {heading:>22}"))?;
        writeln!(f)?;
        for row in self.rows.iter().filter(|row| row.name != AWAKE) {
            write!(f, "{:<28}", row.name)?;
            for (_, measure) in COMPARED {
                let difference = Difference::of(&awake.measured, &row.measured, measure, self.seed);
                write!(f, " {:>22}", difference.to_string())?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
