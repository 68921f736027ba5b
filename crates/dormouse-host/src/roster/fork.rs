//! A fork: an assistant that has lived as another one did, up to an event, and goes on by itself.

use dormouse_contracts::{
    Append, AssistantId, Clock, EntityId, Habitat, LoadSnapshot, NewEvent, ReadEvents, Seq,
    StoredEvent, each_event,
};
use dormouse_engine::{
    Beginning, Configured, Event, ReplayError, RosterChange, SettingChanged, State, replay,
};
use serde_json::Value;

use super::{Newcomer, RosterDecision, RosterError, append_first};
use crate::config::Config;

/// The world of everything that was heard before the fork. The fork itself has heard nothing in any world, and the numbers of what
/// it hears begin at 1.
pub(crate) const BEFORE: &str = "before-the-fork";

/// The most events of a fork. They are written at once, or not at all.
const MOST: u64 = 200_000;

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
pub(crate) async fn fork<L: Append + ReadEvents + LoadSnapshot>(
    log: &L,
    clock: &dyn Clock,
    (config, world): (&Config, &dyn Habitat),
    (from, at, newcomer): (&AssistantId, Seq, Newcomer),
    decision: RosterDecision,
) -> Result<Seq, RosterError> {
    let life = |source| RosterError::Life {
        key: from.clone(),
        source,
    };
    let rest = last_rest(log, from, at).await.map_err(life)?;
    let last = rest.filter(|last| last.0 <= MOST);
    let last = last.ok_or_else(|| RosterError::NoFork {
        key: from.clone(),
        at,
    })?;
    let state = Box::new(replay(log, from, last).await.map_err(life)?);
    let ids = (world.character(from)?, world.character(&newcomer.key)?);
    let mut events = Vec::new();
    each_event(log, from, ..=last, |stored| {
        events.push(copied(stored, world.id().as_str(), &ids)?);
        Ok::<_, ReplayError>(())
    })
    .await
    .map_err(life)?;
    let name = newcomer.character_name();
    let Newcomer {
        key, persona, tags, ..
    } = newcomer;
    let mut settings = state.configuration.settings.clone();
    settings.name = Some(name.clone());
    let persona = persona.unwrap_or_else(|| state.configuration.persona.clone());
    let beginning = Beginning {
        name: name.clone(),
        persona: Some(persona.clone()),
        settings: Some(settings.clone()),
        clone_of: Some((from.clone(), last)),
    };
    // A life that has woken takes its name and persona from its configuration.
    let configured = Event::Configured(Configured {
        persona: Some(persona),
        settings: Some(Box::new(settings)),
        ..Configured::default()
    });
    let off = switched_off(&state, decision.author.to_string());
    let created = RosterChange::Created(Box::new(beginning));
    let tagged = (!tags.is_empty()).then_some(RosterChange::Tagged(tags));
    let changes = std::iter::once(created).chain(tagged);
    let now = clock.now();
    let changes = changes.map(|it| decision.clone().event(it));
    for event in changes.chain([configured, off]) {
        events.push(event.encode(now)?);
    }
    append_first(log, (config, &world.landmarks()), (key, name), events).await?;
    Ok(last)
}

/// The event as the fork has it: what the original heard was in no world that the fork knows, and its character was the fork's.
fn copied(
    stored: &StoredEvent,
    world: &str,
    (from, to): &(EntityId, EntityId),
) -> Result<NewEvent, ReplayError> {
    let kind = Event::decode(stored)?.kind();
    // A quotation mark within a text is written with a backslash, so only whole texts are found.
    let quoted = |text: &str| Value::from(text).to_string();
    let payload = String::from_utf8_lossy(&stored.payload);
    let payload = payload.replace(&quoted(from.as_str()), &quoted(to.as_str()));
    let payload = match kind {
        "perceived" => payload.replace(&quoted(world), &quoted(BEFORE)),
        _ => payload,
    };
    Ok(NewEvent {
        at: stored.at,
        kind,
        schema: stored.schema,
        payload: payload.into_bytes(),
    })
}

fn switched_off(state: &State, by: String) -> Event {
    let setting = "assistant.enabled".to_owned();
    let old = state.changed_settings.get(&setting);
    let old = old.map(|changed| changed.value.clone());
    Event::SettingChanged(SettingChanged {
        setting,
        old,
        new: Some(Value::Bool(false)),
        by,
    })
}
