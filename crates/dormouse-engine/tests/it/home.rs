//! A place for one assistant to live in during a test.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, Audience, ChatRequest, Clock, EntityId, Message, Perception, Seq, SpeechKind,
    Timestamp, ToolCategory, ToolName, ToolSource, ToolSpec,
};
use dormouse_engine::{
    Accepted, AdmissionSettings, Assistant, AssistantConfig, CompiledTools, DecideAgainError,
    Event, Handle, Ports, Privacy, Rest, RunError, State, StopReason, WakeError, decide_again,
};
use dormouse_memory::Memory;
use dormouse_testing::{
    CountTokens, FakeWorld, FixedRandom, MemoryLog, ScriptedModel, ScriptedTurn,
};
use dormouse_tools::{NamedToolSource, ToolRouter};
use tokio::{task::JoinSet, time::Instant};

/// A clock that follows tokio's, which a test may pause; a test can also set it.
pub(crate) struct TokioClock {
    since: Instant,
    /// The time that it showed at that instant, in microseconds.
    began: AtomicI64,
}

impl TokioClock {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            began: AtomicI64::new(1_795_219_200_000_000),
        }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        let began = Timestamp::from_micros(self.began.load(Ordering::Relaxed));
        began.plus(self.since.elapsed())
    }
}

/// Everything around one assistant. It outlives the assistant, so that a test can let it crash and wake again.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) config: AssistantConfig,
    pub(crate) log: MemoryLog,
    pub(crate) world: FakeWorld,
    /// What its world offers.
    tools: Vec<ToolSpec>,
    /// Tools in addition to those of its world.
    own: Option<Arc<ToolRouter>>,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) memory: Memory,
    pub(crate) clock: Arc<TokioClock>,
}

/// One life of the assistant, from waking to its end.
pub(crate) struct Life {
    pub(crate) handle: Handle,
    run: JoinSet<Result<(), RunError>>,
    log: MemoryLog,
}

pub(crate) fn key() -> AssistantId {
    AssistantId::try_new("dormouse").unwrap()
}

/// An empty memory.
fn memory(clock: Arc<TokioClock>) -> Memory {
    let memory = Memory::builder(key(), move || clock.now()).ephemeral();
    memory.expect("a memory without a file has nothing to fail by")
}

impl Home {
    pub(crate) fn with(model: ScriptedModel) -> Self {
        let clock = Arc::new(TokioClock::new());
        Self {
            memory: memory(clock.clone()),
            config: AssistantConfig {
                // In most tests a few people say a lot at once.
                admission: AdmissionSettings::off(),
                ..AssistantConfig::new(key())
            },
            log: MemoryLog::new(),
            world: FakeWorld::new(),
            tools: FakeWorld::tools(),
            own: None,
            model: Arc::new(model),
            clock,
        }
    }

    pub(crate) fn new(turns: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::with(ScriptedModel::new(turns))
    }

    /// A home with privacy switched off, for tests in which people overhear each other in a world that does not list
    /// listeners.
    pub(crate) fn where_all_is_shared(turns: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::with_all_shared(ScriptedModel::new(turns))
    }

    pub(crate) fn with_all_shared(model: ScriptedModel) -> Self {
        Self::with(model).configured(|config| config.privacy = Privacy::Shared)
    }

    pub(crate) fn configured(mut self, change: impl FnOnce(&mut AssistantConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// With a model that may make the same call again and again.
    pub(crate) fn without_a_loop_guard(self) -> Self {
        self.configured(|config| {
            config.limits = config.limits.with_max_repeated_calls(100).unwrap();
        })
    }

    /// In a world where speech does not end a turn.
    pub(crate) fn where_speech_ends_nothing(mut self) -> Self {
        let speeches = self.tools.iter_mut().filter(|tool| tool.speech.is_some());
        speeches.for_each(|tool| tool.category = ToolCategory::SafeChain);
        self
    }

    /// In a world that attests that only Alice hears what is said aloud, in every place.
    pub(crate) fn where_alice_follows(self) -> Self {
        let alice = EntityId::try_new("player:Alice").unwrap();
        self.world.listen(Audience::of([alice]).unwrap());
        self
    }

    /// In a world where one can page.
    pub(crate) fn where_one_can_page(mut self) -> Self {
        let whisper = self
            .tools
            .iter()
            .find(|tool| tool.name.as_str() == "whisper");
        let mut page = whisper.expect("there is such a tool").clone();
        page.name = ToolName::try_new("page").unwrap();
        if let Some(speech) = &mut page.speech {
            speech.kind = SpeechKind::Page;
        }
        self.tools.push(page);
        self
    }

    /// With these tools in addition to those of a fake world.
    pub(crate) fn with_tools(mut self, source: NamedToolSource) -> Self {
        let world = Arc::new(self.world.clone());
        let router = ToolRouter::try_new(world, vec![source], &[]).unwrap();
        self.tools = router.specs();
        self.own = Some(Arc::new(router));
        self
    }

    pub(crate) fn ports(&self) -> Ports {
        let own = self.own.as_ref();
        Ports {
            log: Arc::new(self.log.clone()),
            model: self.model.clone(),
            world: own.map_or_else(
                || Arc::new(self.world.clone()) as _,
                |own| Arc::clone(own) as _,
            ),
            clock: self.clock.clone(),
            random: Arc::new(FixedRandom::new(0.5)),
            counter: Arc::new(CountTokens),
            memory: self.memory.clone(),
        }
    }

    /// Sets the clock forward or back.
    pub(crate) fn set_clock(&self, hours: i64) {
        let micros = hours * 3_600_000_000;
        self.clock.began.fetch_add(micros, Ordering::Relaxed);
    }

    /// What its clock shows, in microseconds.
    pub(crate) fn now(&self) -> i64 {
        self.clock.now().as_micros()
    }

    /// Loses the memory: the next life begins with an empty one.
    pub(crate) fn lose_memory(&mut self) {
        self.memory = memory(self.clock.clone());
    }

    pub(crate) async fn wake(&self) -> Life {
        let woken = Assistant::wake(self.config.clone(), self.tools.clone(), self.ports());
        // An assistant with its state is large, and the futures of many tests contain one.
        self.run(Box::pin(woken).await.expect("the assistant wakes"))
    }

    /// Wakes it with a configuration that depends on its state.
    pub(crate) async fn wake_by(
        &self,
        configure: impl Fn(&State, &mut AssistantConfig) + Send + Sync + 'static,
    ) -> Life {
        let config = self.config.clone();
        let configure = move |state: &State| {
            let mut config = config.clone();
            configure(state, &mut config);
            Ok::<_, WakeError>(config)
        };
        let key = key();
        let tools = CompiledTools::try_new(self.tools.clone()).expect("the tools are valid");
        let woken = Assistant::wake_as(&key, configure, tools, self.ports());
        let (assistant, handle) = Box::pin(woken).await.expect("the assistant wakes");
        self.run((assistant, handle))
    }

    fn run(&self, (assistant, handle): (Assistant, Handle)) -> Life {
        let mut run = JoinSet::new();
        run.spawn(assistant.run());
        let log = self.log.clone();
        Life { handle, run, log }
    }

    /// Wakes it, and waits until its configuration is in the log.
    pub(crate) async fn wake_configured(&self) -> Life {
        let life = self.wake().await;
        life.handle.inspect().await.expect("the assistant runs");
        life
    }

    /// Hands one message to a new life and waits until it is dealt with.
    pub(crate) async fn hear(&self, perception: Perception) -> Rest {
        let life = self.wake().await;
        life.accept(perception).await;
        let rest = life.handle.at_rest().await;
        life.end().await.unwrap();
        rest
    }

    /// The events, without those of its configuration.
    pub(crate) fn events(&self) -> Vec<Event> {
        let events = self.log.events(&key());
        let events = events.iter().map(|stored| Event::decode(stored).unwrap());
        let happened = events.filter(|event| !matches!(event, Event::Configured(_)));
        happened.collect()
    }

    pub(crate) fn stops(&self) -> Vec<StopReason> {
        let ended = self.events().into_iter();
        ended
            .filter_map(|event| {
                if let Event::TickEnded(ended) = event {
                    Some(ended.reason)
                } else {
                    None
                }
            })
            .collect()
    }

    /// What the assistant did, as the tool's name and the text it said.
    pub(crate) fn deeds(&self) -> Vec<String> {
        let text = |effect: &dormouse_contracts::Effect| {
            let said = effect
                .arguments
                .get("message")
                .and_then(|v| v.as_str())
                .unwrap_or_default();
            format!("{} {said}", effect.tool).trim().to_owned()
        };
        self.world.performed().iter().map(text).collect()
    }

    /// Everything the model was shown in its last request, as one text.
    pub(crate) fn last_shown(&self) -> String {
        shown(self.model.requests().last().expect("the model was asked"))
    }

    pub(crate) fn no_protocol_was_broken(&self) {
        assert_eq!(
            self.model.violations(),
            [],
            "a strict provider would have refused a request"
        );
    }
}

impl Life {
    pub(crate) async fn accept(&self, perception: Perception) -> Accepted {
        self.handle
            .perceive(perception)
            .await
            .expect("the message is accepted")
    }

    pub(crate) async fn end(mut self) -> Result<(), RunError> {
        self.handle.shut_down().await;
        self.run.join_next().await.unwrap().unwrap()
    }

    /// Waits until the assistant ends by itself.
    pub(crate) async fn ended(mut self) -> Result<(), RunError> {
        self.run.join_next().await.unwrap().unwrap()
    }

    /// Ends it like a power cut: all work under way is dropped.
    pub(crate) async fn crash(mut self) {
        self.run.shutdown().await;
    }
}

/// However a life ends, even by going out of scope, all its decisions are replayed. So each test also proves that
/// decisions follow from the log alone.
impl Drop for Life {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.run.abort_all();
        // Rebuilding a memory uses its own threads, which would wait for ever for a runtime that is busy with this
        // drop.
        let decided = std::thread::scope(|scope| {
            let again = || in_real_time(every_decision_is_the_same_again(&self.log));
            scope.spawn(again).join()
        });
        if let Err(panic) = decided {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Replays all decisions of the life.
pub(crate) async fn every_decision_is_the_same_again(log: &MemoryLog) {
    let all = log.events(&key());
    match decide_again(log, &key(), Seq(u64::MAX), |_| Arc::new(CountTokens)).await {
        Ok(again) => assert_eq!(again.events, all.len() as u64),
        // The log is closed, as in a crash; the next life reads it again.
        Err(DecideAgainError::Read(_)) => {}
        Err(error) => {
            let seen = all.iter().map(|it| {
                format!(
                    "{} {} {}",
                    it.seq,
                    it.at.as_micros(),
                    String::from_utf8_lossy(&it.payload)
                )
            });
            let seen: Vec<_> = seen.collect();
            panic!("{error}: {error:#?}\n{}", seen.join("\n"))
        }
    }
}

pub(crate) fn shown(request: &ChatRequest) -> String {
    let text = |message: &Message| match message {
        Message::System { content } | Message::User { content } | Message::Tool { content, .. } => {
            content.clone()
        }
        Message::Assistant {
            content,
            tool_calls,
        } => {
            let calls: Vec<_> = tool_calls
                .iter()
                .map(|call| format!("{}{}", call.name, call.arguments))
                .collect();
            format!("{content}{}", calls.join(""))
        }
        _ => String::new(),
    };
    request
        .messages
        .iter()
        .map(text)
        .collect::<Vec<_>>()
        .join("\n")
}

pub(crate) fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

fn in_real_time<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(future)
}

/// Runs a future to its end with a clock that skips every wait, for tests that are not async functions.
pub(crate) fn in_virtual_time<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(future)
}
