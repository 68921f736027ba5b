//! The configuration of one assistant, in the form that the engine takes.

use dormouse_contracts::AssistantId;
use dormouse_engine::{AssistantConfig, OutOfRange, State, Switch, TokenPrice, ToolCalling};

use crate::config::{Config, character_name};

/// The configuration of the engine for an assistant in this state: the configuration of the operator, with the changes
/// for this assistant. `[assistant]` describes the assistant with that key; every other assistant is described in its
/// own log. All other sections apply to every assistant of the folder.
pub(crate) fn assistant_config(
    config: &Config,
    key: &AssistantId,
    state: &State,
    tool_calling: ToolCalling,
    window: Option<u32>,
    price: Option<TokenPrice>,
) -> Result<AssistantConfig, OutOfRange> {
    let config = config.of(key, state);
    let admission = config.admission();
    let (assistant, memory, provider) = (config.assistant, config.memory, config.provider);
    let name = assistant.name();
    let mut settings = AssistantConfig::new(key.clone());
    if let Some(persona) = assistant.persona {
        settings.persona = persona;
    }
    Ok(AssistantConfig {
        name: Some(name),
        apology: assistant.apology,
        broken_off: assistant.broken_off,
        outage_notice: assistant.outage_notice,
        stop_notice: assistant.stop_notice,
        budget_notice: assistant.budget_notice,
        budgets: config.budgets.budgets(price),
        approval: config.trust.approval,
        approval_expires_seconds: u32::try_from(config.trust.approval_expires.0.as_secs())
            .unwrap_or(u32::MAX),
        wait_notice: assistant.wait_notice,
        switch: match assistant.enabled {
            true => Switch::Enabled,
            false => Switch::Disabled,
        },
        classify: config.classify.config(),
        pattern: config.execution.pattern(),
        execution: config.execution.config(),
        prompt: config.prompt.config(),
        limits: config.limits.limits(window)?,
        admission,
        slow_after: config.limits.slow_after.0,
        tool_calling,
        temperature: provider.temperature.map(|number| number.0),
        top_p: provider.top_p.map(|number| number.0),
        max_tokens: provider.max_tokens.map(|number| number.0),
        reasoning_effort: provider.reasoning_effort,
        extra_params: provider.extra,
        retry_for: provider.retry_for.0,
        memory_tokens: memory.tokens.0,
        compaction: config.compaction.settings(),
        recall_timeout: memory.timeout.0,
        privacy: memory.privacy,
        secrets_in_log: memory.secrets_in_log,
        public_channels: memory.public_channels,
        public_places: memory.public_places,
        quote_trust: memory.quote_trust,
        dangerous_trust: memory.dangerous_trust,
        sender_history: config.trust.sender_history,
        independent_accounts: config.trust.independent_accounts,
        goals: config.goals.settings(),
        delegation: config.delegation.settings(),
        own: config.own.settings(),
        journal: config.journal.settings(),
        sleep: config.sleep.settings(),
        tool_breaker: config.tools.breaker(),
        tool_retries: config.tools.retries(),
        tool_tokens: config.tools.definition_tokens(),
        ..settings
    })
}

impl Config {
    /// The configuration of one assistant in this state: who it is, and what operators changed for it. A change that cannot be
    /// used any more is ignored, with a warning.
    #[must_use]
    pub fn of(&self, key: &AssistantId, state: &State) -> Self {
        let (config, warnings) = self.read_for(key, state);
        for warning in warnings {
            tracing::warn!(assistant = %key, "{warning}");
        }
        config
    }

    /// The same, with the warnings.
    #[must_use]
    pub fn read_for(&self, key: &AssistantId, state: &State) -> (Self, Vec<String>) {
        match self.assistant.key() == *key {
            true => self.with_changes(&state.changed_settings),
            false => self
                .of_its_log(key, state)
                .with_changes(&state.changed_settings),
        }
    }

    /// The configuration of an assistant that is described in its own log.
    fn of_its_log(&self, key: &AssistantId, state: &State) -> Self {
        let mut config = self.clone();
        config.forget_assistant();
        config.assistant.set_key(key.clone());
        let lived_under = &state.configuration;
        let section = &mut config.assistant;
        section.name.clone_from(&lived_under.settings.name);
        // A log without a first event `configured` does not describe the assistant fully, but it may contain its
        // initial persona.
        let (persona, lived) = if lived_under.persona.is_empty() {
            let Some(beginning) = state.roster.beginning.as_deref() else {
                section.name.get_or_insert_with(|| character_name(key));
                return config;
            };
            section.name = Some(beginning.name.clone());
            (beginning.persona.as_ref(), beginning.settings.as_ref())
        } else {
            (Some(&lived_under.persona), Some(&lived_under.settings))
        };
        section.name.get_or_insert_with(|| character_name(key));
        // The changes of operators are applied on top of it again.
        section.persona = persona.cloned();
        if let Some(lived) = lived {
            section.apology.clone_from(&lived.apology);
            section.broken_off.clone_from(&lived.broken_off);
            section.outage_notice.clone_from(&lived.outage_notice);
            section.stop_notice.clone_from(&lived.stop_notice);
            section.budget_notice.clone_from(&lived.budget_notice);
            section.wait_notice.clone_from(&lived.wait_notice);
            section.enabled = lived.switch == Switch::Enabled;
        }
        config.note_log();
        config
    }
}
