//! Lines whose meaning depends on the player's surroundings.

use dormouse_contracts::EntityId;
use dormouse_sandbox::{Act, ActError, ActView, OtherView, RoomView, Sandbox};

use crate::{
    exit::Report,
    input::{self, Input},
};

/// The meaning of a line in the place where the player is.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// An act.
    Act(Act),
    /// Looking at a thing or person: its name, and what there is to see.
    Sight(String, String),
}

/// Returns the meaning of a line for this player, or why it has none. `assistant` is the name of the assistant that
/// plain speech goes
/// to.
pub(crate) async fn meaning(
    world: &Sandbox,
    player: &EntityId,
    assistant: &str,
    input: Input,
) -> Result<Meaning, String> {
    let here = async || match world.act(player, Act::Look).await {
        Ok(acted) => match acted.seen {
            ActView::Room(view) => Ok(view),
            other => Err(other.to_string()),
        },
        Err(error) => Err(refusal(&error)),
    };
    let act = match input {
        Input::Act(act) => act,
        Input::Go { way, speech } => match here().await {
            Ok(view) if !view.exits.iter().any(|exit| is_way(&way, &exit.direction)) => {
                input::speak_to(assistant, speech)
            }
            // If the room cannot be seen, the act that follows reports the problem with the world.
            Ok(_) | Err(_) => Act::Move { direction: way },
        },
        Input::GoNowhere => return Err(where_to(&here().await?)),
        Input::LookAt { thing, speech } => {
            match here().await.ok().and_then(|view| find(&view, &thing)) {
                Some((name, seen)) => return Ok(Meaning::Sight(name, seen)),
                None => input::speak_to(assistant, speech),
            }
        }
        Input::Command(_) | Input::SpeakTo(_) => {
            return Err("that is a command to the program".to_owned());
        }
    };
    Ok(Meaning::Act(act))
}

/// Why an act was not carried out.
pub(crate) fn refusal(error: &ActError) -> String {
    match error {
        ActError::Refused(refusal) => refusal.to_string(),
        error => Report(error).to_string(),
    }
}

/// The reply to a player who goes without saying where.
fn where_to(view: &RoomView) -> String {
    let exits: Vec<_> = (view.exits.iter())
        .map(|exit| exit.direction.as_str())
        .collect();
    format!(
        "write go WAY, with one of these exits: {}",
        exits.join(", ")
    )
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
