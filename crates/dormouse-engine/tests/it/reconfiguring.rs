//! Settings that an operator changes while the assistant runs.

use dormouse_contracts::AppendRequest;
use dormouse_engine::{AssistantConfig, Event, Rest, SettingChanged, State, Switch};
use dormouse_testing::{Gate, Perceive, ScriptedTurn};
use serde_json::{Value, json};

use crate::home::{Home, Life, key};

fn say(words: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({ "message": words }))
}

/// What this test can change.
fn configure(state: &State, config: &mut AssistantConfig) {
    let value = |name| state.changed_settings.get(name).map(|it| it.value.clone());
    if let Some(Value::String(persona)) = value("persona") {
        config.persona = persona;
    }
    if value("enabled") == Some(json!(false)) {
        config.switch = Switch::Disabled;
    }
}

impl Life {
    async fn set(&self, home: &Home, setting: &str, new: Value) {
        let expected = self.handle.inspect().await.unwrap().seq;
        let changed = Event::SettingChanged(SettingChanged {
            setting: setting.to_owned(),
            old: None,
            new: Some(new),
            by: "Carol".to_owned(),
        });
        let now = dormouse_contracts::Clock::now(&*home.clock);
        let request = AppendRequest {
            assistant: key(),
            expected,
            events: vec![changed.encode(now).unwrap()],
        };
        self.handle.append(request).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_setting_applies_from_the_next_tick_on_and_not_within_one() {
    let gate = Gate::default();
    let waits = |turn| ScriptedTurn::Wait(gate.clone(), Box::new(turn));
    let recall = ScriptedTurn::call("recall_memories", json!({ "query": "tea" }));
    let home = Home::new([waits(recall), say("one"), say("two"), say("three")]);
    let life = home.wake_by(configure).await;
    life.accept(Perceive::whisper("Alice", "hello?").build())
        .await;
    life.set(&home, "persona", json!("You are gruff.")).await;
    life.accept(Perceive::whisper("Alice", "and now?").number(2).build())
        .await;
    gate.open();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let shown = |home: &Home| -> Vec<_> {
        let requests = home.model.requests().into_iter();
        requests
            .map(|request| crate::home::shown(&request).contains("You are gruff."))
            .collect()
    };
    assert_eq!(shown(&home), [false, false, true]);
    life.set(&home, "persona", json!("You are kind.")).await;
    life.accept(Perceive::whisper("Alice", "again?").number(3).build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(shown(&home), [false, false, true, false]);
    assert_eq!(home.deeds(), ["say one", "say two", "say three"]);
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn switching_it_off_interrupts_its_model_and_switching_it_on_continues() {
    let home = Home::new([ScriptedTurn::Hang, say("here I am")]);
    let life = home.wake_by(configure).await;
    life.accept(Perceive::whisper("Alice", "hello?").build())
        .await;
    let begun = tokio::time::Instant::now();
    life.set(&home, "enabled", json!(false)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Disabled);
    assert!(begun.elapsed().is_zero(), "{:?}", begun.elapsed());
    life.set(&home, "enabled", json!(true)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say here I am"]);
    home.no_protocol_was_broken();
}
