//! Sessions that go well.

use std::io::{BufRead, BufReader, Write};

use crate::{
    program::{Home, watch},
    server::{Mood, Server},
};

const FIVE_LINES: &str = "Hello!\n\
    remember that Alice prefers tea\n\
    whisper Dormouse = Is it late?\n\
    say The fire is low.\n\
    what does Alice prefer?\n";

#[test]
fn lines_are_classified_by_their_channel_and_a_question_is_answered_with_a_quote() {
    let home = Home::new();
    let run = home.play(FIVE_LINES);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let expected = [
        ("arrives.", "context", "6"),
        ("Hello!", "trigger", "2"),
        ("remember that Alice prefers tea", "trigger", "2"),
        ("Is it late?", "trigger", "3"),
        ("The fire is low.", "context", "6"),
        ("what does Alice prefer?", "trigger", "2"),
    ]
    .map(|(text, verdict, rule)| (text.to_owned(), verdict.to_owned(), rule.to_owned()));
    assert_eq!(run.heard(), expected);
    let answers = run.answers();
    assert_eq!(answers.len(), 4, "{answers:?}");
    assert!(
        answers[3].contains("Alice prefers tea") && answers[3].contains("Visitor told me"),
        "{answers:?}"
    );
    assert_eq!(
        run.items().last().unwrap(),
        &serde_json::json!({"type": "end", "reason": "settled", "waiting": 0})
    );
}

#[test]
fn memories_are_known_in_the_next_run() {
    let home = Home::new();
    home.play(FIVE_LINES);
    let run = home.play("what does Alice prefer?");
    assert_eq!(run.code, Some(0));
    let answer = run.answers().pop().unwrap();
    assert!(answer.contains("Alice prefers tea"), "{answer}");
    assert!(run.of_type("ready")[0]["seq"].as_u64().unwrap() > 0);
    assert_eq!(run.heard().len(), 1, "nothing old was heard again");
}

#[test]
fn repeated_lines_after_a_start_keep_their_numbers() {
    let home = Home::new();
    let first = home.play(FIVE_LINES).of_type("world");
    let second = home.play("what does Alice prefer?").of_type("world");
    let perceived = |items: &[serde_json::Value]| -> Vec<_> {
        items
            .iter()
            .filter(|item| item["kind"].is_string())
            .cloned()
            .collect()
    };
    let (first, second) = (perceived(&first), perceived(&second));
    let known = first.last().unwrap()["delivery"].as_u64().unwrap();
    let fresh = second
        .iter()
        .filter(|item| item["delivery"].as_u64().unwrap() > known);
    assert_eq!(fresh.count(), 1);
    for again in second
        .iter()
        .filter(|item| item["delivery"].as_u64().unwrap() <= known)
    {
        assert!(first.contains(again), "{again}");
    }
}

#[test]
fn every_event_is_printed_once_in_order_and_every_message_names_its_event() {
    let home = Home::new();
    let run = home.play(FIVE_LINES);
    let events = run.of_type("event");
    let seqs: Vec<_> = events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    for message in run
        .of_type("message")
        .iter()
        .filter(|message| !message["seq"].is_null())
    {
        let event = &events[usize::try_from(message["seq"].as_u64().unwrap()).unwrap() - 1];
        assert_eq!(event["kind"], "perceived");
        assert_eq!(event["data"]["perception"]["words"], message["text"]);
    }
}

#[test]
fn plain_output_shows_speech_and_acts_and_has_no_escape_sequence() {
    let home = Home::new();
    let run = home.run(&["play"], "Hello!\nlook\n/status\n");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    for part in [
        "thinks offline",
        "no key and no server was found",
        "You say to Dormouse: Hello!",
        "Dormouse says, \"",
        "The Common Room",
        "tokens in its last prompt;",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(
        run.out.chars().all(|c| c == '\n' || !c.is_control()),
        "{:?}",
        run.out
    );
}

#[test]
fn piped_input_is_printed_in_the_order_of_events() {
    let home = Home::new();
    let run = home.run(
        &["play", "--as", "Alice"],
        "hello\nremember that Alice prefers tea\n/memories\nsay what a fine day\npose waters the mint.\n\
         whisper Dormouse = what does Alice prefer?\n",
    );
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let beginnings = [
        "▸ You say to Dormouse: hello",
        "◂ Dormouse says, \"",
        "▸ You say to Dormouse: remember that Alice prefers tea",
        "◂ Dormouse says, \"",
        "◊ 20",
        "▸ You say: what a fine day",
        "✱ Alice waters the mint.",
        "▸ You whisper to Dormouse: what does Alice prefer?",
        "◉ Dormouse whispers to you: ",
    ];
    let lines: Vec<_> = run.out.lines().skip(3).collect();
    assert_eq!(lines.len(), beginnings.len(), "{}", run.out);
    for (line, beginning) in lines.iter().zip(beginnings) {
        assert!(line.starts_with(beginning), "{beginning}: {}", run.out);
    }
    assert!(
        lines[4].ends_with("(from Alice (player:alice), trust 0.70)"),
        "{}",
        lines[4]
    );
}

#[test]
fn a_thing_or_somebody_here_can_be_looked_at() {
    let home = Home::new();
    let run = home.play("look at the kettle\nlook orla\nlook at the moon\n");
    let acts: Vec<_> = run
        .of_type("world")
        .into_iter()
        .filter(|item| item["act"].is_string())
        .collect();
    let act_and_target = |item: &serde_json::Value| (item["act"].clone(), item["to"].clone());
    assert_eq!(
        act_and_target(&acts[0]),
        ("look".into(), "copper kettle".into())
    );
    assert!(!acts[0]["seen"].as_str().unwrap().is_empty());
    assert_eq!(act_and_target(&acts[1]), ("look".into(), "Orla".into()));
    assert_eq!(
        act_and_target(&acts[2]),
        ("say_to".into(), "Dormouse".into())
    );
}

#[test]
fn a_mention_that_the_world_parses_is_addressed_to_it() {
    let home = Home::new();
    let run = home.play("@dormouse hello\n@orla hello\n");
    let messages = run.of_type("message");
    let of = |text: &str| {
        messages
            .iter()
            .find(|message| message["text"] == text)
            .unwrap()
            .clone()
    };
    let mentioned = of("@dormouse hello");
    assert_eq!(
        (mentioned["rule"].as_str(), mentioned["trust"].as_f64()),
        (Some("2"), Some(0.7))
    );
    assert_eq!(of("@orla hello")["classification"], "context");
}

#[test]
fn command_words_that_do_not_fit_are_speech() {
    let home = Home::new();
    let run = home.play("look what I found\ngo on\ngo up\n");
    let acts: Vec<_> = run
        .of_type("world")
        .iter()
        .filter_map(|item| item["act"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(acts, ["say_to", "say_to", "move"]);
}

#[test]
fn the_last_line_needs_no_line_end_and_carriage_returns_are_dropped() {
    let home = Home::new();
    let run = home.play("say one\r\nsay two");
    let texts: Vec<_> = run.heard().into_iter().map(|(text, _, _)| text).collect();
    assert_eq!(texts, ["arrives.", "one", "two"]);
}

#[test]
fn quitting_ends_without_reading_on() {
    let home = Home::new();
    let run = home.play("say one\n/quit\nsay plumbago\n");
    assert_eq!(run.code, Some(0));
    assert!(!run.out.contains("plumbago"), "{}", run.out);
}

#[test]
fn a_second_player_meets_the_same_assistant_and_is_not_told_what_only_the_first_said() {
    let home = Home::new();
    home.play("remember that Alice prefers tea\n");
    let again = home.play("what does Alice prefer?\n");
    let remembered = again.answers().last().unwrap().clone();
    assert!(remembered.contains("Alice prefers tea"), "{remembered}");
    let run = home.run(
        &["play", "--json", "--as", "Bob"],
        "what does Alice prefer?\n",
    );
    assert!(!run.out.contains("prefers tea"), "{}", run.out);
    let answer = run.answers().last().unwrap().clone();
    assert!(answer.ends_with("can ask me in private."), "{answer}");
    assert_eq!(run.of_type("message").last().unwrap()["type"], "message");
    assert!(
        run.of_type("message")
            .iter()
            .any(|message| message["sender"] == "Bob")
    );
}

#[test]
fn a_command_acts_at_once_while_a_message_waits_for_its_answer() {
    let home = Home::new();
    let server = Server::start(Mood::Hanging);
    let run = home.run(
        &["play", "--base-url", &server.url],
        "Hello!\nsay one\n/status\nsay two\n/quit\nsay three\n",
    );
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let place = |text: &str| run.out.find(text);
    assert!(place("model calls").is_some(), "{}", run.out);
    assert!(
        place("Ended. 1 message waits and is kept").is_some(),
        "{}",
        run.out
    );
    // The messages before /quit are not lost, and keep their order.
    let said = [
        "You say to Dormouse: Hello!",
        "You say: one",
        "You say: two",
    ]
    .map(place);
    assert!(
        said.iter().all(Option::is_some) && said.is_sorted(),
        "{}",
        run.out
    );
    assert_eq!(place("three"), None, "{}", run.out);
}

#[test]
fn a_command_that_shows_results_of_earlier_lines_waits_for_them() {
    let home = Home::new();
    let run = home.run(
        &["play"],
        "remember that Alice prefers tea\n/memories\nremember that Bob prefers cocoa\n",
    );
    let place = |text: &str| run.out.find(text).expect(&run.out);
    assert!(place("Alice prefers tea (from") < place("You say to Dormouse: remember that Bob"));
}

#[test]
fn a_promise_is_kept_once_at_its_moment_to_the_one_who_asked() {
    let home = Home::new();
    let mut visit = home.spawn(&["play", "--as", "Alice", "--provider", "offline"]);
    let _watched = watch(&visit);
    let mut input = visit.stdin.take().unwrap();
    writeln!(input, "Would you remind me in two seconds to feed my cat?").unwrap();
    let out = BufReader::new(visit.stdout.take().unwrap());
    let mut lines = out.lines().map(Result::unwrap);
    let mut next = || {
        lines
            .by_ref()
            .find(|line| line.contains("feed your cat"))
            .unwrap()
    };
    let (promised, kept) = (next(), next());
    assert!(promised.contains("Dormouse says"), "{promised}");
    assert!(kept.contains("Dormouse pages you"), "{kept}");
    writeln!(input, "What did you promise me?").unwrap();
    drop(input);
    let rest: Vec<_> = lines.collect();
    assert!(
        !rest.iter().any(|line| line.contains("feed your cat")),
        "{rest:?}"
    );
    visit.wait().unwrap();
}

#[test]
fn the_status_counts_what_is_remembered() {
    let home = Home::new();
    home.play("say the kettle is blue\nsay the tin is red\n");
    let run = home.run(&["play"], "/status\n");
    assert!(run.out.contains(" memories; "), "{}", run.out);
    assert!(!run.out.contains("; 0 memories; "), "{}", run.out);
}

#[test]
fn lines_repeated_after_a_kill_are_marked_and_come_before_new_ones() {
    let home = Home::new();
    let mut child = home.spawn(&["play"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"hello\n").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answer = lines.find(|line| line.as_ref().unwrap().contains("Dormouse says"));
    let answer = answer.unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    let run = home.run(&["play"], "say later\n");
    let words = answer.strip_prefix("◂ ").unwrap();
    let again = run
        .out
        .lines()
        .find(|line| line.contains(words))
        .expect(&run.out);
    assert!(again.starts_with("◂ (earlier, 20"), "{again}");
    assert!(
        run.out.find(words) < run.out.find("You say: later"),
        "{}",
        run.out
    );
    let run = home.run(&["play"], "say later\n");
    assert!(!run.out.contains(words), "only once more: {}", run.out);
}
