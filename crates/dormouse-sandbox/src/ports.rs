//! The ports of a world, and the effects performed through them.

use dormouse_contracts::{
    AdmitError, AssistantId, BoxFuture, ChannelId, Effect, EffectInquiry, EffectKey, EntityId,
    Habitat, Inquire, Landmarks, Observe, Outcome, Perform, Query, Rejection, Timestamp,
    ToolSource, ToolSpec, WorldError,
};
use redb::ReadableTable;
use serde_json::Value;

use crate::{
    act::ActRefusal,
    character::{Character, CharacterKind, check_name},
    decide::place,
    records::{EFFECT_ORDER, EFFECTS, EffectRecord, StoreError},
    room_view::RoomView,
    sandbox::Sandbox,
    tea_house::{CHANNELS, ROOMS},
    tools,
    world::{MemoryView, WorldView},
};

/// The most effects per call of [`Sandbox::effects`].
pub const EFFECTS_PAGE: usize = 1_000;

/// A requested effect and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct PerformedEffect {
    /// The number of the effect, from 1, in the order of arrival, including rejected effects.
    pub number: u64,
    /// The time of arrival.
    pub at: Timestamp,
    /// Its key, actor, tool and arguments.
    pub effect: Effect,
    /// Whether it was done or rejected.
    pub outcome: Outcome,
}

impl From<EffectRecord> for PerformedEffect {
    fn from(record: EffectRecord) -> Self {
        let EffectRecord {
            number,
            at,
            effect,
            outcome,
        } = record;
        Self {
            number,
            at,
            effect,
            outcome,
        }
    }
}

impl Perform for Sandbox {
    /// One commit writes the outcome under its key, the change, and all perceptions of it. A known key returns its
    /// first outcome; with another actor, tool or other arguments it is rejected. A rejection is stored like any other
    /// outcome.
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        let effect = effect.clone();
        Box::pin(self.change(move |transaction, clock| transaction.perform(&effect, clock.now())))
    }
}

impl Observe for Sandbox {
    /// Answers `inspect_location` with a [`RoomView`].
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        let query = query.clone();
        Box::pin(self.look(move |view| inspect(&view, &query)))
    }
}

impl Inquire for Sandbox {
    /// This world always knows the outcome: the answer is never `CannotTell`.
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move {
            let found = self.performed(&effect.key).await?;
            Ok(found.map(|found| found.outcome).into())
        })
    }
}

impl ToolSource for Sandbox {
    /// say, whisper, page, channel, pose, inspect_location and move.
    ///
    /// Speaking (say, whisper, page, channel) is terminal, because it is the other party's turn then. A pose accompanies speech,
    /// and a move often precedes looking or speaking and can be undone; both may be followed by another call.
    fn specs(&self) -> Vec<ToolSpec> {
        self.tool_specs().to_vec()
    }
}

impl Habitat for Sandbox {
    /// Does the same as [`Sandbox::join`] with this character.
    fn admit<'a>(
        &'a self,
        assistant: &'a AssistantId,
        name: &'a str,
    ) -> BoxFuture<'a, Result<(), AdmitError>> {
        Box::pin(async move {
            let refused = |reason: String| AdmitError::Refused(Rejection::new(reason));
            let id = self.character(assistant);
            let character = Character {
                id: id.map_err(|error| refused(error.to_string()))?,
                name: name.to_owned(),
                kind: CharacterKind::Assistant(assistant.clone()),
            };
            Ok(self.join(character).await?)
        })
    }

    fn landmarks(&self) -> Landmarks {
        landmarks()
    }

    fn has_acted<'a>(
        &'a self,
        assistant: &'a AssistantId,
    ) -> BoxFuture<'a, Result<bool, WorldError>> {
        let assistant = assistant.clone();
        Box::pin(self.ask(move |view| acted(&view, &assistant)))
    }
}

/// The names that settings can refer to; the same in every sandbox.
#[must_use]
pub fn landmarks() -> Landmarks {
    let channels = CHANNELS.iter();
    Landmarks {
        channels: Some(
            channels
                .filter_map(|id| ChannelId::try_new(*id).ok())
                .collect(),
        ),
        places: Some(ROOMS.iter().filter_map(|room| place(room)).collect()),
        check_character: Some(check_character),
        check_name: Some(|name| {
            check_name(name).map_err(|refusal| Rejection::new(refusal.to_string()))
        }),
    }
}

/// Checks the id of a character: that of a player has the name in lower case.
fn check_character(id: &EntityId) -> Result<(), Rejection> {
    let is_possible = match id.as_str().split_once(':') {
        Some(("player", name)) => !name.is_empty() && name == name.to_lowercase(),
        Some(("assistant", key)) => !key.is_empty(),
        Some(_) | None => false,
    };
    if is_possible {
        return Ok(());
    }
    let name = id.as_str().strip_prefix("player:").unwrap_or(id.as_str());
    let name = name.to_lowercase();
    Err(Rejection::new(format!(
        "a player has the id \"player:{name}\""
    )))
}

impl Sandbox {
    /// Returns the effect with this key, if the world has received it. Only reads.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the file could not be read.
    pub async fn performed(&self, key: &EffectKey) -> Result<Option<PerformedEffect>, WorldError> {
        let key = key.clone();
        self.ask(move |view| one(&view, &key)).await
    }

    /// Returns the effects after number `after` in order, at most [`EFFECTS_PAGE`]. Only reads.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the file could not be read.
    pub async fn effects(&self, after: u64) -> Result<Vec<PerformedEffect>, WorldError> {
        self.ask(move |view| many(&view, after)).await
    }
}

fn inspect(view: &MemoryView<'_>, query: &Query) -> Result<Result<Value, Rejection>, StoreError> {
    let rejected = |reason: String| Ok(Err(Rejection::new(reason)));
    let detail = match tools::look(&query.tool, &query.arguments) {
        Ok(detail) => detail,
        Err(refusal) => return rejected(refusal.to_string()),
    };
    let roster = &view.world.roster;
    let actor = roster.embodies(&query.actor);
    let Some((actor, present)) = actor.and_then(|id| Some((id, roster.find(id)?))) else {
        return rejected(ActRefusal::NotJoined.to_string());
    };
    let seen = RoomView::of(present.room, roster, actor, detail);
    Ok(Ok(serde_json::to_value(seen)?))
}

fn acted(view: &WorldView<'_>, assistant: &AssistantId) -> Result<bool, StoreError> {
    let reading = view.database.begin_read()?;
    for entry in reading.open_table(EFFECTS)?.iter()? {
        let record: EffectRecord = serde_json::from_str(entry?.1.value())?;
        if record.effect.actor == *assistant {
            return Ok(true);
        }
    }
    Ok(false)
}

fn one(view: &WorldView<'_>, key: &EffectKey) -> Result<Option<PerformedEffect>, StoreError> {
    let reading = view.database.begin_read()?;
    let found = reading.open_table(EFFECTS)?.get(key.as_str())?;
    let record: Option<EffectRecord> = found
        .map(|it| serde_json::from_str(it.value()))
        .transpose()?;
    Ok(record.map(PerformedEffect::from))
}

fn many(view: &WorldView<'_>, after: u64) -> Result<Vec<PerformedEffect>, StoreError> {
    let reading = view.database.begin_read()?;
    let (order, effects) = (
        reading.open_table(EFFECT_ORDER)?,
        reading.open_table(EFFECTS)?,
    );
    let mut found = Vec::new();
    for entry in order.range(after.saturating_add(1)..)?.take(EFFECTS_PAGE) {
        if let Some(record) = effects.get(entry?.1.value())? {
            let record: EffectRecord = serde_json::from_str(record.value())?;
            found.push(record.into());
        }
    }
    Ok(found)
}
