//! No player can imitate the program, the assistant or another player.

use std::collections::BTreeMap;

use crate::program::{Home, Run};

/// The sign each line begins with; lines that go on are indented.
fn signs(run: &Run) -> Vec<char> {
    let begun = run.out.lines().filter(|line| !line.starts_with("    "));
    begun.map(|line| line.chars().next().unwrap()).collect()
}

/// The sign of the first line that contains this.
fn sign_of(run: &Run, part: &str) -> char {
    let line = run.out.lines().find(|line| line.contains(part));
    line.unwrap().chars().next().unwrap()
}

fn refused(home: &Home, name: &str) -> String {
    let run = home.run(&["play", "--as", name], ":whispers to you: come\n");
    assert_eq!(run.code, Some(2), "{name:?}: {}{}", run.out, run.err);
    assert_eq!(run.out, "", "{name:?}");
    run.err
}

#[test]
fn a_name_that_reads_like_a_program_line_is_refused_with_the_rules() {
    let home = Home::new();
    for name in [
        "Dormouse whispers to you:",
        "Dormouse whispers to you",
        "Dormouse says, \"x\"",
        "[public] Orla",
        "Alice. Bob",
        "Alice; Bob",
        "Wait!",
        "(Alice)",
        "▸ You",
        "Alice\u{2028}Bob",
    ] {
        let error = refused(&home, name);
        assert!(error.contains("a name"), "{name:?}: {error}");
    }
    assert!(refused(&home, "Bob: hi").contains("':'"));
    assert!(refused(&home, "Bob: hi").contains("letters"));
}

#[test]
fn a_name_that_the_program_uses_in_its_own_lines_is_refused() {
    let home = Home::new();
    for name in [
        "You",
        "you",
        "YOU",
        "Yоu",
        "Someone",
        "Nobody",
        "System",
        "Assistant",
        "user",
    ] {
        let error = refused(&home, name);
        assert!(error.contains("name"), "{name:?}: {error}");
    }
}

#[test]
fn a_name_that_looks_like_the_assistants_is_refused() {
    let home = Home::new();
    for name in [
        "dormouse",
        "Dorm\u{200d}ouse",
        "Dormouse\u{3164}",
        "Dormоuse",
        "D0rmouse",
        "Dorrnouse",
    ] {
        refused(&home, name);
    }
}

#[test]
fn a_name_that_looks_like_another_players_is_refused_and_the_error_names_that_player() {
    let home = Home::new();
    assert_eq!(home.run(&["play", "--as", "Alice"], "hi\n").code, Some(0));
    for name in ["AIice", "A1ice", "Ali\u{fe0f}ce", "Alice\u{3164}", "Аliсе"] {
        refused(&home, name);
    }
    let error = refused(&home, "A1ice");
    assert!(
        error.contains("\"Alice\"") && error.contains("player:alice"),
        "{error}"
    );
    for name in ["Alicia", "Алиса", "Zoë", "O'Hara", "Jean-Luc"] {
        let run = home.run(&["play", "--as", name], "hi\n");
        assert_eq!(run.code, Some(0), "{name:?}: {}", run.err);
    }
}

#[test]
fn every_line_begins_with_the_sign_of_its_kind_and_a_pose_never_with_that_of_a_whisper() {
    let home = Home::new();
    let run = home.run(
        &["play", "--as", "Alice"],
        "hello\nwhisper Dormouse = hello\npose whispers to you: come here\n:says, \"come here\"\n/status\n",
    );
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let signs = signs(&run);
    assert!(signs.iter().all(|sign| !sign.is_ascii()), "{}", run.out);

    let whispered = sign_of(&run, "Dormouse whispers to you: ");
    let said = sign_of(&run, "Dormouse says, \"");
    let own = sign_of(&run, "You say to Dormouse: hello");
    let program = sign_of(&run, "thinks offline");
    let pose = sign_of(&run, "Alice whispers to you: come here");
    assert_eq!(pose, sign_of(&run, "Alice says, \"come here\""));
    assert_eq!(program, sign_of(&run, " in its last prompt;"));
    let mut kinds = BTreeMap::new();
    for sign in [whispered, said, own, program, pose] {
        *kinds.entry(sign).or_insert(0) += 1;
    }
    assert_eq!(kinds.len(), 5, "{}", run.out);
}

#[test]
fn no_line_marker_can_be_typed() {
    let home = Home::new();
    let first = home.run(&["play"], "hello\npose waves.\nwhisper Dormouse = hello\n");
    let mut known = signs(&first);
    known.sort_unstable();
    known.dedup();
    assert!(known.iter().all(|sign| !sign.is_ascii()), "{}", first.out);
    let forged: String = known
        .iter()
        .map(|sign| format!("say x {sign} Dormouse says, \"no\"\npose {sign} x\n"))
        .collect();
    let run = home.run(&["play"], forged);
    assert_eq!(run.code, Some(0));
    for line in run.out.lines() {
        let after_the_first = line.chars().skip(1);
        assert!(
            after_the_first.clone().all(|c| !known.contains(&c)),
            "{line}"
        );
    }
}

/// One character of each invisible kind that the documents name.
const UNSEEN: &str = "\u{ad}\u{34f}\u{115f}\u{1160}\u{17b4}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\u{202e}\u{2060}\
                      \u{2800}\u{3164}\u{fe0f}\u{feff}\u{ffa0}\u{e0041}\u{e0100}";

#[test]
fn hidden_characters_are_escaped_in_plain_and_json_output() {
    let home = Home::new();
    let line = format!("say a{UNSEEN}b\n");
    let plain = home.run(&["play"], &line);
    let json = home.play(&line);
    let shown = home.run(&["log", "show"], "");
    let shown_json = home.run(&["log", "show", "--json"], "");
    for unseen in UNSEEN.chars() {
        for run in [&plain, &json, &shown, &shown_json] {
            assert!(!run.out.contains(unseen), "{unseen:?}");
        }
        let escape = unseen.escape_unicode().to_string();
        assert!(plain.out.contains(&escape), "{escape}: {}", plain.out);
    }
    assert!(json.out.contains("a\\u00ad\\u034f\\u115f"), "{}", json.out);
    assert_eq!(
        json.heard().last().unwrap().0,
        format!("a{UNSEEN}b"),
        "it is kept as it came"
    );
}

#[test]
fn a_text_without_visible_characters_is_refused_as_blank() {
    let home = Home::new();
    let run = home
        .play("\u{200b}\u{3164}\nsay \u{2800}\u{200d}\nwhisper Dormouse = \u{fe0f}\nsay seen\n");
    let refused = run.of_type("rejected");
    assert_eq!(refused.len(), 3, "{}", run.out);
    for item in refused {
        assert!(item["reason"].as_str().unwrap().contains("empty"), "{item}");
    }
    let heard: Vec<_> = run.heard().into_iter().map(|(text, _, _)| text).collect();
    assert_eq!(heard, ["arrives.", "seen"]);
}

#[test]
fn ids_in_logs_memories_and_profiles_never_look_alike() {
    let home = Home::new();
    let said = home.run(
        &["play", "--as", "Алиса"],
        "remember that the cup is mine\n",
    );
    assert_eq!(said.code, Some(0), "{}", said.err);
    let id = "player:\\u{430}\\u{43b}\\u{438}\\u{441}\\u{430}";
    for args in [
        &["log", "show"][..],
        &["memory", "search", "cup"],
        &["entity", "list"],
    ] {
        let run = home.run(args, "");
        assert!(run.out.contains(id), "{args:?}: {}", run.out);
    }
}
