//! The table of all settings: their names, sentences, types, bounds, units and defaults, as the sections declare them.

use std::sync::LazyLock;

use dormouse_contracts::invariant;
use dormouse_redact::{RedactionProfile, scan};
use dormouse_tools::closest;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Config, section::Section, sections, values::inline};

/// One setting.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name, as in `limits.tick_rate`.
    pub name: String,
    /// What it is for, in one sentence.
    pub sentence: String,
    /// Its names in the reference documents.
    pub aliases: Vec<String>,
    /// When a value applies.
    pub applies: Applies,
    /// Whether its value may contain a key.
    pub may_hold_a_key: MayHoldAKey,
    /// Its default value.
    pub default: Option<Value>,
    /// What happens without a value; absent if the setting has a default.
    pub unset: Option<String>,
    example: Option<Value>,
    schema: Map<String, Value>,
}

/// Whether a value may contain a key, and so must not be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayHoldAKey {
    /// No: it is printed.
    No,
    /// It is an address. It is printed unless it contains a user name or a query.
    InAnAddress,
    /// It is never printed.
    Yes,
}

/// When a value applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Applies {
    /// From the next tick of the assistant on. It can be changed while the program runs.
    NextTick,
    /// When the program starts next. An event cannot change it.
    Start,
}

/// A name that is not the name of a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownSetting {
    /// The reference documents have it.
    #[error("{name} is not a setting: {why}")]
    Documented {
        /// The name.
        name: String,
        /// What there is instead, or why it is missing.
        why: &'static str,
    },
    /// It is unknown.
    #[error("{name} is not a setting{}", suggestion(nearest))]
    Nobody {
        /// The name.
        name: String,
        /// The names that are most like it.
        nearest: Vec<String>,
    },
}

fn suggestion(nearest: &[String]) -> String {
    match nearest {
        [] => "; `dormouse config list` prints all of them".to_owned(),
        _ => format!("; did you mean {}?", nearest.join(" or ")),
    }
}

/// An attribute of the reference documents that is not a setting here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its name in the documents.
    pub name: &'static str,
    /// What there is instead.
    pub why: &'static str,
}

/// Attributes that are missing on purpose, and what there is instead.
const REPLACED: &[(&str, &str)] = &[
    (
        "llm_auth_token",
        "a key is never a setting; it stays in the environment, or provider.key_from says where it is",
    ),
    (
        "default_tool_timeout",
        "each tool declares its own time limit",
    ),
    (
        "character_dbref",
        "the character belongs to the assistant's key",
    ),
    ("max_log_entries", "the event log keeps everything"),
    (
        "compact_model",
        "provider.uses has a list of models for compaction",
    ),
    (
        "last_compaction",
        "it is not a setting; the status says when earlier turns were left out last",
    ),
    (
        "user_entity",
        "an assistant has no owner: what somebody may do depends on tokens, on access to the folder, and on what a world \
         attests about them",
    ),
];

static TABLE: LazyLock<Vec<Setting>> = LazyLock::new(read);

/// Every setting, in the order of the documented file.
#[must_use]
pub fn settings() -> &'static [Setting] {
    &TABLE
}

/// Attributes of the documents that are not settings here.
pub fn missing() -> impl Iterator<Item = Missing> {
    REPLACED.iter().map(|&(name, why)| Missing { name, why })
}

/// The JSON Schema of the configuration file (2020-12).
#[must_use]
pub fn schema() -> Value {
    settings_schema::<Config>()
}

fn settings_schema<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    plain(&mut schema);
    schema
}

/// Removes what TOML cannot express, and rounds `f32` values to the decimal number that was meant.
fn plain(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // Rust's `Option` has a null, and TOML has none: the field is left out.
            fields.retain(|name, value| !(name == "default" && value.is_null()));
            // The bounds of Rust's integers are not bounds of a setting.
            if fields
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(|format| format.contains("int"))
            {
                fields.remove("format");
            }
            fields.values_mut().for_each(plain);
        }
        Value::Array(values) => values.iter_mut().for_each(plain),
        Value::Number(number) => {
            if let Some(rounded) = super::values::rounded(number) {
                *number = rounded;
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The sections, and the names of their settings, in the order of the documented file.
pub(super) const SECTIONS: [(&str, &[&str]); 22] = [
    ("assistant", sections::AssistantSection::NAMES),
    ("limits", sections::LimitsSection::NAMES),
    ("admission", super::AdmissionSection::NAMES),
    ("execution", sections::ExecutionSection::NAMES),
    ("prompt", super::PromptSection::NAMES),
    ("classify", sections::ClassifySection::NAMES),
    ("provider", super::ProviderSection::NAMES),
    ("memory", super::MemorySection::NAMES),
    ("compaction", super::CompactionSection::NAMES),
    ("trust", sections::TrustSection::NAMES),
    ("goals", super::GoalsSection::NAMES),
    ("delegation", super::DelegationSection::NAMES),
    ("own", super::OwnSection::NAMES),
    ("journal", super::JournalSection::NAMES),
    ("sleep", super::SleepSection::NAMES),
    ("tools", super::ToolsSection::NAMES),
    ("budgets", super::BudgetsSection::NAMES),
    ("world", super::WorldSection::NAMES),
    ("server", super::ServerSection::NAMES),
    ("telemetry", super::TelemetrySection::NAMES),
    ("evennia", super::EvenniaSection::NAMES),
    ("mcp", super::McpSection::NAMES),
];

/// The schema of a field.
fn property<'a>(schema: &'a Value, name: &str) -> &'a Value {
    let field = schema.get("properties").and_then(|fields| fields.get(name));
    invariant!(
        field,
        "the table names only fields that exist",
        &Value::Null
    )
}

fn read() -> Vec<Setting> {
    let schema = schema();
    let text =
        |schema: &Value, name: &str| schema.get(name).and_then(Value::as_str).map(str::to_owned);
    let setting = |name: String, schema: &Value, section: &Value| {
        let when = text(schema, "x-when").or_else(|| text(section, "x-when"));
        Setting {
            sentence: text(schema, "description")
                .map(|sentence| sentence.trim_end_matches('.').to_owned())
                .unwrap_or_default(),
            aliases: text(schema, "x-alias").into_iter().collect(),
            applies: match when.as_deref() {
                Some("next_tick") => Applies::NextTick,
                _ => Applies::Start,
            },
            may_hold_a_key: match text(schema, "x-may-hold-a-key").as_deref() {
                None => MayHoldAKey::No,
                Some("in an address") => MayHoldAKey::InAnAddress,
                Some(_) => MayHoldAKey::Yes,
            },
            default: schema.get("default").cloned(),
            unset: text(schema, "x-unset"),
            example: schema.get("x-example").cloned(),
            schema: schema.as_object().cloned().unwrap_or_default(),
            name,
        }
    };
    let mut settings = Vec::new();
    for (section, names) in SECTIONS {
        let section_schema = property(&schema, section);
        settings.extend(names.iter().map(|name| {
            let schema = property(section_schema, name);
            setting(format!("{section}.{name}"), schema, section_schema)
        }));
    }
    let prices = property(&schema, "prices");
    settings.push(setting("prices".to_owned(), prices, prices));
    settings
}

/// The setting with this name, this documented alias, or this last part of a name if only one has it.
///
/// # Errors
///
/// [`UnknownSetting`], with the names that are most like it.
pub fn find(name: &str) -> Result<&'static Setting, UnknownSetting> {
    let last = |setting: &Setting| setting.name.rsplit('.').next() == Some(name);
    let mut matching = settings().iter().filter(|setting| last(setting));
    let exact = settings().iter().find(|setting| setting.name == name);
    let aliased = || {
        settings()
            .iter()
            .find(|setting| setting.aliases.iter().any(|alias| alias == name))
    };
    if let Some(setting) = exact.or_else(aliased) {
        return Ok(setting);
    }
    if let (Some(setting), None) = (matching.next(), matching.next()) {
        return Ok(setting);
    }
    if let Some(missing) = missing().find(|missing| missing.name == name) {
        return Err(UnknownSetting::Documented {
            name: name.to_owned(),
            why: missing.why,
        });
    }
    Err(UnknownSetting::Nobody {
        name: name.to_owned(),
        nearest: nearest(name),
    })
}

/// The names of settings that are most like this one.
pub(super) fn nearest(name: &str) -> Vec<String> {
    let names = settings().iter().flat_map(|setting| {
        let last = setting.name.rsplit('.').next().unwrap_or_default();
        let names = [setting.name.as_str(), last].into_iter();
        let names = names.chain(setting.aliases.iter().map(String::as_str));
        names
            .map(|written| (written, setting.name.as_str()))
            .collect::<Vec<_>>()
    });
    let names: Vec<_> = names.collect();
    let near = closest(name, names.iter().map(|(written, _)| *written));
    let mut found: Vec<String> = Vec::new();
    for written in near {
        for (_, name) in names.iter().filter(|(other, _)| *other == written) {
            if found.iter().all(|known| known != name) {
                found.push((*name).to_owned());
            }
        }
    }
    found
}

impl Setting {
    /// Whether this value, as text, can be printed without showing a key.
    #[must_use]
    pub fn can_be_shown(&self, value: &str) -> bool {
        let can_be_shown = match self.may_hold_a_key {
            MayHoldAKey::No => true,
            MayHoldAKey::InAnAddress => !has_user_or_query(value),
            MayHoldAKey::Yes => false,
        };
        // Users put keys in unexpected places, so the value is also scanned.
        can_be_shown && scan(value.as_bytes(), RedactionProfile::Values).is_empty()
    }

    /// The section, and the name in it; the section is empty for a list of tables.
    pub(super) fn place(&self) -> (&str, &str) {
        self.name.split_once('.').unwrap_or(("", &self.name))
    }

    /// The name of its environment variable, such as `DORMOUSE_LIMITS__TICK_RATE`.
    #[must_use]
    pub fn variable(&self) -> String {
        let (section, name) = self.place();
        match section {
            "" => format!("{PREFIX}{}", name.to_uppercase()),
            _ => format!(
                "{PREFIX}{}__{}",
                section.to_uppercase(),
                name.to_uppercase()
            ),
        }
    }

    /// What a value can be, as in "1 to 3600 seconds".
    #[must_use]
    pub fn expects(&self) -> String {
        if let Some(Value::String(expected)) = self.schema.get("x-expects") {
            return expected.clone();
        }
        if let Some(Value::Array(words)) = self.schema.get("enum") {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            return words.join(", ");
        }
        if let Some(bounds) = self.bounds() {
            return bounds;
        }
        let of_type = |name: &str| self.schema.get("type").is_some_and(|kind| kind == name);
        let kinds = [
            ("boolean", "true or false"),
            ("string", "a text"),
            ("array", "a list"),
            ("object", "a table"),
        ];
        let kind = kinds.iter().find(|(name, _)| of_type(name));
        kind.map_or("a text or a table", |(_, text)| text)
            .to_owned()
    }

    /// The bounds of a number with their unit, as in "1 to 3600 seconds".
    pub(super) fn bounds(&self) -> Option<String> {
        let bound = |name: &str| self.schema.get(name).map(inline);
        let (low, high) = (bound("minimum")?, bound("maximum")?);
        let but = self.schema.get("not").and_then(|not| not.get("const"));
        let bounds = match but.and_then(Value::as_u64) {
            Some(but) => format!("{low}, or {} to {high}", but + 1),
            None => format!("{low} to {high}"),
        };
        let unit = self.schema.get("x-unit").and_then(Value::as_str);
        Some(unit.map_or(bounds.clone(), |unit| format!("{bounds} {unit}")))
    }

    /// Whether a value needs no quotes at a command line, because it is a text or not valid TOML.
    pub(super) fn is_text(&self) -> bool {
        self.schema.get("type").is_some_and(|kind| kind == "string")
    }

    /// A value for the commented example.
    fn shown(&self) -> Option<&Value> {
        self.example.as_ref().or(self.default.as_ref())
    }
}

/// Whether an address in the text has the name of a user, or a query.
fn has_user_or_query(text: &str) -> bool {
    let Some((_, address)) = text.split_once("://") else {
        return text.contains('?');
    };
    address.contains(['@', '?'])
}

/// The prefix of environment variables that give values.
pub(super) const PREFIX: &str = "DORMOUSE_";

/// A file with every setting, commented out, as `dormouse init` writes it and `docs/configuration.md` shows it.
#[must_use]
pub fn example() -> String {
    let schema = schema();
    let mut text = String::new();
    for (section, _) in SECTIONS {
        let description = property(&schema, section)
            .get("description")
            .and_then(Value::as_str);
        let description = description.unwrap_or_default();
        let blank = if text.is_empty() { "" } else { "\n" };
        text += &format!("{blank}# {description}\n[{section}]\n");
        for setting in settings()
            .iter()
            .filter(|setting| setting.place().0 == section)
        {
            text += &entry(setting);
        }
    }
    text + PRICES
}

/// The lines of one setting.
fn entry(setting: &Setting) -> String {
    let mut sentence = setting.sentence.clone();
    let expects = setting.expects();
    let says_more = setting.schema.contains_key("minimum") || setting.schema.contains_key("enum");
    if says_more {
        sentence += &format!(" ({expects})");
    }
    if let Some(unset) = &setting.unset {
        sentence += &format!("; default: {unset}");
    }
    let (_, name) = setting.place();
    let value = setting.shown().map(inline).unwrap_or_default();
    format!("# {sentence}\n#{name} = {value}\n")
}

/// Prices are a list of tables.
const PRICES: &str = r#"
# In dollars for a million tokens; overrides the list prices that the program knows. `model` is a name, or the beginning of a name followed by *.
#[[prices]]
#provider = "local"
#model = "*"
#input = 0.0
#output = 0.0
"#;

#[cfg(test)]
mod tests;
