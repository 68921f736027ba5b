//! What the cheap first pass misses.

use dormouse_retrieval::{Config, Index, Query};

use crate::text::{Chance, conversations};

const TURNS: u64 = 20_000;

fn questions(texts: &[String]) -> Vec<String> {
    let mut chance = Chance(3);
    (0..300)
        .map(|_| {
            let text = &texts[chance.below(TURNS) as usize];
            let mut words: Vec<String> = text.split(' ').take(5).map(Into::into).collect();
            words.push(chance.word());
            words.push(chance.word());
            words.join(" ")
        })
        .collect()
}

fn top(index: &Index, question: &str) -> Vec<u64> {
    let found = index.search(&Query::new(question), 10);
    found.into_iter().map(|found| found.id).collect()
}

#[test]
fn the_top_ten_of_twenty_thousand_are_those_of_scoring_every_unit_for_99_of_100_questions() {
    let (fast, texts) = conversations(TURNS, Config::default());
    let exhaustive = Config {
        exhaustive_up_to: usize::MAX,
        ..Config::default()
    };
    let (exact, _) = conversations(TURNS, exhaustive);
    let questions = questions(&texts);
    let mut same = 0;
    for question in &questions {
        if top(&fast, question) == top(&exact, question) {
            same += 1;
        }
    }
    assert!(
        same * 100 >= questions.len() * 99,
        "only {same} of {} are the same",
        questions.len()
    );
}
