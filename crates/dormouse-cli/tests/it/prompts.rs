//! `dormouse exec show` and `dormouse prompt`.

use serde_json::{Value, json};

use crate::program::{Home, Run};

fn ok(run: Run) -> Run {
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

#[test]
fn exec_show_prints_what_each_layer_leaves() {
    let home = Home::new();
    let contexts = "[execution.contexts.tick_event]\nmax_iterations = 3\ntools = [\"memory\"]\n";
    let text = format!("[limits]\nmax_iterations_per_tick = 4\n{contexts}");
    let file = home.write("dormouse.toml", &text);
    let run = ok(home.run(&["exec", "show", "--json"], ""));
    let fields = run.of_type("setting");
    assert_eq!(fields.len(), 10, "the documented fields");
    let field = |name: &str| {
        let found = fields.iter().find(|line| line["aliases"] == json!([name]));
        found.unwrap_or_else(|| panic!("{name} is printed"))
    };
    assert_eq!(field("trusted_api")["value"], false);
    assert_eq!(
        field("max_iterations_per_tick")["from"],
        json!({"file": {"file": file.display().to_string(), "line": 2}})
    );
    let patterns = run.of_type("pattern");
    assert_eq!(patterns.len(), 7);
    let pattern = |context: &str| {
        let found = patterns.iter().find(|line| line["context"] == context);
        found.unwrap_or_else(|| panic!("{context} is printed"))
    };
    let event = pattern("tick_event");
    assert_eq!(
        (&event["max_iterations"], &event["from"]["max_iterations"]),
        (&json!(3), &json!("context"))
    );
    assert_eq!(event["from"]["tools"], "context");
    let alone = pattern("tick_autonomous");
    assert_eq!(
        (&alone["max_iterations"], &alone["from"]["max_iterations"]),
        (&json!(4), &json!("static"))
    );
    assert_eq!(pattern("goal_decompose")["max_iterations"], 1);

    let one = ok(home.run(&["exec", "show", "--context", "pre_compaction"], ""));
    assert!(
        one.out
            .contains("pre_compaction: when earlier turns are about to be left out of the prompt")
    );
    assert!(
        one.out.contains("max_iterations = 4  # as allowed"),
        "{}",
        one.out
    );
    let wrong = home.run(&["exec", "show", "--context", "dream"], "");
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.err.contains("expected tick_event, tick_autonomous"),
        "{}",
        wrong.err
    );
}

#[test]
fn exec_log_and_metrics_show_what_tools_did() {
    let home = Home::new();
    home.play("hello\nremember that I live in Berlin\n");
    let log = ok(home.run(&["exec", "log", "--json"], "")).of_type("execution");
    let of = |tool: &str| {
        let calls = log.iter().filter(|line| line["tool"] == tool);
        calls.collect::<Vec<_>>()
    };
    assert!(!of("store_memory").is_empty(), "{log:?}");
    for call in &log {
        assert_eq!(call["success"], true, "{call}");
        assert!(call["duration_ms"].as_f64() >= Some(0.0), "{call}");
    }
    let metrics = ok(home.run(&["exec", "metrics", "--json"], ""));
    let tools = metrics.of_type("tool_metrics");
    let counted = tools.iter().find(|line| line["name"] == "store_memory");
    assert_eq!(counted.unwrap()["calls"], of("store_memory").len());
    let replies = metrics.of_type("model_metrics").remove(0)["replies"].as_u64();
    assert!(replies >= Some(2), "{}", metrics.out);
    assert_eq!(metrics.of_type("task_metrics")[0]["closed"], 2);

    let newest = ok(home.run(&["exec", "log", "--last", "1"], ""));
    assert_eq!(newest.out.lines().count(), 1, "{}", newest.out);
    let failed = ok(home.run(&["exec", "log", "--failed"], ""));
    assert!(
        failed.err.contains("has made no such call"),
        "{}",
        failed.err
    );
}

#[test]
fn a_field_of_the_execution_configuration_is_changed_by_its_documented_name() {
    let home = Home::new();
    home.play("hello\n");
    let set = |name: &str, value: &str| home.run(&["config", "set", name, value], "");
    ok(set("task_assessment_enabled", "true"));
    let wrong = set("execution.sub_agent_budget", "101");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("0 to 100"), "{}", wrong.err);
    assert_eq!(set("execution.mode", "plan_execute").code, Some(2));
    home.play("where is the kettle?\n");
    let log = ok(home.run(&["log", "show"], ""));
    assert!(
        log.out.contains("complexity 3, 2 steps at most, by rules"),
        "{}",
        log.out
    );
    ok(home.run(&["log", "replay", "--decide"], ""));
}

fn replied(home: &Home) -> Value {
    let events = ok(home.run(&["log", "show", "--json"], "")).of_type("event");
    let mut replied = events
        .into_iter()
        .filter(|event| event["kind"] == "replied");
    replied.next_back().unwrap()
}

#[test]
fn prompt_shows_each_part_and_what_is_left_out() {
    let home = Home::new();
    let early = home.run(&["prompt"], "");
    assert_ne!(early.code, Some(0), "there is no log yet");
    let rules = "[prompt.components.house_rules]\nid = 1200\ntext = \"{name} is polite.\"\n";
    home.write("dormouse.toml", rules);
    home.play("hello\n");
    let replied = replied(&home);
    let seq = replied["seq"].to_string();
    let run = ok(home.run(&["prompt", "--at", &seq, "--json"], ""));
    let prompt = run.of_type("prompt").remove(0);
    assert_eq!(prompt["hash"], replied["data"]["prompt_hash"]);
    assert_eq!(prompt["of"], "call");
    let parts = prompt["parts"].as_array().unwrap();
    let text = |key: &str| {
        let part = parts.iter().find(|part| part["key"] == key);
        part.map(|part| part["text"].as_str().unwrap().to_owned())
    };
    assert_eq!(text("house_rules").as_deref(), Some("Dormouse is polite."));
    assert!(text("pending_event").unwrap().contains("> hello"));
    let shown = ok(home.run(&["prompt", "--at", &seq], ""));
    assert!(shown.out.contains("1200 house_rules: "), "{}", shown.out);
    assert!(
        shown
            .out
            .contains("not shown: goals: there is nothing in it"),
        "{}",
        shown.out
    );
    let late = home.run(&["prompt", "--at", "99999"], "");
    assert_eq!(late.code, Some(2));
    assert!(late.err.contains("there is no event 99999"), "{}", late.err);
}

#[test]
fn templates_are_created_cloned_and_applied() {
    let home = Home::new();
    home.play("hello\n");
    let template = |args: &[&str]| home.run(&[&["prompt", "template"], args].concat(), "");
    ok(template(&[
        "create",
        "gruff",
        "You are {name}, a gruff ferryman.",
    ]));
    ok(template(&["clone", "gruff", "kind"]));
    ok(template(&["clone", "default", "old"]));
    let taken = template(&["create", "gruff", "x"]);
    assert_eq!(taken.code, Some(2), "{}", taken.out);
    let unknown = template(&["create", "bad", "Hello {speaker}"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.err.contains("unknown placeholder {speaker}"),
        "{}",
        unknown.err
    );
    let missing = template(&["apply", "nobody"]);
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.err.contains("prompt.template is \"nobody\""),
        "{}",
        missing.err
    );
    ok(template(&["apply", "kind"]));
    let listed = ok(template(&["list"]));
    assert!(
        listed
            .out
            .contains("kind (applied): You are {name}, a gruff ferryman."),
        "{}",
        listed.out
    );
    home.play("hello again\n");
    let shown = ok(home.run(&["prompt"], ""));
    assert!(
        shown.out.contains("You are Dormouse, a gruff ferryman."),
        "{}",
        shown.out
    );
}
