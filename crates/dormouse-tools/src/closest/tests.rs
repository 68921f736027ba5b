use proptest::prelude::*;

use dormouse_contracts::ToolName;

use super::*;

fn names(names: &[&str]) -> Vec<ToolName> {
    names
        .iter()
        .map(|name| ToolName::try_new(*name).unwrap())
        .collect()
}

fn found(name: &str, among: &[&str]) -> Vec<String> {
    let among = names(among);
    closest(name, among.iter().map(ToolName::as_str))
        .into_iter()
        .map(str::to_owned)
        .collect()
}

const TOOLS: [&str; 7] = [
    "say",
    "whisper",
    "page",
    "pose",
    "inspect_location",
    "move",
    "noop",
];

#[test]
fn a_typing_error_suggests_the_intended_name() {
    for (slip, meant) in [
        ("whispr", "whisper"),
        ("Say", "say"),
        ("inspectLocation", "inspect_location"),
        ("functions.whisper", "whisper"),
        ("inspect-locaton", "inspect_location"),
        ("no-op", "noop"),
    ] {
        assert_eq!(found(slip, &TOOLS).first().unwrap(), meant, "{slip}");
    }
}

#[test]
fn a_name_like_no_other_suggests_nothing() {
    for name in [
        "",
        "launch_rockets",
        "💥",
        "___",
        &"say".repeat(1 << 20),
        "\0\0\0\0\0\0",
        "e",
    ] {
        assert_eq!(found(name, &TOOLS), Vec::<String>::new());
    }
}

#[test]
fn the_closest_come_first_and_at_most_three() {
    let among = ["looks", "look_1", "LOOK", "lock", "look"];
    assert_eq!(found("look", &among), ["LOOK", "look", "looks"]);
}

proptest! {
    #[test]
    fn the_edit_distance_is_zero_for_equals_symmetric_and_bounded(
        a in "[abc]{0,8}",
        b in "[abc]{0,8}",
    ) {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        prop_assert_eq!(edits(&a, &a), 0);
        prop_assert_eq!(edits(&a, &b), edits(&b, &a));
        prop_assert!(edits(&a, &b) <= a.len().max(b.len()));
        prop_assert!(edits(&a, &b) >= a.len().abs_diff(b.len()));
        prop_assert_eq!(edits(&a, &b) == 0, a == b);
    }

    #[test]
    fn one_inserted_letter_is_one_edit(text in "[abc]{0,8}", at in 0_usize..9) {
        let before: Vec<char> = text.chars().collect();
        let mut after = before.clone();
        after.insert(at.min(before.len()), 'x');
        prop_assert_eq!(edits(&before, &after), 1);
    }
}
