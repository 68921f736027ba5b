//! Visits where several assistants live.

use crate::program::{Home, Run};

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

/// A home with Dormouse, and a rat that has never woken.
fn with_a_rat() -> Home {
    let home = Home::new();
    ok(home.play("hello\n"));
    ok(home.run(&["assistant", "create", "rat", "--name", "Ratty"], ""));
    home
}

fn text(home: &Home, args: &[&str], input: &str) -> Run {
    let play = ["play", "--as", "Alice", "--provider", "offline"];
    home.run(&[&play, args].concat(), input)
}

#[test]
fn a_visit_ends_after_the_answers_of_all_whom_it_speaks_to() {
    let home = with_a_rat();
    for (line, answer) in [
        ("whisper Ratty = hello", "Ratty whispers to you:"),
        ("page rat = hello", "Ratty pages you:"),
        ("@rat hello", "Ratty says, "),
    ] {
        let visit = ok(text(&home, &[], line)).out;
        assert!(visit.contains(answer), "{line}: {visit}");
    }
    let json = ok(home.play("whisper Ratty = hello\n")).of_type("world");
    let answers = json
        .iter()
        .filter(|it| it["by"] == "Ratty" && it["kind"] == "whisper");
    assert_eq!(answers.count(), 1, "{json:?}");
}

#[test]
fn a_visit_ends_after_what_came_of_a_task() {
    let home = with_a_rat();
    home.write("dormouse.toml", "[execution]\nsub_agents_enabled = true\n");
    let told = "page Ratty = remember that the key is under the mat";
    ok(text(&home, &[], told));
    // Everybody in the room hears the question, and the visit does not take it for the answer.
    let asked = ok(text(&home, &[], "ask Ratty where the key is\n")).out;
    assert!(
        asked.contains("rat says about what you wanted to know"),
        "{asked}"
    );
    let answer = asked.lines().last().unwrap();
    assert!(!answer.contains("where the key is"), "{answer}");
    let tasks = ok(home.run(&["delegation", "list"], "")).out;
    assert_eq!(tasks, "no open task; `--all` lists 1 ended one too\n");
}

#[test]
fn a_visitor_chooses_whom_lines_are_for() {
    let home = with_a_rat();
    let visit = ok(text(
        &home,
        &[],
        "hello\n/to ratty\nhello\n/to dormouse\nhello\n",
    ))
    .out;
    let said: Vec<_> = visit.lines().filter(|it| it.starts_with('▸')).collect();
    let to = |name: &str| format!("▸ You say to {name}: hello");
    assert_eq!(said, [to("Dormouse"), to("Ratty"), to("Dormouse")]);
    let to_rat = ok(text(&home, &["--assistant", "rat"], "hello\n")).out;
    assert!(
        to_rat.contains(&to("Ratty")) && to_rat.contains("Ratty says, "),
        "{to_rat}"
    );
    for (args, input, why) in [
        (
            &["--assistant", "toad"][..],
            "hello\n",
            "there is no assistant toad",
        ),
        (
            &[],
            "/to toad\n",
            "no assistant of this folder is called \"toad\"; there is Dormouse and Ratty",
        ),
        (&[], "/to\n", "expected `/to NAME`"),
    ] {
        let run = text(&home, args, input);
        assert_eq!(run.code, Some(2), "{}{}", run.out, run.err);
        assert!(
            format!("{}{}", run.out, run.err).contains(why),
            "{}{}",
            run.out,
            run.err
        );
    }
    let known = ok(home.run(&["assistant", "list"], "")).out;
    assert!(!known.contains("toad"), "{known}");
}
