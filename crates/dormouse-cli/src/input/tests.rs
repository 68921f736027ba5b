use dormouse_contracts::ChannelId;
use proptest::prelude::*;

use super::*;

fn words(text: &str) -> Words {
    Words::try_new(text).unwrap()
}

fn said_to_it(text: &str) -> Input {
    Input::Act(speak_to("Dormouse", words(text)))
}

fn parsed(line: &str) -> Input {
    parse(line, "Dormouse").unwrap()
}

#[test]
fn a_plain_line_is_said_to_the_assistant() {
    assert_eq!(parsed("Hello there!\r"), said_to_it("Hello there!"));
}

#[test]
fn a_command_word_counts_only_if_the_rest_fits() {
    for line in [
        "Look",
        "Whisper it to me",
        "whispers are rare here",
        "Pages turn",
        "Say hello",
        "looking good",
        "go to the garden now",
        ":)",
        "@ noon",
        "no",
        "i",
        "northern lights",
    ] {
        assert_eq!(parsed(line), said_to_it(line), "{line}");
    }
    let (thing, speech) = ("what I found".to_owned(), words("look what I found"));
    assert_eq!(parsed("look what I found"), Input::LookAt { thing, speech });
    let said = Act::Say(words("hello to Bob for me"));
    assert_eq!(parsed("say hello to Bob for me"), Input::Act(said));
}

#[test]
fn a_command_that_is_not_complete_is_refused_with_its_form_and_never_spoken() {
    for (line, form) in [
        ("whisper quince hi", "whisper NAME = TEXT"),
        ("whisper Bob=hi", "whisper NAME = TEXT"),
        ("whisper Dormouse =  ", "whisper NAME = TEXT"),
        ("whisper  = hi", "whisper NAME = TEXT"),
        ("whisper", "whisper NAME = TEXT"),
        ("whisper: the key is mine", "whisper NAME = TEXT"),
        ("WHISPER  = hi", "whisper NAME = TEXT"),
        ("page x", "page NAME = TEXT"),
        ("page 3 is missing", "page NAME = TEXT"),
        ("channel", "channel NAME = TEXT"),
        ("channel public anyone", "channel NAME = TEXT"),
        ("public", "public TEXT"),
        ("say", "say TEXT"),
        ("pose ", "pose TEXT"),
    ] {
        let refused = parse(line, "Dormouse").unwrap_err().to_string();
        assert!(
            refused.starts_with(&format!("expected `{form}`"))
                && refused.contains("say this line to Dormouse")
                && refused.ends_with("`to: `"),
            "{line}: {refused}"
        );
    }
}

#[test]
fn a_line_that_is_one_slip_from_a_private_command_is_asked_about_and_not_spoken() {
    for (line, form) in [
        ("wisper Dormouse = secret", "whisper NAME = TEXT"),
        ("whsiper Dormouse = secret", "whisper NAME = TEXT"),
        ("Whispr Dormouse = secret", "whisper NAME = TEXT"),
        ("whispers: Dormouse = secret", ""),
        ("wispers Dormouse=secret", "whisper NAME = TEXT"),
        ("whisper: Dormouse = secret", ""),
        ("pgae Orla = secret", "page NAME = TEXT"),
        ("pag Orla the cook = secret", "page NAME = TEXT"),
        ("tell Orla = secret", "whisper NAME = TEXT"),
        ("tel Orla = secret", "whisper NAME = TEXT"),
    ] {
        match parse(line, "Dormouse") {
            Err(refused) => {
                let refused = refused.to_string();
                let is_asked =
                    refused.starts_with(&format!("did you mean `{form}`? Nothing was said"));
                assert!(
                    is_asked && refused.ends_with("begin with `to: `"),
                    "{line}: {refused}"
                );
            }
            Ok(Input::Act(Act::Whisper { .. } | Act::Page { .. })) => {
                assert_eq!(form, "", "{line}")
            }
            Ok(other) => panic!("{line} is spoken: {other:?}"),
        }
    }
    for line in [
        "tell me what 2 + 2 is",
        "tell me about the old mill by the river = true",
        "wisper it to me",
        "hello Dormouse = hi",
        "wispy clouds = rain",
        "the whisper = a secret",
        "sell Orla the kettle",
        "tell Orla =",
    ] {
        assert_eq!(parsed(line), said_to_it(line), "{line}");
    }
    assert_eq!(parsed("to: wisper Bob = hi"), said_to_it("wisper Bob = hi"));
}

proptest! {
    #[test]
    fn every_single_slip_in_a_private_command_is_noticed(
        command in prop::sample::select(vec!["whisper", "page"]),
        place in 0_usize..8,
        letter in "[a-z]",
        slip in 0..4,
    ) {
        let mut letters: Vec<char> = command.chars().collect();
        let place = place % letters.len();
        let letter = letter.chars().next().unwrap();
        match slip {
            0 => letters.insert(place, letter),
            1 => letters[place] = letter,
            2 => drop(letters.remove(place)),
            _ => letters.swap(place, (place + 1).min(command.len() - 1)),
        }
        let word: String = letters.into_iter().collect();
        let line = format!("{word} Dormouse = the code is 4417");
        let is_private = match parse(&line, "Dormouse") {
            Err(_) => true,
            Ok(input) => matches!(input, Input::Act(Act::Whisper { .. } | Act::Page { .. })),
        };
        prop_assert!(is_private, "{}", line);
    }
}

#[test]
fn a_mistyped_whisper_is_never_spoken_aloud() {
    let whisper = Act::Whisper {
        to: "Dormouse".to_owned(),
        words: words("hush"),
    };
    for word in ["whisper", "Whisper", "WHISPER", "whispers", "Whisper:"] {
        let line = format!("{word} Dormouse = hush");
        assert_eq!(parsed(&line), Input::Act(whisper.clone()), "{line}");
    }
}

#[test]
fn a_compass_direction_is_a_move_and_never_speech() {
    for (line, way) in [
        ("south", "south"),
        ("N", "north"),
        ("Up", "up"),
        ("go w", "west"),
        ("go in", "in"),
        ("out", "out"),
    ] {
        let direction = way.to_owned();
        assert_eq!(parsed(line), Input::Act(Act::Move { direction }), "{line}");
    }
    assert_eq!(parsed("go"), Input::GoNowhere);
}

#[test]
fn every_form_of_an_act_is_parsed() {
    let to = || "Dormouse".to_owned();
    let public = || ChannelId::try_new("public").unwrap();
    for (line, act) in [
        ("look", Act::Look),
        ("say What a day", Act::Say(words("What a day"))),
        ("\"What a day", Act::Say(words("What a day"))),
        ("\"What a day\"", Act::Say(words("What a day"))),
        ("@dormouse wake up", Act::Say(words("@dormouse wake up"))),
        ("pose smiles", Act::Pose(words("smiles"))),
        (":smiles", Act::Pose(words("smiles"))),
        (
            "whisper Dormouse = 1 + 1 = 2",
            Act::Whisper {
                to: to(),
                words: words("1 + 1 = 2"),
            },
        ),
        (
            "Whisper Dormouse = hush",
            Act::Whisper {
                to: to(),
                words: words("hush"),
            },
        ),
        (
            "page Dormouse = hi",
            Act::Page {
                to: to(),
                words: words("hi"),
            },
        ),
        (
            "public hi",
            Act::Channel {
                channel: public(),
                words: words("hi"),
            },
        ),
        (
            "channel public = hi",
            Act::Channel {
                channel: public(),
                words: words("hi"),
            },
        ),
    ] {
        assert_eq!(parsed(line), Input::Act(act), "{line}");
    }
    let (way, speech) = ("on".to_owned(), words("go on"));
    assert_eq!(parsed("go on"), Input::Go { way, speech });
    let (thing, speech) = ("the kettle".to_owned(), words("look at the kettle"));
    assert_eq!(
        parsed("look at the kettle"),
        Input::LookAt { thing, speech }
    );
}

#[test]
fn any_text_after_to_is_speech_to_the_assistant() {
    for line in ["look", "/quit", "say hi", "@alice", "to: you", "go up"] {
        assert_eq!(parsed(&format!("to: {line}")), said_to_it(line));
    }
}

fn program(arguments: &[&str]) -> Command {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned());
    Command::Program(arguments.collect())
}

#[test]
fn a_slash_starts_a_program_command_or_an_error_that_lists_them() {
    for (line, command) in [
        ("/help", Command::Help),
        ("/status", Command::Status),
        ("/memories", Command::Memories),
        ("/log", Command::Log(10)),
        ("/log 3", Command::Log(3)),
        ("/stop", Command::Stop(String::new())),
        ("/stop it burns", Command::Stop("it burns".to_owned())),
        ("/clear", Command::Clear),
        ("/sleep", program(&["sleep"])),
        ("/sleep so late", program(&["sleep", "--reason", "so late"])),
        (
            "/sleep --reason late",
            program(&["sleep", "--reason", "late"]),
        ),
        ("/wake", program(&["wake"])),
        ("/night --list", program(&["night", "--list"])),
        ("/journal", program(&["journal", "list"])),
        (
            "/journal search \"in the harbour\" --limit 2",
            program(&["journal", "search", "in the harbour", "--limit", "2"]),
        ),
        (
            "/audit events --from 5",
            program(&["audit", "events", "--from", "5"]),
        ),
        ("/interact show", program(&["interact", "show"])),
        ("/quit ", Command::Quit),
    ] {
        assert_eq!(parsed(line), Input::Command(command));
        assert!(
            HELP.contains(line.trim().split(' ').next().unwrap()),
            "{line}"
        );
    }
    let error = parse("/exit", "Dormouse").unwrap_err().to_string();
    assert!(
        error.contains("\"/exit\"") && error.contains("/quit"),
        "{error}"
    );
    assert_eq!(parse("/log many", "Dormouse"), Err(InputError::LogCount));
    assert_eq!(parse("/log 0", "Dormouse"), Err(InputError::LogCount));
}

#[test]
fn empty_and_oversized_texts_are_refused() {
    assert_eq!(parse(" \t", "Dormouse"), Err(InputError::Blank));
    assert_eq!(
        parse("to:", "Dormouse"),
        Err(InputError::Words(WordsError::Empty))
    );
    let long = "x".repeat(Words::LIMIT + 1);
    assert!(matches!(
        parse(&long, "Dormouse"),
        Err(InputError::Words(WordsError::TooLong { .. }))
    ));
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_fail_other_than_by_an_error(line in any::<String>()) {
        drop(parse(&line, "Dormouse"));
    }

    #[test]
    fn a_line_without_a_form_is_kept_word_for_word(line in "[A-Z][a-zé ,.!?]{0,40}[.!?]") {
        prop_assert_eq!(parsed(&line), said_to_it(&line));
    }
}
