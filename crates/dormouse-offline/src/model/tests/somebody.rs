//! It is somebody: it promises only what it can do, explains what it is asked about, and speaks about itself.

use dormouse_contracts::{DueAction, EarlierTurn, EntityId, Persona, Timestamp, TurnTrigger};

use super::*;

/// The words that it says first, after the calls that they need.
fn said(talk: &mut Talk) -> String {
    for _ in 0..4 {
        let (_, arguments) = talk.call();
        if let Some(message) = arguments["message"].as_str() {
            return message.to_owned();
        }
    }
    panic!("it says nothing")
}

fn turn_of(how: &str, words: &str, results: Value) -> EarlierTurn {
    let mut talk = Talk::new(how, words);
    talk.results = results;
    said(&mut talk);
    let turn = talk.request.turn.unwrap();
    EarlierTurn {
        trigger: turn.trigger,
        steps: turn.steps,
    }
}

fn asked(earlier: Vec<EarlierTurn>, words: &str) -> Talk {
    let mut talk = Talk::new("say", words);
    talk.request.turn.as_mut().unwrap().earlier = earlier;
    talk
}

fn recalled(text: &str, from: &str) -> Value {
    json!({"recall_memories": {"success": true, "result": {"memories": [
        {"text": text, "at": "2026-11-21T10:15:00Z", "from": from, "trust": 0.7},
    ]}}})
}

#[test]
fn a_moment_is_waited_for_as_a_moment_and_never_as_a_word_that_somebody_may_say() {
    for words in [
        "let me know when it's six",
        "tell me when it is six o'clock",
        "shout when it's six",
        "When it is six, tell me.",
        "remind me when it is six",
        "remind me at six",
        "I want to be reminded at six to feed the cat",
        "let me know once it's noon",
        "wake me when it is morning",
    ] {
        let (tool, arguments) = Talk::new("say", words).call();
        assert_eq!(tool, "add_pending_action", "{words}");
        assert!(arguments["when"].is_null(), "{words}: {arguments}");
        assert!(arguments["due_at"].is_string(), "{words}: {arguments}");
    }
    let (_, arguments) = Talk::new("say", "remind me at six").call();
    assert_eq!(arguments["description"], "it is time");
}

#[test]
fn what_it_cannot_promise_it_asks_back_about_and_notes_nothing() {
    for (words, topic) in [
        ("tell me when it is time", Topic::NoEvent),
        ("let me know when the six is", Topic::NoEvent),
        ("wake me when it is Monday", Topic::NoEvent),
        ("let me know before it is six", Topic::Deadline),
        ("tell me at six and when Bob comes to sweep", Topic::Moments),
        ("remind me every day at six to feed the cat", Topic::Repeats),
        (
            "every day at six, remind me to feed the cat",
            Topic::Repeats,
        ),
        (
            "tell Bob every morning at six that it is late",
            Topic::Repeats,
        ),
        ("remind me daily at six to feed the cat", Topic::Repeats),
        ("remind me at six and at eight to sweep", Topic::Moments),
        ("remind me to sweep at six and eight", Topic::Moments),
        ("tell Bob at six and at eight to sweep", Topic::Moments),
        ("remind me to leave before seven", Topic::Deadline),
        ("before seven remind me to leave", Topic::Deadline),
        ("tell Bob to leave before seven", Topic::Deadline),
        ("forget that the kettle is in the blue box", Topic::Forget),
        ("please forget what I told you about Bob", Topic::Forget),
    ] {
        let mut talk = Talk::new("say", words);
        let (tool, arguments) = talk.call();
        assert_eq!(tool, "say", "{words}: {arguments}");
        let said = arguments["message"].as_str().unwrap();
        assert!(is_about(said, topic), "{words}: {said}");
    }
}

#[test]
fn what_others_do_or_did_is_not_a_request() {
    for words in [
        "Carol said she would remind me at six",
        "Carol will remind me at six",
        "I asked Bob to remind me at six",
        "did you remind me at six?",
        "do not remind me at six",
        "you never remind me at six",
        "I have six eggs",
    ] {
        let (tool, arguments) = Talk::new("say", words).call();
        assert_ne!(tool, "add_pending_action", "{words}: {arguments}");
    }
    for words in [
        "shout it when the box is at six",
        "my reminder is old",
        "Bob is to be reminded",
    ] {
        assert!(
            !is_about(&said(&mut Talk::new("say", words)), Topic::Statement),
            "{words}"
        );
    }
}

#[test]
fn why_explains_the_words_that_the_question_is_about_in_the_company_of_two() {
    let kettle = || {
        turn_of(
            "say",
            "where is the kettle?",
            recalled("The kettle is in the box", "Carol"),
        )
    };
    let tea = || {
        turn_of(
            "say",
            "what does Bob drink?",
            recalled("Bob drinks tea", "Dave"),
        )
    };
    let both = vec![kettle(), tea()];
    for (words, source) in [
        ("why did you say that the kettle is in the box?", "Carol"),
        ("who told you about the kettle?", "Carol"),
        ("How do you know where the kettle is?", "Carol"),
        ("why did you say that Bob drinks tea?", "Dave"),
        ("why did you say that?", "Dave"),
        ("On what basis?", "Dave"),
        ("I don't get why you said that", "Dave"),
    ] {
        let said = said(&mut asked(both.clone(), words));
        assert!(said.starts_with("Because you said"), "{words}: {said}");
        assert!(said.contains(source), "{words}: {said}");
    }
    // Nothing was said about it lately, so the memory answers.
    let mut talk = asked(vec![tea()], "who told you about the kettle?");
    talk.results = recalled("The kettle is in the box", "Carol");
    let (tool, _) = talk.call();
    assert_eq!(tool, "recall_memories");
    assert!(said(&mut talk).contains("Carol told me"));
}

#[test]
fn why_it_reminded_somebody_is_explained_and_not_taken_for_a_reminder() {
    let due = |name: &str| EarlierTurn {
        trigger: TurnTrigger::Due(DueAction {
            entity: EntityId::try_new("player:1").unwrap(),
            name: name.to_owned(),
            description: "feed your cat".to_owned(),
            due_at: Timestamp::EPOCH,
            movement: None,
        }),
        steps: vec![TurnStep {
            text: String::new(),
            calls: vec![TurnCall {
                tool: "page".to_owned(),
                arguments: json!({"to": name, "message": "Feed your cat."}).to_string(),
                result: Some(json!({"success": true}).to_string()),
            }],
        }],
    };
    let tea = turn_of("say", "hello", json!({}));
    for (name, whom) in [("Alice", "you"), ("Bob", "Bob")] {
        let said = said(&mut asked(
            vec![due(name), tea.clone()],
            "why did you remind me?",
        ));
        assert!(
            said.starts_with(&format!("Because I had promised it to {whom}")),
            "{said}"
        );
        assert!(said.contains("feed your cat"), "{said}");
    }
}

#[test]
fn questions_about_itself_are_answered_from_the_persona_or_passed_over() {
    let ask = |words: &str| {
        let mut talk = Talk::new("say", words);
        talk.request.turn.as_mut().unwrap().persona = Persona {
            name: "Brakk".to_owned(),
            text: "You are Brakk, a plain smith. You have a wife called Ida. You like strong tea."
                .to_owned(),
        };
        said(&mut talk)
    };
    assert_eq!(ask("do you have a wife?"), "I have a wife called Ida.");
    assert_eq!(ask("do you like tea?"), "I like strong tea.");
    for words in [
        "how old are you?",
        "do you like cake?",
        "what is your favourite colour?",
    ] {
        let said = ask(words);
        assert!(is_about(&said, Topic::Unsaid), "{words}: {said}");
    }
    assert!(is_about(&ask("who ate the cake?"), Topic::Unknown));
    assert!(is_about(&ask("are you there?"), Topic::Greeting));
    assert!(is_about(
        &ask("Could you water the plants?"),
        Topic::NotUnderstood
    ));
}

#[test]
fn yes_to_its_question_is_answered_with_how_to_go_on() {
    let offer = "I... I did not understand, Alice. Should I remember something, or look around?";
    let mut earlier = turn_of("say", "blub", json!({}));
    earlier.steps[0].calls[0].arguments = json!({"message": offer}).to_string();
    let said_to = |words: &str| said(&mut asked(vec![earlier.clone()], words));
    assert!(is_about(&said_to("yes"), Topic::GoOn));
    assert!(is_about(&said_to("yes please"), Topic::GoOn));
    assert!(is_about(&said_to("no"), Topic::Acknowledgement));
    assert!(is_about(
        &said(&mut Talk::new("say", "yes")),
        Topic::Acknowledgement
    ));
}

#[test]
fn a_moment_completes_the_request_of_the_same_person_that_lacked_one() {
    let noted = |request: &str, moment: &str, by_another: bool| {
        let mut earlier = turn_of("say", request, json!({}));
        if by_another && let TurnTrigger::Message(heard) = &mut earlier.trigger {
            **heard = Perceive::say("Bob", request).build();
        }
        let (tool, arguments) = asked(vec![earlier], moment).call();
        (tool == "add_pending_action")
            .then(|| arguments["description"].as_str().unwrap().to_owned())
    };
    for (request, moment, what) in [
        ("remind me to feed the cat", "at six", "feed the cat"),
        (
            "remind me to feed the cat",
            "in ten minutes, please",
            "feed the cat",
        ),
        ("remind me to feed the cat", "six", "feed the cat"),
        (
            "remind me to leave before seven",
            "at half past six",
            "leave before seven",
        ),
    ] {
        assert_eq!(
            noted(request, moment, false).as_deref(),
            Some(what),
            "{request} {moment}"
        );
        assert_eq!(noted(request, moment, true), None, "{request} {moment}");
    }
    assert_eq!(noted("hello", "at six", false), None);
    assert_eq!(
        noted("remind me at six to feed the cat", "at seven", false),
        None
    );
    assert_eq!(
        noted("remind me to feed the cat", "I have six eggs", false),
        None
    );
}
