//! What it does beyond answering one message: it promises, reminds, explains, and knows whom it talks to.

use dormouse_contracts::{DueAction, EarlierTurn, EntityId, Sender, Timestamp, TurnTrigger};

use super::*;
use crate::english::said::SAID;

fn words_of((_, arguments): (String, Value)) -> String {
    arguments["message"].as_str().unwrap().to_owned()
}

/// What it did about a message, and said last.
fn finished(talk: &mut Talk) -> EarlierTurn {
    loop {
        let reply = talk.step();
        let is_over =
            |call: &ToolCall| ["noop", "say", "whisper", "page"].contains(&call.name.as_str());
        if reply.tool_calls.first().is_none_or(is_over) {
            break;
        }
    }
    let turn = talk.request.turn.clone().unwrap();
    EarlierTurn {
        trigger: turn.trigger,
        steps: turn.steps,
    }
}

/// The next message after these turns.
fn after(earlier: Vec<EarlierTurn>, words: &str) -> Talk {
    let mut talk = Talk::new("say", words);
    talk.request.turn.as_mut().unwrap().earlier = earlier;
    talk
}

#[test]
fn a_reminder_becomes_a_pending_action_with_its_time() {
    let mut talk = Talk::new("say", "Could you remind me in ten minutes to feed my cat?");
    let TurnTrigger::Message(heard) = talk.request.turn.as_ref().unwrap().trigger.clone() else {
        panic!("a message");
    };
    let due = heard
        .attested
        .at
        .plus(std::time::Duration::from_secs(600))
        .to_string();
    let (tool, arguments) = talk.call();
    let who = heard.attested.sender.id().unwrap().as_str();
    assert_eq!(tool, "add_pending_action");
    assert_eq!(
        arguments,
        json!({"entity": who, "description": "feed your cat", "due_at": due})
    );
    let said = words_of(talk.call());
    assert!(
        said.contains("remind you") && said.contains("feed your cat"),
        "{said}"
    );
}

#[test]
fn a_promise_that_cannot_be_noted_is_not_made_and_what_is_missing_is_asked_for() {
    let mut talk = Talk::new("say", "remind me at six to bake");
    talk.results = json!({"add_pending_action": {"success": false, "error": "too many"}});
    talk.call();
    assert!(words_of(talk.call()).starts_with("I cannot promise that"));
    let said = words_of(Talk::new("say", "remind me to bake").call());
    assert!(said.contains("in ten minutes"), "{said}");
    let mut talk = Talk::new("say", "remind me at six to bake");
    talk.offer(&["say", "noop"]);
    assert!(words_of(talk.call()).contains("no way"));
}

fn due() -> Talk {
    let mut talk = Talk::new("say", "hello");
    let due = DueAction {
        entity: EntityId::try_new("player:Alice").unwrap(),
        name: "Alice".to_owned(),
        description: "feed your cat".to_owned(),
        due_at: Timestamp::EPOCH,
        movement: None,
    };
    talk.request.turn.as_mut().unwrap().trigger = TurnTrigger::Due(due);
    talk
}

#[test]
fn a_promise_is_kept_when_it_is_due_and_only_once() {
    let mut talk = due();
    let pending = json!([
        {"id": 3, "description": "feed your dog", "due_at": "1970-01-01T00:00:00Z"},
        {"id": 4, "description": "feed your cat", "due_at": "1970-01-02T00:00:00Z"},
        {"id": 5, "description": "feed your cat", "due_at": "1970-01-01T00:00:00Z"},
    ]);
    talk.results =
        json!({"get_entity_profile": {"success": true, "result": {"pending_actions": pending}}});
    assert_eq!(
        talk.call(),
        (
            "get_entity_profile".to_owned(),
            json!({"entity": "player:Alice"})
        )
    );
    let complete = json!({"entity": "player:Alice", "action": 5});
    assert_eq!(
        talk.call(),
        ("complete_pending_action".to_owned(), complete)
    );
    let (tool, arguments) = talk.call();
    assert_eq!((tool.as_str(), &arguments["to"]), ("page", &json!("Alice")));
    assert!(
        arguments["message"]
            .as_str()
            .unwrap()
            .ends_with("feed your cat.")
    );
    assert_eq!(talk.call().0, "noop");
}

#[test]
fn a_promise_is_kept_although_the_profile_does_not_show_it() {
    let mut talk = due();
    talk.results =
        json!({"get_entity_profile": {"success": true, "result": {"pending_actions": []}}});
    talk.call();
    assert_eq!(talk.call().0, "page");
    assert_eq!(talk.call().0, "noop");
}

#[test]
fn a_reminder_is_never_said_aloud() {
    let mut talk = due();
    talk.offer(&["say", "channel", "noop"]);
    assert_eq!(talk.call().0, "noop");
}

#[test]
fn promises_are_listed_for_the_one_who_asks() {
    let mut talk = Talk::new("whisper", "what did you promise me?");
    let pending =
        json!([{"id": 1, "description": "feed your cat", "due_at": "2026-11-23T18:00:00Z"}]);
    talk.results =
        json!({"get_entity_profile": {"success": true, "result": {"pending_actions": pending}}});
    assert_eq!(talk.call().0, "get_entity_profile");
    assert_eq!(
        words_of(talk.call()),
        "What I mean to do for you: feed your cat (on 2026-11-23 at 18:00, UTC)."
    );
}

#[test]
fn what_default_recall_will_not_find_is_not_called_remembered() {
    let mut talk = Talk::new("say", "remember that the king is dead");
    talk.results = json!({"store_memory": {"success": true, "result": {"trust": 0.4, "recalled_by_default": false}}});
    talk.call();
    let said = words_of(talk.call());
    assert!(
        !said.contains("I will remember") && said.contains("too little"),
        "{said}"
    );
}

#[test]
fn why_names_the_message_and_what_the_memory_had() {
    let mut asked = Talk::new("say", "what does Bob prefer?");
    asked.results = json!({"recall_memories": {"success": true, "result": {"memories": [
        {"text": "Bob prefers tea", "at": "2026-11-21T10:15:00Z", "from": "Carol", "how": "say", "trust": 0.6},
    ]}}});
    let earlier = finished(&mut asked);
    let said = words_of(after(vec![earlier.clone()], "why did you say that?").call());
    assert_eq!(
        said,
        "Because you said \"what does Bob prefer?\". I looked in my memory: On 2026-11-21 at 10:15, Carol told me: \
         \"Bob prefers tea\""
    );
    // Asked again, it still explains the answer and not the explanation.
    let mut why = after(vec![earlier.clone()], "why did you say that?");
    let explained = finished(&mut why);
    let again = words_of(after(vec![earlier, explained], "how do you know that?").call());
    assert_eq!(again, said);
}

#[test]
fn why_says_what_it_did_and_that_there_is_nothing_to_explain() {
    for (words, reason) in [
        ("hello", "I went by that alone."),
        ("remember that tea is hot", "I stored it."),
        ("blub", "I found no rule for that."),
        ("look around", "I looked around first."),
    ] {
        let earlier = finished(&mut Talk::new("say", words));
        let said = words_of(after(vec![earlier], "why?").call());
        assert!(
            said.contains(&format!("\"{words}\"")) && said.ends_with(reason),
            "{said}"
        );
    }
    assert!(is_about(
        &words_of(Talk::new("say", "why?").call()),
        Topic::NoReason
    ));
}

#[test]
fn the_same_sentence_is_never_said_twice_in_a_row() {
    for words in [
        "blub",
        "hello",
        "thank you",
        "tell me a joke",
        "wait here",
        "what can you do?",
    ] {
        let mut earlier: Vec<EarlierTurn> = Vec::new();
        let mut last = String::new();
        for _ in 0..6 {
            let mut talk = after(earlier, words);
            let turn = finished(&mut talk);
            let call = turn.steps.iter().flat_map(|step| &step.calls).next_back();
            let call = call.unwrap();
            assert_ne!(call.arguments, last, "{words}");
            last.clone_from(&call.arguments);
            earlier = vec![turn];
        }
    }
}

#[test]
fn the_wording_follows_from_the_request_and_differs_between_messages() {
    let greet = |number: u64| {
        let mut talk = Talk::new("say", "hello");
        let heard = Perceive::say("Alice", "hello").number(number).build();
        talk.request.turn.as_mut().unwrap().trigger = heard.into();
        words_of(talk.call())
    };
    let all: Vec<_> = (0..12).map(greet).collect();
    assert_eq!(all, (0..12).map(greet).collect::<Vec<_>>());
    let mut different = all.clone();
    different.sort();
    different.dedup();
    assert!(different.len() > 1, "{all:?}");
}

#[test]
fn following_needs_somebody_to_follow() {
    for (characters, topic) in [
        (json!(["Alice", "Bob"]), Topic::NoFollowing),
        (json!(["Bob"]), Topic::NotHere),
    ] {
        let mut talk = Talk::new("page", "follow me!");
        talk.results =
            json!({"inspect_location": {"success": true, "result": {"characters": characters}}});
        talk.offer(&["inspect_location", "page", "noop"]);
        assert_eq!(talk.call().0, "inspect_location");
        assert!(is_about(&words_of(talk.call()), topic));
    }
}

const WALK: &str = "walk along with you";

/// The calls of a turn, up to the first that says something or rests.
fn calls(talk: &mut Talk) -> Vec<String> {
    let mut made = Vec::new();
    while made.len() < 8 {
        let (tool, _) = talk.call();
        let is_last = ["say", "page", "noop"].contains(&&*tool);
        made.push(tool);
        if is_last {
            break;
        }
    }
    made
}

#[test]
fn it_notes_once_that_it_follows_and_no_more_when_it_is_told_to_wait() {
    let here = json!({"success": true, "result": {"characters": ["Alice"]}});
    let done = json!({"success": true, "result": {}});
    let following = json!([{"id": 7, "description": WALK}]);
    for (words, pending, expected) in [
        (
            "follow me",
            json!([]),
            vec![
                "inspect_location",
                "get_entity_profile",
                "add_pending_action",
                "say",
            ],
        ),
        (
            "Come with me, please!",
            following.clone(),
            vec!["inspect_location", "get_entity_profile", "say"],
        ),
        (
            "wait here",
            following.clone(),
            vec!["get_entity_profile", "complete_pending_action", "say"],
        ),
        (
            "stop following me",
            following,
            vec!["get_entity_profile", "complete_pending_action", "say"],
        ),
        ("wait here", json!([]), vec!["get_entity_profile", "say"]),
    ] {
        let mut talk = Talk::new("say", words);
        let profile = json!({"success": true, "result": {"pending_actions": pending}});
        talk.results = json!({
            "inspect_location": here, "get_entity_profile": profile,
            "add_pending_action": done, "complete_pending_action": done,
        });
        assert_eq!(calls(&mut talk), expected, "{words}");
    }
}

#[test]
fn it_goes_where_the_one_whom_it_follows_went_and_follows_on() {
    let done = json!({"success": true, "result": {}});
    let stuck = json!({"success": false, "error": "the door is shut"});
    let went = Some("goes north to the Garden.");
    let look = ["get_entity_profile", "complete_pending_action"];
    for (movement, moved, expected) in [
        (went, &done, &["move", "add_pending_action", "noop"][..]),
        (went, &stuck, &["move", "page"]),
        (Some("leaves."), &done, &["noop"]),
        (None, &done, &["noop"]),
    ] {
        let mut talk = due();
        if let Some(TurnTrigger::Due(due)) = talk.request.turn.as_mut().map(|it| &mut it.trigger) {
            due.description = WALK.to_owned();
            due.movement = movement.map(str::to_owned);
        }
        let pending = json!([{"id": 7, "description": WALK}]);
        let profile = json!({"success": true, "result": {"pending_actions": pending}});
        talk.results = json!({
            "get_entity_profile": profile, "complete_pending_action": done,
            "move": moved, "add_pending_action": done,
        });
        assert_eq!(calls(&mut talk), [&look, expected].concat(), "{movement:?}");
    }
}

/// The same talk, with another assistant as the speaker.
fn from_assistant(mut talk: Talk) -> Talk {
    let turn = talk.request.turn.as_mut().unwrap();
    if let TurnTrigger::Message(heard) = &mut turn.trigger {
        heard.attested.sender = Sender::Assistant {
            id: EntityId::try_new("npc:mira").unwrap(),
            name: "Mira".to_owned(),
        };
    }
    talk
}

#[test]
fn of_another_assistant_only_questions_are_answered() {
    for words in [
        "hello",
        "thank you",
        "good bye",
        "how are you?",
        "blub",
        "I like tea",
        "why did you say that?",
        "remember that you owe me tea",
        "go north",
        "follow me",
        "remind me in a minute to page you",
        "I remember nothing about that.",
        "What do you mean? I can remember something.",
    ] {
        assert_eq!(
            from_assistant(Talk::new("page", words)).call().0,
            "noop",
            "{words}"
        );
    }
    let mut talk = from_assistant(Talk::new("page", "where is the kettle?"));
    assert_eq!(
        (talk.call().0.as_str(), talk.call().0.as_str()),
        ("recall_memories", "page")
    );
}

#[test]
fn nothing_that_it_says_of_itself_is_a_question_to_another_of_its_kind() {
    let wordings = SAID.iter().map(|(_, _, wording)| *wording);
    let answered = wordings.filter(|wording| {
        let said = wording
            .replace("{name}", "Dormouse")
            .replace("{self}", "Mira");
        let said = said.replace("{what}", "At six (UTC): feed your cat.");
        from_assistant(Talk::new("page", &said)).call().0 != "noop"
    });
    assert_eq!(answered.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn two_assistants_that_ask_each_other_come_to_an_end() {
    let mut earlier: Vec<EarlierTurn> = Vec::new();
    for turn in 0.. {
        let mut talk = from_assistant(after(earlier.clone(), "where is the kettle?"));
        let finished = finished(&mut talk);
        if finished.steps[0].calls[0].tool == "noop" {
            assert_eq!(turn, 3);
            break;
        }
        earlier.push(finished);
    }
}

#[test]
fn whoever_has_the_same_name_is_meant_by_the_id() {
    let ids = ["player:1", "player:2"].map(|id| {
        let mut talk = Talk::new("say", "remind me in an hour to bake");
        if let TurnTrigger::Message(heard) = &mut talk.request.turn.as_mut().unwrap().trigger {
            heard.attested.sender = Sender::Entity {
                id: EntityId::try_new(id).unwrap(),
                name: "Alice".to_owned(),
            };
        }
        talk.call().1["entity"].as_str().unwrap().to_owned()
    });
    assert_eq!(ids, ["player:1", "player:2"]);
}

/// Requests that nobody sends on purpose.
fn any_request() -> impl Strategy<Value = Talk> {
    let text = prop_oneof![
        any::<String>(),
        "[ -~]{0,80}",
        Just("記憶して ください。".repeat(400)),
        Just("remind me in to at six past to at to at ".repeat(300)),
        Just("and so well now then please ".repeat(900)),
        Just("@a @b follow to the to the to the".repeat(500)),
        prop::sample::select(vec![
            "why?",
            "hello",
            "remind me at 99:99",
            "go to the",
            "\u{202e}evil",
            "remember"
        ])
        .prop_map(str::to_owned),
    ];
    let result = prop_oneof![
        Just(json!({"success": true, "result": null})),
        Just(
            json!({"success": true, "result": {"memories": [{"text": 7}, null], "pending_actions": [[]]}})
        ),
        Just(
            json!({"success": true, "result": {"characters": "x", "exits": [{}], "room": {"name": 1}}})
        ),
        Just(json!([1, 2])),
        any::<String>().prop_map(|error| json!({"success": false, "error": error})),
    ];
    let how = prop::sample::select(vec!["whisper", "page", "say", "words", "pose", "channel"]);
    (
        text.clone(),
        text.clone(),
        text,
        result,
        how,
        any::<bool>(),
        any::<i64>(),
    )
        .prop_filter_map(
            "somebody said something",
            |(words, name, persona, result, how, is_due, at)| {
                Words::try_new(&*words).ok()?;
                let mut talk = Talk::new(how, &words);
                let results = TOOLS.map(|tool| (tool.to_owned(), result.clone()));
                talk.results = Value::Object(results.into_iter().collect());
                let turn = talk.request.turn.as_mut()?;
                turn.persona.text = persona;
                turn.persona.name.clone_from(&name);
                turn.earlier = vec![EarlierTurn {
                    trigger: turn.trigger.clone(),
                    steps: vec![TurnStep {
                        text: name.clone(),
                        calls: vec![TurnCall {
                            tool: "say".to_owned(),
                            arguments: words.clone(),
                            result: Some(name),
                        }],
                    }],
                }];
                if let TurnTrigger::Message(heard) = &mut turn.trigger {
                    heard.attested.at = Timestamp::from_micros(at);
                }
                if is_due {
                    turn.trigger = TurnTrigger::Due(DueAction {
                        entity: EntityId::try_new("player:1").ok()?,
                        name: words.clone(),
                        description: words,
                        due_at: Timestamp::from_micros(at),
                        movement: None,
                    });
                }
                Some(talk)
            },
        )
}

impl std::fmt::Debug for Talk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.request.turn)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_request_makes_it_panic_speak_at_length_or_go_on_for_ever(mut talk in any_request()) {
        for step in 0.. {
            prop_assert!(step < 6, "it came to no end");
            let again = reply(&talk.request);
            let reply = talk.step();
            prop_assert_eq!(&reply, &again, "the same request, another answer");
            prop_assert!(reply.content.chars().count() <= 600);
            let Some(call) = reply.tool_calls.first() else { break };
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
            if let Some(said) = arguments["message"].as_str() {
                prop_assert!(said.chars().count() <= 600);
                prop_assert!(!said.contains('@') && !said.contains(char::is_control), "{}", said);
            }
            if call.name == "noop" { break; }
        }
    }
}

#[test]
fn a_request_with_a_condition_becomes_a_commitment_with_a_typed_trigger() {
    let mut talk = Talk::new("whisper", "When Bob comes, tell him that I took his hat.");
    let TurnTrigger::Message(heard) = talk.request.turn.as_ref().unwrap().trigger.clone() else {
        panic!("a message");
    };
    let who = heard.attested.sender.name();
    let (tool, arguments) = talk.call();
    assert_eq!(tool, "add_pending_action");
    assert_eq!(
        arguments,
        json!({
            "entity": "Bob",
            "description": format!("pass on from {who}: I took his hat"),
            "when": [{"event": "arrives", "who": "Bob"}],
        })
    );
    let said = words_of(talk.call());
    assert!(
        said.contains("when Bob comes") && said.contains("for Bob"),
        "{said}"
    );

    let mut talk = Talk::new("whisper", "let me know if the door opens");
    talk.results = json!({"add_pending_action": {"success": false, "error": "too many"}});
    let (_, arguments) = talk.call();
    assert_eq!(
        arguments["when"],
        json!([{"event": "happens", "words": "door open"}])
    );
    assert!(words_of(talk.call()).starts_with("I cannot promise that"));

    let mut talk = Talk::new("whisper", "when he comes, tell him that I waited");
    let (tool, arguments) = talk.call();
    assert_eq!(tool, "whisper", "nothing is noted");
    assert!(words_of((tool, arguments)).contains("Whom do you mean?"));
}

#[test]
fn what_is_passed_on_says_from_whom() {
    let mut talk = due();
    if let Some(turn) = &mut talk.request.turn
        && let TurnTrigger::Due(due) = &mut turn.trigger
    {
        due.description = "pass on from Carol: I took his hat".to_owned();
    }
    talk.results =
        json!({"get_entity_profile": {"success": true, "result": {"pending_actions": []}}});
    talk.call();
    let said = words_of(talk.call());
    assert_eq!(said, "Alice, Carol asked me to tell you: I took his hat.");
}
