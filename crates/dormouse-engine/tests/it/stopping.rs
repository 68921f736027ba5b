//! An operator who stops an assistant.

use dormouse_engine::{Rest, StopCause, StopError};
use dormouse_testing::{Perceive, ScriptedTurn};
use serde_json::json;

use crate::home::Home;

#[tokio::test(start_paused = true)]
async fn an_operator_does_not_wait_for_a_model_and_loses_no_message() {
    let home = Home::new([
        ScriptedTurn::Hang,
        ScriptedTurn::call("say", json!({"message": "here I am"})),
        ScriptedTurn::call("noop", json!({})),
    ]);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello?").build())
        .await;
    tokio::task::yield_now().await;
    let begun = tokio::time::Instant::now();
    assert_eq!(life.handle.stop(" ").await, Err(StopError::Unnamed));
    life.handle.stop("Carol").await.unwrap();
    let stopped = Rest::Stopped(StopCause::Operator("Carol".to_owned()));
    assert_eq!(life.handle.at_rest().await, stopped);
    assert!(begun.elapsed().is_zero(), "{:?}", begun.elapsed());
    assert_eq!(life.handle.stop("Dan").await, Err(StopError::AlreadyOn));
    life.end().await.unwrap();

    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, stopped, "also after a restart");
    life.handle.clear_stop("Carol").await.unwrap();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say here I am"]);
    life.end().await.unwrap();
    home.no_protocol_was_broken();
}
