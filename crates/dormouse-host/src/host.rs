//! Many assistants in one process: one log, one world, one set of models.

mod carrier;
mod error;
mod health;
mod looking_back;
mod new_files;
mod open_log;
mod process_budget;
mod residency;
mod roster;
mod running;
#[cfg(feature = "mcp")]
mod servers_model;
mod stepping;
mod upkeep;
mod woken;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak},
    time::Duration,
};

use dormouse_classify::ClassifyConfig;
use dormouse_contracts::{
    AssistantId, ChatModel, Clock, EntityId, Habitat, Random, Seq, Timestamp, ToolSource,
    ToolSourceName, ToolSpec,
};
use dormouse_engine::{
    CompiledTools, Handle, Replied, TokenPrice, ToolCalling, WakeError, builtin_tools,
};
#[cfg(feature = "mcp")]
use dormouse_mcp::McpTools;
use dormouse_providers::{
    Accounts, CachedCounter, EmbedderChoice, Environment, GuardedModel, ModelSwitch, warm,
};
use dormouse_resilience::RetryBudget;
use dormouse_sandbox::{Character, CharacterKind, Sandbox};
use dormouse_store::RedbLog;
use dormouse_tools::{NamedToolSource, RoutedTool, ToolRouter};

use crate::{
    config::Config,
    config::WorldKind,
    dialects::{Dialects, Learning, LearningNotice},
    folder::DataFolder,
    folder_world::FolderWorld,
    format::check_format,
    game_world::GameWorld,
    http_world::OfferError,
    past::Past,
    provider::{ModelSelection, Models, ProviderError, assemble, network, select},
    recall::{Recall, WORDS_ALONE},
    roster::KnownNames,
    system::{SystemClock, SystemRandom},
};
pub use error::{HostError, Mismatch, check_follows};
pub use health::ServiceReport;
use new_files::{NewFiles, is_missing};
pub use open_log::{Awake, OpenLog};
pub(crate) use process_budget::ProcessLimits;
use residency::Residency;
pub use residency::{Resident, Summary};
pub use running::{EndedError, Running};
pub use upkeep::Upkeep;
pub use woken::Woken;

/// Default of [`HostSettings::put_away_after`].
const PUT_AWAY_AFTER: Duration = Duration::from_secs(60);

/// The parts of a host.
pub struct HostSettings {
    /// The configuration of the operator.
    pub config: Config,
    /// The variables of the environment that hold addresses and keys.
    pub environment: Environment,
    /// The models of all assistants, with their limits and accounts.
    pub models: Models,
    /// The encoder of memories, if the configuration names none.
    pub embedder: EmbedderChoice,
    /// How tools are offered; `None` if that is to be learnt.
    pub tool_calling: Option<ToolCalling>,
    /// Whether the host learns from the replies of models.
    pub learns: bool,
    /// Called with what was learnt about models, and with errors of the file in which that is stored.
    pub on_learnt: Box<dyn Fn(LearningNotice) + Send + Sync>,
    /// After this time at rest an assistant is put away.
    pub put_away_after: Duration,
    /// Tools in addition to those of the world, for all assistants.
    pub tool_sources: Vec<NamedToolSource>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomises the pauses between retries of model calls.
    pub random: Arc<dyn Random>,
}

impl fmt::Debug for HostSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSettings")
            .field("config", &self.config)
            .field("put_away_after", &self.put_away_after)
            .field("tool_sources", &self.tool_sources)
            .finish_non_exhaustive()
    }
}

impl HostSettings {
    /// The settings for this configuration: the models that the configuration and the environment name, the encoder of
    /// their provider, the system's clock, and learning that reports to the log of the program.
    ///
    /// # Errors
    ///
    /// [`ProviderError`] if no model can be used.
    pub fn of(config: Config, environment: Environment) -> Result<Self, ProviderError> {
        let section = &config.provider;
        let chosen = select(&ModelSelection::default(), section, &environment)?;
        let switched =
            |switch: &ModelSwitch| tracing::info!(?switch, "another model answers from now on");
        let models = assemble(
            &chosen,
            section,
            &config.prices,
            &network(section)?,
            switched,
        )?;
        let embedder = chosen.embedder();
        Ok(Self {
            embedder,
            ..Self::with_models(config, environment, models)
        })
    }

    /// The same with these models. Memories are found by their words unless the configuration names an encoder.
    #[must_use]
    pub fn with_models(config: Config, environment: Environment, models: Models) -> Self {
        Self {
            config,
            environment,
            models,
            embedder: WORDS_ALONE,
            tool_calling: None,
            learns: true,
            on_learnt: Box::new(|notice| tracing::info!(?notice, "learnt about a model")),
            put_away_after: PUT_AWAY_AFTER,
            tool_sources: Vec::new(),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom::default()),
        }
    }
}

/// Assistants that live in one data folder and one world: the [`Sandbox`] of the folder, or another [`Habitat`]. A
/// clone is another handle to the same host. Dropping the last handle is like a crash for awake assistants: nothing
/// accepted is lost. [`Host::close`] puts them away properly.
pub struct Host<W: ?Sized = Sandbox> {
    shared: Arc<Shared>,
    residency: Arc<Residency>,
    world: Arc<W>,
}

impl<W: ?Sized> Clone for Host<W> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            residency: Arc::clone(&self.residency),
            world: Arc::clone(&self.world),
        }
    }
}

impl<W: ?Sized> fmt::Debug for Host<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("folder", &self.shared.folder)
            .finish_non_exhaustive()
    }
}

/// What all assistants share.
pub(crate) struct Shared {
    /// Declared before the log: new files are removed while the log still keeps other processes out.
    new_files: Mutex<NewFiles>,
    folder: DataFolder,
    config: Config,
    /// How messages are classified for assistants without settings of their own.
    classify: Arc<ClassifyConfig>,
    log: RedbLog,
    world: Arc<dyn Habitat>,
    /// The tools of the world and of the other sources.
    tools: RwLock<Arc<OfferedTools>>,
    /// The other sources.
    tool_sources: Vec<NamedToolSource>,
    /// The servers among them.
    #[cfg(feature = "mcp")]
    mcp: Option<Arc<McpTools>>,
    models: SharedModels,
    recall: Recall,
    /// How tools are offered. Prompts depend on it, so it is the same until the host is closed.
    offered: ToolCalling,
    learning: Option<Mutex<Learning>>,
    on_learnt: Box<dyn Fn(LearningNotice) + Send + Sync>,
    put_away_after: Duration,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    /// The task that wakes assistants that are put away.
    residency: Weak<Residency>,
    /// The names of assistants that were needed so far.
    names: Mutex<KnownNames>,
    /// States of the past that were looked at lately.
    past: Past,
    /// Assistants that were woken without being residents.
    alone: Mutex<BTreeMap<AssistantId, Handle>>,
    /// Assistants on whose memories somebody works.
    worked_on: upkeep::WorkedOn,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// The tools that all assistants are offered.
struct OfferedTools {
    router: Arc<ToolRouter>,
    /// Made when somebody wakes for the first time. If they are not valid, each assistant reports that when it wakes.
    compiled: OnceLock<CompiledTools>,
}

impl OfferedTools {
    fn of(router: ToolRouter) -> Arc<Self> {
        Arc::new(Self {
            router: Arc::new(router),
            compiled: OnceLock::new(),
        })
    }

    fn compiled(&self) -> Result<CompiledTools, WakeError> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled.clone());
        }
        let compiled = CompiledTools::try_new(self.router.specs())?;
        Ok(self.compiled.get_or_init(|| compiled).clone())
    }
}

/// The models, with one budget and one set of accounts.
struct SharedModels {
    model: Arc<dyn ChatModel>,
    each: Vec<GuardedModel>,
    accounts: Accounts,
    counter: Arc<CachedCounter>,
    window: Option<u32>,
    price: Option<TokenPrice>,
    timeout: Duration,
    retry_budget: RetryBudget,
}

impl Host {
    /// Opens the log and the sandbox in the folder, and creates what is missing. No assistant wakes: [`Host::take_in`]
    /// starts that. Blocks for milliseconds while files are checked; needs a tokio runtime with time enabled.
    ///
    /// # Errors
    ///
    /// [`HostError`]; files that did not exist before are removed again. [`HostError::NoSandbox`] or
    /// [`HostError::InGame`] if the configuration names another world.
    pub async fn open(settings: HostSettings, folder: &DataFolder) -> Result<Self, HostError> {
        match settings.config.world.kind {
            WorldKind::Sandbox => {}
            WorldKind::Http => return Err(HostError::NoSandbox),
            WorldKind::Evennia => return Err(HostError::InGame),
        }
        let mut opened = OpenedFolder::open(folder).await?;
        (opened.new_files).add(folder.world(), is_missing(&folder.world()));
        let world = Sandbox::open(&folder.world(), Arc::clone(&settings.clock))?;
        opened.live_in(world, settings, folder)
    }
}

impl Host<FolderWorld> {
    /// Opens the log in the folder and the world that the configuration names, as [`Host::open`] does for the sandbox.
    ///
    /// # Errors
    ///
    /// [`HostError`]; files that did not exist before are removed again.
    pub async fn open_folder(
        settings: HostSettings,
        folder: &DataFolder,
    ) -> Result<Self, HostError> {
        let mut opened = OpenedFolder::open(folder).await?;
        let kind = settings.config.world.kind;
        let file = FolderWorld::file(kind, folder);
        let is_new = is_missing(&file);
        opened.new_files.add(file, is_new);
        let world = FolderWorld::open(kind, folder, Arc::clone(&settings.clock))?;
        opened.wire(world.habitat(), Arc::new(world), settings, folder)
    }

    /// Opens the log in the folder, or creates it, for assistants that live in this game.
    ///
    /// # Errors
    ///
    /// [`HostError`]; files that did not exist before are removed again.
    pub async fn open_game(
        game: GameWorld,
        settings: HostSettings,
        folder: &DataFolder,
    ) -> Result<Self, HostError> {
        let opened = OpenedFolder::open(folder).await?;
        let world = FolderWorld::Game(game);
        opened.wire(world.habitat(), Arc::new(world), settings, folder)
    }

    /// Offers these tools of the [world outside](FolderWorld::Http) from now on. If they differ from those before, the
    /// assistants that are awake are put away and wake with them. Blocks while they are stored.
    ///
    /// # Errors
    ///
    /// [`OfferError`]; the tools before stay.
    pub async fn offer_tools(&self, tools: Vec<ToolSpec>) -> Result<(), OfferError> {
        let world = self.world.http().ok_or(HostError::NoHttpWorld)?;
        if world.tools() == tools {
            return Ok(());
        }
        let others = self.shared.tool_sources.clone();
        let router = world.offer(&tools, || {
            Ok(router(Arc::clone(&self.shared.world) as _, others)?)
        })?;
        *(self.shared.tools.write()).unwrap_or_else(PoisonError::into_inner) =
            OfferedTools::of(router);
        for resident in self.residents().await {
            if resident.is_awake {
                self.put_away(&resident.key).await?;
                // One that cannot wake now is tried again by itself.
                drop(self.wake(&resident.key).await);
            }
        }
        Ok(())
    }
}

/// Somebody of this name as a character of the sandbox, who is not one of its assistants.
///
/// # Errors
///
/// [`HostError::Id`] if the name cannot be part of an id.
pub fn player_named(name: &str) -> Result<Character, HostError> {
    Ok(Character {
        id: EntityId::try_new(format!("player:{}", name.to_lowercase()))?,
        name: name.to_owned(),
        kind: CharacterKind::Player,
    })
}

/// Lets somebody of this name into the world. One who is there already stays where they are.
///
/// # Errors
///
/// [`HostError::Join`] or [`HostError::Id`] if the name cannot be used.
pub async fn admit_player(world: &Sandbox, name: &str) -> Result<Character, HostError> {
    let player = player_named(name)?;
    let joined = world.join(player.clone()).await;
    joined.map_err(|source| HostError::Join {
        whose: "the player",
        name: name.to_owned(),
        source: source.into(),
    })?;
    Ok(player)
}

impl<W: Habitat + 'static> Host<W> {
    /// Opens the log in the folder, or creates it, for assistants that live in this world, as [`Host::open`] does for the
    /// sandbox.
    ///
    /// # Errors
    ///
    /// [`HostError`]; files that did not exist before are removed again.
    pub async fn open_in(
        world: W,
        settings: HostSettings,
        folder: &DataFolder,
    ) -> Result<Self, HostError> {
        OpenedFolder::open(folder)
            .await?
            .live_in(world, settings, folder)
    }
}

impl<W> Host<W> {
    /// Another handle to the same host, for callers to whom every world is the same.
    #[must_use]
    pub fn in_any_world(&self) -> Host<dyn Habitat> {
        Host {
            shared: Arc::clone(&self.shared),
            residency: Arc::clone(&self.residency),
            world: Arc::clone(&self.shared.world),
        }
    }
}

/// The log of a folder, and the files that are new. Declared in this order: new files are removed while the log still keeps
/// other processes out.
struct OpenedFolder {
    new_files: NewFiles,
    log: RedbLog,
}

impl OpenedFolder {
    async fn open(folder: &DataFolder) -> Result<Self, HostError> {
        check_format(folder).await?;
        folder.create()?;
        // The log is opened before the world, because the process that has the log open owns the folder.
        let log_was_missing = is_missing(&folder.log());
        let log = RedbLog::open(&folder.log())?;
        folder.remove_lives_being_made()?;
        let mut new_files = NewFiles::default();
        // Another process may have created and used the log meanwhile.
        let is_empty = log.assistants().is_ok_and(|known| known.is_empty());
        new_files.add(folder.log(), log_was_missing && is_empty);
        Ok(Self { new_files, log })
    }

    fn live_in<W: Habitat + 'static>(
        self,
        world: W,
        settings: HostSettings,
        folder: &DataFolder,
    ) -> Result<Host<W>, HostError> {
        let world = Arc::new(world);
        self.wire(Arc::clone(&world) as _, world, settings, folder)
    }

    /// The host of assistants that live in `habitat`, which callers of the host know as `world`.
    fn wire<W>(
        self,
        habitat: Arc<dyn Habitat>,
        world: Arc<W>,
        settings: HostSettings,
        folder: &DataFolder,
    ) -> Result<Host<W>, HostError> {
        let HostSettings {
            config,
            environment,
            models,
            embedder,
            tool_calling,
            learns,
            on_learnt,
            put_away_after,
            tool_sources,
            clock,
            random,
        } = settings;
        #[cfg(feature = "mcp")]
        let (mcp, tool_sources) = {
            let mcp = crate::mcp::open(&config.mcp, &environment, folder)?.map(Arc::new);
            (mcp.clone(), crate::mcp::with_servers(tool_sources, mcp)?)
        };
        for warning in config.warnings(&habitat.landmarks()) {
            tracing::warn!("{warning}");
        }
        // Dropped in reverse on an error: the world is closed, then new files are removed, then the log is closed.
        let Self { log, new_files } = self;
        let tools = router(Arc::clone(&habitat) as _, tool_sources.clone())?;
        let (book, trouble) = Dialects::open(&folder.dialects());
        let (provider, name) = models.model.identity();
        let configured = tool_calling.or(config.provider.tool_calling);
        let offered = configured.unwrap_or_else(|| book.learnt(provider, name).calling);
        let mut learning = Learning::new(book, offered, configured, trouble);
        let cold = Arc::clone(&models.counter);
        // The first count loads the vocabulary. Doing it now makes the first message faster.
        drop(tokio::task::spawn_blocking(move || warm(&*cold)));
        let recall = Recall::open(&config, &environment, embedder)?;
        if learns {
            learning.begun().into_iter().for_each(&on_learnt);
        }
        let limits = config.budgets.of_process();
        let residency: Arc<Residency> = Arc::default();
        let shared = Arc::new(Shared {
            new_files: Mutex::new(new_files),
            folder: folder.clone(),
            classify: Arc::new(config.classify.config()),
            config,
            log,
            world: habitat,
            tools: RwLock::new(OfferedTools::of(tools)),
            tool_sources,
            #[cfg(feature = "mcp")]
            mcp,
            models: SharedModels {
                model: process_budget::within(
                    limits,
                    models.price,
                    Arc::clone(&models.counter) as _,
                    Arc::new(models.model),
                ),
                each: models.each,
                accounts: models.accounts,
                counter: models.counter,
                window: models.window,
                price: models.price,
                timeout: models.timeout,
                retry_budget: models.retry_budget,
            },
            recall,
            offered,
            learning: learns.then(|| Mutex::new(learning)),
            on_learnt,
            put_away_after,
            clock,
            random,
            residency: Arc::downgrade(&residency),
            names: Mutex::default(),
            past: Past::default(),
            alone: Mutex::default(),
            worked_on: upkeep::WorkedOn::default(),
        });
        #[cfg(feature = "mcp")]
        if let Some(mcp) = &shared.mcp {
            let shared = Arc::downgrade(&shared);
            mcp.set_model(Arc::new(servers_model::ServersModel { shared }));
        }
        Ok(Host {
            shared,
            residency,
            world,
        })
    }
}

/// The tools of a world and of further sources. A tool that gets another name than in its source is logged.
fn router(
    world: Arc<dyn ToolSource>,
    others: Vec<NamedToolSource>,
) -> Result<ToolRouter, HostError> {
    let own: Vec<_> = builtin_tools()?.into_iter().map(|tool| tool.name).collect();
    let router = ToolRouter::try_new(world, others, &own)?;
    for tool in router.tools().iter().filter(|tool| tool.is_renamed()) {
        let (name, own_name, source) = (&tool.spec.name, &tool.own_name, tool.source.as_ref());
        tracing::warn!(
            "the tool \"{own_name}\" of the source \"{}\" is offered as \"{name}\", because another tool has its name",
            source.map_or("", ToolSourceName::as_str)
        );
    }
    Ok(router)
}

impl<W: ?Sized> Host<W> {
    /// The folder in which everything is kept.
    #[must_use]
    pub fn folder(&self) -> &DataFolder {
        &self.shared.folder
    }

    /// The configuration of the operator.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// The world in which all of them live.
    #[must_use]
    pub fn world(&self) -> &W {
        &self.world
    }

    /// The encoder of memories.
    #[must_use]
    pub fn embedder(&self) -> &EmbedderChoice {
        &self.shared.recall.embedder
    }

    /// The tools of the world and of the other sources, as they are offered. The engine's own tools are not among them.
    #[must_use]
    pub fn tools(&self) -> Vec<RoutedTool> {
        self.shared.tools().router.tools().to_vec()
    }

    /// The servers whose tools are offered, if any are configured.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp(&self) -> Option<&McpTools> {
        self.shared.mcp.as_deref()
    }

    /// The log of all of them.
    #[must_use]
    pub fn log(&self) -> &RedbLog {
        &self.shared.log
    }

    /// What their models used since the host was opened.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.shared.models.accounts
    }

    /// Their models, ordered by the name of the service.
    #[must_use]
    pub fn models(&self) -> &[GuardedModel] {
        &self.shared.models.each
    }

    /// The assistants in the log, with the last event of each.
    ///
    /// # Errors
    ///
    /// [`HostError::Read`].
    pub fn known(&self) -> Result<Vec<(AssistantId, Seq)>, HostError> {
        Ok(self.shared.log.assistants()?)
    }
}

impl Shared {
    /// The tools as they are offered now.
    fn tools(&self) -> Arc<OfferedTools> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&tools)
    }

    fn keep_files(&self) {
        let mut files = self
            .new_files
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        files.keep();
    }

    fn learn(&self, replied: &Replied, at: Timestamp) {
        self.with_learning(|learning| learning.heard(replied, at));
    }

    /// The handle of an assistant that was woken without being a resident.
    fn alone(&self, key: &AssistantId) -> Option<Handle> {
        let alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        alone.get(key).cloned()
    }

    fn note_alone(&self, key: &AssistantId, handle: &Handle) {
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        alone.insert(key.clone(), handle.clone());
    }

    fn save_learnt(&self) {
        self.with_learning(|learning| learning.ended().into_iter().collect());
    }

    fn with_learning(&self, work: impl FnOnce(&mut Learning) -> Vec<LearningNotice>) {
        if let Some(learning) = &self.learning {
            let notices = work(&mut learning.lock().unwrap_or_else(PoisonError::into_inner));
            notices.into_iter().for_each(&self.on_learnt);
        }
    }
}
