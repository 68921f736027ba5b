//! Settings at the command line: `dormouse config` and `dormouse init`.

use serde_json::{Value, json};

use crate::program::{Home, Run, finish};

impl Home {
    /// `dormouse ARGS --json` with these variables of the environment.
    fn with(&self, variables: &[(&str, &str)], args: &[&str]) -> Run {
        let mut command = self.command(args);
        command
            .arg("--json")
            .envs(variables.iter().copied())
            .env("USER", "carol");
        finish(command.spawn().unwrap(), b"")
    }

    /// A setting as it is printed.
    fn setting(&self, variables: &[(&str, &str)], args: &[&str]) -> Value {
        let run = self.with(variables, &[&["config", "show"], args].concat());
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.of_type("setting").remove(0)
    }

    fn changes(&self) -> Vec<Value> {
        let run = self.run(&["log", "show", "--json"], "");
        run.of_type("event")
            .into_iter()
            .filter(|event| event["kind"] == "setting_changed")
            .filter_map(|event| event.get("data").cloned())
            .collect()
    }

    fn refused(&self, args: &[&str], expected: &str) {
        let run = self.run(args, "");
        assert_eq!(run.code, Some(2), "{args:?}: {}{}", run.out, run.err);
        assert!(run.err.contains(expected), "{args:?}: {}", run.err);
        assert_eq!(run.out, "");
    }
}

const TICK_RATE: (&str, &str) = ("DORMOUSE_LIMITS__TICK_RATE", "9");

#[test]
fn each_place_wins_over_the_next_and_is_named() {
    let home = Home::new();
    let shown = |variables: &[_], args: &[&str]| {
        let setting = home.setting(variables, args);
        (setting["value"].clone(), setting["from"].clone())
    };
    assert_eq!(shown(&[], &["tick_rate"]), (json!(5), json!("default")));
    let from_variable = (json!(9), json!({"variable": "DORMOUSE_LIMITS__TICK_RATE"}));
    assert_eq!(shown(&[TICK_RATE], &["limits.tick_rate"]), from_variable);

    let file = home.write(
        "dormouse.toml",
        "[limits]\ntick_rate = 7\n[provider]\nmodel = \"tiny\"\n",
    );
    let from_file = |line| json!({"file": {"file": file.display().to_string(), "line": line}});
    assert_eq!(
        shown(&[TICK_RATE], &["tick_rate"]),
        (json!(7), from_file(2))
    );

    let by_flags = ["llm_model", "--provider", "ollama", "--model", "large"];
    assert_eq!(
        shown(&[("DORMOUSE_PROVIDER__MODEL", "small")], &by_flags),
        (json!("large"), json!({"flag": "--model"}))
    );
    assert_eq!(shown(&[], &["llm_model"]), (json!("tiny"), from_file(4)));

    std::fs::write(&file, "[limits]\ntick_rate = 7\n").unwrap();
    home.play("hello\n");
    let run = home.run(&["config", "set", "tick_rate", "3", "--by", "Alice"], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let (value, from) = shown(&[TICK_RATE], &["tick_rate"]);
    assert_eq!(
        (value, &from["event"]["by"]),
        (json!(3), &json!("Alice")),
        "{from}"
    );
    assert_eq!(
        shown(&[], &["max_history"]),
        (json!(200), json!("default")),
        "the others are as they were"
    );
    let listed = home.with(&[], &["config", "list"]).of_type("setting");
    assert!(listed.len() > 50);
    assert!(
        listed
            .iter()
            .any(|setting| setting["name"] == "limits.tick_rate" && setting["value"] == 3)
    );
}

#[test]
fn a_change_applies_from_the_next_tick_on_and_unset_takes_it_back() {
    let home = Home::new();
    let rule = |variables: &[(&str, &str)]| {
        let mut command = home.command(&["play", "--json"]);
        command.envs(variables.iter().copied());
        let run = finish(command.spawn().unwrap(), b"say anybody?\n");
        assert_eq!(run.code, Some(0), "{}", run.err);
        let messages = run.of_type("message").into_iter();
        let mut said = messages.filter(|message| message["text"] == "anybody?");
        said.next().unwrap()["classification"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(rule(&[]), "context");
    assert_eq!(rule(&[("DORMOUSE_CLASSIFY__ROOMS", "ignore")]), "ignore");

    let set = |value| home.with(&[], &["config", "set", "classify.rooms", value]);
    let changed = set("trigger").of_type("setting_changed").remove(0);
    assert_eq!(
        (&changed["old"], &changed["new"], changed["event"].is_u64()),
        (&json!("context"), &json!("trigger"), true)
    );
    assert_eq!(
        rule(&[("DORMOUSE_CLASSIFY__ROOMS", "ignore")]),
        "trigger",
        "a change wins over the environment"
    );
    let again = set("trigger").of_type("setting_changed").remove(0);
    assert!(again["event"].is_null(), "nothing is written: {again}");

    let unset = || home.with(&[], &["config", "unset", "classify.rooms"]);
    assert!(unset().of_type("setting_changed")[0]["event"].is_u64());
    assert_eq!(rule(&[]), "context");
    assert!(unset().of_type("setting_changed")[0]["event"].is_null());
    assert_eq!(
        home.changes(),
        [
            json!({"setting": "classify.rooms", "old": "context", "new": "trigger", "by": "carol"}),
            json!({"setting": "classify.rooms", "old": "trigger", "by": "carol"}),
        ]
    );
    let replayed = home.run(&["log", "replay", "--decide"], "");
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.out, replayed.err);
}

#[test]
fn a_change_is_of_one_assistant() {
    let home = Home::new();
    home.play("hello\n");
    home.write(
        "dormouse.toml",
        "[assistant]\nkey = \"mole\"\npersona = \"You dig.\"\n",
    );
    home.play("hello\n");
    let of = |key| {
        let setting = home.setting(&[], &["persona", "--assistant", key]);
        setting["value"].clone()
    };
    let run = home.with(
        &[],
        &[
            "config",
            "set",
            "persona",
            "You nap.",
            "--assistant",
            "dormouse",
        ],
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(
        (of("dormouse"), of("mole")),
        (json!("You nap."), json!("You dig."))
    );
    home.run(
        &[
            "config",
            "set",
            "persona",
            "You swim.",
            "--assistant",
            "mole",
        ],
        "",
    );
    home.run(&["config", "unset", "persona", "--assistant", "mole"], "");
    assert_eq!(
        (of("dormouse"), of("mole")),
        (json!("You nap."), json!("You dig."))
    );
}

#[test]
fn a_wrong_value_is_refused_with_its_place_and_a_wrong_name_with_the_nearest() {
    let home = Home::new();
    home.play("hello\n");
    home.refused(
        &["config", "set", "tick_rate", "0"],
        "limits.tick_rate is 0; expected 1 to 3600",
    );
    home.refused(
        &["config", "set", "rooms", "loud"],
        "classify.rooms is \"loud\"; expected one of context, ignore, trigger",
    );
    home.refused(
        &["config", "set", "provider.kind", "offline"],
        "DORMOUSE_PROVIDER__KIND",
    );
    home.refused(
        &["config", "show", "llm_temprature"],
        "llm_temprature is not a setting; did you mean provider.temperature?",
    );
    home.refused(
        &["config", "set", "user_entity", "2"],
        "an assistant has no owner",
    );
    assert_eq!(home.changes(), Vec::<Value>::new());

    let run = home.with(&[("DORMOUSE_LIMITS__TICK_RAT", "5")], &["config", "check"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("did you mean DORMOUSE_LIMITS__TICK_RATE?"),
        "{}",
        run.err
    );
    for (line, expected) in [
        (
            "tick_rate = 0",
            ":2:13: limits.tick_rate is 0; expected 1 to 3600",
        ),
        ("max_histroy = 5", "did you mean limits.max_history?"),
    ] {
        let file = home.write("other.toml", &format!("[limits]\n{line}\n"));
        let file = file.display().to_string();
        home.refused(&["config", "check", &file], expected);
        home.refused(&["config", "list", "--config", &file], &file);
    }
}

#[test]
fn a_key_is_neither_kept_nor_printed_as_a_setting() {
    let home = Home::new();
    home.play("hello\n");
    let key = format!("sk-proj-{}", "aB3dE5fG7hJ9kL1m".repeat(3));
    let run = home.run(&["config", "set", "persona", &key], "");
    assert_eq!(run.code, Some(2), "{}", run.out);
    assert!(run.err.contains("must not be in a setting") && !run.err.contains(&key));
    assert_eq!(home.changes(), Vec::<Value>::new());

    home.write(
        "dormouse.toml",
        &format!(
            "[assistant]\npersona = \"Your key is {key}.\"\n[provider]\nextra = {{ seed_of = \"hunter2\" }}\n\
             base_url = \"http://127.0.0.1:1/v1\"\n"
        ),
    );
    for args in [&["config", "list"][..], &["config", "list", "--json"]] {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(
            !run.out.contains(&key) && !run.out.contains("hunter2"),
            "{}",
            run.out
        );
    }
    let extra = home.setting(&[], &["llm_extra_params"]);
    assert_eq!((&extra["hidden"], extra.get("value")), (&json!(true), None));
    let address = home.setting(&[], &["llm_api_url"]);
    assert_eq!(address["value"], "http://127.0.0.1:1/v1");
}

#[test]
fn settings_that_contradict_each_other_or_name_nobody_are_reported() {
    let home = Home::new();
    home.play("hello\n");
    let file = home.write("dormouse.toml", "[execution]\nmode = \"react_loop\"\n");
    home.refused(
        &["config", "set", "multi_action_enabled", "false"],
        "contradicts",
    );
    // A change that has become invalid, because the file changed, is ignored, and each command that shows settings
    // reports it.
    std::fs::remove_file(&file).unwrap();
    home.run(&["config", "set", "multi_action_enabled", "false"], "");
    home.write("dormouse.toml", "[execution]\nmode = \"react_loop\"\n");
    let ignored = "execution.multi_action_enabled in event";
    let checked = home.run(&["config", "check"], "");
    assert_eq!(checked.code, Some(0));
    assert!(checked.out.contains(ignored), "{}", checked.out);
    let doctor = home.run(&["doctor"], "");
    assert!(doctor.out.contains(ignored), "{}", doctor.out);
    let listed = home.run(&["config", "list"], "");
    assert!(listed.err.contains(ignored), "{}", listed.err);

    home.write(
        "dormouse.toml",
        "[classify]\ntrigger_permissions = [\"player:Alice\"]\n",
    );
    let nobody = "classify.trigger_permissions names \"player:Alice\", which matches nobody";
    let checked = home.run(&["config", "check"], "");
    assert_eq!(checked.code, Some(0));
    assert!(checked.out.contains(nobody), "{}", checked.out);
    let run = home.run(
        &[
            "config",
            "set",
            "trust_overrides",
            "{ \"player:Bob\" = 0.2 }",
        ],
        "",
    );
    assert_eq!(run.code, Some(0));
    assert!(
        run.err.contains("\"player:Bob\", which matches nobody"),
        "{}",
        run.err
    );
    let doctor = home.run(&["doctor"], "");
    assert!(
        doctor.out.contains("\"player:Bob\", which matches nobody"),
        "{}",
        doctor.out
    );
}

#[test]
fn settings_that_do_not_fit_together_are_warned_about_with_their_place() {
    let home = Home::new();
    let text = "[sleep]\nenabled = true\n[provider]\nkind = \"offline\"\nfallbacks = [\"anthropic:claude-haiku-4-5\"]\n";
    let file = home.write("dormouse.toml", text);
    let checked = home.with(&[], &["config", "check"]).of_type("checked");
    let warnings = checked[0]["warnings"].as_array().unwrap();
    let zone = format!(
        "{}:2:11: sleep.enabled is true and sleep.time_zone is not set",
        file.display()
    );
    for expected in [&*zone, "ANTHROPIC_API_KEY"] {
        let warns = |it: &Value| it.as_str().unwrap().contains(expected);
        assert!(warnings.iter().any(warns), "{expected}: {warnings:?}");
    }
    home.write("dormouse.toml", "[prompt]\n\ntemplate = \"gruff\"\n");
    home.refused(
        &["config", "check"],
        "dormouse.toml:3:12: prompt.template is \"gruff\"",
    );

    home.write("dormouse.toml", "");
    home.play("hello\n");
    let set = home.run(&["config", "set", "tools.first_pause", "30"], "");
    assert_eq!(set.code, Some(0), "{}", set.err);
    assert!(
        set.err.contains(
            "this change: tools.first_pause is 30, and tools.longest_pause is 10: so the first pause"
        ),
        "{}",
        set.err
    );
}

#[test]
fn the_doctor_says_what_was_changed() {
    let home = Home::new();
    home.play("hello\n");
    home.run(&["config", "set", "enabled", "false", "--by", "Alice"], "");
    home.run(&["config", "set", "privacy", "shared"], "");
    let doctor = home.run(&["doctor"], "");
    assert!(
        doctor
            .out
            .contains("2 settings of dormouse changed by `dormouse config set`: assistant.enabled, memory.privacy"),
        "{}",
        doctor.out
    );
    assert!(
        doctor
            .out
            .contains("dormouse is switched off (assistant.enabled = false, from event"),
        "{}",
        doctor.out
    );
    assert!(
        doctor.out.contains("dormouse: privacy: shared"),
        "{}",
        doctor.out
    );
}

#[test]
fn init_writes_every_setting_commented_out_and_never_overwrites() {
    let home = Home::new();
    let run = home.run(&["init"], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let path = home.file("dormouse.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    for setting in home.with(&[], &["config", "list"]).of_type("setting") {
        let name = setting["name"]
            .as_str()
            .unwrap()
            .rsplit('.')
            .next()
            .unwrap();
        assert!(
            text.contains(&format!("\n#{name} = ")) || name == "prices",
            "{name}"
        );
        // These tests set the variable for the embedder, so that no server is used.
        assert!(setting["from"] == "default" || name == "embedder", "{name}");
    }
    let checked = home.run(&["config", "check"], "");
    assert!(checked.out.contains("is valid"), "{}", checked.out);
    std::fs::write(&path, "# mine\n").unwrap();
    let again = home.run(&["init"], "");
    assert_eq!(again.code, Some(2), "{}", again.out);
    assert!(again.err.contains("never overwritten"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "# mine\n");
}

#[test]
fn the_schema_describes_each_setting_with_its_bounds() {
    let home = Home::new();
    let run = home.run(&["config", "schema"], "");
    let schema: Value = serde_json::from_str(&run.out).unwrap();
    let tick_rate = &schema["properties"]["limits"]["properties"]["tick_rate"];
    assert_eq!(
        (
            &tick_rate["minimum"],
            &tick_rate["maximum"],
            &tick_rate["default"]
        ),
        (&json!(1), &json!(3600), &json!(5))
    );
    assert!(!run.out.contains("\"api_key\""));
}
