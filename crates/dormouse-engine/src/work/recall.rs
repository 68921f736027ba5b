//! Searches the memory for a turn, before the model call.

use std::time::Duration;

use dormouse_contracts::{
    Audience, EntityId, Origin, Seq, SourceKind, Sources, Timestamp, TokenCounter, Trust, invariant,
};
use dormouse_entities::{
    BlockPolicy, Entities, OrderPolicy, StandingOrder, StandingOrders, compile, entity_block,
};
use dormouse_memory::{Derivation, MemoryError, Recall, RecallRequest, Record, SearchMode};
use dormouse_resilience::deadline;
use dormouse_text::beginning;

use super::{Done, LogEnd, caught_up};
use crate::{
    Ports,
    event::{RecallFailure, RecallMode, RecalledBlock, RecalledLine, RecalledPart, Recollected},
    prompt::{Budgets, line_tokens},
};
/// The maximum number of records of one search, even if each has few tokens.
const MOST_RECORDS: usize = 50;
/// How much of a remembered text is copied into the log, in characters.
const TEXT_LIMIT: usize = 4_000;

/// What to search for.
#[derive(Clone, Debug)]
pub(crate) struct RecallQuery {
    pub(crate) query: String,
    /// Records to leave out: the prompt shows them anyway, or they wait for their turn.
    pub(crate) without: Vec<Origin>,
    /// Records of events after this one are also left out: they wait for their turn.
    pub(crate) through: Seq,
    pub(crate) budgets: Budgets,
    /// The minimum trust of quotations.
    pub(crate) quote_trust: Trust,
    /// Who sent the message, if somebody did.
    pub(crate) asker: Option<EntityId>,
    /// Who hears the answer; `None` if everything may be told to everybody.
    pub(crate) listeners: Option<Audience>,
    pub(crate) now: Timestamp,
}

/// Searches the memory for a turn, within `limit`. Never fails: a part that could not be looked up is empty and
/// contains the reason.
pub(crate) async fn recall(ports: Ports, end: LogEnd, ask: RecallQuery, limit: Duration) -> Done {
    let found = match deadline(limit, look_up(&ports, &end, &ask)).await {
        Ok(Ok(found)) => found,
        Ok(Err(failure)) => nothing(failure),
        Err(_) => nothing(RecallFailure::TimedOut),
    };
    if let Some(failure) = found.failure {
        tracing::warn!(
            reason = failure.reason(),
            "a message is thought about without memory"
        );
    }
    Done::Recollected(Box::new(found))
}

pub(super) fn nothing(failure: RecallFailure) -> Recollected<RecalledLine> {
    Recollected {
        failure: Some(failure),
        ..Recollected::default()
    }
}

async fn look_up(
    ports: &Ports,
    end: &LogEnd,
    ask: &RecallQuery,
) -> Result<Recollected<RecalledLine>, RecallFailure> {
    caught_up(ports, end).await?;
    let failed = |error: MemoryError| {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "nothing could be recalled"
        );
        RecallFailure::Memory
    };
    let counter = &*ports.counter;
    let listeners = ask.listeners.clone();
    let found = ports
        .memory
        .recall_with_orders(request(ask), ask.now, listeners);
    let (recalled, orders) = found.await.map_err(failed)?;
    let found = match recalled {
        Some(recalled) => lines(recalled, ask, counter),
        None => Recollected {
            audience: Some(Audience::Public),
            ..Recollected::default()
        },
    };
    let look = |known: &Entities| entities(known, ask, counter);
    let (entities, of_entities) = ports.memory.with_entities(look);
    let orders = orders_of(&orders, ask, counter);
    let of_orders = match orders.is_empty() {
        true => Some(Audience::Public),
        false => ask.listeners.clone(),
    };
    let audiences = [of_entities, of_orders];
    let audience = found.audience.and_then(|lines| {
        let mut audiences = audiences.into_iter();
        audiences.try_fold(lines, |all, one| Some(all.intersection(&one?)))
    });
    Ok(Recollected {
        entities,
        orders,
        audience: audience.filter(|_| ask.listeners.is_some()),
        ..found
    })
}

/// What to ask the memory for; `None` if there is no room for an answer, or nothing to search for.
fn request(ask: &RecallQuery) -> Option<RecallRequest> {
    let budget = ask.budgets.memories;
    if budget == 0 || ask.query.trim().is_empty() {
        return None;
    }
    let mut request = RecallRequest::new(ask.query.as_str())
        .limit(MOST_RECORDS)
        .tokens(budget)
        .asked_at(ask.now)
        .min_quote_trust(ask.quote_trust)
        .without(ask.without.iter().copied());
    if let Some(asker) = ask.asker.clone() {
        request = request.asked_by(asker);
    }
    if let Some(listeners) = ask.listeners.clone() {
        request = request.for_listeners(listeners);
    }
    Some(request)
}

/// The lines for the prompt.
fn lines(
    recall: Recall,
    ask: &RecallQuery,
    counter: &dyn TokenCounter,
) -> Recollected<RecalledLine> {
    let mode = mode(&recall.mode);
    let mut room = ask.budgets.memories;
    let mut lines = Vec::new();
    let mut audience = Audience::Public;
    for found in recall.items {
        let mut line = line(&found.record);
        // The memory may also return neighbours of a match, which the prompt may already show.
        if ask.without.contains(&line.record) || waits(&line, ask.through) {
            continue;
        }
        line.tokens = line_tokens(&line, counter);
        // The memory counts tokens in its own line format; here they are counted in the format of the prompt.
        if line.tokens <= room {
            room -= line.tokens;
            lines.push(line);
            audience = audience.intersection(&found.record.known_to());
        }
    }
    let withheld = recall.withheld.into_iter();
    Recollected {
        items: lines,
        audience: Some(audience),
        mode,
        withheld: withheld
            .filter(|one| one.record.seq() <= ask.through)
            .collect(),
        ..Recollected::default()
    }
}

/// Whether a line entered the log after this event, so that it still waits for its turn.
pub(super) fn waits(line: &RecalledLine, through: Seq) -> bool {
    line.record.seq() > through
}

/// The mode of the search, in the form of the log.
pub(super) fn mode(mode: &SearchMode) -> RecallMode {
    match mode {
        SearchMode::Words => RecallMode::Words,
        SearchMode::WordsAndVectors => RecallMode::WordsAndVectors,
        SearchMode::WordsBecause(fallback) => {
            let reason = serde_json::to_value(fallback).ok();
            let reason = reason.as_ref().and_then(|reason| reason.as_str());
            let reason = invariant!(reason, "a fallback is written as a word", "unknown");
            RecallMode::WordsBecause(reason.to_owned())
        }
    }
}

/// How the words that a record quotes were said. Without attestation by the world they count as said aloud.
fn heard(record: &Record) -> Option<SourceKind> {
    let is_quotation = record.provenance.derivation == Derivation::Heard;
    is_quotation.then(|| record.heard_as.clone().unwrap_or(SourceKind::Say))
}

/// A record as a line of a prompt, with its tokens still uncounted.
pub(super) fn line(record: &Record) -> RecalledLine {
    RecalledLine {
        text: beginning(&record.text, TEXT_LIMIT).to_owned(),
        at: record.at,
        from: record.speaker.clone(),
        heard: heard(record),
        place: record.place.as_ref().map(|place| place.name.clone()),
        trust: record.trust,
        record: record.id,
        kind: record.kind,
        tokens: 0,
    }
}

fn orders_of(
    orders: &[StandingOrder],
    ask: &RecallQuery,
    counter: &dyn TokenCounter,
) -> RecalledBlock {
    let policy = OrderPolicy::default();
    let block = compile(orders, &policy, ask.now, ask.budgets.orders, counter);
    let shown = orders
        .iter()
        .filter(|order| block.shown.contains(&order.id));
    let trust = shown.clone().map(|order| order.trust);
    RecalledBlock {
        trust: trust.fold(Trust::FULL, Trust::lowest),
        names: shown.map(|order| order.from_name.to_string()).collect(),
        parts: parts_of(&block),
        text: block.text,
        tokens: block.tokens.tokens,
    }
}

/// The lines of the standing orders, each with the record that it was made from.
fn parts_of(block: &StandingOrders) -> Vec<RecalledPart> {
    let lines = block.text.lines().filter(|line| line.starts_with("- "));
    let parts = lines.zip(&block.shown).filter_map(|(line, order)| {
        // If a record contains several orders, each has an index after the id.
        let record = order.as_str().split('/').next()?.parse().ok()?;
        RecalledPart::find(&block.text, line, &Sources::from_iter([record]))
    });
    parts.collect()
}

/// The block of people, and who perceived all of it.
fn entities(
    known: &Entities,
    ask: &RecallQuery,
    counter: &dyn TokenCounter,
) -> (RecalledBlock, Option<Audience>) {
    let policy = BlockPolicy {
        listeners: ask.listeners.clone(),
        ..BlockPolicy::default()
    };
    let block = entity_block(known, &policy, ask.now, ask.budgets.entities, counter);
    let trust = block.shown.iter().map(|id| believed(known, id, &policy));
    let names = block.shown.iter().filter_map(|id| known.profile(id));
    let shown = RecalledBlock {
        trust: trust.fold(Trust::FULL, Trust::lowest),
        names: names.map(|profile| profile.name.to_string()).collect(),
        parts: {
            let parts = block.parts.iter();
            let parts = parts.filter_map(|(part, of)| RecalledPart::find(&block.text, part, of));
            parts.collect()
        },
        text: block.text,
        tokens: block.tokens.tokens,
    };
    (shown, Some(block.audience))
}

/// The lowest trust of what the block may show about somebody.
fn believed(known: &Entities, id: &EntityId, policy: &BlockPolicy) -> Trust {
    let observations = known.profile(id).map(|profile| &profile.observations);
    let observations = observations.into_iter().flatten();
    let shown = observations.filter(|observation| observation.trust >= policy.min_trust);
    let actions = known.pending_actions(id).into_iter();
    let trusts = shown.map(|observation| observation.trust);
    let trusts = trusts.chain(actions.map(|action| action.trust));
    // The trust of a topic is not stored; topics below this trust are never accepted.
    let topic = known.conversation(id).and_then(|it| it.topic.as_ref());
    let trusts = trusts.chain(topic.map(|_| policy.min_trust));
    trusts.fold(Trust::FULL, Trust::lowest)
}
