//! Words answer a message only if its sender hears them.

use dormouse_contracts::{Audience, Author, EntityId};
use dormouse_engine::{EntityChanged, Event, StopReason, UnansweredCause};
use dormouse_entities::EntityChange;
use dormouse_testing::{Perceive, ScriptedTurn};
use serde_json::{Value, json};

use crate::{home::Home, rebuilding::decide};

const SORRY: &str = "Sorry, I could not find an answer to that.";

type Calls = Vec<(&'static str, Value)>;

fn say() -> (&'static str, Value) {
    ("say", json!({"message": "Under the mat."}))
}

fn to(tool: &'static str, name: &str) -> (&'static str, Value) {
    (tool, json!({"to": name, "message": "Under the mat."}))
}

fn away() -> (&'static str, Value) {
    ("move", json!({"exit": "north"}))
}

fn those(names: &[&str]) -> Audience {
    let ids = names.iter().map(|name| format!("player:{name}"));
    let ids = ids.map(|id| EntityId::try_new(id).unwrap());
    Audience::of(ids).unwrap()
}

/// The acts that follow if the model answers `message` with these calls, and how the message ends. `aloud` lists who
/// hears what is said aloud, if the world attests it.
async fn ended(
    message: Perceive,
    calls: Calls,
    aloud: Option<&[&str]>,
) -> (Vec<String>, Vec<UnansweredCause>, Option<StopReason>) {
    let home = Home::where_all_is_shared([ScriptedTurn::calls(calls)]).where_one_can_page();
    if let Some(names) = aloud {
        home.world.listen(those(names));
    }
    home.hear(message.build()).await;
    let causes = home.events().into_iter().filter_map(|event| match event {
        Event::Unanswered(it) => Some(it.cause),
        _ => None,
    });
    (home.deeds(), causes.collect(), home.stops().last().copied())
}

#[tokio::test(start_paused = true)]
async fn words_that_the_sender_does_not_hear_are_no_answer_and_a_notice_reaches_the_sender() {
    let page = || Perceive::page("Alice", "where is the key?");
    let whisper = || Perceive::whisper("Alice", "where is the key?");
    let aloud = || Perceive::addressed("Alice", "where is the key?");
    let cases = [
        // The world attests the listeners.
        (page(), vec![say()], Some(&["Bob"][..]), Some("page")),
        (whisper(), vec![say()], Some(&["Bob"]), Some("whisper")),
        (aloud(), vec![away(), say()], Some(&["Bob"]), None),
        (aloud(), vec![say()], Some(&[]), None),
        // The way of speaking decides.
        (page(), vec![say()], None, Some("page")),
        (page(), vec![to("whisper", "Bob")], None, Some("page")),
        (page(), vec![to("page", "Bob")], None, Some("page")),
        (whisper(), vec![to("whisper", "Bob")], None, Some("whisper")),
        (whisper(), vec![away(), say()], None, Some("whisper")),
        (aloud(), vec![to("page", "Bob")], None, Some("say")),
        (aloud(), vec![away(), say()], None, None),
    ];
    for (message, calls, listeners, notice) in cases {
        let case = format!("{message:?} {calls:?} {listeners:?}");
        let (deeds, causes, stop) = ended(message, calls, listeners).await;
        assert_eq!(causes, [UnansweredCause::NotHeard], "{case}");
        assert_eq!(stop, Some(StopReason::TerminalTool), "{case}");
        let notices: Vec<_> = deeds.iter().filter(|deed| deed.ends_with(SORRY)).collect();
        let expected: Vec<_> = notice
            .map(|tool| format!("{tool} {SORRY}"))
            .into_iter()
            .collect();
        assert_eq!(notices, expected.iter().collect::<Vec<_>>(), "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn words_that_the_sender_hears_are_an_answer_however_they_are_said() {
    let page = || Perceive::page("Alice", "where is the key?");
    let whisper = || Perceive::whisper("Alice", "where is the key?");
    let aloud = || Perceive::addressed("Alice", "where is the key?");
    let cases = [
        // The world attests the listeners.
        (page(), vec![say()], Some(&["Bob", "Alice"][..])),
        (aloud(), vec![away(), say()], Some(&["Alice"])),
        // The way of speaking decides.
        (page(), vec![to("page", "alice")], None),
        (page(), vec![to("whisper", "Alice")], None),
        (page(), vec![to("page", "player:Alice")], None),
        (page(), vec![away(), to("page", "Alice")], None),
        (page(), vec![say(), to("page", "Alice")], None),
        (page(), vec![to("page", "Alice"), say()], None),
        (whisper(), vec![say()], None),
        (aloud(), vec![say()], None),
        (aloud(), vec![say(), away()], None),
        (aloud(), vec![to("whisper", "Alice")], None),
    ];
    for (message, calls, listeners) in cases {
        let case = format!("{message:?} {calls:?} {listeners:?}");
        let said = calls.len();
        let (deeds, causes, _) = ended(message, calls, listeners).await;
        assert_eq!((causes, deeds.len()), (Vec::new(), said), "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_act_that_ends_the_turn_answers_in_place_of_words_that_nobody_heard() {
    let blast = ("detonate", json!({"thing": "bridge"}));
    let home = Home::where_all_is_shared([ScriptedTurn::calls([say(), blast])])
        .where_one_can_page()
        .where_speech_ends_nothing();
    home.hear(Perceive::page("Alice", "blow up the bridge").build())
        .await;
    assert_eq!(home.deeds(), ["say Under the mat.", "detonate"]);
    assert_eq!(home.stops(), [StopReason::DangerousTool]);
}

/// Both ids of a person mean that person.
#[tokio::test(start_paused = true)]
async fn a_sender_with_two_ids_hears_with_both() {
    for is_merged in [true, false] {
        let home = Home::where_all_is_shared([ScriptedTurn::calls([say()])]).where_one_can_page();
        home.world.listen(those(&["Alicia"]));
        if is_merged {
            let id = |name| EntityId::try_new(format!("player:{name}")).unwrap();
            let merged = EntityChanged {
                change: EntityChange::Merged {
                    from: id("Alice"),
                    into: id("Alicia"),
                },
                author: Author::Operator("florian".to_owned()),
                reason: "one person".to_owned(),
            };
            decide(&home, &Event::EntityChanged(merged)).await;
        }
        home.hear(Perceive::page("Alice", "where is the key?").build())
            .await;
        let events = home.events();
        let mut kinds = events.iter().map(Event::kind);
        assert_eq!(kinds.any(|kind| kind == "unanswered"), !is_merged);
    }
}
