use proptest::prelude::*;

use super::*;

fn sight(kind: &'static str, text: &str) -> Item {
    Item::World(World::Perceived(Sight {
        observer: None,
        at: "2026-11-21T00:00:00Z".to_owned(),
        by: Some("Dormouse".to_owned()),
        kind,
        channel: (kind == "channel").then(|| "public".to_owned()),
        text: text.to_owned(),
        delivery: 1,
        earlier: false,
        by_assistant: true,
    }))
}

#[test]
fn every_kind_of_perception_shows_its_channel() {
    for (kind, expected) in [
        ("whisper", "◉ Dormouse whispers to you: tea"),
        ("page", "◉ Dormouse pages you: tea"),
        ("addressed", "◂ Dormouse says to you: tea"),
        ("channel", "◂ [public] Dormouse: tea"),
        ("say", "◂ Dormouse says, \"tea\""),
        ("pose", "✱ Dormouse tea"),
        ("emit", "✱ tea"),
    ] {
        assert_eq!(
            render(&sight(kind, "tea"), Style::Plain),
            Some(format!("{expected}\n"))
        );
    }
}

#[test]
fn the_assistants_lines_are_set_apart_in_a_terminal() {
    assert_eq!(
        render(&sight("emit", "tea"), Style::Indented),
        Some("    ✱ tea\n".to_owned())
    );
    assert_eq!(
        render(&sight("emit", "tea"), Style::Coloured),
        Some("    \u{1b}[36m✱ tea\u{1b}[0m\n".to_owned())
    );
}

#[test]
fn the_end_of_a_visit_names_waiting_messages_and_what_to_do() {
    let end = |reason, waiting| {
        let clear = "dormouse emergency clear --data tea".to_owned();
        let item = Item::End(EndLine {
            reason,
            waiting,
            cause: None,
            open: Vec::new(),
            pause: None,
            clear,
        });
        render(&item, Style::Plain)
    };
    assert_eq!(end(End::Settled, 0), None);
    let stopped = end(End::Stopped, 2).unwrap();
    assert!(
        stopped.contains("2 messages wait and are kept.")
            && stopped.contains("`dormouse emergency clear --data tea`"),
        "{stopped}"
    );
    let disabled = end(End::Disabled, 1).unwrap();
    assert!(
        disabled.contains("1 message waits and is kept until it is switched on"),
        "{disabled}"
    );
}

#[test]
fn the_end_of_a_visit_names_open_acts_and_the_reason() {
    let open = |event, text: &str, act: Option<&str>| OpenMessage {
        event,
        from: "Alice".to_owned(),
        text: text.to_owned(),
        act: act.map(str::to_owned),
    };
    let item = Item::End(EndLine {
        reason: End::Interrupted,
        waiting: 4,
        cause: Some("world.redb could not be written: No space left on device".to_owned()),
        open: vec![
            open(Some(7), "Hello!", Some("say")),
            open(Some(9), "And you?", None),
            open(None, "Bye.", None),
        ],
        pause: None,
        clear: String::new(),
    });
    let expected = "◊ Ended. 4 messages wait and are kept; it goes on at the next start.\n    \
        The cause: world.redb could not be written: No space left on device.\n    \
        Alice (event 7): Hello! – the answer by `say` is decided, but not confirmed by the world\n    \
        Alice (event 9): And you? – not answered yet\n    \
        Alice (still in the world): Bye. – not answered yet\n    \
        and 1 other\n";
    assert_eq!(render(&item, Style::Plain).as_deref(), Some(expected));
}

proptest! {
    #[test]
    fn no_text_gets_a_control_character_past_or_begins_a_line_of_its_own(text in any::<String>()) {
        for item in [
            sight("say", &text),
            Item::Notice { text: text.clone() },
            Item::Rejected { line: 1, reason: text.clone() },
        ] {
            let line = render(&item, Style::Plain).unwrap();
            prop_assert!(line.chars().all(|c| c == '\n' || !c.is_control()), "{line:?}");
            let body = line.strip_suffix('\n').unwrap();
            let signs = body.chars().filter(|c| LineKind::ALL.iter().any(|sign| sign.char() == *c));
            prop_assert_eq!(signs.count(), 1, "{:?}", line);
            prop_assert!(body.split('\n').skip(1).all(|more| more.starts_with("    ")), "{line:?}");
        }
    }
}
