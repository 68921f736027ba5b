//! A fork: an assistant that has lived as another one did, up to an event, and goes on by itself.

use dormouse_contracts::{AssistantId, ReadEvents, Seq, each_event};
use dormouse_engine::{Event, ReplayError, State};

use super::{
    Newcomer, RosterDecision, RosterError,
    destination::{Destination, Heir, NewLife},
};

/// How many events are read at a time.
const PAGE: usize = 512;

/// The last event up to `at` after which nothing was under way: no turn, and no message that waits for one. An act that was under
/// way is not carried out by two.
///
/// # Errors
///
/// [`ReplayError`], which names the first event that could not be read.
pub(crate) async fn last_rest<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    at: Seq,
) -> Result<Option<Seq>, ReplayError> {
    let (mut state, mut rest) = (Box::new(State::default()), None);
    each_event(log, key, ..=at, |stored| {
        state.apply(stored.seq, stored.at, &Event::decode(stored)?);
        let is_awake_once = !state.configuration.persona.is_empty();
        if is_awake_once && state.turns.is_empty() {
            rest = Some(state.seq);
        }
        Ok::<_, ReplayError>(())
    })
    .await?;
    Ok(rest)
}

/// Creates an assistant whose log begins with that of another one up to `at`, or up to the last event before it after which nothing
/// was under way. The original is read from its log, so it is neither woken nor disturbed. The fork begins switched off, because it
/// has the promises and goals of the original. Returns the last event that both have.
///
/// # Errors
///
/// [`RosterError`]; nothing was written.
pub async fn fork(
    to: &Destination<'_>,
    (from, at, newcomer): (&AssistantId, Seq, Newcomer),
    decision: RosterDecision,
) -> Result<Seq, RosterError> {
    let name = newcomer.character_name();
    let Newcomer {
        key, persona, tags, ..
    } = newcomer;
    to.check(&key, &name)?;
    let life = |source| RosterError::Life {
        key: from.clone(),
        source,
    };
    let rest = last_rest(to.log, from, at).await.map_err(life)?;
    let last = rest.ok_or_else(|| RosterError::NoFork {
        key: from.clone(),
        at,
    })?;
    let renamed = to.renamed(&(to.character)(from)?, &key)?;
    let mut copy = NewLife::begin(to.folder, &key)?;
    let mut state = Box::new(State::default());
    while state.seq < last {
        let page = to.log.read(from, state.seq, PAGE).await;
        let page = page.map_err(|error| life(error.into()))?;
        if page.is_empty() {
            break;
        }
        for stored in page.iter().take_while(|stored| stored.seq <= last) {
            let event = Event::decode(stored).map_err(|error| life(error.into()))?;
            state.apply(stored.seq, stored.at, &event);
            copy.push(renamed.copied(stored, event.kind())).await?;
        }
    }
    let heir = Heir {
        key,
        name,
        persona,
        tags,
        clone_of: Some((from.clone(), last)),
    };
    for event in to.first_events(&state, heir, &decision)? {
        copy.push(event).await?;
    }
    copy.move_to(to.log).await?;
    Ok(last)
}
