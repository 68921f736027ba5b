//! One run: first the rest of an earlier one, then records, then people.

use std::ops::ControlFlow;

use dormouse_contracts::{Append, ChatRequest, LoadSnapshot, ReadEvents, Seq};
use dormouse_entities::{Consolidation, read_consolidation};
use dormouse_memory::write::{Attempts, Batch, ExtractedFacts, batches};

use super::{
    ConsolidateError, Consolidated, ConsolidationEnd, Consolidator, ROUND,
    asking::{Asked, recorded},
    consolidation,
};
use crate::{
    event::{
        ConsolidationBegan, ConsolidationEndCause, ConsolidationEnded, Consultation,
        ConsultationFailed, ConsultationFailure, Event,
    },
    remembering::LoggedMemory,
    state::Consultations,
};

/// The reason of every change that a run makes.
const REASON: &str = "consolidated";

impl Consolidator {
    /// Consolidates what is due, until nothing is left, the model fails, or the most requests are made.
    ///
    /// A request that fails because of its content, or whose reply cannot be parsed, counts as a failure of its records
    /// or its entity. After that they are tried one by one, and after three failures they are skipped. Dropping the
    /// future loses at most one reply
    /// that is not written yet.
    ///
    /// # Errors
    ///
    /// [`ConsolidateError`] if log or memory fail.
    pub async fn run<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
    ) -> Result<Consolidated, ConsolidateError> {
        self.consolidate(memory, Scope::All).await
    }

    /// Extracts facts from due records, and leaves people for another run. Otherwise like [`Consolidator::run`].
    ///
    /// # Errors
    ///
    /// [`ConsolidateError`] if log or memory fail.
    pub(crate) async fn facts<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
    ) -> Result<Consolidated, ConsolidateError> {
        self.consolidate(memory, Scope::Records).await
    }

    /// Consolidates a part while the assistant sleeps. If the limit of requests is reached, the run is not over: the
    /// next call continues it, and knows its failures.
    ///
    /// # Errors
    ///
    /// [`ConsolidateError`] if log or memory fail.
    pub(crate) async fn tonight<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        part: Tonight,
    ) -> Result<Consolidated, ConsolidateError> {
        self.consolidate(memory, Scope::Tonight(part)).await
    }

    async fn consolidate<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        scope: Scope,
    ) -> Result<Consolidated, ConsolidateError> {
        let mut run = Run {
            by: self,
            memory,
            is_begun: false,
            open: Consultations::default(),
            asked: 0,
            came_of_it: Consolidated::default(),
        };
        // A break only means that the reason is in the report.
        let _ended = run.all(scope).await?;
        let goes_on = run.came_of_it.end == ConsolidationEnd::MaxRequests;
        if !(goes_on && matches!(scope, Scope::Tonight(_))) {
            run.finish().await?;
        }
        if scope != Scope::Tonight(Tonight::People) {
            let author = self.settings.author.clone();
            run.memory.mark_consolidated(author, REASON).await?;
        }
        let mut came_of_it = run.came_of_it;
        came_of_it.skipped = run.open.attempts.skipped().map(str::to_owned).collect();
        Ok(came_of_it)
    }
}

/// What a run consolidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    All,
    /// Only records.
    Records,
    /// A part of it, which may take several runs.
    Tonight(Tonight),
}

/// What is consolidated in one piece of the work of a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tonight {
    Records,
    People,
}

/// Whether the run continues. On a break, the reason is in the report.
type Flow<T = ()> = Result<ControlFlow<(), T>, ConsolidateError>;

const ON: ControlFlow<()> = ControlFlow::Continue(());

/// Goes on with the value, or ends the run.
macro_rules! go_on {
    ($flow:expr) => {
        match $flow {
            ControlFlow::Continue(value) => value,
            ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
        }
    };
}

struct Run<'a, L> {
    by: &'a Consolidator,
    memory: &'a mut LoggedMemory<L>,
    /// Whether the log has the event that it began.
    is_begun: bool,
    /// The earlier failures, from the state.
    open: Consultations,
    /// How many requests were made, also those that the model refused: these cost time, and often money.
    asked: u64,
    came_of_it: Consolidated,
}

/// A reply, if there is one: the event that holds it, and its text.
type Answer = Option<(Seq, String)>;

impl<L: Append + ReadEvents + LoadSnapshot> Run<'_, L> {
    async fn all(&mut self, scope: Scope) -> Flow {
        let open = self.memory.state().await?.consultations.clone();
        if open.under_way.as_ref() == Some(&self.by.settings.rules()) {
            // The run was killed, and simply continues.
            self.is_begun = true;
            self.open.attempts = open.attempts.clone();
        }
        if matches!(scope, Scope::Tonight(_)) {
            // Otherwise every night would pay for these requests again.
            for record in &open.given_up {
                let attempts = &mut self.open.attempts;
                (0..Attempts::MOST).for_each(|_| attempts.failed(record));
            }
        }
        go_on!(self.resume(&open).await?);
        if scope != Scope::Tonight(Tonight::People) {
            go_on!(self.records().await?);
        }
        match scope {
            Scope::All | Scope::Tonight(Tonight::People) => self.people().await,
            Scope::Records | Scope::Tonight(Tonight::Records) => Ok(ON),
        }
    }

    /// Handles the recorded replies that have no result yet.
    async fn resume(&mut self, open: &Consultations) -> Flow {
        if let Some((seq, consulted)) = recorded(self.memory, open.extraction).await?
            && let Consultation::Extraction { records } = &consulted.about
        {
            let sources = self
                .memory
                .memory()
                .sources(&self.by.settings.extraction, records)
                .await?;
            // If a record was withdrawn or erased since, the reply must not be used.
            if sources.len() == records.len() {
                self.came_of_it.resumed += 1;
                let verdict = recorded(self.memory, open.judgement).await?;
                let verdict = verdict.map(|(_, consulted)| consulted.reply.content);
                let (batch, reply) = (Batch::of(sources), consulted.reply.content);
                go_on!(self.settle(&batch, seq, &reply, verdict).await?);
            }
        }
        if let Some((_, consulted)) = recorded(self.memory, open.entity).await?
            && let Consultation::EntityConsolidation {
                entity,
                observations,
            } = &consulted.about
        {
            let again = self
                .memory
                .memory()
                .with_entities(|known| Consolidation::again(known.profile(entity)?, observations));
            if let Some(due) = again {
                self.came_of_it.resumed += 1;
                self.settle_person(&due, &consulted.reply.content).await?;
            }
        }
        Ok(ON)
    }

    /// The last event that the memory has read.
    async fn taken_in(&self) -> Result<Seq, ConsolidateError> {
        Ok(Seq(self.memory.memory().log_position().await?.seq))
    }

    /// Writes the rules of the run, before its first request.
    async fn begin(&mut self) -> Result<(), ConsolidateError> {
        if self.is_begun {
            return Ok(());
        }
        let began = Event::ConsolidationBegan(ConsolidationBegan {
            settings: self.by.settings.rules(),
            author: self.by.settings.author.clone(),
        });
        self.memory.append(&began).await?;
        self.is_begun = true;
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), ConsolidateError> {
        if self.is_begun {
            let cause = match &self.came_of_it.end {
                ConsolidationEnd::Done => ConsolidationEndCause::Done,
                ConsolidationEnd::MaxRequests => ConsolidationEndCause::MaxRequests,
                ConsolidationEnd::Stopped => ConsolidationEndCause::Stopped,
                ConsolidationEnd::BudgetSpent => ConsolidationEndCause::BudgetSpent,
                ConsolidationEnd::ModelFailed { kind, .. } => {
                    ConsolidationEndCause::ModelFailed(*kind)
                }
            };
            let ended = Event::ConsolidationEnded(ConsolidationEnded { cause });
            self.memory.append(&ended).await?;
        }
        Ok(())
    }

    /// Writes that a request failed.
    async fn failed(
        &mut self,
        about: Consultation,
        cause: ConsultationFailure,
    ) -> Result<(), ConsolidateError> {
        self.begin().await?;
        self.open.failed(&about);
        let failed = Event::ConsultationFailed(ConsultationFailed { about, cause });
        self.memory.append(&failed).await?;
        Ok(())
    }

    async fn records(&mut self) -> Flow {
        loop {
            let settings = &self.by.settings.extraction;
            // Records that were given up still count as unread, so they must not use up the limit.
            let limit = ROUND + self.open.attempts.skipped().count();
            let sources = self.memory.memory().unread_sources(settings, limit).await?;
            let batches = batches(sources, &self.open.attempts, settings);
            if batches.is_empty() {
                return Ok(ON);
            }
            for batch in batches {
                go_on!(self.batch(&batch).await?);
            }
        }
    }

    async fn batch(&mut self, batch: &Batch) -> Flow {
        // The results of earlier batches may have superseded some of its records.
        let (sources, made_from) = loop {
            let before = self.taken_in().await?;
            let sources = self
                .memory
                .memory()
                .sources(&self.by.settings.extraction, &batch.records())
                .await?;
            if self.taken_in().await? == before {
                break (sources, before);
            }
        };
        if sources.is_empty() {
            return Ok(ON);
        }
        let batch = &Batch::of(sources);
        let request = self.by.extraction(batch);
        match go_on!(self.ask(extraction(batch), &request, made_from).await?) {
            Some((seq, reply)) => self.settle(batch, seq, &reply, None).await,
            None => Ok(ON),
        }
    }

    /// Carries out the result of a reply about a batch. `verdict` is the recorded reply about its doubtful facts.
    async fn settle(
        &mut self,
        batch: &Batch,
        seq: Seq,
        reply: &str,
        verdict: Option<String>,
    ) -> Flow {
        let settings = &self.by.settings.extraction;
        let Some(read) = batch.read(reply, settings) else {
            let cause = ConsultationFailure::Unreadable;
            self.failed(extraction(batch), cause).await?;
            return Ok(ON);
        };
        let ExtractedFacts { unusable, .. } = read;
        let plan = self.memory.memory().plan_extraction(batch, read, settings);
        let mut plan = plan.await?;
        if let Some(question) = plan.question(settings) {
            let verdict = match verdict {
                Some(verdict) => Some(verdict),
                None => {
                    let compared = plan.compared().clone();
                    let made_from = compared.made_from;
                    let about = Consultation::Judgement {
                        extraction: seq,
                        compared: Some(compared),
                    };
                    let answer = go_on!(self.ask(about, &question, made_from).await?);
                    answer.map(|(_, reply)| reply)
                }
            };
            // If the request is refused, the decisions of the rule stay.
            plan.judged(&verdict.unwrap_or_default());
        }
        self.begin().await?;
        let change = plan.into_change();
        let author = self.by.settings.author.clone();
        let (event, added) = self.memory.change(change.clone(), author, REASON).await?;
        self.came_of_it.unusable += unusable;
        self.came_of_it.count(event, &change, added.len());
        for record in batch.records() {
            self.open.attempts.succeeded(&record.to_string());
        }
        Ok(ON)
    }

    async fn people(&mut self) -> Flow {
        loop {
            let known = self.memory.memory();
            let (due, made_from) = loop {
                let before = self.taken_in().await?;
                let due = known.with_entities(|known| self.by.due(known, &self.open.attempts));
                if self.taken_in().await? == before {
                    break (due, before);
                }
            };
            let Some(due) = due.into_iter().next() else {
                return Ok(ON);
            };
            let request = consolidation(&due);
            if let Some((_, reply)) = go_on!(self.ask(person(&due), &request, made_from).await?) {
                self.settle_person(&due, &reply).await?;
            }
        }
    }

    async fn settle_person(
        &mut self,
        due: &Consolidation,
        reply: &str,
    ) -> Result<(), ConsolidateError> {
        let entity = due.entity();
        let Ok(read) = read_consolidation(reply) else {
            let cause = ConsultationFailure::Unreadable;
            return self.failed(person(due), cause).await;
        };
        self.begin().await?;
        let author = self.by.settings.author.clone();
        let change = due.change(read.update);
        self.memory.change_entity(change, author, REASON).await?;
        self.open.attempts.succeeded(entity.as_str());
        if !self.came_of_it.people.contains(entity) {
            self.came_of_it.people.push(entity.clone());
        }
        Ok(())
    }

    /// Asks the model, and writes its reply into the log. `None` if this request is refused.
    async fn ask(
        &mut self,
        about: Consultation,
        request: &ChatRequest,
        made_from: Seq,
    ) -> Flow<Answer> {
        if self.asked >= self.by.settings.max_requests {
            return self.end(ConsolidationEnd::MaxRequests);
        }
        let reserved = match self.by.reserved(self.memory, request).await? {
            Ok(reserved) => reserved,
            Err(end) => return self.end(end),
        };
        self.begin().await?;
        self.asked += 1;
        match self
            .by
            .ask(self.memory, (about, request, made_from), reserved)
            .await?
        {
            Asked::Replied(seq, consulted) => {
                let usage = consulted.reply.usage;
                let report = &mut self.came_of_it;
                report.requests += 1;
                report.prompt_tokens +=
                    u64::from(usage.map_or(consulted.prompt_tokens, |usage| usage.prompt_tokens));
                report.completion_tokens +=
                    u64::from(usage.map_or(consulted.tokens, |usage| usage.completion_tokens));
                Ok(ControlFlow::Continue(Some((seq, consulted.reply.content))))
            }
            Asked::Refused(about) => {
                self.open.failed(&about);
                Ok(ControlFlow::Continue(None))
            }
            Asked::Ended(end) => self.end(end),
        }
    }

    fn end<T>(&mut self, end: ConsolidationEnd) -> Flow<T> {
        self.came_of_it.end = end;
        Ok(ControlFlow::Break(()))
    }
}

fn extraction(batch: &Batch) -> Consultation {
    Consultation::Extraction {
        records: batch.records(),
    }
}

fn person(due: &Consolidation) -> Consultation {
    Consultation::EntityConsolidation {
        entity: due.entity().clone(),
        observations: due.observations().to_vec(),
    }
}
