use dormouse_contracts::{
    Attribution, Audience, EntityId, Origin, Purpose, Seq, Task, Timestamp, Trust,
};
use dormouse_testing::effort;
use proptest::prelude::*;

use super::*;
use crate::{
    EntryId, EntryProvenance, ImportanceMethod, JournalSettings, NewEntry, SourceType,
    testkit::{hour, importance, journal_of, person, said, write},
};

fn origin(number: u64) -> Origin {
    Origin::event(Seq(number))
}

fn entity(name: &str) -> Audience {
    let id = person(name, name).id().cloned();
    Audience::of(id).unwrap()
}

fn piece(number: u64, name: &str, content: &str) -> ReflectionEvidence {
    ReflectionEvidence {
        id: origin(number),
        content: content.to_owned(),
        score: 1.0,
        at: hour(i64::try_from(number).unwrap()),
        from: person(&format!("#{name}"), name),
        trust: Trust::try_new(0.9).unwrap(),
        audience: Audience::Public,
        depth: 0,
    }
}

fn evidence() -> Vec<ReflectionEvidence> {
    vec![
        piece(11, "Alice", "Alice came late on Monday"),
        piece(
            12,
            "Bob",
            "Alice came late on Tuesday and asked for green tea",
        ),
        piece(13, "Carol", "The bridge costs 40 coins, said the miller"),
    ]
}

fn read(reply: &str, evidence: &[ReflectionEvidence]) -> ReadInsights {
    let settings = JournalSettings {
        names: vec!["Dormouse".to_owned()],
        ..JournalSettings::default()
    };
    ReadInsights::of(reply, evidence, &Journal::new(), hour(20), &settings).unwrap()
}

fn reply(insight: &str, from: &[&str]) -> String {
    serde_json::json!([{"insight": insight, "from": from}]).to_string()
}

#[test]
fn a_reflection_is_due_from_the_threshold_on_and_counts_anew_after_it() {
    let policy = ReflectionPolicy::default();
    let settings = JournalSettings::default();
    let contents: Vec<String> = (0..21)
        .map(|number| format!("guest {number} came"))
        .collect();
    let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    // 7 points each: 147.
    let mut journal = journal_of(&contents);
    assert!(!journal.reflection_due(&policy));
    write(&mut journal, said("one more guest"), hour(30), &settings);
    assert!(journal.reflection_due(&policy), "154");

    let begun = journal.plan_reflection(&policy).unwrap();
    journal.apply(&begun, hour(31)).unwrap();
    assert!(!journal.reflection_due(&policy), "one is under way");
    assert_eq!(journal.plan_reflection(&policy), None);
    // Somebody comes while the assistant reflects: that counts for the next time.
    write(&mut journal, said("the mill burns"), hour(32), &settings);

    let request = questions_request(&journal, &policy).unwrap();
    assert_eq!(
        (request.purpose, request.temperature),
        (Purpose::Consolidation, Some(0.0))
    );
    let Some(Task::Questions { lines }) = request.task.as_deref() else {
        panic!("{request:?}")
    };
    assert_eq!(
        (lines.len(), lines[0].speaker.as_deref()),
        (22, Some("Alice"))
    );

    let questions = read_questions(
        r#"["Who is late?", "What is a bridge worth?", "Why?", "One too many?"]"#,
        3,
        &[],
    )
    .unwrap();
    assert_eq!(questions.len(), 3);
    let raised = journal.plan_questions(questions);
    journal.apply(&raised, hour(33)).unwrap();
    let found = vec![vec![origin(11), origin(12)], vec![origin(13)], Vec::new()];
    journal
        .apply(&JournalChange::EvidenceFound { evidence: found }, hour(34))
        .unwrap();
    let ReflectionStep::Conclude(questions, ids) = journal.reflection().step() else {
        panic!()
    };
    assert_eq!((questions.len(), ids.len()), (3, 3));
    let request = insights_request(questions, &evidence(), &policy).unwrap();
    let Some(Task::Reflection { lines }) = request.task.as_deref() else {
        panic!("{request:?}")
    };
    assert_eq!(
        lines
            .iter()
            .map(|line| line.id.as_str())
            .collect::<Vec<_>>(),
        ["11", "12", "13"]
    );

    let text = reply("Alice comes late again and again", &["11", "12"]);
    let read = ReadInsights::of(&text, &evidence(), &journal, hour(35), &settings).unwrap();
    for change in read.into_changes(&journal, &settings) {
        journal.apply(&change, hour(35)).unwrap();
    }
    let state = journal.reflection();
    assert_eq!(state.step(), ReflectionStep::Rest);
    assert_eq!(
        (state.cumulative_importance, state.reflection_count),
        (7, 1),
        "the insight does not count"
    );
    assert_eq!(state.last_reflection_time, Some(hour(35)));
    assert_eq!(state.entries_since_reflection, [EntryId(23)].into());
    let insight = journal.entry(EntryId(24)).unwrap();
    assert_eq!(
        insight.content,
        "[SYNTHESIS] Alice comes late again and again"
    );
    assert_eq!(
        (insight.importance, insight.importance_method),
        (importance(8), ImportanceMethod::Manual)
    );
    assert_eq!(insight.source_type, SourceType::Inference);
    assert_eq!(
        insight.provenance.sources.as_slice(),
        [origin(11), origin(12)]
    );
    assert_eq!(insight.provenance.depth, 1);
}

#[test]
fn a_step_that_fails_three_times_is_given_up_and_nothing_is_lost() {
    let policy = ReflectionPolicy::default();
    let mut journal = journal_of(&["tea", "war"]);
    let before = journal.reflection().clone();
    journal
        .apply(&journal.plan_reflection(&policy).unwrap(), hour(3))
        .unwrap();
    for expected in [
        JournalChange::ReflectionFailed,
        JournalChange::ReflectionFailed,
        JournalChange::ReflectionGivenUp,
    ] {
        assert_eq!(read_questions("Roses are red.", 3, &[]), None);
        let failure = journal.plan_failure(&policy).unwrap();
        assert_eq!(failure, expected);
        journal.apply(&failure, hour(4)).unwrap();
    }
    assert_eq!(*journal.reflection(), before);
    assert_eq!(journal.plan_failure(&policy), None);
    for change in [
        JournalChange::QuestionsRaised {
            questions: vec!["Who?".to_owned()],
            trust: Vec::new(),
        },
        JournalChange::EvidenceFound {
            evidence: Vec::new(),
        },
        JournalChange::Reflected {
            insights: Vec::new(),
        },
        JournalChange::ReflectionFailed,
    ] {
        let error = journal.apply(&change, hour(5)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no reflection waits for this step",
            "{change:?}"
        );
        assert_eq!(*journal.reflection(), before);
    }
}

#[test]
fn evidence_is_the_best_ten_and_never_what_was_concluded_from_conclusions() {
    let mut found: Vec<_> = (1..=20)
        .map(|number| ReflectionEvidence {
            score: number as f64,
            ..piece(number, "Alice", "tea")
        })
        .collect();
    found.push(ReflectionEvidence {
        score: 99.0,
        depth: EntryProvenance::DEEPEST,
        ..piece(30, "Alice", "echo")
    });
    found.push(ReflectionEvidence {
        score: f64::NAN,
        ..piece(31, "Alice", "tea")
    });
    found.push(ReflectionEvidence {
        score: 98.0,
        ..piece(32, "Alice", " \n")
    });
    found.push(ReflectionEvidence {
        score: 0.5,
        ..piece(20, "Alice", "tea")
    });
    found.reverse();
    let chosen = choose_evidence(found, &ReflectionPolicy::default());
    let ids: Vec<Origin> = chosen.iter().map(|piece| piece.id).collect();
    assert_eq!(ids, (11..=20).rev().map(origin).collect::<Vec<_>>());
    assert_eq!(
        insights_request(&[], &[], &ReflectionPolicy::default()),
        None
    );
}

#[test]
fn an_insight_that_its_evidence_does_not_bear_is_refused_with_the_reason() {
    let evidence = evidence();
    let flaw = |insight: &str, from: &[&str]| {
        let read = read(&reply(insight, from), &evidence);
        let refused = read.refused.first();
        refused.map(|refused| refused.flaw.clone())
    };
    assert_eq!(flaw("Alice is often late", &["11", "12"]), None);
    assert_eq!(
        flaw("Guests respond better to patient guidance", &["12"]),
        None
    );
    for from in [&["99"][..], &[], &["eleven"]] {
        assert_eq!(
            flaw("Alice is often late", from),
            Some(InsightFlaw::NoSource),
            "{from:?}"
        );
    }
    for about_itself in [
        "I should be more patient with players",
        "my behavior puts guests off",
        "Guests like the assistant",
        "I need to ask about tea",
        "I will pour more tea",
        "Dormouse is liked",
    ] {
        assert_eq!(
            flaw(about_itself, &["11"]),
            Some(InsightFlaw::AboutItself),
            "{about_itself}"
        );
    }
    let adds = |added| Some(InsightFlaw::Adds(added));
    assert_eq!(
        flaw("The bridge costs 50 coins", &["13"]),
        adds(Invention::Number("50".to_owned()))
    );
    assert_eq!(flaw("The bridge costs 40 coins", &["13"]), None);
    assert_eq!(
        flaw("The bridge costs 40 coins", &["11"]),
        adds(Invention::Number("40".to_owned())),
        "of another"
    );
    assert_eq!(
        flaw("Often late is Mallory", &["11"]),
        adds(Invention::Name("Mallory".to_owned()))
    );
    assert_eq!(
        flaw("Often late on Tuesday", &["11"]),
        adds(Invention::Name("Tuesday".to_owned()))
    );
    assert_eq!(
        flaw("The miller said \"a bridge for all\"", &["13"]),
        adds(Invention::Quotation("a bridge for all".to_owned()))
    );
    assert_eq!(
        flaw("What \"asked for green tea\" shows is taste", &["12"]),
        None
    );
    assert_eq!(
        flaw("Alice is never on time", &["11"]),
        adds(Invention::Denial)
    );

    let repeated = serde_json::json!([
        {"insight": "Alice is often late", "from": ["11"]},
        {"insight": "Alice is often late.", "from": ["12"]},
    ]);
    let read = read(&repeated.to_string(), &evidence);
    assert_eq!(
        (read.insights().len(), &read.refused[0].flaw),
        (1, &InsightFlaw::Repeated)
    );
}

#[test]
fn german_nouns_are_no_invented_names() {
    let evidence = [piece(
        11,
        "Anna",
        "Die alte Mühle am Fluss steht seit der großen Flut leer, und der Müller sucht Hilfe",
    )];
    let read = read(
        &reply("Der Müller braucht seit dem Hochwasser Leute", &["11"]),
        &evidence,
    );
    assert_eq!((read.insights().len(), read.refused.len()), (1, 0));
}

#[test]
fn an_insight_is_believed_and_known_no_further_than_what_was_shown() {
    let mut evidence = evidence();
    evidence[0].audience = entity("alice");
    evidence[1].trust = Trust::try_new(0.3).unwrap();
    evidence[1].depth = 1;
    let of = |text: &str, from: &[&str]| read(&reply(text, from), &evidence).insights()[0].clone();
    let named = of("Alice is late at times", &["11"]);
    assert_eq!(
        named.source_trust,
        Trust::try_new(0.6).unwrap(),
        "an inference"
    );
    assert_eq!(
        named.provenance.audience,
        entity("alice"),
        "of all that was shown"
    );
    assert_eq!(named.provenance.depth, 1);
    // It cites the trusted evidence, but only the other evidence mentions tea.
    let misled = of("Alice comes late and drinks green tea", &["11"]);
    assert_eq!(misled.source_trust, Trust::try_new(0.3).unwrap());
    assert_eq!(
        misled.provenance.sources.as_slice(),
        [origin(11), origin(12)]
    );
    assert_eq!(misled.provenance.depth, 2, "one of them is a conclusion");
}

#[test]
fn a_question_about_what_it_sees_is_asked_and_one_about_itself_is_not() {
    for asked in [
        "What patterns do I observe in player behavior?",
        "What do I know of the miller's quarrel with the smith?",
        "Which of the guests did I see near the vault?",
    ] {
        let reply = format!(r#"["{asked}"]"#);
        assert_eq!(
            read_questions(&reply, 3, &["Dormouse"]),
            Some(vec![asked.to_owned()])
        );
    }
    for refused in ["What should I become?", "What did I do wrong?", "Who am I?"] {
        let reply = format!(r#"["{refused}"]"#);
        assert_eq!(read_questions(&reply, 3, &["Dormouse"]), None, "{refused}");
    }
}

#[test]
fn questions_and_insights_are_not_asked_about_conclusions_of_conclusions() {
    let policy = ReflectionPolicy::default();
    let settings = JournalSettings::default();
    let mut journal = journal_of(&["tea"]);
    let mut echo = NewEntry::new("an echo of an echo", SourceType::Inference);
    echo.provenance.depth = EntryProvenance::DEEPEST;
    write(&mut journal, echo, hour(2), &settings);
    let begun = journal.plan_reflection(&policy);
    let expected = JournalChange::ReflectionBegun {
        entries: vec![EntryId(1)],
        through: EntryId(2),
        known_to: Some(Audience::nobody()),
        left: Vec::new(),
    };
    assert_eq!(begun, Some(expected));
}

fn known_to(content: &str, names: &[&str]) -> NewEntry {
    let mut new = said(content);
    let ids = names.iter().map(|name| EntityId::try_new(*name).unwrap());
    new.provenance.audience = Audience::of(ids).unwrap();
    new
}

fn end(journal: &mut Journal, at: Timestamp) {
    let questions = journal.plan_questions(vec!["Who?".to_owned()]);
    let found = JournalChange::EvidenceFound {
        evidence: vec![Vec::new()],
    };
    let reflected = JournalChange::Reflected {
        insights: Vec::new(),
    };
    for change in [questions, found, reflected] {
        journal.apply(&change, at).unwrap();
    }
}

#[test]
fn a_reflection_is_about_what_the_same_people_were_party_to_and_leaves_the_others_for_another() {
    let policy = ReflectionPolicy::default();
    let settings = JournalSettings::default();
    let mut journal = Journal::new();
    let entries = [
        ("Alice keeps bees", ["alice"].as_slice()),
        ("Bob owes ten coins", &["bob"]),
        ("the mill burns", &["alice", "bob"]),
        ("Bob hides a lantern", &["bob"]),
        ("nobody heard the owl", &[]),
    ];
    for (number, (content, names)) in (0..).zip(entries) {
        let new = known_to(content, names);
        write(&mut journal, new, hour(number), &settings);
    }
    let mut seen = Vec::new();
    while let Some(begun) = journal.plan_reflection(&policy) {
        journal.apply(&begun, hour(20)).unwrap();
        let JournalChange::ReflectionBegun {
            entries, known_to, ..
        } = begun
        else {
            panic!("{begun:?}")
        };
        let entries: Vec<u64> = entries.iter().map(|id| id.0).collect();
        seen.push((entries, known_to.unwrap()));
        end(&mut journal, hour(20));
    }
    let expected = [
        (vec![2, 3, 4], entity("bob")),
        (vec![1], entity("alice")),
        (vec![5], Audience::nobody()),
    ];
    assert_eq!(seen, expected);
    assert_eq!(journal.reflection().cumulative_importance, 0);
}

#[test]
fn a_conclusion_is_believed_no_further_than_the_entries_whose_words_its_question_repeats() {
    let settings = JournalSettings::default();
    let mut journal = Journal::new();
    write(
        &mut journal,
        said("Bob carries a lantern"),
        hour(0),
        &settings,
    );
    let mut rumour = NewEntry::new("Bob is a thief", SourceType::Environmental);
    rumour.believed = Trust::try_new(0.3).unwrap();
    write(&mut journal, rumour, hour(1), &settings);
    let begun = journal.plan_reflection(&settings.reflection).unwrap();
    journal.apply(&begun, hour(2)).unwrap();
    let questions = ["Why is Bob a thief?", "Who carries a lantern?"];
    let raised = journal.plan_questions(questions.map(str::to_owned).to_vec());
    journal.apply(&raised, hour(3)).unwrap();
    let evidence = [piece(11, "Alice", "Bob carries a lantern through the gate")];
    let believed = |text: &str| {
        let text = reply(text, &["11"]);
        let read = ReadInsights::of(&text, &evidence, &journal, hour(4), &settings).unwrap();
        read.insights().first().map(|it| it.source_trust.score())
    };
    assert_eq!(believed("Bob the thief carries a lantern"), Some(0.3));
    assert_eq!(
        believed("Through the gate Bob carries a lantern"),
        Some(0.6)
    );
}

#[test]
fn an_interval_reflection_comes_after_so_many_ticks_of_work_or_their_time() {
    let interval = ReflectionInterval::default();
    let last = hour(0);
    let after = |minutes: i64| Timestamp::from_micros(last.as_micros() + minutes * 60_000_000);
    for (ticks, minutes, expected) in [
        (120, 0, true),
        (119, 9, false),
        (1, 10, true),
        // Without work nothing is due, and neither is it after the clock was set back.
        (0, 10_000, false),
        (5, -10_000, false),
    ] {
        assert_eq!(
            interval.is_due(ticks, last, after(minutes)),
            expected,
            "{ticks} ticks, {minutes} minutes"
        );
    }
    let off = ReflectionInterval {
        ticks: 0,
        ..interval
    };
    assert!(!off.is_due(u32::MAX, last, after(10_000)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(512)))]

    #[test]
    fn whatever_a_model_answers_each_insight_cites_what_was_shown_and_is_believed_no_further(
        texts in prop::collection::vec("(Alice|Bob|tea|late|40|not|I should|\"green tea\"|Monday)( (costs|is|late|tea|Bob|7)){0,4}", 0..6),
        from in prop::collection::vec(prop::sample::select(vec!["11", "12", "13", "14", "x", "[12]"]), 0..4),
        cut in 0_usize..400, trusts in prop::array::uniform3(0_u8..=10),
    ) {
        let mut evidence = evidence();
        for (piece, trust) in evidence.iter_mut().zip(trusts) {
            piece.trust = Trust::try_new(f32::from(trust) / 10.0).unwrap();
        }
        evidence[2].audience = entity("carol");
        let list: Vec<_> = texts.iter().map(|text| serde_json::json!({"insight": text, "from": from})).collect();
        let list = serde_json::Value::Array(list).to_string();
        let settings = JournalSettings::default();
        let reply = dormouse_text::beginning_bytes(&list, cut);
        let journal = Journal::new();
        let Some(read) = ReadInsights::of(reply, &evidence, &journal, hour(20), &settings) else {
            return Ok(());
        };
        for insight in read.insights() {
            let sources = insight.provenance.sources.as_slice();
            prop_assert!(!sources.is_empty());
            for source in sources {
                let piece = evidence.iter().find(|piece| piece.id == *source).unwrap();
                prop_assert!(insight.source_trust <= piece.trust);
            }
            prop_assert!(insight.source_trust <= SourceType::Inference.trust());
            prop_assert_eq!(&insight.provenance.audience, &entity("carol"));
            prop_assert_eq!(&insight.source_entity, &Attribution::Myself);
        }
    }
}
