//! Properties of Anthropic's models, by name.
//!
//! From Anthropic's model pages, as of November 2026. A Claude model that is newer than this table is treated like the
//! newest model in it.

use dormouse_contracts::ModelName;

/// The output limit of unknown models; every model accepts at least this many tokens.
const CAUTIOUS_LIMIT: u32 = 4_096;

/// How a request controls the thinking of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThinkingForm {
    /// The model does not think.
    None,
    /// By a token budget: Claude 3.7 to 4.5, and other vendors' models behind this API.
    Budget,
    /// By an effort level: Claude 4.6 and later.
    Effort,
}

/// The model generation, from the model's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// A model by Anthropic.
    Claude {
        /// For example `(4, 5)`; `(u32::MAX, 0)`, which is newer than all others, if the name has no version.
        version: (u32, u32),
        /// Whether it is an Opus model. Early Opus models had a lower output limit.
        opus: bool,
    },
    /// Another vendor's model, or an unknown name.
    Other,
}

impl Generation {
    pub(super) fn of(model: &ModelName) -> Self {
        let name = model.as_str().to_ascii_lowercase();
        match name.split_once("claude") {
            Some((_, rest)) => Self::Claude {
                version: version(rest).unwrap_or((u32::MAX, 0)),
                opus: rest.contains("opus"),
            },
            None => Self::Other,
        }
    }

    /// Returns the maximum number of tokens in a reply.
    pub(super) fn output_limit(self) -> u32 {
        let Self::Claude { version, opus } = self else {
            return CAUTIOUS_LIMIT;
        };
        match version {
            (..3, _) | (3, 0) => CAUTIOUS_LIMIT,
            (3, ..7) => 8_192,
            (4, ..5) if opus => 32_000,
            (3, _) | (4, ..6) => 64_000,
            _ => 128_000,
        }
    }

    pub(super) fn thinking(self) -> ThinkingForm {
        match self {
            Self::Other => ThinkingForm::Budget,
            Self::Claude { version, .. } if version < (3, 7) => ThinkingForm::None,
            Self::Claude { version, .. } if version < (4, 6) => ThinkingForm::Budget,
            Self::Claude { .. } => ThinkingForm::Effort,
        }
    }

    /// Whether a request may contain only one of temperature and `top_p`. Claude 4.1 and later accept only one; for
    /// earlier ones the vendor recommends sending only one of them.
    pub(super) fn takes_one_of_both(self) -> bool {
        matches!(self, Self::Claude { .. })
    }
}

/// Parses the first number of a name and the number after it. Numbers of more than two digits, such as dates, are not
/// version numbers.
fn version(name: &str) -> Option<(u32, u32)> {
    let number = |part: &str| {
        let short = (1..=2).contains(&part.len());
        short.then(|| part.parse::<u32>().ok()).flatten()
    };
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let major = parts.find_map(number)?;
    Some((major, parts.next().and_then(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Generation {
        Generation::of(&ModelName::try_new(name).unwrap())
    }

    #[test]
    fn output_limit_and_thinking_form_follow_from_the_model_name() {
        for (name, limit, thinking) in [
            ("claude-3-haiku-20240307", 4_096, ThinkingForm::None),
            ("claude-3-5-sonnet-20241022", 8_192, ThinkingForm::None),
            ("claude-3-7-sonnet-latest", 64_000, ThinkingForm::Budget),
            ("claude-opus-4-20250514", 32_000, ThinkingForm::Budget),
            ("claude-opus-4-1", 32_000, ThinkingForm::Budget),
            (
                "anthropic.claude-sonnet-4-20250514-v1:0",
                64_000,
                ThinkingForm::Budget,
            ),
            ("anthropic/claude-opus-4.5", 64_000, ThinkingForm::Budget),
            ("claude-haiku-4-5-20251001", 64_000, ThinkingForm::Budget),
            ("claude-opus-4-6", 128_000, ThinkingForm::Effort),
            ("claude-haiku-5-5", 128_000, ThinkingForm::Effort),
            ("claude-fable-5-1", 128_000, ThinkingForm::Effort),
            ("Claude-Next", 128_000, ThinkingForm::Effort),
            ("tiny", 4_096, ThinkingForm::Budget),
            ("deepseek-v4", 4_096, ThinkingForm::Budget),
        ] {
            let generation = of(name);
            assert_eq!(generation.output_limit(), limit, "{name}");
            assert_eq!(generation.thinking(), thinking, "{name}");
        }
    }
}
