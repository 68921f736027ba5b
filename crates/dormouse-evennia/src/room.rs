//! Who and what is in a room, as the game reports it.

use std::collections::BTreeSet;

use dormouse_contracts::{Audience, EntityId, IdError, Place, PlaceId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An object or an account of the game, and the account that plays it or the object that it plays.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct GameEntity {
    pub(crate) kind: EntityKind,
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) object: Option<GameRef>,
    #[serde(default)]
    pub(crate) account: Option<GameRef>,
    /// Whether an assistant plays it.
    #[serde(default)]
    pub(crate) resident: bool,
    #[serde(default)]
    pub(crate) superuser: bool,
    #[serde(default)]
    pub(crate) perms: Vec<String>,
    /// Whether what is said around it reaches somebody: it is played, or another assistant's. Known of those in a room.
    #[serde(default = "unless_denied")]
    pub(crate) hears: bool,
}

fn unless_denied() -> bool {
    true
}

/// Objects and accounts number separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntityKind {
    Object,
    Account,
}

/// The number and the name of something in the game.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct GameRef {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) key: String,
    /// When an account was made, in seconds since 1970. It distinguishes two accounts with the same number: a game that
    /// was restored from a copy can use a number again.
    #[serde(default)]
    pub(crate) since: Option<i64>,
}

impl GameEntity {
    /// The id of a person: the account if there is one, because it stays while characters change. Otherwise the object.
    pub(crate) fn person(&self) -> Result<EntityId, IdError> {
        match (&self.account, self.kind) {
            (Some(account), _) => account_id(account.id),
            (None, EntityKind::Account) => account_id(self.id),
            (None, EntityKind::Object) => EntityId::try_new(format!("object:{}", self.id)),
        }
    }

    /// The name by which it acts: that of the character in a room, that of the account in a page.
    pub(crate) fn name(&self) -> &str {
        &self.key
    }

    /// Whether it is this entity's account or character.
    pub(crate) fn is(&self, other: &Self) -> bool {
        matches!((self.person(), other.person()), (Ok(one), Ok(another)) if one == another)
    }
}

fn account_id(id: u64) -> Result<EntityId, IdError> {
    EntityId::try_new(format!("account:{id}"))
}

impl GameRef {
    /// The place with this number.
    pub(crate) fn place(&self) -> Result<Place, IdError> {
        Ok(Place {
            id: PlaceId::try_new(format!("#{}", self.id))?,
            name: self.key.clone(),
        })
    }
}

/// What an assistant sees around it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct RoomState {
    pub(crate) req: u64,
    #[serde(default)]
    pub(crate) room: Option<SeenRoom>,
    #[serde(default)]
    pub(crate) people: Vec<GameEntity>,
    #[serde(default)]
    pub(crate) things: Vec<GameRef>,
    #[serde(default)]
    pub(crate) exits: Vec<SeenExit>,
    #[serde(default)]
    pub(crate) carried: Vec<GameRef>,
    /// Whether there is more than the lists have.
    #[serde(default)]
    pub(crate) cut: bool,
    /// Whether somebody is there whom the assistant cannot see, and who hears what it says.
    #[serde(default)]
    pub(crate) unseen: bool,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct SeenRoom {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) desc: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct SeenExit {
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    #[serde(default)]
    pub(crate) to: Option<GameRef>,
}

/// How much a view shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Detail {
    Brief,
    #[default]
    Full,
}

impl RoomState {
    pub(crate) fn place(&self) -> Option<Place> {
        let room = self.room.as_ref()?;
        let found = GameRef {
            id: room.id,
            key: room.key.clone(),
            since: None,
        };
        found.place().ok()
    }

    /// Everybody who hears what the assistant says in the room. `None` if the game did not list them all.
    pub(crate) fn listeners(&self) -> Option<Audience> {
        let people = self.people.iter().filter(|one| one.hears);
        let people: Result<BTreeSet<_>, _> = people.map(GameEntity::person).collect();
        (!self.cut && !self.unseen)
            .then_some(())
            .and(Audience::of(people.ok()?))
    }

    /// The view of the room, in the shape that other worlds use too.
    pub(crate) fn view(&self, detail: Detail) -> Value {
        let Some(room) = &self.room else {
            return json!({ "room": null, "note": "your character is not in the game" });
        };
        let to = |exit: &SeenExit| {
            exit.to
                .as_ref()
                .map_or_else(String::new, |to| to.key.clone())
        };
        let exits = self.exits.iter();
        let things = self.things.iter();
        let mut view = json!({
            "room": room.key,
            "exits": exits.map(|exit| json!({ "direction": exit.key, "to": to(exit) })).collect::<Vec<_>>(),
            "things": things.map(|thing| json!({ "name": thing.key })).collect::<Vec<_>>(),
            "characters": self.characters(),
        });
        if let Some(view) = view.as_object_mut() {
            if detail == Detail::Full && !room.desc.is_empty() {
                view.insert("description".to_owned(), room.desc.clone().into());
            }
            if !self.carried.is_empty() {
                let names = self.carried.iter().map(|it| it.key.clone());
                view.insert("carried".to_owned(), names.collect::<Vec<_>>().into());
            }
            if self.cut {
                view.insert("incomplete".to_owned(), true.into());
            }
        }
        view
    }

    /// The others in the room.
    pub(crate) fn characters(&self) -> Value {
        let kind = |one: &GameEntity| match (one.resident, &one.account) {
            (true, _) => "assistant",
            (false, Some(_)) => "player",
            (false, None) => "resident",
        };
        let people = self.people.iter();
        people
            .map(|one| json!({ "name": one.name(), "kind": kind(one) }))
            .collect()
    }
}
