//! Who may do what, from where, and how often.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use dormouse_contracts::Clock;
use dormouse_host::config::ServerSection;
use dormouse_server::{NewToken, Right, Server, ServerError, ServerSettings, TokenSecret};
use serde_json::json;

use crate::service::{ALL, Service};

#[tokio::test]
async fn a_request_needs_a_token_that_is_whole_known_and_valid() {
    let service = Service::open().await;
    service
        .raw("GET", ALL)
        .send()
        .await
        .problem(401, "token_missing");
    for wrong in [
        &service.secret[..20],
        "dm_",
        &format!("{}x", service.secret),
    ] {
        let answer = service.raw("GET", ALL).by(wrong).send().await;
        answer.problem(401, "token_invalid");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let empty = service.raw("GET", ALL).with("authorization", "Bearer ");
    empty.send().await.problem(401, "token_missing");
    let basic = service
        .raw("GET", ALL)
        .with("authorization", "Basic QW5uOng=");
    basic.send().await.problem(401, "token_missing");
    // Without a token, a path that does not exist looks like any other.
    service
        .raw("GET", "/nothing")
        .send()
        .await
        .problem(401, "token_missing");
    service.raw("GET", "/healthz").send().await.ok(200);
    service.raw("GET", "/readyz").send().await.ok(200);
    service.call("GET", "").send().await.ok(200);

    service.tokens().revoke("Ann").unwrap();
    service
        .call("GET", "")
        .send()
        .await
        .problem(401, "token_invalid");
    service.close().await;
}

#[tokio::test]
async fn a_token_ends_at_its_time() {
    let service = Service::open().await;
    let secret = TokenSecret::generate().unwrap();
    let new = NewToken {
        name: "Bob".to_owned(),
        rights: BTreeSet::from([Right::Read]),
        assistants: None,
        attests: None,
        expires_at: Some(service.clock.now().plus(Duration::from_secs(60))),
        created_by: "a test".to_owned(),
    };
    service
        .tokens()
        .create(new, &secret, service.clock.now())
        .unwrap();
    let call = service.raw("GET", ALL).by(&secret.reveal());
    call.clone().send().await.ok(200);
    service.clock.put_forward(Duration::from_secs(61));
    call.send().await.problem(401, "token_invalid");
    service.close().await;
}

#[tokio::test]
async fn each_right_allows_its_own_requests_and_no_others() {
    let service = Service::open().await;
    let requests = [
        (Right::Read, "GET", "dormouse/", None),
        (Right::Read, "GET", "dormouse/status/", None),
        (Right::Read, "GET", "dormouse/health/", None),
        (Right::Read, "GET", "dormouse/emergency/", None),
        (Right::Read, "GET", "dormouse/config/", None),
        (Right::Read, "GET", "dormouse/goals/", None),
        (Right::Read, "GET", "dormouse/journal/", None),
        (Right::Read, "GET", "dormouse/sleep/", None),
        (Right::Read, "GET", "dormouse/memory/?q=tea", None),
        (Right::Read, "GET", "dormouse/memory/1/why/", None),
        (Right::Read, "GET", "dormouse/audit/", None),
        (Right::Read, "GET", "dormouse/events/?after=99999999", None),
        (
            Right::Talk,
            "POST",
            "dormouse/interact/",
            Some(json!({"words": " "})),
        ),
        (Right::Talk, "GET", "dormouse/interact/1/", None),
        (Right::Operate, "POST", "dormouse/start/", None),
        (
            Right::Operate,
            "POST",
            "dormouse/emergency/trigger/",
            Some(json!({})),
        ),
        (Right::Operate, "POST", "dormouse/emergency/clear/", None),
        (Right::Operate, "POST", "dormouse/stop/", None),
        (
            Right::Operate,
            "POST",
            "dormouse/goals/",
            Some(json!({"text": ""})),
        ),
        (
            Right::Operate,
            "PATCH",
            "dormouse/goals/99/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/journal/",
            Some(json!({"content": ""})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/sleep/",
            Some(json!({"until": "never"})),
        ),
        (Right::Operate, "POST", "dormouse/wake/", None),
        (Right::Read, "GET", "dormouse/memory/records/", None),
        (Right::Read, "GET", "dormouse/memory/stats/", None),
        (Right::Read, "GET", "dormouse/memory/hygiene/", None),
        (Right::Operate, "POST", "dormouse/memory/hygiene/", None),
        (Right::Read, "GET", "dormouse/memory/9999/", None),
        (Right::Read, "GET", "dormouse/entities/", None),
        (Right::Read, "GET", "dormouse/entities/player:ann/", None),
        (Right::Read, "GET", "dormouse/conversations/", None),
        (
            Right::Read,
            "GET",
            "dormouse/conversations/player:ann/",
            None,
        ),
        (Right::Read, "GET", "dormouse/pending-actions/", None),
        (Right::Read, "GET", "dormouse/approvals/", None),
        (Right::Read, "GET", "dormouse/history/", None),
        (Right::Read, "GET", "dormouse/execution/", None),
        (Right::Read, "GET", "dormouse/execution/log/", None),
        (Right::Read, "GET", "dormouse/execution/metrics/", None),
        (Right::Read, "GET", "dormouse/prompt/preview/", None),
        (Right::Read, "GET", "dormouse/tools/", None),
        (Right::Read, "GET", "dormouse/contexts/", None),
        (Right::Read, "GET", "dormouse/components/", None),
        (Right::Read, "GET", "dormouse/templates/", None),
        (Right::Read, "GET", "dormouse/projects/", None),
        (Right::Read, "GET", "dormouse/projects/9/", None),
        (Right::Read, "GET", "dormouse/session-memory/", None),
        (Right::Read, "GET", "dormouse/reflection/", None),
        (Right::Read, "GET", "dormouse/audit/state/?at=1", None),
        (
            Right::Operate,
            "POST",
            "dormouse/memory/",
            Some(json!({"text": " "})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/memory/undo/",
            Some(json!({"event": 0})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/memory/1/supersede/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/memory/1/withdraw/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/memory/1/publish/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/memory/1/erase/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/entities/",
            Some(json!({"entity": "a", "name": "A"})),
        ),
        (
            Right::Operate,
            "PATCH",
            "dormouse/entities/player:ann/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/entities/player:ann/observations/",
            Some(json!({"text": "a"})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/entities/player:ann/merge/",
            Some(json!({"into": "b"})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/entities/player:ann/unmerge/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/entities/player:ann/restore/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/conversations/player:ann/end/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/pending-actions/",
            Some(json!({"entity": "a", "description": "b"})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/pending-actions/1/complete/",
            Some(json!({"entity": "a"})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/approvals/1/",
            Some(json!({"allow": true})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/projects/",
            Some(json!({"summary": ""})),
        ),
        (
            Right::Operate,
            "PATCH",
            "dormouse/projects/1/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/projects/1/swap/",
            Some(json!({})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/session-memory/",
            Some(json!({"kind": "fact", "text": ""})),
        ),
        (
            Right::Operate,
            "POST",
            "dormouse/reflection/",
            Some(json!({})),
        ),
        (Right::Operate, "POST", "dormouse/history/reset/", None),
        (
            Right::Operate,
            "DELETE",
            "dormouse/entities/player:ann/",
            None,
        ),
        (Right::Operate, "DELETE", "dormouse/session-memory/9/", None),
        (
            Right::Admin,
            "PATCH",
            "dormouse/contexts/tick_event/",
            Some(json!({})),
        ),
        (
            Right::Admin,
            "POST",
            "dormouse/components/reorder/",
            Some(json!({"order": []})),
        ),
        (
            Right::Admin,
            "PATCH",
            "dormouse/components/goals/",
            Some(json!({})),
        ),
        (
            Right::Admin,
            "POST",
            "dormouse/templates/",
            Some(json!({"name": "default", "text": ""})),
        ),
        (
            Right::Admin,
            "POST",
            "dormouse/templates/default/clone/",
            Some(json!({"name": "default"})),
        ),
        (
            Right::Admin,
            "POST",
            "dormouse/templates/nobody/apply/",
            None,
        ),
        (Right::Admin, "POST", "", Some(json!({"key": "dormouse"}))),
        (Right::Admin, "PATCH", "dormouse/", Some(json!({}))),
        (
            Right::Admin,
            "PATCH",
            "dormouse/config/",
            Some(json!({"settings": {}})),
        ),
        (Right::Admin, "DELETE", "dormouse/", None),
    ];
    let tokens = Right::ALL.map(|right| {
        let name = format!(
            "Only {}",
            ["Reader", "Talker", "Operator", "Chief", "Room"][right as usize]
        );
        (right, service.token(&name, &[right], Some(&["dormouse"])))
    });
    let elsewhere = service.token("Elsewhere", &Right::ALL, Some(&["hare"]));
    for (needed, method, path, body) in requests {
        let call = service.call(method, path);
        let call = body.map_or(call.clone(), |body| call.json(&body));
        for (right, secret) in &tokens {
            let answer = call.clone().by(secret).send().await;
            match *right == needed {
                true => assert_ne!(answer.status, 403, "{right} {method} {path}"),
                false => answer.problem(403, "scope"),
            }
        }
        let answer = call.by(&elsewhere).send().await;
        answer.problem(403, "scope");
    }
    // To a token for other assistants, a key that does not exist looks the same.
    let unknown = service.call("GET", "nobody/").by(&elsewhere).send().await;
    unknown.problem(403, "scope");
    let metrics = service.raw("GET", "/metrics").by(&tokens[0].1).send().await;
    metrics.problem(403, "scope");
    service.close().await;
}

#[tokio::test]
async fn only_the_own_hosts_are_answered_and_no_page_of_another_site_changes_anything() {
    let service = Service::open().await;
    for host in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost.",
        "",
    ] {
        let answer = service.call("GET", "").with("host", host).send().await;
        answer.problem(421, "wrong_host");
    }
    for host in ["localhost", "127.0.0.1:1", "TEA.example"] {
        service
            .call("GET", "")
            .with("host", host)
            .send()
            .await
            .ok(200);
    }
    let change = service.call("PATCH", "dormouse/").json(&json!({}));
    for (name, value) in [
        ("origin", "http://evil.example"),
        ("origin", "http://localhost:1"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        change
            .clone()
            .with(name, value)
            .send()
            .await
            .problem(403, "origin");
    }
    let own = format!("http://{}", service.address);
    change
        .clone()
        .with("origin", &own)
        .with("sec-fetch-site", "same-origin")
        .send()
        .await
        .ok(200);
    change.send().await.ok(200);
    service.close().await;
}

#[tokio::test]
async fn a_token_that_asks_too_often_is_told_to_wait_and_others_are_not() {
    let service = Service::with("requests_per_minute = 60\nburst = 3").await;
    let bob = service.token("Bob", &[Right::Read], None);
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let answer = service.call("GET", "").send().await;
        statuses.push(answer.status);
        if answer.status == 429 {
            answer.problem(429, "rate_limited");
            assert!(
                answer
                    .header("retry-after")
                    .unwrap()
                    .parse::<u64>()
                    .unwrap()
                    >= 1
            );
        }
    }
    assert_eq!(statuses[..3], [200; 3]);
    assert!(statuses.contains(&429), "{statuses:?}");
    service.raw("GET", ALL).by(&bob).send().await.ok(200);
    service.close().await;
}

#[tokio::test]
async fn an_address_of_the_network_needs_a_token_first() {
    let service = Service::open().await;
    service.tokens().revoke("Ann").unwrap();
    let settings = || ServerSettings {
        address: ([0, 0, 0, 0], 0).into(),
        hosts: BTreeSet::new(),
        section: ServerSection::default(),
        clock: Arc::clone(&service.clock) as _,
    };
    let refused = Server::open(&service.host, settings()).await.unwrap_err();
    assert!(matches!(refused, ServerError::NoToken(_)), "{refused}");
    let taken = ServerSettings {
        address: service.address,
        ..settings()
    };
    let refused = Server::open(&service.host, taken).await.unwrap_err();
    assert!(matches!(refused, ServerError::Listen { .. }), "{refused}");
    service.token("Bob", &[Right::Read], None);
    Server::open(&service.host, settings()).await.unwrap();
    service.close().await;
}
