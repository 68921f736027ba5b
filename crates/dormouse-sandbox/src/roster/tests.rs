use super::*;
use crate::tea_house::ROOMS;

fn character(id: &str, name: &str, kind: CharacterKind) -> Character {
    Character {
        id: EntityId::try_new(id).unwrap(),
        name: name.to_owned(),
        kind,
    }
}

fn player(id: &str, name: &str) -> Character {
    character(id, name, CharacterKind::Player)
}

fn assistant(id: &str, name: &str, key: &str) -> Character {
    let key = AssistantId::try_new(key).unwrap();
    character(id, name, CharacterKind::Assistant(key))
}

#[test]
fn joining_again_leaves_a_character_where_it_is() {
    let mut roster = Roster::try_new().unwrap();
    let alice = player("player:1", "Alice");
    assert_eq!(roster.join(&alice), Ok(Joining::Arrived));
    roster.change(&alice.id, |one| one.room = ROOMS[2]).unwrap();
    let before = roster.clone();
    assert_eq!(roster.join(&alice), Ok(Joining::AlreadyHere));
    assert_eq!(roster, before);

    let renamed = player("player:1", "Alicia");
    assert_eq!(roster.join(&renamed), Ok(Joining::Renamed));
    let present = roster.find(&alice.id).unwrap();
    assert_eq!((present.name.as_str(), present.room), ("Alicia", ROOMS[2]));
}

#[test]
fn a_name_belongs_to_one_in_whatever_case() {
    let mut roster = Roster::try_new().unwrap();
    roster.join(&player("player:1", "Zoë")).unwrap();
    for taken in ["Zoë", "zoë", "ZOË", "orla", "Quince"] {
        let refusal = roster.join(&player("player:2", taken));
        assert!(
            matches!(refusal, Err(JoinRefusal::NameTaken { .. })),
            "{taken}: {refusal:?}"
        );
    }
    roster.join(&player("player:2", "Bob")).unwrap();
    let refusal = roster.join(&player("player:2", "ZOË"));
    assert!(matches!(refusal, Err(JoinRefusal::NameTaken { .. })));
    assert_eq!(
        roster
            .find(&EntityId::try_new("player:2").unwrap())
            .unwrap()
            .name,
        "Bob"
    );
}

#[test]
fn nobody_changes_kind_and_no_assistant_is_two_characters() {
    let mut roster = Roster::try_new().unwrap();
    roster.join(&player("player:1", "Alice")).unwrap();
    roster
        .join(&assistant("assistant:d", "Dormouse", "d"))
        .unwrap();
    for other in [
        assistant("player:1", "Alice", "a"),
        player("assistant:d", "Dormouse"),
        assistant("assistant:d", "Dormouse", "e"),
        player("resident:orla", "Orlando"),
    ] {
        let refusal = roster.join(&other);
        assert!(
            matches!(refusal, Err(JoinRefusal::OtherKind { .. })),
            "{refusal:?}"
        );
    }
    let refusal = roster.join(&assistant("assistant:2", "Second", "d"));
    assert!(
        matches!(refusal, Err(JoinRefusal::AssistantTaken { .. })),
        "{refusal:?}"
    );
}

#[test]
fn a_name_is_short_and_printable_and_not_blank() {
    let mut roster = Roster::try_new().unwrap();
    let long = "x".repeat(65);
    for name in ["", " ", " Alice", "Alice\t", "Al\nice", "\u{1b}[2J", &long] {
        assert!(roster.join(&player("player:1", name)).is_err(), "{name:?}");
    }
    roster.join(&player("player:1", &"x".repeat(64))).unwrap();
}

#[test]
fn a_name_that_looks_like_another_is_refused_and_says_whose_it_is() {
    let mut roster = Roster::try_new().unwrap();
    roster.join(&player("player:1", "Alice")).unwrap();
    for (name, of) in [
        ("AIice", "player:1"),
        ("A1ICE", "player:1"),
        ("0rla", "resident:orla"),
    ] {
        let refusal = roster.join(&player("player:2", name));
        let by = EntityId::try_new(of).unwrap();
        assert!(
            matches!(&refusal, Err(JoinRefusal::NameLooksLike { by: whose, .. }) if *whose == by),
            "{name}: {refusal:?}"
        );
    }
    assert_eq!(
        roster.join(&player("player:1", "AIice")),
        Ok(Joining::Renamed),
        "one's own"
    );
}

#[test]
fn a_name_is_no_sentence_and_stands_for_nobody_else() {
    let mut roster = Roster::try_new().unwrap();
    for name in [
        "You",
        "yоu",
        "Dormouse whispers",
        "Bob to You",
        "The Surroundings",
        "No one",
    ] {
        let refusal = roster.join(&player("player:1", name));
        assert!(refusal.is_err(), "{name}: {refusal:?}");
    }
    for (name, character) in [
        ("Bob:", ':'),
        ("B.", '.'),
        ("\"Bob\"", '"'),
        ("Bo\u{200d}b", '\u{200d}'),
    ] {
        let refusal = roster.join(&player("player:1", name));
        assert_eq!(
            refusal,
            Err(JoinRefusal::NameCharacter { character }),
            "{name}"
        );
    }
    for name in [
        "Young",
        "Pagels",
        "Asksel",
        "卡尔·马克思",
        "कृष्ण",
        "O'Hara",
        "x_1",
    ] {
        roster.join(&player("player:1", name)).unwrap();
    }
}

#[test]
fn the_world_takes_in_so_many_and_no_more() {
    let mut roster = Roster::try_new().unwrap();
    for number in 0..CHARACTER_LIMIT {
        let kind = Kind::Guest(CharacterKind::Player);
        let present = Present::new(format!("Guest {number}"), kind, FIRST_ROOM);
        let id = EntityId::try_new(format!("player:{number}")).unwrap();
        roster.insert(id, present);
    }
    let refusal = roster.join(&player("player:late", "Late"));
    assert_eq!(refusal, Err(JoinRefusal::Full));
    assert_eq!(
        roster.join(&player("player:7", "Guest 7")),
        Ok(Joining::AlreadyHere)
    );
}

#[test]
fn what_is_looked_up_is_what_a_search_of_everybody_finds() {
    let mut roster = Roster::try_new().unwrap();
    for number in 0..60 {
        let (id, name) = (format!("assistant:{number}"), format!("Guest {number}"));
        roster
            .join(&assistant(&id, &name, &number.to_string()))
            .unwrap();
    }
    for number in (0..60).step_by(3) {
        let id = EntityId::try_new(format!("assistant:{number}")).unwrap();
        roster
            .change(&id, |one| one.room = ROOMS[number % ROOMS.len()])
            .unwrap();
        roster
            .change(&id, |one| one.is_away = number % 2 == 0)
            .unwrap();
    }
    let renamed = assistant("assistant:7", "Seventh", "7");
    assert_eq!(roster.join(&renamed), Ok(Joining::Renamed));
    let back = assistant("assistant:6", "Guest 6", "6");
    assert_eq!(roster.join(&back), Ok(Joining::Arrived));

    for room in ROOMS {
        let here: Vec<_> = roster.here(room).map(|(id, _)| id).collect();
        let searched = roster.iter();
        let searched = searched.filter(|(_, one)| one.room == *room && !one.is_away);
        assert_eq!(
            here,
            searched.map(|(id, _)| id).collect::<Vec<_>>(),
            "{room:?}"
        );
    }
    for number in 0..60 {
        let key = AssistantId::try_new(number.to_string()).unwrap();
        let id = EntityId::try_new(format!("assistant:{number}")).unwrap();
        assert_eq!(roster.embodies(&key), Some(&id));
    }
    for wanted in [
        "guest 7",
        "seventh",
        "GUEST 6",
        " guest 59",
        "sev",
        "orla",
        "guest",
        "x",
        "",
    ] {
        let names = roster.iter().map(|(id, one)| (one.name.as_str(), id));
        let found = match roster.called(wanted, |_| true) {
            Pick::One((id, _)) => Pick::One(id),
            Pick::Many(_) => Pick::Many(Vec::new()),
            Pick::None => Pick::None,
        };
        let searched = match pick(wanted, names) {
            Pick::Many(_) => Pick::Many(Vec::new()),
            one_or_none => one_or_none,
        };
        assert_eq!(found, searched, "{wanted:?}");
    }
    let in_garden = |one: &Present| one.is_in(ROOMS[1]);
    assert_eq!(roster.called("guest 6", in_garden), Pick::None);
}

#[test]
fn a_word_picks_the_same_word_or_else_the_only_beginning() {
    let options = || ["Al", "Alice", "Bob"].map(|name| (name, name)).into_iter();
    assert_eq!(pick("al", options()), Pick::One("Al"));
    assert_eq!(pick(" ALI ", options()), Pick::One("Alice"));
    assert_eq!(pick("b", options()), Pick::One("Bob"));
    assert_eq!(
        pick("a", options()),
        Pick::Many(vec!["Al".into(), "Alice".into()])
    );
    for nothing in ["", "  ", "x", "Alicea"] {
        assert_eq!(pick(nothing, options()), Pick::None, "{nothing:?}");
    }
}
