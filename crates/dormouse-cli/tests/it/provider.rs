//! Lists, shows and tests providers and models.

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

fn check(run: &Run, name: &str) -> Value {
    let mut checks = run.of_type("check");
    checks.retain(|check| check["check"] == name);
    assert_eq!(checks.len(), 1, "{name}: {} {}", run.out, run.err);
    checks.remove(0)
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
        "while nobody speaks, any model of the list answers",
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
fn a_model_that_does_everything_passes_and_is_remembered() {
    let (home, server) = (Home::new(), Server::start(Mood::Fine));
    let run = home.run(&["provider", "test", &tiny(&server), "--json"], "");
    assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
    let answer = check(&run, "answer");
    assert_eq!(answer["verdict"], "ok");
    assert_eq!(answer["usage"]["prompt_tokens"], 10);
    assert_eq!(check(&run, "streaming")["pieces"], 3);
    let served = check(&run, "served");
    assert_eq!(
        (
            &served["served_model"],
            &served["request_id"],
            &served["requests"]["remaining"]
        ),
        (&json!("tiny-2026"), &json!("req-7"), &json!(99))
    );
    assert_eq!(check(&run, "tools")["shown"], "native_works");
    assert_eq!(check(&run, "json")["fits"], true);
    let cost = check(&run, "cost");
    assert_eq!(
        (&cost["verdict"], &cost["dollars"]),
        (&json!("warn"), &Value::Null)
    );
    assert_eq!(run.of_type("tested")[0]["usable"], true);
    assert_eq!(server.asked().len(), 3);
    let shown = home.run(&["provider", "show", &tiny(&server)], "").out;
    assert!(
        shown.contains("when it was asked, it called the tool natively"),
        "{shown}"
    );
}

#[test]
fn the_price_that_was_configured_is_what_a_test_costs() {
    let (home, server) = (Home::new(), Server::start(Mood::Fine));
    home.write(
        "dormouse.toml",
        "[[prices]]\nprovider = \"local\"\nmodel = \"*\"\ninput = 1.0\noutput = 2.0\n",
    );
    let run = home.run(&["provider", "test", &tiny(&server), "--json"], "");
    let cost = check(&run, "cost");
    assert_eq!(cost["dollars"], json!(0.000_06), "3 times 10 and 5 tokens");
    assert_eq!(cost["complete"], true);
}

#[test]
fn a_server_without_tools_is_usable_and_reported_as_such() {
    let (home, server) = (Home::new(), Server::start(Mood::NoTools));
    let run = home.run(&["provider", "test", &tiny(&server), "--json"], "");
    assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
    assert_eq!(check(&run, "tools")["shown"], "refuses_tools");
    assert_eq!(check(&run, "remembered")["calling"], "fallback");
    assert!(server.asked().len() <= 6, "{:?}", server.asked().len());
}

#[test]
fn a_failed_check_is_reported_and_ends_the_test() {
    for (mood, said) in [
        (Mood::Html, "could not be understood"),
        (Mood::Unauthorized, "refused the credentials"),
        (Mood::Hanging, "no answer within 1 s"),
    ] {
        let (home, server) = (Home::new(), Server::start(mood));
        let args = ["provider", "test", &tiny(&server), "--timeout", "1"];
        let run = home.run(&args, "");
        assert_eq!(run.code, Some(1), "{mood:?}: {}", run.out);
        assert!(run.out.contains(said), "{mood:?}: {}", run.out);
        assert!(run.out.contains("cannot be used"), "{}", run.out);
        assert_eq!(server.asked().len(), 1, "{mood:?}");
        assert!(!home.file("dialects.json").exists());
    }
}

#[test]
fn a_probe_decides_how_tools_are_offered_at_the_next_start() {
    let (home, server) = (Home::new(), Server::start(Mood::Printing));
    let doctor = home.run(&["doctor", "--probe", "--base-url", &server.url], "");
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
    for part in [
        "printed the call into its text",
        "from now on tools are offered to default of local as JSON in the text",
        "circuit closed",
    ] {
        assert!(doctor.out.contains(part), "{part}: {}", doctor.out);
    }
    let before = server.asked().len();
    let play = home.run(&["play", "--json", "--base-url", &server.url], "Hello!\n");
    assert_eq!(play.code, Some(0), "{}", play.out);
    let asked = server.asked().split_off(before);
    assert!(!asked.is_empty());
    assert!(
        asked
            .iter()
            .all(|request| request.body.get("tools").is_none()),
        "{asked:?}"
    );
    let output = home.run(&["doctor", "--base-url", &server.url], "").out;
    assert!(
        output.contains("tools offered as JSON in the text"),
        "{output}"
    );
}

#[test]
fn replies_during_a_visit_are_learnt_from_reported_and_saved() {
    let (home, server) = (Home::new(), Server::start(Mood::Printing));
    let args = ["play", "--json", "--base-url", &server.url];
    let run = home.run(&args, "Hello!\nAnd again!\n");
    assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
    assert_eq!(
        run.answers(),
        ["Good day.", "Good day."],
        "printed calls are made"
    );
    let notices = run.of_type("notice");
    let learnt = |notice: &&Value| {
        notice["text"]
            .as_str()
            .unwrap()
            .starts_with("Learnt of default of local")
    };
    let output = notices.iter().filter(learnt).collect::<Vec<_>>();
    assert_eq!(output.len(), 1, "{}", run.out);
    assert!(
        output[0]["text"]
            .as_str()
            .unwrap()
            .ends_with("From the next start on tools are offered to it as JSON in the text."),
        "{output:?}"
    );
    let kept = std::fs::read_to_string(home.file("dialects.json")).unwrap();
    assert!(kept.contains("fallback"), "{kept}");
}

#[test]
fn a_damaged_book_is_moved_aside_and_reported_and_the_visit_goes_on() {
    let (home, server) = (Home::new(), Server::start(Mood::Fine));
    home.write("dialects.json", "no book");
    let run = home.run(&["play", "--json", "--base-url", &server.url], "Hello!\n");
    assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
    let notices = run.of_type("notice");
    let is_told = |notice: &Value| {
        notice["text"]
            .as_str()
            .unwrap()
            .contains("dialects.json.damaged-1")
    };
    assert!(notices.iter().any(is_told), "{}", run.out);
    assert!(home.file("dialects.json.damaged-1").exists());
    assert!(home.file("dialects.json").exists());
}

#[test]
fn a_key_from_a_variable_or_a_file_goes_to_its_server_and_to_no_other() {
    let (server, other) = (Server::start(Mood::Fine), Server::start(Mood::Fine));
    let home = Home::new();
    let key = home.write("key", "sk-from-file\n");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let places = [
        ("env:MY_KEY".to_owned(), "sk-from-env"),
        (format!("file:{}", key.display()), "sk-from-file"),
    ];
    let keys = |server: &Server| -> Vec<_> {
        server
            .asked()
            .into_iter()
            .map(|request| request.key)
            .collect()
    };
    for (place, expected) in &places {
        let url = &server.url;
        home.write(
            "dormouse.toml",
            &format!(
                "[provider]\nkind = \"openai\"\nbase_url = \"{url}\"\nkey_from = \"{place}\"\n"
            ),
        );
        let before = keys(&server).len();
        let variables = [("MY_KEY", "sk-from-env"), ("OPENAI_API_KEY", "sk-usual")];
        let run = run_with(&home, &["provider", "test"], &variables);
        assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
        let sent = keys(&server).split_off(before);
        assert!(
            !sent.is_empty() && sent.iter().all(|key| key.as_deref() == Some(*expected)),
            "{sent:?}"
        );
        let list = run_with(&home, &["provider", "list"], &variables).out;
        assert!(list.contains(&format!("key from {place}")), "{list}");
        for args in [
            &["provider", "test", "--base-url", &other.url][..],
            &[
                "provider",
                "test",
                "--provider",
                "local",
                "--base-url",
                &other.url,
            ],
            &["provider", "test", &tiny(&other)],
        ] {
            run_with(&home, args, &variables[..1]);
        }
    }
    assert!(
        keys(&other).iter().all(Option::is_none),
        "{:?}",
        keys(&other)
    );
}

#[test]
fn a_missing_key_is_an_error_that_names_its_source() {
    let home = Home::new();
    for (field, said) in [
        (
            "key_from = \"sk-very-secret\"",
            "write where the key is, not the key itself",
        ),
        ("key_from = \"env:NO_SUCH_KEY\"", "set kind or base_url"),
        (
            "kind = \"openai\"\nkey_from = \"env:NO_SUCH_KEY\"",
            "NO_SUCH_KEY is not set",
        ),
        (
            "kind = \"openai\"\nkey_from = \"file:/nowhere/key\"",
            "/nowhere/key",
        ),
    ] {
        home.write("dormouse.toml", &format!("[provider]\n{field}\n"));
        let run = home.run(&["play"], "");
        assert_eq!(run.code, Some(2), "{field}: {}", run.err);
        assert!(run.err.contains(said), "{field}: {}", run.err);
        assert!(run.err.contains("provider.key_from"), "{}", run.err);
        assert!(run.err.contains("dormouse.toml:"), "{}", run.err);
        assert!(!run.err.contains("very-secret"), "{}", run.err);
    }
    std::fs::remove_file(home.file("dormouse.toml")).unwrap();
    let key = home.write("key", "sk-very-secret");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let file = ("OPENAI_API_KEY_FILE", key.to_str().unwrap());
    let run = run_with(&home, &["play"], &[file]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("chmod 600"), "{}", run.err);
    let run = run_with(
        &home,
        &["play"],
        &[file, ("OPENAI_API_KEY", "sk-other-secret")],
    );
    assert!(
        run.err
            .contains("both OPENAI_API_KEY and OPENAI_API_KEY_FILE"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("secret"), "{}", run.err);
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

#[test]
fn the_variable_that_a_key_comes_from_is_named_and_no_other() {
    let home = Home::new();
    let list = |variables: &[(&str, &str)]| {
        let args = ["provider", "list", "--base-url", "http://127.0.0.1:1/v1"];
        let run = run_with(&home, &args, variables);
        let mut lines = run.out.lines();
        let line = lines.find(|line| line.starts_with("local"));
        line.expect(&run.out).to_owned()
    };
    let line = list(&[("DORMOUSE_API_KEY", "sk-very-secret")]);
    assert!(line.ends_with("key from DORMOUSE_API_KEY"), "{line}");
    let key = home.write("key", "sk-very-secret");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let line = list(&[("DORMOUSE_API_KEY_FILE", key.to_str().unwrap())]);
    assert!(line.ends_with("key from DORMOUSE_API_KEY_FILE"), "{line}");
}

#[test]
fn certificates_that_cannot_be_read_are_named_with_their_place() {
    let home = Home::new();
    home.write(
        "dormouse.toml",
        "[provider]\ncertificates = \"/nowhere/ca.pem\"\n",
    );
    let run = home.run(&["provider", "show", "offline"], "");
    assert_eq!(run.code, Some(2), "{}", run.out);
    let said = "dormouse.toml:2:16: provider.certificates is \"/nowhere/ca.pem\"; expected a readable file";
    assert!(run.err.contains(said), "{}", run.err);
}
