//! A world outside of the program, which reaches its assistants over HTTP.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, Clock, Effect, EffectInquiry, EffectKey, EntityId, Habitat, Perception, Query,
    ToolName,
};
use dormouse_server::{Fact, NewToken, Right, TokenSecret};
use dormouse_testing::conformance::{self, FeedFixture, SensesFixture, WorldFixture};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    client::{Answer, Call},
    service::{Service, key},
};

/// A folder whose assistants live in a world outside.
const OUTSIDE: &str =
    "[world]\nkind = \"http\"\n[server]\nrequests_per_minute = 100000\nburst = 1000\n";

const WORLD: &str = "/api/ai/world/";

fn call(service: &Service, method: &str, path: &str) -> Call {
    let path = format!("{WORLD}{path}");
    service.raw(method, &path).by(&service.secret)
}

/// A page to this assistant.
fn page(id: &str, to: &str, words: &str) -> Value {
    json!({
        "id": id,
        "to": [to],
        "attested": {"how": "page", "sender": {"id": "player:alice", "name": "Alice"}},
        "claimed": {"words": words},
    })
}

/// Two tools: `say`, and `look`, which shows how often something was said.
fn tools() -> Value {
    let message = json!({"type": "string", "minLength": 1, "maxLength": 4000});
    let say = json!({"type": "object", "properties": {"message": message}, "required": ["message"],
        "additionalProperties": false});
    json!({"tools": [
        {"name": "say", "description": "Say something aloud to everyone here.", "parameters": say,
            "category": "terminal", "speech": {"kind": "aloud", "words": "message"}},
        {"name": "look", "description": "Look around.", "parameters": {"type": "object"}, "reach": "query"},
    ]})
}

/// A world of one room. It answers requests until it is dropped.
struct Room {
    said: Arc<AtomicU64>,
    _answering: JoinSet<()>,
}

impl Room {
    fn open(service: &Service) -> Self {
        let said = Arc::new(AtomicU64::new(0));
        let (address, secret) = (service.address, service.secret.clone());
        let mut answering = JoinSet::new();
        let counted = Arc::clone(&said);
        answering.spawn(async move {
            let mut known = BTreeMap::new();
            let mut last = 0;
            loop {
                let path = format!("{WORLD}effects/?after={last}&wait_seconds=10");
                let page = Call::new(address, "GET", &path).by(&secret).send().await;
                let page = page.ok(200);
                last = page["last"].as_u64().unwrap();
                for request in page["effects"].as_array().unwrap() {
                    let receipt = answer(request, &counted, &mut known);
                    let posted = Call::new(address, "POST", &format!("{WORLD}receipts/"));
                    posted.by(&secret).json(&receipt).send().await.ok(200);
                }
            }
        });
        Self {
            said,
            _answering: answering,
        }
    }
}

/// What the room answers, and keeps under the id of an act.
fn answer(request: &Value, said: &AtomicU64, known: &mut BTreeMap<String, Value>) -> Value {
    let id = request["id"].as_str().unwrap().to_owned();
    let kept = known.get(&id).cloned();
    match (request["ask"].as_str().unwrap(), kept) {
        ("observe", _) => {
            json!({"id": id, "outcome": "done", "detail": {"said": said.load(SeqCst)}})
        }
        (_, Some(receipt)) => receipt,
        ("became_of", None) => json!({"id": id, "outcome": "never_seen"}),
        (_, None) => {
            let words = request["arguments"]["message"].as_str().unwrap_or_default();
            let receipt = match words.trim().is_empty() {
                true => {
                    json!({"id": id, "outcome": "rejected", "reason": "there is nothing to say"})
                }
                false => {
                    said.fetch_add(1, SeqCst);
                    let actor = format!("assistant:{}", request["assistant"].as_str().unwrap());
                    let audience = json!({"entities": ["player:alice", actor]});
                    json!({"id": id, "outcome": "done", "detail": {"heard_by": 1},
                        "heard_by": {"entities": ["player:alice"]},
                        "perceptions": [{"attested": {"how": "say", "cause": id, "audience": audience},
                            "claimed": {"words": words}}]})
                }
            };
            known.insert(id, receipt.clone());
            receipt
        }
    }
}

fn say(key: &str, words: &str) -> Effect {
    Effect {
        key: EffectKey::try_new(key).unwrap(),
        actor: AssistantId::try_new("hare").unwrap(),
        tool: ToolName::try_new("say").unwrap(),
        arguments: json!({ "message": words }).as_object().unwrap().clone(),
        reply_to: None,
        within: None,
    }
}

/// Assistants who are in the world and do not live: what they perceive is kept for the suites.
async fn lifeless(service: &Service, keys: &[&str]) {
    for name in keys {
        let made = service.call("POST", "").json(&json!({ "key": name }));
        made.send().await.ok(201);
        drop(service.host.wake(&key(name)).await.unwrap());
        let archived = service.call("DELETE", &format!("{name}/")).send().await;
        assert_eq!(archived.status, 200, "{}", archived.text());
    }
}

fn habitat(service: &Service) -> Arc<dyn Habitat> {
    service.host.world().habitat()
}

fn entity(id: &str) -> EntityId {
    EntityId::try_new(id).unwrap()
}

fn senses_fixture(service: &Service) -> SensesFixture {
    let (address, secret) = (service.address, service.secret.clone());
    let count = Arc::new(AtomicU64::new(0));
    SensesFixture {
        observer: entity("assistant:hare"),
        another: entity("assistant:mole"),
        stranger: entity("player:nobody"),
        happen: Arc::new(move |observer, words| {
            let secret = secret.clone();
            let number = count.fetch_add(1, SeqCst);
            let id = format!("{address}/{number}");
            Box::pin(async move {
                let to = observer.as_str().strip_prefix("assistant:").unwrap();
                let posted = Call::new(address, "POST", &format!("{WORLD}perceptions/"));
                let posted = posted.by(&secret).json(&page(&id, to, &words));
                posted.send().await.ok(200);
            })
        }),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_senses_of_a_world_over_http_keep_their_promises_also_when_started_again() {
    let service = Service::of(OUTSIDE).await;
    lifeless(&service, &["hare", "mole"]).await;
    let left = conformance::senses(&*habitat(&service), senses_fixture(&service)).await;
    let service = service.again().await;
    conformance::senses_reopened(&*habitat(&service), senses_fixture(&service), left).await;
    service.close().await;
}

fn world_fixture(habitat: &Arc<dyn Habitat>) -> WorldFixture {
    let read = Arc::clone(habitat);
    WorldFixture {
        effect: |key| say(key.as_str(), "hello"),
        refused: say("refused", " "),
        query: Query {
            actor: AssistantId::try_new("hare").unwrap(),
            tool: ToolName::try_new("look").unwrap(),
            arguments: serde_json::Map::new(),
        },
        feed: Some(FeedFixture {
            actor: entity("assistant:hare"),
            effect: |key| say(key.as_str(), "hello"),
            read: Arc::new(move |after| {
                let habitat = Arc::clone(&read);
                Box::pin(async move {
                    let hare = entity("assistant:hare");
                    let read: Vec<Perception> =
                        habitat.perceptions(&hare, after, 256).await.unwrap();
                    read
                })
            }),
        }),
        listener: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_acts_of_a_world_over_http_happen_once_also_when_the_service_starts_again() {
    let service = Service::of(OUTSIDE).await;
    lifeless(&service, &["hare"]).await;
    let offered = call(&service, "POST", "tools/").json(&tools()).send().await;
    assert_eq!(offered.ok(200)["tools"].as_array().unwrap().len(), 2);
    let room = Room::open(&service);
    let world = habitat(&service);
    conformance::tool_source(&*world, world_fixture(&world)).await;
    assert!(room.said.load(SeqCst) > 4);
    drop((room, world));
    let service = service.again().await;
    // Its tools are known before it says so again.
    let room = Room::open(&service);
    let world = habitat(&service);
    conformance::tool_source_reopened(&*world, world_fixture(&world)).await;
    assert_eq!(room.said.load(SeqCst), 0);
    drop((room, world));
    service.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resident_answers_what_a_world_reports_once_for_each_id() {
    let service = Service::of(OUTSIDE).await;
    call(&service, "POST", "tools/")
        .json(&tools())
        .send()
        .await
        .ok(200);
    let room = Room::open(&service);
    let report = || {
        let mut report = page("chat-1", "dormouse", "Hello there.");
        report["attested"]["how"] = json!("addressed");
        call(&service, "POST", "perceptions/").json(&report).send()
    };
    let first = report().await.ok(200);
    assert_eq!(
        report().await.ok(200),
        first,
        "a repeated report is the same delivery"
    );
    let said = async {
        while room.said.load(SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), said)
        .await
        .expect("it answers");
    let resident = service.host.wake(&key("dormouse")).await.unwrap();
    resident.handle().at_rest().await;
    assert_eq!(room.said.load(SeqCst), 1);
    let talk = service
        .call("POST", "dormouse/interact/")
        .json(&json!({"words": "Hello"}));
    talk.send().await.problem(409, "conflict");
    drop((resident, room));
    service.close().await;
}

#[tokio::test]
async fn a_world_that_asks_for_more_than_is_described_is_refused() {
    let service = Service::of(OUTSIDE).await;
    for (query, status, code) in [
        ("wait_seconds=601", 422, "invalid_value"),
        ("after=9223372036854775808", 400, "invalid_request"),
    ] {
        let asked = call(&service, "GET", &format!("effects/?{query}"));
        asked.send().await.problem(status, code);
    }
    service.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_that_comes_after_the_service_was_killed_counts() {
    let service = Service::of(OUTSIDE).await;
    lifeless(&service, &["hare"]).await;
    call(&service, "POST", "tools/")
        .json(&tools())
        .send()
        .await
        .ok(200);
    let world = habitat(&service);
    let mut acting = JoinSet::new();
    let act = Arc::clone(&world);
    acting.spawn(async move { act.perform(&say("hare/1/1", "hello")).await });
    let read = || call(&service, "GET", "effects/?wait_seconds=10").send();
    let request = read().await.ok(200)["effects"][0].clone();
    assert_eq!(
        (request["id"].as_str(), &request["again"]),
        (Some("hare/1/1"), &json!(false))
    );
    assert_eq!(read().await.ok(200)["effects"][0]["again"], json!(true));
    acting.abort_all();
    drop((acting, world));
    let service = service.again().await;
    let receipt = json!({"id": "hare/1/1", "outcome": "done", "detail": "said"});
    for _ in 0..2 {
        let stored = call(&service, "POST", "receipts/")
            .json(&receipt)
            .send()
            .await;
        assert_eq!(stored.ok(200)["outcome"], "done");
    }
    let world = habitat(&service);
    let known = world.inquire(&say("hare/1/1", "hello")).await.unwrap();
    assert!(matches!(known, EffectInquiry::Done(_)), "{known:?}");
    let other = json!({"id": "hare/1/1", "outcome": "rejected", "reason": "no"});
    let first = call(&service, "POST", "receipts/")
        .json(&other)
        .send()
        .await;
    assert_eq!(first.ok(200)["outcome"], "done", "the first one counts");
    drop(world);
    service.close().await;
}

/// A token of a world that may attest these facts, for this assistant.
fn narrow(service: &Service, facts: &[Fact]) -> String {
    let secret = TokenSecret::generate().unwrap();
    let new = NewToken {
        name: "Chat".to_owned(),
        rights: BTreeSet::from([Right::World]),
        assistants: Some(BTreeSet::from([key("dormouse")])),
        attests: Some(facts.iter().copied().collect()),
        expires_at: None,
        created_by: "a test".to_owned(),
    };
    let made = service.tokens().create(new, &secret, service.clock.now());
    made.unwrap();
    secret.reveal()
}

#[tokio::test]
async fn a_token_attests_only_what_it_was_made_for_and_only_to_its_assistants() {
    let service = Service::of(OUTSIDE).await;
    let secret = narrow(&service, &[Fact::Sender]);
    let send = |body: Value| {
        let path = format!("{WORLD}perceptions/");
        service.raw("POST", &path).by(&secret).json(&body).send()
    };
    send(page("1", "hare", "x")).await.problem(403, "scope");
    send(page("1", "dormouse", "x")).await.problem(403, "scope");
    let mut aloud = page("1", "dormouse", "x");
    aloud["attested"]["how"] = json!("say");
    send(aloud.clone()).await.ok(200);
    for (fact, value) in [
        ("place", json!({"id": "hall", "name": "Hall"})),
        ("audience", json!("public")),
        ("cause", json!("dormouse/1/1")),
        ("reply_to", json!(1)),
        ("at", json!("2026-11-28T00:00:00Z")),
    ] {
        let mut more = aloud.clone();
        more["attested"][fact] = value;
        send(more).await.problem(403, "scope");
    }
    let raw = |method, path: &str| {
        let path = format!("{WORLD}{path}");
        service.raw(method, &path).by(&secret)
    };
    raw("POST", "tools/")
        .json(&tools())
        .send()
        .await
        .problem(403, "scope");
    raw("GET", "tools/").send().await.problem(403, "scope");
    let talker = service.token("Bob", &[Right::Talk, Right::Admin], None);
    for path in ["effects/", "effects/stream/", "tools/"] {
        let path = format!("{WORLD}{path}");
        let answer: Answer = service.raw("GET", &path).by(&talker).send().await;
        answer.problem(403, "scope");
    }
    service.close().await;
}

#[tokio::test]
async fn what_a_world_may_not_say_is_named() {
    let service = Service::of(OUTSIDE).await;
    let changed = |path: &str, value: Value| {
        let mut body = page("1", "dormouse", "x");
        *body.pointer_mut(path).unwrap() = value;
        body
    };
    for (body, status, code) in [
        (changed("/id", json!("")), 422, "invalid_value"),
        (changed("/id", json!("x".repeat(257))), 422, "invalid_value"),
        (changed("/to", json!([])), 422, "invalid_value"),
        (changed("/to", json!(["../../etc"])), 422, "invalid_value"),
        (changed("/to", json!(["nobody"])), 404, "unknown_assistant"),
        (changed("/claimed/words", json!(" ")), 422, "invalid_value"),
        (
            changed("/claimed/words", json!("x".repeat(70_000))),
            422,
            "invalid_value",
        ),
        (
            changed("/attested/how", json!("shout")),
            422,
            "invalid_value",
        ),
        (
            changed("/attested/how", json!("channel")),
            422,
            "invalid_value",
        ),
        (
            changed("/attested/how", json!("command_output")),
            422,
            "invalid_value",
        ),
        (
            changed("/attested/sender/id", json!("\u{1b}[2J")),
            422,
            "invalid_value",
        ),
    ] {
        let answer = call(&service, "POST", "perceptions/")
            .json(&body)
            .send()
            .await;
        answer.problem(status, code);
    }
    for receipt in [
        json!({"id": "nothing", "outcome": "done"}),
        json!({"id": "dormouse/1/1", "outcome": "done"}),
    ] {
        let answer = call(&service, "POST", "receipts/")
            .json(&receipt)
            .send()
            .await;
        answer.problem(404, "unknown_item");
    }
    let refused = json!({"id": "x", "outcome": "rejected"});
    let answer = call(&service, "POST", "receipts/")
        .json(&refused)
        .send()
        .await;
    answer.problem(422, "invalid_value");
    let tool = |name: &str, parameters: Value| json!({"tools": [{"name": name, "description": "x", "parameters": parameters}]});
    for tools in [
        tool("a b", json!({"type": "object"})),
        tool("noop", json!({"type": "object"})),
        tool("x", json!({"type": "string"})),
        tool("x", json!(7)),
    ] {
        let answer = call(&service, "POST", "tools/").json(&tools).send().await;
        answer.problem(422, "invalid_value");
    }
    let sandbox = Service::open().await;
    let answer = call(&sandbox, "POST", "perceptions/").json(&page("1", "dormouse", "x"));
    answer.send().await.problem(409, "conflict");
    sandbox.close().await;
    service.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_act_that_a_world_never_reads_did_not_happen_and_one_that_it_read_may_have() {
    let service = Service::of(OUTSIDE).await;
    lifeless(&service, &["hare"]).await;
    let mut quick = tools();
    quick["tools"][0]["timeout_seconds"] = json!(1);
    call(&service, "POST", "tools/")
        .json(&quick)
        .send()
        .await
        .ok(200);
    let world = habitat(&service);
    let unread = world.perform(&say("hare/1/1", "hello")).await.unwrap_err();
    assert_eq!(
        unread.kind(),
        dormouse_contracts::WorldErrorKind::NotReached
    );
    let act = say("hare/1/2", "hello");
    let (read, unanswered) = tokio::join!(
        call(&service, "GET", "effects/?wait_seconds=1").send(),
        world.perform(&act)
    );
    assert_eq!(read.ok(200)["effects"][0]["id"], "hare/1/2");
    let kind = unanswered.unwrap_err().kind();
    assert_eq!(kind, dormouse_contracts::WorldErrorKind::Unanswered);
    drop(world);
    service.close().await;
}
