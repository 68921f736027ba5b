//! Which of OpenAI's two APIs a model is asked through.

/// Which of OpenAI's two APIs a model is asked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenAiApi {
    /// Chat completions, unless the model needs the other: at OpenAI itself models whose names say so (`gpt-5-codex`,
    /// `o3-pro`, `o4-mini-deep-research`, `computer-use-preview`), and everywhere a model whose server answers that it is to be asked
    /// through `/v1/responses`. That is remembered for as long as the model lives.
    #[default]
    Auto,
    /// Chat completions, `/v1/chat/completions`, which every compatible server knows.
    ChatCompletions,
    /// Responses, `/v1/responses`. Nothing is stored at the server: the conversation is sent whole each time.
    Responses,
}

/// Models that OpenAI serves through Responses alone, as of 2026-11: the beginning of a name, and what else is in it.
#[cfg(feature = "openai")]
const RESPONSES_ONLY: [(&str, &str); 8] = [
    ("o1", "-pro"),
    ("o3", "-pro"),
    ("o3", "-deep-research"),
    ("o4", "-deep-research"),
    ("gpt-5", "-pro"),
    ("gpt-5", "-codex"),
    ("codex-", ""),
    ("computer-use", ""),
];

#[cfg(feature = "openai")]
impl OpenAiApi {
    /// Is the model of this name at this host asked through Responses from the beginning?
    pub(super) fn begins_with_responses(self, host: &str, model: &str) -> bool {
        let is_openai = host == "openai.com" || host.ends_with(".openai.com");
        // Models that users have tuned carry the name of their origin behind a prefix.
        let name = model.strip_prefix("ft:").unwrap_or(model);
        let needs = |(begin, part): &(&str, &str)| name.starts_with(begin) && name.contains(part);
        match self {
            Self::Auto => is_openai && RESPONSES_ONLY.iter().any(needs),
            Self::ChatCompletions => false,
            Self::Responses => true,
        }
    }
}

#[cfg(all(test, feature = "openai"))]
mod tests {
    use super::*;

    #[test]
    fn only_models_that_need_it_are_asked_through_responses() {
        let auto = |model| OpenAiApi::Auto.begins_with_responses("api.openai.com", model);
        for model in [
            "gpt-5-codex",
            "gpt-5.1-codex-mini",
            "gpt-5-pro-2025-10-06",
            "o1-pro",
            "o3-pro",
            "o4-mini-deep-research",
            "computer-use-preview",
            "codex-mini-latest",
        ] {
            assert!(auto(model), "{model}");
        }
        for model in [
            "gpt-5",
            "gpt-5-mini",
            "o3",
            "o4-mini",
            "gpt-4.1",
            "my-pro",
            "",
        ] {
            assert!(!auto(model), "{model}");
        }
    }

    #[test]
    fn another_server_and_a_stated_wish_do_not_go_by_names() {
        assert!(!OpenAiApi::Auto.begins_with_responses("127.0.0.1", "gpt-5-codex"));
        assert!(!OpenAiApi::Auto.begins_with_responses("notopenai.com", "gpt-5-codex"));
        assert!(!OpenAiApi::ChatCompletions.begins_with_responses("api.openai.com", "o3-pro"));
        assert!(OpenAiApi::Responses.begins_with_responses("127.0.0.1", "tiny"));
    }
}
