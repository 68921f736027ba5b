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
        "look what I found",
        "Look",
        "whisper it to me",
        "page 3 is missing",
        "channel your anger",
        "say",
        "pose",
        "go",
        "go to the garden now",
        "whisper Bob=hi",
        ":)",
        "@ noon",
        "public",
    ] {
        assert_eq!(parsed(line), said_to_it(line), "{line}");
    }
}

#[test]
fn every_form_of_act_is_read() {
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
    let (way, speech) = ("up".to_owned(), words("go up"));
    assert_eq!(parsed("go up"), Input::Go { way, speech });
}

#[test]
fn anything_can_be_said_to_the_assistant_behind_to() {
    for line in ["look", "/quit", "say hi", "@alice", "to: you", "go up"] {
        assert_eq!(parsed(&format!("to: {line}")), said_to_it(line));
    }
}

#[test]
fn a_slash_begins_a_command_of_the_program_or_an_error_that_names_them() {
    for (line, command) in [
        ("/help", Command::Help),
        ("/status", Command::Status),
        ("/memories", Command::Memories),
        ("/log", Command::Log(10)),
        ("/log 3", Command::Log(3)),
        ("/clear", Command::Clear),
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
        parse("whisper Dormouse =  ", "Dormouse"),
        Ok(said_to_it("whisper Dormouse ="))
    );
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
