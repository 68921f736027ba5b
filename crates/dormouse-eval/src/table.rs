//! The results as tables for people.

use std::fmt::{self, Display, Formatter};

use dormouse_text::{beginning, escape_hidden};

use crate::{
    contender::Ranking,
    metrics::{BUDGETS, Marks, Measure},
    report::{Block, Report},
};

/// The longest name, in characters; longer ones are cut.
const NAME: usize = 22;

/// The columns of the first table, with their headings.
const COLUMNS: [(&str, Measure); 8] = [
    ("any@1", Measure::Any(1)),
    ("any@5", Measure::Any(5)),
    ("any@10", Measure::Any(10)),
    ("frac@5", Measure::Fraction(5)),
    ("frac@10", Measure::Fraction(10)),
    ("MRR", Measure::ReciprocalRank),
    ("hit@1", Measure::SessionHit),
    ("nDCG@5", Measure::SessionGain),
];

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            unit,
            limit,
            conversations,
            turns,
            questions,
            ..
        } = self;
        writeln!(
            f,
            "{questions} questions about {conversations} conversations of {turns} turns; unit: {unit}; {limit} ranked. \
             Percentages; MRR, hit@1 and nDCG@5 from 0 to 1. hit@1 and nDCG@5 rank sessions by their best turn."
        )?;
        let passed = [
            (
                self.questions_without_evidence,
                "questions have no evidence in the dataset and are left out",
            ),
            (
                self.dangling_evidence,
                "pieces of evidence name a turn or session that the dataset does not have",
            ),
            (
                self.undated_sessions,
                "sessions have no readable date; each was dated a day after the one before",
            ),
        ];
        for (count, what) in passed.into_iter().filter(|(count, _)| *count > 0) {
            writeln!(f, "{count} {what}.")?;
        }
        self.rankings.iter().try_for_each(|block| {
            writeln!(f)?;
            self.block(f, block)
        })
    }
}

impl Report {
    fn block(&self, f: &mut Formatter<'_>, block: &Block) -> fmt::Result {
        match (block.ranking, &self.encoder) {
            (Ranking::Words, _) => writeln!(f, "Dormouse, by words")?,
            (Ranking::WordsOfOne, _) => writeln!(f, "Dormouse, by words, private to each speaker")?,
            (Ranking::WordsAndLinks, _) => writeln!(f, "Dormouse, by words, linked")?,
            (Ranking::PlainBm25, _) => writeln!(f, "Plain BM25")?,
            (Ranking::WordsAndVectors, None) => writeln!(f, "Dormouse, by words and vectors")?,
            (Ranking::WordsAndVectors, Some(encoder)) => writeln!(
                f,
                "Dormouse, by words and vectors of {}",
                safe(encoder.model.as_str())
            )?,
        }
        write!(f, "{:<NAME$} {:>5}", "", "n")?;
        for (heading, _) in COLUMNS {
            write!(f, " {heading:>7}")?;
        }
        writeln!(f)?;
        for row in &block.categories {
            line(f, &row.name, &row.marks)?;
        }
        for row in &block.conversations {
            line(f, &row.name, &row.marks)?;
        }
        line(f, "all", &block.total)?;
        budgets(f, &block.total)?;
        let times = block.time_per_query;
        writeln!(
            f,
            "time per query: p50 {}, p95 {}, p99 {}; indexes: {:.1} MB in memory; preparation: {:.1} s",
            milliseconds(times.p50_micros),
            milliseconds(times.p95_micros),
            milliseconds(times.p99_micros),
            block.index_bytes as f64 / 1e6,
            block.preparing_seconds,
        )
    }
}

fn line(f: &mut Formatter<'_>, name: &str, marks: &Marks) -> fmt::Result {
    write!(f, "{:<NAME$} {:>5}", safe(name), marks.questions)?;
    for (_, measure) in COLUMNS {
        write!(f, " {:>7}", value(marks, measure))?;
    }
    writeln!(f)
}

fn value(marks: &Marks, measure: Measure) -> String {
    match (marks.mean(measure), measure) {
        (None, _) => "-".to_owned(),
        (Some(mean), Measure::ReciprocalRank | Measure::SessionHit | Measure::SessionGain) => {
            format!("{mean:.3}")
        }
        (Some(mean), _) => format!("{:.1}", mean * 100.0),
    }
}

fn budgets(f: &mut Formatter<'_>, marks: &Marks) -> fmt::Result {
    write!(f, "any/all evidence within tokens:")?;
    for tokens in BUDGETS {
        let any = value(marks, Measure::AnyWithin(tokens));
        let all = value(marks, Measure::AllWithin(tokens));
        write!(f, "  {tokens}: {any}/{all}")?;
    }
    writeln!(f)
}

fn milliseconds(micros: u64) -> String {
    format!("{:.2} ms", micros as f64 / 1e3)
}

/// A name from a file, shortened and safe to print.
fn safe(name: &str) -> String {
    let name = escape_hidden(name).replace('\n', " ");
    beginning(&name, NAME).to_owned()
}
