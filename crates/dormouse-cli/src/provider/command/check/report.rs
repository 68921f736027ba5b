//! The checks of a model, printed as they are made.

use serde_json::{Map, Value};

use crate::{
    command::{CommandError, Printing},
    exit::Exit,
    finding::Finding,
};

/// The result of one check.
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

    /// Adds a field, such as a number, for programs.
    pub(super) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.data.insert(field.to_owned(), value.into());
        self
    }

    /// The check in the form that programs read.
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

/// Prints checks, and keeps the resulting exit code.
#[derive(Debug)]
pub(super) struct Checks {
    printing: Printing,
    exit: Exit,
}

impl Checks {
    pub(super) fn new(printing: Printing) -> Self {
        let exit = Exit::Success;
        Self { printing, exit }
    }

    /// Prints one.
    pub(super) fn print(&mut self, check: &Check) -> Result<(), CommandError> {
        if let (Finding::Wrong(_, exit), Exit::Success) = (&check.finding, self.exit) {
            self.exit = *exit;
        }
        let finding = &check.finding;
        self.printing.print(&check.value(), || {
            format!("{:<4}  {}", finding.word(), finding.text())
        })
    }

    /// Prints them all, and returns whether the model passed every check so far.
    pub(super) fn print_all(&mut self, checks: Vec<Check>) -> Result<bool, CommandError> {
        for check in checks {
            self.print(&check)?;
        }
        Ok(self.exit == Exit::Success)
    }

    pub(super) fn exit(&self) -> Exit {
        self.exit
    }

    pub(super) fn printing(&self) -> Printing {
        self.printing
    }
}
