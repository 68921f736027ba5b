//! Every domain of one assistant: what is read, and what is changed in the name of the token.

use std::time::Duration;

use dormouse_contracts::{Append, AppendRequest, Clock, Seq, Trust};
use dormouse_engine::{ApprovalRequested, Event, restore};
use serde_json::{Value, json};

use crate::service::{Service, key};

impl Service {
    /// Reads something of the assistant `dormouse`.
    async fn get(&self, path: &str) -> Value {
        let call = self.call("GET", &format!("dormouse/{path}"));
        call.send().await.ok(200)
    }

    /// Changes something of the assistant `dormouse`.
    async fn change(&self, method: &str, path: &str, body: Value, status: u16) -> Value {
        let call = self.call(method, &format!("dormouse/{path}"));
        call.json(&body).send().await.ok(status)
    }

    async fn refuse(&self, method: &str, path: &str, body: Value, (status, code): (u16, &str)) {
        let call = self.call(method, &format!("dormouse/{path}"));
        call.json(&body).send().await.problem(status, code);
    }
}

#[tokio::test]
async fn what_it_remembers_and_whom_it_knows_is_read_changed_and_taken_back() {
    let service = Service::open().await;
    let words = json!({"words": "Hello, I am Ann"});
    service.change("POST", "interact/", words, 200).await;
    records(&service).await;
    entities(&service).await;
    conversations(&service).await;
    service.close().await;
}

async fn records(service: &Service) {
    let tea = json!({"text": "The blue kettle is for tea", "kind": "fact", "tags": ["kettle"], "at": "2026-11-23T10:00:00Z"});
    let added = service.change("POST", "memory/", tea.clone(), 201).await;
    let id = added["id"].as_str().unwrap();
    let again = service.change("POST", "memory/", tea, 200).await;
    assert_eq!((&again["id"], &again["event"]), (&json!(id), &Value::Null));
    let record = service.get(&format!("memory/{id}/")).await;
    assert_eq!(
        (&record["kind"], &record["status"], &record["audience"]),
        (&json!("fact"), &json!("live"), &json!("public"))
    );
    let found = service.get("memory/?q=blue%20kettle").await;
    assert_eq!(found["found"][0]["record"]["id"], id);
    let why = service.get(&format!("memory/{id}/why/")).await;
    assert_eq!(why["changes"][0]["reason"], "added over HTTP");

    let on = |what: &str| format!("memory/{id}/{what}/");
    let publish = service.change("POST", &on("publish"), json!({}), 200).await;
    assert_eq!(publish["event"], Value::Null, "it is public already");
    let because = json!({"reason": "it is green"});
    let withdrawn = service.change("POST", &on("withdraw"), because, 200).await;
    let event = withdrawn["event"].as_u64().unwrap();
    let undo = json!({ "event": event });
    service
        .change("POST", "memory/undo/", undo.clone(), 200)
        .await;
    service
        .refuse("POST", "memory/undo/", undo, (409, "conflict"))
        .await;
    let ended = json!({"since": "2026-11-24T10:00:00Z"});
    service.change("POST", &on("supersede"), ended, 200).await;
    let early = json!({"since": "1999-01-01T00:00:00Z"});
    service
        .refuse("POST", &on("supersede"), early, (422, "invalid_value"))
        .await;
    let of_nothing = json!({"by": "99999"});
    service
        .refuse("POST", &on("supersede"), of_nothing, (404, "unknown_item"))
        .await;
    service.change("POST", &on("erase"), json!({}), 200).await;
    let erased = service.get(&format!("memory/{id}/")).await;
    assert_eq!(erased["text"], "");

    let all = service.get("memory/records/?all=true").await;
    let count = all["records"].as_array().unwrap().len();
    let first = service.get("memory/records/?all=true&limit=1").await;
    let next = first["next"].as_str().unwrap();
    let rest = service
        .get(&format!("memory/records/?all=true&after={next}"))
        .await;
    assert_eq!(rest["records"].as_array().unwrap().len(), count - 1);
    let stats = service.get("memory/stats/").await;
    assert_eq!(stats["records"], count);
    hygiene(service).await;
}

/// Two records of the same words at different times are folded into one, which an undo takes back.
async fn hygiene(service: &Service) {
    for at in ["2026-11-24T09:00:00Z", "2026-11-24T10:00:00Z"] {
        let note = json!({"text": "The lamp in the hall is broken", "at": at});
        service.change("POST", "memory/", note, 201).await;
    }
    let before = service.get("memory/hygiene/").await;
    let found = before["report"]["exact_duplicates"]["count"]
        .as_u64()
        .unwrap();
    assert!(found >= 1, "{before}");
    assert_eq!(before["folded"], json!([]));
    let in_use = |view: &serde_json::Value| view["in_use"].as_u64().unwrap();
    let folded = service
        .change("POST", "memory/hygiene/", json!({}), 200)
        .await;
    let event = folded["folded"][0].as_u64().unwrap();
    let after = service.get("memory/hygiene/").await;
    assert!(in_use(&after) < in_use(&before), "{after}");
    assert_eq!(after["report"]["exact_duplicates"]["count"], 0, "{after}");
    service
        .change("POST", "memory/undo/", json!({ "event": event }), 200)
        .await;
    let undone = service.get("memory/hygiene/").await;
    assert!(in_use(&undone) > in_use(&after), "{undone}");
}

async fn entities(service: &Service) {
    let bob = json!({"entity": "player:bob", "name": "Bob"});
    service.change("POST", "entities/", bob.clone(), 201).await;
    service
        .refuse("POST", "entities/", bob, (409, "conflict"))
        .await;
    let set = json!({"name": "Robert", "trust": 0.75, "favorability": -0.5, "interests": ["tea"], "preferences": {"drink": "tea"}, "add_aliases": ["Rob"]});
    let changed = service
        .change("PATCH", "entities/player:bob/", set, 200)
        .await;
    assert_eq!(changed["events"].as_array().unwrap().len(), 5, "{changed}");
    let profile = service.get("entities/player:bob/").await;
    assert_eq!(
        [
            &profile["name"],
            &profile["trust"],
            &profile["preferences"]["drink"]
        ],
        [&json!("Robert"), &json!(0.75), &json!("tea")]
    );
    assert_eq!(profile["aliases"], json!(["Bob", "Rob"]));
    // Either all of it is set or nothing.
    let half = json!({"name": "Bobby", "trust": 2.0});
    service
        .refuse(
            "PATCH",
            "entities/player:bob/",
            half,
            (422, "invalid_value"),
        )
        .await;
    let noticed = json!({"text": "Waters the herbs at noon", "source": "told"});
    service
        .change("POST", "entities/player:bob/observations/", noticed, 201)
        .await;
    let profile = service.get("entities/player:bob/").await;
    assert_eq!(
        (
            &profile["name"],
            profile["noticed"].as_array().unwrap().len()
        ),
        (&json!("Robert"), 1)
    );

    let rob = json!({"entity": "player:rob", "name": "Rob", "entity_type": "npc"});
    service.change("POST", "entities/", rob, 201).await;
    let into = json!({"into": "player:bob"});
    service
        .change("POST", "entities/player:rob/merge/", into, 200)
        .await;
    assert_eq!(
        service.get("entities/player:rob/").await["entity"],
        "player:bob"
    );
    service
        .change("POST", "entities/player:rob/unmerge/", json!({}), 200)
        .await;
    service
        .change("DELETE", "entities/player:rob/", json!({}), 200)
        .await;
    let gone = service
        .call("GET", "dormouse/entities/player:rob/")
        .send()
        .await;
    gone.problem(404, "unknown_item");
    service
        .change("POST", "entities/player:rob/restore/", json!({}), 200)
        .await;
    service
        .refuse(
            "POST",
            "entities/player:rob/restore/",
            json!({}),
            (409, "conflict"),
        )
        .await;
    let page = service.get("entities/?limit=2").await;
    let next = page["next"].as_str().unwrap();
    assert_eq!(
        (page["entities"].as_array().unwrap().len(), next),
        (2, "player:bob")
    );
    let rest = service.get(&format!("entities/?after={next}")).await;
    assert_eq!(rest["entities"][0]["entity"], "player:rob");
}

async fn conversations(service: &Service) {
    let running = service.get("conversations/").await;
    assert_eq!(
        running["conversations"][0]["entity"], "player:ann",
        "{running}"
    );
    let action = json!({"entity": "player:ann", "description": "Show her the kettle", "priority": 3, "due_at": "2030-01-01T00:00:00Z"});
    service
        .change("POST", "pending-actions/", action, 201)
        .await;
    let pending = service.get("pending-actions/").await;
    let its = &pending["pending_actions"][0];
    assert_eq!(
        (&its["priority"], &its["entity"]),
        (&json!(3), &json!("player:ann"))
    );
    let complete = format!("pending-actions/{}/complete/", its["action"]);
    let done = json!({"entity": "player:ann"});
    service.change("POST", &complete, done.clone(), 200).await;
    service
        .refuse("POST", &complete, done, (404, "unknown_item"))
        .await;
    let with_nobody = json!({"entity": "player:bob", "description": "Wait"});
    service
        .refuse(
            "POST",
            "pending-actions/",
            with_nobody,
            (404, "unknown_item"),
        )
        .await;
    let with_ann = service.get("conversations/player:ann/").await;
    assert_eq!(with_ann["messages"][0]["words"], "Hello, I am Ann");
    service
        .change("POST", "conversations/player:ann/end/", json!({}), 200)
        .await;
    let with_ann = service.get("conversations/player:ann/").await;
    assert_eq!(
        (&with_ann["running"], &with_ann["ended"][0]["number"]),
        (&Value::Null, &json!(1))
    );
}

#[tokio::test]
async fn how_it_works_and_what_it_keeps_for_itself_is_read_and_changed() {
    let service = Service::open().await;
    let words = json!({"words": "look around, please"});
    service.change("POST", "interact/", words, 200).await;
    own(&service).await;
    execution(&service).await;
    prompts(&service).await;
    let history = service.get("history/").await;
    assert_eq!(history["turns"][0]["words"], "look around, please");
    let reset = service
        .change("POST", "history/reset/", json!({}), 200)
        .await;
    assert_eq!(reset["turns"], json!([]));

    let begun = service.get("audit/state/?at=1").await;
    assert_eq!(begun["event"], 1);
    let now = service.get("audit/state/").await;
    assert!(now["event"].as_u64() > begun["event"].as_u64() && now["state"].is_object());
    let call = service.call("GET", "dormouse/audit/state/?at=999999");
    call.send().await.problem(404, "unknown_item");

    let asked = service
        .change(
            "POST",
            "reflection/",
            json!({"reason": "it was a long day"}),
            200,
        )
        .await;
    assert!(asked["event"].is_u64());
    assert!(service.get("reflection/").await["every_ticks"].is_u64());
    approvals(&service).await;
    service.close().await;
}

async fn own(service: &Service) {
    let boat = json!({"summary": "Build a boat", "context": "There is wood"});
    service.change("POST", "projects/", boat, 201).await;
    service
        .change("POST", "projects/", json!({"summary": "Plant herbs"}), 201)
        .await;
    let listed = service.get("projects/").await;
    let status = |at: usize| listed["projects"][at]["status"].clone();
    assert_eq!([status(0), status(1)], [json!("active"), json!("paused")]);
    let swap = json!({"update": "The hull is done"});
    service
        .change("POST", "projects/project-2/swap/", swap, 200)
        .await;
    let again = service
        .change("POST", "projects/2/swap/", json!({}), 200)
        .await;
    assert_eq!(again["event"], Value::Null);
    let done = json!({"completed": true});
    service.change("PATCH", "projects/1/", done, 200).await;
    let boat = service.get("projects/1/").await;
    assert_eq!(
        (&boat["status"], &boat["context"]),
        (&json!("completed"), &json!("The hull is done"))
    );
    service
        .refuse("PATCH", "projects/1/", json!({}), (422, "invalid_value"))
        .await;
    service
        .refuse("POST", "projects/9/swap/", json!({}), (404, "unknown_item"))
        .await;

    let fact = json!({"kind": "fact", "text": "Ann likes jasmine tea"});
    service
        .change("POST", "session-memory/", fact.clone(), 201)
        .await;
    service
        .refuse("POST", "session-memory/", fact, (409, "conflict"))
        .await;
    let notes = service.get("session-memory/?kind=fact").await;
    let note = notes["notes"][0]["note"].as_u64().unwrap();
    assert_eq!(
        service.get("session-memory/?kind=pattern").await["notes"],
        json!([])
    );
    service
        .change("DELETE", &format!("session-memory/{note}/"), json!({}), 200)
        .await;
    let call = service.call("DELETE", &format!("dormouse/session-memory/{note}/"));
    call.send().await.problem(404, "unknown_item");
}

async fn execution(service: &Service) {
    let shown = service.get("execution/").await;
    let patterns = shown["patterns"].as_array().unwrap();
    assert_eq!(patterns.len(), 7);
    assert_eq!(shown["settings"].as_array().unwrap().len(), 10);
    let calls = service.get("execution/log/?limit=5").await;
    let last = calls["calls"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["success"], true);
    assert_eq!(
        service.get("execution/log/?failed=true").await["calls"],
        json!([])
    );
    let metrics = service.get("execution/metrics/").await;
    assert!(metrics["tools"][last["tool"].as_str().unwrap()]["calls"].as_u64() >= Some(1));
    let tools = service.get("tools/").await;
    let counts = tools["categories"].as_array().unwrap().iter();
    let sum: u64 = counts.map(|it| it["count"].as_u64().unwrap()).sum();
    assert_eq!(tools["count"], sum);

    let etag = service.call("GET", "dormouse/contexts/").send().await;
    let etag = etag.header("etag").unwrap().to_owned();
    let patch = service
        .call("PATCH", "dormouse/contexts/tick_event/")
        .json(&json!({"max_iterations": 2}));
    let changed = patch.clone().with("if-match", &etag).send().await.ok(200);
    assert_eq!(
        (
            &changed["contexts"][0]["max_iterations"],
            &changed["contexts"][0]["from"]["max_iterations"]
        ),
        (&json!(2), &json!("context"))
    );
    patch
        .with("if-match", &etag)
        .send()
        .await
        .problem(412, "stale_etag");
    // No state of the settings allows these numbers, so it is not worth reading them again.
    for impossible in [
        json!({"number": 0}),
        json!({"number": 6000}),
        json!({"budget": 2_147_483_648_u32}),
    ] {
        let patch = service.call("PATCH", "dormouse/components/mine/");
        let patch = patch.with("if-match", &etag).json(&impossible);
        patch.send().await.problem(422, "invalid_value");
    }
    service
        .refuse(
            "PATCH",
            "contexts/tick_event/",
            json!({"max_iterations": 11}),
            (422, "invalid_value"),
        )
        .await;
    service
        .refuse(
            "PATCH",
            "contexts/tick_never/",
            json!({}),
            (404, "unknown_item"),
        )
        .await;
    let back = service
        .change("PATCH", "contexts/tick_event/", json!({}), 200)
        .await;
    assert_eq!(back["contexts"][0]["decided"], Value::Null);
}

async fn prompts(service: &Service) {
    let order = json!({"order": ["context_buffer", "goals"]});
    let moved = service
        .change("POST", "components/reorder/", order, 200)
        .await;
    assert_eq!(moved["order"], json!(["context_buffer", "goals"]));
    let twice = json!({"order": ["goals", "goals"]});
    service
        .refuse("POST", "components/reorder/", twice, (422, "invalid_value"))
        .await;
    let off = json!({"enabled": false});
    service
        .change("PATCH", "components/context_buffer/", off.clone(), 200)
        .await;
    service
        .refuse(
            "PATCH",
            "components/system_prompt/",
            off,
            (422, "invalid_value"),
        )
        .await;
    let rules = json!({"number": 1200, "text": "{name} never speaks of the cellar."});
    let own = service
        .change("PATCH", "components/house_rules/", rules, 200)
        .await;
    let parts = own["components"].as_array().unwrap();
    let its = |name: &str| {
        parts
            .iter()
            .find(|it| it["component"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(its("context_buffer")["enabled"], false);
    assert_eq!(
        (&its("house_rules")["is_own"], &its("goals")["is_movable"]),
        (&json!(true), &json!(true))
    );

    let gruff = json!({"name": "gruff", "text": "You are {name}, a gruff ferryman."});
    service
        .change("POST", "templates/", gruff.clone(), 201)
        .await;
    service
        .refuse("POST", "templates/", gruff, (409, "conflict"))
        .await;
    service
        .change(
            "POST",
            "templates/default/clone/",
            json!({"name": "before"}),
            201,
        )
        .await;
    let applied = service
        .change("POST", "templates/gruff/apply/", json!({}), 200)
        .await;
    let names = applied["templates"].as_array().unwrap().iter();
    let names: Vec<_> = names
        .map(|it| (it["name"].clone(), it["is_applied"].clone()))
        .collect();
    assert_eq!(
        names,
        [
            (json!("default"), json!(false)),
            (json!("before"), json!(false)),
            (json!("gruff"), json!(true))
        ]
    );
    service
        .refuse(
            "POST",
            "templates/nobody/apply/",
            json!({}),
            (404, "unknown_item"),
        )
        .await;

    let preview = service
        .get("prompt/preview/?context_type=tick_autonomous")
        .await;
    assert_eq!(preview["context_type"], "tick_autonomous");
    let tokens = preview["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["tokens"].as_u64().unwrap());
    assert!(tokens.sum::<u64>() <= preview["total"].as_u64().unwrap());
    for (query, status) in [
        ("?context_type=never", 404),
        ("?at=999999", 404),
        ("?at=x", 400),
    ] {
        let call = service.call("GET", &format!("dormouse/prompt/preview/{query}"));
        assert_eq!(call.send().await.status, status, "{query}");
    }
}

/// Of another assistant, whose log has a request for an approval.
async fn approvals(service: &Service) {
    let create = service.call("POST", "").json(&json!({"key": "hare"}));
    create.send().await.ok(201);
    service
        .call("POST", "hare/goals/")
        .json(&json!({"text": "Brew tea"}))
        .send()
        .await
        .ok(201);
    let archive = |archived: bool| {
        service
            .call("PATCH", "hare/")
            .json(&json!({"archived": archived}))
    };
    archive(true).send().await.ok(200);
    service
        .call("POST", "hare/goals/")
        .json(&json!({"text": "Sleep"}))
        .send()
        .await
        .problem(409, "archived");
    // It is put away a moment later, and writes no more then.
    while service.host.if_awake(&key("hare")).await.is_some() {
        tokio::task::yield_now().await;
    }
    let now = service.clock.now();
    let asked = Event::ApprovalRequested(ApprovalRequested {
        digest: "00".to_owned(),
        call: dormouse_contracts::CallId::try_new("c1").unwrap(),
        tool: dormouse_contracts::ToolName::try_new("execute_command").unwrap(),
        arguments: serde_json::Map::from_iter([("command".to_owned(), json!("open gate"))]),
        expires_at: now.plus(Duration::from_secs(600)),
        trust: Trust::FULL,
        audience: None,
    });
    let expected = restore(service.host.log(), &key("hare")).await.unwrap().seq;
    let events = vec![asked.encode(now).unwrap()];
    let request = AppendRequest {
        assistant: key("hare"),
        expected,
        events,
    };
    let number: Seq = service.host.log().append(request).await.unwrap();
    archive(false).send().await.ok(200);
    let waiting = service.call("GET", "hare/approvals/").send().await.ok(200);
    assert_eq!(
        (
            &waiting["approvals"][0]["number"],
            &waiting["approvals"][0]["allowed_by"]
        ),
        (&json!(number.0), &Value::Null)
    );
    let answer = service
        .call("POST", &format!("hare/approvals/{number}/"))
        .json(&json!({"allow": false, "reason": "not today"}));
    assert_eq!(answer.clone().send().await.ok(200)["approvals"], json!([]));
    answer.send().await.problem(404, "unknown_item");
}
