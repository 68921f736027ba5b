//! What can be done with assistants.

use std::collections::BTreeSet;

use dormouse_contracts::{AssistantId, ReadError, ReadEvents, Seq, each_event};
use dormouse_engine::{Event, RosterChange, RosterChanged};
use dormouse_server::Right;
use serde_json::{Value, json};

use crate::service::{ALL, Service, key};

/// The last change of an assistant in the roster.
async fn last_change(service: &Service, assistant: &AssistantId) -> RosterChanged {
    let mut last = None;
    each_event(service.host.log(), assistant, .., |stored| {
        if let Event::RosterChanged(changed) = Event::decode(stored).unwrap() {
            last = Some(changed);
        }
        Ok::<_, ReadError>(())
    })
    .await
    .unwrap();
    last.unwrap()
}

#[tokio::test]
async fn assistants_are_created_found_changed_cloned_archived_and_restored() {
    let service = Service::open().await;
    let hare =
        json!({"key": "hare", "name": "March Hare", "persona": "You like tea.", "tags": ["mad"]});
    let created = service.call("POST", "").json(&hare).send().await;
    assert_eq!(created.header("location"), Some("/api/ai/assistants/hare/"));
    let view = created.ok(201);
    assert_eq!(
        (&view["name"], &view["tags"]),
        (&json!("March Hare"), &json!(["mad"]))
    );
    service
        .call("POST", "")
        .json(&hare)
        .send()
        .await
        .problem(409, "key_taken");

    let clone = json!({"key": "hatter"});
    service
        .call("POST", "hare/clone/")
        .json(&clone)
        .send()
        .await
        .ok(201);
    let keys = |page: Value| -> Vec<String> {
        let them = page["assistants"].as_array().unwrap().iter();
        them.map(|it| it["key"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = service.call("GET", "").send().await.ok(200);
    assert_eq!(keys(all), ["dormouse", "hare", "hatter"]);
    let first = service.call("GET", "?limit=1").send().await.ok(200);
    assert_eq!(first["next"], "dormouse");
    let second = service
        .call("GET", "?limit=1&after=dormouse")
        .send()
        .await
        .ok(200);
    assert_eq!(keys(second), ["hare"]);
    let tagged = service.call("GET", "?tag=mad").send().await.ok(200);
    assert_eq!(keys(tagged), ["hare", "hatter"]);
    let only = service.token("Bob", &[Right::Read], Some(&["hatter"]));
    let seen = service.raw("GET", ALL).by(&only).send().await.ok(200);
    assert_eq!(keys(seen), ["hatter"]);

    let patch = json!({"tags": ["calm"], "persona": "You are calm."});
    let view = service
        .call("PATCH", "hare/")
        .json(&patch)
        .send()
        .await
        .ok(200);
    assert_eq!(view["tags"], json!(["calm"]));
    let changed = last_change(&service, &key("hare")).await;
    assert_eq!(
        changed.author.to_string(),
        dormouse_contracts::Author::Operator("Ann".to_owned()).to_string()
    );

    service
        .call("DELETE", "hare/?reason=enough")
        .send()
        .await
        .ok(200);
    let archived = last_change(&service, &key("hare")).await;
    assert_eq!(
        (archived.change, archived.reason.as_str()),
        (RosterChange::Archived, "enough")
    );
    let again = service.call("DELETE", "hare/").send().await.ok(200);
    assert_eq!(again["event"], Value::Null, "nothing changes twice");
    assert_eq!(
        keys(service.call("GET", "").send().await.ok(200)),
        ["dormouse", "hatter"]
    );
    let words = json!({"words": "Are you there?"});
    service
        .call("POST", "hare/interact/")
        .json(&words)
        .send()
        .await
        .problem(409, "archived");
    let patch = json!({"archived": false});
    let view = service
        .call("PATCH", "hare/")
        .json(&patch)
        .send()
        .await
        .ok(200);
    assert_eq!(view["archived"], Value::Null);
    service.close().await;
}

#[tokio::test]
async fn a_message_is_answered_once_and_its_outcome_can_be_asked_for_later() {
    let service = Service::open().await;
    let words = json!({"words": "Hello, where is the kettle?"});
    let call = service.call("POST", "dormouse/interact/").json(&words);
    let answered = call.clone().send().await.ok(200);
    assert_eq!(answered["outcome"], "answered", "{answered}");
    assert!(!answered["answer"][0]["words"].as_str().unwrap().is_empty());
    let place = answered["message"].as_u64().unwrap();
    let later = service
        .call("GET", &format!("dormouse/interact/{place}/"))
        .send()
        .await
        .ok(200);
    assert_eq!(later, answered);
    // It is Ann's message: nobody else may ask for it.
    let bob = service.token("Bob", &[Right::Talk], None);
    let other = service
        .call("GET", &format!("dormouse/interact/{place}/"))
        .by(&bob)
        .send()
        .await;
    other.problem(404, "unknown_item");
    let audit = service
        .call(
            "GET",
            &format!("dormouse/audit/?after={}&limit=1", place - 1),
        )
        .send()
        .await
        .ok(200);
    assert_eq!(audit["events"][0]["kind"], "perceived");
    assert_eq!(audit["next"], place);
    // The memory indexes a turn when the next one begins.
    let more = json!({"words": "Good day"});
    let more = service.call("POST", "dormouse/interact/").json(&more);
    more.send().await.ok(200);
    let found = service
        .call("GET", "dormouse/memory/?q=kettle")
        .send()
        .await
        .ok(200);
    let record = found["found"][0]["record"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let why = service
        .call("GET", &format!("dormouse/memory/{record}/why/"))
        .send()
        .await
        .ok(200);
    assert_eq!(why["record"]["id"], record.as_str());
    service.close().await;
}

#[tokio::test]
async fn a_stopped_assistant_keeps_messages_until_somebody_named_clears_the_stop() {
    let service = Service::open().await;
    let path = |rest: &str| format!("dormouse/emergency/{rest}");
    let trigger = service
        .call("POST", &path("trigger/"))
        .json(&json!({"reason": "fire"}));
    let stopped = trigger.clone().send().await.ok(200);
    assert_eq!(stopped["cause"], json!({"operator": "Ann"}));
    assert_eq!(stopped["reason"], "fire");
    trigger.send().await.problem(409, "already_stopped");
    let status = service.call("GET", "dormouse/status/").send().await.ok(200);
    let three = [
        "emergency_stop",
        "consecutive_errors",
        "max_consecutive_errors",
    ];
    assert_eq!(
        three.map(|name| &status[name]),
        [&json!(true), &json!(0), &json!(5)]
    );
    let words = json!({"words": "Hello?"});
    let kept = service
        .call("POST", "dormouse/interact/")
        .json(&words)
        .send()
        .await;
    let location = kept.header("location").unwrap().to_owned();
    assert_eq!(kept.ok(202)["outcome"], "waiting");
    let cleared = service.call("POST", &path("clear/")).send().await.ok(200);
    assert_eq!(cleared["emergency_stop"], false);
    service
        .call("POST", &path("clear/"))
        .send()
        .await
        .problem(409, "not_stopped");
    let resident = service.host.wake(&key("dormouse")).await.unwrap();
    resident.handle().at_rest().await;
    drop(resident);
    // The outcome is on disk a moment later.
    let outcome = loop {
        let outcome = service
            .raw("GET", &location)
            .by(&service.secret)
            .send()
            .await
            .ok(200);
        if outcome["outcome"] != "waiting" {
            break outcome;
        }
    };
    assert_eq!(outcome["outcome"], "answered", "{outcome}");
    let health = service.call("GET", "dormouse/health/").send().await.ok(200);
    assert_eq!(health["wrong"], json!([]));
    service.close().await;
}

#[tokio::test]
async fn an_assistant_that_is_switched_off_keeps_messages_until_it_is_switched_on() {
    let service = Service::open().await;
    let stop = service.call("POST", "dormouse/stop/");
    assert!(stop.clone().send().await.ok(200)["event"].is_u64());
    assert_eq!(stop.send().await.ok(200)["event"], Value::Null);
    let words = json!({"words": "Hello?"});
    let kept = service
        .call("POST", "dormouse/interact/")
        .json(&words)
        .send()
        .await;
    let place = kept.ok(202)["message"].as_u64().unwrap();
    service.call("POST", "dormouse/start/").send().await.ok(200);
    let path = format!("dormouse/interact/{place}/");
    let outcome = loop {
        let outcome = service.call("GET", &path).send().await.ok(200);
        if outcome["outcome"] != "waiting" {
            break outcome;
        }
    };
    assert_eq!(outcome["outcome"], "answered", "{outcome}");
    service.close().await;
}

#[tokio::test]
async fn settings_change_only_for_who_read_the_newest() {
    let service = Service::open().await;
    let read = service.call("GET", "dormouse/config/").send().await;
    let etag = read.header("etag").unwrap().to_owned();
    let patch = service.call("PATCH", "dormouse/config/");
    let change = |value: Value| {
        patch
            .clone()
            .json(&json!({"settings": {"limits.max_history": value}}))
    };
    change(json!(10)).send().await.problem(428, "etag_missing");
    let changed = change(json!(10)).with("if-match", &etag).send().await;
    let new = changed.header("etag").unwrap().to_owned();
    assert_ne!(new, etag);
    let its = |config: &Value| {
        let settings = config["settings"].as_array().unwrap().iter();
        let mut its = settings.filter(|it| it["name"] == "limits.max_history");
        its.next().unwrap().clone()
    };
    let setting = its(&changed.ok(200));
    assert_eq!(
        (&setting["value"], &setting["from"]),
        (&json!(10), &json!("event"))
    );
    change(json!(11))
        .with("if-match", &etag)
        .send()
        .await
        .problem(412, "stale_etag");
    for (name, value) in [
        ("limits.max_history", json!(-1)),
        ("limits.max_history", json!("many")),
        ("no.such.setting", json!(1)),
        ("provider.kind", json!("openai")),
        ("server.burst", json!(1)),
    ] {
        let wrong = patch
            .clone()
            .json(&json!({"settings": {"limits.max_history": 12, name: value}}));
        let wrong = wrong.with("if-match", &new).send().await;
        wrong.problem(422, "invalid_value");
    }
    let back = change(Value::Null)
        .with("if-match", &new)
        .send()
        .await
        .ok(200);
    assert_eq!(its(&back)["from"], "default");
    service.close().await;
}

#[tokio::test]
async fn goals_journal_and_sleep_are_changed_in_the_name_of_the_token() {
    let service = Service::open().await;
    let goal = json!({"text": "Brew tea", "priority": 8, "every": "daily 20:00"});
    let set = service
        .call("POST", "dormouse/goals/")
        .json(&goal)
        .send()
        .await
        .ok(201);
    assert_eq!(
        (&set["priority"], &set["repeats"]),
        (&json!(8), &json!("daily 20:00"))
    );
    let number = set["goal"].as_u64().unwrap();
    let path = format!("dormouse/goals/{number}/");
    service
        .call("PATCH", &path)
        .json(&json!({"priority": 3, "note": "later"}))
        .send()
        .await
        .ok(200);
    let goals = service.call("GET", "dormouse/goals/").send().await.ok(200);
    assert_eq!(goals["goals"][0]["note"], "later");
    service
        .call("PATCH", &path)
        .json(&json!({"status": "done"}))
        .send()
        .await
        .ok(200);
    let goals = service.call("GET", "dormouse/goals/").send().await.ok(200);
    assert_eq!(goals["goals"], json!([]));

    let entry = json!({"content": "The kettle is blue", "tags": ["kettle"], "importance": 7.0});
    service
        .call("POST", "dormouse/journal/")
        .json(&entry)
        .send()
        .await
        .ok(201);
    let found = service
        .call("GET", "dormouse/journal/?q=kettle")
        .send()
        .await
        .ok(200);
    assert_eq!(found["entries"][0]["content"], "The kettle is blue");
    assert!(found["entries"][0]["why"].is_string());
    let listed = service
        .call("GET", "dormouse/journal/?tag=kettle&limit=1")
        .send()
        .await
        .ok(200);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1);

    service
        .call("POST", "dormouse/sleep/")
        .json(&json!({"reason": "late"}))
        .send()
        .await
        .ok(200);
    let sleep = service.call("GET", "dormouse/sleep/").send().await.ok(200);
    assert_eq!(sleep["is_asleep"], true);
    assert_eq!(sleep["nights"][0]["reason"], "late");
    let status = service.call("GET", "dormouse/status/").send().await.ok(200);
    assert_eq!(status["operating_mode"], "asleep");
    service.call("POST", "dormouse/wake/").send().await.ok(200);
    service
        .call("POST", "dormouse/wake/")
        .send()
        .await
        .problem(409, "conflict");
    service.close().await;
}

#[tokio::test]
async fn a_repeated_request_with_its_key_is_carried_out_once() {
    let service = Service::open().await;
    let say = |key: &str, words: &str| {
        let call = service
            .call("POST", "dormouse/interact/")
            .json(&json!({"words": words}));
        call.with("idempotency-key", key)
    };
    let first = say("a", "Good day").send().await;
    let again = say("a", "Good day").send().await;
    assert_eq!(first.ok(200), again.ok(200));
    assert_eq!(
        (
            first.header("idempotent-replayed"),
            again.header("idempotent-replayed")
        ),
        (None, Some("true"))
    );
    say("a", "Good night")
        .send()
        .await
        .problem(422, "idempotency_mismatch");
    say(&"k".repeat(129), "Hi")
        .send()
        .await
        .problem(400, "invalid_request");
    // Another token has keys of its own.
    let bob = service.token("Bob", &[Right::Talk], None);
    say("a", "Good day").by(&bob).send().await.ok(200);
    let events = service
        .host
        .log()
        .read(&key("dormouse"), Seq::ZERO, 10_000)
        .await
        .unwrap();
    let heard = events.iter().filter(|event| event.kind == "perceived");
    let said: Vec<_> = heard
        .map(|it| String::from_utf8_lossy(&it.payload).contains("Good day"))
        .collect();
    assert_eq!(
        said.iter().filter(|is_it| **is_it).count(),
        2,
        "one of Ann and one of Bob"
    );
    // A refused request changed nothing, so a corrected one may use the same key.
    let new = |key: &str| {
        service
            .call("POST", "")
            .json(&json!({"key": key}))
            .with("idempotency-key", "b")
    };
    new("../x").send().await.problem(400, "invalid_key");
    new("hare").send().await.ok(201);
    new("hare").send().await.ok(201);
    let known: BTreeSet<_> = service
        .host
        .known()
        .unwrap()
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(known.len(), 2);
    service.close().await;
}
