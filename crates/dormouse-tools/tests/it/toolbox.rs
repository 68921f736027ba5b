//! Tools of one's own: their schemas, what they do at most once, and what becomes of those that fail.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use dormouse_contracts::{
    Arguments, AssistantId, Audience, CachePolicy, CacheScope, Effect, EffectInquiry, EffectKey,
    EntityId, Inquire, Observe, Outcome, Perform, Query, Rejection, Speech, SpeechKind,
    ToolCategory, ToolName, ToolReach, ToolSource, Trust, WorldErrorKind,
};
use dormouse_testing::conformance::{self, WorldFixture};
use dormouse_tools::{Tool, ToolInfo, Toolbox, ToolboxError};
use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Rings a bell, and counts how often.
struct Ring(Arc<AtomicUsize>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HowToRing {
    /// Which bell.
    bell: String,
    /// How often, 1 to 3.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3))]
    times: Option<u8>,
}

impl Tool for Ring {
    type Arguments = HowToRing;

    fn info(&self) -> ToolInfo {
        ToolInfo {
            category: ToolCategory::Dangerous,
            timeout: Duration::from_secs(5),
            required_trust: Some(Trust::FULL),
            ..ToolInfo::effect("ring", "Ring a bell.")
        }
    }

    async fn call(&self, _by: &AssistantId, how: HowToRing) -> Result<Value, Rejection> {
        match how.bell.as_str() {
            "cracked" => return Err(Rejection::new("this bell is cracked")),
            "cursed" => panic!("the bell is cursed"),
            "endless" => {
                self.0.fetch_add(1, SeqCst);
                pending().await
            }
            _ => {}
        }
        let times = usize::from(how.times.unwrap_or(1));
        Ok(json!({ "rung": self.0.fetch_add(times, SeqCst) + times }))
    }
}

/// Says how often the bell was rung.
struct Listen(Arc<AtomicUsize>);

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Tool for Listen {
    type Arguments = Nothing;

    fn info(&self) -> ToolInfo {
        ToolInfo {
            category: ToolCategory::AsyncRequired,
            cache: Some(CachePolicy {
                scope: CacheScope::Session,
                ttl: Some(Duration::from_secs(60)),
            }),
            ..ToolInfo::query("listen", "How often the bell was rung.")
        }
    }

    async fn call(&self, _by: &AssistantId, _: Nothing) -> Result<Value, Rejection> {
        match self.0.load(SeqCst) {
            13 => panic!("nobody counts to thirteen"),
            rung => Ok(json!(rung)),
        }
    }
}

/// Shouts, which two people hear.
struct Shout {
    heard_by: Option<Audience>,
}

#[derive(Deserialize, JsonSchema)]
struct Words {
    text: String,
}

impl Tool for Shout {
    type Arguments = Words;

    fn info(&self) -> ToolInfo {
        ToolInfo {
            speech: Some(Speech {
                kind: SpeechKind::Aloud,
                words: "text".to_owned(),
                to: None,
            }),
            ..ToolInfo::effect("shout", "Shout something.")
        }
    }

    async fn call(&self, _by: &AssistantId, words: Words) -> Result<Value, Rejection> {
        Ok(json!(words.text))
    }

    fn listeners(&self, _by: &AssistantId, _words: &Words) -> Option<Audience> {
        self.heard_by.clone()
    }
}

fn toolbox() -> (Toolbox, Arc<AtomicUsize>) {
    let rung = Arc::new(AtomicUsize::new(0));
    let toolbox = Toolbox::new().with(Ring(rung.clone())).unwrap();
    (toolbox.with(Listen(rung.clone())).unwrap(), rung)
}

fn dormouse() -> AssistantId {
    AssistantId::try_new("dormouse").unwrap()
}

fn name(name: &str) -> ToolName {
    ToolName::try_new(name).unwrap()
}

fn effect(key: &str, tool: &str, with: &Value) -> Effect {
    Effect {
        key: EffectKey::try_new(key).unwrap(),
        actor: dormouse(),
        tool: name(tool),
        arguments: with.as_object().unwrap().clone(),
        reply_to: None,
        within: None,
    }
}

fn ring(key: &str, bell: &str) -> Effect {
    effect(key, "ring", &json!({ "bell": bell }))
}

fn listen() -> Query {
    Query {
        actor: dormouse(),
        tool: name("listen"),
        arguments: Arguments::new(),
    }
}

#[tokio::test]
async fn a_toolbox_keeps_the_promises_of_a_source_also_when_it_is_made_anew() {
    let fixture = || WorldFixture {
        effect: |key| ring(key.as_str(), "big"),
        refused: ring("refused", "cracked"),
        query: listen(),
        feed: None,
        listener: None,
    };
    let (toolbox, rung) = toolbox();
    conformance::tool_source(&toolbox, fixture()).await;
    let anew = Toolbox::new().with(Ring(rung.clone())).unwrap();
    let anew = anew.with(Listen(rung)).unwrap();
    conformance::tool_source_reopened(&anew, fixture()).await;
    let told = anew.inquire(&ring("conformance/once", "big")).await;
    assert_eq!(told.unwrap(), EffectInquiry::CannotTell);
}

#[test]
fn the_schema_is_that_of_the_type_that_reads_the_arguments() {
    let (toolbox, _) = toolbox();
    let [ring, listen] = toolbox.specs().try_into().unwrap();
    assert_eq!(
        ring.parameters,
        json!({
            "type": "object",
            "properties": {
                "bell": { "type": "string", "description": "Which bell." },
                "times": {
                    "type": ["integer", "null"],
                    "format": "uint8",
                    "minimum": 1,
                    "maximum": 3,
                    "default": null,
                    "description": "How often, 1 to 3."
                },
            },
            "required": ["bell"],
            "additionalProperties": false,
        })
    );
    assert_eq!(listen.parameters["properties"], json!({}));
    assert_eq!(ring.category, ToolCategory::Dangerous);
    assert_eq!(ring.required_trust, Some(Trust::FULL));
    assert_eq!(ring.timeout, Duration::from_secs(5));
    assert_eq!(listen.category, ToolCategory::AsyncRequired);
    assert_eq!(listen.cache.unwrap().scope, CacheScope::Session);
}

#[tokio::test]
async fn an_effect_that_panics_or_is_dropped_is_never_made_again() {
    let (toolbox, rung) = toolbox();
    let cursed = ring("1", "cursed");
    let error = toolbox.perform(&cursed).await.unwrap_err();
    assert_eq!(error.kind(), WorldErrorKind::Unanswered);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "the tool ring panicked: the bell is cursed");

    let endless = ring("2", "endless");
    assert!(toolbox.perform(&endless).now_or_never().is_none());
    for begun in [&cursed, &endless] {
        let told = toolbox.inquire(begun).await.unwrap();
        assert_eq!(told, EffectInquiry::CannotTell);
        let again = toolbox.perform(begun).await.unwrap_err();
        assert_eq!(again.kind(), WorldErrorKind::Unanswered);
    }
    assert_eq!(rung.load(SeqCst), 1, "the dropped call was not made again");
}

#[tokio::test]
async fn a_query_that_panics_has_failed_and_can_be_asked_again() {
    let (toolbox, rung) = toolbox();
    rung.store(13, SeqCst);
    let answer = toolbox.observe(&listen()).await.unwrap();
    let reason = answer.unwrap_err().reason;
    assert_eq!(reason, "listen has a defect and gave no answer");
    rung.store(2, SeqCst);
    assert_eq!(toolbox.observe(&listen()).await.unwrap(), Ok(json!(2)));
}

#[tokio::test]
async fn arguments_that_the_type_does_not_read_are_refused_with_the_reason() {
    let (toolbox, rung) = toolbox();
    let unfit = effect("1", "ring", &json!({ "bell": 7 }));
    let Outcome::Rejected(rejection) = toolbox.perform(&unfit).await.unwrap() else {
        panic!("it was carried out");
    };
    let reason = rejection.reason;
    assert!(
        reason.starts_with("the arguments do not fit: invalid type: integer `7`"),
        "{reason}"
    );
    assert_eq!(rung.load(SeqCst), 0);
}

fn people(names: &[&str]) -> Audience {
    let ids = names.iter().map(|name| EntityId::try_new(*name).unwrap());
    ids.collect()
}

#[tokio::test]
async fn words_are_said_only_if_all_who_hear_them_may() {
    let both = people(&["player:alice", "player:bob"]);
    let alice = people(&["player:alice"]);
    let shout = |heard_by| Toolbox::new().with(Shout { heard_by }).unwrap();
    let words = |key: &str, within: Option<Audience>| Effect {
        within,
        ..effect(key, "shout", &json!({ "text": "hello" }))
    };
    let toolbox = shout(Some(both.clone()));
    for within in [None, Some(both.clone()), Some(Audience::Public)] {
        let key = format!("{within:?}").replace('"', "");
        let Outcome::Done(receipt) = toolbox.perform(&words(&key, within)).await.unwrap() else {
            panic!("it was not said");
        };
        assert_eq!(receipt.heard_by, Some(both.clone()));
    }
    // Where nobody knows who listens, everybody may.
    for (heard_by, named) in [(Some(both.clone()), both), (None, Audience::Public)] {
        let only_alice = words("only alice", Some(alice.clone()));
        let outcome = shout(heard_by).perform(&only_alice).await.unwrap();
        let Outcome::Rejected(rejection) = outcome else {
            panic!("it was said");
        };
        assert_eq!(rejection.heard_by, Some(named));
    }
}

/// A tool that declares something wrong.
struct Wrong(ToolInfo);

impl Tool for Wrong {
    type Arguments = Words;

    fn info(&self) -> ToolInfo {
        self.0.clone()
    }

    async fn call(&self, _by: &AssistantId, _: Words) -> Result<Value, Rejection> {
        Ok(Value::Null)
    }
}

#[test]
fn a_tool_that_cannot_be_offered_is_refused_with_what_to_change() {
    let (toolbox, _) = toolbox();
    let refused = |info| {
        let refused = Toolbox::new().with(Listen(Arc::default())).unwrap();
        let error: ToolboxError = refused.with(Wrong(info)).unwrap_err();
        error.to_string()
    };
    drop(toolbox);
    let speech = |words: &str| {
        Some(Speech {
            kind: SpeechKind::Aloud,
            words: words.to_owned(),
            to: None,
        })
    };
    for (info, expected) in [
        (
            ToolInfo::effect("a tool", "It has a space."),
            "a tool cannot be named \"a tool\"",
        ),
        (
            ToolInfo::query("listen", "Another one."),
            "two tools are named \"listen\"",
        ),
        (
            ToolInfo::query("hear", " "),
            "the tool \"hear\" has no description",
        ),
        (
            ToolInfo {
                reach: ToolReach::Builtin,
                ..ToolInfo::query("think", "Think.")
            },
            "the tool \"think\" must be an effect or a query, and an effect if it speaks",
        ),
        (
            ToolInfo {
                speech: speech("text"),
                ..ToolInfo::query("mumble", "Mumble.")
            },
            "the tool \"mumble\" must be an effect or a query, and an effect if it speaks",
        ),
        (
            ToolInfo {
                speech: speech("txt"),
                ..ToolInfo::effect("sing", "Sing.")
            },
            "the tool \"sing\" says what is in \"txt\", which is not one of its texts",
        ),
    ] {
        assert_eq!(refused(info), expected);
    }
}
