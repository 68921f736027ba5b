//! Asks every question, and adds up the results.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use dormouse_contracts::Embedder;
use dormouse_memory::MAX_LIMIT;
use tokio::time::Instant;

use crate::{
    contender::{self, Answer, Contender, Ranking},
    dataset::{Category, Conversation, Dataset, Grain, Question},
    error::EvalError,
    metrics::{Found, Gold, Marks},
    receipts::{Receipt, Receipts},
    report::{Block, ConversationRow, Row, Times},
};

/// How the questions are asked.
pub(super) struct Asking<'a> {
    pub(super) dataset: &'a Dataset,
    /// How many turns or sessions are ranked for each question.
    pub(super) limit: usize,
    pub(super) encoder: Option<Arc<dyn Embedder>>,
}

/// The sums while the questions are asked.
#[derive(Default)]
struct Sums {
    total: Marks,
    categories: BTreeMap<Category, Marks>,
    conversations: Vec<ConversationRow>,
    times: Vec<Duration>,
    index_bytes: u64,
    preparing: Duration,
}

impl Asking<'_> {
    /// Measures one ranking over all conversations, and reports each step to `progress`.
    pub(super) async fn measure(
        &self,
        ranking: Ranking,
        receipts: &mut Receipts,
        progress: &mut dyn FnMut(Step<'_>),
    ) -> Result<Block, EvalError> {
        let mut sums = Sums::default();
        for conversation in &self.dataset.conversations {
            self.one(ranking, conversation, &mut sums, receipts, progress)
                .await?;
        }
        let categories = sums.categories.into_iter().map(|(category, marks)| Row {
            name: category.name,
            marks,
        });
        Ok(Block {
            ranking,
            total: sums.total,
            categories: categories.collect(),
            conversations: sums.conversations,
            time_per_query: Times::of(sums.times),
            index_bytes: sums.index_bytes,
            preparing_seconds: sums.preparing.as_secs_f64(),
        })
    }

    async fn one(
        &self,
        ranking: Ranking,
        conversation: &Conversation,
        sums: &mut Sums,
        receipts: &mut Receipts,
        progress: &mut dyn FnMut(Step<'_>),
    ) -> Result<(), EvalError> {
        let mut here = Marks::default();
        let known = conversation.questions.iter().filter(|q| !q.gold.is_empty());
        // Without questions there is nothing to measure, so the conversation is not indexed.
        if known.clone().next().is_some() {
            let begun = Instant::now();
            let mut embedded = 0;
            let mut heard = |texts| {
                embedded += texts;
                progress(Step::Embedded(&conversation.name, embedded));
            };
            let contender =
                Contender::of(ranking, conversation, self.encoder.as_ref(), &mut heard).await?;
            sums.preparing += begun.elapsed();
            sums.index_bytes += contender.index_bytes().await?;
            for question in known {
                let answer = contender.ask(question, self.depth()).await?;
                sums.times.push(answer.took);
                self.write(ranking, conversation, question, &answer, receipts)?;
                let marks = marks(self.dataset.grain, conversation, question, &answer);
                here.add(&marks);
                sums.categories
                    .entry(question.category.clone())
                    .or_default()
                    .add(&marks);
            }
        }
        sums.total.add(&here);
        sums.conversations.push(ConversationRow {
            name: conversation.name.clone(),
            turns: conversation.turns.len(),
            marks: here,
        });
        progress(Step::Asked(&conversation.name));
        Ok(())
    }

    /// How many turns are ranked. Sessions need more of them, because several turns belong to one session.
    fn depth(&self) -> usize {
        match self.dataset.grain {
            Grain::Turn => self.limit,
            Grain::Session => MAX_LIMIT,
        }
    }

    fn write(
        &self,
        ranking: Ranking,
        conversation: &Conversation,
        question: &Question,
        answer: &Answer,
        receipts: &mut Receipts,
    ) -> Result<(), EvalError> {
        let grain = self.dataset.grain;
        let ranked = ranked(grain, conversation, answer).take(self.limit);
        let ranked = ranked.map(|(place, score)| (conversation.name_of(grain, place), score));
        let gold = question.gold.iter();
        receipts.write(&Receipt {
            question: &question.text,
            conversation: &conversation.name,
            category: &question.category.name,
            ranking,
            ranked: ranked.map(Into::into).collect(),
            gold: gold
                .map(|place| conversation.name_of(grain, *place))
                .collect(),
        })
    }
}

/// A step of the measurement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    /// This many texts of this conversation have been embedded so far.
    Embedded(&'a str, u64),
    /// All questions about this conversation were asked.
    Asked(&'a str),
}

/// The ranked turns or sessions with their scores, each once. A session has the score of its best turn.
fn ranked<'a>(
    grain: Grain,
    conversation: &'a Conversation,
    answer: &'a Answer,
) -> impl Iterator<Item = (usize, f32)> + 'a {
    let mut seen = BTreeSet::new();
    let places = answer.ranked.iter().filter_map(move |(turn, score)| {
        let place = match grain {
            Grain::Turn => *turn,
            Grain::Session => conversation.turns.get(*turn)?.session,
        };
        Some((place, *score))
    });
    places.filter(move |(place, _)| seen.insert(*place))
}

/// The measures of the answer to one question.
pub(super) fn marks(
    grain: Grain,
    conversation: &Conversation,
    question: &Question,
    answer: &Answer,
) -> Marks {
    let turns = contender::places(&answer.ranked);
    let shown = answer.shown.iter().map(|turns| match grain {
        Grain::Turn => turns.iter().copied().collect(),
        Grain::Session => conversation.sessions_of(turns.iter().copied()).collect(),
    });
    let found = Found {
        ranked: ranked(grain, conversation, answer)
            .map(|(place, _)| place)
            .collect(),
        shown: shown.collect(),
        sessions: conversation.sessions_of(turns).collect(),
    };
    let sessions = match grain {
        Grain::Turn => conversation
            .sessions_of(question.gold.iter().copied())
            .collect(),
        Grain::Session => question.gold.clone(),
    };
    let gold = Gold {
        places: question.gold.clone(),
        sessions,
    };
    Marks::of(&found, &gold)
}
