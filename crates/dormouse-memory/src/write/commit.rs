//! Writing the results of a batch: one transaction, together with the marks that its sources are done.

use dormouse_contracts::Timestamp;
use dormouse_redact::{RedactionProfile, mask};

use super::{
    decide::{Decision, Extracted, Planned},
    source::Source,
};
use crate::{
    memory::{Memory, MemoryError},
    note::{LIST_LIMIT, Note},
    ops::{self, Added, ChangeError, Done, Step},
    record::{Derivation, RecordId},
    similarity::hash_parts,
    store::{Abort, Writing},
};

/// The results of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) added: Vec<RecordId>,
    pub(super) superseded: u64,
    pub(super) linked: u64,
    pub(super) ignored: u64,
    pub(super) unusable: u64,
}

pub(super) async fn commit(
    memory: &Memory,
    batch: Vec<Source>,
    plan: Vec<Planned>,
    derivation: Derivation,
) -> Result<Outcome, MemoryError> {
    memory
        .change(move |writing, now| {
            let mut done = Done::default();
            let mut outcome = Outcome::default();
            // Another task wrote the same sources meanwhile: its results are kept.
            if any_done(writing, &batch)? {
                return Ok((outcome, done));
            }
            let sources = add_sources(writing, now, &batch, &mut done)?;
            for planned in plan {
                let records = planned.fact.keys.iter().filter_map(|key| {
                    let place = batch.iter().position(|source| source.key == *key)?;
                    sources.get(place).copied()
                });
                let note = note(&planned.fact, records.collect(), derivation);
                write_one(writing, now, note, &planned, &mut outcome, &mut done)?;
            }
            for (source, record) in batch.iter().zip(sources) {
                writing.set_source(&source.mark(), record)?;
            }
            Ok((outcome, done))
        })
        .await
}

fn any_done(writing: &Writing<'_>, batch: &[Source]) -> Step<bool> {
    for source in batch {
        if writing.by_source(&source.mark())?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The record of each source. The record of a journal entry is made now.
fn add_sources(
    writing: &mut Writing<'_>,
    now: Timestamp,
    batch: &[Source],
    done: &mut Done,
) -> Step<Vec<RecordId>> {
    let mut records = Vec::with_capacity(batch.len());
    for source in batch {
        let record = match (source.record(), &source.note) {
            (Some(record), _) => record,
            (None, Some(note)) => {
                let (added, more) = ops::add(writing, now, "a journal entry", None, note.clone())?;
                done.extend(more);
                added.id()
            }
            (None, None) => continue,
        };
        records.push(record);
    }
    Ok(records)
}

/// The note of a fact. Its origin is a hash of its sources and its text, so that the same fact of the same sources is one
/// record.
fn note(fact: &Extracted, records: Vec<RecordId>, derivation: Derivation) -> Note {
    let mut keys: Vec<_> = fact.keys.iter().map(ToString::to_string).collect();
    keys.sort_unstable();
    let mut parts: Vec<&str> = keys.iter().map(String::as_str).collect();
    parts.push(&fact.text);
    let first = hash_parts(&parts);
    parts.insert(0, "again");
    let second = hash_parts(&parts);
    let mut note = Note::new(fact.text.clone())
        .kind(fact.kind)
        .at(fact.at)
        .trusted(fact.trust)
        .derivation(derivation)
        .derived_from(records.into_iter().take(LIST_LIMIT))
        .from_source(format!("fact:{first:016x}{second:016x}"));
    note.valid_from = fact.valid_from;
    for name in &fact.about {
        note = note.tagged(name.to_lowercase());
    }
    note.masked()
}

fn write_one(
    writing: &mut Writing<'_>,
    now: Timestamp,
    note: Note,
    planned: &Planned,
    outcome: &mut Outcome,
    done: &mut Done,
) -> Step<()> {
    let decided = &planned.decided;
    let reason = reason(planned);
    if let Decision::Ignore { like } = decided.decision {
        outcome.ignored += 1;
        done.extend(ops::ignore(writing, now, &reason, note, like)?);
        return Ok(());
    }
    let since = note.valid_from.unwrap_or(planned.fact.at);
    let (added, more) = ops::add(writing, now, &reason, None, note)?;
    done.extend(more);
    let Added::New(id) = added else {
        return Ok(());
    };
    outcome.added.push(id);
    match decided.decision {
        Decision::Supersede { old } => {
            // The old record may begin later than the fact; its validity cannot end before it begins.
            let until = writing
                .record(old)?
                .map_or(since, |old| since.max(old.valid_from));
            let step = ops::supersede(writing, now, &reason, old, Some(id), until);
            outcome.superseded += unless_refused(step, done)?;
        }
        Decision::Link { to, kind, weight } => {
            let step = ops::link(writing, now, &reason, (id, to), kind, weight);
            outcome.linked += unless_refused(step, done)?;
        }
        Decision::Add | Decision::Ignore { .. } => {}
    }
    Ok(())
}

/// Counts a step. A record may have been folded or withdrawn since the decision; then the fact is only added.
fn unless_refused(step: Step<Done>, done: &mut Done) -> Step<u64> {
    match step {
        Ok(more) => {
            done.extend(more);
            Ok(1)
        }
        Err(Abort::Refused(ChangeError::NotInUse { .. } | ChangeError::Unknown(_))) => Ok(0),
        Err(abort) => Err(abort),
    }
}

fn reason(planned: &Planned) -> String {
    let decided = &planned.decided.reason;
    let reason = match &planned.fact.reason {
        Some(reason) => format!("{decided}; {reason}"),
        None => decided.clone(),
    };
    mask(&reason, RedactionProfile::Memory).into_owned()
}
