//! Measures whether recall knows which of two statements is the later one: facts that change are said in the middle of a
//! conversation, and asked about at its end.

mod table;

use std::fmt;

use crate::{
    args::{Changes, Half},
    contender::{Contender, Ranking},
    dataset::{self, Category, Conversation, Question, Turn},
    error::EvalError,
    metrics::BUDGETS,
    seeded::Seeded,
};
use table::{ChangedFact, FACTS};

/// How many turns are ranked.
const RANKED: usize = 10;
/// How many of them are compared.
const FIRST: usize = 5;
/// Neither the first statements nor the later ones are in the middle tenth of a conversation.
const APART: usize = 10;

/// How often recall found the later statement, and how often only the first.
#[derive(Debug, Default)]
pub(crate) struct ChangesReport {
    asked: usize,
    /// How often the later statement is among the first five.
    newest: usize,
    /// How often it is above the first one.
    newest_above: usize,
    /// How often the first statement is among the first five, and the later one is not.
    only_stale: usize,
    /// How often the later statement is shown within each of [`BUDGETS`], and how often only the first.
    shown: Vec<(usize, usize)>,
    /// The questions whose later statement is not among the first five.
    missed: Vec<String>,
}

/// A question about a changed fact, and the places of both statements.
struct Asked {
    question: Question,
    before: usize,
    after: usize,
}

impl ChangesReport {
    pub(crate) async fn of(asked: &Changes) -> Result<Self, EvalError> {
        let dataset = dataset::read(&asked.file, asked.format.map(Into::into))?;
        let random = Seeded::new(asked.seed);
        let mut report = Self {
            shown: vec![(0, 0); BUDGETS.len()],
            ..Self::default()
        };
        for conversation in dataset.conversations {
            let (conversation, questions) = with_changes(conversation, asked.half, &random);
            let contender = Contender::of(Ranking::Words, &conversation, None, &mut |_| ()).await?;
            for asked in questions {
                report.ask(&contender, &asked).await?;
            }
        }
        Ok(report)
    }

    async fn ask(&mut self, contender: &Contender, asked: &Asked) -> Result<(), EvalError> {
        let answer = contender.ask(&asked.question, RANKED).await?;
        let rank = |place| answer.ranked.iter().position(|(turn, _)| *turn == place);
        let (before, after) = (rank(asked.before), rank(asked.after));
        let is_first = |rank: Option<usize>| rank.is_some_and(|rank| rank < FIRST);
        self.asked += 1;
        self.newest += usize::from(is_first(after));
        self.newest_above +=
            usize::from(after.is_some_and(|after| before.is_none_or(|before| after < before)));
        self.only_stale += usize::from(is_first(before) && !is_first(after));
        if !is_first(after) {
            self.missed.push(asked.question.text.clone());
        }
        for (counts, shown) in self.shown.iter_mut().zip(&answer.shown) {
            let newest = shown.contains(&asked.after);
            counts.0 += usize::from(newest);
            counts.1 += usize::from(shown.contains(&asked.before) && !newest);
        }
        Ok(())
    }
}

/// The conversation with both statements of each fact, said by one of its speakers.
fn with_changes(
    mut conversation: Conversation,
    half: Half,
    random: &Seeded,
) -> (Conversation, Vec<Asked>) {
    let mut speakers: Vec<String> = Vec::new();
    for speaker in conversation
        .turns
        .iter()
        .filter_map(|turn| turn.speaker.clone())
    {
        if !speakers.contains(&speaker) {
            speakers.push(speaker);
        }
    }
    let odd = usize::from(half == Half::Kept);
    let facts = FACTS.iter().skip(odd).step_by(2);
    let said: Vec<_> = facts
        .map(|fact| {
            let speaker = speakers.get(random.place(speakers.len()));
            let speaker = speaker.cloned().unwrap_or_default();
            let part = conversation.turns.len() * (APART - 1) / (2 * APART);
            let later = conversation.turns.len() - part;
            (
                fact,
                speaker,
                random.place(part),
                later + random.place(part),
            )
        })
        .collect();
    let asked_at = conversation.questions.first().map(|it| it.asked_at);
    let asked_at = asked_at.or(conversation.turns.last().map(|turn| turn.at));
    let turns = std::mem::take(&mut conversation.turns);
    let mut places = vec![(0, 0); said.len()];
    for (place, turn) in turns.into_iter().enumerate() {
        let like = turn.clone();
        conversation.turns.push(turn);
        for ((fact, speaker, before, after), places) in said.iter().zip(&mut places) {
            let at = conversation.turns.len();
            if *before == place {
                places.0 = at;
                conversation.turns.push(stated(&like, speaker, fact.before));
            }
            if *after == place {
                places.1 = at;
                conversation.turns.push(stated(&like, speaker, fact.after));
            }
        }
    }
    let asked = said.iter().zip(places);
    let asked = asked.map(|((fact, speaker, ..), (before, after))| Asked {
        question: Question {
            text: question(fact, speaker),
            category: Category {
                number: 0,
                name: "changed".to_owned(),
            },
            gold: [after].into(),
            dangling: 0,
            asked_at: asked_at.unwrap_or_default(),
        },
        before,
        after,
    });
    (conversation, asked.collect())
}

fn question(fact: &ChangedFact, speaker: &str) -> String {
    fact.question.replace("NAME", speaker)
}

/// What a speaker says right after this turn.
fn stated(after: &Turn, speaker: &str, text: &str) -> Turn {
    Turn {
        id: format!("{} {text}", after.id),
        speaker: Some(speaker.to_owned()),
        text: text.to_owned(),
        ..after.clone()
    }
}

impl fmt::Display for ChangesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |count: usize| 100.0 * count as f64 / self.asked.max(1) as f64;
        writeln!(f, "questions about changed facts      {:>6}", self.asked)?;
        let rows = [
            ("the newest among the first five", self.newest),
            ("the newest above the old one", self.newest_above),
            ("only the old one among them", self.only_stale),
        ];
        for (name, count) in rows {
            writeln!(f, "{name:<34} {:>6.1} %", share(count))?;
        }
        for (budget, (newest, stale)) in BUDGETS.iter().zip(&self.shown) {
            writeln!(
                f,
                "within {budget:>4} tokens: the newest {:>6.1} %, only the old one {:>5.1} %",
                share(*newest),
                share(*stale)
            )?;
        }
        for question in &self.missed {
            writeln!(f, "missed: {question}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::Timestamp;

    use super::*;

    fn conversation() -> Conversation {
        let turns = (0..200).map(|place: usize| Turn {
            id: format!("D1:{place}"),
            session: 0,
            speaker: Some(["Ann", "Bob"][place % 2].to_owned()),
            text: "The weather was fine today".to_owned(),
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

    #[test]
    fn both_statements_are_said_by_one_speaker_the_later_one_later() {
        let (changed, asked) = with_changes(conversation(), Half::Learn, &Seeded::new(1));
        assert_eq!(asked.len(), FACTS.len().div_ceil(2));
        for (fact, asked) in FACTS.iter().step_by(2).zip(&asked) {
            let (before, after) = (&changed.turns[asked.before], &changed.turns[asked.after]);
            assert_eq!((&*before.text, &*after.text), (fact.before, fact.after));
            assert!(before.at < after.at && before.speaker == after.speaker);
            assert!(
                asked
                    .question
                    .text
                    .contains(before.speaker.as_deref().unwrap())
                    || !fact.question.contains("NAME")
            );
        }
    }

    #[test]
    fn the_halves_share_no_fact() {
        let texts = |half| {
            let (_, asked) = with_changes(conversation(), half, &Seeded::new(1));
            let texts = asked
                .into_iter()
                .map(|asked| asked.question.text.replace("Ann", "").replace("Bob", ""));
            texts.collect::<std::collections::BTreeSet<_>>()
        };
        assert!(texts(Half::Learn).is_disjoint(&texts(Half::Kept)));
    }
}
