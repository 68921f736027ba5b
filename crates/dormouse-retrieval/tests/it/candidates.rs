//! What the cheap first pass misses.

use dormouse_retrieval::{Config, Index, SearchQuery};

use crate::text::{RandomWords, conversations};

const TURNS: u64 = 20_000;

fn questions(texts: &[String]) -> Vec<String> {
    let mut random = RandomWords(3);
    let question = |_| {
        let text = &texts[usize::try_from(random.below(TURNS)).unwrap_or(0)];
        let mut words: Vec<String> = text.split(' ').take(5).map(Into::into).collect();
        words.push(random.word());
        words.join(" ")
    };
    (0..100).map(question).collect()
}

fn top(index: &Index, question: &str) -> Vec<u64> {
    let found = index.search(&SearchQuery::new(question), 10);
    found.into_iter().map(|found| found.id).collect()
}

#[test]
fn the_top_ten_of_twenty_thousand_are_those_of_scoring_every_unit_for_99_of_100_questions() {
    let (fast, texts) = conversations(TURNS, Config::default());
    let every_unit = Config {
        exhaustive_up_to: usize::MAX,
        ..Config::default()
    };
    let exact = Index::decode(&fast.encode(), every_unit).unwrap();
    let questions = questions(&texts);
    let differs = |question: &&String| top(&fast, question) != top(&exact, question);
    let differing: Vec<_> = questions.iter().filter(differs).collect();
    assert!(differing.len() <= 1, "{differing:#?}");
}
