//! Speaking to residents at a steady rate, whatever they take for an answer.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, BoxStream, ChatDelta, ChatModel, ChatRequest, Message, ModelError, ModelName,
    ProviderId, Words,
};
use dormouse_offline::OfflineModel;
use dormouse_sandbox::{Act, Sandbox};
use tokio::{
    runtime::Builder,
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use crate::{guest, name, processor::processor_time};

/// How many people speak. One alone would be asked to be patient.
pub(crate) const GUESTS: usize = 50;
/// How long the last request is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// When the model was asked about each message for the first time, by the number of the message.
#[derive(Clone, Default)]
pub(crate) struct Asks(Arc<Mutex<Vec<Option<Instant>>>>);

/// What became of a message.
pub(crate) struct Spoken {
    /// Absent if the model was not asked.
    pub(crate) asked: Option<Asked>,
    /// Its part of the processor time of the whole process.
    pub(crate) busy: Duration,
}

/// How long it took until the model was asked.
pub(crate) struct Asked {
    /// From the moment at which the message was due.
    pub(crate) since_spoken: Duration,
    /// From the moment at which the world had it on disk for the resident.
    pub(crate) since_perceived: Duration,
}

/// Says something to each of `to`, so many times a second. A thread of its own speaks, so a host that is busy does not delay the
/// next message.
pub(crate) fn speak(world: &Sandbox, to: &[&AssistantId], rate: usize, asks: &Asks) -> Vec<Spoken> {
    let first = asks.begin(to.len());
    let busy = processor_time();
    let spoken = thread::scope(|scope| {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let speaking = scope.spawn(move || runtime.block_on(speak_from(first, world, to, rate)));
        speaking.join().unwrap()
    });
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let begun = Instant::now();
        while asks.missing(first) > 0 && begun.elapsed() < PATIENCE {
            sleep(Duration::from_millis(10)).await;
        }
    });
    let busy = (processor_time() - busy) / u32::try_from(to.len()).unwrap();
    let asked = |(number, due, perceived): (usize, Instant, Instant)| Spoken {
        asked: asks.at(number).map(|at| Asked {
            since_spoken: at.duration_since(due),
            since_perceived: at.duration_since(perceived),
        }),
        busy,
    };
    spoken.into_iter().map(asked).collect()
}

/// The number of each message, when it was due, and when the world had it.
async fn speak_from(
    first: usize,
    world: &Sandbox,
    to: &[&AssistantId],
    rate: usize,
) -> Vec<(usize, Instant, Instant)> {
    let begun = Instant::now();
    let mut spoken = JoinSet::new();
    for (place, key) in to.iter().enumerate() {
        let due = begun
            + Duration::from_secs(1) * u32::try_from(place).unwrap() / u32::try_from(rate).unwrap();
        sleep_until(due).await;
        let number = first + place;
        let (world, to) = (world.clone(), name(key));
        spoken.spawn(async move {
            let words = Words::try_new(format!("hello q{number:06}q, are you there?")).unwrap();
            let page = Act::Page { to, words };
            world.act(&guest(number % GUESTS), page).await.unwrap();
            (number, due, Instant::now())
        });
    }
    spoken.join_all().await
}

impl Asks {
    /// Expects so many more messages, and returns the number of the first.
    fn begin(&self, messages: usize) -> usize {
        let mut asks = self.0.lock().unwrap();
        let first = asks.len();
        asks.resize(first + messages, None);
        first
    }

    fn missing(&self, first: usize) -> usize {
        let asks = self.0.lock().unwrap();
        asks.iter()
            .skip(first)
            .filter(|asked| asked.is_none())
            .count()
    }

    fn at(&self, number: usize) -> Option<Instant> {
        *self.0.lock().unwrap().get(number).unwrap()
    }

    /// Notes the messages in this request.
    fn note(&self, request: &ChatRequest) {
        let now = Instant::now();
        let mut asks = self.0.lock().unwrap();
        for message in &request.messages {
            let (Message::System { content }
            | Message::User { content }
            | Message::Assistant { content, .. }
            | Message::Tool { content, .. }) = message
            else {
                continue;
            };
            for part in content.split('q') {
                if part.len() == 6
                    && let Ok(number) = part.parse::<usize>()
                    && let Some(asked) = asks.get_mut(number)
                {
                    asked.get_or_insert(now);
                }
            }
        }
    }
}

/// The offline model, which notes when it is asked. It answers at once, so everything that follows from an answer happens while
/// others are spoken to.
pub(crate) struct Watched {
    model: OfflineModel,
    asks: Asks,
}

impl Watched {
    pub(crate) fn new() -> (Self, Asks) {
        let (model, asks) = (OfflineModel::new(), Asks::default());
        let watched = Self {
            model,
            asks: asks.clone(),
        };
        (watched, asks)
    }
}

impl ChatModel for Watched {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        self.asks.note(request);
        self.model.stream(request)
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.model.identity()
    }
}
