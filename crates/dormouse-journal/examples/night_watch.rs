//! A journal with a store of one's own and a canned model: `cargo run -p dormouse-journal --example night_watch`.
//!
//! The store is a list of lines of JSON, as a file would hold them. The model is a port (`ChatModel`); this one has two
//! prepared replies.

use std::{error::Error, time::Duration};

use dormouse_contracts::{Attribution, Audience, EntityId, Origin, Seq, Timestamp, complete};
use dormouse_journal::{
    Journal, JournalChange, JournalEntry, JournalIndex, JournalQuery, JournalSettings, NewEntry,
    ReadInsights, ReflectionEvidence, ReflectionPolicy, SourceType, choose_evidence,
    insights_request, questions_request, read_questions,
};
use dormouse_testing::{ScriptedModel, ScriptedTurn};

/// A journal, and the changes that it is folded from.
#[derive(Default)]
struct Notebook {
    journal: Journal,
    lines: Vec<String>,
}

impl Notebook {
    /// Keeps a change, then applies it.
    fn write(&mut self, change: &JournalChange, at: Timestamp) -> Result<(), Box<dyn Error>> {
        self.lines.push(serde_json::to_string(&(at, change))?);
        self.journal.apply(change, at)?;
        Ok(())
    }

    /// Reads the changes, as a restart does.
    fn read(lines: Vec<String>) -> Result<Self, Box<dyn Error>> {
        let mut journal = Journal::new();
        for line in &lines {
            let (at, change): (Timestamp, JournalChange) = serde_json::from_str(line)?;
            journal.apply(&change, at)?;
        }
        Ok(Self { journal, lines })
    }
}

/// An entry as evidence. This store has no other ids than the numbers of entries.
fn as_evidence(entry: &JournalEntry, score: f64) -> ReflectionEvidence {
    ReflectionEvidence {
        id: Origin::event(Seq(entry.id.0)),
        content: entry.content.clone(),
        score,
        at: entry.timestamp,
        from: entry.source_entity.clone(),
        trust: entry.source_trust,
        audience: entry.provenance.audience.clone(),
        depth: entry.provenance.depth,
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it does")]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = JournalSettings {
        reflection: ReflectionPolicy {
            threshold: 20,
            ..ReflectionPolicy::default()
        },
        ..JournalSettings::default()
    };
    let mut now = Timestamp::from_micros(1_795_219_200_000_000);
    let mut book = Notebook::default();
    for (who, heard) in [
        ("Bob", "The north gate was open at midnight."),
        ("Carol", "I closed the north gate before supper!"),
        (
            "Bob",
            "The north gate was open again, and there was mud on the stairs.",
        ),
    ] {
        now = now.plus(Duration::from_secs(86_400));
        let new = NewEntry {
            source_entity: Attribution::entity(EntityId::try_new(format!("#{who}"))?, who),
            provenance: dormouse_journal::EntryProvenance {
                audience: Audience::Public,
                ..Default::default()
            },
            ..NewEntry::new(heard, SourceType::Direct)
        };
        for change in book.journal.plan_entry(new, now, &settings)? {
            book.write(&change, now)?;
        }
    }

    let mut book = Notebook::read(book.lines)?;
    let index = JournalIndex::of(&book.journal);
    for found in index.search(&book.journal, &JournalQuery::episodic("open gates"), now) {
        println!(
            "{:.2}  {}  ({})",
            found.score, found.entry.content, found.why
        );
    }

    let model = ScriptedModel::new([
        ScriptedTurn::text(r#"["Who opens the north gate at night?"]"#),
        ScriptedTurn::text(
            r#"[{"insight": "Somebody opens the north gate again after Carol closed it", "from": ["1", "2", "3"]},
                {"insight": "I should watch the gate", "from": ["1"]}]"#,
        ),
    ]);
    if book.journal.reflection_due(&settings.reflection) {
        let begun = book.journal.plan_reflection(&settings.reflection);
        book.write(&begun.ok_or("nothing to reflect on")?, now)?;
        let request = questions_request(&book.journal, &settings.reflection);
        let reply = complete(&model, &request.ok_or("no entries")?).await?;
        let questions = read_questions(&reply.content, settings.reflection.questions, &[]);
        let questions = questions.ok_or("the model asked nothing")?;
        let raised = book.journal.plan_questions(questions.clone());
        book.write(&raised, now)?;

        let mut evidence = Vec::new();
        let mut ids = Vec::new();
        for question in &questions {
            let found = index.search(&book.journal, &JournalQuery::ranked(question), now);
            let found = found
                .iter()
                .map(|found| as_evidence(found.entry, found.score));
            let chosen = choose_evidence(found.collect(), &settings.reflection);
            ids.push(chosen.iter().map(|piece| piece.id).collect());
            evidence.extend(chosen);
        }
        book.write(&JournalChange::EvidenceFound { evidence: ids }, now)?;

        let request = insights_request(&questions, &evidence, &settings.reflection);
        let reply = complete(&model, &request.ok_or("no evidence")?).await?;
        let read = ReadInsights::of(&reply.content, &evidence, &book.journal, now, &settings);
        let read = read.ok_or("the model answered with no list")?;
        for refused in &read.refused {
            println!("refused: {} ({:?})", refused.text, refused.flaw);
        }
        for change in read.into_changes(&book.journal, &settings) {
            book.write(&change, now)?;
        }
    }

    let restarted = Notebook::read(book.lines)?;
    assert_eq!(
        restarted.journal, book.journal,
        "the lines are all there is"
    );
    for entry in restarted.journal.entries() {
        println!("{:>2}/10  {}", entry.importance, entry.content);
    }
    Ok(())
}
