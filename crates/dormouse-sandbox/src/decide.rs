//! The effect of an act: a pure function of the positions of all characters. It passes words on without reading them,
//! except to check that they are not blank and to find the assistants that speech mentions.

use dormouse_contracts::{
    Audience, ChannelId, EntityId, Movement, Place, PlaceId, Sender, SourceKind, Words, WordsError,
    invariant,
};
use dormouse_text::{beginning, is_blank, mentions};

use crate::{
    act::{Act, ActRefusal, ActView},
    place::{Exit, Room},
    room_view::{Detail, NAMED, RoomView},
    roster::{Pick, Present, Roster, pick},
    tea_house::{CHANNELS, PUBLIC},
};

#[cfg(test)]
mod tests;

/// More perceiving characters than this in one room are a crowd, in which nobody sees who comes and goes. From this number on,
/// an audience counts as unknown, too.
const CROWD: usize = Audience::LIMIT;

/// The effect of an act, before anything is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Who perceives what.
    pub(crate) heard: Vec<Heard>,
    /// The room the acting character moves to.
    pub(crate) moves_to: Option<&'static Room>,
    /// The channel that the acting character joins or leaves.
    pub(crate) tunes: Option<Tuning>,
    /// What the acting character sees.
    pub(crate) seen: ActView,
}

impl Decision {
    /// Who perceives the act now, without the acting character; `None` if there are too many to list.
    pub(crate) fn perceived_by(&self, actor: &EntityId) -> Option<Audience> {
        let others = self.heard.iter().map(|heard| &heard.observer);
        Audience::of(others.filter(|id| *id != actor).cloned())
    }

    /// Who perceives the words of the act, without the acting character. Words that are public are also for those who
    /// come later.
    pub(crate) fn listeners(&self, actor: &EntityId) -> Audience {
        let is_public = |heard: &Heard| heard.audience == Some(Audience::Public);
        match self.perceived_by(actor) {
            Some(listed) if !self.heard.iter().any(is_public) => listed,
            _ => Audience::Public,
        }
    }
}

/// Joining or leaving a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tuning {
    In(&'static str),
    Out(&'static str),
}

/// An entry for one observer's feed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) observer: EntityId,
    pub(crate) source: SourceKind,
    pub(crate) sender: Sender,
    pub(crate) place: Option<Place>,
    pub(crate) audience: Option<Audience>,
    pub(crate) movement: Option<Movement>,
    pub(crate) words: Words,
}

/// Something that happens, as everyone who notices it perceives it.
struct Happening<'a> {
    source: SourceKind,
    /// The room, if it happens in one.
    place: Option<Place>,
    audience: Option<Audience>,
    movement: Option<Movement>,
    words: &'a Words,
}

/// A room as a place of the world.
pub(crate) fn place(room: &Room) -> Option<Place> {
    let id = invariant!(
        PlaceId::try_new(room.key).map(Some),
        "the key of a room is a valid id"
    )?;
    let name = room.name.to_owned();
    Some(Place { id, name })
}

/// The acting character, and everything that determines who notices.
struct Scene<'a> {
    roster: &'a Roster,
    id: &'a EntityId,
    actor: &'a Present,
}

/// Decides the effect of `act` by `actor`.
pub(crate) fn decide(roster: &Roster, actor: &EntityId, act: &Act) -> Result<Decision, ActRefusal> {
    let present = roster.find(actor).filter(|it| it.is_attending());
    let scene = Scene {
        roster,
        id: actor,
        actor: present.ok_or(ActRefusal::NotJoined)?,
    };
    if act
        .words()
        .is_some_and(|words| is_blank(words.as_claimed()))
    {
        return Err(ActRefusal::Words(WordsError::Empty));
    }
    match act {
        Act::Say(words) => Ok(scene.say(words)),
        Act::Pose(words) => Ok(scene.aloud(SourceKind::Pose, words)),
        Act::SayTo { to, words } => scene.say_to(to, words),
        Act::Whisper { to, words } => {
            let listener = scene.listener_here(to)?;
            Ok(scene.to_one(SourceKind::Whisper, listener, words))
        }
        Act::Page { to, words } => {
            let listener = scene.listener_anywhere(to)?;
            Ok(scene.to_one(SourceKind::Page, listener, words))
        }
        Act::Channel { channel, words } => scene.on_channel(channel, words),
        Act::RingBell(reason) => scene.ring_bell(reason),
        Act::JoinChannel(channel) => scene.tune(channel, Tuning::In),
        Act::LeaveChannel(channel) => scene.tune(channel, Tuning::Out),
        Act::Move { direction } => scene.go(direction),
        Act::Look => Ok(Decision {
            heard: Vec::new(),
            moves_to: None,
            tunes: None,
            seen: ActView::Room(scene.view(scene.actor.room)),
        }),
    }
}

/// The entries of the characters that see `id` arrive.
pub(crate) fn arrival(roster: &Roster, id: &EntityId) -> Result<Vec<Heard>, ActRefusal> {
    let actor = roster.find(id).ok_or(ActRefusal::NotJoined)?;
    let scene = Scene { roster, id, actor };
    let words = Words::try_new("arrives.")?;
    Ok(scene.movement(Movement::Arrival, actor.room, &words))
}

/// The entries of the characters that see `id` leave the world.
pub(crate) fn farewell(roster: &Roster, id: &EntityId) -> Result<Vec<Heard>, ActRefusal> {
    let actor = roster.find(id).filter(|it| it.is_attending());
    let actor = actor.ok_or(ActRefusal::NotJoined)?;
    let scene = Scene { roster, id, actor };
    let words = Words::try_new("leaves.")?;
    Ok(scene.movement(Movement::Departure, actor.room, &words))
}

impl<'a> Scene<'a> {
    fn sender(&self) -> Sender {
        self.actor.as_sender(self.id)
    }

    fn view(&self, room: &Room) -> RoomView {
        RoomView::of(room, self.roster, self.id, Detail::Full)
    }

    fn entry(&self, observer: &EntityId, happening: &Happening<'_>) -> Heard {
        Heard {
            observer: observer.clone(),
            source: happening.source.clone(),
            sender: self.sender(),
            place: happening.place.clone(),
            audience: happening.audience.clone(),
            movement: happening.movement,
            words: happening.words.clone(),
        }
    }

    /// The other characters in `room` that perceive.
    fn listeners_in(&self, room: &'a Room) -> impl Iterator<Item = &'a EntityId> {
        let others = self.roster.others_in(room, self.id);
        let listeners = others.filter(|(_, other)| other.is_attending());
        listeners.map(|(id, _)| id)
    }

    /// Exactly these characters and the acting one.
    fn with_actor<'b>(&self, others: impl Iterator<Item = &'b EntityId>) -> Option<Audience> {
        Audience::of(others.cloned().chain([self.id.clone()]))
    }

    /// What the acting character does or says in `room`, as everyone there perceives it.
    fn noticed_in<'b>(
        &self,
        source: SourceKind,
        room: &'a Room,
        words: &'b Words,
    ) -> Happening<'b> {
        Happening {
            source,
            place: place(room),
            audience: self.with_actor(self.listeners_in(room)),
            movement: None,
            words,
        }
    }

    /// The entries of those in `room` who see the acting character arrive or leave. In a crowd there are none:
    /// otherwise everybody would get an entry for each character that enters.
    fn movement(&self, movement: Movement, room: &'a Room, words: &Words) -> Vec<Heard> {
        if self.listeners_in(room).nth(CROWD).is_some() {
            return Vec::new();
        }
        let happening = Happening {
            movement: Some(movement),
            ..self.noticed_in(SourceKind::Movement, room, words)
        };
        self.in_room(&happening, room)
    }

    /// An entry for every other perceiving character in `room`.
    fn in_room(&self, happening: &Happening<'_>, room: &'a Room) -> Vec<Heard> {
        self.listeners_in(room)
            .map(|id| self.entry(id, happening))
            .collect()
    }

    /// An assistant perceives its own words, marked as such.
    fn own_voice(&self, happening: &Happening<'_>) -> Option<Heard> {
        self.actor.is_assistant().then(|| Heard {
            sender: Sender::Myself { marked: true },
            ..self.entry(self.id, happening)
        })
    }

    fn spoken(&self, mut heard: Vec<Heard>, happening: &Happening<'_>) -> Decision {
        heard.extend(self.own_voice(happening));
        Decision {
            heard,
            moves_to: None,
            tunes: None,
            seen: ActView::Own {
                source: happening.source.clone(),
                to: None,
                words: happening.words.clone(),
            },
        }
    }

    fn aloud(&self, source: SourceKind, words: &Words) -> Decision {
        let room = self.actor.room;
        let happening = self.noticed_in(source, room, words);
        self.spoken(self.in_room(&happening, room), &happening)
    }

    /// Speech to the room. It is addressed to each assistant whose key it mentions.
    fn say(&self, words: &Words) -> Decision {
        let mut decision = self.aloud(SourceKind::Say, words);
        for heard in &mut decision.heard {
            let observer = self.roster.find(&heard.observer);
            let is_mentioned = observer
                .and_then(Present::key)
                .is_some_and(|key| mentions(words.as_claimed(), key.as_str()));
            // An assistant that mentions itself does not speak to itself.
            if is_mentioned && heard.observer != *self.id {
                heard.source = SourceKind::Addressed;
            }
        }
        decision
    }

    fn say_to(&self, to: &str, words: &Words) -> Result<Decision, ActRefusal> {
        let (listener, present) = self.listener_here(to)?;
        let mut decision = self.say(words);
        for heard in &mut decision.heard {
            if heard.observer == *listener {
                heard.source = SourceKind::Addressed;
            }
        }
        decision.seen = ActView::Own {
            source: SourceKind::Addressed,
            to: Some(present.name.clone()),
            words: words.clone(),
        };
        Ok(decision)
    }

    fn to_one(
        &self,
        source: SourceKind,
        (listener, present): (&EntityId, &Present),
        words: &Words,
    ) -> Decision {
        let listener = present.perceives().then_some(listener);
        let happening = Happening {
            // A page reaches its listener anywhere, so it happens in no room.
            place: matches!(source, SourceKind::Whisper)
                .then(|| place(self.actor.room))
                .flatten(),
            source: source.clone(),
            audience: self.with_actor(listener.into_iter()),
            movement: None,
            words,
        };
        let heard = listener.map(|listener| self.entry(listener, &happening));
        let mut decision = self.spoken(heard.into_iter().collect(), &happening);
        decision.seen = ActView::Own {
            source,
            to: Some(present.name.clone()),
            words: words.clone(),
        };
        decision
    }

    fn on_channel(&self, channel: &ChannelId, words: &Words) -> Result<Decision, ActRefusal> {
        let name = channel_called(channel)?;
        if !self.actor.is_on(name) {
            return Err(ActRefusal::NotOnChannel {
                channel: name.to_owned(),
            });
        }
        let listeners = || self.on(name).map(|(id, _)| id);
        let happening = Happening {
            source: SourceKind::Channel(
                ChannelId::try_new(name).unwrap_or_else(|_| channel.clone()),
            ),
            place: None,
            audience: match name {
                // Everyone in the world is on it.
                PUBLIC => Some(Audience::Public),
                _ => self.with_actor(listeners()),
            },
            movement: None,
            words,
        };
        let heard = listeners().map(|id| self.entry(id, &happening)).collect();
        Ok(self.spoken(heard, &happening))
    }

    fn ring_bell(&self, reason: &Words) -> Result<Decision, ActRefusal> {
        let words = Words::try_new(format!(
            "rings the bell of the house: {}",
            reason.as_claimed()
        ))?;
        let happening = Happening {
            source: SourceKind::Pose,
            place: None,
            audience: Some(Audience::Public),
            movement: None,
            words: &words,
        };
        let others = self.roster.iter().filter(|(id, _)| *id != self.id);
        let listeners = others.filter(|(_, other)| other.is_attending());
        let heard = listeners
            .map(|(id, _)| self.entry(id, &happening))
            .collect();
        Ok(self.spoken(heard, &happening))
    }

    /// The others on a channel.
    fn on(&self, channel: &str) -> impl Iterator<Item = (&'a EntityId, &'a Present)> {
        let others = self.roster.iter().filter(|(id, _)| *id != self.id);
        others.filter(move |(_, other)| other.is_on(channel))
    }

    /// Joining or leaving a channel, which nobody perceives.
    fn tune(
        &self,
        channel: &ChannelId,
        tuning: fn(&'static str) -> Tuning,
    ) -> Result<Decision, ActRefusal> {
        let name = channel_called(channel)?;
        let tunes = tuning(name);
        if tunes == Tuning::Out(PUBLIC) {
            return Err(ActRefusal::EverybodyIsOn {
                channel: PUBLIC.to_owned(),
            });
        }
        Ok(Decision {
            heard: Vec::new(),
            moves_to: None,
            seen: ActView::Channel {
                channel: name.to_owned(),
                is_on: tunes == Tuning::In(name),
                others: self.named(self.on(name)),
            },
            tunes: Some(tunes),
        })
    }

    fn go(&self, direction: &str) -> Result<Decision, ActRefusal> {
        let exits = self.actor.room.exits;
        let exit = match pick(direction, exits.iter().map(|exit| (exit.direction, exit))) {
            Pick::One(exit) => exit,
            Pick::Many(matches) => return Err(ambiguous(direction, matches)),
            Pick::None => self
                .exit_after(direction)
                .ok_or_else(|| ActRefusal::NoSuchExit {
                    direction: cut(direction),
                    exits: exits.iter().map(|exit| exit.direction.to_owned()).collect(),
                })?,
        };
        let (from, to) = (self.actor.room, exit.to);
        let leaves = Words::try_new(format!(
            "goes {} to {}.",
            exit.direction,
            in_sentence(to.name)
        ))?;
        let arrives = Words::try_new(format!("arrives from {}.", in_sentence(from.name)))?;
        let view = self.view(to);
        let mut heard = self.movement(Movement::Departure, from, &leaves);
        heard.extend(self.movement(Movement::Arrival, to, &arrives));
        if self.actor.is_assistant() {
            let output = Happening {
                source: SourceKind::CommandOutput,
                place: place(to),
                audience: self.with_actor([].into_iter()),
                movement: None,
                words: &Words::try_new(view.to_string())?,
            };
            heard.push(Heard {
                sender: Sender::Myself { marked: false },
                ..self.entry(self.id, &output)
            });
        }
        Ok(Decision {
            heard,
            moves_to: Some(to),
            tunes: None,
            seen: ActView::Room(view),
        })
    }

    /// The exit to the room where the character of this name is, so that the acting character can follow them.
    fn exit_after(&self, name: &str) -> Option<&'a Exit> {
        let is_called = |one: &Present| one.name.to_lowercase() == name.trim().to_lowercase();
        let is_there = |exit: &&Exit| {
            let those = |one: &Present| one.is_in(exit.to) && is_called(one);
            matches!(self.roster.called(name, those), Pick::One(_))
        };
        self.actor.room.exits.iter().find(is_there)
    }

    fn listener_here(&self, name: &str) -> Result<(&'a EntityId, &'a Present), ActRefusal> {
        let room = self.actor.room;
        self.listener(name, |one| one.is_in(room))
            .map_err(|nobody| {
                nobody.unwrap_or_else(|| ActRefusal::NobodyHere {
                    name: cut(name),
                    here: self.named(self.roster.here(room)),
                })
            })
    }

    fn listener_anywhere(&self, name: &str) -> Result<(&'a EntityId, &'a Present), ActRefusal> {
        self.listener(name, |_| true).map_err(|nobody| {
            nobody.unwrap_or_else(|| ActRefusal::NobodyCalled {
                name: cut(name),
                known: self.named(self.roster.iter()),
            })
        })
    }

    /// The character among `those` called `name`, or the refusal.
    fn listener(
        &self,
        name: &str,
        those: impl Fn(&Present) -> bool,
    ) -> Result<(&'a EntityId, &'a Present), Option<ActRefusal>> {
        match self.roster.called(name, those) {
            Pick::One((id, _)) if id == self.id => Err(Some(ActRefusal::Yourself)),
            Pick::One(listener) => Ok(listener),
            Pick::Many(matches) => Err(Some(ambiguous(name, matches))),
            Pick::None => Err(None),
        }
    }

    /// The names of `those` without the acting character's.
    fn named<'b>(&self, those: impl Iterator<Item = (&'b EntityId, &'b Present)>) -> Vec<String> {
        those
            .filter(|(id, _)| *id != self.id)
            .take(NAMED)
            .map(|(_, one)| one.name.clone())
            .collect()
    }
}

/// The full name of a channel.
fn channel_called(channel: &ChannelId) -> Result<&'static str, ActRefusal> {
    let options = CHANNELS.iter().map(|name| (*name, *name));
    match pick(channel.as_str(), options) {
        Pick::One(name) => Ok(name),
        Pick::Many(matches) => Err(ambiguous(channel.as_str(), matches)),
        Pick::None => Err(ActRefusal::NoSuchChannel {
            channel: cut(channel.as_str()),
            channels: CHANNELS.iter().map(|&name| name.to_owned()).collect(),
        }),
    }
}

fn ambiguous(word: &str, mut matches: Vec<String>) -> ActRefusal {
    matches.truncate(NAMED);
    ActRefusal::Ambiguous {
        word: cut(word),
        matches,
    }
}

/// The user's input, shortened for an error.
fn cut(word: &str) -> String {
    beginning(word, 64).to_owned()
}

/// The name of a room within a sentence: `the Attic` for `The Attic`.
fn in_sentence(room: &str) -> String {
    match room.strip_prefix("The ") {
        Some(name) => format!("the {name}"),
        None => room.to_owned(),
    }
}
