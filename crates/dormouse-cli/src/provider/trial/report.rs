//! What was tried, told as it goes.

use std::io;

use serde_json::{Map, Value};

use crate::{
    exit::Exit,
    finding::Finding,
    neutralise::indented,
    provider::command::{CommandError, Form},
};

/// One thing that was tried.
#[derive(Debug)]
pub(super) struct Check {
    name: &'static str,
    finding: Finding,
    data: Map<String, Value>,
}

impl Check {
    pub(super) fn new(name: &'static str, finding: Finding) -> Self {
        Self {
            name,
            finding,
            data: Map::new(),
        }
    }

    /// The same with a number, or something else, for programs.
    pub(super) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.data.insert(field.to_owned(), value.into());
        self
    }

    /// As programs read it.
    pub(super) fn value(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("type".to_owned(), "check".into());
        fields.insert("check".to_owned(), self.name.into());
        fields.insert("verdict".to_owned(), self.finding.word().into());
        fields.insert("text".to_owned(), self.finding.text().into());
        fields.extend(self.data.clone());
        Value::Object(fields)
    }
}

/// Tells checks, and keeps what they came to.
#[derive(Debug)]
pub(super) struct Checks {
    form: Form,
    exit: Exit,
}

impl Checks {
    pub(super) fn new(form: Form) -> Self {
        let exit = Exit::Success;
        Self { form, exit }
    }

    /// Tells one.
    pub(super) fn tell(&mut self, check: &Check) -> Result<(), CommandError> {
        if let (Finding::Wrong(_, exit), Exit::Success) = (&check.finding, self.exit) {
            self.exit = *exit;
        }
        let text = format!(
            "{:<4}  {}",
            check.finding.word(),
            indented(check.finding.text())
        );
        self.form
            .tell(&mut io::stdout().lock(), &check.value(), &text)
    }

    /// Tells them all, and answers whether nothing was wrong so far.
    pub(super) fn tell_all(&mut self, checks: Vec<Check>) -> Result<bool, CommandError> {
        for check in checks {
            self.tell(&check)?;
        }
        Ok(self.exit == Exit::Success)
    }

    pub(super) fn exit(&self) -> Exit {
        self.exit
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }
}
