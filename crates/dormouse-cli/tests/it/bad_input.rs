//! Invalid input, and how it is refused.

use crate::program::{Home, Run};

fn rejections(run: &Run) -> Vec<(u64, String)> {
    run.of_type("rejected")
        .iter()
        .map(|item| {
            (
                item["line"].as_u64().unwrap(),
                item["reason"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

#[test]
fn an_empty_line_is_refused_and_the_next_one_is_done() {
    let home = Home::new();
    let run = home.play("\n   \nsay still here\n");
    assert_eq!(run.code, Some(0));
    assert_eq!(
        rejections(&run),
        [
            (1, "the line is empty".to_owned()),
            (2, "the line is empty".to_owned())
        ]
    );
    assert_eq!(run.heard().last().unwrap().0, "still here");
}

#[test]
fn a_line_of_ten_megabytes_is_refused_with_its_length_and_the_next_one_is_done() {
    let home = Home::new();
    let mut input = vec![b'x'; 10 << 20];
    input.extend_from_slice(b"\nsay still here\n");
    let run = home.play(input);
    assert_eq!(run.code, Some(0));
    let rejected = rejections(&run);
    assert_eq!(rejected.len(), 1);
    assert!(
        rejected[0].1.contains("10485760 bytes") && rejected[0].1.contains("65536"),
        "{rejected:?}"
    );
    assert_eq!(run.heard().last().unwrap().0, "still here");
}

#[test]
fn a_message_one_byte_too_long_is_refused_and_one_that_fits_is_kept_whole() {
    let home = Home::new();
    let (fits, too_long) = ("x".repeat(64 << 10), "x".repeat((64 << 10) + 1));
    let run = home.play(format!("say {too_long}\nsay {fits}\n"));
    assert_eq!(rejections(&run).len(), 1);
    assert_eq!(run.heard().last().unwrap().0, fits);
}

#[test]
fn invalid_utf8_is_refused_with_its_position_and_has_no_effect() {
    let home = Home::new();
    let run = home.play(&b"say caf\xe9\nsay still here\n"[..]);
    assert_eq!(
        rejections(&run),
        [(1, "the line is not UTF-8: byte 8 does not fit".to_owned())]
    );
    let heard: Vec<_> = run.heard().into_iter().map(|(text, _, _)| text).collect();
    assert_eq!(heard, ["arrives.", "still here"]);
}

#[test]
fn terminal_escapes_in_a_message_reach_the_assistant_and_no_terminal() {
    let home = Home::new();
    let hostile = "say \u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}evil\n";
    let run = home.run(&["play"], hostile);
    assert!(
        run.out.chars().all(|c| c == '\n' || !c.is_control()),
        "{:?}",
        run.out
    );
    assert!(
        run.out.contains("\\u{1b}[2J") && run.out.contains("\\u{202e}evil"),
        "{}",
        run.out
    );

    let run = home.play(hostile);
    assert!(
        run.out
            .chars()
            .all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')),
        "{:?}",
        run.out
    );
    assert!(
        run.heard().last().unwrap().0.starts_with("\u{1b}[2J"),
        "it is kept as it came"
    );
    let shown = home.run(&["log", "show"], "");
    assert!(
        shown.out.chars().all(|c| c == '\n' || !c.is_control()),
        "{:?}",
        shown.out
    );
}

#[test]
fn an_unknown_command_names_the_known_ones() {
    let home = Home::new();
    let run = home.play("/exit\n");
    let reason = &rejections(&run)[0].1;
    assert!(
        reason.contains("\"/exit\"") && reason.contains("/quit"),
        "{reason}"
    );
    // The next lines are carried out, and the exit code says that one was not.
    assert_eq!(home.play("/exit\nsay still here\n").code, Some(2));
    assert_eq!(run.code, Some(2));
}

#[test]
fn an_act_that_the_world_refuses_is_printed_with_the_reason() {
    let home = Home::new();
    let run =
        home.play("whisper Nobody = hi\nchannel moon = hi\ngo up\nhello?\ngo west\nnorth\ngo\n");
    let reasons = rejections(&run);
    assert!(
        reasons[0].1.contains("nobody here is called \"Nobody\""),
        "{reasons:?}"
    );
    assert!(reasons[1].1.contains("there is no channel"), "{reasons:?}");
    let absent = "Dormouse is not here (nobody is). `page Dormouse = TEXT` reaches it anywhere";
    assert_eq!(reasons[2], (4, absent.to_owned()));
    assert_eq!(reasons[3].1, "there is no way \"west\"; exits: down");
    assert_eq!(reasons[4].1, "there is no way \"north\"; exits: down");
    assert_eq!(reasons[5].1, "write go WAY, with one of these exits: down");
    assert_eq!(reasons.len(), 6);
}

#[test]
fn a_whisper_with_a_slip_in_it_is_never_spoken_aloud() {
    let home = Home::new();
    let run =
        home.play("whisper quince the key is under the mat\nwhisper\npage x\nsay\npose\nchannel\n");
    assert_eq!((run.code, rejections(&run).len()), (Some(2), 6));
    assert!(rejections(&run)[0].1.contains("whisper NAME = TEXT"));
    assert!(!run.out.contains("the mat"), "{}", run.out);
}

#[test]
fn unknown_flags_and_names_are_refused_before_anything_is_made() {
    let home = Home::new();
    for args in [
        &["play", "--jsn"][..],
        &["play", "--provider", "acme"],
        &["play", "--tool-calling", "both"],
        &["plays"],
        &["log", "show", "--from", "x"],
        &["log", "show", "--from", "0"],
        &["play", "extra"],
    ] {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.err);
        assert!(run.err.contains("error:"), "{}", run.err);
    }
    assert!(home.path().read_dir().unwrap().next().is_none());
}

#[test]
fn a_taken_or_invalid_name_is_refused() {
    let home = Home::new();
    let long = "x".repeat(65);
    for name in ["Dormouse", "orla", "", " Bob", "Bo\u{1b}b", &long] {
        let run = home.run(&["play", "--as", name], "hi\n");
        assert_eq!(run.code, Some(2), "{name:?}: {}", run.err);
        assert!(
            run.err.chars().all(|c| c == '\n' || !c.is_control()),
            "{:?}",
            run.err
        );
    }
}
