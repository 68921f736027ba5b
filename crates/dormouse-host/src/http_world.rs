//! A world that reaches its assistants by messages: it reports what happens, takes requests, and answers them.

mod outbox;
mod tool_file;

use std::sync::Arc;

use dormouse_bridge::{Bridge, BridgeFile, QueueError, Report};
use dormouse_contracts::{
    AssistantId, Delivery, EffectInquiry, EffectKey, EntityId, Habitat, IdError, Outcome, Receipt,
    Rejection, Timestamp, ToolSource, ToolSpec, WorldError, WorldId,
};
use dormouse_engine::builtin_tools;
use dormouse_tools::{Registry, RegistryError};

use self::outbox::{Outbox, Verdict};
pub use self::{
    outbox::{RequestKind, WorldRequest},
    tool_file::ToolFileError,
};
use crate::{folder::DataFolder, host::HostError};

/// The most tools that a world may offer.
pub const MOST_TOOLS: usize = 64;

/// A world outside of this process. It reports what happens ([`report`](Self::report)), reads what assistants want of it
/// ([`requests`](Self::requests)), and says what became of that ([`answer`](Self::answer)). Its deliveries and receipts are
/// kept in a file of the data folder, and so are the tools that it offers. It may be away at any time.
#[derive(Debug)]
pub struct HttpWorld {
    bridge: Arc<Bridge<Outbox>>,
    file: BridgeFile,
    folder: DataFolder,
}

/// What became of a request, as the world says it.
#[derive(Clone, Debug, PartialEq)]
pub enum WorldAnswer {
    /// It was carried out, or a question was answered.
    Done(Receipt),
    /// It was not and will not be carried out.
    Rejected(Rejection),
    /// It was never carried out, and may be requested again.
    NeverSeen,
    /// The world does not know.
    Unknown,
}

/// An answer of the world was not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// No assistant has requested this, or its question is no longer open.
    #[error("there is no request {0:?}")]
    UnknownRequest(String),
    /// The answer could not be stored.
    #[error("the answer may not be stored")]
    World(#[from] WorldError),
}

/// The tools of a world were not accepted. The ones before stay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// There are more than [`MOST_TOOLS`].
    #[error("{0} tools are offered; expected at most {MOST_TOOLS}")]
    TooMany(usize),
    /// A tool cannot be offered to a model.
    #[error(transparent)]
    Tool(#[from] RegistryError),
    /// The tools clash with those of another source.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The tools could not be stored.
    #[error(transparent)]
    File(#[from] ToolFileError),
}

impl HttpWorld {
    /// Opens the world of this folder, or creates it. It offers the tools that it offered last.
    ///
    /// # Errors
    ///
    /// [`HostError`].
    pub(crate) fn open(folder: &DataFolder, now: Timestamp) -> Result<Self, HostError> {
        let tools = tool_file::read(&folder.http_world_tools())?;
        let file = BridgeFile::open(&folder.http_world(), "http")?;
        // Numbers of requests go on after a restart, so that a world may keep the last one that it has read.
        let outbox = Outbox::new(u64::try_from(now.as_micros()).unwrap_or_default());
        outbox.note_patience(&tools);
        Ok(Self {
            bridge: Arc::new(Bridge::new(outbox, tools, &file)),
            file,
            folder: folder.clone(),
        })
    }

    pub(crate) fn habitat(&self) -> Arc<dyn Habitat> {
        Arc::clone(&self.bridge) as _
    }

    /// The id of the world.
    #[must_use]
    pub fn id(&self) -> &WorldId {
        self.file.world()
    }

    /// The file that holds what assistants have not heard yet, and receipts.
    pub(crate) fn file(&self) -> &BridgeFile {
        &self.file
    }

    /// The tools that the world offers.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.bridge.specs()
    }

    /// Stores what happened as the next delivery to an assistant, once for each of the world's own ids. On disk when this
    /// returns.
    ///
    /// # Errors
    ///
    /// [`QueueError`]; with [`NotPresent`](dormouse_bridge::QueueErrorKind::NotPresent) if the assistant was never awake in
    /// this world.
    pub async fn report(
        &self,
        to: &EntityId,
        id: &str,
        report: Report,
    ) -> Result<Delivery, QueueError> {
        self.bridge.queue().push_once(to, id, report).await
    }

    /// The character of an assistant.
    ///
    /// # Errors
    ///
    /// [`IdError`] if the key is too long for one.
    pub fn character(&self, key: &AssistantId) -> Result<EntityId, IdError> {
        self.bridge.character(key)
    }

    /// What is open now and has a larger number than `after`, of assistants that `is_wanted`, oldest first. It counts as
    /// handed out.
    #[must_use]
    pub fn requests(
        &self,
        after: u64,
        is_wanted: impl Fn(&AssistantId) -> bool,
    ) -> Vec<WorldRequest> {
        self.bridge.game().open_after(after, is_wanted)
    }

    /// Waits until [`requests`](Self::requests) would return something, and returns it. Dropping the future has no effect.
    pub async fn await_requests(
        &self,
        after: u64,
        is_wanted: impl Fn(&AssistantId) -> bool,
    ) -> Vec<WorldRequest> {
        self.bridge.game().await_after(after, is_wanted).await
    }

    /// Stores what became of a request, with what its assistant perceives of it; both on disk when this returns. The first definite
    /// answer counts, and is returned; `None` if nothing definite is known.
    ///
    /// # Errors
    ///
    /// [`AnswerError`].
    pub async fn answer(
        &self,
        id: &str,
        answer: WorldAnswer,
        reports: Vec<Report>,
        is_allowed: impl Fn(&AssistantId) -> bool,
    ) -> Result<Option<Outcome>, AnswerError> {
        let unknown = || AnswerError::UnknownRequest(id.to_owned());
        let outbox = self.bridge.game();
        let open = outbox.asker(id);
        // A question is not kept on disk: the assistant still waits for the answer, or asks again.
        if let Some((asker, RequestKind::Observe)) = &open {
            if !is_allowed(asker) {
                return Err(unknown());
            }
            outbox.settle(id, Verdict::from(answer));
            return Ok(None);
        }
        let key = EffectKey::try_new(id).map_err(|_other| unknown())?;
        let asker = open.map(|(asker, _)| asker).or_else(|| key.actor());
        let asker = asker.filter(is_allowed).ok_or_else(unknown)?;
        let character = self.character(&asker).map_err(|_other| unknown())?;
        let reports = reports
            .into_iter()
            .map(|it| (character.clone(), it))
            .collect();
        let known = self.file.receipts().known(&key).await?;
        let outcome = match (known, answer) {
            (EffectInquiry::NeverSeen, _) => return Err(unknown()),
            (EffectInquiry::Done(receipt), _) => Some(Outcome::Done(receipt)),
            (EffectInquiry::Rejected(rejection), _) => Some(Outcome::Rejected(rejection)),
            (EffectInquiry::CannotTell, WorldAnswer::Done(receipt)) => {
                Some(self.store(&key, Outcome::Done(receipt), reports).await?)
            }
            (EffectInquiry::CannotTell, WorldAnswer::Rejected(rejection)) => Some(
                self.store(&key, Outcome::Rejected(rejection), reports)
                    .await?,
            ),
            (EffectInquiry::CannotTell, answer) => {
                outbox.settle(id, Verdict::from(answer));
                return Ok(None);
            }
        };
        if let Some(outcome) = &outcome {
            outbox.settle(id, Verdict::Decided(outcome.clone()));
        }
        Ok(outcome)
    }

    async fn store(
        &self,
        key: &EffectKey,
        outcome: Outcome,
        reports: Vec<(EntityId, Report)>,
    ) -> Result<Outcome, WorldError> {
        self.file.receipts().finish(key, outcome, reports).await
    }

    /// Offers these tools if `combine` can combine them with those of other sources, and stores them.
    pub(crate) fn offer<T>(
        &self,
        tools: &[ToolSpec],
        combine: impl FnOnce() -> Result<T, OfferError>,
    ) -> Result<T, OfferError> {
        check(tools)?;
        let before = self.tools();
        self.bridge.offer(tools.to_vec());
        let store = || {
            let combined = combine()?;
            tool_file::write(&self.folder.http_world_tools(), tools)?;
            Ok(combined)
        };
        let stored = store();
        match stored {
            Ok(_) => self.bridge.game().note_patience(tools),
            Err(_) => self.bridge.offer(before),
        }
        stored
    }
}

impl From<WorldAnswer> for Verdict {
    fn from(answer: WorldAnswer) -> Self {
        match answer {
            WorldAnswer::Done(receipt) => Self::Decided(Outcome::Done(receipt)),
            WorldAnswer::Rejected(rejection) => Self::Decided(Outcome::Rejected(rejection)),
            WorldAnswer::NeverSeen => Self::NeverSeen,
            WorldAnswer::Unknown => Self::Unknown,
        }
    }
}

/// Refuses what would keep an assistant from waking.
fn check(tools: &[ToolSpec]) -> Result<(), OfferError> {
    if tools.len() > MOST_TOOLS {
        return Err(OfferError::TooMany(tools.len()));
    }
    let own = builtin_tools().map_err(HostError::from)?;
    Registry::try_new(own.into_iter().chain(tools.iter().cloned()))?;
    Ok(())
}
