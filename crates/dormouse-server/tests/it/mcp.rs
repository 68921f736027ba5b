//! Clients of the Model Context Protocol at `/mcp`.

use dormouse_server::Right;
use serde_json::{Value, json};

use crate::{
    client::{Answer, Call},
    service::Service,
};

/// A generation of the protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Era {
    /// Begins with `initialize`.
    Old,
    /// Each request is complete in itself.
    New,
}

pub(crate) const ERAS: [Era; 2] = [Era::Old, Era::New];

/// One message of a client, in a generation of the protocol.
pub(crate) fn message(service: &Service, era: Era, method: &str, mut params: Value) -> Call {
    let call = service
        .raw("POST", "/mcp")
        .by(&service.secret)
        .with("accept", "application/json, text/event-stream");
    let call = match era {
        Era::Old => call.with("mcp-protocol-version", "2025-11-25"),
        Era::New => {
            let name = params["name"].as_str().or(params["uri"].as_str());
            let name = name.map(str::to_owned);
            let version = "2026-07-28";
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "a test", "version": "1" });
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
            let call = call
                .with("mcp-protocol-version", version)
                .with("mcp-method", method);
            match name {
                Some(name) => call.with("mcp-name", &name),
                None => call,
            }
        }
    };
    call.json(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
}

pub(crate) fn tool(service: &Service, era: Era, tool: &str, arguments: &Value) -> Call {
    let params = json!({ "name": tool, "arguments": arguments });
    message(service, era, "tools/call", params)
}

/// What a tool answered.
fn done(answer: &Answer) -> Value {
    let answer = answer.ok_body();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    answer["result"]["structuredContent"].clone()
}

/// Why a tool refused.
fn refused(answer: &Answer) -> String {
    let answer = answer.ok_body();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn names(answer: &Answer) -> Vec<String> {
    let answer = answer.ok_body();
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect()
}

impl Answer {
    fn ok_body(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }
}

#[tokio::test]
async fn both_generations_talk_to_an_assistant_and_see_what_the_api_shows() {
    let service = Service::open().await;
    let client = json!({ "name": "a test", "version": "1" });
    let begin =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let begun = message(&service, Era::Old, "initialize", begin)
        .send()
        .await;
    let session = begun.header("mcp-session-id").unwrap();
    assert!(session.len() >= 22, "nobody guesses it: {session}");
    let begun = begun.ok_body();
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(
        begun["result"]["capabilities"]["resources"]["subscribe"],
        true
    );
    let found = message(&service, Era::New, "server/discover", json!({}));
    let found = found.send().await.ok_body();
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    assert_eq!(
        found["result"]["capabilities"]["resources"]["subscribe"],
        true
    );

    let mut listed = Vec::new();
    for era in ERAS {
        listed.push(names(
            &message(&service, era, "tools/list", json!({})).send().await,
        ));
        let words = json!({ "words": "Hello, where is the kettle?" });
        let said = tool(&service, era, "talk", &words).send().await;
        let outcome = done(&said);
        assert_eq!(outcome["outcome"], "answered", "{outcome}");
        assert_eq!(
            said.json()["result"]["content"][0]["text"],
            outcome["answer"][0]["words"]
        );
        let place = json!({ "message": outcome["message"] });
        let later = tool(&service, era, "outcome", &place).send().await;
        assert_eq!(done(&later), outcome);
        let heard = done(&tool(&service, era, "listen", &json!({})).send().await);
        let last = heard["said"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["words"], outcome["answer"][0]["words"]);
        let since = json!({ "after": heard["next"], "wait_seconds": 0 });
        let nothing = done(&tool(&service, era, "listen", &since).send().await);
        assert_eq!(nothing["said"], json!([]));

        let future = json!({ "after": 9_999_999 });
        let why = refused(&tool(&service, era, "listen", &future).send().await);
        assert!(why.contains("nothing follows"), "{why}");
        let long = json!({ "wait_seconds": 601 });
        let why = refused(&tool(&service, era, "listen", &long).send().await);
        assert!(why.contains("expected at most 600"), "{why}");

        let ages = json!({ "days": 36_501 });
        let why = refused(&tool(&service, era, "journal", &ages).send().await);
        assert!(why.contains("expected at most 36500"), "{why}");

        let query = json!({ "query": "kettle" });
        let recalled = done(&tool(&service, era, "recall", &query).send().await);
        let through_api = service.call("GET", "dormouse/memory/?q=kettle");
        assert_eq!(recalled, through_api.send().await.ok(200));
        let id = &recalled["found"][0]["record"]["id"];
        let why = done(
            &tool(&service, era, "why", &json!({ "id": id }))
                .send()
                .await,
        );
        assert_eq!(&why["record"]["id"], id);
        for (name, path) in [("journal", "journal"), ("goals", "goals")] {
            let shown = done(&tool(&service, era, name, &json!({})).send().await);
            let through_api = service.call("GET", &format!("dormouse/{path}/"));
            assert_eq!(shown, through_api.send().await.ok(200));
        }
        let status = done(&tool(&service, era, "status", &json!({})).send().await);
        assert_eq!(status["key"], "dormouse");

        let resources = message(&service, era, "resources/list", json!({}))
            .send()
            .await;
        let resources = resources.ok_body()["result"]["resources"].clone();
        for resource in resources.as_array().unwrap() {
            let uri = json!({ "uri": resource["uri"] });
            let read = message(&service, era, "resources/read", uri).send().await;
            let text = read.ok_body()["result"]["contents"][0]["text"].clone();
            serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap();
        }
        let uri = json!({ "uri": format!("dormouse://dormouse/memory/{}", id.as_str().unwrap()) });
        let read = message(&service, era, "resources/read", uri).send().await;
        let text = read.ok_body()["result"]["contents"][0]["text"].clone();
        let memory: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        assert_eq!(memory, why);

        let asked = json!({ "name": "ask", "arguments": { "question": "Is there tea?" } });
        let prompt = message(&service, era, "prompts/get", asked).send().await;
        let text = prompt.ok_body()["result"]["messages"][0]["content"]["text"].clone();
        assert!(text.as_str().unwrap().contains("Is there tea?"), "{text}");
    }
    assert_eq!(listed[0], listed[1]);
    let all = [
        "talk", "outcome", "listen", "recall", "why", "journal", "goals", "status", "stop",
        "resume",
    ];
    assert_eq!(listed[0], all);
    service.close().await;
}

#[tokio::test]
async fn a_token_decides_what_is_offered_and_each_call_is_checked() {
    let service = Service::open().await;
    let hare = json!({"key": "hare", "name": "March Hare"});
    service.call("POST", "").json(&hare).send().await.ok(201);
    for (name, right, offered) in [
        ("Bob", Right::Talk, vec!["talk", "outcome", "listen"]),
        (
            "Rea",
            Right::Read,
            vec!["recall", "why", "journal", "goals", "status"],
        ),
        ("Ota", Right::Operate, vec!["stop", "resume"]),
        ("Ada", Right::Admin, vec![]),
        ("Wes", Right::World, vec![]),
    ] {
        let secret = service.token(name, &[right], Some(&["hare"]));
        for era in ERAS {
            let listed = message(&service, era, "tools/list", json!({}))
                .by(&secret)
                .send()
                .await;
            assert_eq!(names(&listed), offered, "{name}");
            for (called, arguments) in [
                ("talk", json!({ "words": "Hello", "assistant": "dormouse" })),
                ("outcome", json!({ "message": 1, "assistant": "dormouse" })),
                ("listen", json!({ "assistant": "dormouse" })),
                ("recall", json!({ "query": "tea", "assistant": "dormouse" })),
                ("why", json!({ "id": "1", "assistant": "dormouse" })),
                ("journal", json!({ "assistant": "dormouse" })),
                ("goals", json!({ "assistant": "dormouse" })),
                ("status", json!({ "assistant": "dormouse" })),
                ("stop", json!({ "reason": "x", "assistant": "dormouse" })),
                ("resume", json!({ "assistant": "dormouse" })),
            ] {
                let answer = tool(&service, era, called, &arguments)
                    .by(&secret)
                    .send()
                    .await;
                match offered.contains(&called) {
                    // The token is for another assistant, and does not reveal which ones there are.
                    true => {
                        let why = refused(&answer);
                        let is_id = called == "why" && why.contains("is not an id");
                        assert!(is_id || why.contains("(scope)"), "{called}: {why}");
                    }
                    false => {
                        let problem = answer.ok_body()["error"].clone();
                        assert_eq!(problem["code"], -32602, "{called}: {problem}");
                    }
                }
            }
            for what in ["heard", "status", "goals", "journal", "memory/1"] {
                let uri = json!({ "uri": format!("dormouse://dormouse/{what}") });
                let answer = message(&service, era, "resources/read", uri)
                    .by(&secret)
                    .send()
                    .await;
                assert!(
                    answer.json()["error"].is_object(),
                    "{name} {what}: {}",
                    answer.text()
                );
            }
            let listed = message(&service, era, "resources/list", json!({})).by(&secret);
            let listed = listed.send().await.ok_body().to_string();
            assert!(!listed.contains("dormouse://dormouse"), "{name}: {listed}");
        }
    }
    service.close().await;
}

#[tokio::test]
async fn nobody_hears_what_was_said_to_somebody_else() {
    let service = Service::open().await;
    let bob = service.token("Bob", &[Right::Talk], None);
    let words = json!({ "words": "The key is under the mat. Where is the kettle?" });
    let said = tool(&service, Era::New, "talk", &words).send().await;
    let outcome = done(&said);
    let anns = done(&tool(&service, Era::New, "listen", &json!({})).send().await);
    assert_eq!(anns["said"].as_array().unwrap().len(), 1, "{anns}");
    for era in ERAS {
        let heard = tool(&service, era, "listen", &json!({}))
            .by(&bob)
            .send()
            .await;
        assert_eq!(done(&heard)["said"], json!([]));
        let place = json!({ "message": outcome["message"] });
        let of_ann = tool(&service, era, "outcome", &place).by(&bob).send().await;
        assert!(refused(&of_ann).contains("(unknown_item)"));
        let uri = json!({ "uri": "dormouse://dormouse/heard" });
        let read = message(&service, era, "resources/read", uri)
            .by(&bob)
            .send()
            .await;
        assert!(!read.text().contains("kettle"), "{}", read.text());
    }
    service.close().await;
}

#[tokio::test]
async fn a_message_that_is_sent_again_under_its_key_is_said_once_even_after_a_restart() {
    let service = Service::open().await;
    let words = json!({ "words": "Good day", "key": "../../1", "wait_seconds": 30 });
    let first = done(&tool(&service, Era::New, "talk", &words).send().await);
    assert_eq!(first["outcome"], "answered");
    let again = done(&tool(&service, Era::Old, "talk", &words).send().await);
    assert_eq!(again, first);
    let service = service.again().await;
    let after_restart = done(&tool(&service, Era::New, "talk", &words).send().await);
    assert_eq!(after_restart, first);
    let through_api = service.call("POST", "dormouse/interact/").json(&words);
    assert_eq!(through_api.send().await.ok(200), first);
    let other = json!({ "words": "Good day", "key": "2" });
    let other = done(&tool(&service, Era::New, "talk", &other).send().await);
    assert_ne!(other["message"], first["message"]);
    // The keys of somebody else are others.
    let bob = service.token("Bob", &[Right::Talk], None);
    let bobs = tool(&service, Era::New, "talk", &words)
        .by(&bob)
        .send()
        .await;
    assert_ne!(done(&bobs)["message"], first["message"]);
    for key in ["", &"x".repeat(129)] {
        let words = json!({ "words": "Good day", "key": key });
        let why = refused(&tool(&service, Era::New, "talk", &words).send().await);
        assert!(why.contains("expected 1 to 128"), "{why}");
    }
    service.close().await;
}

#[tokio::test]
async fn who_does_not_wait_for_the_answer_gets_the_number_of_the_message() {
    let service = Service::open().await;
    for era in ERAS {
        for key in [None, Some(format!("{era:?}"))] {
            let words = json!({ "words": "Good day", "wait_seconds": 0, "key": key });
            let said = done(&tool(&service, era, "talk", &words).send().await);
            let place = json!({ "message": said["message"].as_u64().unwrap() });
            let outcome = loop {
                let outcome = done(&tool(&service, era, "outcome", &place).send().await);
                if outcome["outcome"] != "waiting" {
                    break outcome;
                }
            };
            assert_eq!(outcome["outcome"], "answered", "{outcome}");
        }
        let long = json!({ "words": "Good day", "wait_seconds": 700 });
        let why = refused(&tool(&service, era, "talk", &long).send().await);
        assert!(
            why.contains("wait_seconds is 700; expected at most 600"),
            "{why}"
        );
    }
    service.close().await;
}

#[tokio::test]
async fn a_token_for_another_assistant_is_told_so() {
    let service = Service::open().await;
    let secret = service.token("Bob", &[Right::Read], Some(&["hare"]));
    let call = tool(&service, Era::New, "status", &json!({})).by(&secret);
    let why = refused(&call.send().await);
    assert!(
        why.contains("no right for any assistant that there is (scope)"),
        "{why}"
    );
    service.close().await;
}

#[tokio::test]
async fn the_emergency_stop_is_pulled_and_cleared() {
    let service = Service::open().await;
    let stopped = tool(&service, Era::Old, "stop", &json!({ "reason": "fire" }));
    assert_eq!(done(&stopped.clone().send().await)["emergency_stop"], true);
    assert!(refused(&stopped.send().await).contains("(already_stopped)"));
    let words = json!({ "words": "Hello?", "wait_seconds": 0 });
    let said = tool(&service, Era::Old, "talk", &words).send().await;
    let kept = done(&said);
    assert_eq!(kept["outcome"], "waiting");
    let text = said.json()["result"]["content"][0]["text"].clone();
    let number = kept["message"].as_u64().unwrap();
    assert!(
        text.as_str().unwrap().contains(&number.to_string()),
        "{text}"
    );
    let cleared = tool(&service, Era::New, "resume", &json!({})).send().await;
    assert_eq!(done(&cleared)["emergency_stop"], false);
    let audit = service
        .call("GET", "dormouse/audit/?limit=1000")
        .send()
        .await;
    assert!(audit.text().contains("fire"));
    service.close().await;
}
