//! Tools that keep a receipt of what they did, as a game does. The receipt is the deed: a file that appears at once, or not at all.

use std::{fs, io, path::PathBuf, time::Duration};

use dormouse_contracts::{
    BoxFuture, CachePolicy, CacheScope, Effect, EffectInquiry, Inquire, Observe, Outcome, Perform,
    Query, Receipt, Rejection, ToolCategory, ToolName, ToolReach, ToolSource, ToolSpec, WorldError,
};
use serde_json::{Value, json};
use tokio::time::sleep;

/// Cannot be taken back, and needs somebody who confirms it.
pub const BLAST: &str = "blast";
/// Changes something, and may be followed by another call.
pub const COUNT: &str = "count";
/// Only looks.
pub const WIND: &str = "wind";

/// How long a deed takes before and after it is done, so that kills come between.
const PAUSE: Duration = Duration::from_millis(3);

/// The tools, and the folder of the receipts.
#[derive(Clone, Debug)]
pub struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    /// The tools over this folder, which is made if it is missing.
    ///
    /// # Panics
    ///
    /// If it cannot be made.
    #[must_use]
    pub fn open(folder: PathBuf) -> Self {
        fs::create_dir_all(&folder).expect("the folder of the receipts can be used");
        Self { folder }
    }

    /// Everything that was done, in no order.
    ///
    /// # Panics
    ///
    /// If a receipt cannot be read.
    #[must_use]
    pub fn done(&self) -> Vec<(Effect, Outcome)> {
        let entries = fs::read_dir(&self.folder).expect("the folder of the receipts can be used");
        let files = entries.map(|entry| {
            entry
                .expect("the folder of the receipts can be used")
                .path()
        });
        files
            .filter(|file| file.extension().is_some_and(|end| end == "json"))
            .map(|file| {
                serde_json::from_slice(
                    &fs::read(file).expect("the folder of the receipts can be used"),
                )
                .expect("the folder of the receipts can be used")
            })
            .collect()
    }

    fn receipt(&self, effect: &Effect) -> PathBuf {
        let name = effect.key.as_str().replace('/', "+");
        self.folder.join(format!("{name}.json"))
    }

    fn known(&self, effect: &Effect) -> Option<Outcome> {
        let stored = fs::read(self.receipt(effect)).ok()?;
        let (before, outcome): (Effect, Outcome) =
            serde_json::from_slice(&stored).expect("the folder of the receipts can be used");
        assert_eq!(before.arguments, effect.arguments, "a key is one effect");
        Some(outcome)
    }

    fn act(&self, effect: &Effect) -> Outcome {
        let detail = json!({ "done": effect.arguments });
        let outcome = Outcome::Done(Receipt::new(detail));
        let stored = serde_json::to_vec(&(effect, &outcome))
            .expect("the folder of the receipts can be used");
        let being_written = self.receipt(effect).with_extension("new");
        fs::write(&being_written, stored).expect("the folder of the receipts can be used");
        // A link that exists already fails: nothing is done twice.
        match fs::hard_link(&being_written, self.receipt(effect)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                panic!("{:?} was done twice", effect.key)
            }
            linked => linked.expect("the folder of the receipts can be used"),
        }
        outcome
    }
}

impl Perform for Workshop {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(async move {
            sleep(PAUSE).await;
            let outcome = self.known(effect).unwrap_or_else(|| self.act(effect));
            sleep(PAUSE).await;
            Ok(outcome)
        })
    }
}

impl Observe for Workshop {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        Box::pin(async move { Ok(Ok(json!({"wind": "calm", "at": query.arguments}))) })
    }
}

impl Inquire for Workshop {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move { Ok(self.known(effect).into()) })
    }
}

impl ToolSource for Workshop {
    fn specs(&self) -> Vec<ToolSpec> {
        let parameters = json!({
            "type": "object",
            "properties": {"thing": {"type": "string"}},
            "required": ["thing"],
        });
        let spec = |name: &str, what: &str, category, reach, cache| {
            let name = ToolName::try_new(name).expect("each name is a valid one");
            let spec = ToolSpec::effect(name, what, parameters.clone());
            ToolSpec {
                category,
                reach,
                cache,
                ..spec
            }
        };
        let session = Some(CachePolicy {
            scope: CacheScope::Session,
            ttl: None,
        });
        let (effect, query) = (ToolReach::Effect, ToolReach::Query);
        let more = ToolCategory::AsyncRequired;
        vec![
            spec(
                BLAST,
                "Blow a thing up.",
                ToolCategory::Dangerous,
                effect,
                None,
            ),
            spec(COUNT, "Count a thing.", more, effect, None),
            spec(WIND, "The wind where a thing is.", more, query, session),
        ]
    }
}
