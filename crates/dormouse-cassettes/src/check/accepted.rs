//! Findings that a user has accepted.

use super::{Finding, FindingKind, Part};

/// The accepted findings. `Debug` shows accepted texts: the user has declared them harmless.
#[derive(Clone, Debug, Default)]
pub struct AcceptedFindings {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
enum Rule {
    Everything,
    Kind(FindingKind),
    Text(Vec<u8>),
    Place(FindingKind, Part),
    One(Finding),
}

impl AcceptedFindings {
    /// Accepts nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Accepts everything, for a cassette that a user has read completely.
    #[must_use]
    pub fn everything() -> Self {
        Self::nothing().with(Rule::Everything)
    }

    /// Accepts a kind everywhere.
    #[must_use]
    pub fn with_kind(self, kind: FindingKind) -> Self {
        self.with(Rule::Kind(kind))
    }

    /// Accepts this exact text everywhere, as any kind.
    #[must_use]
    pub fn with_text(self, text: &str) -> Self {
        self.with(Rule::Text(text.as_bytes().to_vec()))
    }

    /// Accepts a kind in this part of every exchange.
    #[must_use]
    pub fn with_kind_in(self, kind: FindingKind, part: Part) -> Self {
        self.with(Rule::Place(kind, part))
    }

    /// Accepts this one finding at its location.
    #[must_use]
    pub fn with_finding(self, finding: Finding) -> Self {
        self.with(Rule::One(finding))
    }

    fn with(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    pub(super) fn covers(&self, finding: &Finding, found: &[u8]) -> bool {
        self.rules.iter().any(|rule| match rule {
            Rule::Everything => true,
            Rule::Kind(kind) => *kind == finding.kind,
            Rule::Text(text) => text == found,
            Rule::Place(kind, part) => *kind == finding.kind && *part == finding.part,
            Rule::One(known) => known == finding,
        })
    }
}
