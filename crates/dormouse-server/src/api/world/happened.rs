//! What happened in the world. Facts that the world attests and words that somebody wrote are apart.

use std::collections::BTreeSet;

use axum::{Json, extract::State};
use dormouse_bridge::{QueueError, QueueErrorKind, Report};
use dormouse_contracts::{
    AssistantId, Audience, ChannelId, Delivery, EffectKey, EntityId, IdError, Movement, Place,
    PlaceId, Sender, SourceKind, Timestamp, Words, WorldId,
};
use dormouse_host::http_world::HttpWorld;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::door;
use crate::{
    extract::JsonBody,
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Service, Shared},
    tokens::{Fact, Right},
};

/// The most bytes of the world's own id of something.
const ID: usize = 256;

/// The most assistants that one report is for.
const MOST_LISTENERS: usize = 256;

/// Something that happened.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Happening {
    /// The world's own id of it, 1 to 256 bytes. A report that is repeated under its id is stored once; the first one counts.
    #[schema(min_length = 1, max_length = 256)]
    id: String,
    /// The keys of the assistants that perceive it, at most 256.
    #[schema(min_items = 1, max_items = 256)]
    to: BTreeSet<String>,
    attested: AttestedFacts,
    claimed: Claimed,
}

/// What the world vouches for. Leave out a fact that the world does not know, and never take one from a text.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttestedFacts {
    how: Manner,
    /// Who said it; absent if the world cannot say, or if it is the assistant itself: `cause` says so.
    sender: Option<SenderFact>,
    /// On which channel, if it was said on one.
    channel: Option<String>,
    /// Where it happened.
    place: Option<PlaceFact>,
    /// Who could perceive it, the speaker and the listeners included; absent if the world cannot list them.
    audience: Option<AudienceFact>,
    /// The id of the assistant's act that it results from.
    cause: Option<String>,
    /// The number of the earlier delivery to the same assistant that it answers.
    reply_to: Option<u64>,
    /// When it happened, as RFC 3339; now if absent.
    at: Option<String>,
}

/// How something was said or done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Manner {
    /// To the assistant alone, in the same place.
    Whisper,
    /// To the assistant alone, from anywhere.
    Page,
    /// Aloud, and to the assistant, as the world itself knows.
    Addressed,
    /// On a channel.
    Channel,
    /// Aloud.
    #[default]
    Say,
    /// An act that was described.
    Pose,
    /// The sender came.
    Arrival,
    /// The sender left.
    Departure,
    /// A text without an author.
    Emit,
    /// Output of an act of the assistant.
    CommandOutput,
}

/// Who said something.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SenderFact {
    /// The world's id of them, such as `player:ann`.
    id: String,
    /// Their name, for display.
    name: String,
    /// Whether it is another assistant.
    #[serde(default)]
    assistant: bool,
}

/// Where something happened.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceFact {
    id: String,
    name: String,
}

/// Who could perceive something.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AudienceFact {
    /// Everybody in the world.
    Public,
    /// The members of this channel, whom the world does not list.
    Channel(String),
    /// Exactly these, at most 256. The character of the assistant with the key `dormouse` is `assistant:dormouse`.
    Entities(BTreeSet<String>),
}

/// What somebody wrote. It can claim anything, and decides nothing.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claimed {
    /// The words, at most 65,536 bytes.
    #[schema(min_length = 1)]
    words: String,
}

/// Where the report is stored.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Stored {
    /// One for each assistant. The same if the report was repeated.
    deliveries: Vec<StoredDelivery>,
}

/// A report as the delivery to one assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StoredDelivery {
    assistant: String,
    /// Its number among the deliveries to this assistant.
    number: u64,
}

/// Report what happened.
///
/// 2xx means that it is on disk: each assistant perceives it exactly once, even after a crash. If only some of the assistants
/// could be told, the request fails; repeat it under the same id. The token needs the right `world` for each assistant, and may
/// attest only the facts that it was made for.
#[utoipa::path(post, path = "/api/ai/world/perceptions/", tag = "world", request_body = Happening,
    responses((status = OK, body = Stored)))]
pub(crate) async fn perceive(
    State(service): State<Shared>,
    caller: Caller,
    JsonBody(happening): JsonBody<Happening>,
) -> Result<Json<Stored>, Problem> {
    let listeners = listeners(&caller, &happening)?;
    let report = Reporter {
        caller: &caller,
        now: service.now(),
    };
    let world = door(&service)?;
    let report = report.read(happening.attested, happening.claimed, world.id())?;
    for key in &listeners {
        service.exists(key)?;
        is_by(&report, key)?;
    }
    // Several tokens may report, each under numbers of its own.
    let id = format!("{}\0{}", caller.token.name, happening.id);
    let mut deliveries = Vec::new();
    for key in &listeners {
        let stored = store(&service, &world, key, &id, &report).await?;
        deliveries.push(StoredDelivery {
            assistant: key.to_string(),
            number: stored.number,
        });
    }
    Ok(Json(Stored { deliveries }))
}

fn listeners(caller: &Caller, happening: &Happening) -> Result<BTreeSet<AssistantId>, Problem> {
    let invalid = |why: &str| Err(ProblemCode::InvalidValue.because(why));
    if happening.id.is_empty() || happening.id.len() > ID {
        return invalid("id: expected 1 to 256 bytes");
    }
    if happening.to.is_empty() || happening.to.len() > MOST_LISTENERS {
        return invalid("to: expected 1 to 256 keys of assistants");
    }
    let read = |key: &String| {
        let key = AssistantId::try_new(key.as_str()).map_err(|error| wrong("to", &error))?;
        caller.may(Right::World, &key)?;
        Ok(key)
    };
    happening.to.iter().map(read).collect()
}

async fn store(
    service: &Service,
    world: &HttpWorld,
    key: &AssistantId,
    id: &str,
    report: &Report,
) -> Result<Delivery, Problem> {
    let character = (world.character(key)).map_err(|error| wrong("to", &error))?;
    match world.report(&character, id, report.clone()).await {
        Err(error) if error.kind() == QueueErrorKind::NotPresent => {
            // Its character enters the world when it wakes for the first time.
            let _awake = service.awake(key).await?;
            Ok(world.report(&character, id, report.clone()).await?)
        }
        stored => Ok(stored?),
    }
}

/// Checks that a report with a cause is about an act of this assistant, which perceives it as its own.
pub(super) fn is_by(report: &Report, key: &AssistantId) -> Result<(), Problem> {
    match &report.cause {
        Some(cause) if cause.actor().as_ref() != Some(key) => {
            Err(ProblemCode::InvalidValue.because(format!(
                "attested.cause: {cause} is not an act of {key}; report it to its own assistant alone, and name the sender to the others"
            )))
        }
        _ => Ok(()),
    }
}

fn wrong(field: &str, error: &IdError) -> Problem {
    ProblemCode::InvalidValue.because(format!("{field}: {error}"))
}

/// Reads reports of a caller.
pub(super) struct Reporter<'a> {
    pub(super) caller: &'a Caller,
    pub(super) now: Timestamp,
}

impl Reporter<'_> {
    /// The report, if the caller may attest all of its facts.
    pub(super) fn read(
        &self,
        facts: AttestedFacts,
        claimed: Claimed,
        world: &WorldId,
    ) -> Result<Report, Problem> {
        let words = Words::try_new(claimed.words);
        let words = words.map_err(|error| {
            ProblemCode::InvalidValue.because(format!("claimed.words: {error}"))
        })?;
        self.may_attest(&facts)?;
        let source = source(&facts)?;
        let at = super::super::moment("attested.at", facts.at.as_deref())?;
        let by_itself = match (facts.how, &facts.cause) {
            (_, None) => Sender::Unattributed,
            (Manner::CommandOutput, Some(_)) => Sender::Myself { marked: false },
            // Its own words, as the world repeats them to it.
            (_, Some(_)) => Sender::Myself { marked: true },
        };
        let sender = facts.sender.map(sender).transpose()?.unwrap_or(by_itself);
        let mut report = Report::new(source, sender, at.unwrap_or(self.now), words);
        report.place = facts.place.map(place).transpose()?;
        report.audience = facts.audience.map(audience).transpose()?;
        let cause = facts.cause.map(EffectKey::try_new).transpose();
        report.cause = cause.map_err(|error| wrong("attested.cause", &error))?;
        report.reply_to = facts.reply_to.map(|number| Delivery {
            world: world.clone(),
            number,
        });
        report.movement = match facts.how {
            Manner::Arrival => Some(Movement::Arrival),
            Manner::Departure => Some(Movement::Departure),
            _ => None,
        };
        Ok(report)
    }

    fn may_attest(&self, facts: &AttestedFacts) -> Result<(), Problem> {
        let is_addressed = matches!(
            facts.how,
            Manner::Whisper | Manner::Page | Manner::Addressed
        );
        let given = [
            (facts.sender.is_some(), Fact::Sender),
            (is_addressed, Fact::Addressed),
            (facts.channel.is_some(), Fact::Channel),
            (facts.place.is_some(), Fact::Place),
            (facts.audience.is_some(), Fact::Audience),
            (facts.cause.is_some(), Fact::Cause),
            (facts.how == Manner::CommandOutput, Fact::Cause),
            (facts.reply_to.is_some(), Fact::ReplyTo),
            (facts.at.is_some(), Fact::Time),
        ];
        let mut refused = given.into_iter();
        match refused.find(|(is_given, fact)| *is_given && !self.caller.token.attests(*fact)) {
            None => Ok(()),
            Some((_, fact)) => {
                Err(ProblemCode::Scope.because(format!("the token may not attest the {fact}")))
            }
        }
    }
}

fn source(facts: &AttestedFacts) -> Result<SourceKind, Problem> {
    let invalid = |why: &str| Err(ProblemCode::InvalidValue.because(why));
    let channel = facts.channel.as_deref().map(ChannelId::try_new).transpose();
    let channel = channel.map_err(|error| wrong("attested.channel", &error))?;
    Ok(match (facts.how, channel) {
        (Manner::Channel, Some(channel)) => SourceKind::Channel(channel),
        (Manner::Channel, None) => return invalid("attested.channel is missing: which channel?"),
        (_, Some(_)) => return invalid("attested.channel is only for what has how = \"channel\""),
        (Manner::Whisper, None) => SourceKind::Whisper,
        (Manner::Page, None) => SourceKind::Page,
        (Manner::Addressed, None) => SourceKind::Addressed,
        (Manner::Say, None) => SourceKind::Say,
        (Manner::Pose, None) => SourceKind::Pose,
        (Manner::Arrival | Manner::Departure, None) => SourceKind::Movement,
        (Manner::Emit, None) => SourceKind::Emit,
        (Manner::CommandOutput, None) if facts.cause.is_none() => {
            return invalid("attested.cause is missing: of which act is it the output?");
        }
        (Manner::CommandOutput, None) => SourceKind::CommandOutput,
    })
}

fn sender(sender: SenderFact) -> Result<Sender, Problem> {
    let id = EntityId::try_new(sender.id).map_err(|error| wrong("attested.sender.id", &error))?;
    let name = name("attested.sender.name", sender.name)?;
    Ok(match sender.assistant {
        true => Sender::Assistant { id, name },
        false => Sender::Entity { id, name },
    })
}

fn place(place: PlaceFact) -> Result<Place, Problem> {
    let id = PlaceId::try_new(place.id).map_err(|error| wrong("attested.place.id", &error))?;
    let name = name("attested.place.name", place.name)?;
    Ok(Place { id, name })
}

/// A name of the world. It has the bounds of an id.
fn name(field: &str, name: String) -> Result<String, Problem> {
    let checked = EntityId::try_new(name).map_err(|error| wrong(field, &error))?;
    Ok(checked.into())
}

pub(super) fn audience(audience: AudienceFact) -> Result<Audience, Problem> {
    let field = "audience";
    match audience {
        AudienceFact::Public => Ok(Audience::Public),
        AudienceFact::Channel(channel) => {
            let channel = ChannelId::try_new(channel).map_err(|error| wrong(field, &error))?;
            Ok(Audience::Channel(channel))
        }
        AudienceFact::Entities(ids) => {
            let ids = ids.into_iter().map(EntityId::try_new);
            let ids: Vec<_> = (ids.collect::<Result<_, _>>()).map_err(|it| wrong(field, &it))?;
            let most = Audience::LIMIT;
            let why = format!("an audience of more than {most} cannot be listed: leave it out");
            Audience::of(ids).ok_or_else(|| ProblemCode::InvalidValue.because(why))
        }
    }
}

impl From<QueueError> for Problem {
    fn from(error: QueueError) -> Self {
        match error.kind() {
            QueueErrorKind::Unavailable => ProblemCode::Storage
                .because("the report was not stored: send it again under the same id"),
            QueueErrorKind::Unknown => ProblemCode::Storage.because(
                "it is unknown whether the report was stored: send it again under the same id",
            ),
            _ => Self::internal(&error),
        }
    }
}
