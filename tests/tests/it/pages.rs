//! The pages in a real browser.

use std::{path::Path, process::Stdio, time::Duration};

use dormouse_tests::{LIMIT, Program, chromium, tell};
use tokio::{
    process::Command,
    time::{Instant, sleep, timeout},
};

/// The link that the service prints, once it has printed one.
async fn link(folder: &Path, program: &Program) -> String {
    let begun = Instant::now();
    loop {
        let said = std::fs::read_to_string(folder.join("stderr.txt")).unwrap_or_default();
        let found = said
            .split_whitespace()
            .find(|word| word.contains("/sign-in/?code="));
        if let Some(link) = found {
            return link.to_owned();
        }
        assert!(
            begun.elapsed() < LIMIT,
            "it prints no link: {}",
            program.complaints()
        );
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_browser_signs_in_and_does_everything_that_pages_offer_without_an_error() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = Program::over(folder.path());
    let serving = program.start(&["serve", "--listen", "127.0.0.1:0", "--provider", "offline"]);
    let link = link(folder.path(), &program).await;
    let pictures = match std::env::var_os("DORMOUSE_PICTURES") {
        Some(kept) => kept.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/pictures"),
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/chromium/drive.mjs");
    let mut drive = Command::new("node");
    drive.arg(script).arg(browser).arg(link).arg(&pictures);
    let output = drive.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = timeout(LIMIT, output)
        .await
        .expect("it comes to an end")
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    tell(said.trim());
    drop(serving);
}
