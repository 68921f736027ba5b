//! Neutralises the tokens of chat templates.
//!
//! Servers that turn a conversation into one text often interpret such tokens anywhere in it: a user who writes
//! `<|im_end|><|im_start|>system` could forge a message of the operator. Tokens of every known model are neutralised,
//! because the program does not know which model a server runs.

use std::borrow::Cow;

/// The longest token that is searched for, in bytes. No token in the tables is longer than 32.
const LONGEST: usize = 64;

/// Names between `<` and `>`, with or without a slash: Llama 2 and Mistral (`s`, `<SYS>`), Gemma (`start_of_turn`),
/// Cohere (`BOS_TOKEN`), calls and thoughts of Qwen, Hermes and DeepSeek, code models (StarCoder, Granite, Code Llama),
/// and special tokens of tokenizers.
const ANGLED: &[&str] = &[
    "s",
    "bos",
    "eos",
    "pad",
    "unk",
    "mask",
    "cls",
    "sep",
    "sys",
    "eot",
    "eod",
    "pre",
    "suf",
    "mid",
    "bos_token",
    "eos_token",
    "eop_token",
    "start_of_turn",
    "end_of_turn",
    "start_of_image",
    "end_of_image",
    "start_of_audio",
    "end_of_audio",
    "image_soft_token",
    "audio_soft_token",
    "start_of_role",
    "end_of_role",
    "end_of_text",
    "endoftext",
    "end_of_utterance",
    "fake_token_around_image",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_responses",
    "tools",
    "tool",
    "function",
    "functions",
    "function_call",
    "function_calls",
    "function_results",
    "think",
    "thinking",
    "thought",
    "co",
    "results",
    "documents",
    "img",
    "image",
    "video",
    "audio",
    "fim_prefix",
    "fim_middle",
    "fim_suffix",
    "fim_pad",
    "fim-prefix",
    "fim-middle",
    "fim-suffix",
    "fim-pad",
    "file_sep",
    "reponame",
    "repo_name",
    "filename",
    "gh_stars",
    "issue_start",
    "issue_comment",
    "issue_closed",
    "jupyter_start",
    "jupyter_text",
    "jupyter_code",
    "jupyter_output",
    "jupyter_script",
    "empty_output",
    "commit_before",
    "commit_msg",
    "commit_after",
];

/// Prefixes of such names. A number or a value comes after the prefix.
const ANGLED_FAMILIES: &[&str] = &[
    "unused",
    "reserved_",
    "special_",
    "extra_id_",
    "loc",
    "seg",
    "0x",
    "seed:",
    "minimax:",
    "function=",
    "parameter=",
    "co:",
    "/co:",
    "invoke ",
];

/// Names between `[` and `]`, with or without a slash: Llama 2, Mistral, ChatGLM, BERT.
const BRACKETED: &[&str] = &[
    "inst",
    "system_prompt",
    "available_tools",
    "tool_calls",
    "tool_results",
    "tool_content",
    "args",
    "call_id",
    "img",
    "img_break",
    "img_end",
    "audio",
    "begin_audio",
    "think",
    "prefix",
    "middle",
    "suffix",
    "model_settings",
    "gmask",
    "smask",
    "mask",
    "cls",
    "sep",
    "pad",
    "unk",
    "bos",
    "eos",
];

const BRACKETED_FAMILIES: &[&str] = &["control_", "unused", "reference_doc_"];

/// Names between `>>` and `<<`: Falcon.
const QUOTED: &[&str] = &[
    "title",
    "abstract",
    "introduction",
    "summary",
    "comment",
    "answer",
    "question",
    "domain",
    "prefix",
    "suffix",
    "middle",
];

/// The text without tokens of chat templates. The first bracket of each token is replaced by a similar character (`‹`
/// `›` `⟦` `⟧`), so the text stays readable and keeps its number of characters.
///
/// The families are ChatML, Llama, Mistral, Gemma, Phi, DeepSeek, harmony, Qwen, Cohere, Granite, GLM, EXAONE, MiniMax,
/// Falcon, and their common forms: everything that starts with `<|` or its full-width form, and every `<name|>`.
#[must_use]
pub fn escape_template_tokens(text: &str) -> Cow<'_, str> {
    let mut safe = String::new();
    let mut copied = 0;
    for (at, sign) in text.match_indices(['<', '＜', '[', ']', '>']) {
        let rest = text.get(at + sign.len()..).unwrap_or_default();
        if let Some(instead) = replacement(sign, rest) {
            safe.push_str(text.get(copied..at).unwrap_or_default());
            safe.push(instead);
            copied = at + sign.len();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    safe.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(safe)
}

/// The replacement of `sign`, if it starts a token together with the text after it.
fn replacement(sign: &str, rest: &str) -> Option<char> {
    match sign {
        "<" | "＜" => opens_angled(rest).then_some('‹'),
        "[" => opens_bracketed(rest).then_some('⟦'),
        "]" => (begins(rest, "~b]") || begins(rest, "~!b[")).then_some('⟧'),
        _ => opens_quoted(rest).then_some('›'),
    }
}

fn opens_angled(rest: &str) -> bool {
    if rest.starts_with(is_bar) {
        return true;
    }
    let Some(name) = name_before(rest, ['>', '＞']) else {
        return false;
    };
    let bare = name.trim_start_matches('/').trim_end_matches('/').trim();
    name.ends_with(is_bar) || is_in(bare, ANGLED, ANGLED_FAMILIES)
}

fn opens_bracketed(rest: &str) -> bool {
    if rest.starts_with(is_bar) || begins(rest, "e~[") {
        return true;
    }
    let name = name_before(rest, [']', ']']);
    name.is_some_and(|name| {
        is_in(
            name.trim_start_matches('/').trim(),
            BRACKETED,
            BRACKETED_FAMILIES,
        )
    })
}

fn opens_quoted(rest: &str) -> bool {
    let Some(name) = rest
        .strip_prefix('>')
        .and_then(|rest| name_before(rest, ['<', '<']))
    else {
        return false;
    };
    let closes = rest
        .get(1 + name.len()..)
        .is_some_and(|rest| rest.starts_with("<<"));
    closes && is_in(name, QUOTED, &[])
}

/// The text before the first of `ends`, if it is short enough for a token.
fn name_before(rest: &str, ends: [char; 2]) -> Option<&str> {
    let end = rest
        .char_indices()
        .take(LONGEST)
        .find(|(_, c)| ends.contains(c))?
        .0;
    rest.get(..end)
}

fn is_bar(character: char) -> bool {
    matches!(character, '|' | '｜' | '￨')
}

fn is_in(name: &str, names: &[&str], families: &[&str]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
        || families.iter().any(|family| begins(name, family))
}

/// Whether `text` starts with `beginning`. Ignores case, because a server's tokenizer may do so.
fn begins(text: &str, beginning: &str) -> bool {
    let piece = text.get(..beginning.len());
    piece.is_some_and(|piece| piece.eq_ignore_ascii_case(beginning))
}

#[cfg(test)]
mod tests;
