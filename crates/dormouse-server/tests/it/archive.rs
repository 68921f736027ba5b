//! Lives and memories as files, work of a model that somebody asks for, and keys of idempotency that outlive the service.

use dormouse_contracts::Seq;
use dormouse_engine::replay;
use dormouse_server::Right;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::{
    client::Answer,
    service::{Service, key},
};

/// Lets the assistant hear something that it remembers.
async fn with_words() -> Service {
    let service = Service::open().await;
    let words = json!({"words": "Remember that the kettle is in the blue box."});
    service
        .call("POST", "dormouse/interact/")
        .json(&words)
        .send()
        .await
        .ok(200);
    service
}

#[tokio::test]
async fn a_life_is_exported_and_goes_on_in_another_service() {
    let here = with_words().await;
    let file = here.call("GET", "dormouse/audit/archive/").send().await;
    assert_eq!(file.status, 200);
    assert_eq!(file.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(
        file.header("content-disposition"),
        Some("attachment; filename=\"dormouse.life.jsonl\"")
    );
    let there = Service::open().await;
    let import = there
        .call("POST", "mole/audit/archive/?name=Mole&reason=it+moves")
        .lines(file.body.clone());
    let imported = import.clone().send().await;
    assert_eq!(
        imported.header("location"),
        Some("/api/ai/assistants/mole/")
    );
    let view = imported.ok(201);
    assert_eq!(
        (&view["key"], &view["original"]),
        (&json!("mole"), &json!("dormouse"))
    );
    assert_eq!(view["is_same_state"], true);
    let events = Seq(view["events"].as_u64().unwrap());
    let state = replay(here.host.log(), &key("dormouse"), events)
        .await
        .unwrap();
    assert_eq!(view["state"], state.hash().unwrap());
    let mole = there.call("GET", "mole/").send().await.ok(200);
    assert_eq!(
        (&mole["name"], &mole["wrong"]),
        (&json!("Mole"), &json!(["switched_off"]))
    );
    let audit = there
        .call("GET", &format!("mole/audit/?after={events}"))
        .send()
        .await
        .ok(200);
    assert_eq!(audit["events"][0]["data"]["reason"], "it moves");
    import.send().await.problem(409, "key_taken");
    there
        .call("POST", "vole/audit/archive/")
        .lines(file.body.clone())
        .send()
        .await
        .problem(422, "invalid_value");
    there.call("POST", "mole/start/").send().await.ok(200);
    let words = json!({"words": "Where is the kettle?"});
    let answer = there
        .call("POST", "mole/interact/")
        .json(&words)
        .send()
        .await
        .ok(200);
    assert!(answer.to_string().contains("blue box"), "{answer}");
    here.close().await;
    there.close().await;
}

#[tokio::test]
async fn a_life_is_refused_that_is_damaged_too_large_or_not_for_this_token() {
    let service =
        Service::with("archive_mib = 1\nrequests_per_minute = 100000\nburst = 1000").await;
    let file = service.call("GET", "dormouse/audit/archive/").send().await;
    let import = |body: Vec<u8>| {
        let call = service.call("POST", "mole/audit/archive/");
        call.lines(body)
    };
    let mut damaged = file.body.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    import(damaged).send().await.problem(422, "invalid_value");
    let cut = file.body[..middle].to_vec();
    import(cut).send().await.problem(422, "invalid_value");
    import(Vec::new())
        .send()
        .await
        .problem(422, "invalid_value");
    import(vec![b'x'; 3 << 20])
        .send()
        .await
        .problem(422, "invalid_value");
    let header = file.body.split_inclusive(|it| *it == b'\n').next().unwrap();
    let large = [header, &vec![b'x'; 3 << 20]].concat();
    import(large).send().await.problem(413, "too_large");
    let typed = import(file.body.clone()).with("content-type", "application/json");
    typed.send().await.problem(415, "content_type");
    let reader = service.token("Bob", &[Right::Read], None);
    let body = file.body.clone();
    import(body.clone())
        .by(&reader)
        .send()
        .await
        .problem(403, "scope");
    let talker = service.token("Eve", &[Right::Talk], None);
    let export = service.call("GET", "dormouse/audit/archive/").by(&talker);
    export.send().await.problem(403, "scope");
    service
        .call("GET", "nobody/audit/archive/")
        .send()
        .await
        .problem(404, "unknown_assistant");
    service
        .call("POST", "dormouse/audit/archive/")
        .lines(body)
        .send()
        .await
        .problem(409, "key_taken");
    let known = service.call("GET", "").send().await.ok(200);
    assert_eq!(known["assistants"].as_array().unwrap().len(), 1);
    service.close().await;
}

#[tokio::test]
async fn a_memory_is_exported_and_imported_and_lines_that_are_not_records_are_named() {
    let service = with_words().await;
    let file = service.call("GET", "dormouse/memory/export/").send().await;
    assert!(file.text().contains("blue box"), "{}", file.text());
    let import = |path: &str, body: Vec<u8>| service.call("POST", path).lines(body);
    let same = import("dormouse/memory/import/?own=true", file.body.clone());
    let same = same.send().await.ok(200);
    assert_eq!((&same["added"], &same["refused"]), (&json!(0), &json!(0)));
    let lines = "{\"text\":\"The boat is green.\"}\n\n{\"text\":7}\nno JSON\n{\"text\":\"The door is red.\"}";
    let path = "dormouse/memory/import/?public=true&trust=0.9";
    let imported = import(path, lines.into()).send().await.ok(200);
    assert_eq!(
        (&imported["lines"], &imported["added"], &imported["refused"]),
        (&json!(4), &json!(2), &json!(2))
    );
    let refusals = imported["refusals"].as_array().unwrap();
    let numbers: Vec<_> = refusals
        .iter()
        .map(|it| it["line"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [3, 4]);
    let found = service
        .call("GET", "dormouse/memory/?q=boat")
        .send()
        .await
        .ok(200);
    assert!(found.to_string().contains("The boat is green."), "{found}");
    // More than a batch, whose lines are numbered through.
    let many: String = (0..30_000)
        .map(|number| format!("{{\"text\":\"Fact {number} about tea.\"}}\n"))
        .collect();
    let wrong = format!("{many}oops\n");
    let imported = import(path, wrong.into()).send().await.ok(200);
    assert_eq!(imported["added"], 30_000);
    assert_eq!(imported["refusals"][0]["line"], 30_001);
    import("dormouse/memory/import/?trust=2", Vec::new())
        .send()
        .await
        .problem(400, "invalid_request");
    service.close().await;
}

#[tokio::test]
async fn a_model_consolidates_compacts_and_concludes_when_it_is_asked_to() {
    let service = with_words().await;
    let forecast = service
        .call("GET", "dormouse/memory/consolidation/")
        .send()
        .await
        .ok(200);
    assert!(forecast["records"].as_u64().unwrap() > 0, "{forecast}");
    let ask = |path: &str, body| service.call("POST", path).json(&body);
    let done = ask("dormouse/memory/consolidation/", json!({"requests": 50}));
    let done = done.send().await.ok(200);
    assert_eq!(done["end"], "done", "{done}");
    assert!(done["records"].as_u64().unwrap() > 0, "{done}");
    let forecast = service
        .call("GET", "dormouse/memory/consolidation/")
        .send()
        .await
        .ok(200);
    assert_eq!(forecast["records"], 0);
    let would = service
        .call("GET", "dormouse/history/compact/")
        .send()
        .await
        .ok(200);
    assert!(would["before"].as_u64().unwrap() > 0, "{would}");
    let compacted = ask("dormouse/history/compact/", json!({}))
        .send()
        .await
        .ok(200);
    assert_eq!(
        (&compacted["dropped"], &compacted["failed"]),
        (&json!(0), &json!(0))
    );
    let concluded = ask("dormouse/reflection/conclude/", json!({"requests": 5}));
    let concluded = concluded.send().await.ok(200);
    assert_eq!(concluded["end"], "done", "{concluded}");
    for requests in [0, 101] {
        ask(
            "dormouse/memory/consolidation/",
            json!({"requests": requests}),
        )
        .send()
        .await
        .problem(422, "invalid_value");
    }
    ask("nobody/history/compact/", json!({}))
        .send()
        .await
        .problem(404, "unknown_assistant");
    assert_eq!(service.host.known().unwrap().len(), 1);
    service.close().await;
}

#[tokio::test]
async fn a_night_is_seen_with_the_pieces_of_its_work() {
    let service = with_words().await;
    service
        .call("POST", "dormouse/sleep/")
        .json(&json!({"reason": "late"}))
        .send()
        .await
        .ok(200);
    loop {
        let sleep = service.call("GET", "dormouse/sleep/").send().await.ok(200);
        let steps = &sleep["nights"][0]["steps"];
        let is_worked_on = |it: &serde_json::Value| it["ticks"].as_u64().unwrap() > 0;
        if steps.as_array().unwrap().iter().any(is_worked_on) {
            break;
        }
        tokio::task::yield_now().await;
    }
    service.close().await;
}

#[tokio::test]
async fn a_key_of_idempotency_is_known_after_the_service_was_started_again() {
    let service = Service::open().await;
    let create = |service: &Service, body| {
        let call = service.call("POST", "");
        call.with("idempotency-key", "7").json(&body)
    };
    let mole = json!({"key": "mole"});
    let first = create(&service, mole.clone()).send().await;
    assert_eq!(first.header("idempotent-replayed"), None);
    let first = first.ok(201);
    let service = service.again().await;
    let again = create(&service, mole).send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("location"), Some("/api/ai/assistants/mole/"));
    assert_eq!(again.ok(201), first);
    create(&service, json!({"key": "rat"}))
        .send()
        .await
        .problem(422, "idempotency_mismatch");
    service.close().await;
}

#[tokio::test]
async fn a_client_that_sends_a_life_too_slowly_is_answered() {
    let service = Service::with("patience = 1\nrequests_per_minute = 100000\nburst = 1000").await;
    let file = service.call("GET", "dormouse/audit/archive/").send().await;
    let address = service.address;
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /api/ai/assistants/mole/audit/archive/ HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
        content-type: application/x-ndjson\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        service.secret,
        file.body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&file.body[..100]).await.unwrap();
    let mut bytes = Vec::new();
    drop(tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut bytes).await);
    Answer::of(&bytes).problem(408, "too_slow");
    assert_eq!(service.host.known().unwrap().len(), 1);
    service.close().await;
}
