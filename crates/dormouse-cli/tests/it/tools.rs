//! `dormouse tools`: what assistants can do.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{control::Running, program::Home};

#[test]
fn tools_are_listed_by_category_with_counts_and_sources() {
    let home = Home::new();
    let run = home.run(&["tools", "list", "--json"], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let tools = run.of_type("tool");
    let counts: Vec<Value> = run.of_type("tools");
    let names: Vec<_> = counts.iter().map(|line| line["category"].clone()).collect();
    assert_eq!(
        names,
        ["safe_chain", "async_required", "terminal", "dangerous"]
    );
    let counted = |category: &Value| {
        let here = tools.iter().filter(|tool| tool["category"] == *category);
        here.count() as u64
    };
    for line in &counts {
        assert_eq!(line["tools"], json!(counted(&line["category"])), "{line}");
    }
    let source = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name);
        tool.unwrap_or_else(|| panic!("{name} is listed"))["source"].clone()
    };
    assert_eq!(source("say"), "world");
    assert_eq!(source("store_memory"), "engine");
    let bell = tools
        .iter()
        .find(|tool| tool["name"] == "ring_bell")
        .unwrap();
    assert_eq!(bell["category"], "dangerous");

    // A program that runs prints what it offers.
    let running = Running::start(&home);
    let there = home.run(&["tools", "list", "--json"], "");
    assert_eq!(there.of_type("tool"), tools);
    running.end(Signal::SIGTERM);

    let run = home.run(&["tools", "list"], "");
    assert!(
        run.out
            .contains("TERMINAL: 7 tools (ends the turn: the others answer now)"),
        "{}",
        run.out
    );
    assert!(run.out.contains("noop (engine): Do nothing"), "{}", run.out);
}

#[test]
fn a_tool_is_shown_with_all_that_a_model_and_the_engine_know_of_it() {
    let home = Home::new();
    let run = home.run(&["tools", "show", "page"], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    for expected in [
        "page (world)",
        "TERMINAL: ends the turn",
        "changes the world; done at most once; may take 30s",
        "trust needed: none",
        "says what is in \"message\", to \"to\" (page)",
        "\"required\":[\"to\",\"message\"]",
    ] {
        assert!(run.out.contains(expected), "{expected}: {}", run.out);
    }
    let run = home.run(&["tools", "show", "page", "--json"], "");
    let shown = run.of_type("tool").remove(0);
    assert_eq!(shown["trust"], Value::Null);
    assert_eq!(shown["speech"]["kind"], "page");
}

#[test]
fn a_tool_that_there_is_not_is_refused_with_the_closest_ones() {
    let run = Home::new().run(&["tools", "show", "store_memry"], "");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(
        run.err
            .contains("there is no tool \"store_memry\"; did you mean store_memory?"),
        "{}",
        run.err
    );
}
