use dormouse_cassettes::RequestParts;
use http::{HeaderMap, Method};

use super::*;

fn recorded(url: &str, body: &str) -> Cassette {
    let recorder = Recorder::new(RecorderConfig::default());
    let parts = RequestParts {
        method: &Method::POST,
        url,
        headers: &HeaderMap::new(),
        body: body.as_bytes(),
    };
    drop(recorder.begin(parts));
    recorder.cassette()
}

#[test]
fn a_replay_asks_as_the_recording_did() {
    for (url, provider, base_url) in [
        (
            "https://api.openai.com/v1/chat/completions",
            ServedBy::Local,
            "http://127.0.0.1:9/v1",
        ),
        (
            "http://host/value/v1/chat/completions",
            ServedBy::Local,
            "http://127.0.0.1:9/value/v1",
        ),
        (
            "https://api.anthropic.com/v1/messages",
            ServedBy::Anthropic,
            "http://127.0.0.1:9/v1",
        ),
        (
            "http://127.0.0.1:11434/api/chat",
            ServedBy::Ollama,
            "http://127.0.0.1:9",
        ),
    ] {
        let cassette = recorded(url, r#"{"model":"tea"}"#);
        let flags = provider_of(&cassette, &ProviderFlags::default()).unwrap();
        assert_eq!(flags.provider, Some(provider), "{url}");
        assert_eq!(flags.base_url.as_deref(), Some(base_url), "{url}");
        assert_eq!(flags.model.unwrap().as_str(), "tea");
    }
}

#[test]
fn a_replay_offers_tools_as_the_recording_did() {
    for (body, calling) in [
        (r#"{"tools":[{}]}"#, ToolCalling::Native),
        (r#"{"tools":[]}"#, ToolCalling::Fallback),
        ("{}", ToolCalling::Fallback),
    ] {
        let cassette = recorded("http://host/v1/chat/completions", body);
        let flags = provider_of(&cassette, &ProviderFlags::default()).unwrap();
        assert_eq!(flags.tool_calling, Some(calling), "{body}");
    }
}

#[test]
fn a_recording_without_chat_requests_names_no_provider() {
    let cassette = recorded("http://host/v1/models", "{}");
    assert!(provider_of(&cassette, &ProviderFlags::default()).is_none());
    assert!(provider_of(&Cassette::default(), &ProviderFlags::default()).is_none());
}
