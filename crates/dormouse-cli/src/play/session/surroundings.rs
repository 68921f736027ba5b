//! Lines whose meaning depends on the player's surroundings.

use dormouse_contracts::{Clock, Words};
use dormouse_host::SystemClock;
use dormouse_sandbox::{Act, ActView, OtherView, RoomView};

use super::{Session, refusal};
use crate::play::operator::Flow;
use crate::{input, item::OwnAct};

impl Session {
    /// The room the player is in, or why it cannot be seen.
    async fn here(&self) -> Result<RoomView, String> {
        match self.sandbox.act(&self.player.id, Act::Look).await {
            Ok(acted) => match acted.seen {
                ActView::Room(view) => Ok(view),
                other => Err(other.to_string()),
            },
            Err(error) => Err(refusal(&error)),
        }
    }

    /// Going, if that way leads out of here; otherwise the line is speech.
    pub(super) async fn go_or_say(&self, way: String, speech: Words) -> Act {
        match self.here().await {
            Ok(view) if !view.exits.iter().any(|exit| is_way(&way, &exit.direction)) => {
                input::speak_to(&self.resident.name, speech)
            }
            // If the room cannot be seen, the act that follows reports the problem with the world.
            Ok(_) | Err(_) => Act::Move { direction: way },
        }
    }

    /// The reply to a player who goes without saying where.
    pub(super) async fn where_to(&self) -> String {
        match self.here().await {
            Ok(view) => {
                let exits: Vec<_> = (view.exits.iter())
                    .map(|exit| exit.direction.as_str())
                    .collect();
                format!("go WAY is how that is written; exits: {}", exits.join(", "))
            }
            Err(reason) => reason,
        }
    }

    /// Looking at a thing or person, if it is here; otherwise the line is speech.
    pub(super) async fn look_or_say(&mut self, number: u64, thing: &str, speech: Words) -> Flow {
        let seen = self.here().await.ok().and_then(|view| find(&view, thing));
        let Some((name, seen)) = seen else {
            return self
                .act(number, input::speak_to(&self.resident.name, speech))
                .await;
        };
        let by = &self.player.name;
        self.show(OwnAct::look_at(SystemClock.now(), by, name, seen))
            .await;
        Flow::Go
    }
}

/// Whether `way` means the exit `direction`: it is the word itself, or its first letter.
fn is_way(way: &str, direction: &str) -> bool {
    let way = way.to_lowercase();
    way == direction || (way.chars().count() == 1 && direction.starts_with(&way))
}

/// The full name of what the player looks at, and what there is to see. The player may give its whole name, or one word
/// of the name that no other thing here has.
fn find(view: &RoomView, thing: &str) -> Option<(String, String)> {
    let wanted = thing.to_lowercase();
    let wanted = ["the ", "a ", "an "]
        .iter()
        .find_map(|article| wanted.strip_prefix(article))
        .unwrap_or(&wanted)
        .trim();
    let things = (view.things.iter()).map(|one| (one.name.clone(), one.description.clone()));
    let people = (view.characters.iter()).map(|one| (one.name.clone(), person(one)));
    let mut here: Vec<_> = things.chain(people).collect();
    if let Some(named) = here
        .iter()
        .position(|(name, _)| name.to_lowercase() == wanted)
    {
        return Some(here.swap_remove(named));
    }
    here.retain(|(name, _)| {
        name.to_lowercase()
            .split_whitespace()
            .any(|word| word == wanted)
    });
    let only = here.pop()?;
    here.is_empty().then_some(only)
}

fn person(one: &OtherView) -> String {
    let OtherView { name, kind } = one;
    match kind.as_str() {
        "assistant" => format!("{name} is an assistant, and hears what is said here."),
        "resident" => format!("{name} belongs to the house."),
        "player" => format!("{name} is a visitor, as you are."),
        _ => format!("{name} is here."),
    }
}

#[cfg(test)]
mod tests {
    use dormouse_sandbox::ThingView;

    use super::*;

    #[test]
    fn an_exit_is_found_by_its_word_or_first_letter() {
        assert!(is_way("North", "north") && is_way("n", "north"));
        assert!(!is_way("no", "north") && !is_way("on", "north"));
    }

    #[test]
    fn a_thing_is_found_by_its_name_or_by_a_unique_word_of_it() {
        let thing = |name: &str| ThingView {
            name: name.to_owned(),
            description: format!("A {name}."),
        };
        let view = RoomView {
            room: "The Common Room".to_owned(),
            description: String::new(),
            exits: Vec::new(),
            things: vec![
                thing("copper kettle"),
                thing("round table"),
                thing("round mat"),
            ],
            characters: vec![OtherView {
                name: "Orla".to_owned(),
                kind: "resident".to_owned(),
            }],
            more_characters: 0,
        };
        let found = |thing: &str| find(&view, thing).map(|(name, _)| name);
        for asked in ["kettle", "the Kettle", "copper kettle", "the copper kettle"] {
            assert_eq!(found(asked).as_deref(), Some("copper kettle"), "{asked}");
        }
        assert_eq!(found("orla").as_deref(), Some("Orla"));
        for asked in ["round", "what I found", "", "the ", "moon", "kettles"] {
            assert_eq!(found(asked), None, "{asked}");
        }
    }
}
