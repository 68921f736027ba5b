//! What a call does to the memory, without the protocol.

use std::{collections::BTreeSet, fmt};

use dormouse_contracts::{
    Audience, EntityId, IdError, OriginError, Timestamp, TimestampError, Trust, TrustError,
};
use dormouse_memory::{
    Added, Change, Derivation, MIN_QUOTE_TRUST, MIN_TRUST, Memory, MemoryError, Note,
    RecallRequest, Record, RecordId, RecordStatus,
};
use dormouse_text::one_line;
use serde_json::json;

use crate::{
    arguments::{Forget, MOST_TOKENS, Recall, Remember, Restore, Why},
    surface::SurfaceAnswer,
};

/// How much `why` shows at most: a record that is changed again and again has no end of them.
const MOST_SOURCES: usize = 32;
const MOST_CHANGES: usize = 64;

/// What an operator decides about a server. No call exceeds it.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryLimits {
    /// How far anything that is remembered is believed at most.
    pub trust: Trust,
    /// All who may learn what is recalled. Only what each of them heard can be recalled, explained and forgotten; `None`
    /// for everything.
    pub listeners: Option<BTreeSet<EntityId>>,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self {
            trust: Trust::FULL,
            listeners: None,
        }
    }
}

/// The memory is made from the log of an assistant: changes from elsewhere would be lost when it is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is the memory of an assistant that has a log, which alone changes it; expected a file of its own"
)]
pub struct FollowsLog;

/// Why a call did nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("{argument} is not valid: {problem}")]
    Argument {
        argument: &'static str,
        problem: String,
    },
    #[error("tokens is {0}; expected 1 to {MOST_TOKENS}")]
    Tokens(u32),
    #[error("known_to lists {0} ids; at most {limit} are allowed", limit = Audience::LIMIT)]
    Audience(usize),
    #[error("there is no memory {0}")]
    Absent(RecordId),
    #[error("memory {0} was not forgotten")]
    NotForgotten(RecordId),
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

fn of(argument: &'static str) -> impl Fn(&dyn fmt::Display) -> Refusal {
    move |problem| Refusal::Argument {
        argument,
        problem: problem.to_string(),
    }
}

/// The tools on one memory.
#[derive(Debug)]
pub(crate) struct MemoryTools {
    pub(crate) memory: Memory,
    pub(crate) limits: MemoryLimits,
}

impl MemoryTools {
    pub(crate) async fn remember(&self, it: Remember) -> Result<SurfaceAnswer, Refusal> {
        let trust = trust("trust", it.trust)?.unwrap_or(self.limits.trust);
        let mut note = Note::new(it.text)
            .kind(it.kind.into())
            .trusted(trust.lowest(self.limits.trust));
        let speaker = it.speaker.map(|id| entity("speaker", id)).transpose()?;
        note = match (it.said_by, speaker) {
            (Some(name), Some(id)) => note.said_by_entity(name, id),
            (Some(name), None) => note.said_by(name),
            (None, Some(id)) => note.said_by_entity(id.as_str().to_owned(), id),
            // A text without a speaker is not what somebody said.
            (None, None) => note.derivation(Derivation::Stored),
        };
        if let Some(thread) = it.thread {
            note = note.in_thread(thread);
        }
        if let Some(at) = it.at {
            note = note.at(moment("at", &at)?);
        }
        if let Some(ids) = it.known_to {
            let count = ids.len();
            let ids = entities("known_to", ids)?;
            note = note.known_to(Audience::of(ids).ok_or(Refusal::Audience(count))?);
        }
        if let Some(key) = it.key {
            note = note.from_source(self.own_key(&key));
        }
        let note = it.tags.into_iter().fold(note, Note::tagged);
        let added = self.memory.add(note, "remembered for an agent").await?;
        let id = added.id();
        let (is_new, text) = match added {
            Added::New(_) => (true, format!("Remembered as {id}.")),
            Added::AlreadyThere(_) => (false, self.already(id).await?),
        };
        Ok(SurfaceAnswer {
            value: json!({ "id": id, "new": is_new }),
            text,
        })
    }

    pub(crate) async fn recall(&self, it: Recall) -> Result<SurfaceAnswer, Refusal> {
        if !(1..=MOST_TOKENS).contains(&it.tokens) {
            return Err(Refusal::Tokens(it.tokens));
        }
        let mut request = RecallRequest::new(it.query).tokens(it.tokens);
        let asked = it.listeners.map(|ids| entities("listeners", ids));
        if let Some(listeners) = self.listeners(asked.transpose()?) {
            request = request.for_listeners(listeners);
        }
        if let Some(id) = it.asked_by {
            request = request.asked_by(entity("asked_by", id)?);
        }
        if let Some(least) = trust("min_trust", it.min_trust)? {
            // A call can only ask for more than is usual.
            let at_least = |usual: Trust| if least > usual { least } else { usual };
            request = request
                .min_trust(at_least(MIN_TRUST))
                .min_quote_trust(at_least(MIN_QUOTE_TRUST));
        }
        if let Some(since) = it.since {
            request = request.since(moment("since", &since)?);
        }
        if let Some(before) = it.before {
            request = request.before(moment("before", &before)?);
        }
        let kinds = it.kinds.into_iter().map(Into::into);
        let request = kinds.fold(request, RecallRequest::of_kind);
        let found = self.memory.recall(request).await?;
        let items: Vec<_> = found
            .items
            .iter()
            .map(|item| {
                json!({
                    "id": item.record.id,
                    "text": item.record.text,
                    "said_by": item.record.speaker_name(),
                    "at": item.record.at,
                    "when": item.record.at.to_string(),
                    "kind": item.record.kind,
                    "trust": item.record.trust,
                    "score": item.score,
                    "role": item.role,
                    "updated_by": item.updated_by,
                    "excerpt": item.excerpt,
                })
            })
            .collect();
        let lines = found.items.iter();
        let lines: Vec<_> = lines
            // A text with line breaks could pose as several memories.
            .map(|item| format!("{} {}", item.record.id, one_line(&item.line())))
            .collect();
        let tokens: u32 = found.items.iter().map(|item| item.tokens).sum();
        Ok(SurfaceAnswer {
            text: match lines.is_empty() {
                true => "Nothing is remembered about this.".to_owned(),
                false => lines.join("\n"),
            },
            value: json!({ "items": items, "tokens": tokens }),
        })
    }

    pub(crate) async fn why(&self, it: Why) -> Result<SurfaceAnswer, Refusal> {
        let id = record_id(&it.id)?;
        self.visible(id).await?;
        let why = self.memory.why(id).await?.ok_or(Refusal::Absent(id))?;
        let sources = why.sources.iter().filter(|it| self.may_learn(it));
        let sources: Vec<_> = sources.take(MOST_SOURCES).collect();
        // The newest, in order.
        let first = why.changes.len().saturating_sub(MOST_CHANGES);
        let (mut changes, mut text) = (Vec::new(), Vec::new());
        for it in why.changes.iter().skip(first) {
            let what = it.change.name();
            // A change names other records and a reason, which may hold words that these listeners did not hear.
            if self.limits.listeners.is_some() {
                changes.push(json!({ "seq": it.seq, "at": it.at, "change": what }));
                text.push(format!("{} {what}", it.at));
            } else {
                changes.push(json!(it));
                text.push(format!("{} {what}: {}", it.at, one_line(&it.reason)));
            }
        }
        Ok(SurfaceAnswer {
            text: text.join("\n"),
            value: json!({ "record": why.record, "sources": sources, "changes": changes }),
        })
    }

    pub(crate) async fn forget(&self, it: Forget) -> Result<SurfaceAnswer, Refusal> {
        let id = record_id(&it.id)?;
        self.visible(id).await?;
        let reason = it.reason.as_deref().unwrap_or("forgotten for an agent");
        let text = match it.for_good {
            true => {
                self.memory.erase(id, reason).await?;
                format!("The text of {id} is removed for good.")
            }
            false => {
                self.memory.withdraw(id, reason).await?;
                format!("{id} is not recalled any more. `restore` takes this back.")
            }
        };
        Ok(SurfaceAnswer {
            value: json!({ "id": id, "can_be_restored": !it.for_good }),
            text,
        })
    }

    pub(crate) async fn restore(&self, it: Restore) -> Result<SurfaceAnswer, Refusal> {
        let id = record_id(&it.id)?;
        self.visible(id).await?;
        let why = self.memory.why(id).await?.ok_or(Refusal::Absent(id))?;
        let forgotten = why.changes.iter().rev();
        let forgotten = forgotten
            .filter(|change| matches!(change.change, Change::Withdrawn { .. }))
            .map(|change| change.seq)
            .next();
        let seq = forgotten.ok_or(Refusal::NotForgotten(id))?;
        let reason = it.reason.as_deref().unwrap_or("restored for an agent");
        self.memory.revert(seq, reason).await?;
        Ok(SurfaceAnswer {
            value: json!({ "id": id }),
            text: format!("{id} is recalled again."),
        })
    }

    /// All who learn an answer: whom the call names, and whom the operator does. Somebody whom both do not know of is
    /// nobody's concern.
    fn listeners(&self, asked: Option<BTreeSet<EntityId>>) -> Option<Audience> {
        let all = match (self.limits.listeners.clone(), asked) {
            (None, None) => return None,
            (Some(limits), None) => limits,
            (limits, Some(asked)) => limits
                .unwrap_or_default()
                .into_iter()
                .chain(asked)
                .collect(),
        };
        // Of more than an audience can list, only what everybody may know is recalled.
        Some(Audience::of(all).unwrap_or(Audience::Public))
    }

    /// Keys of other listeners are not known here: whether one is in use would tell something about what it stands at.
    fn own_key(&self, key: &str) -> String {
        let Some(listeners) = &self.limits.listeners else {
            return key.to_owned();
        };
        let ids: Vec<_> = listeners.iter().map(EntityId::as_str).collect();
        format!("{}\n{key}", ids.join(","))
    }

    async fn already(&self, id: RecordId) -> Result<String, Refusal> {
        let record = self.memory.record(id).await?;
        let is_recalled = record.is_some_and(|it| it.status == RecordStatus::Live);
        Ok(match is_recalled {
            true => format!("Already remembered, as {id}."),
            false => format!("Not remembered again: it is {id}, which is not recalled any more."),
        })
    }

    fn may_learn(&self, record: &Record) -> bool {
        let listeners = self.listeners(None);
        listeners.is_none_or(|listeners| record.known_to().covers(&listeners))
    }

    /// What the operator's listeners may not learn does not exist for them.
    async fn visible(&self, id: RecordId) -> Result<(), Refusal> {
        let record = self.memory.record(id).await?;
        match record.is_some_and(|record| self.may_learn(&record)) {
            true => Ok(()),
            false => Err(Refusal::Absent(id)),
        }
    }
}

fn record_id(text: &str) -> Result<RecordId, Refusal> {
    text.parse().map_err(|error: OriginError| of("id")(&error))
}

fn entity(argument: &'static str, id: String) -> Result<EntityId, Refusal> {
    EntityId::try_new(id).map_err(|error: IdError| of(argument)(&error))
}

fn entities(argument: &'static str, ids: BTreeSet<String>) -> Result<BTreeSet<EntityId>, Refusal> {
    ids.into_iter().map(|id| entity(argument, id)).collect()
}

fn moment(argument: &'static str, text: &str) -> Result<Timestamp, Refusal> {
    text.parse()
        .map_err(|error: TimestampError| of(argument)(&error))
}

fn trust(argument: &'static str, score: Option<f32>) -> Result<Option<Trust>, Refusal> {
    let trust = score.map(Trust::try_new).transpose();
    trust.map_err(|error: TrustError| of(argument)(&error))
}
