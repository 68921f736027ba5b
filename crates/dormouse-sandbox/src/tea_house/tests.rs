use std::collections::BTreeSet;

use dormouse_contracts::{ChannelId, EntityId};

use super::*;

fn opposite(direction: &str) -> &'static str {
    match direction {
        "north" => "south",
        "south" => "north",
        "east" => "west",
        "west" => "east",
        "up" => "down",
        "down" => "up",
        other => panic!("{other} has no opposite"),
    }
}

#[test]
fn every_exit_has_one_that_leads_back_the_opposite_way() {
    for room in ROOMS {
        for exit in room.exits {
            let back = exit.to.exits.iter().find(|back| back.to == *room);
            let back = back.unwrap_or_else(|| panic!("no way back from {:?}", exit.to));
            assert_eq!(back.direction, opposite(exit.direction), "{room:?}");
        }
    }
}

#[test]
fn every_room_can_be_reached_from_the_first() {
    let mut reached = vec![FIRST_ROOM];
    let mut at = 0;
    while let Some(room) = reached.get(at).copied() {
        for exit in room.exits {
            if !reached.contains(&exit.to) {
                reached.push(exit.to);
            }
        }
        at += 1;
    }
    let reached: BTreeSet<_> = reached.iter().map(|room| room.key).collect();
    let all: BTreeSet<_> = ROOMS.iter().map(|room| room.key).collect();
    assert_eq!(reached, all);
    assert_eq!(all.len(), ROOMS.len(), "two rooms share a key");
}

#[test]
fn no_two_directions_of_a_room_and_no_two_residents_share_a_word() {
    for room in ROOMS {
        let words: BTreeSet<_> = room.exits.iter().map(|exit| exit.direction).collect();
        assert_eq!(words.len(), room.exits.len(), "{room:?}");
        let things: BTreeSet<_> = room.things.iter().map(|thing| thing.name).collect();
        assert_eq!(things.len(), room.things.len(), "{room:?}");
    }
    let names: BTreeSet<_> = NON_PLAYER_CHARACTERS
        .iter()
        .map(|r| r.name.to_lowercase())
        .collect();
    assert_eq!(names.len(), NON_PLAYER_CHARACTERS.len());
}

#[test]
fn every_resident_and_channel_is_an_identifier_and_every_resident_stands_somewhere() {
    for resident in NON_PLAYER_CHARACTERS {
        EntityId::try_new(resident.id).unwrap();
        assert!(ROOMS.contains(&resident.room), "{resident:?}");
    }
    assert!(CHANNELS.contains(&"public"));
    for channel in CHANNELS {
        ChannelId::try_new(*channel).unwrap();
    }
}

#[test]
fn every_text_says_something_and_nothing_has_control_characters() {
    let texts = ROOMS.iter().flat_map(|room| {
        let things = room.things.iter().flat_map(|t| [t.name, t.description]);
        [room.name, room.description].into_iter().chain(things)
    });
    for text in texts {
        assert!(!text.trim().is_empty());
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}
