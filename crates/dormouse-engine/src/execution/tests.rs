//! No layer allows what an earlier one has forbidden.

use std::collections::BTreeSet;

use dormouse_contracts::{ToolCategory, Trust};
use proptest::{option, prelude::*};

use super::*;
use crate::{
    AssistantConfig, Limits,
    assessment::{ContextSignals, TaskClass},
    context::CONTEXTS,
    event::NOOP,
};

fn mode() -> impl Strategy<Value = ExecutionPattern> {
    prop_oneof![
        Just(ExecutionPattern::SingleAction),
        Just(ExecutionPattern::ReactLoop)
    ]
}

fn context_config() -> impl Strategy<Value = ContextConfig> {
    let tools = prop::sample::subsequence(vec!["memory", "journal", "say", "noop"], 0..4);
    let categories =
        prop::sample::subsequence(vec![ToolCategory::SafeChain, ToolCategory::Dangerous], 0..2);
    let components = prop::sample::subsequence(Component::ALL.to_vec(), 0..10);
    (
        option::of(components),
        option::of(tools),
        option::of(categories),
        option::of(0.0..=1.0_f32),
        option::of(mode()),
        option::of(1..=10_u32),
        option::of(0..9_000_u32),
        option::of(any::<bool>()),
        option::of(any::<bool>()),
    )
        .prop_map(
            |(components, tools, categories, trust, mode, steps, tokens, confirm, agents)| {
                ContextConfig {
                    components: components.map(BTreeSet::from_iter),
                    tools: tools.map(|tools| tools.into_iter().map(str::to_owned).collect()),
                    categories: categories.map(BTreeSet::from_iter),
                    required_trust: trust.map(|trust| Trust::try_new(trust).unwrap()),
                    mode,
                    max_iterations: steps,
                    token_budget: tokens,
                    dangerous_requires_confirm: confirm,
                    allows_sub_agents: agents,
                }
            },
        )
}

prop_compose! {
    fn settings()(
        pattern in mode(), steps in 1..=10_u32, trusted_api in any::<bool>(),
        sub_agents_enabled in any::<bool>(), sub_agent_budget in 0..9_u32,
        contexts in prop::collection::btree_map(
            prop::sample::select(CONTEXTS.iter().map(|row| row.context).collect::<Vec<_>>()), context_config(), 0..4),
    ) -> Settings {
        let mut settings = AssistantConfig::new("dormouse".parse().unwrap()).settings();
        settings.pattern = pattern;
        settings.limits = Limits::default().with_max_iterations(steps).unwrap();
        settings.execution = ExecutionConfig {
            trusted_api, sub_agents_enabled, sub_agent_budget, contexts, ..ExecutionConfig::default()
        };
        settings
    }
}

prop_compose! {
    fn assessment()(
        complexity in 0..9_u8, mode in option::of(mode()), iterations in option::of(0..99_u32), confirm in any::<bool>(),
    ) -> Assessment {
        Assessment {
            complexity, class: TaskClass::Unknown, mode, iterations, confirm_dangerous: confirm,
            signals: ContextSignals::default(),
        }
    }
}

/// Whether `after` allows nothing that `before` does not.
fn restricts(before: &TickPattern, after: &TickPattern) -> bool {
    let tools = crate::builtin_tools().unwrap();
    let is_loop = |pattern: &TickPattern| pattern.bounds.mode == ExecutionPattern::ReactLoop;
    let most = |pattern: &TickPattern| pattern.token_budget.unwrap_or(u32::MAX);
    (is_loop(before) || !is_loop(after))
        && after.bounds.max_iterations <= before.bounds.max_iterations
        && after.bounds.confirm_dangerous >= before.bounds.confirm_dangerous
        && after.components.is_subset(&before.components)
        && most(after) <= most(before)
        && after.sub_agent_budget <= before.sub_agent_budget
        && tools
            .iter()
            .all(|tool| before.tools.allows(tool) || !after.tools.allows(tool))
}

proptest! {
    #[test]
    fn a_layer_can_only_restrict_whatever_the_layers_are(
        settings in settings(), assessment in assessment(), place in 0..7_usize,
    ) {
        let context = CONTEXTS[place].context;
        let allowed = TickPattern::of_settings(&settings);
        let here = compose(&settings, context, None).pattern;
        let assessed = compose(&settings, context, Some(&assessment));
        prop_assert!(restricts(&allowed, &here), "{allowed:?} {here:?}");
        prop_assert!(restricts(&here, &assessed.pattern), "{here:?} {assessed:?}");
        // A tick can always do something: take a step, and end.
        prop_assert!(assessed.pattern.bounds.max_iterations >= 1);
        let noop = crate::builtin_tools().unwrap().into_iter().find(|tool| tool.name.as_str() == NOOP).unwrap();
        prop_assert!(assessed.pattern.tools.allows(&noop));
        for (name, layer) in &assessed.from {
            let (_, differs) = NAMES.iter().find(|(known, _)| known == name).unwrap();
            prop_assert_eq!(*layer == PatternLayer::Assessment, differs(&here, &assessed.pattern));
            prop_assert!(*layer != PatternLayer::Static || !differs(&allowed, &assessed.pattern));
        }
    }
}
