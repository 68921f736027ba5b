//! The calls that query the memory.

use std::time::Duration;

use dormouse_contracts::{Audience, CallId, EntityId, Origin, Seq, Sources, Timestamp, Trust};
use dormouse_entities::{
    Attributes, Entities, EntityChange, EntityChangeError, PendingAction, Profile, StaleAfter,
};
use dormouse_memory::{Derivation, Memory, MemoryError, RecallRequest, Record, RecordStatus};
use dormouse_resilience::deadline;
use serde_json::{Value, json};

use super::{Done, LogEnd, caught_up, recall};
use crate::{
    Ports,
    builtin::{Basis, Draft, MemoryAnswer, MemoryQuery, NewAction, shown_score},
    event::{RecallFailure, RecalledLine},
    journal::similar_entries,
    render::{heard_as, name, place},
};

/// How many ids an error names if a name is ambiguous.
const NAMED: usize = 5;
/// The note in a result that a match is left out.
const LEFT_OUT: &str = "what not everybody who hears your answer perceived; the person who shared it can ask you in private";
/// How many records one query of what was said reads at a time, and how often.
const PAGE: usize = 200;
const MOST_PAGES: usize = 20;
/// How many observations a profile lists, newest first.
const OBSERVATIONS: usize = 10;

/// Asks the memory, within `limit`. If this fails, only the call fails.
pub(crate) async fn ask_memory(
    ports: Ports,
    end: LogEnd,
    call: CallId,
    ask: MemoryQuery,
    limit: Duration,
) -> Done {
    // A search of the journal uses words only if the encoder does not answer.
    let is_hint = matches!(ask, MemoryQuery::SimilarEntries { .. });
    let answer = match deadline(limit, answer(&ports, &end, ask)).await {
        Ok(Ok(answer)) => answer,
        _ if is_hint => MemoryAnswer::Similar(Vec::new()),
        Ok(Err(failure)) => MemoryAnswer::Refused(failure.reason().to_owned()),
        Err(_) => MemoryAnswer::Refused(RecallFailure::TimedOut.reason().to_owned()),
    };
    Done::MemoryAnswered { call, answer }
}

async fn answer(
    ports: &Ports,
    end: &LogEnd,
    ask: MemoryQuery,
) -> Result<MemoryAnswer, RecallFailure> {
    caught_up(ports, end).await?;
    let now = ports.clock.now();
    match ask {
        MemoryQuery::SimilarEntries {
            query,
            limit,
            listeners,
        } => {
            let hits = similar_entries(&ports.memory, &query, limit, listeners, now).await;
            Ok(MemoryAnswer::Similar(
                hits.map_err(|error| unreadable(&error))?,
            ))
        }
        MemoryQuery::Recall {
            query,
            limit,
            without,
            through,
            quote_trust,
            listeners,
        } => {
            let mut request = RecallRequest::new(query)
                .limit(limit)
                .min_quote_trust(quote_trust)
                .asked_at(now)
                .without(without);
            if let Some(listeners) = listeners {
                request = request.for_listeners(listeners);
            }
            recall_answer(&ports.memory, request, through).await
        }
        MemoryQuery::History {
            from,
            to,
            limit,
            without,
            quote_trust,
            listeners,
        } => {
            let may_be_read = |record: &Record| {
                let seq = record.id.seq();
                let is_said = record.provenance.derivation == Derivation::Heard;
                let is_believed = record.trust >= quote_trust;
                (from..=to).contains(&seq)
                    && is_said
                    && is_believed
                    && record.is_in_use()
                    && !without.contains(&record.id)
                    && is_for(&ports.memory, record, listeners.as_ref())
            };
            history_answer(&ports.memory, (from, to), limit, may_be_read).await
        }
        MemoryQuery::Profile { who, listeners } => {
            Ok(ports
                .memory
                .with_entities(|known| match resolve(known, &who) {
                    Ok(profile) => profile_answer(known, profile, listeners.as_ref(), now),
                    Err(refusal) => MemoryAnswer::Refused(refusal),
                }))
        }
        MemoryQuery::Store {
            remembered,
            sources,
            result,
        } => Ok(match withdrawn(&ports.memory, &sources).await? {
            Some(refused) => refused,
            None => MemoryAnswer::Stored { remembered, result },
        }),
        MemoryQuery::Change {
            who,
            draft,
            sources,
            belief,
            listeners,
        } => Ok(match withdrawn(&ports.memory, &sources).await? {
            Some(refused) => refused,
            None => ports.memory.with_entities(|known| {
                let checked = check(known, &who, *draft, listeners.as_ref(), now);
                match checked {
                    MemoryAnswer::Fits { changes, result } => MemoryAnswer::Fits {
                        changes,
                        result: with_belief(result, belief),
                    },
                    other => other,
                }
            }),
        }),
    }
}

/// Whether these listeners perceived a record. Two ids of one person count as one.
fn is_for(memory: &Memory, record: &Record, listeners: Option<&Audience>) -> bool {
    let Some(listeners) = listeners else {
        return true;
    };
    memory.with_entities(|known| {
        let renamed = |audience: &Audience| audience.renamed(|id| known.survivor(id));
        renamed(&record.known_to()).covers(&renamed(listeners))
    })
}

/// The messages between two events, in order.
async fn history_answer(
    memory: &Memory,
    (from, to): (Seq, Seq),
    limit: usize,
    may_be_read: impl Fn(&Record) -> bool,
) -> Result<MemoryAnswer, RecallFailure> {
    let mut after = Some(Origin::event(Seq(from.0.saturating_sub(1))));
    let mut lines = Vec::new();
    let mut goes_on_at = None;
    for _ in 0..MOST_PAGES {
        let page = memory.records(after, PAGE).await;
        let page = page.map_err(|error| unreadable(&error))?;
        after = page.last().map(|record| record.id);
        let is_last = after.is_none_or(|last| last.seq() > to);
        for record in page.iter().filter(|record| may_be_read(record)) {
            if lines.len() >= limit {
                goes_on_at = Some(format!("#{}", record.id));
                break;
            }
            lines.push(recall::line(record));
        }
        if is_last || goes_on_at.is_some() {
            break;
        }
    }
    let trust = lines.iter().map(|line| line.trust).reduce(Trust::lowest);
    let mut result = json!({"memories": lines.iter().map(as_result).collect::<Vec<_>>()});
    if let (Some(at), Value::Object(fields)) = (goes_on_at, &mut result) {
        fields.insert("goes_on_at".to_owned(), at.into());
    }
    // A result without lines has no text that could lower its trust.
    let trust = trust.or(Some(Trust::FULL));
    Ok(MemoryAnswer::Found { result, trust })
}

/// A line in the form in which the result of a call shows it.
fn as_result(line: &RecalledLine) -> Value {
    let mut memory = json!({
        "text": line.text,
        "at": line.at.to_string(),
        "from": name(&line.from),
        "trust": shown_score(line.trust),
        "id": format!("#{}", line.record),
    });
    let attested = [
        ("entity", line.from.id().map(|id| id.as_str().to_owned())),
        ("how", line.heard.as_ref().map(heard_as)),
        ("place", place(line)),
    ];
    for (name, value) in attested {
        if let (Some(value), Value::Object(fields)) = (value, &mut memory) {
            fields.insert(name.to_owned(), value.into());
        }
    }
    memory
}

async fn recall_answer(
    memory: &Memory,
    request: RecallRequest,
    through: Seq,
) -> Result<MemoryAnswer, RecallFailure> {
    let recall = memory
        .recall(request)
        .await
        .map_err(|error| unreadable(&error))?;
    let lines = recall.items.iter();
    let lines: Vec<_> = lines
        .map(|found| recall::line(&found.record))
        .filter(|line| !recall::waits(line, through))
        .collect();
    let memories = lines.iter().map(as_result);
    let trust = lines.iter().map(|line| line.trust).reduce(Trust::lowest);
    let mut result = json!({
        "memories": memories.collect::<Vec<_>>(),
        "mode": recall::mode(&recall.mode),
    });
    if recall.is_calibrated
        && let Value::Object(fields) = &mut result
    {
        let confidence = (f64::from(recall.confidence) * 100.0).round() / 100.0;
        fields.insert("confidence".to_owned(), confidence.into());
    }
    let mut withheld = recall.withheld.iter();
    if withheld.any(|one| one.record.seq() <= through)
        && let Value::Object(fields) = &mut result
    {
        fields.insert("left_out".to_owned(), LEFT_OUT.into());
    }
    Ok(MemoryAnswer::Found { result, trust })
}

/// The refusal, if a named source was withdrawn. A source that the memory does not have is not withdrawn.
async fn withdrawn(
    memory: &Memory,
    sources: &[Origin],
) -> Result<Option<MemoryAnswer>, RecallFailure> {
    for source in sources {
        let record = memory
            .record(*source)
            .await
            .map_err(|error| unreadable(&error))?;
        if record.is_some_and(|record| record.status == RecordStatus::Withdrawn) {
            let why = format!("#{source} was withdrawn: nothing new may be made from it");
            return Ok(Some(MemoryAnswer::Refused(why)));
        }
    }
    Ok(None)
}

fn unreadable(error: &MemoryError) -> RecallFailure {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "the memory cannot be read"
    );
    RecallFailure::Memory
}

/// The result of a note, with its trust.
fn with_belief(mut result: Value, belief: Option<Value>) -> Value {
    if let (Value::Object(fields), Some(Value::Object(belief))) = (&mut result, belief) {
        fields.extend(belief);
    }
    result
}

/// The profile with this id or name.
fn resolve<'a>(known: &'a Entities, who: &str) -> Result<&'a Profile, String> {
    let by_id = EntityId::try_new(who).ok();
    if let Some(profile) = by_id.as_ref().and_then(|id| known.profile(id)) {
        return Ok(profile);
    }
    match known.known_as(who).as_slice() {
        [] => Err("nobody is known by this name or id".to_owned()),
        [id] => {
            let profile = known.profile(id);
            profile.ok_or_else(|| "nobody is known by this name or id".to_owned())
        }
        several => {
            let ids: Vec<_> = several.iter().take(NAMED).map(|id| id.as_str()).collect();
            Err(format!(
                "{} are known by this name: say which by the id, {}",
                several.len(),
                ids.join(" or ")
            ))
        }
    }
}

/// Finds the person that an action waits for, and whether it may be done for this person.
fn complete(
    known: &Entities,
    profile: &Profile,
    action: &mut NewAction,
    basis: &Basis,
) -> Result<(), String> {
    for one in &mut action.when {
        if let Some(who) = &one.who {
            let found = resolve(known, who);
            let found = found.map_err(|why| format!("{who:?}, whom you wait for: {why}"))?;
            one.awaited.who = Some(found.entity_id.clone());
        }
    }
    let with_entity = Audience::from_iter([profile.entity_id.clone()]);
    let is_party = may_learn(known, basis.audience.as_ref(), Some(&with_entity));
    let is_named = |asked: &String| {
        let mut names = profile.aliases.iter().chain([&profile.name]);
        names.any(|name| names_somebody(asked, name.as_str()))
    };
    match action.asked.as_ref().filter(|_| !is_party) {
        Some(asked) if !is_named(asked) => Err(format!(
            "{} did not perceive what this is made of, and the message that you answer does not name them: ask whom it is for",
            profile.name.as_str()
        )),
        _ => Ok(()),
    }
}

/// Whether a topic may be set. The person is shown it in their profile.
fn may_be_topic(known: &Entities, profile: &Profile, basis: &Basis) -> Result<(), String> {
    let with_entity = Audience::from_iter([profile.entity_id.clone()]);
    let is_party = may_learn(known, basis.audience.as_ref(), Some(&with_entity));
    // This also applies while nothing is kept private: the topic stays when that setting changes.
    match is_party {
        true => Ok(()),
        false => Err(format!(
            "{} did not perceive what this topic is made of",
            profile.name.as_str()
        )),
    }
}

/// Whether a text contains a word of a name.
fn names_somebody(text: &str, name: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let said = words(text);
    words(name).iter().any(|word| said.contains(word))
}

/// Whether a fact may be noted about somebody.
fn check(
    known: &Entities,
    who: &str,
    mut draft: Draft,
    listeners: Option<&Audience>,
    now: Timestamp,
) -> MemoryAnswer {
    let profile = match resolve(known, who) {
        Ok(profile) => profile,
        Err(refusal) => return MemoryAnswer::Refused(refusal),
    };
    let entity = &profile.entity_id;
    if let Draft::AddAction(action, basis) = &mut draft
        && let Err(refusal) = complete(known, profile, action, basis)
    {
        return MemoryAnswer::Refused(refusal);
    }
    if let Draft::CompleteAction(action, noted_at, _) = &mut draft {
        let mut pending = known.pending_actions(entity).into_iter();
        let is_theirs = |it: &PendingAction| may_learn(known, it.audience.as_ref(), listeners);
        let Some(pending) = pending.find(|it| it.id == *action && is_theirs(it)) else {
            // An action that not all listeners may know of is treated as if it did not exist.
            let (entity, action) = (entity.clone(), *action);
            let unknown = EntityChangeError::UnknownAction { entity, action };
            return MemoryAnswer::Refused(unknown.to_string());
        };
        *noted_at = pending.waits().then_some(pending.created_at);
    }
    if let Draft::Topic(_, basis) = &draft
        && let Err(refusal) = may_be_topic(known, profile, basis)
    {
        return MemoryAnswer::Refused(refusal);
    }
    if matches!(draft, Draft::EndConversation) && !known.pending_actions(entity).is_empty() {
        // An archived person gets no more turns.
        let why = "something is still to be done for them: complete it or withdraw it first";
        return MemoryAnswer::Refused(why.to_owned());
    }
    let changes = draft.changes(entity);
    let stale_after = StaleAfter::default();
    let is_talking = known
        .active_conversation(entity, now, stale_after)
        .is_some();
    for change in &changes {
        // The previous change begins the conversation.
        let begins = matches!(change, EntityChange::ActionAdded { .. }) && !is_talking;
        if !begins && let Err(error) = known.check(change, now) {
            return MemoryAnswer::Refused(error.to_string());
        }
    }
    MemoryAnswer::Fits {
        changes,
        result: json!({"entity": entity.as_str(), "name": profile.name.as_str()}),
    }
}

/// Whether all who listen perceived what has this audience; if nothing is kept private, everybody may learn it.
fn may_learn(known: &Entities, audience: Option<&Audience>, listeners: Option<&Audience>) -> bool {
    let survivors = |all: &Audience| all.renamed(|id| known.survivor(id));
    listeners.is_none_or(|listeners| {
        audience.is_some_and(|all| survivors(all).covers(&survivors(listeners)))
    })
}

/// A profile for a model to read. It contains only what all listeners perceived. Relationship and other names are shown
/// only to the person themselves, because they also come from what was said in private.
fn profile_answer(
    known: &Entities,
    profile: &Profile,
    listeners: Option<&Audience>,
    now: Timestamp,
) -> MemoryAnswer {
    let may_learn = |audience: Option<&Audience>| may_learn(known, audience, listeners);
    let with_entity = Audience::from_iter([profile.entity_id.clone()]);
    let is_for_them = may_learn(Some(&with_entity));
    let observations = profile.observations.iter().rev();
    let observations = observations.filter(|it| may_learn(it.audience.as_ref()));
    let newest: Vec<_> = observations.take(OBSERVATIONS).collect();
    let newest = newest.iter().copied();
    let observations: Vec<_> = newest
        .clone()
        .map(|it| {
            let observation = json!({
                "content": it.content.as_str(),
                "at": it.timestamp.to_string(),
                "trust": shown_score(it.trust),
            });
            with_sources(observation, &it.rests_on())
        })
        .collect();
    let actions = known.pending_actions(&profile.entity_id).into_iter();
    let actions: Vec<_> = actions
        .filter(|it| may_learn(it.audience.as_ref()))
        .collect();
    let pending: Vec<_> = actions
        .iter()
        .map(|it| {
            let mut action = json!({
                "id": it.id,
                "description": it.description.as_str(),
                "priority": it.priority,
                "trust": shown_score(it.trust),
            });
            if let (Some(due_at), Value::Object(fields)) = (it.due_at, &mut action) {
                fields.insert("due_at".to_owned(), json!(due_at.to_string()));
            }
            if let (true, Value::Object(fields)) = (it.waits(), &mut action) {
                fields.insert("comes_up".to_owned(), json!(it.condition()));
            }
            with_sources(action, &it.sources)
        })
        .collect();
    let relationship = &profile.relationship;
    let shown_attributes = match may_learn(profile.attributes.audience.as_ref()) {
        true => profile.attributes.clone(),
        false => Attributes::default(),
    };
    let mut result = json!({
        "entity": profile.entity_id.as_str(),
        "type": profile.entity_type,
        "name": profile.name.as_str(),
        "attributes": with_sources(attributes(&shown_attributes), &shown_attributes.sources),
        "observations": observations,
        "pending_actions": pending,
    });
    if let (true, Value::Object(fields)) = (is_for_them, &mut result) {
        let aliases = profile.aliases.iter().map(|name| name.as_str());
        let aliases: Vec<_> = aliases.collect();
        fields.insert("also_known_as".to_owned(), json!(aliases));
        let relationship = json!({
            "state": relationship.state_for(now, |audience| may_learn(Some(audience))),
            "interactions": relationship.interaction_count(),
        });
        fields.insert("relationship".to_owned(), relationship);
    }
    let trusts = newest.map(|it| it.trust);
    let trusts = trusts.chain(shown_attributes.trust.values().copied());
    let trusts = trusts.chain(actions.iter().map(|action| action.trust));
    let lowest = trusts.reduce(Trust::lowest);
    MemoryAnswer::Found {
        result,
        trust: lowest,
    }
}

/// A part of a profile with the ids of its sources.
fn with_sources(mut part: Value, sources: &Sources) -> Value {
    let ids = sources.as_slice().iter().map(|origin| format!("#{origin}"));
    let ids: Vec<_> = ids.collect();
    if let (Value::Object(fields), false) = (&mut part, ids.is_empty()) {
        fields.insert("sources".to_owned(), ids.into());
    }
    part
}

fn attributes(attributes: &Attributes) -> Value {
    let preferences = attributes.preferences.iter();
    let preferences: serde_json::Map<_, _> = preferences
        .map(|(subject, value)| (subject.as_str().to_owned(), value.as_str().into()))
        .collect();
    json!({
        "communication_style": attributes.communication_style.as_ref().map(ToString::to_string),
        "temperament": attributes.temperament.as_ref().map(|phrase| phrase.as_str()),
        "interests": attributes.interests.iter().map(|word| word.as_str()).collect::<Vec<_>>(),
        "preferences": preferences,
    })
}
