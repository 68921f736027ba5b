//! Settings that contradict each other, or have no effect together.
//!
//! [`CHECKS`], [`ORDERS`] and [`SWITCHES`] list them; nothing else compares two settings.

use std::fmt;

use dormouse_contracts::Landmarks;
use dormouse_engine::{ApprovalRule, ContextConfig, ContextType, Privacy};

use super::{
    Config, Given,
    table::{Setting, find},
    values::inline,
    world,
};

/// Settings that do not fit together, or not to the world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Conflict {
    /// The setting to change.
    setting: &'static str,
    /// Where its value was given.
    place: Option<String>,
    /// What is wrong, and how to mend it.
    problem: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl Conflict {
    /// What is wrong, without the place.
    pub(super) fn problem(&self) -> &str {
        &self.problem
    }
}

/// What a conflict leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// The configuration is not used.
    Refused,
    /// It is used, with a warning.
    Warned,
}

/// A comparison of settings. An error is placed at the first of them that somebody gave.
struct Check {
    settings: &'static [&'static str],
    weight: Weight,
    problem: fn(&Config) -> Option<String>,
}

const fn refused(
    settings: &'static [&'static str],
    problem: fn(&Config) -> Option<String>,
) -> Check {
    Check {
        settings,
        weight: Weight::Refused,
        problem,
    }
}

const fn warned(
    settings: &'static [&'static str],
    problem: fn(&Config) -> Option<String>,
) -> Check {
    Check {
        settings,
        weight: Weight::Warned,
        problem,
    }
}

const CHECKS: &[Check] = &[
    refused(
        &["execution.mode", "execution.multi_action_enabled"],
        |config| config.execution.check().err().map(|it| it.to_string()),
    ),
    refused(
        &["prompt.template", "prompt.templates", "prompt.components"],
        |config| {
            config
                .prompt
                .config()
                .check()
                .err()
                .map(|it| it.to_string())
        },
    ),
    warned(
        &[
            "memory.tokens",
            "goals.prompt_tokens",
            "own.prompt_tokens",
            "limits.max_context_tokens",
        ],
        |config| {
            let window = config.limits.max_context_tokens?.tokens();
            let parts = [
                config.memory.tokens.0,
                config.goals.prompt_tokens.0,
                config.own.prompt_tokens.0,
            ];
            let all: u32 = parts.iter().sum();
            (all > window).then(|| {
                format!(
                    "memory.tokens, goals.prompt_tokens and own.prompt_tokens are {all} together, more than \
                     limits.max_context_tokens ({window}); lower them"
                )
            })
        },
    ),
    warned(&["sleep.enabled"], |config| {
        let zone = find("sleep.time_zone").ok()?;
        (config.sleep.enabled && config.given(zone).is_none()).then(|| {
            format!(
                "sleep.enabled is true and sleep.time_zone is not set, so it falls asleep at {} o'clock in {}; set sleep.time_zone",
                config.sleep.start_hour.0, config.sleep.time_zone
            )
        })
    }),
    warned(&["execution.contexts"], |config| {
        let decided = config.execution.contexts.get(&ContextType::PreCompaction)?;
        let alone = ContextConfig {
            max_iterations: decided.max_iterations,
            ..ContextConfig::default()
        };
        (*decided != alone).then(|| {
            "execution.contexts.pre_compaction: facts are extracted with a prompt of their own, so only max_iterations has an effect; remove the other values"
                .to_owned()
        })
    }),
    warned(
        &["execution.sub_agent_budget", "execution.sub_agents_enabled"],
        |config| {
            let execution = &config.execution;
            (execution.sub_agents_enabled && execution.sub_agent_budget.0 == 0).then(|| {
            "execution.sub_agent_budget is 0, so no task is delegated although execution.sub_agents_enabled is true; raise it"
                .to_owned()
        })
        },
    ),
];

/// Settings of one unit that rise in this order.
struct Order {
    settings: &'static [&'static str],
    /// Whether equal values are wrong, too.
    strictly: bool,
    /// What follows if they do not rise, and how to mend it.
    problem: &'static str,
}

const fn rising(settings: &'static [&'static str], problem: &'static str) -> Order {
    Order {
        settings,
        strictly: false,
        problem,
    }
}

const ORDERS: &[Order] = &[
    rising(
        &[
            "compaction.sleep_threshold",
            "compaction.emergency_threshold",
        ],
        "earlier turns are always shortened while somebody waits; lower sleep_threshold",
    ),
    Order {
        settings: &["provider.max_tokens", "limits.max_context_tokens"],
        strictly: true,
        problem: "no room is left for a prompt; lower max_tokens",
    },
    rising(
        &["provider.first_byte_timeout", "provider.timeout"],
        "an attempt ends earlier; raise timeout, or lower first_byte_timeout",
    ),
    rising(
        &["provider.between_bytes_timeout", "provider.timeout"],
        "an attempt ends earlier; raise timeout, or lower between_bytes_timeout",
    ),
    rising(
        &["tools.first_pause", "tools.longest_pause"],
        "so the first pause is shortened, too; raise longest_pause",
    ),
    rising(
        &["goals.attempts", "goals.turns"],
        "a goal is blocked earlier; lower attempts",
    ),
    Order {
        settings: &["goals.divide_after", "goals.attempts"],
        strictly: true,
        problem: "a goal is blocked before it is divided; lower divide_after",
    },
    rising(
        &[
            "budgets.tokens_per_tick",
            "budgets.tokens_per_hour",
            "budgets.tokens_per_day",
            "budgets.tokens_per_assistant",
        ],
        "the first never limits anything; lower it, or remove it",
    ),
    rising(
        &[
            "budgets.dollars_per_tick",
            "budgets.dollars_per_hour",
            "budgets.dollars_per_day",
            "budgets.dollars_per_assistant",
        ],
        "the first never limits anything; lower it, or remove it",
    ),
];

/// A setting without which others have no effect.
struct Switch {
    /// Whether they have an effect.
    is_on: fn(&Config) -> bool,
    /// What turns it on, as in the file.
    on: &'static str,
    /// What depends on it.
    settings: &'static [&'static str],
}

const SWITCHES: &[Switch] = &[
    Switch {
        is_on: |config| config.execution.sub_agents_enabled,
        on: "execution.sub_agents_enabled = true",
        settings: &[
            "execution.sub_agent_budget",
            "execution.personality_insulation",
            "execution.delegate_assistant_tag",
            "execution.result_summarization",
            "delegation.timeout",
            "delegation.depth",
            "delegation.tasks",
            "delegation.tokens",
        ],
    },
    Switch {
        is_on: |config| config.execution.task_assessment_enabled,
        on: "execution.task_assessment_enabled = true",
        settings: &["execution.use_quick_assessment", "execution.trusted_api"],
    },
    Switch {
        is_on: |config| config.compaction.enabled,
        on: "compaction.enabled = true",
        settings: &[
            "compaction.emergency_threshold",
            "compaction.sleep_threshold",
            "compaction.preserve_window",
            "compaction.extract_facts",
            "compaction.prompt",
        ],
    },
    Switch {
        is_on: |config| config.trust.approval == ApprovalRule::Required,
        on: "trust.approval = \"required\"",
        settings: &["trust.approval_expires"],
    },
    Switch {
        is_on: |config| config.memory.privacy == Privacy::Kept,
        on: "memory.privacy = \"kept\"",
        settings: &["memory.public_channels", "memory.public_places"],
    },
    Switch {
        is_on: |config| config.goals.pursue,
        on: "goals.pursue = true",
        settings: &[
            "goals.pursue_trust",
            "goals.attempts",
            "goals.turns",
            "goals.retry_after",
            "goals.divide_after",
        ],
    },
    Switch {
        is_on: |config| config.sleep.enabled,
        on: "sleep.enabled = true",
        settings: &[
            "sleep.start_hour",
            "sleep.duration_hours",
            "sleep.time_zone",
        ],
    },
    Switch {
        is_on: |config| config.tools.breaker_failures.0 > 0,
        on: "tools.breaker_failures to 1 or more",
        settings: &["tools.breaker_window", "tools.breaker_cooldown"],
    },
    Switch {
        is_on: |config| config.memory.tokens.0 > 0,
        on: "memory.tokens to 1 or more",
        settings: &["memory.timeout"],
    },
];

impl Config {
    /// Checks that settings that depend on each other agree.
    pub(super) fn agree(&self) -> Result<(), Conflict> {
        let refused = self.compared(Weight::Refused).next();
        refused.map_or(Ok(()), Err)
    }

    /// Checks what the world of the assistants can refuse: the name of the configured one.
    ///
    /// # Errors
    ///
    /// A [`Conflict`] with the place of the value.
    pub fn fits_into(&self, world: &Landmarks) -> Result<(), Conflict> {
        let Some(name) = &self.assistant.name else {
            return Ok(());
        };
        world.check_name(name).map_err(|rejection| {
            let problem = format!("assistant.name is {name:?}: {rejection}");
            self.conflict(&["assistant.name"], problem)
        })
    }

    /// What an operator probably did not mean: settings without effect, in the wrong order, or with ids that this world does not
    /// have. Each warning says where the value was given, and what to do.
    #[must_use]
    pub fn warnings(&self, world: &Landmarks) -> Vec<String> {
        let compared = self.compared(Weight::Warned).chain(self.out_of_order());
        let compared = compared.chain(self.without_effect());
        let unmatched = world::unmatched(&self.classify, &self.memory, world).into_iter();
        let unmatched = unmatched.map(|(setting, problem)| self.conflict(&[setting], problem));
        compared.chain(unmatched).map(|it| it.to_string()).collect()
    }

    fn compared(&self, weight: Weight) -> impl Iterator<Item = Conflict> + '_ {
        let checks = CHECKS.iter().filter(move |check| check.weight == weight);
        checks.filter_map(|check| Some(self.conflict(check.settings, (check.problem)(self)?)))
    }

    fn out_of_order(&self) -> impl Iterator<Item = Conflict> + '_ {
        ORDERS.iter().filter_map(|order| {
            let value = |name: &&'static str| Some((*name, self.in_force(find(name).ok()?)?));
            let given: Vec<_> = order.settings.iter().filter_map(value).collect();
            let mut pairs = given.iter().zip(given.iter().skip(1));
            let ((low, small), (high, large)) = pairs.find(|((_, small), (_, large))| {
                let (small, large) = (small.as_f64(), large.as_f64());
                small > large || (order.strictly && small == large)
            })?;
            let values = format!(
                "{low} is {}, and {high} is {}",
                inline(small),
                inline(large)
            );
            Some(self.conflict(&[low, high], format!("{values}: {}", order.problem)))
        })
    }

    fn without_effect(&self) -> impl Iterator<Item = Conflict> + '_ {
        let off = SWITCHES.iter().filter(|switch| !(switch.is_on)(self));
        off.flat_map(|switch| {
            let given = switch.settings.iter().copied();
            let given = given.filter(|name| self.given_by_name(name).is_some());
            given.map(|name| {
                let problem = format!("{name} has no effect now; set {}, or remove it", switch.on);
                self.conflict(&[name], problem)
            })
        })
    }

    fn given_by_name(&self, name: &str) -> Option<&Given> {
        let setting: &Setting = find(name).ok()?;
        self.given(setting)
    }

    /// A conflict at the first of these settings that somebody gave, or else at the first one, without a place.
    fn conflict(&self, settings: &[&'static str], problem: String) -> Conflict {
        let given = settings
            .iter()
            .find(|name| self.given_by_name(name).is_some());
        let setting = given.or(settings.first()).copied().unwrap_or_default();
        let place = self.given_by_name(setting);
        Conflict {
            setting,
            place: place.map(|given| given.origin.place()),
            problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn warnings(text: &str) -> Vec<String> {
        let config = crate::config::parse(Some(Path::new("a.toml")), text).unwrap();
        config.warnings(&Landmarks::default())
    }

    #[test]
    fn all_compared_settings_exist() {
        let compared = CHECKS.iter().flat_map(|check| check.settings);
        let ordered = ORDERS.iter().flat_map(|order| order.settings);
        let compared = compared.chain(ordered);
        let switched = SWITCHES.iter().flat_map(|switch| switch.settings);
        for name in compared.chain(switched) {
            assert_eq!(find(name).map(|it| it.name.as_str()), Ok(*name));
        }
        assert_eq!(warnings(""), [""; 0]);
    }

    #[test]
    fn a_contradiction_is_refused_with_its_place() {
        let text = "[prompt]\ntemplate = \"gruff\"\n";
        let config = crate::config::parse(Some(Path::new("a.toml")), text).unwrap();
        assert_eq!(
            config.agree().unwrap_err().to_string(),
            "a.toml:2:12: prompt.template is \"gruff\"; expected default or a name in prompt.templates"
        );
    }

    #[test]
    fn each_pair_that_an_operator_would_trip_over_is_reported_with_its_place_and_what_to_do() {
        for (text, expected) in [
            (
                "[compaction]\nemergency_threshold = 0.5\n",
                "a.toml:2:23: compaction.sleep_threshold is 0.7, and compaction.emergency_threshold is 0.5: earlier turns are always shortened",
            ),
            (
                "[provider]\nmax_tokens = 4096\n[limits]\nmax_context_tokens = 4096\n",
                "a.toml:2:14: provider.max_tokens is 4096, and limits.max_context_tokens is 4096: no room is left",
            ),
            (
                "[limits]\nmax_context_tokens = 2048\n[memory]\ntokens = 2000\n",
                "a.toml:4:10: memory.tokens, goals.prompt_tokens and own.prompt_tokens are 2800 together",
            ),
            (
                "[provider]\ntimeout = 30\n",
                "a.toml:2:11: provider.first_byte_timeout is 60, and provider.timeout is 30: an attempt ends earlier",
            ),
            (
                "[tools]\nlongest_pause = 2\nfirst_pause = 3\n",
                "a.toml:3:15: tools.first_pause is 3, and tools.longest_pause is 2: so the first pause",
            ),
            (
                "[goals]\nturns = 2\n",
                "a.toml:2:9: goals.attempts is 3, and goals.turns is 2: a goal is blocked earlier",
            ),
            (
                "[goals]\ndivide_after = 3\n",
                "a.toml:2:16: goals.divide_after is 3, and goals.attempts is 3: a goal is blocked before it is divided",
            ),
            (
                "[sleep]\nenabled = true\n",
                "a.toml:2:11: sleep.enabled is true and sleep.time_zone is not set, so it falls asleep at 2 o'clock in UTC",
            ),
            (
                "[execution]\nsub_agents_enabled = true\nsub_agent_budget = 0\n",
                "a.toml:3:20: execution.sub_agent_budget is 0",
            ),
            (
                "[budgets]\ntokens_per_day = 100\ntokens_per_tick = 200\n",
                "a.toml:3:19: budgets.tokens_per_tick is 200, and budgets.tokens_per_day is 100: the first never limits",
            ),
            (
                "[budgets]\ndollars_per_hour = 2\ndollars_per_day = 1.5\n",
                "a.toml:2:20: budgets.dollars_per_hour is 2, and budgets.dollars_per_day is 1.5: the first never limits",
            ),
            (
                "[delegation]\ndepth = 3\n",
                "a.toml:2:9: delegation.depth has no effect now; set execution.sub_agents_enabled = true, or remove it",
            ),
        ] {
            let found = warnings(text);
            assert!(
                found.iter().any(|warning| warning.starts_with(expected)),
                "{expected}\n{found:#?}"
            );
        }
    }
}
