//! An ordered list of models, of which the first that is well answers.

mod aside;
mod failures;
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

use self::{aside::Aside, failures::Failures};
pub use self::{
    route::{EmptyRoute, Route},
    switch::{ModelSwitch, SwitchCause},
};
use crate::GuardedModel;

/// May a fallback answer a heartbeat?
///
/// A heartbeat is nobody's message: without it nothing is lost, while another model that answers it may say things to
/// people on its own account, and at another price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heartbeats {
    /// Only the first model of the list answers them.
    #[default]
    FirstModelOnly,
    /// Any model of the list does.
    AnyModel,
}

/// A chat model that is made of several: for each [`Purpose`] an ordered list of which the first answers that is well.
///
/// A model is passed over while its breaker is open, its places are taken or its limits used up: while it would fail as
/// [`LeftAlone`](ModelErrorKind::LeftAlone), or its credentials were refused. A failure that opens the breaker, or a rate limit
/// without a time, is followed by the next model at once, unless a part of the reply has been passed on already; any other failure is the caller's, who may
/// try again. Since every request begins with the first model, it is back as soon as its breaker lets a trial through
/// that goes well. [`ReplyInfo::model`](dormouse_contracts::ReplyInfo) says who answered.
///
/// Where nobody answers, the failure of the last call that was made is told; where none was made, that of the model that may
/// be asked soonest; refused credentials only where nothing else failed, since the others may be well again. Nothing of a
/// model that said nothing is passed on, and whoever answers in place of the first says so even if it tells nothing else.
///
/// Every change of who answers is told to the one who [watches](FailoverBuilder::watched_by), and to the log as a `WARN` away
/// from the first model and an `INFO` back to it. A clone shares who is in use.
#[derive(Clone)]
pub struct FailoverModel {
    shared: Arc<Shared>,
}

struct Shared {
    main: Route,
    routes: BTreeMap<Purpose, Route>,
    heartbeats: Heartbeats,
    watcher: Option<Watcher>,
    /// Who answered last, for each purpose that has been asked for.
    in_use: Mutex<BTreeMap<Purpose, usize>>,
}

type Watcher = Box<dyn Fn(&ModelSwitch) + Send + Sync>;

/// Builds a [`FailoverModel`].
#[must_use = "it is built with `build`"]
pub struct FailoverBuilder {
    shared: Shared,
}

impl FailoverBuilder {
    /// Requests of this purpose go to this list, and not to the main one.
    pub fn route(mut self, purpose: Purpose, route: Route) -> Self {
        self.shared.routes.insert(purpose, route);
        self
    }

    /// Who may answer heartbeats.
    pub fn heartbeats(mut self, heartbeats: Heartbeats) -> Self {
        self.shared.heartbeats = heartbeats;
        self
    }

    /// Tells `watcher` of every switch. It is called while a request is on its way, and must not take long.
    pub fn watched_by(mut self, watcher: impl Fn(&ModelSwitch) + Send + Sync + 'static) -> Self {
        self.shared.watcher = Some(Box::new(watcher));
        self
    }

    /// The model.
    #[must_use]
    pub fn build(self) -> FailoverModel {
        FailoverModel {
            shared: Arc::new(self.shared),
        }
    }
}

impl FailoverModel {
    /// A model of this list, for every purpose that gets no list of its own.
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

    /// The list for this purpose.
    #[must_use]
    pub fn route(&self, purpose: Purpose) -> &Route {
        self.shared.route(purpose)
    }
}

impl Shared {
    fn route(&self, purpose: Purpose) -> &Route {
        self.routes.get(&purpose).unwrap_or(&self.main)
    }

    /// Those of the list who may answer.
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

    /// Takes in who answers now, and tells of it if that is another one than before. `failures` are those of the models
    /// that stand before it in the list.
    fn answers(&self, purpose: Purpose, now: usize, failures: &Failures) {
        let before = self.in_use().insert(purpose, now).unwrap_or(0);
        if before == now {
            return;
        }
        let models = self.route(purpose).models();
        let identity = |at: usize| models.get(at).map(|model| model.identity());
        let (Some(from), Some(to)) = (identity(before), identity(now)) else {
            return;
        };
        let cause = failures.cause(before).unwrap_or(SwitchCause::WellAgain);
        let switch = ModelSwitch::new(purpose, from, to, cause);
        switch.log();
        if let Some(watcher) = &self.watcher {
            watcher(&switch);
        }
    }
}

type Deltas<'a> = BoxStream<'a, Result<ChatDelta, ModelError>>;

/// Where a reply stands.
enum Stage<'a> {
    /// The model at this place of the list is asked next.
    Next(usize),
    /// The model at this place was asked and has said nothing yet.
    Asked(usize, Deltas<'a>, Aside),
    /// It answers.
    Answering(Deltas<'a>),
    Over,
}

struct Reading<'a> {
    shared: &'a Shared,
    request: &'a ChatRequest,
    stage: Stage<'a>,
    failures: Failures,
    /// What comes next in any case.
    ready: VecDeque<Result<ChatDelta, ModelError>>,
}

impl<'a> Reading<'a> {
    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(delta);
            }
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return None,
                Stage::Next(at) => self.ask(at),
                Stage::Asked(at, mut deltas, mut aside) => match deltas.next().await {
                    Some(Ok(delta)) => match aside.take(delta) {
                        None => self.stage = Stage::Asked(at, deltas, aside),
                        Some(first) => self.answers(at, deltas, aside, first),
                    },
                    Some(Err(error)) => self.failed(at, error),
                    None => self.ready.extend(aside.deltas().map(Ok)),
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

    /// Asks the model at this place. Behind the last one, what can be done about the failures is the answer.
    fn ask(&mut self, at: usize) {
        let (shared, request) = (self.shared, self.request);
        match shared.candidates(request.purpose).get(at) {
            Some(model) => {
                self.stage = Stage::Asked(at, model.stream(request), Aside::default());
            }
            None => self.ready.extend(self.failures.told().map(Err)),
        }
    }

    /// The model at this place says its first word.
    fn answers(&mut self, at: usize, deltas: Deltas<'a>, mut aside: Aside, first: ChatDelta) {
        let purpose = self.request.purpose;
        self.shared.answers(purpose, at, &self.failures);
        let model = self.shared.candidates(purpose).get(at);
        let identity = model.map(GuardedModel::identity);
        // A caller takes who does not say who it is for the first of the main list.
        if let Some(other) = identity.filter(|it| *it != self.shared.main.first().identity()) {
            aside.introduce(other);
        }
        self.ready.extend(aside.deltas().chain([first]).map(Ok));
        self.stage = Stage::Answering(deltas);
    }

    fn failed(&mut self, at: usize, error: ModelError) {
        if self.falls_over(at, &error) {
            self.stage = Stage::Next(at + 1);
            self.failures.add(error);
        } else if self.is_last(at) {
            self.failures.add(error);
            self.ready.extend(self.failures.told().map(Err));
        } else {
            self.ready.push_back(Err(error));
        }
    }

    fn is_last(&self, at: usize) -> bool {
        at + 1 >= self.shared.candidates(self.request.purpose).len()
    }

    /// Does the next model answer in place of the one that failed? It does if that one is left alone from now on, is not there
    /// at all, or limits the rate without saying until when.
    fn falls_over(&self, at: usize, error: &ModelError) -> bool {
        let models = self.shared.candidates(self.request.purpose);
        let answers_nobody = matches!(
            error.kind(),
            ModelErrorKind::LeftAlone(_)
                | ModelErrorKind::NotFound
                // Nobody knows when it answers again. A pause that it asks for is a matter of its rate limit.
                | ModelErrorKind::RateLimited(None)
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
        let reading = Reading {
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

    /// The first model of the main list.
    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.shared.main.first().identity()
    }

    /// Those of the main list.
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
