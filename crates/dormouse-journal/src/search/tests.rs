use dormouse_contracts::{Audience, Hit, Trust};
use dormouse_testing::effort;
use proptest::prelude::*;

use super::*;
use crate::{
    Importance, JournalSettings, NewEntry, SourceType,
    testkit::{Life, any_step, hour, importance, journal_of, label, person, said, write},
};

fn found(journal: &Journal, query: &JournalQuery, hours: i64) -> Vec<u64> {
    let index = JournalIndex::of(journal);
    let found = index.search(journal, query, hour(hours));
    found.iter().map(|found| found.entry.id.0).collect()
}

#[test]
fn the_documented_score_is_the_weighted_mean_of_its_three_parts() {
    let journal = journal_of(&["Alice prefers formal address"]);
    let entry = journal.entry(EntryId(1)).unwrap();
    let score = |recency, alphas, hours, query: &str| {
        let score = EpisodicScore::try_new(recency, alphas).unwrap();
        score.of(entry, query, hour(hours))
    };
    let equal = [1.0; 3];
    let parts = score(
        Recency::DecayDays(30.0),
        equal,
        30 * 24,
        "Which address do I use for formal letters?",
    );
    assert!((parts.recency - 0.3679).abs() < 1e-4, "{parts}");
    assert!(
        (parts.importance - 0.7).abs() < 1e-9 && (parts.relevance - 0.5).abs() < 1e-9,
        "{parts}"
    );
    assert!((parts.score - (parts.recency + 0.7 + 0.5) / 3.0).abs() < 1e-9);
    assert_eq!(
        parts.to_string(),
        "recency 0.37, importance 0.70, relevance 0.50 (address, formal)"
    );

    // The preset of the Journal page: 0.37 after an hour, below 0.01 after five.
    assert!((score(Recency::HOURS, equal, 1, "").recency - 0.3716).abs() < 1e-4);
    assert!(score(Recency::HOURS, equal, 5, "").recency < 0.01);
    assert!(
        (score(Recency::HOURS, equal, -5, "").recency - 1.0).abs() < 1e-12,
        "the future"
    );
    let only_relevance = score(Recency::HOURS, [0.0, 0.0, 2.0], 5, "formal");
    assert!((only_relevance.score - 1.0).abs() < 1e-12);

    for alphas in [
        [0.0; 3],
        [-1.0, 1.0, 1.0],
        [f64::NAN, 1.0, 1.0],
        [f64::INFINITY, 1.0, 1.0],
    ] {
        assert!(
            EpisodicScore::try_new(Recency::HOURS, alphas).is_err(),
            "{alphas:?}"
        );
    }
    for decay in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(
            EpisodicScore::try_new(Recency::DecayDays(decay), equal).is_err(),
            "{decay}"
        );
    }
}

#[test]
fn each_bound_leaves_out_what_it_should_and_the_rest_is_found() {
    let settings = JournalSettings::default();
    let mut journal = Journal::new();
    let mut add = |hours: i64, edit: &dyn Fn(&mut NewEntry)| {
        let mut new = NewEntry::new(format!("tea at hour {hours}"), SourceType::Direct);
        new.provenance.audience = Audience::Public;
        edit(&mut new);
        write(&mut journal, new, hour(hours), &settings);
    };
    let now = 40 * 24;
    add(0, &|_| {});
    add(now - 1, &|new| {
        new.tags.extend([label("tea"), label("guest")])
    });
    add(now - 2, &|new| new.tags.extend([label("tea")]));
    add(now - 3, &|new| {
        new.related_projects.extend([label("alice_quest")])
    });
    add(now - 4, &|new| new.importance = Some(importance(2)));
    add(now - 5, &|new| {
        new.source_trust = Some(Trust::try_new(0.2).unwrap())
    });
    add(now - 6, &|new| new.provenance.audience = Audience::nobody());
    add(now + 100, &|_| {});

    let query = || JournalQuery {
        limit: 50,
        ..JournalQuery::ranked("tea")
    };
    let sorted = |query: &JournalQuery| {
        let mut found = found(&journal, query, now);
        found.sort_unstable();
        found
    };
    assert_eq!(sorted(&query()), [1, 2, 3, 4, 5, 6, 7, 8]);
    let both = [label("TEA"), label("guest")].into();
    assert_eq!(
        sorted(&JournalQuery {
            tags: both,
            ..query()
        }),
        [2],
        "all of the tags"
    );
    let recent = JournalQuery {
        days_back: Some(30),
        ..query()
    };
    assert_eq!(
        sorted(&recent),
        [2, 3, 4, 5, 6, 7, 8],
        "the future is not long ago"
    );
    let project = Some(label("Alice_Quest"));
    assert_eq!(
        sorted(&JournalQuery {
            related_to_project: project,
            ..query()
        }),
        [4]
    );
    let important = JournalQuery {
        min_importance: importance(3),
        ..query()
    };
    assert_eq!(sorted(&important), [1, 2, 3, 4, 6, 7, 8]);
    let trusted = JournalQuery {
        min_trust: Trust::try_new(0.5).unwrap(),
        ..query()
    };
    assert_eq!(sorted(&trusted), [1, 2, 3, 4, 5, 7, 8]);
    let public = JournalQuery {
        listeners: Some(Audience::Public),
        ..query()
    };
    assert_eq!(
        sorted(&public),
        [1, 2, 3, 4, 5, 6, 8],
        "private stays private"
    );
    for mode in [
        JournalSearch::Text,
        JournalSearch::Episodic(EpisodicScore::default()),
    ] {
        let public = JournalQuery {
            mode,
            ..public.clone()
        };
        assert_eq!(sorted(&public), [1, 2, 3, 4, 5, 6, 8]);
    }
    let long_ago = JournalQuery {
        days_back: Some(u32::MAX),
        ..query()
    };
    assert_eq!(sorted(&long_ago).len(), 8);
}

#[test]
fn ranked_search_is_led_by_relevance_and_text_search_by_the_very_words() {
    let journal = journal_of(&[
        "The kettle is in the blue box",
        "Nothing about that here",
        "Somebody moved two KETTLES away",
        "A secret! War and betrayal, urgent!",
    ]);
    assert_eq!(
        found(&journal, &JournalQuery::ranked("where are the kettles?"), 9)[..2],
        [3, 1]
    );
    let text = |query: &str| JournalQuery {
        mode: JournalSearch::Text,
        ..JournalQuery::ranked(query)
    };
    assert_eq!(found(&journal, &text("kettles AWAY"), 9), [3]);
    assert_eq!(found(&journal, &text("away kettles"), 9), [0_u64; 0]);
    assert_eq!(
        found(&journal, &JournalQuery::ranked("  "), 9),
        [4, 3, 2, 1],
        "the newest first"
    );
    let episodic = found(&journal, &JournalQuery::episodic("kettle"), 9);
    assert_eq!(
        episodic.len(),
        4,
        "what is recent and important counts, too"
    );

    // An encoder finds a pot similar to a kettle.
    let hits = |id| vec![Hit { id, score: 0.9 }];
    let dense = JournalSearch::Ranked { dense: hits(2) };
    let query = JournalQuery {
        mode: dense,
        ..JournalQuery::ranked("pot")
    };
    let index = JournalIndex::of(&journal);
    let matches = index.search(&journal, &query, hour(9));
    assert_eq!(matches[0].entry.id, EntryId(2));
    assert!(
        matches[0].why.to_string().contains("dense"),
        "{}",
        matches[0].why
    );
}

#[test]
fn what_says_nearly_the_same_is_shown_once_with_its_number() {
    let settings = JournalSettings::default();
    let mut journal = journal_of(&["The bridge is down"]);
    for hours in 1..5 {
        write(
            &mut journal,
            said("The bridge is down!"),
            hour(hours),
            &settings,
        );
    }
    let other = NewEntry {
        source_entity: person("#8", "Bob"),
        ..said("The bridge is down")
    };
    write(&mut journal, other, hour(5), &settings);
    let index = JournalIndex::of(&journal);
    for query in [
        JournalQuery::ranked("bridge"),
        JournalQuery::episodic("bridge"),
    ] {
        let matches = index.search(&journal, &query, hour(6));
        let mut repeats: Vec<u32> = matches.iter().map(|found| found.repeats).collect();
        repeats.sort_unstable();
        assert_eq!(repeats, [0, 4]);
    }
}

/// All entries within the bounds, scored one by one.
fn by_linear_scan(
    journal: &Journal,
    query: &JournalQuery,
    score: &EpisodicScore,
    now: i64,
) -> Vec<u64> {
    let bounds = query.bounds(hour(now));
    let entries = journal.entries().filter(|entry| bounds.admit(entry));
    let mut scored: Vec<_> = entries
        .map(|entry| (score.of(entry, &query.query, hour(now)).score, entry))
        .collect();
    scored.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a)
            .then((other.timestamp, other.id).cmp(&(one.timestamp, one.id)))
    });
    let mut groups = HashSet::new();
    scored.retain(|(_, entry)| groups.insert(entry.group()));
    scored
        .iter()
        .take(query.limit)
        .map(|(_, entry)| entry.id.0)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(256)))]

    #[test]
    fn the_index_always_finds_what_a_scan_of_all_entries_finds(
        steps in prop::collection::vec(any_step(), 0..30),
        query in "(tea|war|the|mill|quests|5)?( (tea|Bob|river))?",
        limit in 0_usize..5, days in prop::option::of(0_u32..90), tag in any::<bool>(),
        alphas in prop::array::uniform3(0_u8..3), hours in any::<bool>(), now in -2_000_i64..2_000,
    ) {
        let settings = JournalSettings { max_entries: 12, ..JournalSettings::default() };
        let mut index = JournalIndex::default();
        let mut life = Life::default();
        for step in &steps {
            life.step(step, &settings, |journal, delta| index.follow(journal, delta));
        }
        let recency = if hours { Recency::HOURS } else { Recency::DecayDays(30.0) };
        let score = EpisodicScore::try_new(recency, alphas.map(f64::from)).unwrap_or_default();
        let query = JournalQuery {
            tags: tag.then(|| label("tea")).into_iter().collect(),
            days_back: days,
            min_importance: Importance::try_new(3.0).unwrap(),
            limit,
            mode: JournalSearch::Episodic(score),
            ..JournalQuery::ranked(query)
        };
        let found: Vec<u64> = index.search(&life.journal, &query, hour(now)).iter().map(|found| found.entry.id.0).collect();
        prop_assert_eq!(found, by_linear_scan(&life.journal, &query, &score, now));

        let ranked = JournalQuery { mode: JournalSearch::Ranked { dense: Vec::new() }, ..query };
        let anew = JournalIndex::of(&life.journal);
        prop_assert_eq!(index.search(&life.journal, &ranked, hour(now)), anew.search(&life.journal, &ranked, hour(now)));
    }
}
