//! The people and things that an assistant knows.

use std::collections::BTreeMap;

use axum::{Json, extract::State, http::StatusCode};
use dormouse_contracts::{AssistantId, EntityId, Timestamp, Trust};
use dormouse_entities::{
    CommunicationStyle, EntityChange, EntityType, Favorability, Keyword, Name, NewObservation,
    Observation, ObservationSource, ObservationText, Phrase, Preference, Profile, ProfileEdit,
    Rapport,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{Changed, Reason, assistants::limit, json};
use crate::{
    extract::{Asked, ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Shared, over_http},
    tokens::Right,
};

/// How many entities a page has: at most, and by default.
const PAGE: (u32, u32) = (200, 50);

/// Somebody or something at a glance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntitySummary {
    /// Its id.
    entity: String,
    /// `player`, `npc` or `object`.
    #[schema(value_type = String)]
    entity_type: Value,
    name: String,
    /// Other names, oldest first.
    aliases: Vec<String>,
    /// `stranger`, `acquaintance`, `friend` or `ally`.
    relationship: String,
    /// How many observations there are.
    observations: u64,
}

/// A page of entities.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntityPage {
    entities: Vec<EntitySummary>,
    /// What to send as `after` for the next page; absent at the end.
    next: Option<String>,
}

/// Everything that is known of somebody or something.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProfileView {
    #[serde(flatten)]
    summary: EntitySummary,
    /// How much the assistant likes them, -1 to 1.
    favorability: f64,
    /// How far the assistant trusts them, 0 to 1.
    trust: f64,
    /// How well they know each other, 0 to 1.
    rapport: f64,
    /// How often they spoke.
    interactions: u64,
    /// How they talk.
    communication_style: Option<String>,
    /// What they are like.
    temperament: Option<String>,
    /// What they care about.
    interests: Vec<String>,
    /// What they prefer, by subject.
    preferences: BTreeMap<String, String>,
    /// What was noticed, oldest first.
    noticed: Vec<ObservationView>,
    created_at: String,
    updated_at: String,
}

/// Something that was noticed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ObservationView {
    number: u64,
    text: String,
    /// How it was learnt, in a word.
    source: String,
    /// How far it is believed, 0 to 1.
    trust: f64,
    at: String,
}

/// Which entities.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListEntities {
    /// Only those whose running conversation has this topic.
    topic: Option<String>,
    /// Only those after this id.
    after: Option<String>,
    /// How many at most: 1 to 200.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// An entity that the assistant is to know.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEntity {
    /// The id that it has in the world, as in `player:ann`.
    entity: String,
    /// Its name.
    #[schema(value_type = String, min_length = 1, max_length = 64)]
    name: Name,
    /// `player`, `npc` or `object`.
    #[serde(default)]
    #[schema(value_type = EntityTypeName)]
    entity_type: EntityType,
    /// Why, for the log.
    reason: Option<String>,
}

/// The kinds of entities.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "it describes the names of a type of another crate"
)]
pub(crate) enum EntityTypeName {
    Player,
    Npc,
    Object,
}

/// Changes of what is known of an entity. All are made or none; each can be undone separately.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntityPatch {
    /// Its name; the old one becomes an alias.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 64)]
    name: Option<Name>,
    #[schema(value_type = Option<EntityTypeName>)]
    entity_type: Option<EntityType>,
    /// How much the assistant likes them, -1 to 1.
    #[schema(value_type = Option<f64>, minimum = -1, maximum = 1)]
    favorability: Option<Favorability>,
    /// How far the assistant trusts them, 0 to 1.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    trust: Option<Trust>,
    /// How well they know each other, 0 to 1.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    rapport: Option<Rapport>,
    /// How they talk: `formal`, `casual`, `terse` or another word.
    #[schema(value_type = Option<String>)]
    communication_style: Option<CommunicationStyle>,
    /// What they are like.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 40)]
    temperament: Option<Phrase>,
    /// What they care about, in addition.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    interests: Vec<Keyword>,
    /// What they prefer, by subject.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    preferences: BTreeMap<Keyword, Preference>,
    /// Further names.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    add_aliases: Vec<Name>,
    /// Names that are removed from their aliases.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    remove_aliases: Vec<Name>,
    /// Why, for the log.
    reason: Option<String>,
}

/// Something that was noticed about an entity.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewNotice {
    /// What. Everybody may learn of it.
    #[schema(value_type = String, min_length = 1, max_length = 500)]
    text: ObservationText,
    /// How it was learnt, in a word; `direct` if absent.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 32)]
    source: Option<ObservationSource>,
    /// How far it is believed, 0 to 1; 1 if absent.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    trust: Option<Trust>,
    /// Why, for the log.
    reason: Option<String>,
}

/// Two entities that are the same.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MergeInto {
    /// The id of the one that stays.
    into: String,
    /// Why, for the log.
    reason: Option<String>,
}

/// What became of several changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangedAll {
    /// The events that were written, in order. A value that was already so has no event.
    events: Vec<u64>,
}

/// List the people and things that an assistant knows, by id.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/entities/", tag = "entities",
    params(("key" = String, Path, description = "Its key"), ListEntities),
    responses((status = OK, body = EntityPage)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<ListEntities>,
) -> Result<Json<EntityPage>, Problem> {
    caller.may(Right::Read, &key)?;
    let limit = limit(asked.limit, PAGE)?;
    let (resident, now) = (service.remembering(&key).await?, service.now());
    let page = resident.memory().with_entities(|known| {
        let about = asked.topic.as_ref().map(|topic| known.talking_about(topic));
        let is_wanted = |profile: &&Profile| {
            let id = &profile.entity_id;
            let after = asked.after.as_deref();
            after.is_none_or(|after| id.as_str() > after)
                && about.as_ref().is_none_or(|about| about.contains(&id))
        };
        let mut wanted = known.profiles().filter(is_wanted);
        let entities: Vec<_> = wanted
            .by_ref()
            .take(limit)
            .map(|it| summary(it, now))
            .collect();
        let next = wanted.next().and(entities.last());
        let next = next.map(|last| last.entity.clone());
        EntityPage { entities, next }
    });
    Ok(Json(page))
}

/// Show everything that is known of an entity.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/entities/{id}/", tag = "entities",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the entity")),
    responses((status = OK, body = ProfileView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<String>,
) -> Result<Json<ProfileView>, Problem> {
    caller.may(Right::Read, &key)?;
    let entity = entity(id)?;
    let (resident, now) = (service.remembering(&key).await?, service.now());
    let found = resident
        .memory()
        .with_entities(|known| known.profile(&entity).map(|it| profile(it, now)));
    let unknown = || ProblemCode::UnknownItem.because(format!("there is no profile of {entity}"));
    found.map(Json).ok_or_else(unknown)
}

/// Let an assistant know somebody or something.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/entities/", tag = "entities",
    params(("key" = String, Path, description = "Its key")), request_body = NewEntity,
    responses((status = CREATED, body = Changed)))]
pub(crate) async fn create(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(new): JsonBody<NewEntity>,
) -> Result<(StatusCode, Json<Changed>), Problem> {
    let created = EntityChange::Created {
        entity: entity(new.entity)?,
        entity_type: new.entity_type,
        name: new.name,
    };
    let why = new.reason.unwrap_or_else(|| over_http("created"));
    let changed = change(&service, &caller, &key, created, why).await?;
    Ok((StatusCode::CREATED, changed))
}

/// Set what is known of an entity.
#[utoipa::path(patch, path = "/api/ai/assistants/{key}/entities/{id}/", tag = "entities",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the entity")),
    request_body = EntityPatch, responses((status = OK, body = ChangedAll)))]
pub(crate) async fn update(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<String>,
    JsonBody(patch): JsonBody<EntityPatch>,
) -> Result<Json<ChangedAll>, Problem> {
    caller.may(Right::Operate, &key)?;
    let entity = entity(id)?;
    let edit = ProfileEdit {
        name: patch.name,
        entity_type: patch.entity_type,
        favorability: patch.favorability,
        trust: patch.trust,
        rapport: patch.rapport,
        communication_style: patch.communication_style,
        temperament: patch.temperament,
        interests: patch.interests,
        preferences: patch.preferences,
    };
    let edited = edit.changes(&entity).into_iter().map(|(change, _)| change);
    let who = || entity.clone();
    let added = patch.add_aliases.into_iter();
    let added = added.map(|alias| EntityChange::AliasAdded {
        entity: who(),
        alias,
    });
    let removed = patch.remove_aliases.into_iter();
    let removed = removed.map(|alias| EntityChange::AliasRemoved {
        entity: who(),
        alias,
    });
    let changes = edited.chain(added).chain(removed).collect();
    let why = patch.reason.unwrap_or_else(|| over_http("changed"));
    let mut memory = service.memory(&key).await?;
    let made = memory.change_entities(changes, caller.author(), &why);
    let events = made.await?.into_iter().flatten().map(|event| event.0);
    Ok(Json(ChangedAll {
        events: events.collect(),
    }))
}

/// Delete the profile of an entity.
///
/// It can be restored.
#[utoipa::path(delete, path = "/api/ai/assistants/{key}/entities/{id}/", tag = "entities",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the entity")),
    responses((status = OK, body = Changed)))]
pub(crate) async fn delete(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<String>,
) -> Result<Json<Changed>, Problem> {
    let entity = entity(id)?;
    let deleted = EntityChange::Deleted { entity };
    change(&service, &caller, &key, deleted, over_http("deleted")).await
}

/// Restore a profile that was deleted.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/entities/{id}/restore/", tag = "entities",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the entity")),
    request_body = Reason, responses((status = OK, body = Changed)))]
pub(crate) async fn restore(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<String>,
    JsonBody(why): JsonBody<Reason>,
) -> Result<Json<Changed>, Problem> {
    let entity = entity(id)?;
    let restored = EntityChange::Restored { entity };
    change(&service, &caller, &key, restored, why.or("restored")).await
}

/// Add something that was noticed about an entity.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/entities/{id}/observations/", tag = "entities",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the entity")),
    request_body = NewNotice, responses((status = CREATED, body = Changed)))]
pub(crate) async fn observe(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<String>,
    JsonBody(new): JsonBody<NewNotice>,
) -> Result<(StatusCode, Json<Changed>), Problem> {
    let direct = || ObservationSource::try_new("direct");
    let source = new.source.map_or_else(direct, Ok);
    let source = source.map_err(|error| ProblemCode::InvalidValue.because(error.to_string()))?;
    let trust = new.trust.unwrap_or(Trust::FULL);
    let observed = EntityChange::Observed {
        entity: entity(id)?,
        observation: NewObservation::by_operator(new.text, source, trust),
    };
    let why = new.reason.unwrap_or_else(|| over_http("changed"));
    let changed = change(&service, &caller, &key, observed, why).await?;
    Ok((StatusCode::CREATED, changed))
}

/// Merge an entity into another one that is the same.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/entities/{id}/merge/", tag = "entities",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the entity that becomes part of the other one")),
    request_body = MergeInto, responses((status = OK, body = Changed)))]
pub(crate) async fn merge(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<String>,
    JsonBody(asked): JsonBody<MergeInto>,
) -> Result<Json<Changed>, Problem> {
    let (from, into) = (entity(id)?, entity(asked.into)?);
    let merged = EntityChange::Merged { from, into };
    let why = asked.reason.unwrap_or_else(|| over_http("merged"));
    change(&service, &caller, &key, merged, why).await
}

/// Undo a merge.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/entities/{id}/unmerge/", tag = "entities",
    params(("key" = String, Path, description = "Its key"), ("id" = String, Path, description = "The id of the entity that was merged")),
    request_body = Reason, responses((status = OK, body = Changed)))]
pub(crate) async fn unmerge(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<String>,
    JsonBody(why): JsonBody<Reason>,
) -> Result<Json<Changed>, Problem> {
    let entity = entity(id)?;
    let unmerged = EntityChange::Unmerged { entity };
    change(&service, &caller, &key, unmerged, why.or("unmerged")).await
}

/// Makes one change of what is known, as an event that says who did it.
pub(super) async fn change(
    service: &Shared,
    caller: &Caller,
    key: &AssistantId,
    change: EntityChange,
    why: String,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, key)?;
    let mut memory = service.memory(key).await?;
    let made = memory.change_entity(change, caller.author(), &why).await?;
    Ok(Json(made.into()))
}

/// An id as a request has it.
pub(super) fn entity(id: String) -> Result<EntityId, Problem> {
    EntityId::try_new(id).map_err(|error| ProblemCode::InvalidValue.because(error.to_string()))
}

fn summary(profile: &Profile, now: Timestamp) -> EntitySummary {
    let aliases = profile.aliases.iter();
    EntitySummary {
        entity: profile.entity_id.to_string(),
        entity_type: json(&profile.entity_type),
        name: profile.name.as_str().to_owned(),
        aliases: aliases.map(|name| name.as_str().to_owned()).collect(),
        relationship: profile.relationship.state_at(now).to_string(),
        observations: profile.observations.len() as u64,
    }
}

fn profile(profile: &Profile, now: Timestamp) -> ProfileView {
    let (relationship, attributes) = (&profile.relationship, &profile.attributes);
    let interests = attributes.interests.iter();
    let preferences = attributes.preferences.iter();
    let temperament = attributes.temperament.as_ref();
    ProfileView {
        summary: summary(profile, now),
        favorability: relationship.favorability().value().into(),
        trust: relationship.trust().score().into(),
        rapport: relationship.rapport().value().into(),
        interactions: relationship.interaction_count(),
        communication_style: attributes
            .communication_style
            .as_ref()
            .map(ToString::to_string),
        temperament: temperament.map(|it| it.as_str().to_owned()),
        interests: interests.map(|it| it.as_str().to_owned()).collect(),
        preferences: preferences
            .map(|(subject, what)| (subject.as_str().to_owned(), what.as_str().to_owned()))
            .collect(),
        noticed: profile.observations.iter().map(observation).collect(),
        created_at: profile.created_at.to_string(),
        updated_at: profile.updated_at.to_string(),
    }
}

fn observation(observation: &Observation) -> ObservationView {
    ObservationView {
        number: observation.number,
        text: observation.content.as_str().to_owned(),
        source: observation.source.as_str().to_owned(),
        trust: observation.trust.score().into(),
        at: observation.timestamp.to_string(),
    }
}
