//! Measures how well a memory knows whether it contains an answer: its own questions have one, and those about other
//! conversations have none, even if they name its own speakers.

use std::fmt;

use crate::{
    args::Recall,
    contender::{Contender, Ranking},
    dataset::{self, Conversation, Question},
    error::EvalError,
};

/// How many rows the table of calibration has.
const ROWS: usize = 10;

/// A question that a memory was asked.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Judged {
    confidence: f32,
    is_answered: bool,
    /// Questions with an answer and those without one count the same in total.
    weight: f64,
}

/// How often a memory that finds an answer likely has one.
#[derive(Debug, Default)]
pub(crate) struct ConfidenceReport {
    judged: Vec<Judged>,
}

impl ConfidenceReport {
    pub(crate) async fn of(asked: &Recall) -> Result<Self, EvalError> {
        let dataset = dataset::read(&asked.file, asked.format.map(Into::into))?;
        let conversations = &dataset.conversations;
        let Some(others) = conversations
            .len()
            .checked_sub(1)
            .filter(|others| *others > 0)
        else {
            let path = asked.file.clone();
            return Err(EvalError::OneConversation { path });
        };
        let mut report = Self::default();
        for (place, own) in conversations.iter().enumerate() {
            let memory = Contender::of(Ranking::Words, own, None, &mut |_| ()).await?;
            for (other, asked_of) in conversations.iter().enumerate() {
                let is_answered = place == other;
                let weight = if is_answered {
                    1.0
                } else {
                    1.0 / others as f64
                };
                for question in asked_of.questions.iter().filter(|it| !it.gold.is_empty()) {
                    let question = with_names(question, asked_of, own);
                    if let Some(confidence) = memory.confidence(&question).await? {
                        report.judged.push(Judged {
                            confidence,
                            is_answered,
                            weight,
                        });
                    }
                }
            }
        }
        Ok(report)
    }

    /// How likely a question with an answer has a higher confidence than one without (AUROC); equal ones count half.
    fn separation(&self) -> f64 {
        let (with, without): (Vec<&Judged>, Vec<&Judged>) =
            self.judged.iter().partition(|one| one.is_answered);
        let above = with.iter().map(|one| {
            let others =
                without
                    .iter()
                    .map(|other| match one.confidence.total_cmp(&other.confidence) {
                        std::cmp::Ordering::Greater => 1.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Less => 0.0,
                    });
            others.sum::<f64>()
        });
        above.sum::<f64>() / (with.len() * without.len()).max(1) as f64
    }

    /// For each tenth of the confidence: how many questions, their mean confidence, and the share with an answer.
    fn rows(&self) -> Vec<(usize, f64, f64)> {
        let row = |row: usize| {
            let inside =
                |one: &&Judged| ((one.confidence * ROWS as f32) as usize).min(ROWS - 1) == row;
            let inside: Vec<_> = self.judged.iter().filter(inside).collect();
            let all: f64 = inside.iter().map(|one| one.weight).sum();
            let mean = |value: &dyn Fn(&Judged) -> f64| {
                let sum: f64 = inside.iter().map(|one| one.weight * value(one)).sum();
                sum / all.max(f64::MIN_POSITIVE)
            };
            let confidence = mean(&|one| f64::from(one.confidence));
            (
                inside.len(),
                confidence,
                mean(&|one| f64::from(u8::from(one.is_answered))),
            )
        };
        (0..ROWS).map(row).collect()
    }
}

/// A question about one conversation with the names of the speakers of another.
fn with_names(question: &Question, from: &Conversation, to: &Conversation) -> Question {
    let pairs: Vec<(String, String)> = speakers(from).into_iter().zip(speakers(to)).collect();
    let words = question
        .text
        .split_inclusive(|c: char| !c.is_alphanumeric());
    let text = words.map(|piece| {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        match pairs.iter().find(|(name, _)| name == word) {
            Some((_, name)) => format!("{name}{}", piece.get(word.len()..).unwrap_or_default()),
            None => piece.to_owned(),
        }
    });
    Question {
        text: text.collect(),
        ..question.clone()
    }
}

/// The speakers of a conversation in the order in which they first speak.
fn speakers(conversation: &Conversation) -> Vec<String> {
    let mut speakers: Vec<String> = Vec::new();
    for speaker in conversation
        .turns
        .iter()
        .filter_map(|turn| turn.speaker.as_ref())
    {
        if !speakers.contains(speaker) {
            speakers.push(speaker.clone());
        }
    }
    speakers
}

impl fmt::Display for ConfidenceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered = self.judged.iter().filter(|one| one.is_answered).count();
        writeln!(f, "questions with an answer     {answered:>6}")?;
        writeln!(
            f,
            "questions without one        {:>6}",
            self.judged.len() - answered
        )?;
        writeln!(f, "AUROC                        {:>6.3}", self.separation())?;
        writeln!(f, "confidence    questions   mean   with an answer")?;
        for (row, (count, mean, share)) in self.rows().into_iter().enumerate() {
            if count > 0 {
                let (from, to) = (row as f64 / ROWS as f64, (row + 1) as f64 / ROWS as f64);
                writeln!(
                    f,
                    "{from:.1} to {to:.1}    {count:>9}   {mean:.2}   {:>12.1} %",
                    100.0 * share
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(confidence: f32, is_answered: bool) -> Judged {
        Judged {
            confidence,
            is_answered,
            weight: 1.0,
        }
    }

    #[test]
    fn questions_with_an_answer_are_told_from_those_without_by_their_confidence() {
        let of = |judged: &[Judged]| ConfidenceReport {
            judged: judged.to_vec(),
        };
        let good = of(&[judged(0.9, true), judged(0.8, true), judged(0.1, false)]);
        assert_eq!(good.separation(), 1.0);
        assert_eq!(
            of(&[judged(0.5, true), judged(0.5, false)]).separation(),
            0.5
        );
        let rows = good.rows();
        assert_eq!((rows[1].0, rows[1].2), (1, 0.0));
        assert_eq!((rows[9].0, rows[9].2), (1, 1.0));
    }
}
