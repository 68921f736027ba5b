//! An ordered list of models, of which the first that is well answers.

mod route;
mod switch;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, ModelError, ModelErrorKind, ModelName,
    ProviderId, Purpose,
};
use futures_util::{StreamExt, stream};

pub use self::{
    route::{EmptyRoute, Route},
    switch::{Switch, SwitchCause},
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
/// [`LeftAlone`](ModelErrorKind::LeftAlone), or its credentials were refused. A failure that opens the breaker is followed by
/// the next model at once, unless a part of the reply has been passed on already; any other failure is the caller's, who may
/// try again. Since every request begins with the first model, it is back as soon as its breaker lets a trial through
/// that goes well. [`ReplyInfo::model`](dormouse_contracts::ReplyInfo) says who answered.
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

type Watcher = Box<dyn Fn(&Switch) + Send + Sync>;

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
    pub fn watched_by(mut self, watcher: impl Fn(&Switch) + Send + Sync + 'static) -> Self {
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

    /// Takes in who answers now, and tells of it if that is another one than before.
    fn answers(&self, purpose: Purpose, now: usize, cause: Option<SwitchCause>) {
        let before = self.in_use().insert(purpose, now).unwrap_or(0);
        if before == now {
            return;
        }
        let models = self.route(purpose).models();
        let identity = |at: usize| models.get(at).map(|model| model.identity());
        let (Some(from), Some(to)) = (identity(before), identity(now)) else {
            return;
        };
        let switch = Switch::new(purpose, from, to, cause.unwrap_or(SwitchCause::WellAgain));
        switch.log();
        if let Some(watcher) = &self.watcher {
            watcher(&switch);
        }
    }
}

/// Where a reply stands.
enum Stage<'a> {
    /// The model at this place of the list is asked next; the one before it failed like this.
    Next(usize, Option<ModelError>),
    /// The model at this place answers.
    Answering(usize, BoxStream<'a, Result<ChatDelta, ModelError>>, bool),
    Over,
}

struct Reading<'a> {
    shared: &'a Shared,
    request: &'a ChatRequest,
    stage: Stage<'a>,
    cause: Option<SwitchCause>,
}

impl<'a> Reading<'a> {
    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return None,
                Stage::Next(at, failed) => {
                    if let Err(error) = self.ask(at, failed)? {
                        return Some(Err(error));
                    }
                }
                Stage::Answering(at, mut deltas, told) => match deltas.next().await? {
                    Ok(delta) => {
                        let is_first = !told && !matches!(delta, ChatDelta::Info(_));
                        if is_first {
                            let cause = self.cause.take();
                            self.shared.answers(self.request.purpose, at, cause);
                        }
                        self.stage = Stage::Answering(at, deltas, told || is_first);
                        return Some(Ok(delta));
                    }
                    Err(error) if !told && self.falls_over(at, &error) => {
                        drop(deltas);
                        self.cause.get_or_insert(SwitchCause::of(&error));
                        self.stage = Stage::Next(at + 1, Some(error));
                    }
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }

    /// Asks the model at this place. Behind the last one, the failure of the one before is the answer.
    fn ask(&mut self, at: usize, failed: Option<ModelError>) -> Option<Result<(), ModelError>> {
        let (shared, request) = (self.shared, self.request);
        match shared.candidates(request.purpose).get(at) {
            Some(model) => {
                self.stage = Stage::Answering(at, model.stream(request), false);
                Some(Ok(()))
            }
            None => failed.map(Err),
        }
    }

    /// Does the next model answer in place of the one that failed? It does if that one is left alone from now on.
    fn falls_over(&self, at: usize, error: &ModelError) -> bool {
        let models = self.shared.candidates(self.request.purpose);
        let left_alone = matches!(error.kind(), ModelErrorKind::LeftAlone(_));
        let is_open = || {
            let guard = models.get(at).map(GuardedModel::guard);
            guard.is_some_and(|guard| guard.peek().is_err())
        };
        at + 1 < models.len() && (left_alone || is_open())
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
            stage: Stage::Next(0, None),
            cause: None,
        };
        Box::pin(stream::unfold(reading, |mut reading| async move {
            reading.next().await.map(|delta| (delta, reading))
        }))
    }

    /// The first model of the main list.
    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.shared.main.first().identity()
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
