//! One cell: a host, a client on its own runtime, and the outcome of a call.

use std::time::Duration;

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatReply, ChatRequest, Message, ModelError, ModelName,
    ProviderId, complete,
};
use dormouse_providers::Network;
use futures_util::StreamExt;

use super::{
    cell::{Came, End, Row},
    log::Log,
    scene::{Address, Pace, SECOND_HOST, Scene, Trust},
};
use crate::double::{AUTHORITY, Answer, Channel, Dialect, Host, Seen, Step};

/// Longer than any cell takes, so that a test that hangs fails.
const HANGS: Duration = Duration::from_secs(300);

/// Plays the scene of this row with this provider.
pub(crate) fn run(row: &Row, dialect: &dyn Dialect) -> Came {
    let mut scene = (row.scene)(dialect);
    let second = Host::answering("/", Channel::Plain, Answer::status(500, "", ""));
    point_to(&second, &mut scene);
    let path = format!("{}{}", scene.prefix, dialect.path());
    let mut host = Host::answering(&path, scene.channel, scene.answer.clone());
    let mut end = None;
    let log = Log::default();
    let memory = tracing::subscriber::with_default(log.subscriber(), || {
        allocation_counter::measure(|| end = Some(call(dialect, &scene, &mut host)))
    });
    Came {
        end: end.unwrap(),
        asked: host.requests(),
        asked_elsewhere: second.requests().len(),
        memory_bytes: memory.bytes_max,
        key_logged: log.told_the_key(),
    }
}

fn point_to(second: &Host, scene: &mut Scene) {
    for step in &mut scene.answer.steps {
        if let Step::Bytes(bytes) = step
            && let Ok(text) = std::str::from_utf8(bytes)
            && text.contains(SECOND_HOST)
        {
            *bytes = text.replace(SECOND_HOST, &second.url()).into_bytes();
        }
    }
}

fn call(dialect: &dyn Dialect, scene: &Scene, host: &mut Host) -> End {
    let url = match scene.address {
        Address::Below(path) => format!("{}{path}", host.url()),
        Address::Literally(url) => url.to_owned(),
        Address::ByScheme(scheme) => format!("{scheme}://{}", host.authority()),
        Address::Nobody => "http://127.0.0.1:9".to_owned(),
    };
    let network = match scene.trust {
        Trust::Machine => Network::direct(),
        Trust::Authority => Network::direct().trusting(AUTHORITY).unwrap(),
    };
    let model = match dialect.open(&network, &url) {
        Ok(model) => model,
        Err(error) => return End::NoModel(error),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(ask(&*model, scene.pace, host))
}

async fn ask(model: &dyn ChatModel, pace: Pace, host: &mut Host) -> End {
    let request = ChatRequest {
        messages: vec![Message::User {
            content: "Hello?".to_owned(),
        }],
        ..ChatRequest::default()
    };
    let reply = async {
        match pace {
            Pace::Real => Some(complete(model, &request).await),
            Pace::Deadline(millis) => with_deadline(model, &request, host, millis).await,
            Pace::FromRequest => Some(paused_from_request(model, &request, host).await),
            Pace::FromText => Some(paused_from(model, &request, is_text).await),
            Pace::FromFinish => Some(paused_from(model, &request, is_finish).await),
        }
    };
    let hangs = match pace {
        Pace::Real | Pace::Deadline(_) => HANGS,
        // An hour is over at once where the clock jumps.
        _ => HANGS.max(Duration::from_secs(3_600)),
    };
    match tokio::time::timeout(hangs, reply).await {
        Ok(Some(Ok(reply))) => End::Reply(Box::new(reply)),
        Ok(Some(Err(error))) => End::Failed(error),
        Ok(None) => End::Left,
        Err(_) => End::Hung,
    }
}

fn is_text(delta: &ChatDelta) -> bool {
    matches!(delta, ChatDelta::Text(_))
}

fn is_finish(delta: &ChatDelta) -> bool {
    matches!(delta, ChatDelta::Finished(_))
}

/// The caller waits so long from when the server has read the request; where that was too short, the server must see it leave.
async fn with_deadline(
    model: &dyn ChatModel,
    request: &ChatRequest,
    host: &mut Host,
    millis: u64,
) -> Option<Result<ChatReply, ModelError>> {
    let mut reply = complete(model, request);
    tokio::select! {
        reply = &mut reply => return Some(reply),
        () = host.until(Seen::Request) => {}
    }
    let in_time = tokio::time::timeout(Duration::from_millis(millis), reply).await;
    if in_time.is_err() {
        host.until(Seen::Left).await;
    }
    in_time.ok()
}

/// The clock stands still once the server has read the request, and then jumps from one timer to the next.
async fn paused_from_request(
    model: &dyn ChatModel,
    request: &ChatRequest,
    host: &mut Host,
) -> Result<ChatReply, ModelError> {
    let reply = complete(model, request);
    let asked = async {
        host.until(Seen::Request).await;
        tokio::time::pause();
    };
    let (reply, ()) = futures_util::future::join(reply, asked).await;
    reply
}

/// The clock stands still from that piece of the reply on.
async fn paused_from(
    model: &dyn ChatModel,
    request: &ChatRequest,
    from: fn(&ChatDelta) -> bool,
) -> Result<ChatReply, ModelError> {
    let watched = Watched { model, from };
    complete(&watched, request).await
}

/// A model whose replies stop the clock.
struct Watched<'m> {
    model: &'m dyn ChatModel,
    from: fn(&ChatDelta) -> bool,
}

impl ChatModel for Watched<'_> {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let mut is_paused = false;
        let stream = self.model.stream(request);
        Box::pin(stream.inspect(move |delta| {
            let from = delta.as_ref().is_ok_and(self.from);
            if from && !std::mem::replace(&mut is_paused, true) {
                tokio::time::pause();
            }
        }))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.model.identity()
    }
}
