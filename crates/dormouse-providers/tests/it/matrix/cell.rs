//! A row of the matrix, and how a cell of it is judged.

use std::error::Error;

use dormouse_contracts::{ChatReply, ModelError};
use dormouse_providers::ServerConfigError;

use super::{outcome::Outcome, scene::Scene};
use crate::double::{Dialect, KEY, Request};

/// The most memory that the client of any cell may take at one time, in bytes.
pub(super) const MEMORY_BYTES: u64 = 5 * 1024 * 1024;

/// A fault, and its expected outcome.
pub(crate) struct Row {
    /// Its section of the table.
    pub(crate) part: &'static str,
    /// The fault.
    pub(crate) what: &'static str,
    pub(crate) scene: fn(&dyn Dialect) -> Scene,
    outcome: Outcome,
    /// Providers with another outcome.
    except: Vec<(&'static str, Outcome)>,
    /// How many requests the server has read.
    pub(crate) requests: usize,
    /// The text that the error must contain.
    words: &'static str,
}

impl Row {
    pub(crate) fn new(
        part: &'static str,
        what: &'static str,
        scene: fn(&dyn Dialect) -> Scene,
        outcome: Outcome,
    ) -> Self {
        Self {
            part,
            what,
            scene,
            outcome,
            except: Vec::new(),
            requests: 1,
            words: "",
        }
    }

    /// Sets another outcome for this provider.
    pub(crate) fn but(mut self, provider: &'static str, outcome: Outcome) -> Self {
        self.except.push((provider, outcome));
        self
    }

    /// Nothing is sent, or nothing that can be read.
    pub(crate) fn unasked(mut self) -> Self {
        self.requests = 0;
        self
    }

    /// The error contains this text.
    pub(crate) fn containing(mut self, words: &'static str) -> Self {
        self.words = words;
        self
    }

    /// The expected outcome with this provider.
    pub(crate) fn outcome(&self, dialect: &dyn Dialect) -> Outcome {
        let mut except = self.except.iter();
        let except = except.find(|(provider, _)| *provider == dialect.name());
        except.map_or(self.outcome, |(_, outcome)| *outcome)
    }

    /// The difference to the expected outcome, if any.
    pub(crate) fn judge(&self, dialect: &dyn Dialect, came: &Came) -> Result<(), String> {
        let outcome = self.outcome(dialect);
        let shown = came.end.shown();
        match (&came.end, outcome) {
            (End::Reply(reply), _) if outcome.admits(reply) => {}
            (End::Failed(error), Outcome::Fails(kind)) if error.kind() == kind => {}
            (End::NoModel(_), Outcome::NoModel) | (End::Left, Outcome::Deadline) => {}
            _ => return Err(format!("expected {}, but {shown}", outcome.words())),
        }
        if dialect.key_line().is_some() && shown.to_lowercase().contains(KEY) {
            return Err(format!("the key is shown: {shown}"));
        }
        if came.key_logged {
            return Err("the key is in the log".to_owned());
        }
        if !shown.contains(self.words) {
            return Err(format!("does not tell {:?}: {shown}", self.words));
        }
        if came.asked.len() != self.requests {
            return Err(format!("{} requests: {shown}", came.asked.len()));
        }
        if came.asked_elsewhere != 0 {
            return Err("a request was sent on to another server".to_owned());
        }
        if came.memory_bytes > MEMORY_BYTES {
            return Err(format!("{} bytes of memory", came.memory_bytes));
        }
        came.asked
            .iter()
            .try_for_each(|request| proper(request, dialect))
    }
}

/// Every request has the key in the vendor's header and nowhere else, and requests a stream in JSON.
fn proper(request: &Request, dialect: &dyn Dialect) -> Result<(), String> {
    let shown = request.headers.iter().filter(|line| line.contains(KEY));
    let as_wanted = match dialect.key_line() {
        Some(line) => request.has(&line) && shown.count() == 1,
        None => shown.count() == 0,
    };
    if !as_wanted || request.body.contains(KEY) || request.line.contains(KEY) {
        return Err(format!("the key is not where it belongs: {request:?}"));
    }
    let body: serde_json::Value = serde_json::from_str(&request.body).unwrap_or_default();
    if body["stream"] != true || body["model"] != "tiny" {
        return Err(format!("no request for a stream: {request:?}"));
    }
    Ok(())
}

/// The outcome of a cell.
pub(crate) struct Came {
    pub(crate) end: End,
    pub(crate) asked: Vec<Request>,
    /// Requests to a second host.
    pub(crate) asked_elsewhere: usize,
    /// The most memory that was taken at one time.
    pub(crate) memory_bytes: u64,
    /// Was the key written into the log?
    pub(crate) key_logged: bool,
}

/// How a call ended.
pub(crate) enum End {
    NoModel(ServerConfigError),
    Reply(Box<ChatReply>),
    Failed(ModelError),
    /// At the caller's deadline, and the server saw it.
    Left,
    /// Without any answer.
    Hung,
}

impl End {
    /// Everything that the error and its sources print.
    fn shown(&self) -> String {
        match self {
            Self::NoModel(error) => chain(error),
            Self::Failed(error) => chain(error),
            Self::Reply(reply) => format!("reply {reply:?}"),
            Self::Hung => "it hung".to_owned(),
            Self::Left => "the deadline passed".to_owned(),
        }
    }
}

fn chain(error: &dyn Error) -> String {
    let mut shown = format!("{error:?}; {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        shown.push_str(&format!(": {error}"));
        cause = error.source();
    }
    shown
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::ModelErrorKind;

    use super::*;
    use crate::{
        double::{Answer, dialects},
        matrix::{run::run, story::streamed},
    };

    /// The fault found in a cell after this change of its outcome.
    fn wrong(row: &Row, spoil: impl Fn(&mut Came)) -> String {
        let dialect = dialects()[0];
        let mut came = run(row, dialect);
        assert_eq!(row.judge(dialect, &came), Ok(()));
        spoil(&mut came);
        row.judge(dialect, &came).unwrap_err()
    }

    #[test]
    fn a_cell_is_wrong_if_any_part_of_it_is() {
        let reply = Row::new("", "", |d| Scene::of(streamed(d, "")), Outcome::Reply);
        let found = |spoil: fn(&mut Came)| wrong(&reply, spoil);
        assert!(found(|came| came.asked_elsewhere = 1).contains("another server"));
        assert!(found(|came| came.memory_bytes = MEMORY_BYTES + 1).contains("of memory"));
        assert!(found(|came| came.key_logged = true).contains("in the log"));
        assert!(found(|came| came.asked.clear()).starts_with("0 requests"));
        assert!(found(|came| came.asked[0].headers.clear()).contains("where it belongs"));
        assert!(found(|came| came.asked[0].body.push_str(KEY)).contains("where it belongs"));
        assert!(found(|came| came.asked[0].body.clear()).contains("no request for a stream"));
        assert!(found(|came| came.end = End::Hung).contains("but it hung"));
        assert!(found(|came| came.end = End::Left).contains("the deadline passed"));
        let other_text = |came: &mut Came| {
            if let End::Reply(reply) = &mut came.end {
                reply.content.push('!');
            }
        };
        assert!(found(other_text).starts_with("expected reply"));
    }

    #[test]
    fn a_failure_is_wrong_if_its_kind_differs_or_it_has_the_key_or_lacks_the_cause() {
        let scene = |_: &dyn Dialect| Scene::of(Answer::status(500, "", "oh dear"));
        let kind = ModelErrorKind::Unavailable;
        let row = Row::new("", "", scene, Outcome::Fails(kind)).containing("oh dear");
        let failed = |kind, cause: &str| {
            let cause = cause.to_owned();
            wrong(&row, move |came| {
                let cause = cause.clone().into();
                let error = ModelError::new("openai".parse().unwrap(), kind, Some(cause));
                came.end = End::Failed(error);
            })
        };
        assert!(failed(ModelErrorKind::Auth, "oh dear").starts_with("expected `Unavailable`"));
        assert!(failed(kind, "oh dear, SK-secret-key").starts_with("the key is shown"));
        assert!(failed(kind, "well").starts_with("does not tell"));
    }
}
