//! `dormouse sleep`, `wake` and `night`.

use serde_json::json;

use crate::program::{Home, Run};

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

#[test]
fn an_operator_lets_it_sleep_has_a_night_and_reads_the_diary() {
    let home = Home::new();
    let run = |args: &[&str]| home.run(args, "");
    let play = ["play", "--as", "Alice", "--provider", "offline"];
    ok(home.run(&play, "to: my horse is called Biscuit\n"));
    let said = "/sleep so late\n/night\n/wake\n/wake\n/journal add \"the kettle boils\" --importance 8\n/journal\n\
                /journal search kettle\n/journal show 7\n/journal serch\n/quit\n";
    let visit = ok(home.run(&play, said));
    for text in [
        "sleeps until",
        "by Alice: so late",
        "is awake",
        "dormouse is awake already",
        "entry 1 is written, importance 8",
        "the journal has no entry 7",
        "unrecognized subcommand 'serch'",
    ] {
        assert!(visit.out.contains(text), "{text}: {}", visit.out);
    }
    // A player reads what the commands of the program print.
    for args in [&["journal", "list"][..], &["journal", "search", "kettle"]] {
        let printed = ok(run(args)).out;
        assert!(printed.contains("the kettle boils"), "{printed}");
        assert!(
            visit.out.contains(printed.trim_end()),
            "{printed}: {}",
            visit.out
        );
    }
    let asleep = ok(run(&["sleep", "--reason", "it is late"]));
    assert!(asleep.out.contains("sleeps until"), "{}", asleep.out);
    let again = ok(run(&["sleep"])).out;
    let data = format!("--data {}", home.path().display());
    assert!(again.contains("in sleep mode already"), "{again}");
    let wake = format!("`dormouse wake {data}` wakes it");
    assert!(again.contains(&wake), "{again}");
    let doctor = run(&["doctor"]);
    assert!(format!("{}{}", doctor.out, doctor.err).contains("is asleep (compacting)"));
    ok(run(&["wake", "--by", "Carol"]));
    assert!(ok(run(&["wake"])).out.contains("awake already"));
    let past = run(&["sleep", "--until", "2020-01-01T00:00:00Z"]);
    assert_eq!(past.code, Some(2), "{}", past.err);

    let night = ok(run(&["night", "--now", "--provider", "offline", "--json"]));
    let night = night.of_type("night").pop().unwrap();
    assert_eq!(night["night"], 3);
    let nights = ok(run(&["night", "--list", "--json"])).of_type("night");
    let made = nights
        .iter()
        .map(|it| it["came_of_it"]["consolidated"].as_u64().unwrap());
    // The first night may have begun this work before it was interrupted.
    assert_eq!(made.sum::<u64>(), 1, "{nights:?}");
    let ends: Vec<_> = night["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["end"])
        .collect();
    assert_eq!(ends, [&json!("done"); 8]);
    let diary = ok(run(&["night"])).out;
    for text in ["night 3, asleep at", "model call", "all work was done"] {
        assert!(diary.contains(text), "{text}: {diary}");
    }
    assert_eq!(ok(run(&["night", "--list"])).out.lines().count(), 3);
    // The diary is not in the memory.
    let found = ok(run(&["memory", "list", "--json"])).out;
    assert!(!found.contains("it is late"), "{found}");
    ok(run(&["log", "replay", "--decide"]));
}
