//! The configuration that is in force, as the log records it.

use dormouse_contracts::{ServiceName, Timestamp, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::{
    config::Settings,
    event::{Configured, ConfiguredModel, Event},
};

/// What decisions read in addition to the events. Empty before the first event [`Configured`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// The program that decides, with its version.
    pub program: String,
    /// Who the assistant is.
    pub persona: String,
    /// The operator's settings.
    pub settings: Settings,
    /// The model whose tokens are counted.
    pub model: Option<ConfiguredModel>,
    /// The services that answer for the model.
    pub services: Vec<ServiceName>,
    /// The tools, in the order in which they are offered.
    pub tools: Vec<ToolSpec>,
    /// How many tokens instructions and tools take in a prompt.
    pub preamble_tokens: u32,
    /// When the assistant woke last, if a decision may depend on that.
    pub awake_since: Option<Timestamp>,
}

impl Configuration {
    /// The event that leads from this configuration to `next` with these tools instead of its own, if they differ. Nearly
    /// always they are the same, so they are not copied.
    pub(crate) fn change_to(&self, next: &Self, tools: &[&ToolSpec]) -> Option<Configured> {
        let before: Vec<_> = self.tools.iter().map(|tool| tool.name.clone()).collect();
        let after: Vec<_> = tools.iter().map(|tool| tool.name.clone()).collect();
        let new = tools.iter().filter(|tool| !self.tools.contains(tool));
        let change = Configured {
            program: changed(&self.program, &next.program),
            persona: changed(&self.persona, &next.persona),
            settings: changed(&self.settings, &next.settings).map(Box::new),
            model: changed(&self.model, &next.model).flatten(),
            services: changed(&self.services, &next.services),
            tools: changed(&before, &after),
            specs: new.map(|tool| (*tool).clone()).collect(),
            preamble_tokens: changed(&self.preamble_tokens, &next.preamble_tokens),
        };
        (change != Configured::default()).then_some(change)
    }

    pub(super) fn apply(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Configured(change) => {
                self.awake_since = Some(at);
                self.change(change.clone());
            }
            Event::Woke(_) => self.awake_since = Some(at),
            _ => {}
        }
    }

    fn change(&mut self, change: Configured) {
        let Configured {
            program,
            persona,
            settings,
            model,
            services,
            tools,
            specs,
            preamble_tokens,
        } = change;
        replace(&mut self.program, program);
        replace(&mut self.persona, persona);
        replace(&mut self.settings, settings.map(|settings| *settings));
        replace(&mut self.services, services);
        replace(&mut self.preamble_tokens, preamble_tokens);
        self.model = model.or_else(|| self.model.take());
        for spec in specs {
            match self.tools.iter_mut().find(|tool| tool.name == spec.name) {
                Some(tool) => *tool = spec,
                None => self.tools.push(spec),
            }
        }
        if let Some(names) = tools {
            let mut known = std::mem::take(&mut self.tools);
            let in_order = names.iter().filter_map(|name| {
                let place = known.iter().position(|tool| tool.name == *name)?;
                Some(known.swap_remove(place))
            });
            self.tools = in_order.collect();
        }
    }
}

fn changed<T: PartialEq + Clone>(before: &T, after: &T) -> Option<T> {
    (before != after).then(|| after.clone())
}

fn replace<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

#[cfg(test)]
mod tests {
    use dormouse_testing::FakeWorld;
    use proptest::prelude::*;

    use super::*;

    /// A configuration that depends on these numbers.
    fn configuration(persona: u8, tools: &[u8], descriptions: u8) -> Configuration {
        let known = FakeWorld::tools();
        let mut chosen: Vec<ToolSpec> = Vec::new();
        for number in tools {
            let mut tool = known[usize::from(*number) % known.len()].clone();
            if chosen.iter().all(|other| other.name != tool.name) {
                tool.description = format!("{} {}", tool.description, descriptions & number);
                chosen.push(tool);
            }
        }
        Configuration {
            program: "dormouse".to_owned(),
            persona: format!("persona {persona}"),
            tools: chosen,
            preamble_tokens: u32::from(persona),
            ..Configuration::default()
        }
    }

    proptest! {
        #[test]
        fn changes_lead_from_each_configuration_to_the_next_and_hold_only_what_differs(
            lives in prop::collection::vec((0_u8..3, prop::collection::vec(any::<u8>(), 0..6), 0_u8..3), 1..12),
        ) {
            let mut folded = Configuration::default();
            for (persona, tools, descriptions) in lives {
                let next = configuration(persona, &tools, descriptions);
                let tools: Vec<_> = next.tools.iter().collect();
                if let Some(change) = folded.change_to(&next, &tools) {
                    prop_assert_eq!(change.persona.is_some(), folded.persona != next.persona);
                    for spec in &change.specs {
                        prop_assert!(!folded.tools.contains(spec), "a known tool is not stored again");
                    }
                    folded.change(change);
                } else {
                    prop_assert_eq!(&folded, &next);
                }
                prop_assert_eq!(&folded, &next);
                prop_assert_eq!(folded.change_to(&next, &tools), None);
            }
        }
    }
}
