//! Does one work step of a night, on the memory and the log.

use std::collections::{BTreeSet, VecDeque};

use dormouse_contracts::{Append, Author, LoadSnapshot, Origin, ReadEvents, Seq, each_event};
use dormouse_entities::{ConsolidationPolicy, EntityChange, StaleAfter};
use dormouse_memory::{
    ChangeError, MemoryChange, MemoryError, RecallRequest, Record,
    links::{LinkPolicy, proposals},
    write::Source,
};

use super::{
    SleepStep, is_next,
    probes::{self, Probe},
};
use crate::{
    compacting::{CompactError, Compactor},
    consolidating::{ConsolidateError, ConsolidationEnd, Consolidator, ReflectionCall, Tonight},
    event::{Event, NightProbed, NightStepped, ProbeAnswer, ProbeStage, StepFailure, StepOutcome},
    remembering::{LoggedChangeError, LoggedMemory},
    replay::ReplayError,
    state::{ProbedPiece, State},
};

/// The maximum number of requests in a sleep tick that makes facts.
const FACT_REQUESTS: u64 = 3;
/// The maximum number of requests in a sleep tick that makes attributes: one for each of five people.
const PEOPLE_REQUESTS: u64 = 5;
/// The maximum number of requests in a sleep tick that scores journal entries: each scores three.
const SCORING_REQUESTS: u64 = 1;
/// The maximum number of requests in a sleep tick that draws conclusions: one for questions and one for insights.
const REFLECTION_REQUESTS: u64 = 2;
/// How many records one sleep tick tries to link.
const LINKED_AT_ONCE: usize = 50;
/// The reason of the changes that a night makes.
const REASON: &str = "in its sleep";
/// The reason of the changes with which a night takes its earlier changes back.
const TAKEN_BACK: &str = "less was recalled afterwards";
/// From how many of the last events probe questions are drawn.
const PROBED_EVENTS: u64 = 5_000;
/// How many of them are read at a time.
const PROBED_PAGE: usize = 500;
/// From how many bytes of words they are drawn at most.
const PROBED_BYTES: usize = 8 << 20;
/// The evidence must be among the first results within this many tokens.
const PROBE_TOKENS: u32 = 512;

/// Does the work steps of a night.
#[derive(Clone, Debug)]
pub struct NightWorker {
    by: Consolidator,
    night: u64,
}

/// The result of a sleep tick.
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
    /// A worker for this night. `by` says which model to ask, and how long that may take.
    #[must_use]
    pub fn new(by: Consolidator, night: u64) -> Self {
        Self { by, night }
    }

    /// Does one work step, and writes its outcome. A failure of the model or the memory is not an error here: the log
    /// records that the step failed. Dropping the future loses at most one reply that is not written yet.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`] if the outcome could not be written.
    pub async fn work<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        step: SleepStep,
    ) -> Result<(), LoggedChangeError> {
        let ticked = match Box::pin(self.tick(memory, step)).await {
            Ok(Some(ticked)) => ticked,
            // The emergency stop ended the night.
            Ok(None) => return Ok(()),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, %step, "work of a night failed");
                StepOutcome::Failed(StepFailure::Storage).into()
            }
        };
        self.stepped(memory, step, ticked).await
    }

    /// Records that a work step panicked because of a defect. That counts like any other failure of the step.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`] if the outcome could not be written.
    pub(crate) async fn panicked<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        step: SleepStep,
    ) -> Result<(), LoggedChangeError> {
        let failed = StepOutcome::Failed(StepFailure::Panicked);
        self.stepped(memory, step, failed.into()).await
    }

    async fn stepped<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        step: SleepStep,
        ticked: Ticked,
    ) -> Result<(), LoggedChangeError> {
        let night = self.night;
        let stepped = Event::NightStepped(NightStepped {
            night,
            step,
            outcome: ticked.outcome,
            through: ticked.through,
        });
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
        // Other steps add nothing that could displace other records in recall.
        if !matches!(step, SleepStep::ConsolidateMemory | SleepStep::LinkMemories) {
            return self.unprobed(memory, step, FACT_REQUESTS).await;
        }
        let piece = match self.piece(memory, step).await? {
            Some(done) if done.after.is_some() => Some(done),
            known => match self.begun(memory, step, known).await? {
                Some(begun) => self.worked_on(memory, &begun).await?,
                None => return self.unprobed(memory, step, FACT_REQUESTS).await,
            },
        };
        Ok(match piece {
            Some(piece) => self.compared(memory, &piece).await?,
            None => None,
        })
    }

    /// The unfinished work of this step that began with probe questions.
    async fn piece<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &LoggedMemory<L>,
        step: SleepStep,
    ) -> Result<Option<ProbedPiece>, ConsolidateError> {
        let state = memory.state().await?;
        Ok(state.sleep.probed_piece(step).cloned())
    }

    /// The unfinished work, with the answers from before it; `None` if no comparison is to be made.
    async fn begun<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        step: SleepStep,
        known: Option<ProbedPiece>,
    ) -> Result<Option<ProbedPiece>, ConsolidateError> {
        // If the work changed nothing yet, messages since an interruption must not count against it, so the questions
        // are asked again.
        let has_changed = known.as_ref().is_some_and(|piece| piece.has_changed);
        if has_changed || !self.may_bury(memory, step).await? {
            return Ok(known);
        }
        let probes = probes::draw(&self.recent(memory).await?);
        if probes.len() < probes::FEWEST {
            return Ok(known);
        }
        let mut before = Vec::new();
        for probe in &probes {
            before.push(ProbeAnswer {
                evidence: probe.evidence,
                left_out: u32::try_from(probe.left_out).unwrap_or(u32::MAX),
                answered: self.is_answered(memory, probe, &BTreeSet::new()).await?,
            });
        }
        self.probed(memory, step, ProbeStage::Before(before))
            .await?;
        self.piece(memory, step).await
    }

    /// The finished work, with the answers from after it; `None` if the assistant is stopped.
    async fn worked_on<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        begun: &ProbedPiece,
    ) -> Result<Option<ProbedPiece>, CompactError> {
        let step = begun.step;
        let requests = FACT_REQUESTS.saturating_sub(begun.requests);
        let Some(ticked) = self.unprobed(memory, step, requests).await? else {
            return Ok(None);
        };
        // What was said meanwhile competes with the evidence, too, and is not the work of the piece.
        let since = self.known_since(memory, begun).await?;
        let mut answered = Vec::new();
        for before in &begun.before {
            let left_out = usize::try_from(before.left_out).unwrap_or(usize::MAX);
            let record = memory.memory().record(before.evidence).await;
            let record = record.map_err(ConsolidateError::from)?;
            answered.push(match record.and_then(|it| Probe::about(&it, left_out)) {
                Some(probe) => self.is_answered(memory, &probe, &since).await?,
                // The record was forgotten meanwhile, so its answer does not count against the work.
                None => before.answered,
            });
        }
        let after = ProbeStage::After {
            answered,
            outcome: ticked.outcome,
            through: ticked.through,
        };
        self.probed(memory, step, after).await?;
        Ok(self.piece(memory, step).await?)
    }

    /// The outcome of finished work. If too little is recalled after it, its changes are taken back.
    async fn compared<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        piece: &ProbedPiece,
    ) -> Result<Option<Ticked>, ConsolidateError> {
        let Some(mut outcome) = probes::verdict(piece) else {
            return Ok(None);
        };
        if let StepOutcome::TakenBack(result) = &mut outcome {
            result.kept = self.take_back(memory, piece).await?;
        }
        let through = piece.after.as_ref().and_then(|after| after.through);
        Ok(Some(Ticked { outcome, through }))
    }

    async fn probed<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        step: SleepStep,
        stage: ProbeStage,
    ) -> Result<(), ConsolidateError> {
        let night = self.night;
        let probed = Event::NightProbed(NightProbed { night, step, stage });
        let decide = |state: &State| is_next(state, night, step).then(|| probed.clone());
        memory.append_decided(decide).await?;
        Ok(())
    }

    /// Whether a work step adds records or links that may displace others in recall.
    async fn may_bury<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &LoggedMemory<L>,
        step: SleepStep,
    ) -> Result<bool, ConsolidateError> {
        let known = memory.memory();
        let state = memory.state().await?;
        Ok(match step {
            SleepStep::ConsolidateMemory => {
                let given_up: BTreeSet<_> = state.consultations.given_up.iter().collect();
                let settings = &self.by.settings.extraction;
                let unread = known.unread_sources(settings, given_up.len() + 1).await?;
                let is_new = |source: &Source| !given_up.contains(&source.id().to_string());
                unread.iter().any(is_new)
            }
            SleepStep::LinkMemories => {
                let from = state.sleep.linked_through();
                !known.records(from, 1).await?.is_empty()
            }
            _ => false,
        })
    }

    /// What was heard lately, the oldest first.
    async fn recent<L: Append + ReadEvents>(
        &self,
        memory: &LoggedMemory<L>,
    ) -> Result<Vec<Record>, ConsolidateError> {
        let position = memory.memory().log_position().await?;
        let from = position.seq.checked_sub(PROBED_EVENTS);
        let mut from = from.map(|seq| Origin::event(Seq(seq)));
        let mut recent: VecDeque<Record> = VecDeque::new();
        let mut bytes = 0;
        loop {
            let page = memory.memory().records(from, PROBED_PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(recent.into());
            };
            from = Some(last.id);
            let heard = page.into_iter().filter(probes::is_heard);
            recent.extend(heard.inspect(|record| bytes += record.text.len()));
            // If it is too much, the newest are asked about: they are what the night works on.
            while bytes > PROBED_BYTES
                && let Some(oldest) = recent.pop_front()
            {
                bytes -= oldest.text.len();
            }
        }
    }

    /// What was not known when a piece of work began, and is not made by it: what was said since, if it was interrupted.
    async fn known_since<L: Append + ReadEvents>(
        &self,
        memory: &LoggedMemory<L>,
        piece: &ProbedPiece,
    ) -> Result<BTreeSet<Origin>, ConsolidateError> {
        let is_its_own = |record: &Record| {
            let is_by_model = record.provenance.derivation.is_by_model();
            piece.step == SleepStep::ConsolidateMemory && is_by_model
        };
        let mut from = Some(Origin::event(piece.began));
        let mut since = BTreeSet::new();
        loop {
            let page = memory.memory().records(from, PROBED_PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(since);
            };
            from = Some(last.id);
            let others = page.iter().filter(|it| !is_its_own(it));
            since.extend(others.map(|it| it.id));
        }
    }

    /// Whether the memory finds the evidence for a question.
    async fn is_answered<L: Append + ReadEvents>(
        &self,
        memory: &LoggedMemory<L>,
        probe: &Probe,
        without: &BTreeSet<Origin>,
    ) -> Result<bool, ConsolidateError> {
        let request = RecallRequest::new(&*probe.question);
        let request = request.tokens(PROBE_TOKENS).by_words();
        let request = request.without(without.iter().copied());
        let recall = memory.memory().recall(request).await?;
        let mut items = recall.items.iter();
        Ok(items.any(|item| {
            item.folded.contains(&probe.evidence) || probe.is_answered_by(&item.record)
        }))
    }

    /// Takes back the changes of a work step, the last change first. Returns how many changes cannot be taken back
    /// because later changes depend on them. Changes that are already taken back stay so.
    async fn take_back<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        piece: &ProbedPiece,
    ) -> Result<u32, ConsolidateError> {
        let key = memory.memory().assistant().clone();
        let mut made = Vec::new();
        each_event(memory.log(), &key, piece.began.next().., |stored| {
            let event = Event::decode(stored).map_err(ReplayError::from)?;
            if let Event::MemoryChanged(changed) = event
                // The work may have begun in an earlier night.
                && matches!(changed.author, Author::Sleep(_))
                && ProbedPiece::may_make(piece.step, &changed.change)
            {
                made.push(stored.seq);
            }
            Ok::<_, ReplayError>(())
        })
        .await?;
        let mut kept = 0;
        let author = self.author();
        for event in made.into_iter().rev() {
            match memory.undo_unmarked(event, &author, TAKEN_BACK).await {
                Ok(_)
                | Err(LoggedChangeError::Memory(MemoryError::Change(
                    ChangeError::AlreadyReverted { .. } | ChangeError::NothingToUndo(_),
                ))) => {}
                Err(LoggedChangeError::Memory(MemoryError::Change(error))) => {
                    tracing::warn!(%event, %error, "a change of a night cannot be taken back");
                    kept += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        // Only facts are made from entries.
        if piece.step == SleepStep::ConsolidateMemory {
            memory.mark_consolidated(author, TAKEN_BACK).await?;
        }
        Ok(kept)
    }

    async fn unprobed<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        step: SleepStep,
        fact_requests: u64,
    ) -> Result<Option<Ticked>, CompactError> {
        Ok(match step {
            SleepStep::ConsolidateMemory => {
                let by = self.asking(fact_requests);
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
            SleepStep::CompactHistory => self.compact(memory).await?,
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

    /// Removes as many entries from the journal as one call may.
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
    ) -> Result<Option<Ticked>, CompactError> {
        let by = self.asking(FACT_REQUESTS);
        // The facts of this night are already made and checked with probe questions.
        match Box::pin(Compactor { by }.shorten(memory, None)).await {
            // Turns without a summary are tried again when the next summary is made.
            Ok(shortened) => Ok(outcome(&shortened.end.unwrap_or_default())),
            Err(CompactError::Off) => Ok(Some(StepOutcome::Done.into())),
            Err(CompactError::Busy) => Ok(Some(StepOutcome::Failed(StepFailure::Busy).into())),
            Err(error) => Err(error),
        }
    }

    /// Links the records after those that earlier ticks processed.
    async fn link<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
    ) -> Result<Ticked, ConsolidateError> {
        let state = memory.state().await?;
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
                    // One of the records was merged or withdrawn meanwhile.
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

/// The outcome of a consolidation that ended like this; `None` if the assistant is stopped.
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
