//! Asking two spaces the same questions, to see whether recall stays as good.

use dormouse_contracts::Embedder;
use serde::Serialize;

use crate::{
    indexing::progress::IndexingError,
    memory::{Memory, blocking},
    recall::{RecallRequest, Validity},
    record::{Record, RecordId},
    spaces::Space,
    vectors::Vectors,
};

/// The highest number of probes that are made from records of the memory.
const MOST: usize = 200;
/// How many words a record must have to be used as a probe.
const LEAST_WORDS: usize = 6;
/// A probe succeeds if its record is among this many first answers.
const WITHIN: usize = 10;

/// A question, and the record that answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The question.
    pub query: String,
    /// The record.
    pub answer: RecordId,
}

/// The share of the probes whose answer was among the first ten, in `0.0..=1.0`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// By words and vectors together.
    pub together: f32,
    /// By vectors alone.
    pub vectors: f32,
}

/// The results of the probes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbeReport {
    /// How many probes there were.
    pub probes: usize,
    /// By words alone.
    pub words: f32,
    /// In the space that was active; `None` without its encoder.
    pub before: Option<Scores>,
    /// In the new space.
    pub after: Scores,
}

impl ProbeReport {
    /// Whether the share of successful probes in the new space is lower by at most `tolerance`.
    #[must_use]
    pub fn is_no_worse(&self, tolerance: f32) -> bool {
        match &self.before {
            Some(before) => {
                self.after.together >= before.together - tolerance
                    && self.after.vectors >= before.vectors - tolerance
            }
            None => self.after.together >= self.words - tolerance,
        }
    }
}

impl Memory {
    /// Asks the probes, or probes made from records of the memory if there are none.
    pub(super) async fn probe(
        &self,
        vectors: &Vectors,
        former: Option<(&Space, &dyn Embedder)>,
        new: (&Space, &dyn Embedder),
        probes: Vec<Probe>,
    ) -> Result<ProbeReport, IndexingError> {
        let probes = if probes.is_empty() {
            self.own_probes().await?
        } else {
            probes
        };
        let mut words = 0;
        for probe in &probes {
            words += usize::from(self.finds(&request(probe), &[], probe.answer).await?);
        }
        let before = match former {
            Some(space) => Some(self.scores(vectors, space, &probes).await?),
            None => None,
        };
        Ok(ProbeReport {
            probes: probes.len(),
            words: share(words, probes.len()),
            before,
            after: self.scores(vectors, new, &probes).await?,
        })
    }

    async fn scores(
        &self,
        vectors: &Vectors,
        (space, encoder): (&Space, &dyn Embedder),
        probes: &[Probe],
    ) -> Result<Scores, IndexingError> {
        let (mut together, mut alone) = (0, 0);
        for probe in probes {
            let request = request(probe);
            let hits = self.hits(vectors, encoder, space, &request).await?;
            let mut first = hits.iter().take(WITHIN);
            alone += usize::from(first.any(|hit| hit.id == probe.answer.to_number()));
            together += usize::from(self.finds(&request, &hits, probe.answer).await?);
        }
        Ok(Scores {
            together: share(together, probes.len()),
            vectors: share(alone, probes.len()),
        })
    }

    /// Probes made from the memory's own records, evenly spread over them. The question is every second word of a record, so that
    /// it is neither the record itself nor about something else.
    async fn own_probes(&self) -> Result<Vec<Probe>, IndexingError> {
        let inner = self.inner.clone();
        let records = blocking(move || {
            let ids = inner.in_use()?;
            let step = ids.len().div_ceil(MOST).max(1);
            let chosen: Vec<RecordId> = ids.into_iter().step_by(step).collect();
            Ok(inner.store.read(|reading| reading.records(&chosen))?)
        })
        .await?;
        Ok(records.iter().flatten().filter_map(probe_of).collect())
    }
}

fn probe_of(record: &Record) -> Option<Probe> {
    let words: Vec<&str> = record.text.split_whitespace().take(64).collect();
    let query: Vec<&str> = words.iter().copied().step_by(2).collect();
    (words.len() >= LEAST_WORDS).then(|| Probe {
        query: query.join(" "),
        answer: record.id,
    })
}

fn request(probe: &Probe) -> RecallRequest {
    RecallRequest::new(&*probe.query)
        .limit(WITHIN)
        .min_trust(dormouse_contracts::Trust::NONE)
        .valid(Validity::Any)
}

fn share(part: usize, whole: usize) -> f32 {
    match whole {
        0 => 1.0,
        whole => part as f32 / whole as f32,
    }
}
