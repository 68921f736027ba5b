//! Changes what is known about people and things, and takes such changes back.

use dormouse_contracts::{Seq, Timestamp};
use dormouse_entities::{Entities, EntityChange, Undoing};

use super::{
    revert::check_in_effect,
    step::{ChangeError, Done, Step, refuse},
};
use crate::{
    change::{Change, StoredChange},
    people,
    store::Writing,
};

/// Makes a change of a person or thing.
pub(crate) fn change_entity(
    writing: &mut Writing<'_>,
    entities: &mut Entities,
    at: Timestamp,
    reason: &str,
    change: Box<EntityChange>,
) -> Step<Done> {
    let touched = entities.apply(&change, at).map_err(refuse)?;
    for (key, row) in people::rows(entities, &touched)? {
        writing.put_entity(&key, row.as_deref())?;
    }
    let change = writing.append(at, reason, Change::Entity { change }, &[])?;
    Ok(Done::of(change, Vec::new()))
}

/// The opposite change that takes back what an event changed about a person or thing, if the log must have it as an
/// event.
pub(crate) fn opposite(
    writing: &Writing<'_>,
    entities: &Entities,
    event: Seq,
) -> Step<Option<EntityChange>> {
    let Some((stored, change)) = decided_on(writing, event)? else {
        return Ok(None);
    };
    check_in_effect(writing, &stored)?;
    match undoing(writing, entities, &stored, &change)? {
        Undoing::Opposite(change) => Ok(Some(change)),
        Undoing::Reverted(_) | Undoing::Impossible => Ok(None),
    }
}

/// Takes back what an event changed about a person or thing; `None` if nobody decided on such a change in this event.
pub(super) fn undo(
    writing: &mut Writing<'_>,
    entities: &mut Entities,
    now: Timestamp,
    reason: &str,
    event: Seq,
) -> Step<Option<Done>> {
    let Some((stored, change)) = decided_on(writing, event)? else {
        return Ok(None);
    };
    check_in_effect(writing, &stored)?;
    let Undoing::Reverted(back) = undoing(writing, entities, &stored, &change)? else {
        return Err(refuse(ChangeError::NotRevertible((&stored).into())));
    };
    let done = change_entity(writing, entities, now, reason, Box::new(back))?;
    for change in &done.changes {
        writing.set_reverted(stored.seq, change.seq)?;
    }
    Ok(Some(done))
}

/// The change of a person or thing that somebody decided on in this event. A change that only follows from what was
/// heard does not count.
fn decided_on(
    writing: &Writing<'_>,
    event: Seq,
) -> Step<Option<(StoredChange, Box<EntityChange>)>> {
    let mut changes = writing.of_event(event)?.into_iter();
    Ok(changes.find_map(|stored| match &stored.change {
        Change::Entity { change } if stored.author.is_some() => {
            let change = change.clone();
            Some((stored, change))
        }
        _ => None,
    }))
}

fn undoing(
    writing: &Writing<'_>,
    entities: &Entities,
    stored: &StoredChange,
    change: &EntityChange,
) -> Step<Undoing> {
    // Undoing is rare, so the state before the change is computed again from earlier changes instead of being stored
    // with each.
    let mut before = Entities::new();
    writing.each_change_before(stored.seq, |earlier| {
        if let Change::Entity { change } = &earlier.change {
            // Each change was accepted in the same state before, so none is refused now.
            before.apply(change, earlier.at).map_err(refuse)?;
        }
        Ok(())
    })?;
    entities.undoing(change, stored.at, &before).map_err(refuse)
}
