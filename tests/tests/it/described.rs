//! The REST API, tried by a tester that draws requests from its description.

use std::{fs, time::Duration};

use dormouse_tests::{Program, schemathesis, tell};
use tokio::time::timeout;

use crate::service::Running;

/// Where the tester finds what cannot be drawn: keys that exist, and the answers that a valid request may have.
const SETTINGS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/peers/schemathesis/schemathesis.toml"
);

/// The counter of requests.
const COUNTER: &str = "dormouse_http_requests_total{";

/// How long it may take at most.
const LONGEST: Duration = Duration::from_secs(900);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_that_can_be_drawn_from_the_description_is_answered_otherwise_than_described() {
    // The paths of a world can do something only in a folder that has one, and those for talking only in one that has none.
    for world in ["sandbox", "http"] {
        draw_requests(world).await;
    }
}

async fn draw_requests(world: &str) {
    let Some(mut tester) = schemathesis() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let bounds = format!(
        "[server]\nrequests_per_minute = 100000\nburst = 1000\nanswer_wait = 1\n[world]\nkind = \"{world}\"\n"
    );
    fs::write(folder.path().join("dormouse.toml"), bounds).unwrap();
    let program = Program::over(folder.path());
    let rights = ["read", "talk", "operate", "admin", "world"].map(|right| ["--allow", right]);
    let mut create = vec!["token", "create", "Ann", "--json"];
    create.extend(rights.as_flattened());
    let (printed, status) = program.start(&create).finish().await;
    assert!(status.success(), "{}", program.complaints());
    let secret = printed[0]["secret"].as_str().unwrap();
    let running = Running::start(&program, secret).await;
    let door = &running.door;
    // One that may be archived while the others are asked.
    let path = "/api/ai/assistants/";
    assert_eq!(
        door.ask("POST", path, r#"{"key": "hare"}"#).await,
        Some(201)
    );
    // It repeats itself until this many seconds are over.
    let seconds = match std::env::var_os("DORMOUSE_QUICK_TESTS") {
        Some(_) => "10",
        None => "300",
    };
    let described = door.answer("GET", "/api/openapi.json", "").await.unwrap();
    let (_, described) = described.split_once("\r\n\r\n").unwrap();
    let description = folder.path().join("openapi.json");
    fs::write(&description, described).unwrap();
    tester
        .args(["--config-file", SETTINGS, "run"])
        .arg(&description)
        .args(["--url", &format!("http://{}", door.address)])
        .args(["--max-time", seconds, "--no-color"])
        .env("DORMOUSE_TOKEN", secret)
        .current_dir(folder.path());
    let tried = timeout(LONGEST, tester.output());
    let output = tried.await.expect("it ends in time").unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}\n{}\n{}",
        String::from_utf8_lossy(&output.stderr),
        program.complaints()
    );
    let metrics = door.answer("GET", "/metrics", "").await.unwrap();
    tell(&format!(
        "schemathesis, world {world}: {} requests, none answered otherwise than described",
        answered(&metrics)
    ));
    running.child.kill().await;
}

/// How many requests the service has answered, by its own count.
fn answered(metrics: &str) -> u64 {
    let counts = metrics.lines().filter(|line| line.starts_with(COUNTER));
    let counts = counts.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
    counts.sum()
}
