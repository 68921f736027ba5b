//! A model's work on the journal: the importance of entries, and conclusions from them. Each reply and each step is an
//! event. So interrupted work continues with the missing step, and no reply is paid for twice.

use std::sync::Arc;

use dormouse_contracts::{
    Append, Audience, ChatRequest, LoadSnapshot, Origin, ReadEvents, Seq, Timestamp,
};
use dormouse_journal::{
    JournalChange, JournalSettings, ReadInsights, ReflectionEvidence, ReflectionStep,
    choose_evidence, insights_request, pending_scores, questions_request, read_questions,
    read_scores, scoring_request,
};
use dormouse_memory::{RecallRequest, Record, RecordKind, RecordStatus};
use serde::Serialize;

use super::{
    ConsolidateError, ConsolidationEnd, Consolidator,
    asking::{Asked, recorded},
};
use crate::{
    event::{Consultation, Consulted, Event},
    remembering::LoggedMemory,
    state::State,
};

/// When a reflection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReflectionCall {
    /// It begins if the cumulative importance has reached the threshold.
    IfDue,
    /// It begins if there is anything to reflect on.
    Now,
}

/// The result of a model's work on the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JournalWork {
    /// Requests that were answered.
    pub requests: u64,
    /// Replies of an earlier run that were used.
    pub resumed: u64,
    /// Entries with a new importance.
    pub scored: u64,
    /// Conclusions that were written.
    pub insights: u64,
    /// Refused conclusions, and replies without usable ones.
    pub refused: u64,
    /// Whether a reflection was completed.
    pub reflected: bool,
    /// Why it stopped.
    pub end: ConsolidationEnd,
}

impl JournalWork {
    /// Whether there was nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.requests == 0 && self.resumed == 0 && self.refused == 0
    }
}

const SCORED: &str = "scored by a model";
const REFLECTED: &str = "reflection";

impl Consolidator {
    /// Lets the model score entries that only the formula has scored, at most as many as one tick takes, in one
    /// request.
    ///
    /// # Errors
    ///
    /// [`ConsolidateError`] if log or memory fail.
    pub async fn score_entries<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
    ) -> Result<JournalWork, ConsolidateError> {
        let mut work = JournalWork::default();
        let (state, settings) = self.journal_of(memory).await?;
        let journal = state.journal.journal();
        let open = recorded(memory, state.consultations.scoring).await?;
        let (entries, reply) = match open {
            Some((
                _,
                Consulted {
                    about: Consultation::Scoring { entries },
                    reply,
                    ..
                },
            )) => {
                work.resumed += 1;
                (entries, reply.content)
            }
            _ => {
                let entries = pending_scores(journal, &settings.scoring);
                let Some(request) = scoring_request(journal, &entries, &settings.scoring)
                    .filter(|_| !entries.is_empty())
                else {
                    return Ok(work);
                };
                let about = Consultation::Scoring {
                    entries: entries.clone(),
                };
                let asked = (about, request, state.seq);
                match Box::pin(self.reply(memory, asked, &mut work)).await? {
                    Some(reply) => (entries, reply),
                    // A refused request counts like a reply without scores. Otherwise it would be repeated forever.
                    None if work.end == ConsolidationEnd::Done => (entries, String::new()),
                    None => return Ok(work),
                }
            }
        };
        let read = read_scores(&reply, &entries);
        work.scored += u64::try_from(read.scores.len()).unwrap_or(u64::MAX);
        let change = read.into_change();
        self.write(memory, SCORED, |_| vec![change.clone()]).await?;
        Ok(work)
    }

    /// Draws conclusions from the entries since the last reflection: questions about them, memories that help to answer
    /// the questions, and insights that cite these memories. Continues an interrupted reflection.
    ///
    /// # Errors
    ///
    /// [`ConsolidateError`] if log or memory fail.
    pub async fn reflect<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        call: ReflectionCall,
    ) -> Result<JournalWork, ConsolidateError> {
        let mut work = JournalWork::default();
        let mut has_begun = false;
        loop {
            let (state, settings) = self.journal_of(memory).await?;
            let (journal, policy) = (state.journal.journal(), settings.reflection);
            match journal.reflection().step() {
                ReflectionStep::Rest => {
                    let is_due = call == ReflectionCall::Now || journal.reflection_due(&policy);
                    if has_begun || !is_due || journal.plan_reflection(&policy).is_none() {
                        return Ok(work);
                    }
                    let begin = |state: &State| {
                        let planned = state.journal.journal().plan_reflection(&policy);
                        planned.into_iter().collect()
                    };
                    self.write(memory, REFLECTED, begin).await?;
                }
                ReflectionStep::Ask => {
                    let about = Consultation::Questions {
                        entries: pending(&state),
                    };
                    let request = questions_request(journal, &policy);
                    let names: Vec<_> = settings.names.iter().map(String::as_str).collect();
                    let reply = match request {
                        Some(request) => self.step(memory, &state, (about, request), &mut work),
                        // None of its entries is left.
                        None => return self.give_up(memory, work).await,
                    };
                    let Some(reply) = reply.await? else {
                        return Ok(work);
                    };
                    let read = read_questions(&reply, policy.questions, &names);
                    self.questions(memory, read, &settings).await?;
                }
                ReflectionStep::Search(questions) => {
                    let evidence = evidence(memory, &state, questions, &settings).await?;
                    let found = JournalChange::EvidenceFound { evidence };
                    self.write(memory, REFLECTED, |_| vec![found.clone()])
                        .await?;
                }
                ReflectionStep::Conclude(questions, ids) => {
                    let ids: Vec<_> = ids.iter().flatten().copied().collect();
                    let pieces = pieces(memory, &state, &ids).await?;
                    // If some of the evidence is gone, the reply is not used, because its audience is not known any
                    // more.
                    let shown = pieces.iter().map(|piece| piece.id).collect();
                    let about = Consultation::Insights { evidence: shown };
                    let reply = match insights_request(questions, &pieces, &policy) {
                        Some(request) => {
                            let asked = (about, request);
                            self.step(memory, &state, asked, &mut work).await?
                        }
                        // No evidence was found.
                        None => Some("[]".to_owned()),
                    };
                    let Some(reply) = reply else {
                        return Ok(work);
                    };
                    self.conclude(memory, (&reply, &pieces), &settings, &mut work)
                        .await?;
                }
            }
            has_begun = true;
        }
    }

    async fn journal_of<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &LoggedMemory<L>,
    ) -> Result<(Arc<State>, JournalSettings), ConsolidateError> {
        let state = memory.state().await?;
        let key = memory.memory().assistant();
        let settings = state.configuration.settings.journal_settings(key);
        Ok((state, settings))
    }

    /// The reply to a step of a reflection: the one that was recorded, or a new one. `None` if the model cannot be asked now; a step
    /// that is refused has an empty reply.
    async fn step<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        state: &State,
        (about, request): (Consultation, ChatRequest),
        work: &mut JournalWork,
    ) -> Result<Option<String>, ConsolidateError> {
        let open = recorded(memory, state.consultations.reflection).await?;
        if let Some((_, consulted)) = open.filter(|(_, consulted)| consulted.about == about) {
            work.resumed += 1;
            return Ok(Some(consulted.reply.content));
        }
        let asked = (about, request, state.seq);
        let reply = Box::pin(self.reply(memory, asked, work)).await?;
        let is_refused = reply.is_none() && work.end == ConsolidationEnd::Done;
        Ok(reply.or(is_refused.then(String::new)))
    }

    async fn reply<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        (about, request, made_from): (Consultation, ChatRequest, Seq),
        work: &mut JournalWork,
    ) -> Result<Option<String>, ConsolidateError> {
        if work.requests >= self.settings.max_requests {
            work.end = ConsolidationEnd::MaxRequests;
            return Ok(None);
        }
        let reserved = match self.reserved(memory, &request).await? {
            Ok(reserved) => reserved,
            Err(end) => {
                work.end = end;
                return Ok(None);
            }
        };
        let asked = (about, &request, made_from);
        match self.ask(memory, asked, reserved).await? {
            Asked::Replied(_, consulted) => {
                work.requests += 1;
                return Ok(Some(consulted.reply.content));
            }
            Asked::Refused(_) => work.refused += 1,
            Asked::Ended(end) => work.end = end,
        }
        Ok(None)
    }

    /// Writes the change that `decide` returns for the state, if there is one.
    async fn write<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        reason: &str,
        mut changes: impl FnMut(&State) -> Vec<JournalChange>,
    ) -> Result<Option<Event>, ConsolidateError> {
        let written = memory.append_decided(|state| {
            let changes = changes(state);
            (!changes.is_empty()).then(|| {
                let by = (self.settings.author.clone(), reason);
                Event::JournalChanged(state.journal.changed(changes, by))
            })
        });
        Ok(written.await?)
    }

    async fn give_up<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        work: JournalWork,
    ) -> Result<JournalWork, ConsolidateError> {
        let given_up = |_: &State| vec![JournalChange::ReflectionGivenUp];
        self.write(memory, REFLECTED, given_up).await?;
        Ok(work)
    }

    async fn questions<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        read: Option<Vec<String>>,
        settings: &JournalSettings,
    ) -> Result<(), ConsolidateError> {
        let policy = &settings.reflection;
        let change = |state: &State| match &read {
            Some(questions) => vec![state.journal.journal().plan_questions(questions.clone())],
            None => failure(state, policy),
        };
        self.write(memory, REFLECTED, change).await.map(drop)
    }

    async fn conclude<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        (reply, pieces): (&str, &[ReflectionEvidence]),
        settings: &JournalSettings,
        work: &mut JournalWork,
    ) -> Result<(), ConsolidateError> {
        let now: Timestamp = self.clock.now();
        let mut refused = 0;
        let change = |state: &State| {
            let journal = state.journal.journal();
            match ReadInsights::of(reply, pieces, journal, now, settings) {
                Some(read) => {
                    refused = read.refused.len();
                    read.into_changes(journal, settings)
                }
                None => {
                    refused = 1;
                    failure(state, &settings.reflection)
                }
            }
        };
        let written = self.write(memory, REFLECTED, change).await?;
        let Some(Event::JournalChanged(changed)) = written else {
            return Ok(());
        };
        for change in &changed.changes {
            if let JournalChange::Reflected { insights } = change {
                work.reflected = true;
                work.insights += u64::try_from(insights.len()).unwrap_or(u64::MAX);
            }
        }
        work.refused += u64::try_from(refused).unwrap_or(u64::MAX);
        Ok(())
    }
}

fn failure(state: &State, policy: &dormouse_journal::ReflectionPolicy) -> Vec<JournalChange> {
    let failed = state.journal.journal().plan_failure(policy);
    failed.into_iter().collect()
}

/// The entries of the reflection under way.
fn pending(state: &State) -> Vec<dormouse_journal::EntryId> {
    let under_way = state.journal.journal().reflection().under_way.as_ref();
    under_way.map(|it| it.entries.clone()).unwrap_or_default()
}

/// For each question, the memories that help to answer it, among those whose audience includes everybody who perceived
/// the entries. So a conclusion is known to somebody.
async fn evidence<L: Append + ReadEvents>(
    memory: &LoggedMemory<L>,
    state: &State,
    questions: &[String],
    settings: &JournalSettings,
) -> Result<Vec<Vec<Origin>>, ConsolidateError> {
    let policy = &settings.reflection;
    let known_to = known_to_entries(state);
    let mut all = Vec::new();
    for question in questions {
        let request = RecallRequest::new(question.as_str()).limit(policy.evidence);
        let request = request.for_listeners(known_to.clone());
        let found = memory.memory().recall(request).await?;
        let found = found.items.into_iter();
        let found = found.map(|it| piece(it.record, it.score.into(), state));
        let chosen = choose_evidence(found.collect(), policy);
        all.push(chosen.into_iter().map(|piece| piece.id).collect());
    }
    Ok(all)
}

/// Who perceived all entries of the reflection under way: its questions may repeat what they say.
fn known_to_entries(state: &State) -> Audience {
    let journal = state.journal.journal();
    let under_way = journal.reflection().under_way.as_ref();
    if let Some(known_to) = under_way.and_then(|it| it.known_to.as_ref()) {
        return known_to.clone();
    }
    // An older log does not record it. If an entry is gone, its audience is not known.
    let audience = |id| {
        journal
            .entry(id)
            .map(|entry| entry.provenance.audience.clone())
    };
    let all = pending(state).into_iter().map(audience);
    all.fold(Audience::Public, |all, one| {
        all.intersection(&one.unwrap_or(Audience::nobody()))
    })
}

/// These memories, without those that are no longer recalled.
async fn pieces<L: Append + ReadEvents>(
    memory: &LoggedMemory<L>,
    state: &State,
    ids: &[Origin],
) -> Result<Vec<ReflectionEvidence>, ConsolidateError> {
    let known_to = known_to_entries(state);
    let mut pieces = Vec::new();
    for id in ids {
        let record = memory.memory().record(*id).await?;
        let live = record.filter(|record| record.status == RecordStatus::Live);
        pieces.extend(live.map(|record| {
            let piece = piece(record, 0.0, state);
            ReflectionEvidence {
                audience: piece.audience.intersection(&known_to),
                ..piece
            }
        }));
    }
    Ok(pieces)
}

fn piece(record: Record, score: f64, state: &State) -> ReflectionEvidence {
    let depth = match state.journal.entry_of(record.id) {
        Some(entry) => entry.provenance.depth,
        None => u8::from(record.kind == RecordKind::Insight),
    };
    ReflectionEvidence {
        id: record.id,
        audience: record.known_to(),
        content: record.text,
        score,
        at: record.at,
        from: record.speaker,
        trust: record.trust,
        depth,
    }
}
