//! Tests a model, and learns from its replies how it calls tools.

use serde_json::{Value, json};

use super::tiny;
use crate::{
    program::{Home, Run},
    server::{Mood, Server},
};

fn check(run: &Run, name: &str) -> Value {
    let mut checks = run.of_type("check");
    checks.retain(|check| check["check"] == name);
    assert_eq!(checks.len(), 1, "{name}: {} {}", run.out, run.err);
    checks.remove(0)
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
fn what_models_were_paid_for_follows_from_the_log_also_after_the_visit() {
    let (home, server) = (Home::new(), Server::start(Mood::Fine));
    home.write(
        "dormouse.toml",
        "[[prices]]\nprovider = \"local\"\nmodel = \"*\"\ninput = 1.0\noutput = 2.0\n",
    );
    let spent = || {
        home.run(&["provider", "spent", "--json"], "")
            .of_type("spent")
    };
    home.run(&["play", "--json"], "hello\n");
    assert_eq!(spent(), [] as [Value; 0], "the offline model costs nothing");
    let play = ["play", "--json", "--base-url", &server.url];
    for visit in 1..=2 {
        home.run(&play, "Hello!\n");
        let lines = spent();
        assert_eq!(lines.len(), 1, "{lines:?}");
        let line = &lines[0];
        assert_eq!(
            (&line["assistant"], &line["provider"], &line["purpose"]),
            (&json!("dormouse"), &json!("local"), &json!("answer"))
        );
        let replies = line["replies"].as_u64().unwrap();
        assert_eq!(line["prompt_tokens"], json!(10 * replies));
        let dollars = line["dollars"].as_f64().unwrap();
        assert!((dollars - 0.000_02 * replies as f64).abs() < 1e-9, "{line}");
        assert!(replies >= visit, "{line}");
    }
    let shown = home.run(&["provider", "spent"], "").out;
    assert!(shown.contains("in total: "), "{shown}");
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
