//! One piece of the work of a night, on the memory and the log.

use dormouse_contracts::{Append, Author, LoadSnapshot, Origin, ReadEvents, Seq, each_event};
use dormouse_entities::{ConsolidationPolicy, EntityChange, StaleAfter};
use dormouse_memory::{
    MemoryChange, MemoryError, RecallRequest, Record,
    links::{LinkPolicy, proposals},
};

use super::{
    SleepStep, is_next,
    probes::{self, Probe},
};
use crate::{
    compacting::{CompactError, Compactor},
    consolidating::{ConsolidateError, ConsolidationEnd, Consolidator, ReflectionCall, Tonight},
    event::{Event, NightStepped, StepFailure, StepOutcome},
    remembering::{LoggedChangeError, LoggedMemory},
    replay::{ReplayError, restore},
    state::State,
};

/// The most requests of one sleep tick that makes facts.
const FACT_REQUESTS: u64 = 3;
/// The most requests of one sleep tick that makes attributes: one for each of five people.
const PEOPLE_REQUESTS: u64 = 5;
/// The most requests of one sleep tick that scores entries of the journal: each scores three.
const SCORING_REQUESTS: u64 = 1;
/// The most requests of one sleep tick that draws conclusions: one for questions and one for insights.
const REFLECTION_REQUESTS: u64 = 2;
/// How many records one sleep tick tries to link.
const LINKED_AT_ONCE: usize = 50;
/// The reason of the changes that a night makes.
const REASON: &str = "in its sleep";
/// The reason of the changes that take something back.
const TAKEN_BACK: &str = "less was recalled afterwards";
/// From how many of the last events questions are drawn.
const PROBED_EVENTS: u64 = 5_000;
/// From how many records they are drawn at most.
const PROBED_RECORDS: usize = 1_000;
/// Within how many tokens the evidence has to be.
const PROBE_TOKENS: u32 = 512;

/// Does the work of a night.
#[derive(Clone, Debug)]
pub struct NightWorker {
    by: Consolidator,
    night: u64,
}

/// What a sleep tick came to.
struct Ticked {
    outcome: StepOutcome,
    /// The last record that was looked at.
    through: Option<Origin>,
}

impl From<StepOutcome> for Ticked {
    fn from(outcome: StepOutcome) -> Self {
        Self {
            outcome,
            through: None,
        }
    }
}

impl NightWorker {
    /// Somebody who does the work of this night. `by` says whom to ask, and how long that may take.
    #[must_use]
    pub fn new(by: Consolidator, night: u64) -> Self {
        Self { by, night }
    }

    /// Does one piece of work, and writes what came of it. A model or a memory that fails is not an error: the piece has failed,
    /// which the log says. Dropping the future loses at most one reply that is not written yet.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`] if that could not be written.
    pub async fn work<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        step: SleepStep,
    ) -> Result<(), LoggedChangeError> {
        let ticked = match Box::pin(self.tick(memory, step)).await {
            Ok(Some(ticked)) => ticked,
            // It was stopped: there is no night any more.
            Ok(None) => return Ok(()),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, %step, "work of a night failed");
                StepOutcome::Failed(StepFailure::Storage).into()
            }
        };
        let stepped = Event::NightStepped(NightStepped {
            night: self.night,
            step,
            outcome: ticked.outcome,
            through: ticked.through,
        });
        let night = self.night;
        memory
            .append_decided(|state| is_next(state, night, step).then(|| stepped.clone()))
            .await?;
        Ok(())
    }

    async fn tick<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        step: SleepStep,
    ) -> Result<Option<Ticked>, CompactError> {
        let is_probed = self.may_bury(memory, step).await?;
        if !is_probed {
            return self.unprobed(memory, step).await;
        }
        let probes = probes::draw(&self.recent(memory).await?);
        let begun = memory.memory().log_position().await;
        let begun = Seq(begun.map_err(ConsolidateError::from)?.seq);
        let before = self.answered(memory, &probes).await?;
        let ticked = self.unprobed(memory, step).await?;
        let after = self.answered(memory, &probes).await?;
        match probes::fall(&before, &after) {
            Some(result) => {
                self.take_back(memory, begun).await?;
                let through = ticked.and_then(|ticked| ticked.through);
                let outcome = StepOutcome::TakenBack(result);
                Ok(Some(Ticked { outcome, through }))
            }
            None => Ok(ticked),
        }
    }

    /// Whether a piece of work adds records or links that may take the place of others in recall.
    async fn may_bury<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &LoggedMemory<L>,
        step: SleepStep,
    ) -> Result<bool, ConsolidateError> {
        let known = memory.memory();
        Ok(match step {
            SleepStep::ConsolidateMemory => {
                let unread = known.unread_sources(&self.by.settings.extraction, 1);
                !unread.await?.is_empty()
            }
            SleepStep::LinkMemories => {
                let state = restore(memory.log(), known.assistant()).await?;
                let from = state.sleep.linked_through();
                !known.records(from, 1).await?.is_empty()
            }
            _ => false,
        })
    }

    /// What was heard lately.
    async fn recent<L: Append + ReadEvents>(
        &self,
        memory: &LoggedMemory<L>,
    ) -> Result<Vec<Record>, ConsolidateError> {
        let position = memory.memory().log_position().await?;
        let from = position.seq.checked_sub(PROBED_EVENTS);
        let from = from.map(|seq| Origin::event(Seq(seq)));
        Ok(memory.memory().records(from, PROBED_RECORDS).await?)
    }

    /// Of each question, whether the memory finds its evidence.
    async fn answered<L: Append + ReadEvents>(
        &self,
        memory: &LoggedMemory<L>,
        probes: &[Probe],
    ) -> Result<Vec<bool>, ConsolidateError> {
        let mut answered = Vec::new();
        for probe in probes {
            let request = RecallRequest::new(&*probe.question);
            let request = request.tokens(PROBE_TOKENS).by_words();
            let recall = memory.memory().recall(request).await?;
            let mut items = recall.items.iter();
            let found = items.any(|item| {
                item.folded.contains(&probe.evidence) || probe.is_answered_by(&item.record)
            });
            answered.push(found);
        }
        Ok(answered)
    }

    /// Takes back what this night changed after this event, the last change first.
    async fn take_back<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        begun: Seq,
    ) -> Result<(), ConsolidateError> {
        let key = memory.memory().assistant().clone();
        let mut made = Vec::new();
        let author = self.author();
        each_event(memory.log(), &key, begun.next().., |stored| {
            let event = Event::decode(stored).map_err(ReplayError::from)?;
            if let Event::MemoryChanged(changed) = event
                && changed.author == author
                && !matches!(changed.change, MemoryChange::Undone { .. })
            {
                made.push(stored.seq);
            }
            Ok::<_, ReplayError>(())
        })
        .await?;
        for event in made.into_iter().rev() {
            memory.undo(event, self.author(), TAKEN_BACK).await?;
        }
        Ok(())
    }

    async fn unprobed<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        step: SleepStep,
    ) -> Result<Option<Ticked>, CompactError> {
        Ok(match step {
            SleepStep::ConsolidateMemory => {
                let by = self.asking(FACT_REQUESTS);
                outcome(&by.tonight(memory, Tonight::Records).await?.end)
            }
            SleepStep::ConsolidatePeople => {
                let by = self.asking(PEOPLE_REQUESTS);
                outcome(&by.tonight(memory, Tonight::People).await?.end)
            }
            SleepStep::ScoreJournal => {
                let by = self.asking(SCORING_REQUESTS);
                let scored = by.score_entries(memory).await?;
                let is_last = scored.is_idle();
                outcome(&scored.end).map(|ticked| match ticked.outcome {
                    StepOutcome::Done if !is_last => StepOutcome::GoesOn.into(),
                    _ => ticked,
                })
            }
            SleepStep::Reflect => {
                let by = self.asking(REFLECTION_REQUESTS);
                let reflected = by.reflect(memory, ReflectionCall::IfDue).await?;
                outcome(&reflected.end)
            }
            SleepStep::LinkMemories => Some(self.link(memory).await?),
            SleepStep::CompactHistory => Some(self.compact(memory).await?.into()),
            SleepStep::ClearConversations => {
                let change = EntityChange::StaleCleared {
                    stale_after: StaleAfter::default(),
                };
                let cleared = memory.change_entity(change, self.author(), REASON).await;
                cleared.map_err(ConsolidateError::from)?;
                Some(StepOutcome::Done.into())
            }
            SleepStep::PruneJournal => {
                self.prune(memory).await?;
                Some(StepOutcome::Done.into())
            }
        })
    }

    /// Takes one call's worth of entries out of the journal.
    async fn prune<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
    ) -> Result<(), ConsolidateError> {
        let key = memory.memory().assistant().clone();
        let now = self.by.clock.now();
        let pruned = |state: &State| {
            let settings = state.configuration.settings.journal_settings(&key);
            let pruned = state.journal.prune(now, &settings, (self.author(), REASON));
            pruned.map(Event::JournalChanged)
        };
        memory.append_decided(pruned).await?;
        Ok(())
    }

    fn author(&self) -> Author {
        Author::Sleep(self.night)
    }

    fn asking(&self, max_requests: u64) -> Consolidator {
        let mut by = self.by.clone();
        by.settings.author = self.author();
        by.settings.max_requests = max_requests;
        by.settings.people = ConsolidationPolicy::default();
        by
    }

    async fn compact<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
    ) -> Result<StepOutcome, CompactError> {
        let by = self.asking(FACT_REQUESTS);
        match Box::pin(Compactor { by }.run(memory)).await {
            // What was not summed up is tried again when the next summary is made.
            Ok(_) | Err(CompactError::Off) => Ok(StepOutcome::Done),
            Err(CompactError::Busy) => Ok(StepOutcome::Failed(StepFailure::Busy)),
            Err(error) => Err(error),
        }
    }

    /// Links the records after those that were looked at in earlier ticks.
    async fn link<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
    ) -> Result<Ticked, ConsolidateError> {
        let key = memory.memory().assistant().clone();
        let state = restore(memory.log(), &key).await?;
        let from = state.sleep.linked_through();
        let page = memory.memory().records(from, LINKED_AT_ONCE).await?;
        let policy = LinkPolicy::default();
        let through = page.last().map(|record| record.id).or(from);
        for record in page {
            for link in proposals(memory.memory(), record.id, &policy).await? {
                let linked = MemoryChange::Linked {
                    a: record.id,
                    b: link.to,
                    kind: link.kind,
                    weight: link.weight,
                };
                match memory.change(linked, self.author(), REASON).await {
                    // Somebody folded or withdrew one of them meanwhile.
                    Ok(_) | Err(LoggedChangeError::Memory(MemoryError::Change(_))) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        let is_last = memory.memory().records(through, 1).await?.is_empty();
        Ok(Ticked {
            outcome: match is_last {
                true => StepOutcome::Done,
                false => StepOutcome::GoesOn,
            },
            through,
        })
    }
}

/// What a consolidation that ended like this comes to; `None` if the assistant is stopped.
fn outcome(end: &ConsolidationEnd) -> Option<Ticked> {
    let outcome = match end {
        ConsolidationEnd::Done => StepOutcome::Done,
        ConsolidationEnd::MaxRequests => StepOutcome::GoesOn,
        ConsolidationEnd::BudgetSpent => StepOutcome::OverBudget,
        ConsolidationEnd::ModelFailed { kind, .. } => {
            StepOutcome::Failed(StepFailure::Model(*kind))
        }
        ConsolidationEnd::Stopped => return None,
    };
    Some(outcome.into())
}
