//! Which tools a prompt offers where the definitions of all of them take more tokens than they may.
//!
//! Pure. The choice depends on the tools that a kind of tick allows, the budget, what the turn is about, and what was offered
//! before. Its rules:
//!
//! - The *core* is always offered: tools that speak, and the engine's own. Only the others are chosen.
//! - Nothing is ever chosen that the kind of tick does not allow: a [`Catalogue`] has no other tools.
//! - Without need nothing changes, because the definitions are at the beginning of a prompt, and a changed beginning is paid for
//!   again. Therefore the definitions keep the order of the registry, too.
//! - Descriptions are text of the servers that run the tools. Only their beginning is searched, each word of it counts once, and a
//!   tool takes one place, so a description full of keywords displaces at most one other tool.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{
    Timestamp, TokenCounter, ToolDefinition, ToolName, ToolReach, ToolSpec, invariant,
};
use dormouse_retrieval::{
    Config, Feature, Index, SearchQuery, Unit, Weights, base_form, is_stop_word, words,
};
use dormouse_text::{beginning, escape_template_tokens, one_line, shortened};
use dormouse_tools::Registry;
use serde_json::Value;

/// How much of a description is searched, in characters.
const SEARCHED: usize = 400;
/// How many parameters are searched, and how much of the description of each.
const PARAMETERS: usize = 12;
const PARAMETER: usize = 60;
/// How many different words of a tool are searched, common ones not counted.
const WORDS: usize = 60;
/// How much of a description a search shows, in characters.
const LINE: usize = 140;
/// How much of what a turn is about is read, in characters.
const QUERY: usize = 2_000;
/// Matches with a lower share of the best score are not shown.
const LEAST_SHARE: f32 = 0.35;
/// How many tools one search finds.
pub(crate) const FOUND: usize = 8;
/// How many of the tools that match a message best have to be offered.
const NEEDED: usize = 4;
/// How many of them are offered if the choice changes anyway and there is room.
const WELCOME: usize = 24;

/// Whether a tool is offered in each prompt that has room for it.
pub(crate) fn is_core(tool: &ToolSpec) -> bool {
    tool.reach == ToolReach::Builtin || tool.speech.is_some()
}

/// How many tokens a definition takes, with the comma behind it.
fn tokens_of(tool: &ToolSpec, counter: &dyn TokenCounter) -> u32 {
    let definition = ToolDefinition::from(tool);
    let json = invariant!(
        serde_json::to_string(&definition),
        "the definition of a tool is JSON"
    );
    counter.count(&json).tokens.saturating_add(1)
}

/// The tools among which a kind of tick chooses.
#[derive(Clone, Debug)]
pub(crate) struct Catalogue {
    /// The most tokens of all definitions that a prompt offers.
    budget: u32,
    /// How many tokens the core takes.
    core: u32,
    /// The other tools, in the order in which they are offered.
    rows: Vec<Row>,
    places: BTreeMap<ToolName, usize>,
    index: Index,
}

#[derive(Clone, Debug)]
struct Row {
    name: ToolName,
    tokens: u32,
    /// What a search shows of the description.
    line: String,
}

/// What a turn needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs<'a> {
    /// Tools that were searched for in this turn, the latest first.
    pub(crate) found: Vec<ToolName>,
    /// Tools that were called lately in this conversation, the latest first.
    pub(crate) called: Vec<ToolName>,
    /// What the turn is about.
    pub(crate) about: &'a str,
}

/// A tool that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundTool<'a> {
    pub(crate) name: &'a ToolName,
    pub(crate) line: &'a str,
}

impl Catalogue {
    /// The choice among these tools; `None` if all of them fit the budget, or if there is no budget (0).
    pub(crate) fn of(tools: &Registry, budget: u32, counter: &dyn TokenCounter) -> Option<Self> {
        if budget == 0 {
            return None;
        }
        let counted = tools.specs().map(|tool| (tool, tokens_of(tool, counter)));
        let (core, others): (Vec<_>, Vec<_>) = counted.partition(|(tool, _)| is_core(tool));
        let sum = |counted: &[(&ToolSpec, u32)]| {
            let tokens = counted.iter().map(|(_, tokens)| *tokens);
            tokens.fold(0, u32::saturating_add)
        };
        let (core, all) = (sum(&core), sum(&others));
        if core.saturating_add(all) <= budget || others.is_empty() {
            return None;
        }
        let mut index = Index::new(index_config());
        let mut rows = Vec::new();
        for (tool, tokens) in others {
            index.insert(&Unit {
                id: rows.len() as u64,
                text: &searched(tool),
                speaker: None,
                thread: None,
                at: Timestamp::EPOCH,
            });
            rows.push(Row {
                name: tool.name.clone(),
                tokens,
                line: line(&tool.description),
            });
        }
        let names = rows.iter().map(|row| row.name.clone());
        Some(Self {
            budget,
            core,
            places: names.zip(0..).collect(),
            rows,
            index,
        })
    }

    /// The same with this tool in the core.
    pub(crate) fn with_core(mut self, tool: &ToolSpec, counter: &dyn TokenCounter) -> Self {
        self.core = self.core.saturating_add(tokens_of(tool, counter));
        self
    }

    /// How many tools are not part of the core.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether a tool is one of those among which is chosen.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.row(name).is_some()
    }

    fn row(&self, name: &str) -> Option<&Row> {
        // A name that is not valid is not the name of a tool.
        let name = ToolName::try_new(name).ok()?;
        self.rows.get(*self.places.get(&name)?)
    }

    /// Whether there is room for this tool if no other one is chosen.
    pub(crate) fn has_room_for(&self, name: &str) -> bool {
        self.row(name)
            .is_some_and(|row| self.core.saturating_add(row.tokens) <= self.budget)
    }

    /// Those of these tools that are allowed and have room next to the core, in this order. One without room is left out, and
    /// the next ones are tried.
    pub(crate) fn fitting<'a>(
        &self,
        names: impl IntoIterator<Item = &'a ToolName>,
    ) -> Vec<ToolName> {
        let mut taken = self.core;
        let mut seen = BTreeSet::new();
        let mut fitting = Vec::new();
        for name in names {
            let row = self.places.get(name).and_then(|at| self.rows.get(*at));
            let Some(row) = row.filter(|_| seen.insert(name)) else {
                continue;
            };
            let sum = taken.saturating_add(row.tokens);
            if sum <= self.budget {
                taken = sum;
                fitting.push(name.clone());
            }
        }
        fitting
    }

    /// How many tokens the core and these tools take.
    pub(crate) fn tokens(&self, chosen: &[ToolName]) -> u32 {
        let rows = chosen.iter().filter_map(|name| self.places.get(name));
        let rows = rows.filter_map(|at| self.rows.get(*at));
        rows.map(|row| row.tokens)
            .fold(self.core, u32::saturating_add)
    }

    /// The tools to offer in addition to the core, the most needed first, if `offered` are offered now. These stay as they are if
    /// they have all that is needed. Choosing again with the result gives the same result.
    pub(crate) fn choose(&self, needs: &Needs<'_>, offered: &[ToolName]) -> Vec<ToolName> {
        let offered = self.fitting(offered);
        let matching = self.matching(needs.about, WELCOME);
        let certain = needs.found.iter().chain(&needs.called);
        let needed = self.fitting(certain.chain(matching.iter().take(NEEDED).copied()));
        if needed.iter().all(|name| offered.contains(name)) {
            return offered;
        }
        self.fitting(needed.iter().chain(matching).chain(&offered))
    }

    /// The tools whose words match `words`, best first.
    pub(crate) fn search(&self, words: &str) -> Vec<FoundTool<'_>> {
        let found = self.matches(words, FOUND);
        let found = found.into_iter().map(|row| FoundTool {
            name: &row.name,
            line: &row.line,
        });
        found.collect()
    }

    fn matching(&self, words: &str, most: usize) -> Vec<&ToolName> {
        let rows = self.matches(words, most).into_iter();
        rows.map(|row| &row.name).collect()
    }

    fn matches(&self, words: &str, most: usize) -> Vec<&Row> {
        let query = SearchQuery::new(beginning(words, QUERY));
        let found = self.index.search(&query, most);
        let best = found.first().map_or(0.0, |best| best.score);
        let near = found
            .into_iter()
            .filter(|it| it.score >= best * LEAST_SHARE);
        let rows = near.filter_map(|it| self.rows.get(usize::try_from(it.id).ok()?));
        rows.collect()
    }
}

/// Only the words of a tool count: it has no neighbours, no speaker and no time.
fn index_config() -> Config {
    let none = Feature::ALL
        .into_iter()
        .fold(Weights::lexical(), |weights, it| weights.with(it, 0.0));
    Config {
        max_terms_per_unit: 2 * WORDS,
        // A tool is one passage.
        passage_words: 10 * WORDS,
        lexical_weights: none.with(Feature::Reach, 2.0).with(Feature::Turn, 1.0),
        ..Config::default()
    }
}

/// The words by which a tool is found: those of its name, which count twice, then each word of its description and parameters
/// once.
fn searched(tool: &ToolSpec) -> String {
    let name = spaced(tool.name.as_str());
    let mut text = format!("{name}\n{}", beginning(&tool.description, SEARCHED));
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    for (key, schema) in properties.into_iter().flatten().take(PARAMETERS) {
        let about = schema.get("description").and_then(Value::as_str);
        let about = beginning(about.unwrap_or_default(), PARAMETER);
        text.push_str(&format!("\n{} {about}", spaced(key)));
    }
    let mut seen = BTreeSet::new();
    let once = words(&text).into_iter();
    let once = once.filter(|word| !is_stop_word(word) && seen.insert(base_form(word)));
    let once: Vec<_> = once.take(WORDS).collect();
    format!("{name} {}", once.join(" "))
}

/// A name as words: `getCurrentWeather` and `get_current_weather` are "get current weather".
fn spaced(name: &str) -> String {
    let mut words = String::new();
    let mut was_small = false;
    for letter in name.chars() {
        if letter.is_uppercase() && was_small {
            words.push(' ');
        }
        was_small = letter.is_lowercase();
        words.push(if letter.is_alphanumeric() {
            letter
        } else {
            ' '
        });
    }
    words
}

/// The beginning of a description on one line, without anything that a model could take for a part of its prompt.
fn line(description: &str) -> String {
    let text = one_line(beginning(description, 2 * LINE));
    let sentence = text.split_inclusive(". ").next().unwrap_or_default().trim();
    escape_template_tokens(&shortened(sentence, LINE)).into_owned()
}

#[cfg(test)]
mod tests;
