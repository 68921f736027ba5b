//! Records a made-up exchange, shows what is left of it, checks and replays it. With a path, checks that cassette:
//! `cargo run -p dormouse-cassettes --example scrub -- FILE`.

use std::{error::Error, fs::File, io::Write, time::Duration};

use dormouse_cassettes::{
    About, Cassette, Ending, Player, PlayerConfig, Recorder, RecorderConfig, RequestParts,
    ScrubRules,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    if let Some(path) = std::env::args_os().nth(1) {
        let cassette = Cassette::read(&mut File::open(path)?)?;
        return tell_findings(&mut out, &cassette);
    }
    let cassette = recorded()?;
    cassette.write(&mut out)?;
    tell_findings(&mut out, &cassette)?;
    replay(&mut out, cassette)
}

/// All secrets in here are made up.
const BODY: &[u8] =
    br#"{"messages":[{"role":"user","content":"Mail the report to alice@example.org, please."}]}"#;

fn request(headers: &HeaderMap) -> RequestParts<'_> {
    RequestParts {
        method: &Method::POST,
        url: "https://alice:pw@api.example.com/v1/chat/completions",
        headers,
        body: BODY,
    }
}

fn recorded() -> Result<Cassette, Box<dyn Error>> {
    let key = "my-key-of-this-week";
    let recorder = Recorder::new(RecorderConfig {
        about: About {
            program: "example 0.1.0".to_owned(),
            note: "the key is repeated in the answer".to_owned(),
            ..About::default()
        },
        rules: ScrubRules::new().with_secret(key)?,
        ..RecorderConfig::default()
    });
    let mut headers = HeaderMap::new();
    headers.insert(
        "authorization",
        HeaderValue::from_static("Bearer my-key-of-this-week"),
    );
    headers.insert("content-type", HeaderValue::from_static("application/json"));

    let mut exchange = recorder.begin(request(&headers));
    exchange.answered(StatusCode::OK, &headers, Duration::from_millis(310));
    for chunk in [
        "data: {\"text\":\"Mailed to alice@exam\"}\n\ndata: {\"text\":\"ple.org with my-\"}\n\nda",
        "ta: {\"text\":\"key-of-this-week.\"}\n\n",
    ] {
        exchange.chunk(chunk.as_bytes(), Duration::from_millis(40));
    }
    exchange.ended_because(Ending::CutOff, &"connection reset by 203.0.113.9");
    Ok(recorder.cassette())
}

fn tell_findings(out: &mut dyn Write, cassette: &Cassette) -> Result<(), Box<dyn Error>> {
    let findings = cassette.check();
    writeln!(out, "\n{} suspicious passages", findings.len())?;
    for finding in findings {
        writeln!(out, "- {finding}")?;
    }
    Ok(())
}

fn replay(out: &mut dyn Write, cassette: Cassette) -> Result<(), Box<dyn Error>> {
    let player = Player::new(cassette, PlayerConfig::default());
    let headers = HeaderMap::new();
    let other = RequestParts {
        body: br#"{"messages":[]}"#,
        ..request(&headers)
    };
    if let Err(no_match) = player.answer(other) {
        writeln!(out, "\nanother request: {no_match}")?;
    }
    let playback = player.answer(request(&headers))?;
    writeln!(out, "\nthe same request again:")?;
    for chunk in playback.chunks() {
        let text = String::from_utf8_lossy(&chunk.bytes);
        writeln!(out, "after {:?}: {text:?}", chunk.pause())?;
    }
    writeln!(
        out,
        "ended: {:?}, {} left",
        playback.ending(),
        player.remaining()
    )?;
    Ok(())
}
