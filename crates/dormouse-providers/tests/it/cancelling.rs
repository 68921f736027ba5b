use std::time::Duration;

use dormouse_contracts::{ChatDelta, ChatModel, complete};
use futures_util::StreamExt;

use crate::server::{Answer, Seen, Server, Then, guarded, hello};

const BEGUN: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Good\"}}]}\n\n";

#[tokio::test]
async fn dropping_a_stream_in_the_middle_of_a_reply_closes_the_connection() {
    let mut server = Server::answering(vec![Answer::stream(BEGUN, Then::Hang)]).await;
    let (model, request) = (server.model(), hello());
    let mut stream = model.stream(&request);
    let known = guarded(stream.next()).await.unwrap().unwrap();
    assert!(matches!(known, ChatDelta::Info(_)), "{known:?}");
    let first = guarded(stream.next()).await.unwrap().unwrap();
    assert_eq!(
        first,
        ChatDelta::Text("Good".to_owned()),
        "pieces come as they are sent"
    );
    drop(stream);
    server.until(Seen::Closed).await;
}

#[tokio::test]
async fn dropping_the_call_closes_a_connection_that_hangs() {
    let mut server = Server::answering(vec![Answer::raw("HTTP/1.1 200", Then::Hang)]).await;
    let (model, request) = (server.model(), hello());
    {
        let mut reply = complete(&model, &request);
        tokio::select! {
            reply = &mut reply => panic!("nobody answered: {reply:?}"),
            () = server.until(Seen::Request) => {}
        }
    }
    server.until(Seen::Closed).await;
}

#[tokio::test]
async fn a_deadline_around_a_hanging_reply_ends_it() {
    let mut server = Server::answering(vec![Answer::stream(BEGUN, Then::Hang)]).await;
    let (model, request) = (server.model(), hello());
    let mut reply = complete(&model, &request);
    // A busy machine may take longer than the deadline to send the request.
    tokio::select! {
        reply = &mut reply => panic!("nobody answered: {reply:?}"),
        () = server.until(Seen::Request) => {}
    }
    let ended = tokio::time::timeout(Duration::from_millis(100), reply).await;
    assert!(ended.is_err());
    server.until(Seen::Closed).await;
}
