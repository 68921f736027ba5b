//! A model that copies what it is shown into facts and insights, so it invents nothing. The offline model answers
//! everything else.

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, FinishReason, IdError, ModelError, ModelName,
    ProviderId, Task, TaskLine,
};
use dormouse_offline::OfflineModel;
use futures_util::stream;
use serde_json::{Value, json};

/// A sentence is copied if it has this many words.
const WORDS: std::ops::RangeInclusive<usize> = 4..=30;
/// The most insights of a reply.
const INSIGHTS: usize = 5;

/// Answers requests for facts and insights by copying.
#[derive(Debug)]
pub(crate) struct ScriptedModel {
    offline: OfflineModel,
    provider: ProviderId,
    name: ModelName,
}

impl ScriptedModel {
    pub(crate) fn new() -> Result<Self, IdError> {
        Ok(Self {
            offline: OfflineModel::new(),
            provider: ProviderId::try_new("scripted")?,
            name: ModelName::try_new("copying")?,
        })
    }
}

impl ChatModel for ScriptedModel {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let answer = match request.task.as_deref() {
            Some(Task::Extraction { lines }) => facts(lines),
            Some(Task::Reflection { lines }) => insights(lines),
            _ => return self.offline.stream(request),
        };
        let finished = ChatDelta::Finished(FinishReason::Stop);
        let deltas = [ChatDelta::Text(answer.to_string()), finished];
        Box::pin(stream::iter(deltas.map(Ok)))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.name)
    }
}

/// Every statement of a speaker about themselves, with their name in place of "I".
fn facts(lines: &[TaskLine]) -> Value {
    let facts = lines.iter().flat_map(|line| {
        let speaker = line.speaker.as_deref().unwrap_or("Somebody");
        let about_oneself = statements(&line.text).filter_map(move |sentence| {
            let said = third_person(speaker, sentence);
            (said != sentence).then(|| {
                json!({
                    "text": said,
                    "kind": "fact",
                    "about": [speaker],
                    "from": [line.id],
                    "reason": "said of oneself",
                })
            })
        });
        about_oneself.collect::<Vec<_>>()
    });
    facts.collect()
}

/// Two statements of one speaker that share a word, quoted.
fn insights(lines: &[TaskLine]) -> Value {
    let mut insights = Vec::new();
    for (place, first) in lines.iter().enumerate() {
        let Some(speaker) = first.speaker.as_deref() else {
            continue;
        };
        let second = lines.iter().skip(place + 1).find(|second| {
            second.speaker == first.speaker && shares_a_word(&first.text, &second.text)
        });
        let Some(second) = second else { continue };
        let quoted = |line: &TaskLine| statements(&line.text).next().map(str::to_owned);
        if let (Some(one), Some(other)) = (quoted(first), quoted(second)) {
            insights.push(json!({
                "insight": format!("{speaker} said \"{one}\", and another time \"{other}\"."),
                "from": [first.id, second.id],
            }));
        }
    }
    insights.truncate(INSIGHTS);
    Value::Array(insights)
}

/// The sentences that are no questions and neither short nor long.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    let sentences = text.split_inclusive(['.', '!', '?']);
    let sentences = sentences.filter(|sentence| !sentence.ends_with('?'));
    let sentences = sentences.map(|sentence| sentence.trim().trim_end_matches(['.', '!']));
    sentences.filter(|sentence| WORDS.contains(&sentence.split_whitespace().count()))
}

fn third_person(speaker: &str, sentence: &str) -> String {
    let words = sentence.split(' ').map(|word| {
        let bare = word.replace('’', "'");
        let replaced = match bare.trim_end_matches(',') {
            "I" | "me" | "Me" => speaker.to_owned(),
            "I'm" => format!("{speaker} is"),
            "I've" => format!("{speaker} has"),
            "I'll" => format!("{speaker} will"),
            "I'd" => format!("{speaker} would"),
            "my" | "My" | "mine" => format!("{speaker}'s"),
            _ => return word.to_owned(),
        };
        match bare.ends_with(',') {
            true => format!("{replaced},"),
            false => replaced,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn shares_a_word(one: &str, other: &str) -> bool {
    let long = |text: &str| {
        let words = dormouse_retrieval::terms(text).into_iter();
        words
            .filter(|word| word.chars().count() > 4)
            .collect::<Vec<_>>()
    };
    let known = long(one);
    long(other).iter().any(|word| known.contains(word))
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{Timestamp, Trust};

    use super::*;

    fn line(id: &str, text: &str) -> TaskLine {
        TaskLine {
            id: id.to_owned(),
            speaker: Some("Ann".to_owned()),
            text: text.to_owned(),
            at: Timestamp::EPOCH,
            trust: Trust::FULL,
        }
    }

    #[test]
    fn facts_are_statements_about_oneself_in_the_third_person() {
        let lines = [
            line("1", "I’m fond of my red kettle. Do I like tea? Yes!"),
            line("2", "The mill is closed on Mondays."),
        ];
        let facts = facts(&lines);
        let texts: Vec<_> = facts
            .as_array()
            .unwrap()
            .iter()
            .map(|fact| &fact["text"])
            .collect();
        assert_eq!(texts, ["Ann is fond of Ann's red kettle"]);
        assert_eq!(facts[0]["from"], json!(["1"]));
    }

    #[test]
    fn an_insight_quotes_two_statements_and_names_both() {
        let lines = [
            line("1", "The kettle is made of copper."),
            line("2", "We walked along the river."),
            line("3", "Somebody stole the kettle yesterday."),
        ];
        let insights = insights(&lines);
        assert_eq!(insights.as_array().unwrap().len(), 1);
        assert_eq!(insights[0]["from"], json!(["1", "3"]));
        let text = insights[0]["insight"].as_str().unwrap();
        assert!(text.contains("\"The kettle is made of copper\""), "{text}");
    }
}
