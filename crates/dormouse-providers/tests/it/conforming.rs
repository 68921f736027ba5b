//! Every provider keeps the promises of the port.

use std::time::Duration;

use dormouse_contracts::{BoxFuture, ChatDelta, ChatModel};
use dormouse_providers::Network;
use dormouse_testing::conformance::{
    BackendAnswer, ChatBackend, ChatStage, Cut, REQUEST_ID, chat_adapter,
};
use serde_json::json;

use crate::{
    double::{Answer, Channel, Counted, Dialect, Host, Seen, Step, dialects},
    server::guarded,
};

/// How long a client may take to close a connection.
const LEAVING: Duration = Duration::from_secs(120);

#[tokio::test]
async fn every_provider_keeps_the_promises_of_the_port() {
    for dialect in dialects() {
        guarded(chat_adapter(&Double(dialect))).await;
    }
}

/// A server that speaks one vendor's dialect.
struct Double(&'static dyn Dialect);

struct Stage {
    host: Host,
    model: Box<dyn ChatModel>,
}

impl ChatBackend for Double {
    fn stage(&self, answer: &BackendAnswer) -> Box<dyn ChatStage> {
        let host = Host::answering(self.0.path(), Channel::Plain, self.said(answer));
        let model = self.0.open(&Network::direct(), &host.url()).unwrap();
        Box::new(Stage { host, model })
    }
}

impl ChatStage for Stage {
    fn model(&self) -> &dyn ChatModel {
        &*self.model
    }

    fn requests(&self) -> usize {
        self.host.requests().len()
    }

    fn left(&mut self) -> BoxFuture<'_, bool> {
        let left = tokio::time::timeout(LEAVING, self.host.until(Seen::Left));
        Box::pin(async { left.await.is_ok() })
    }
}

impl Double {
    fn said(&self, answer: &BackendAnswer) -> Answer {
        let id = format!("{}: {REQUEST_ID}\r\n", self.0.request_id_header());
        let head = Answer::open(self.0.media_type(), &id);
        let begun = |said: &[ChatDelta]| match said {
            [] => String::new(),
            said => self.0.stream(said, &Counted::Nothing).begun,
        };
        match answer {
            BackendAnswer::Reply(said, cut) => {
                let shown = head.and(self.0.stream(said, &counted(said)).all());
                match cut {
                    Cut::Freely => shown,
                    Cut::Bytes => shown.singly(),
                }
            }
            BackendAnswer::Silence(said) => head.and(begun(said)).then(Step::Silence),
            BackendAnswer::CutOff(said) => head.and(begun(said)),
            BackendAnswer::Status(status, pause) => {
                let pause = match pause.as_secs() {
                    0 => String::new(),
                    seconds => format!("retry-after: {seconds}\r\n"),
                };
                let body = self.0.error_body(*status, "this is not possible");
                Answer::status(*status, &format!("{id}{pause}"), body.to_string())
            }
            other => panic!("the suite wants something new: {other:?}"),
        }
    }
}

fn counted(said: &[ChatDelta]) -> Counted {
    let usage = said.iter().find_map(|piece| match piece {
        ChatDelta::Usage(usage) => Some(usage),
        _ => None,
    });
    usage.map_or(Counted::Nothing, |usage| {
        Counted::Tokens(json!(usage.prompt_tokens), json!(usage.completion_tokens))
    })
}
