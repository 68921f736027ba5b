//! What the operator decides about an assistant.

mod admission;
mod budgets;
mod delegation;
mod goals;
mod journal;
mod own;
mod sleep;
mod tools;

use std::{collections::BTreeSet, time::Duration};

use dormouse_classify::ClassifyConfig;
use dormouse_contracts::{AssistantId, ChannelId, PlaceId, ReasoningEffort, Trust};
pub use dormouse_dialects::ToolCalling;
use dormouse_memory::{MIN_QUOTE_TRUST, MIN_TRUST};
use dormouse_resilience::{BreakerPolicyError, RetryBudget};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use admission::AdmissionSettings;
pub(crate) use admission::Rate;
pub use budgets::{BudgetLimits, SpendingBudgets, TokenPrice, UnknownPrice};
pub use delegation::DelegationSettings;
pub use goals::GoalSettings;
pub use journal::{EpisodicWeights, JournalConfig, ReflectionTicks};
pub use own::SelfSettings;
pub use sleep::{LONGEST_SLEEP_HOURS, SleepSettings, SleepWindow};
pub use tools::{ToolBreaker, ToolRetries};

use crate::{
    compacting::CompactionSettings,
    execution::{ContextError, ExecutionConfig},
    prompt::{PromptConfig, PromptConfigError},
    secrets::SecretsInLog,
    state::CrossTalk,
};

/// How many actions one tick may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionPattern {
    /// One tool call; its result is carried over to the next tick.
    SingleAction,
    /// Thought, action and observation, until a stop reason.
    #[default]
    ReactLoop,
}

/// What a dangerous act needs, in addition to the trust of everything that was shown when it was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalRule {
    /// Nothing.
    #[default]
    Trust,
    /// A person who confirms it.
    Required,
}

impl ApprovalRule {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    fn is_trust(&self) -> bool {
        *self == Self::Trust
    }
}

/// Whom an assistant may tell what it heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Privacy {
    /// Only those who perceived it: nothing else is in the prompt of an answer to them.
    #[default]
    Kept,
    /// Everybody.
    Shared,
}

impl Privacy {
    /// In logs from before this setting existed, everything was shared.
    fn of_older_logs() -> Self {
        Self::Shared
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    fn is_of_older_logs(&self) -> bool {
        *self == Self::of_older_logs()
    }
}

/// A number outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}; it must be between {low} and {high}")]
pub struct OutOfRange {
    field: &'static str,
    value: u64,
    low: u64,
    high: u64,
}

impl OutOfRange {
    /// The least number that is valid.
    #[must_use]
    pub fn low(&self) -> u64 {
        self.low
    }

    /// The greatest number that is valid.
    #[must_use]
    pub fn high(&self) -> u64 {
        self.high
    }
}

/// The numbers that bound an assistant. Once built, all of them are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    tick_rate_seconds: u32,
    max_iterations: u32,
    max_context_tokens: u32,
    max_history: usize,
    max_consecutive_errors: u32,
    max_parts: usize,
    /// 0: a message is kept until it is answered.
    give_up_after_seconds: u32,
    /// A log without this field was decided without such a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_exchanges: Option<u32>,
    /// A log without this field was decided without such a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_repeated_calls: Option<u32>,
    /// A log without this field was decided without such a limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    beats_apart: bool,
}

/// Default for how long a message may fail alone, and how long an outage may last before its notice.
const GIVE_UP_AFTER_SECONDS: u32 = 3_600;

impl Default for Limits {
    fn default() -> Self {
        Self {
            tick_rate_seconds: 5,
            max_iterations: 5,
            max_context_tokens: 32_768,
            max_history: 200,
            max_consecutive_errors: 5,
            max_parts: 8,
            give_up_after_seconds: GIVE_UP_AFTER_SECONDS,
            max_exchanges: Some(8),
            max_repeated_calls: Some(3),
            beats_apart: true,
        }
    }
}

fn within(field: &'static str, value: u64, low: u32, high: u32) -> Result<u32, OutOfRange> {
    let valid = u32::try_from(value).ok();
    valid
        .filter(|valid| (low..=high).contains(valid))
        .ok_or(OutOfRange {
            field,
            value,
            low: low.into(),
            high: high.into(),
        })
}

impl Limits {
    /// Sets the seconds between two ticks, 1 to 3,600. Default 5.
    ///
    /// A message is answered at once. Turns that nobody asked for (a goal or a moment that is due) begin that far apart, and
    /// so do two ticks of one turn.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] outside these bounds.
    pub fn with_tick_rate_seconds(mut self, seconds: u64) -> Result<Self, OutOfRange> {
        self.tick_rate_seconds = within("tick_rate", seconds, 1, 3_600)?;
        Ok(self)
    }

    /// Sets the most tool calls in one tick, 1 to 10; also the most replies of the model. Default 5.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] outside these bounds.
    pub fn with_max_iterations(mut self, count: u32) -> Result<Self, OutOfRange> {
        within("max_iterations_per_tick", count.into(), 1, 10)?;
        self.max_iterations = count;
        Ok(self)
    }

    /// Sets the size of the model's context window in tokens, 2,048 to 10,000,000. Default 32,768.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] outside these bounds.
    pub fn with_max_context_tokens(mut self, tokens: u32) -> Result<Self, OutOfRange> {
        within("max_context_tokens", tokens.into(), 2_048, 10_000_000)?;
        self.max_context_tokens = tokens;
        Ok(self)
    }

    /// Sets how many earlier turns a prompt may show, 0 to 2,000. Default 200.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] outside these bounds.
    pub fn with_max_history(mut self, turns: usize) -> Result<Self, OutOfRange> {
        within("max_history", turns as u64, 0, 2_000)?;
        self.max_history = turns;
        Ok(self)
    }

    /// Sets two limits, 1 to 100. After this many errors in a row a message is given up. After this many errors in a
    /// row that no single message caused, the emergency stop is triggered. Default 5.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] outside these bounds.
    pub fn with_max_consecutive_errors(mut self, errors: u32) -> Result<Self, OutOfRange> {
        within("max_consecutive_errors", errors.into(), 1, 100)?;
        self.max_consecutive_errors = errors;
        Ok(self)
    }

    /// Sets how many acts of speech one reply may make, 1 to 100. A long answer is divided into at most that many
    /// parts; the rest is cut, and the answer says so. Default 8.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] outside these bounds.
    pub fn with_max_parts(mut self, parts: usize) -> Result<Self, OutOfRange> {
        within("max_parts_per_answer", parts as u64, 1, 100)?;
        self.max_parts = parts;
        Ok(self)
    }

    /// Sets for how many seconds a message may fail alone before it is given up, up to 604,800 (a week); 0 keeps it until
    /// it is answered. Default 3,600.
    ///
    /// A message fails alone if the model's server gives no reply, in a way that the message may have caused, and the
    /// model was asked nothing else since. In an outage, which affects other messages too, messages are kept. A sender
    /// who waits that long in an outage hears [`outage_notice`](AssistantConfig::outage_notice).
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] outside these bounds.
    pub fn with_give_up_after_seconds(mut self, seconds: u64) -> Result<Self, OutOfRange> {
        self.give_up_after_seconds = within("give_up_after", seconds, 0, 604_800)?;
        Ok(self)
    }

    /// Sets how many messages of other assistants are answered until a person says something, 0 to 1,000. Default 8.
    ///
    /// Further ones are overheard and not answered ([`Rule::ExchangeLimit`](dormouse_classify::Rule::ExchangeLimit)).
    /// After a person has said something that the assistant perceives, the count starts again.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] outside these bounds.
    pub fn with_max_exchanges(mut self, messages: u32) -> Result<Self, OutOfRange> {
        let messages = within("max_exchanges", messages.into(), 0, 1_000)?;
        self.max_exchanges = Some(messages);
        Ok(self)
    }

    /// Sets how often one message may lead to the same call with the same result before its loop ends, 2 to 100. Default 3.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] outside these bounds.
    pub fn with_max_repeated_calls(mut self, calls: u32) -> Result<Self, OutOfRange> {
        let calls = within("max_repeated_calls", calls.into(), 2, 100)?;
        self.max_repeated_calls = Some(calls);
        Ok(self)
    }

    /// The time between two ticks.
    #[must_use]
    pub fn tick_rate(&self) -> Duration {
        Duration::from_secs(self.tick_rate_seconds.into())
    }

    /// Whether turns that nobody asked for begin one tick rate apart. False in logs that are older than this limit.
    pub(crate) fn are_beats_apart(&self) -> bool {
        self.beats_apart
    }

    /// The most tool calls in one tick.
    #[must_use]
    pub fn max_iterations(&self) -> u32 {
        self.max_iterations
    }

    /// The size of the model's context window, in tokens.
    #[must_use]
    pub fn max_context_tokens(&self) -> u32 {
        self.max_context_tokens
    }

    /// How many earlier turns a prompt may show.
    #[must_use]
    pub fn max_history(&self) -> usize {
        self.max_history
    }

    /// How many acts of speech one reply may make.
    #[must_use]
    pub fn max_parts(&self) -> usize {
        self.max_parts
    }

    /// How many messages of other assistants are answered until a person says something. `None` in a life that is older
    /// than this limit.
    #[must_use]
    pub fn max_exchanges(&self) -> Option<u32> {
        self.max_exchanges
    }

    /// How often one message may lead to the same call with the same result before its loop ends. `None` in logs that
    /// are older than this limit.
    #[must_use]
    pub fn max_repeated_calls(&self) -> Option<u32> {
        self.max_repeated_calls
    }

    /// Whether no further message of another assistant is answered.
    pub(crate) fn ends_exchanges(&self, cross_talk: CrossTalk) -> bool {
        self.max_exchanges
            .is_some_and(|most| cross_talk.answered() >= most)
    }

    /// For how long a message may fail alone before it is given up, if it ever is.
    #[must_use]
    pub fn give_up_after(&self) -> Option<Duration> {
        let seconds = self.give_up_after_seconds;
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    }

    /// The time after which a sender who waits in an outage hears the `outage_notice`.
    pub(crate) fn word_after(&self) -> Duration {
        let usual = Duration::from_secs(GIVE_UP_AFTER_SECONDS.into());
        self.give_up_after().unwrap_or(usual)
    }

    /// After how many errors in a row a message is given up, or the emergency stop is triggered.
    #[must_use]
    pub fn max_consecutive_errors(&self) -> u32 {
        self.max_consecutive_errors
    }
}

/// Whether an assistant's ticks are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// Ticks run.
    #[default]
    Enabled,
    /// Messages are accepted and kept, but no tick runs.
    Disabled,
}

/// A configuration with which no assistant can run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The sampling temperature is not a number in `0.0..=2.0`.
    #[error("temperature is {0}; it must be between 0 and 2")]
    Temperature(f32),
    /// Nucleus sampling (`top_p`) is not a number in `0.0..=1.0`.
    #[error("top_p must be between 0 and 1")]
    TopP,
    /// The limit of a reply is zero tokens.
    #[error("max_tokens is 0; leave it out, or let a reply have at least one token")]
    NoReply,
    /// The time limit of a model call is zero.
    #[error("the time for a model call is zero")]
    NoTime,
    /// The time limit of a memory search is zero.
    #[error("the time for a look into the memory is zero")]
    NoRecallTime,
    /// The configuration of a kind of tick is not valid.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The configuration of the parts of prompts is not valid.
    #[error(transparent)]
    Prompt(#[from] PromptConfigError),
    /// A share of the context window at which earlier turns are shown shorter is not within 10 to 80 percent.
    #[error(
        "compaction at {0} percent of the context window; it must be between 10 and 80 percent"
    )]
    CompactionShare(u32),
    /// The time zone of the nights is unknown.
    #[error(
        "sleep.time_zone is {0:?}; expected a name of the IANA database, such as Europe/Berlin"
    )]
    TimeZone(String),
    /// The number of independent accounts is neither 0 nor within 2 to 100.
    #[error("independent_accounts is {0}; it must be 0 or between 2 and 100")]
    IndependentAccounts(u32),
    /// The breaker of tools is not valid.
    #[error("a tool that gives no answers is left alone")]
    ToolBreaker(#[from] BreakerPolicyError),
}

/// Everything the operator decides about one assistant.
#[derive(Clone, Debug)]
pub struct AssistantConfig {
    /// Its key: the name of its log and the word an @mention must match.
    pub key: AssistantId,
    /// What it is called in its worlds, if that differs from its key. A sender whose name looks like this one is marked
    /// as a different person.
    pub name: Option<String>,
    /// Who it is and how it should behave, for the system prompt.
    pub persona: String,
    /// Whether its ticks are on.
    pub switch: Switch,
    /// How messages to it are classified.
    pub classify: ClassifyConfig,
    /// How many actions one tick may take.
    pub pattern: ExecutionPattern,
    /// Further limits of a tick.
    pub execution: ExecutionConfig,
    /// The parts of its prompts.
    pub prompt: PromptConfig,
    /// How tools are offered to its model.
    pub tool_calling: ToolCalling,
    /// Its bounds.
    pub limits: Limits,
    /// How much one sender may ask of it.
    pub admission: AdmissionSettings,
    /// Sampling temperature in `0.0..=2.0`; the model's own where absent.
    pub temperature: Option<f32>,
    /// Nucleus sampling in `0.0..=1.0`; the model's own where absent.
    pub top_p: Option<f32>,
    /// The most tokens of one reply; the model's own limit where absent.
    pub max_tokens: Option<u32>,
    /// How much the model shall think; its own where absent.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Further parameters of every request, as the provider names them. No decision reads them, and the log does not have
    /// them: one of them may be a secret.
    pub extra_params: Map<String, Value>,
    /// What the sender hears if a message ends without an answer. If blank, the sender hears nothing.
    pub apology: String,
    /// What the sender hears if the world accepted only the beginning of the answer, and the model did not say the rest
    /// differently. If blank, the sender hears nothing.
    pub broken_off: String,
    /// What the sender hears, once, if the answer takes longer than `slow_after`. Blank, the default, says nothing.
    pub wait_notice: String,
    /// What the sender hears, once, if the model has given no answers for as long as a message may fail alone. If
    /// blank, the sender hears nothing. The message is kept.
    pub outage_notice: String,
    /// What the sender hears, once, if the budgets allow no call of the model for now. If blank, the sender hears
    /// nothing. The message is kept.
    pub budget_notice: String,
    /// What the assistant says aloud in its world, once, when the emergency stop is triggered. If blank, it says nothing.
    pub stop_notice: String,
    /// How long one attempt of a model call may take.
    pub model_timeout: Duration,
    /// The time after which no further attempt of a model call begins; a later tick resumes the message. Default one
    /// minute.
    pub retry_for: Duration,
    /// The time after which a person who waits should learn that the answer takes longer: see
    /// [`Status::slow_since`](crate::Status::slow_since). Default 20 seconds.
    pub slow_after: Duration,
    /// Limits the retries of model calls. Share one among all assistants that use the same provider, so that retries do
    /// not overload a provider in trouble. Default: one for each assistant.
    pub retry_budget: RetryBudget,
    /// What a dangerous act needs in addition to trust.
    pub approval: ApprovalRule,
    /// For how many seconds an approval may be given and used, 60 to 2,592,000. Default a day.
    pub approval_expires_seconds: u32,
    /// What it may spend on models.
    pub budgets: SpendingBudgets,
    /// The most tokens of remembered lines that are looked up for a message; 0 looks up nothing. Default 1,024. In a
    /// small context window they take at most a quarter of what the message leaves free.
    pub memory_tokens: u32,
    /// When earlier turns are shown shorter, and how.
    pub compaction: CompactionSettings,
    /// The least trust of everything that is shown when a dangerous call is decided.
    pub dangerous_trust: Trust,
    /// The least trust at which speech is recalled as a quotation.
    pub quote_trust: Trust,
    /// Whether earlier facts that a server attested about a sender change the trust of their messages. Default: true.
    pub sender_history: bool,
    /// How many independent accounts raise the trust of a claim to 0.5, 2 to 100. Default 0: never.
    pub independent_accounts: u32,
    /// How long one look into the memory may take, catching up with the log included. A message is answered without
    /// remembered lines if it takes longer. Default 2 seconds.
    pub recall_timeout: Duration,
    /// Whom it may tell what it heard.
    pub privacy: Privacy,
    /// Whether the log keeps secrets that somebody says. Existing events are not changed.
    pub secrets_in_log: SecretsInLog,
    /// What is said on these channels from now on is public knowledge.
    pub public_channels: BTreeSet<ChannelId>,
    /// What is said aloud in these places from now on is public knowledge.
    pub public_places: BTreeSet<PlaceId>,
    /// When its goals call for turns, and how much of them is shown.
    pub goals: GoalSettings,
    /// Limits of the tasks that are given to other assistants.
    pub delegation: DelegationSettings,
    /// How much it may keep for itself.
    pub own: SelfSettings,
    /// How it keeps its journal.
    pub journal: JournalConfig,
    /// When it sleeps.
    pub sleep: SleepSettings,
    /// When a tool that does not answer is not called for a while.
    pub tool_breaker: ToolBreaker,
    /// How often a call of a tool is tried.
    pub tool_retries: ToolRetries,
    /// The most tokens of the definitions of tools in one prompt; 0: no limit, every tool is offered. If there are more, tools
    /// that speak and the engine's own are always offered, and the others are chosen in each turn. Default: 8,192.
    pub tool_tokens: u32,
}

impl AssistantConfig {
    /// Checks the values that the field types alone cannot enforce.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], which says what is wrong and what is allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.execution.check()?;
        self.prompt.check()?;
        self.tool_breaker.policy()?;
        match (self.temperature, self.max_tokens) {
            (Some(temperature), _) if !(0.0..=2.0).contains(&temperature) => {
                Err(ConfigError::Temperature(temperature))
            }
            _ if self
                .top_p
                .is_some_and(|top_p| !(0.0..=1.0).contains(&top_p)) =>
            {
                Err(ConfigError::TopP)
            }
            (_, Some(0)) => Err(ConfigError::NoReply),
            _ if self.model_timeout.is_zero() => Err(ConfigError::NoTime),
            _ if self.recall_timeout.is_zero() => Err(ConfigError::NoRecallTime),
            _ if !matches!(self.independent_accounts, 0 | 2..=100) => {
                Err(ConfigError::IndependentAccounts(self.independent_accounts))
            }
            _ if !SleepSettings::knows_time_zone(&self.sleep.time_zone) => {
                Err(ConfigError::TimeZone(self.sleep.time_zone.clone()))
            }
            _ => match self.compaction.out_of_bounds() {
                Some(percent) => Err(ConfigError::CompactionShare(percent)),
                None => Ok(()),
            },
        }
    }

    /// The part of it that decisions read.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            name: self.name.clone(),
            switch: self.switch,
            classify: self.classify.clone(),
            pattern: self.pattern,
            execution: self.execution.clone(),
            prompt: self.prompt.clone(),
            tool_calling: self.tool_calling,
            limits: self.limits,
            admission: self.admission.clone(),
            temperature: self.temperature,
            top_p: self.top_p,
            max_tokens: self.max_tokens,
            reasoning_effort: self.reasoning_effort,
            apology: self.apology.clone(),
            broken_off: self.broken_off.clone(),
            wait_notice: self.wait_notice.clone(),
            outage_notice: self.outage_notice.clone(),
            stop_notice: self.stop_notice.clone(),
            budget_notice: self.budget_notice.clone(),
            budgets: self.budgets,
            approval: self.approval,
            approval_expires_seconds: match self.approval {
                ApprovalRule::Trust => 0,
                ApprovalRule::Required => self.approval_expires_seconds,
            },
            memory_tokens: self.memory_tokens,
            compaction: self.compaction.clone(),
            dangerous_trust: self.dangerous_trust,
            quote_trust: self.quote_trust,
            sender_history: self.sender_history,
            independent_accounts: self.independent_accounts,
            privacy: self.privacy,
            public_channels: self.public_channels.clone(),
            public_places: self.public_places.clone(),
            goals: self.goals,
            delegation: self.delegation,
            own: self.own,
            journal: self.journal.clone(),
            sleep: self.sleep.clone(),
            tool_breaker: self.tool_breaker,
            tool_tokens: self.tool_tokens,
        }
    }

    /// The default configuration of an assistant with this key.
    #[must_use]
    pub fn new(key: AssistantId) -> Self {
        Self {
            persona: format!(
                "You are {key}, who lives in this place. Be kind, brief and truthful."
            ),
            key,
            name: None,
            switch: Switch::Enabled,
            classify: ClassifyConfig::default(),
            pattern: ExecutionPattern::ReactLoop,
            execution: ExecutionConfig::default(),
            prompt: PromptConfig::default(),
            tool_calling: ToolCalling::Native,
            limits: Limits::default(),
            admission: AdmissionSettings::default(),
            temperature: None,
            top_p: None,
            max_tokens: None,
            reasoning_effort: None,
            extra_params: Map::new(),
            apology: "Sorry, I could not find an answer to that.".to_owned(),
            broken_off: "There is more, but I could not say it.".to_owned(),
            wait_notice: String::new(),
            outage_notice: "I cannot think at the moment. I will answer as soon as I can."
                .to_owned(),
            budget_notice: "I have thought enough for now. I will answer as soon as I may."
                .to_owned(),
            budgets: SpendingBudgets::default(),
            approval: ApprovalRule::Trust,
            approval_expires_seconds: 86_400,
            stop_notice:
                "I have been stopped for now. What you say to me is kept until I may go on."
                    .to_owned(),
            model_timeout: Duration::from_secs(120),
            retry_for: Duration::from_secs(60),
            slow_after: Duration::from_secs(20),
            retry_budget: RetryBudget::default(),
            memory_tokens: 1_024,
            compaction: CompactionSettings::default(),
            dangerous_trust: MIN_TRUST,
            quote_trust: MIN_QUOTE_TRUST,
            sender_history: true,
            independent_accounts: 0,
            recall_timeout: Duration::from_secs(2),
            privacy: Privacy::Kept,
            secrets_in_log: SecretsInLog::Masked,
            public_channels: BTreeSet::new(),
            public_places: BTreeSet::new(),
            goals: GoalSettings::default(),
            delegation: DelegationSettings::default(),
            own: SelfSettings::default(),
            journal: JournalConfig::default(),
            sleep: SleepSettings::default(),
            tool_breaker: ToolBreaker::default(),
            tool_retries: ToolRetries::default(),
            tool_tokens: 8_192,
        }
    }
}

/// The part of an [`AssistantConfig`] that decisions and prompts read, in addition to its key and its persona. It is in
/// the log, so that decisions can be made again. The fields are described in [`AssistantConfig`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the fields of the same names in AssistantConfig have them"
)]
pub struct Settings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub switch: Switch,
    pub classify: ClassifyConfig,
    pub pattern: ExecutionPattern,
    #[serde(default, skip_serializing_if = "ExecutionConfig::is_default")]
    pub execution: ExecutionConfig,
    #[serde(default, skip_serializing_if = "PromptConfig::is_default")]
    pub prompt: PromptConfig,
    pub tool_calling: ToolCalling,
    pub limits: Limits,
    #[serde(
        default = "AdmissionSettings::off",
        skip_serializing_if = "AdmissionSettings::is_off"
    )]
    pub admission: AdmissionSettings,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
    pub apology: String,
    pub broken_off: String,
    pub wait_notice: String,
    pub outage_notice: String,
    // A log without this field was decided without it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stop_notice: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub budget_notice: String,
    #[serde(default, skip_serializing_if = "SpendingBudgets::are_default")]
    pub budgets: SpendingBudgets,
    #[serde(default, skip_serializing_if = "ApprovalRule::is_trust")]
    pub approval: ApprovalRule,
    #[serde(default, skip_serializing_if = "is_off")]
    pub approval_expires_seconds: u32,
    pub memory_tokens: u32,
    #[serde(
        default = "CompactionSettings::of_older_logs",
        skip_serializing_if = "CompactionSettings::is_of_older_logs"
    )]
    pub compaction: CompactionSettings,
    pub dangerous_trust: Trust,
    pub quote_trust: Trust,
    // A log without this field was decided without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sender_history: bool,
    #[serde(default, skip_serializing_if = "is_off")]
    pub independent_accounts: u32,
    #[serde(
        default = "Privacy::of_older_logs",
        skip_serializing_if = "Privacy::is_of_older_logs"
    )]
    pub privacy: Privacy,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub public_channels: BTreeSet<ChannelId>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub public_places: BTreeSet<PlaceId>,
    #[serde(default, skip_serializing_if = "GoalSettings::is_usual")]
    pub goals: GoalSettings,
    #[serde(default, skip_serializing_if = "DelegationSettings::are_usual")]
    pub delegation: DelegationSettings,
    #[serde(default, skip_serializing_if = "SelfSettings::is_usual")]
    pub own: SelfSettings,
    #[serde(default, skip_serializing_if = "JournalConfig::is_usual")]
    pub journal: JournalConfig,
    #[serde(default, skip_serializing_if = "SleepSettings::is_usual")]
    pub sleep: SleepSettings,
    #[serde(
        default = "ToolBreaker::of_older_logs",
        skip_serializing_if = "ToolBreaker::is_of_older_logs"
    )]
    pub tool_breaker: ToolBreaker,
    // A log without this field was decided without such a limit.
    #[serde(default, skip_serializing_if = "is_off")]
    pub tool_tokens: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_off(number: &u32) -> bool {
    *number == 0
}
