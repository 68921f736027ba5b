//! Budgets and approvals at the command line.

use crate::program::Home;

#[test]
fn a_budget_is_kept_shown_and_waited_for() {
    let home = Home::new();
    home.write("dormouse.toml", "[budgets]\ntokens_per_day = 100000\n");
    let run = home.play("hello\n/status\n");
    assert_eq!((run.code, run.answers().len()), (Some(0), 1), "{}", run.out);
    let shown = home.run(&["budget"], "");
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(
        shown.out.contains("of 100000 tokens left in a day"),
        "{}",
        shown.out
    );
    let json = home.run(&["budget", "--json"], "").items();
    assert_eq!(
        (&json[0]["span"], &json[0]["kind"]),
        (&"day".into(), &"tokens".into())
    );
    let (spent, left) = (json[0]["spent"].as_f64(), json[0]["left"].as_f64());
    assert!(spent > Some(0.0) && left.unwrap() + spent.unwrap() == 100_000.0);

    home.write("dormouse.toml", "[budgets]\ntokens_per_hour = 10\n");
    let run = home.play("are you there?\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.end(), ("over_budget".to_owned(), 1));
    assert!(
        run.out.contains("I have thought enough for now."),
        "{}",
        run.out
    );
    home.write("dormouse.toml", "");
    let run = home.play("");
    assert_eq!((run.code, run.end().1), (Some(0), 0), "{}", run.out);
    let none = home.run(&["budget"], "");
    assert!(none.err.contains("has no budget"), "{}", none.err);
}

#[test]
fn only_what_waits_can_be_confirmed() {
    let home = Home::new();
    home.play("hello\n");
    let list = home.run(&["approvals"], "");
    assert_eq!((list.code, list.out.as_str()), (Some(0), ""));
    assert!(list.err.contains("waits to be confirmed"), "{}", list.err);
    for command in ["approve", "deny"] {
        let run = home.run(&[command, "3", "--by", "Carol"], "");
        assert_eq!(run.code, Some(2), "{}", run.out);
        assert!(
            run.err.contains("no act 3 waits to be confirmed"),
            "{}",
            run.err
        );
    }
    let run = home.play("/approvals\n/approve x\n/approve 3 why not\n");
    for said in [
        "no act of dormouse waits to be confirmed",
        "no act 3 waits",
        "take the number of an act",
    ] {
        assert!(run.out.contains(said), "{}", run.out);
    }
}
