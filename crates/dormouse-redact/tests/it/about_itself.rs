//! What a character must not remember about itself, on a corpus of sentences.
//!
//! Half of each kind is `held_out`: the rule was not changed after it was measured on that half. But the author of the
//! rule also wrote these sentences.

use dormouse_redact::is_about_itself;

const CORPUS: &str = include_str!("../../corpus/about_itself.txt");

struct Sentence {
    half: &'static str,
    is_about_itself: bool,
    kind: &'static str,
    name: &'static str,
    text: &'static str,
}

fn sentences() -> impl Iterator<Item = Sentence> {
    CORPUS.lines().map(|line| {
        let fields: Vec<_> = line.splitn(5, " | ").collect();
        let fields: [&str; 5] = fields.try_into().unwrap();
        let [half, verdict, kind, name, text] = fields;
        assert!(["reject", "accept"].contains(&verdict), "{line}");
        let is_about_itself = verdict == "reject";
        Sentence {
            half,
            is_about_itself,
            kind,
            name,
            text,
        }
    })
}

/// Precision and recall, as the README lists them, and the sentences that are judged wrongly.
fn figures(half: &str) -> (f64, f64, Vec<String>) {
    let (mut refused, mut right, mut expected) = (0_u32, 0_u32, 0_u32);
    let mut wrong = Vec::new();
    for sentence in sentences().filter(|it| it.half == half) {
        let found = is_about_itself(sentence.text, &[sentence.name]);
        refused += u32::from(found);
        expected += u32::from(sentence.is_about_itself);
        right += u32::from(found && sentence.is_about_itself);
        if found != sentence.is_about_itself {
            let Sentence { kind, text, .. } = sentence;
            wrong.push(format!("{kind}, refused: {found}: {text}"));
        }
    }
    let share = |all: u32| f64::from(right) / f64::from(all);
    (share(refused), share(expected), wrong)
}

/// `cargo test -p dormouse-redact --test it about_itself -- --nocapture` prints them.
#[test]
fn sentences_about_the_assistant_are_refused_and_those_about_others_are_not() {
    for (half, least_precision, least_recall) in FLOORS {
        let (precision, recall, wrong) = figures(half);
        println!("{half}: precision {precision:.3}, recall {recall:.3}");
        for line in &wrong {
            println!("  {line}");
        }
        assert!(
            precision >= least_precision && recall >= least_recall,
            "{half}: {precision} {recall} {wrong:#?}"
        );
    }
}

/// The least precision and recall of each half.
const FLOORS: [(&str, f64, f64); 2] = [("known", 1.0, 1.0), ("held_out", 1.0, 0.92)];
