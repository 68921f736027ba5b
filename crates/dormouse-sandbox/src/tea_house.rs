//! The tea-house The Slow Kettle, its garden, and the lane in front of it.

use crate::place::{Exit, NonPlayerCharacter, Room, Thing};

#[cfg(test)]
mod tests;

/// The room with this key in the file.
pub(crate) fn room(key: &str) -> Option<&'static Room> {
    ROOMS.iter().copied().find(|room| room.key == key)
}

/// All rooms.
pub static ROOMS: &[&Room] = &[&COMMON_ROOM, &GARDEN, &CELLAR, &ATTIC, &LANE, &FOOTBRIDGE];

/// The room in which new characters arrive.
pub(crate) static FIRST_ROOM: &Room = &COMMON_ROOM;

/// The channel that everybody is on.
pub(crate) const PUBLIC: &str = "public";

/// The channels. Newcomers are on all of them, and can leave all but the first, `public`.
pub static CHANNELS: &[&str] = &[PUBLIC, "tea"];

/// The permanent non-player characters.
pub static NON_PLAYER_CHARACTERS: &[NonPlayerCharacter] = &[
    NonPlayerCharacter {
        id: "resident:orla",
        name: "Orla",
        room: &COMMON_ROOM,
    },
    NonPlayerCharacter {
        id: "resident:quince",
        name: "Quince",
        room: &GARDEN,
    },
    NonPlayerCharacter {
        id: "resident:wick",
        name: "Wick",
        room: &CELLAR,
    },
];

static COMMON_ROOM: Room = Room {
    key: "common_room",
    name: "The Common Room",
    description: "A low, warm room smells of toast and bergamot. Six round tables stand where the floor is least \
                  uneven, and the fire is never quite out.",
    exits: &[
        Exit {
            direction: "north",
            to: &GARDEN,
        },
        Exit {
            direction: "south",
            to: &LANE,
        },
        Exit {
            direction: "up",
            to: &ATTIC,
        },
        Exit {
            direction: "down",
            to: &CELLAR,
        },
    ],
    things: &[
        Thing {
            name: "copper kettle",
            description: "It holds four litres and takes its time. Somebody has polished only the side that faces \
                          the door.",
        },
        Thing {
            name: "guest book",
            description: "Thick, with a ribbon. Most entries praise the scones; one, in green ink, disagrees.",
        },
        Thing {
            name: "round table",
            description: "Scrubbed pale, with a folded card under one leg.",
        },
    ],
};

static GARDEN: Room = Room {
    key: "garden",
    name: "The Garden",
    description: "Mint, lemon balm and camomile grow in rows that began straight. A bench stands against the warm \
                  wall.",
    exits: &[Exit {
        direction: "south",
        to: &COMMON_ROOM,
    }],
    things: &[
        Thing {
            name: "herb bed",
            description: "Slate labels name each row. The mint has moved in next door all the same.",
        },
        Thing {
            name: "sundial",
            description: "It is right from April to September, give or take the pear tree.",
        },
    ],
};

static CELLAR: Room = Room {
    key: "cellar",
    name: "The Cellar",
    description: "Cool brick arches hold up the house. Tea chests line the walls, each with a chalk mark that means \
                  something to somebody.",
    exits: &[Exit {
        direction: "up",
        to: &COMMON_ROOM,
    }],
    things: &[
        Thing {
            name: "tea chest",
            description: "Stencilled with the name of a ship. Inside, under silver paper, is smoked black tea.",
        },
        Thing {
            name: "work bench",
            description: "Lamps in several stages of repair, and a jar of screws sorted by nobody.",
        },
    ],
};

static ATTIC: Room = Room {
    key: "attic",
    name: "The Attic",
    description: "Sunlight comes through one round window and lies on the boards. Spare chairs wait under sheets for \
                  a busier summer.",
    exits: &[Exit {
        direction: "down",
        to: &COMMON_ROOM,
    }],
    things: &[
        Thing {
            name: "round window",
            description: "From here the lane is a grey ribbon, and the brook beyond it a brighter one.",
        },
        Thing {
            name: "music box",
            description: "It plays eleven notes of a tune of twelve.",
        },
    ],
};

static LANE: Room = Room {
    key: "lane",
    name: "The Lane",
    description: "A cobbled lane runs between hedges. The sign over the door shows a kettle, and a snail overtaking \
                  it.",
    exits: &[
        Exit {
            direction: "north",
            to: &COMMON_ROOM,
        },
        Exit {
            direction: "east",
            to: &FOOTBRIDGE,
        },
    ],
    things: &[Thing {
        name: "painted sign",
        description: "It says The Slow Kettle. The snail was added later, by another hand.",
    }],
};

static FOOTBRIDGE: Room = Room {
    key: "footbridge",
    name: "The Footbridge",
    description: "Three planks and a rail cross the brook. The water is clear and in no hurry.",
    exits: &[Exit {
        direction: "west",
        to: &LANE,
    }],
    things: &[Thing {
        name: "wooden rail",
        description: "Worn smooth at leaning height.",
    }],
};
