//! `dormouse-eval week`: a week of an assistant that overhears a conversation, in seconds.

use std::{
    fmt::{self, Display, Formatter},
    sync::Arc,
};

use dormouse_contracts::{ChatModel, Timestamp};
use dormouse_engine::{Night, State, StepEnd};
use dormouse_journal::{EntryId, JournalEntry, SourceType};
use dormouse_offline::OfflineModel;
use dormouse_text::{escape_hidden, one_line, shortened};

use crate::{
    args::{ModelName, Week},
    dataset::{self, Conversation, Question},
    error::EvalError,
    evidence::Known,
    life::{self, Life, LifeError},
    scripted::ScriptedModel,
};

/// The budget in tokens within which a question has to be answered.
const BUDGET: u32 = 512;
/// How many insights of a night are printed, and how many characters of each.
const SHOWN: usize = 3;
const LENGTH: usize = 160;

/// A week, or two equal ones.
#[derive(Debug)]
pub(crate) struct WeekReport {
    conversation: String,
    model: ModelName,
    seed: u64,
    nights: Vec<NightReport>,
    end: WeekEnd,
    /// Whether a second week with the same seed ended in the same state; `None` without one.
    pub(crate) is_equal: Option<bool>,
}

/// How a week ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WeekEnd {
    state_hash: String,
    events: u64,
}

/// A day and the night after it.
#[derive(Debug)]
struct NightReport {
    at: Timestamp,
    turns: usize,
    night: Night,
    before: Moment,
    after: Moment,
    insights: Vec<String>,
}

/// What is known at some moment.
#[derive(Clone, Copy, Debug)]
struct Moment {
    entries: usize,
    importance: u64,
    cumulative: u32,
    asked: usize,
    answered: usize,
    records: usize,
    bytes: u64,
}

/// The model of this name.
pub(crate) fn model(name: ModelName) -> Result<Arc<dyn ChatModel>, LifeError> {
    Ok(match name {
        ModelName::Offline => Arc::new(OfflineModel::new()),
        ModelName::Scripted => Arc::new(ScriptedModel::new()?),
    })
}

impl WeekReport {
    pub(crate) async fn of(asked: &Week) -> Result<Self, EvalError> {
        let dataset = dataset::read(&asked.file, asked.format.map(Into::into))?;
        let conversation = dataset::numbered(&dataset, asked.conversation)?;
        let (nights, end) = week(conversation, asked).await?;
        let is_equal = match asked.twice {
            true => Some(week(conversation, asked).await?.1 == end),
            false => None,
        };
        Ok(Self {
            conversation: conversation.name.clone(),
            model: asked.model,
            seed: asked.seed,
            nights,
            end,
            is_equal,
        })
    }
}

async fn week(
    conversation: &Conversation,
    asked: &Week,
) -> Result<(Vec<NightReport>, WeekEnd), LifeError> {
    let mut life = Life::begin(conversation, model(asked.model)?, asked.seed).await?;
    let mut nights = Vec::new();
    for day in life::days(conversation) {
        life.hear(&day).await?;
        life.write_entries(&day).await?;
        let evening = life.state().await?;
        let before = moment(&life, conversation, &evening).await?;
        let night = life.night().await?;
        let morning = life.state().await?;
        nights.push(NightReport {
            at: life.now(),
            turns: day.len(),
            after: moment(&life, conversation, &morning).await?,
            insights: insights(&morning, evening.journal.journal().next_id()),
            night,
            before,
        });
    }
    let end = WeekEnd {
        events: life.decide_again().await?,
        state_hash: life.state().await?.hash()?,
    };
    life.end().await;
    Ok((nights, end))
}

async fn moment(
    life: &Life<'_>,
    conversation: &Conversation,
    state: &State,
) -> Result<Moment, LifeError> {
    let known = Known::of(life.memory().await?, conversation, life.said_at()).await?;
    let heard: Vec<usize> = life.said_at().values().copied().collect();
    let can_be_known = |question: &&Question| {
        !question.gold.is_empty() && question.gold.iter().all(|turn| heard.contains(turn))
    };
    let (mut asked, mut answered) = (0, 0);
    for question in conversation.questions.iter().filter(can_be_known) {
        asked += 1;
        answered += usize::from(known.is_answered(question, BUDGET).await?);
    }
    let journal = state.journal.journal();
    let moment = Moment {
        entries: journal.entries().len(),
        importance: journal
            .entries()
            .map(|entry| u64::from(entry.importance.get()))
            .sum(),
        cumulative: journal.reflection().cumulative_importance,
        asked,
        answered,
        records: known.in_use(),
        bytes: known.bytes(),
    };
    known.close().await;
    Ok(moment)
}

/// The conclusions with this number or a later one.
fn insights(state: &State, from: EntryId) -> Vec<String> {
    let is_new =
        |entry: &&JournalEntry| entry.id >= from && entry.source_type == SourceType::Inference;
    let new = state.journal.journal().entries().filter(is_new);
    new.map(|entry| entry.content.clone()).collect()
}

impl Display for WeekReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, model, seed) = (escape_hidden(&self.conversation), self.model, self.seed);
        writeln!(
            f,
            "A week of {name}, with the {model} model and seed {seed}."
        )?;
        self.nights
            .iter()
            .try_for_each(|night| write!(f, "\n{night}"))?;
        let WeekEnd { state_hash, events } = &self.end;
        writeln!(
            f,
            "\n{events} events; decided again, every decision is the same"
        )?;
        writeln!(f, "state: {state_hash}")?;
        match self.is_equal {
            Some(true) => writeln!(f, "a second week with this seed ended in the same state"),
            Some(false) => writeln!(f, "a second week with this seed ended in a DIFFERENT state"),
            None => Ok(()),
        }
    }
}

impl Display for NightReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            night,
            before,
            after,
            ..
        } = self;
        writeln!(
            f,
            "night {}, asleep at {}, awake at {}; {} turns heard before",
            night.number, night.began, self.at, self.turns
        )?;
        for step in &night.steps {
            let end = match step.end {
                Some(StepEnd::Done) => "done".to_owned(),
                Some(StepEnd::Skipped) => "skipped".to_owned(),
                Some(StepEnd::OverBudget) => "over budget".to_owned(),
                Some(StepEnd::TakenBack(probes)) => format!(
                    "taken back: of {} questions {} were answered before, {} after",
                    probes.asked, probes.before, probes.after
                ),
                None => "not finished".to_owned(),
            };
            writeln!(f, "  {}: {end}, {} pieces", step.step, step.ticks)?;
        }
        let came = &night.came_of_it;
        writeln!(
            f,
            "  facts {}, links {}, people {}, entries scored {}, insights {}, entries pruned {}, changes taken back {}, requests {}",
            came.consolidated,
            came.linked,
            came.people,
            came.rescored,
            came.concluded,
            came.pruned,
            came.taken_back,
            came.requests
        )?;
        writeln!(
            f,
            "  journal before: {}; after: {}",
            journal(before),
            journal(after)
        )?;
        for insight in self.insights.iter().take(SHOWN) {
            writeln!(
                f,
                "  insight: {}",
                escape_hidden(&shortened(&one_line(insight), LENGTH))
            )?;
        }
        writeln!(
            f,
            "  questions about what was heard, answered within {BUDGET} tokens: {} of {} before, {} of {} after",
            before.answered, before.asked, after.answered, after.asked
        )?;
        writeln!(
            f,
            "  store before: {}; after: {}",
            store(before),
            store(after)
        )
    }
}

fn journal(moment: &Moment) -> String {
    let Moment {
        entries,
        importance,
        cumulative,
        ..
    } = *moment;
    let mean = importance as f64 / entries.max(1) as f64;
    format!("{entries} entries of mean importance {mean:.2}, {cumulative} towards a reflection")
}

fn store(moment: &Moment) -> String {
    format!(
        "{} records, {:.1} MB",
        moment.records,
        moment.bytes as f64 / 1e6
    )
}
