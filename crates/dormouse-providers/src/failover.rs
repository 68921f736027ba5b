//! A list of models: the first available one answers.

mod failures;
mod metadata;
mod route;
mod switch;

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, ModelError, ModelErrorKind, ModelName,
    ProviderId, Purpose, ServiceName,
};
use futures_util::{StreamExt, stream};

use self::{failures::Failures, metadata::ReplyMetadata};
pub use self::{
    route::{EmptyRoute, Route},
    switch::{ModelSwitch, SwitchCause},
};
use crate::GuardedModel;

/// Whether a fallback may answer a heartbeat.
///
/// Nobody waits for a heartbeat, so nothing is lost if it fails. A fallback that answered one could start to talk to
/// people by itself, at another price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heartbeats {
    /// Only the first model of the list answers heartbeats.
    #[default]
    FirstModelOnly,
    /// Any model of the list answers heartbeats.
    AnyModel,
}

/// A chat model that combines several: it has an ordered list for each [`Purpose`], and the first available model of
/// the list answers.
///
/// A model is skipped if its guard does not admit the call (it would fail with [`NotAttempted`](ModelErrorKind::NotAttempted)),
/// or if its credentials were rejected. After a failure that opens the breaker, or a rate limit, the next
/// model answers at once, unless a part of the reply has been passed on. Any other failure goes to the caller, who may
/// retry. Every request starts with the first model, so the first model answers again after a successful trial.
/// [`ReplyInfo::model`](dormouse_contracts::ReplyInfo) names the model that answered.
///
/// If no model answers, the error is that of the last call that was sent; if none was sent, that of the model with the
/// shortest pause. Rejected credentials are reported only if there is no other error, since the other models may
/// recover. Nothing of a failed model is passed on. A reply of a fallback always has its
/// [`ReplyInfo`](dormouse_contracts::ReplyInfo).
///
/// Every switch is passed to the [watcher](FailoverBuilder::on_switch) and logged: `WARN` away from the first model,
/// `INFO` back to it. A clone shares the current state.
#[derive(Clone)]
pub struct FailoverModel {
    shared: Arc<Shared>,
}

struct Shared {
    main: Route,
    routes: BTreeMap<Purpose, Route>,
    heartbeats: Heartbeats,
    watcher: Option<Watcher>,
    /// The model that answered last, for each purpose.
    in_use: Mutex<BTreeMap<Purpose, usize>>,
}

type Watcher = Box<dyn Fn(&ModelSwitch) + Send + Sync>;

/// Builds a [`FailoverModel`].
#[must_use = "it is built with `build`"]
pub struct FailoverBuilder {
    shared: Shared,
}

impl FailoverBuilder {
    /// Uses this list for a purpose, instead of the main one.
    pub fn route(mut self, purpose: Purpose, route: Route) -> Self {
        self.shared.routes.insert(purpose, route);
        self
    }

    /// Sets which models may answer heartbeats.
    pub fn heartbeats(mut self, heartbeats: Heartbeats) -> Self {
        self.shared.heartbeats = heartbeats;
        self
    }

    /// Passes every switch to `watcher`. It is called during a request and must return quickly.
    pub fn on_switch(mut self, watcher: impl Fn(&ModelSwitch) + Send + Sync + 'static) -> Self {
        self.shared.watcher = Some(Box::new(watcher));
        self
    }

    /// Creates the model.
    #[must_use]
    pub fn build(self) -> FailoverModel {
        FailoverModel {
            shared: Arc::new(self.shared),
        }
    }
}

impl FailoverModel {
    /// Starts with the main list, for every purpose without its own.
    pub fn builder(main: Route) -> FailoverBuilder {
        FailoverBuilder {
            shared: Shared {
                main,
                routes: BTreeMap::new(),
                heartbeats: Heartbeats::default(),
                watcher: None,
                in_use: Mutex::new(BTreeMap::new()),
            },
        }
    }

    /// Returns the list for this purpose.
    #[must_use]
    pub fn route(&self, purpose: Purpose) -> &Route {
        self.shared.route(purpose)
    }
}

impl Shared {
    fn route(&self, purpose: Purpose) -> &Route {
        self.routes.get(&purpose).unwrap_or(&self.main)
    }

    /// Returns the models that may answer.
    fn candidates(&self, purpose: Purpose) -> &[GuardedModel] {
        let models = self.route(purpose).models();
        match (purpose, self.heartbeats) {
            (Purpose::Heartbeat, Heartbeats::FirstModelOnly) => models.get(..1).unwrap_or(models),
            _ => models,
        }
    }

    fn in_use(&self) -> MutexGuard<'_, BTreeMap<Purpose, usize>> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records which model answers now, and reports a switch. `failures` are those of the models before it in the list.
    fn record_answering(&self, purpose: Purpose, now: usize, failures: &Failures) {
        let before = self.in_use().insert(purpose, now).unwrap_or(0);
        if before == now {
            return;
        }
        let models = self.route(purpose).models();
        let identity = |at: usize| models.get(at).map(|model| model.identity());
        let (Some(from), Some(to)) = (identity(before), identity(now)) else {
            return;
        };
        let cause = failures.cause(before).unwrap_or(SwitchCause::Recovered);
        let switch = ModelSwitch::new(purpose, from, to, cause);
        switch.log();
        if let Some(watcher) = &self.watcher {
            watcher(&switch);
        }
    }
}

type Deltas<'a> = BoxStream<'a, Result<ChatDelta, ModelError>>;

/// The progress of a reply.
enum Stage<'a> {
    /// The model at this index is called next.
    Next(usize),
    /// The model at this index was called and has sent no content yet.
    Called(usize, Deltas<'a>, ReplyMetadata),
    /// The model answers.
    Answering(Deltas<'a>),
    Done,
}

struct FailoverReply<'a> {
    shared: &'a Shared,
    request: &'a ChatRequest,
    stage: Stage<'a>,
    failures: Failures,
    /// Deltas that are ready.
    ready: VecDeque<Result<ChatDelta, ModelError>>,
}

impl<'a> FailoverReply<'a> {
    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(delta);
            }
            match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Done => return None,
                Stage::Next(at) => self.call(at),
                Stage::Called(at, mut deltas, mut metadata) => match deltas.next().await {
                    Some(Ok(delta)) => match metadata.take(delta) {
                        None => self.stage = Stage::Called(at, deltas, metadata),
                        Some(first) => self.starts(at, deltas, metadata, first),
                    },
                    Some(Err(error)) => self.failed(at, error),
                    None => self.ready.extend(metadata.deltas().map(Ok)),
                },
                Stage::Answering(mut deltas) => {
                    let delta = deltas.next().await?;
                    if delta.is_ok() {
                        self.stage = Stage::Answering(deltas);
                    }
                    return Some(delta);
                }
            }
        }
    }

    /// Calls the model at this index. After the last one, the reply is the error.
    fn call(&mut self, at: usize) {
        let (shared, request) = (self.shared, self.request);
        match shared.candidates(request.purpose).get(at) {
            Some(model) => {
                self.stage = Stage::Called(at, model.stream(request), ReplyMetadata::default());
            }
            None => self.ready.extend(self.failures.reported().map(Err)),
        }
    }

    /// The model at this index sends its first content.
    fn starts(
        &mut self,
        at: usize,
        deltas: Deltas<'a>,
        mut metadata: ReplyMetadata,
        first: ChatDelta,
    ) {
        let purpose = self.request.purpose;
        self.shared.record_answering(purpose, at, &self.failures);
        let model = self.shared.candidates(purpose).get(at);
        let identity = model.map(GuardedModel::identity);
        // Without metadata, a caller would attribute the reply to the first model of the main list.
        if let Some(other) = identity.filter(|it| *it != self.shared.main.first().identity()) {
            metadata.introduce(other);
        }
        self.ready.extend(metadata.deltas().chain([first]).map(Ok));
        self.stage = Stage::Answering(deltas);
    }

    fn failed(&mut self, at: usize, error: ModelError) {
        if self.falls_over(at, &error) {
            self.stage = Stage::Next(at + 1);
            self.failures.add(error);
        } else if self.is_last(at) {
            self.failures.add(error);
            self.ready.extend(self.failures.reported().map(Err));
        } else {
            self.ready.push_back(Err(error));
        }
    }

    fn is_last(&self, at: usize) -> bool {
        at + 1 >= self.shared.candidates(self.request.purpose).len()
    }

    /// Whether the next model answers: if the guard of the failed model admits no calls, if the failed model does not
    /// exist, or if its rate limit is reached.
    fn falls_over(&self, at: usize, error: &ModelError) -> bool {
        let models = self.shared.candidates(self.request.purpose);
        let answers_nobody = matches!(
            error.kind(),
            ModelErrorKind::NotAttempted(_)
                | ModelErrorKind::NotFound
                // The service works, but rejects this caller for now. Another model can answer sooner than after any
                // pause.
                | ModelErrorKind::RateLimited(_)
        );
        let is_open = || {
            let guard = models.get(at).map(GuardedModel::guard);
            guard.is_some_and(|guard| guard.peek().is_err())
        };
        !self.is_last(at) && (answers_nobody || is_open())
    }
}

impl ChatModel for FailoverModel {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let reading = FailoverReply {
            shared: &self.shared,
            request,
            stage: Stage::Next(0),
            failures: Failures::default(),
            ready: VecDeque::new(),
        };
        Box::pin(stream::unfold(reading, |mut reading| async move {
            reading.next().await.map(|delta| (delta, reading))
        }))
    }

    /// Returns the identity of the first model in the main list.
    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.shared.main.first().identity()
    }

    /// Returns the services of the main list.
    fn services(&self) -> Vec<ServiceName> {
        let models = self.shared.main.models().iter();
        models.flat_map(ChatModel::services).collect()
    }
}

impl fmt::Debug for FailoverModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailoverModel")
            .field("main", &self.shared.main)
            .field("routes", &self.shared.routes)
            .field("heartbeats", &self.shared.heartbeats)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FailoverBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailoverBuilder")
            .field("main", &self.shared.main)
            .field("routes", &self.shared.routes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
