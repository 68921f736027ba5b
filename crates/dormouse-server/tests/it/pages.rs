//! The pages, as a browser asks for them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dormouse_contracts::{ReadEvents, Seq};
use dormouse_engine::{Event, StopCause, restore};
use dormouse_server::Right;
use serde_json::json;

use crate::{
    client::{Answer, Call},
    service::{Service, key},
};

const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;\u{202e}";

/// A browser that is signed in.
struct Browser<'a> {
    service: &'a Service,
    cookie: String,
}

impl<'a> Browser<'a> {
    /// The browser of Vera, who owns the service.
    async fn of_owner(service: &'a Service) -> Self {
        let answer = service.raw("GET", &service.link).send().await;
        assert_eq!(answer.status, 200);
        Self::with(service, &answer)
    }

    fn with(service: &'a Service, answer: &Answer) -> Self {
        let set = answer.header("set-cookie").expect("a cookie is set");
        let cookie = set.split(';').next().unwrap().to_owned();
        Self { service, cookie }
    }

    /// The browser of somebody with this token.
    async fn of_token(service: &'a Service, secret: &str) -> Self {
        let answer = service
            .raw("POST", "/sign-in/")
            .with("origin", &format!("http://{}", service.address))
            .form(&[("token", secret)])
            .send()
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        Self::with(service, &answer)
    }

    fn call(&self, method: &str, path: &str) -> Call {
        let call = self.service.raw(method, path);
        call.with("cookie", &self.cookie)
            .with("accept", "text/html,*/*;q=0.8")
    }

    async fn get(&self, path: &str) -> Answer {
        self.call("GET", path).send().await
    }

    /// Sends a form of an own page, and follows it.
    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let origin = format!("http://{}", self.service.address);
        let call = self.call("POST", path).with("origin", &origin);
        call.form(fields).send().await
    }

    /// The same for a form that is carried out. Returns where it leads.
    #[track_caller]
    fn done(answer: &Answer) -> String {
        assert_eq!(answer.status, 303, "{}", answer.text());
        answer.header("location").unwrap().to_owned()
    }
}

/// The values of an attribute in a page.
fn values<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let begins = format!(" {name}=\"");
    let parts = page.split(begins.as_str()).skip(1);
    parts.map(|part| part.split('"').next().unwrap()).collect()
}

/// Checks what holds for every page.
#[track_caller]
fn check(path: &str, answer: &Answer) {
    let page = answer.text();
    assert_eq!(answer.status, 200, "{path}: {page}");
    let policy = answer.header("content-security-policy").unwrap();
    for rule in [
        "default-src 'none'",
        "script-src 'self';",
        "style-src 'self';",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ] {
        assert!(policy.contains(rule), "{path}: {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    for wrong in [
        "<script>",
        "<style",
        " style=\"",
        " onclick=",
        "javascript:",
        "onerror=alert(2)>",
    ] {
        assert!(!page.contains(wrong), "{path} holds {wrong}");
    }
    let elsewhere = [
        values(&page, "src"),
        values(&page, "href"),
        values(&page, "action"),
    ];
    for address in elsewhere.concat() {
        assert!(
            address.starts_with('/') || address.starts_with('#'),
            "{path} leads to {address}"
        );
    }
}

/// Lets the assistant live a little, with hostile words in every place that takes words.
async fn live(service: &Service) {
    let post = |path: &str, body| service.call("POST", path).json(&body).send();
    post("dormouse/interact/", json!({"words": HOSTILE}))
        .await
        .ok(200);
    let words = format!("remember that {HOSTILE}");
    post("dormouse/interact/", json!({"words": words}))
        .await
        .ok(200);
    post("dormouse/goals/", json!({"text": HOSTILE}))
        .await
        .ok(201);
    post("dormouse/goals/", json!({"text": "a part", "parent": 1}))
        .await
        .ok(201);
    post("dormouse/journal/", json!({"content": HOSTILE}))
        .await
        .ok(201);
    post("dormouse/emergency/trigger/", json!({"reason": HOSTILE}))
        .await
        .ok(200);
    post("dormouse/emergency/clear/", json!({})).await.ok(200);
    let hare = json!({"key": "hare", "persona": HOSTILE, "tags": ["tea"]});
    post("", hare).await.ok(201);
}

#[tokio::test]
async fn every_link_of_every_page_leads_on_and_no_page_breaks_out_of_its_policy() {
    let service = Service::open().await;
    live(&service).await;
    let browser = Browser::of_owner(&service).await;
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let mut waiting = VecDeque::from(["/".to_owned()]);
    let mut asked = BTreeSet::new();
    while let Some(path) = waiting.pop_front() {
        let path = path.split('#').next().unwrap().replace("&amp;", "&");
        // The raw events differ in their numbers only.
        let of_events = path.contains("/event/") || path.contains("/prompt/?at=");
        if path.is_empty() || !asked.insert(path.clone()) || of_events && asked.len() > 60 {
            continue;
        }
        let answer = browser.get(&path).await;
        if path.starts_with("/files/") {
            assert_eq!(answer.status, 200, "{path}");
            continue;
        }
        if path.starts_with("/api/") {
            let shown = answer.header("content-disposition").unwrap();
            assert!(shown.starts_with("attachment; "), "{path}: {shown}");
            continue;
        }
        check(&path, &answer);
        let page = answer.text();
        for name in ["href", "src"] {
            waiting.extend(values(&page, name).into_iter().map(str::to_owned));
        }
        seen.insert(path, page);
    }
    for path in [
        "/",
        "/new/",
        "/a/dormouse/",
        "/a/dormouse/prompt/",
        "/a/dormouse/workbench/",
        "/a/dormouse/memory/",
        "/a/dormouse/people/",
        "/a/dormouse/goals/",
        "/a/dormouse/journal/",
        "/a/dormouse/charts/",
        "/a/dormouse/settings/",
        "/a/hare/",
        "/a/hare/prompt/",
    ] {
        assert!(seen.contains_key(path), "no link leads to {path}");
    }
    let hidden = "\\u{202e}";
    assert!(
        seen["/a/dormouse/"].contains(hidden),
        "hidden characters are shown"
    );
    // The words are there, as words.
    for path in [
        "/a/dormouse/",
        "/a/dormouse/goals/",
        "/a/dormouse/journal/",
        "/a/dormouse/memory/",
    ] {
        let page = &seen[path];
        assert!(
            page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
            "{path}: {page}"
        );
    }
    service.close().await;
}

#[tokio::test]
async fn a_link_signs_in_once_and_the_cookie_is_kept_from_scripts_and_other_sites() {
    let service = Service::open().await;
    let nobody = service
        .raw("GET", "/")
        .with("accept", "text/html")
        .send()
        .await;
    assert_eq!(nobody.status, 401);
    assert!(nobody.text().contains("Sign in"));
    assert!(nobody.header("set-cookie").is_none());

    let answer = service.raw("GET", &service.link).send().await;
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    for flag in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(cookie.contains(flag), "{cookie}");
    }
    let browser = Browser::with(&service, &answer);
    let page = browser.get("/").await;
    check("/", &page);
    assert!(page.text().contains("Vera"));

    let again = service.raw("GET", &service.link).send().await;
    assert!(again.header("set-cookie").is_none());
    assert!(again.text().contains("used already"));
    let wrong = service.raw("GET", "/sign-in/?code=dm_x").send().await;
    assert!(wrong.header("set-cookie").is_none());
    let own = format!("http://{}", service.address);
    let wrong = service.raw("POST", "/sign-in/").with("origin", &own);
    let wrong = wrong.form(&[("token", "dm_x")]).send().await;
    assert!(wrong.header("set-cookie").is_none());

    // It ends with the token, and the token ends with the visit.
    let left = browser.post("/sign-out/", &[]).await;
    assert_eq!(Browser::done(&left), "/sign-in/");
    assert!(left.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(browser.get("/").await.status, 401);
    let names: Vec<_> = service
        .tokens()
        .list()
        .unwrap()
        .into_iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(names, ["Ann"]);
    service.close().await;
}

#[tokio::test]
async fn a_change_with_the_cookie_needs_the_origin_of_this_service() {
    let service = Service::open().await;
    let browser = Browser::of_owner(&service).await;
    let stop = || browser.call("POST", "/a/dormouse/stop/").form(&[]);
    for call in [
        stop(),
        stop().with("origin", "http://evil.example"),
        stop().with("origin", "null"),
        stop()
            .with("origin", &format!("http://{}", service.address))
            .with("sec-fetch-site", "cross-site"),
        browser.call("POST", "/api/ai/assistants/dormouse/stop/"),
        browser.call("POST", "/sign-out/"),
    ] {
        let answer = call.send().await;
        assert_eq!(answer.status, 403, "{}", answer.text());
        assert!(
            answer
                .header("content-type")
                .unwrap()
                .starts_with("text/html")
        );
    }
    let state = restore(service.host.log(), &key("dormouse")).await.unwrap();
    assert!(!state.stop.is_on());
    let answer = browser
        .post("/a/dormouse/stop/", &[("back", "//evil.example")])
        .await;
    assert_eq!(Browser::done(&answer), "/a/dormouse/");
    service.close().await;
}

#[tokio::test]
async fn what_a_page_changes_is_an_event_with_the_name_of_who_did_it() {
    let service = Service::open().await;
    let browser = Browser::of_owner(&service).await;
    let hare = key("hare");
    let fields = [
        ("key", "hare"),
        ("name", "March Hare"),
        ("persona", "Mad."),
        ("tags", "tea party"),
    ];
    let made = browser.post("/new/", &fields).await;
    assert_eq!(Browser::done(&made), "/a/hare/");
    Browser::done(
        &browser
            .post(
                "/a/hare/goals/",
                &[("text", "pour the tea"), ("priority", "7")],
            )
            .await,
    );
    Browser::done(
        &browser
            .post("/a/hare/goals/1/", &[("status", "done")])
            .await,
    );
    Browser::done(
        &browser
            .post(
                "/a/hare/journal/",
                &[("content", "the cup is full"), ("tags", "tea")],
            )
            .await,
    );
    Browser::done(&browser.post("/a/hare/stop/", &[("reason", "spilt")]).await);
    let state = restore(service.host.log(), &hare).await.unwrap();
    let stopped = state.stop.stopped().unwrap();
    assert_eq!(stopped.cause, StopCause::Operator("Vera".to_owned()));
    assert_eq!(stopped.reason.as_deref(), Some("spilt"));
    let first = browser.get("/").await.text();
    let (needs, rest) = (
        first.find("Needs you").unwrap(),
        first.find("Awake").or(first.find("at rest")).unwrap(),
    );
    let place = first.find("href=\"/a/hare/\"").unwrap();
    assert!(
        needs < place && place < rest,
        "a stopped resident comes first"
    );
    Browser::done(&browser.post("/a/hare/clear/", &[]).await);

    // A correction lasts, and can be taken back.
    Browser::done(
        &browser
            .post(
                "/a/hare/say/",
                &[("words", "remember that Ann prefers tea")],
            )
            .await,
    );
    let resident = service.host.wake(&hare).await.unwrap();
    resident.handle().at_rest().await;
    let kept = loop {
        let log = service
            .host
            .log()
            .read(&hare, Seq::ZERO, 1_000)
            .await
            .unwrap();
        let kept = log
            .iter()
            .find(|it| matches!(Event::decode(it), Ok(Event::Remembered(_))));
        if let Some(kept) = kept {
            break kept.seq;
        }
        tokio::task::yield_now().await;
    };
    resident.handle().at_rest().await;
    let corrected = browser
        .post(
            &format!("/a/hare/memory/{kept}/correct/"),
            &[("text", "Ann prefers coffee")],
        )
        .await;
    let new = Browser::done(&corrected);
    check(&new, &browser.get(&new).await);
    let found = browser
        .get("/a/hare/memory/?q=what+does+Ann+prefer")
        .await
        .text();
    assert!(found.contains("Ann prefers coffee"), "{found}");
    let old = browser.get(&format!("/a/hare/memory/{kept}/")).await.text();
    assert!(
        old.contains("no longer true") && old.contains("by <bdi>Vera</bdi>"),
        "{old}"
    );
    let undo = values(&old, "action")
        .into_iter()
        .rfind(|it| it.contains("/undo/"))
        .unwrap()
        .to_owned();
    Browser::done(&browser.post(&undo, &[]).await);
    let old = browser.get(&format!("/a/hare/memory/{kept}/")).await.text();
    assert!(!old.contains("no longer true"), "{old}");

    // Settings change by what was read.
    let page = browser.get("/a/hare/settings/").await.text();
    let etag = page.split("name=\"etag\" value=\"").nth(1).unwrap();
    let etag = etag.split("\"").next().unwrap().replace("&quot;", "\"");
    let set = |etag: &str, value: &str| {
        let fields = [
            ("etag", etag),
            ("name", "limits.max_consecutive_errors"),
            ("value", value),
        ];
        let fields = fields.map(|(name, value)| (name, value.to_owned()));
        let browser = &browser;
        async move {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            browser.post("/a/hare/settings/", &fields).await
        }
    };
    let changed = set(&etag, "7").await;
    assert_eq!(Browser::done(&changed), "/a/hare/settings/#limits");
    assert_eq!(
        set(&etag, "8").await.status,
        412,
        "somebody changed them meanwhile"
    );
    let log = service
        .host
        .log()
        .read(&hare, Seq::ZERO, 1_000)
        .await
        .unwrap();
    let authors: BTreeSet<_> = log
        .iter()
        .filter_map(|it| match Event::decode(it).unwrap() {
            Event::RosterChanged(it) => Some(it.author.to_string()),
            Event::GoalCreated(it) => Some(it.author.to_string()),
            Event::GoalCompleted(it) => Some(it.author.to_string()),
            Event::JournalChanged(it) => Some(it.author.to_string()),
            Event::MemoryChanged(it) => Some(it.author.to_string()),
            Event::SettingChanged(it) => Some(it.by),
            Event::EmergencyStopCleared(it) => Some(it.cleared_by),
            _ => None,
        })
        .collect();
    assert_eq!(authors, BTreeSet::from(["Vera".to_owned()]));
    service.close().await;
}

#[tokio::test]
async fn who_may_only_read_sees_no_buttons_and_changes_nothing() {
    let service = Service::open().await;
    live(&service).await;
    let secret = service.token("Bob", &[Right::Read], Some(&["dormouse"]));
    let browser = Browser::of_token(&service, &secret).await;
    let first = browser.get("/").await.text();
    assert!(first.contains("/a/dormouse/") && !first.contains("/a/hare/"));
    for path in [
        "/",
        "/a/dormouse/",
        "/a/dormouse/goals/",
        "/a/dormouse/settings/",
        "/a/dormouse/memory/",
    ] {
        let page = browser.get(path).await;
        check(path, &page);
        let page = page.text();
        let changes: Vec<_> = page.matches("method=\"post\"").collect();
        assert_eq!(changes.len(), 1, "{path}: only signing out: {page}");
    }
    for (path, fields) in [
        ("/a/dormouse/stop/", [("reason", "")]),
        ("/a/dormouse/say/", [("words", "hello")]),
        ("/a/dormouse/goals/", [("text", "x")]),
        ("/a/dormouse/undo/1/", [("reason", "")]),
        ("/new/", [("key", "cat")]),
    ] {
        let answer = browser.post(path, &fields).await;
        assert_eq!(answer.status, 403, "{path}");
    }
    assert_eq!(browser.get("/a/hare/").await.status, 403);
    assert_eq!(browser.get("/a/nobody/").await.status, 403);
    service.close().await;
}

#[tokio::test]
async fn a_browser_gets_pages_for_problems_and_a_program_gets_json() {
    let service = Service::open().await;
    let browser = Browser::of_owner(&service).await;
    for (path, status) in [
        ("/nothing", 404),
        ("/a/nobody/", 404),
        ("/a/%00/", 400),
        ("/a/dormouse/?at=x", 400),
        ("/a/dormouse/event/999999/", 404),
        ("/a/dormouse/prompt/?at=999999", 404),
        ("/a/dormouse/prompt/?context=tea", 400),
        ("/a/dormouse/workbench/?context=tea", 400),
        ("/a/dormouse/workbench/?context=../../tokens.json", 400),
        ("/a/dormouse/charts/?at=0", 404),
        ("/a/dormouse/charts/?at=999999", 404),
        ("/a/dormouse/goals/?at=-1", 400),
        ("/a/dormouse/fork/?at=999999", 404),
        ("/a/..%2f..%2ftokens.json/workbench/", 400),
        ("/a/..%2f/charts/", 400),
        ("/a/nobody/charts/", 404),
        ("/a/dormouse/memory/999999/", 404),
        ("/files/../tokens.json", 404),
        ("/files/tokens.json", 404),
    ] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert!(
            answer
                .header("content-type")
                .unwrap()
                .starts_with("text/html"),
            "{path}"
        );
        let program = browser.call("GET", path).with("accept", "*/*").send().await;
        assert_eq!(
            program.header("content-type"),
            Some("application/problem+json"),
            "{path}"
        );
    }
    let empty = browser
        .post("/a/dormouse/say/", &[("words", " \r\n ")])
        .await;
    assert_eq!(empty.status, 422, "{}", empty.text());
    let json = browser.call("POST", "/a/dormouse/say/");
    let json = json.with("origin", &format!("http://{}", service.address));
    let json = json.json(&json!({"words": "hello"})).send().await;
    assert_eq!(json.status, 400, "{}", json.text());
    service.close().await;
}

/// The names of the parts that can be moved, in the order of the page.
async fn bench(browser: &Browser<'_>) -> (Vec<String>, String) {
    let page = browser.get("/a/dormouse/workbench/").await;
    check("/a/dormouse/workbench/", &page);
    let page = page.text();
    let parts = values(&page, "data-part");
    let etag = page.split("name=\"etag\" value=\"").nth(1).unwrap();
    let etag = etag.split('"').next().unwrap().replace("&quot;", "\"");
    (parts.into_iter().map(str::to_owned).collect(), etag)
}

/// The parts of the operator's own that prompts show, in their order. The service has six of them: each follows a part of the program.
async fn shown(service: &Service) -> Vec<String> {
    let path = "dormouse/prompt/preview/?context_type=tick_event";
    let preview = service.call("GET", path).send().await.ok(200);
    let parts = preview["messages"].as_array().unwrap();
    let names = parts.iter().map(|it| it["component"].as_str().unwrap());
    names
        .filter(|name| name.starts_with("own_"))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn the_workbench_has_the_order_of_prompts_and_changes_it_in_every_way() {
    let own = [1_501, 1_601, 2_001, 3_001, 4_001, 5_001].map(|number| {
        format!("[prompt.components.own_{number}]\nid = {number}\ntext = \"part {number}\"\n")
    });
    let config = format!(
        "[server]\nrequests_per_minute = 100000\nburst = 1000\n{}",
        own.concat()
    );
    let service = Service::of(&config).await;
    let browser = Browser::of_owner(&service).await;
    let only_own = |parts: Vec<String>| -> Vec<String> {
        let own = parts.into_iter().filter(|name| name.starts_with("own_"));
        own.collect()
    };
    let (parts, etag) = bench(&browser).await;
    assert_eq!(parts.len(), 12, "{parts:?}");
    assert_eq!(only_own(parts), shown(&service).await, "stable");

    let post = async |fields: &[(&str, &str)]| browser.post("/a/dormouse/workbench/", fields).await;
    // One place up, by a button.
    let (before, _) = bench(&browser).await;
    let last = before.last().unwrap().clone();
    let up = [("etag", etag.as_str()), ("part", &last), ("do", "up")];
    let leads_to = Browser::done(&post(&up).await);
    assert_eq!(
        leads_to,
        format!("/a/dormouse/workbench/?context=tick_event#part-{last}")
    );
    let (after, next) = bench(&browser).await;
    assert_eq!(after[10], last);
    assert_eq!(post(&up).await.status, 412, "the settings have changed");

    // Everything at once, as if it was dragged.
    let order: Vec<_> = after.iter().rev().cloned().collect();
    let dragged = [("etag", next.as_str()), ("order", &order.join(","))];
    Browser::done(&post(&dragged).await);
    let (after, etag) = bench(&browser).await;
    assert_eq!(after, order);
    let resident = service.host.wake(&key("dormouse")).await.unwrap();
    resident.handle().at_rest().await;
    while shown(&service).await != only_own(order.clone()) {
        tokio::task::yield_now().await;
    }
    // The page shows what will be, before the resident knows of it.
    let off = [("etag", etag.as_str()), ("part", "own_2001"), ("do", "off")];
    Browser::done(&post(&off).await);
    let page = browser.get("/a/dormouse/workbench/").await.text();
    assert!(!page.contains("part 2001") && page.contains("part 3001"));
    let (_, etag) = bench(&browser).await;
    let bound = [
        ("etag", etag.as_str()),
        ("part", "own_2001"),
        ("do", "budget"),
        ("budget", "77"),
    ];
    Browser::done(&post(&bound).await);
    let components = service.call("GET", "dormouse/components/").send().await;
    let components = components.ok(200);
    let mut its = components["components"].as_array().unwrap().iter();
    let its = its.find(|it| it["component"] == "own_2001").unwrap();
    assert_eq!(
        (&its["enabled"], &its["budget"], &its["text"]),
        (&json!(false), &json!(77), &json!("part 2001"))
    );
    let (_, etag) = bench(&browser).await;
    for (fields, status) in [
        (
            [("part", "own_2001"), ("do", "budget"), ("budget", "many")],
            422,
        ),
        (
            [("part", "system_prompt"), ("do", "off"), ("budget", "")],
            422,
        ),
        ([("part", "nothing"), ("do", "up"), ("budget", "")], 404),
        ([("part", "../x"), ("do", "on"), ("budget", "")], 404),
        ([("part", "goals"), ("do", "tea"), ("budget", "")], 422),
        ([("order", "goals,goals"), ("do", ""), ("budget", "")], 422),
        (
            [("order", "goals"), ("context", "tea"), ("budget", "")],
            400,
        ),
    ] {
        let fields: Vec<_> = [("etag", etag.as_str())]
            .into_iter()
            .chain(fields)
            .collect();
        let answer = post(&fields).await;
        assert_eq!(answer.status, status, "{fields:?}: {}", answer.text());
    }
    let origin = format!("http://{}", service.address);
    for path in [
        "/a/dormouse/workbench/",
        "/a/dormouse/fork/",
        "/api/ai/assistants/dormouse/fork/",
    ] {
        let call = browser.call("POST", path).with("origin", &origin);
        let large = call.bytes(vec![b'x'; 100 << 20]).send().await;
        assert_eq!(large.status, 413, "{path}");
    }
    Browser::done(&post(&[("etag", &etag), ("do", "as_configured")]).await);
    let (parts, _) = bench(&browser).await;
    assert_eq!(parts, before);
    let log = service.host.log();
    let log = log.read(&key("dormouse"), Seq::ZERO, 1_000).await.unwrap();
    let by = log
        .iter()
        .filter_map(|it| match Event::decode(it).unwrap() {
            Event::SettingChanged(it) => Some(it.by),
            _ => None,
        });
    assert_eq!(by.collect::<Vec<_>>(), ["Vera"; 5]);
    service.close().await;
}

#[tokio::test]
async fn the_past_is_shown_as_it_was_and_can_only_be_looked_at() {
    let service = Service::open().await;
    live(&service).await;
    let browser = Browser::of_owner(&service).await;
    let end = service.host.log().end_of(&key("dormouse")).unwrap().0;
    let now = browser.get("/a/dormouse/goals/").await.text();
    assert!(now.contains("a part") && now.contains("Set a goal"));
    for view in [
        "",
        "prompt/",
        "workbench/",
        "goals/",
        "journal/",
        "charts/",
        "settings/",
    ] {
        let path = format!("/a/dormouse/{view}?at=2");
        let page = browser.get(&path).await;
        check(&path, &page);
        let page = page.text();
        assert!(page.contains("data-past"), "{path}");
        assert!(!page.contains("a part"), "{path} shows what came later");
        // Signing out and the stop stay, and nothing else.
        let changes = values(&page, "action");
        let changes = changes.iter().filter(|it| it.starts_with("/a/"));
        let own = format!("/a/dormouse/{view}");
        let others: Vec<_> = changes
            .filter(|it| **it != own && **it != "/a/dormouse/stop/")
            .collect();
        assert!(others.is_empty(), "{path}: {others:?}");
    }
    let last = browser.get(&format!("/a/dormouse/goals/?at={end}")).await;
    assert!(!last.text().contains("data-past"), "the last event is now");
    service.close().await;
}

#[tokio::test]
async fn a_fork_is_made_on_a_page_and_has_a_log_of_its_own() {
    let service = Service::open().await;
    live(&service).await;
    let browser = Browser::of_owner(&service).await;
    let resident = service.host.wake(&key("dormouse")).await.unwrap();
    resident.handle().at_rest().await;
    let end = service.host.log().end_of(&key("dormouse")).unwrap().0;
    let page = browser.get(&format!("/a/dormouse/fork/?at={end}")).await;
    check("/a/dormouse/fork/", &page);
    let at = end.to_string();
    let post = async |key: &str| {
        let fields = [("at", at.as_str()), ("key", key), ("name", "")];
        browser.post("/a/dormouse/fork/", &fields).await
    };
    assert_eq!(post("../x").await.status, 400);
    assert_eq!(post("dormouse").await.status, 409);
    assert_eq!(Browser::done(&post("twin").await), "/a/twin/");
    let twin = browser.get("/a/twin/?at=3").await;
    check("/a/twin/", &twin);
    let state = restore(service.host.log(), &key("twin")).await.unwrap();
    let (from, _) = state.roster.beginning.unwrap().clone_of.unwrap();
    assert_eq!(from, key("dormouse"));
    assert_eq!(state.goals.iter().count(), 2);
    let of_reader = service.token("Bob", &[Right::Read], None);
    let reader = Browser::of_token(&service, &of_reader).await;
    assert_eq!(reader.get("/a/dormouse/fork/").await.status, 403);
    let fields = [("at", at.as_str()), ("key", "other")];
    let refused = reader.post("/a/dormouse/fork/", &fields).await;
    assert_eq!(refused.status, 403);
    service.close().await;
}

#[tokio::test]
async fn the_first_screen_is_sent_again_only_if_something_happened() {
    let service = Service::open().await;
    let browser = Browser::of_owner(&service).await;
    let first = browser.get("/").await;
    let tag = first.header("etag").unwrap().to_owned();
    let shown = values(&first.text(), "data-tag")[0].replace("&quot;", "\"");
    assert_eq!(shown, tag, "the page knows its own tag");
    let again = || browser.call("GET", "/").with("if-none-match", &tag).send();
    let same = again().await;
    assert_eq!((same.status, same.text().as_str()), (304, ""));
    Browser::done(
        &browser
            .post("/a/dormouse/stop/", &[("reason", "a flood")])
            .await,
    );
    let changed = again().await;
    assert_eq!(changed.status, 200);
    assert!(changed.text().contains("a flood"), "{}", changed.text());
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
    service.close().await;
}

#[tokio::test]
async fn people_are_shown_as_a_picture_and_with_what_was_said() {
    let service = Service::open().await;
    live(&service).await;
    let bob = json!({"entity": "player:bob", "name": "Bob"});
    service
        .call("POST", "dormouse/entities/")
        .json(&bob)
        .send()
        .await
        .ok(201);
    let disliked = json!({"favorability": -0.5});
    service
        .call("PATCH", "dormouse/entities/player:bob/")
        .json(&disliked)
        .send()
        .await
        .ok(200);
    let browser = Browser::of_owner(&service).await;
    let page = browser.get("/a/dormouse/people/").await.text();
    let known = service
        .call("GET", "dormouse/entities/")
        .send()
        .await
        .ok(200);
    let known = known["entities"].as_array().unwrap().len();
    let leads = values(&page, "href");
    let leads = leads.iter().filter(|it| it.starts_with("#who")).count();
    assert_eq!(leads, known, "each one is drawn");
    assert!(page.contains("<circle data-feeling=\"disliked\""), "{page}");
    assert!(page.contains("Conversation since"), "{page}");
    let said = "&lt;script&gt;alert(1)&lt;/script&gt;";
    assert!(page.contains(said), "{page}");
    service.close().await;
}
