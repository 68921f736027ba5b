//! Files that are written, read, damaged and made up.

use std::{fs, io, path::Path, time::Duration};

use dormouse_cassettes::{
    About, AcceptedFindings, Cassette, CassetteReadError, Ending, Recorder, RecorderConfig,
    SaveError,
};
use dormouse_contracts::Timestamp;
use http::{HeaderMap, StatusCode};
use proptest::prelude::*;

use crate::support::{headers, post, record};

fn sample() -> Cassette {
    let about = About {
        recorded_at: Timestamp::from_micros(1_795_219_200_000_000),
        program: "test 1.0".to_owned(),
        service: "tea-house".to_owned(),
        note: "two \"lines\"\nof it".to_owned(),
    };
    let recorder = Recorder::new(RecorderConfig {
        about,
        ..RecorderConfig::default()
    });
    let sent = headers(&[("content-type", "application/json")]);
    record(
        &recorder,
        post("/v1/a?b=c", &sent, br#"{"a":[1,2.5,"x"]}"#),
        &[b"one \xc3", b"\xa4 two", b""],
    );
    record(&recorder, post("/v1/a", &sent, b"\xff"), &[]);
    recorder
        .begin(post("/v1/b", &sent, b"text"))
        .ended_because(Ending::NeverReached, &"refused");
    recorder.cassette()
}

#[test]
fn a_file_has_one_line_per_chunk() {
    let text = sample().to_text();
    for line in [
        "  \"dormouse_cassette\": 1,",
        "  \"recorded_at\": \"2026-11-21T00:00:00Z\",",
        "  \"service\": \"tea-house\",",
        "          { \"pause_ms\": 3, \"base64\": \"b25lIMM=\" },",
        "          { \"pause_ms\": 3, \"text\": \"\" }",
        "      \"ending\": \"never_reached\",",
    ] {
        assert!(text.lines().any(|there| there == line), "{line} in {text}");
    }
    assert_eq!(Cassette::from_bytes(text.as_bytes()).unwrap(), sample());
}

#[test]
fn the_readme_shows_a_file_that_can_be_read() {
    let readme = include_str!("../../README.md");
    let (_, file) = readme.split_once("```json\n").unwrap();
    let (file, _) = file.split_once("```").unwrap();
    let cassette = Cassette::from_bytes(file.as_bytes()).unwrap();
    assert_eq!(
        cassette.exchanges[0].response.as_ref().unwrap().chunks[1].bytes,
        [0xff, 0xfe]
    );
}

#[test]
fn a_truncated_file_is_reported_as_truncated() {
    let text = sample().to_text();
    for end in 0..text.trim_end().len() {
        let read = Cassette::from_bytes(&text.as_bytes()[..end]);
        assert!(
            matches!(read, Err(CassetteReadError::CutOff(_))),
            "{end}: {read:?}"
        );
    }
}

#[test]
fn an_invalid_cassette_is_rejected_with_the_location() {
    let exchange = r#"{"request":{"method":"GET","target":"/"},"ending":"whole"}"#;
    let file = |version: &str, exchange: &str| {
        format!(
            "{{\"dormouse_cassette\":{version},\n\"recorded_at\":\"2026-11-21T00:00:00Z\",\"program\":\"\",\"note\":\"\",\"exchanges\":[\n{exchange}]}}"
        )
    };
    assert!(Cassette::from_bytes(file("1", exchange).as_bytes()).is_ok());
    let message = |text: String| {
        Cassette::from_bytes(text.as_bytes())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(file("2", exchange)),
        "the cassette has version 2, and this program reads 1: use the program that wrote it, or record again"
    );
    assert_eq!(
        message("{}".to_owned()),
        "this is not a cassette: the member `dormouse_cassette` with a version is missing"
    );
    for (broken, part) in [
        (
            exchange.replace("target", "path"),
            "line 3, column 33 (unknown field `path`",
        ),
        (
            exchange.replace("whole", "well"),
            "line 3, column 56 (unknown variant `well`",
        ),
        (
            exchange.replace("\"/\"", "\"/\",\"text\":\"\",\"base64\":\"\""),
            "one of `json`, `text` and `base64`",
        ),
        (
            exchange.replace("\"/\"", "\"/\",\"headers\":[\"a: \\n\"]"),
            "expected a header as `name: value`",
        ),
        (
            exchange.replace("\"/\"", "\"/\",\"base64\":\"?\""),
            "the text is not base64",
        ),
        (
            exchange.replace("\"/\"", &format!("\"{}\",\"{}\":1", "/", "x".repeat(5000))),
            "…)",
        ),
        (
            exchange.replace("\"/\"", &format!("\"/\",\"json\":{}", "[".repeat(5000))),
            "not valid JSON at line 3",
        ),
        (
            exchange.replace("}}", "}").replace("},", "}"),
            "not valid JSON at line 3",
        ),
    ] {
        let message = message(file("1", &broken));
        assert!(message.contains(part) && message.len() < 500, "{message}");
    }
}

#[test]
fn an_invalid_date_is_rejected() {
    let text = sample().to_text();
    for (day, is_read) in [
        ("2026-02-28", true),
        ("2024-02-29", true),
        ("2026-02-29", false),
        ("2026-02-31", false),
        ("2026-04-31", false),
    ] {
        let file = text.replace("2026-11-21", day);
        let read = Cassette::from_bytes(file.as_bytes());
        assert_eq!(read.is_ok(), is_read, "{day}: {read:?}");
    }
}

#[test]
fn a_recording_with_any_timestamp_can_be_read() {
    for seconds in [-70_000_000_000_i64, -1, 0, 253_402_300_799, 300_000_000_000] {
        let mut recorded = sample();
        recorded.about.recorded_at = Timestamp::from_micros(seconds * 1_000_000);
        let read = Cassette::from_bytes(recorded.to_text().as_bytes());
        assert_eq!(read.unwrap(), recorded, "{seconds}");
    }
}

#[test]
fn a_file_that_is_too_long_is_not_read() {
    let mut endless = io::repeat(b' ');
    let read = Cassette::read_within(&mut endless, 1000);
    assert!(
        matches!(read, Err(CassetteReadError::TooLong { limit_bytes: 1000 })),
        "{read:?}"
    );
}

#[test]
fn a_saved_cassette_is_complete_private_and_leaves_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    fs::write(&path, "before").unwrap();
    sample()
        .save(&path, &AcceptedFindings::everything())
        .unwrap();
    assert_eq!(
        Cassette::read(&mut fs::File::open(&path).unwrap()).unwrap(),
        sample()
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}

#[test]
fn a_rejected_cassette_does_not_change_the_existing_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    fs::write(&path, "before").unwrap();
    let refused = sample().save(&path, &AcceptedFindings::nothing());
    assert!(matches!(refused, Err(SaveError::Suspicious(findings)) if findings.len() == 1));
    assert_eq!(fs::read_to_string(&path).unwrap(), "before");

    let missing = sample().save(
        &folder.path().join("none/a.json"),
        &AcceptedFindings::everything(),
    );
    assert!(matches!(missing, Err(SaveError::Io(_))));
    let folder_itself = sample().save(folder.path(), &AcceptedFindings::everything());
    assert!(matches!(folder_itself, Err(SaveError::Io(_))));
    assert!(matches!(
        sample().save(Path::new("/"), &AcceptedFindings::everything()),
        Err(SaveError::NoFile)
    ));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

proptest! {
    #[test]
    fn a_recording_round_trips(
        target in "\\PC{0,12}",
        body in prop::collection::vec(any::<u8>(), 0..40),
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..5),
        header in "[ -~\\u{e4}]{0,12}",
    ) {
        let recorder = Recorder::new(RecorderConfig::default());
        let mut got = HeaderMap::new();
        got.insert("x-request-id", http::HeaderValue::from_bytes(header.as_bytes()).unwrap());
        let mut exchange = recorder.begin(post(&target, &got, &body));
        exchange.answered(StatusCode::OK, &got, Duration::MAX);
        for chunk in &chunks {
            exchange.chunk(chunk, Duration::MAX);
        }
        exchange.ended(Ending::CutOff);
        let cassette = recorder.cassette();
        prop_assert_eq!(Cassette::from_bytes(cassette.to_text().as_bytes()).unwrap(), cassette);
    }

    #[test]
    fn no_damaged_file_makes_the_reader_panic(at in 0_usize..1500, byte in any::<u8>()) {
        let mut bytes = sample().to_text().into_bytes();
        let at = at.min(bytes.len() - 1);
        bytes[at] = byte;
        // Whether it can still be read depends on what was hit.
        if let Ok(cassette) = Cassette::from_bytes(&bytes) {
            prop_assert_eq!(cassette.exchanges.len(), 3);
        }
    }
}
