//! Lists and shows providers and models.

mod keys;
mod testing;

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::{
    program::{Home, Run, finish},
    server::{Mood, Server},
};

fn run_with(home: &Home, args: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command = home.command(args);
    command.envs(variables.iter().copied());
    finish(command.spawn().unwrap(), b"")
}

fn tiny(server: &Server) -> String {
    format!("local:tiny@{}", server.url)
}

#[test]
fn every_provider_is_listed_with_whether_it_can_be_used_and_where_its_key_is() {
    let home = Home::new();
    let key = home.write("key", "sk-or-very-secret\n");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let variables = [
        ("OPENAI_API_KEY", "sk-very-secret"),
        ("OPENROUTER_API_KEY_FILE", key.to_str().unwrap()),
    ];
    let run = run_with(&home, &["provider", "list", "--json"], &variables);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let standings: Vec<_> = run
        .of_type("provider")
        .iter()
        .map(|it| {
            (
                it["provider"].clone(),
                it["usable"].clone(),
                it["key"].clone(),
            )
        })
        .collect();
    let row = |name: &str, usable: bool, key: Value| (json!(name), json!(usable), key);
    assert_eq!(
        standings,
        [
            row("openai", true, "OPENAI_API_KEY".into()),
            row("anthropic", false, Value::Null),
            row("openrouter", true, "OPENROUTER_API_KEY_FILE".into()),
            row("ollama", true, Value::Null),
            row("local", false, Value::Null),
            row("offline", true, Value::Null),
        ]
    );
    let chosen = &run.of_type("chosen")[0];
    assert_eq!(
        (&chosen["provider"], &chosen["why"]),
        (&json!("openai"), &json!("OPENAI_API_KEY is set"))
    );
    let output = run_with(&home, &["provider", "list"], &variables);
    assert!(
        output.out.contains("set ANTHROPIC_API_KEY"),
        "{}",
        output.out
    );
    assert!(!format!("{run:?}{output:?}").contains("very-secret"));
}

#[test]
fn the_lists_are_shown_as_they_are_configured() {
    let home = Home::new();
    home.write(
        "dormouse.toml",
        "[provider]\nkind = \"local\"\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"tiny\"\nheartbeats = \"any\"\n\
         fallbacks = [\"offline\"]\nuses = { scoring = [\"ollama:llama3.2\"] }\n",
    );
    let run = home.run(&["provider", "list", "--json"], "");
    let chosen = &run.of_type("chosen")[0];
    assert_eq!(chosen["heartbeats"], "any");
    assert_eq!(
        chosen["lists"],
        json!([
            {"purpose": null, "models": ["local:tiny@http://127.0.0.1:9", "offline"]},
            {"purpose": "scoring", "models": ["ollama:llama3.2@http://127.0.0.1:11434"]},
        ])
    );
    let doctor = home.run(&["doctor"], "");
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
    for part in [
        "models in order: local:tiny@http://127.0.0.1:9, then offline",
        "for scoring: ollama:llama3.2@http://127.0.0.1:11434",
        "in turns that nobody waits for, any model of the list answers",
        "local:tiny@http://127.0.0.1:9: window unknown; price unknown",
        "offline: window unknown; costs nothing",
    ] {
        assert!(doctor.out.contains(part), "{part}: {}", doctor.out);
    }
}

#[test]
fn an_unusable_requested_provider_is_listed_with_the_others() {
    let home = Home::new();
    let run = home.run(&["provider", "list", "--provider", "openai"], "");
    assert_eq!(run.code, Some(2));
    assert!(
        run.out.contains("no provider can be chosen: "),
        "{}",
        run.out
    );
    let secret = "http://user:sk-secret@127.0.0.1:1";
    let run = home.run(&["provider", "list", "--base-url", secret], "");
    assert_eq!(run.code, Some(2));
    assert!(!format!("{run:?}").contains("sk-secret"), "{run:?}");
}

#[test]
fn a_server_is_asked_for_its_models_and_what_they_cost() {
    let (home, server) = (Home::new(), Server::start(Mood::Fine));
    let args = ["provider", "list", "--models", "--base-url", &server.url];
    let run = home.run(&[&args[..], &["--model", "tiny", "--json"]].concat(), "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let listed = run.of_type("listed");
    assert_eq!(
        (
            &listed[0]["model"],
            &listed[0]["context_window"],
            &listed[0]["price"],
            &listed[0]["chosen"]
        ),
        (&json!("tiny"), &json!(4096), &Value::Null, &json!(true))
    );
    assert_eq!(listed[1]["price"]["output"], json!(2.0));
    let output = home.run(&args, "").out;
    assert!(
        output.contains("large: window 200,000; $1.00 in and $2.00 out for a million tokens"),
        "{output}"
    );
    for mood in [Mood::Html, Mood::Unauthorized] {
        let server = Server::start(mood);
        let run = home.run(
            &["provider", "list", "--models", "--base-url", &server.url],
            "",
        );
        assert_eq!(run.code, Some(1), "{mood:?}");
        assert!(run.err.contains("did not list its models"), "{}", run.err);
    }
}

#[test]
fn known_data_of_a_model_are_shown_without_a_request() {
    let home = Home::new();
    let key = [("OPENAI_API_KEY", "sk-very-secret")];
    let run = run_with(&home, &["provider", "show", "gpt-4.1-mini", "--json"], &key);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let model = &run.of_type("model")[0];
    assert_eq!(model["context_window"], 1_047_576);
    assert_eq!(model["tokens"], "exact");
    assert!(model["price"]["input"].as_f64().unwrap() > 0.0, "{model}");
    assert_eq!(
        model["tools"],
        json!({"calling": "native", "configured": null, "learnt": null})
    );
    let server = Server::start(Mood::Fine);
    let run = home.run(&["provider", "show", &tiny(&server)], "");
    for part in [
        "window unknown",
        "estimated",
        "price unknown",
        "offered natively",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(server.asked().is_empty(), "nobody was asked");
    assert_eq!(
        home.path().read_dir().unwrap().count(),
        0,
        "nothing was made"
    );
    let run = home.run(&["provider", "show", "openai:gpt-4.1"], "");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("OPENAI_API_KEY"), "{}", run.err);
    let run = home.run(&["provider", "show", "local:"], "");
    assert_eq!(run.code, Some(2));
}

#[test]
fn a_model_of_a_list_that_cannot_be_used_is_named_with_its_list() {
    let home = Home::new();
    for (field, list) in [
        ("fallbacks = [\"offline\", \"openai:tea\"]", "fallbacks"),
        ("uses = { scoring = [\"openai:tea\"] }", "uses.scoring"),
    ] {
        home.write("dormouse.toml", &format!("[provider]\n{field}\n"));
        let run = home.run(&["play"], "");
        assert_eq!(run.code, Some(2), "{}", run.err);
        let said = format!(
            "openai:tea in {list} under [provider] cannot be used: the provider openai needs a key"
        );
        assert!(run.err.contains(&said), "{}", run.err);
    }
}

#[test]
fn a_model_of_an_unknown_provider_is_refused_with_its_name() {
    let home = Home::new();
    for args in [
        &["provider", "show", "foo"][..],
        &["provider", "show", "--model", "foo"],
        &["provider", "show", "foo", "--provider", "offline"],
        &["provider", "test", "foo"],
        &["play", "--model", "foo"],
    ] {
        let run = home.run(args, "hello\n");
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(run.err.contains("does not have the model foo"), "{run:?}");
        assert!(run.err.contains("PROVIDER:foo"), "{}", run.err);
    }
    assert_eq!(home.path().read_dir().unwrap().count(), 0);
    let list = home.run(&["provider", "list", "--model", "foo"], "");
    assert_eq!(list.code, Some(2));
    assert!(
        list.out.contains("does not have the model foo"),
        "{}",
        list.out
    );
    for known in ["offline", "--provider=offline"] {
        let run = home.run(&["provider", "show", known], "");
        assert_eq!(run.code, Some(0), "{}", run.err);
    }
}

#[test]
fn the_description_of_a_model_states_whether_it_is_known() {
    let (home, key) = (Home::new(), [("OPENAI_API_KEY", "sk-very-secret")]);
    let known = |model: &str| {
        let run = run_with(&home, &["provider", "show", model, "--json"], &key);
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.of_type("model")[0]["known"].clone()
    };
    assert_eq!(known("foo"), json!(false));
    assert_eq!(known("gpt-4.1-mini"), json!(true));
    assert_eq!(known("offline"), json!(true));
    let output = |model: &str| run_with(&home, &["provider", "show", model], &key).out;
    assert!(
        output("foo").contains("this program does not know foo"),
        "{}",
        output("foo")
    );
    assert!(!output("gpt-4.1-mini").contains("does not know"));
}

#[test]
fn a_model_name_with_an_unknown_provider_prefix_is_reported() {
    let home = Home::new();
    let run = home.run(&["provider", "show", "foo:bar"], "");
    assert_eq!(run.code, Some(2), "{}", run.out);
    assert!(run.err.contains("foo is not a provider"), "{}", run.err);
    let key = [("OPENAI_API_KEY", "sk-very-secret")];
    let run = run_with(&home, &["provider", "show", "foo:bar"], &key);
    assert!(run.out.contains("foo is not a provider"), "{}", run.out);
    for provider in ["ollama", "openai"] {
        let run = home.run(&["provider", "show", provider], "");
        assert_eq!(run.code, Some(2), "{}", run.out);
        let said = format!("{provider} is a provider; expected a model as well");
        assert!(run.err.contains(&said), "{}", run.err);
    }
    let run = home.run(&["provider", "show", "ollama:llama3.2"], "");
    let command = "`dormouse provider test ollama:llama3.2` asks it";
    assert!(run.out.contains(command), "{}", run.out);
}
