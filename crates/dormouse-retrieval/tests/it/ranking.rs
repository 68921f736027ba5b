//! The features that raise the rank of a unit.

use dormouse_contracts::{Hit, Timestamp};
use dormouse_retrieval::{
    Config, Feature, Index, Ranking, SearchMatch, SearchQuery, Unit, Weights,
};

const MINUTE: i64 = 60_000_000;
/// 2023-06-01.
const JUNE: i64 = 1_685_577_600_000_000;

fn talk(lines: &[(&str, &str)]) -> Index {
    let mut index = Index::default();
    let times = (0..).map(|minute| JUNE + minute * MINUTE);
    for ((id, at), (speaker, text)) in (0..).zip(times).zip(lines) {
        index.insert(&Unit {
            id,
            text,
            speaker: Some((*speaker).into()),
            thread: Some("talk"),
            at: Timestamp::from_micros(at),
        });
    }
    index
}

fn part(found: &[SearchMatch], id: u64, feature: Feature) -> f32 {
    let found = found.iter().find(|found| found.id == id);
    found.map_or(0.0, |found| found.parts.part(feature))
}

#[test]
fn an_answer_is_found_by_the_question_before_it() {
    let index = talk(&[
        ("Alice", "Lovely weather today"),
        ("Bob", "Where did you leave the blue kettle?"),
        ("Alice", "Under the stairs, in a box"),
        ("Bob", "We had soup for lunch"),
    ]);
    let found = index.search(&SearchQuery::new("Where is the blue kettle?"), 4);
    assert!(part(&found, 2, Feature::Answer) > 0.0);
    assert_eq!(part(&found, 1, Feature::Answer), 0.0);
    assert_eq!(found[0].id, 2, "the answer comes even before the question");
}

#[test]
fn a_word_counts_less_with_distance_and_not_across_sessions() {
    let mut index = talk(&[
        ("Alice", "kettle"),
        ("Bob", "one"),
        ("Alice", "two"),
        ("Bob", "three"),
        ("Alice", "four"),
    ]);
    index.insert(&Unit {
        id: 9,
        text: "much later",
        speaker: None,
        thread: Some("talk"),
        at: Timestamp::from_micros(JUNE + 100 * MINUTE),
    });
    let found = index.search(&SearchQuery::new("kettle"), 10);
    let reach: Vec<f32> = (0..5).map(|id| part(&found, id, Feature::Reach)).collect();
    assert!(reach.windows(2).all(|pair| pair[0] > pair[1]), "{reach:?}");
    assert_eq!(reach[4], 0.0);
    let answered = |id| found.iter().any(|found| found.id == id);
    assert!(answered(4), "the session as a whole is about it");
    assert!(!answered(9));
}

#[test]
fn units_of_a_named_speaker_are_preferred_unless_several_are_named() {
    let index = talk(&[("Alice", "I baked bread"), ("Bob", "I baked bread")]);
    let found = index.search(&SearchQuery::new("What did Bob bake?"), 2);
    assert_eq!(found[0].id, 1);
    assert!(part(&found, 1, Feature::Speaker) > 0.0);
    let both = index.search(&SearchQuery::new("What did Alice and Bob bake?"), 2);
    assert_eq!(part(&both, 1, Feature::Speaker), 0.0);
}

#[test]
fn a_short_form_or_a_name_that_is_also_a_word_counts_where_it_is_written_as_a_name() {
    let index = talk(&[("Melanie", "I baked bread"), ("Will", "I baked bread")]);
    for (text, named) in [
        ("What did Mel bake?", Some(0)),
        ("What bread did mel bake?", None),
        ("What bread did Will bake?", Some(1)),
        ("Will there be bread to bake?", None),
    ] {
        let found = index.search(&SearchQuery::new(text), 2);
        for id in 0..2 {
            let part = part(&found, id, Feature::Speaker);
            assert_eq!(part > 0.0, named == Some(id), "{text} {id}");
        }
    }
}

#[test]
fn sessions_in_which_the_named_speak_are_preferred() {
    let mut index = talk(&[("Alice", "The ferry was late"), ("Bob", "Indeed")]);
    for (id, speaker) in [(10, "Carol"), (11, "Dan")] {
        index.insert(&Unit {
            id,
            text: "The ferry was late",
            speaker: Some(speaker.into()),
            thread: Some("other"),
            at: Timestamp::from_micros(JUNE),
        });
    }
    let found = index.search(&SearchQuery::new("What did Bob hear of the ferry?"), 5);
    let ids: Vec<u64> = found.iter().map(|found| found.id).collect();
    assert_eq!(ids[..3], [1, 0, 10]);
    assert!(part(&found, 0, Feature::Participants) > 0.0);
    assert_eq!(part(&found, 10, Feature::Participants), 0.0);
}

#[test]
fn a_query_that_only_names_somebody_finds_units_about_them() {
    let index = talk(&[("Alice", "Bob has a new boat"), ("Bob", "It is green")]);
    let found = index.search(&SearchQuery::new("Bob"), 2);
    assert_eq!(found.len(), 2);
    assert!(part(&found, 0, Feature::Reach) > part(&found, 1, Feature::Reach));
}

#[test]
fn a_named_time_is_aimed_at() {
    let mut index = Index::default();
    let day = 24 * 60 * MINUTE;
    for (id, at) in [
        (1, JUNE - 40 * day),
        (2, JUNE + 3 * day),
        (3, JUNE + 400 * day),
    ] {
        index.insert(&Unit {
            id,
            text: "We took the ferry",
            speaker: None,
            thread: Some("talk"),
            at: Timestamp::from_micros(at),
        });
    }
    let first = |text, asked_at| {
        let query = SearchQuery::new(text).asked_at(Timestamp::from_micros(asked_at));
        index.search(&query, 3)[0].id
    };
    assert_eq!(first("Who took the ferry in June 2023?", JUNE), 2);
    assert_eq!(first("Who took the ferry in 2024?", JUNE), 3);
    assert_eq!(first("Who took the ferry yesterday?", JUNE + 4 * day), 2);
    assert_eq!(
        first("Who took the ferry?", JUNE),
        3,
        "else the newest comes first"
    );
}

#[test]
fn a_session_at_the_named_time_is_searched_even_without_a_shared_word() {
    let mut index = talk(&[
        ("Alice", "We saw nothing but rain"),
        ("Bob", "All day long"),
    ]);
    for id in 10..3_000 {
        index.insert(&Unit {
            id,
            text: &format!("The ferry number {id} was late"),
            speaker: Some("Carol".into()),
            thread: Some("other"),
            at: Timestamp::from_micros(JUNE + i64::try_from(id).unwrap_or(0) * 600 * MINUTE),
        });
    }
    let found = index.search(&SearchQuery::new("What did Bob do in June 2023?"), 10);
    assert!(found.iter().any(|found| found.id == 1), "{found:#?}");
}

#[test]
fn a_question_for_a_time_prefers_turns_that_name_a_time() {
    let index = talk(&[
        ("Alice", "The ferry ran aground near the island"),
        ("Alice", "The ferry ran aground last week"),
    ]);
    assert_eq!(
        index.search(&SearchQuery::new("When did the ferry run aground?"), 2)[0].id,
        1
    );
}

#[test]
fn a_unit_that_only_vectors_match_is_found() {
    let index = talk(&[("Alice", "The kettle sings"), ("Bob", "Boats are late")]);
    let hits = [Hit { id: 1, score: 0.8 }, Hit { id: 0, score: 0.1 }];
    let query = SearchQuery::new("ferries").dense(&hits);
    assert_eq!(index.search(&query, 2)[0].id, 1);
}

#[test]
fn units_that_are_not_admitted_leave_their_place_to_others() {
    let lines: Vec<(String, String)> = (0..50)
        .map(|id| ("Alice".to_owned(), format!("kettle number {id}")))
        .collect();
    let lines: Vec<(&str, &str)> = lines.iter().map(|(a, b)| (&**a, &**b)).collect();
    let index = talk(&lines);
    let admit = |id| id % 10 == 3;
    let found = index.search(&SearchQuery::new("kettle").admit(&admit), 100);
    let mut ids: Vec<u64> = found.iter().map(|found| found.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, [3, 13, 23, 33, 43]);
}

#[test]
fn an_isolated_fact_is_found_by_its_own_words() {
    let mut index = Index::default();
    for (id, text) in [
        (1, "Alice keeps bees"),
        (2, "Bob paints boats"),
        (3, "Tea at four"),
    ] {
        index.insert(&Unit {
            id,
            text,
            speaker: None,
            thread: None,
            at: Timestamp::EPOCH,
        });
    }
    let found = index.search(&SearchQuery::new("Who keeps bees?"), 3);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id, 1);
    assert_eq!(index.session(1), [1]);
    assert!(index.neighbours(1, 3).is_empty());
}

#[test]
fn plain_bm25_knows_words_and_nothing_else() {
    let index = talk(&[
        ("Bob", "Where is the kettle?"),
        ("Alice", "In the box"),
        (
            "Alice",
            "kettle kettle and a long tail of many other words that say nothing",
        ),
    ]);
    let found = index.search(&SearchQuery::new("kettle").ranking(Ranking::PlainBm25), 3);
    let ids: Vec<u64> = found.iter().map(|found| found.id).collect();
    assert_eq!(ids.len(), 2);
    assert!(!ids.contains(&1));
    assert!(found.iter().all(|found| found.parts.iter().count() == 1));
}

#[test]
fn weights_are_a_table_that_can_be_changed() {
    let nothing = Feature::ALL
        .into_iter()
        .fold(Weights::lexical(), |weights, feature| {
            weights.with(feature, 0.0)
        });
    let config = Config {
        lexical_weights: nothing
            .with(Feature::FirstPerson, 2.0)
            .with(Feature::Dense, f32::NAN),
        ..Config::default()
    };
    let mut index = Index::new(config);
    for (id, text) in [(1, "my kettle"), (2, "kettle")] {
        index.insert(&Unit {
            id,
            text,
            speaker: None,
            thread: None,
            at: Timestamp::EPOCH,
        });
    }
    let found = index.search(&SearchQuery::new("kettle"), 2);
    assert_eq!((found[0].id, found[0].score), (1, 1.0));
    assert_eq!((found[1].id, found[1].score), (2, 0.0));
}

#[test]
fn neighbours_are_returned_in_reading_order() {
    let index = talk(&[("A", "0"), ("B", "1"), ("A", "2"), ("B", "3"), ("A", "4")]);
    assert_eq!(index.neighbours(2, 1), [1, 3]);
    assert_eq!(index.neighbours(1, 9), [0, 2, 3, 4]);
    assert_eq!(index.session(3), [0, 1, 2, 3, 4]);
}

#[test]
fn a_query_with_unknown_words_finds_units_about_the_named_person() {
    let index = talk(&[
        ("Alice", "Alice prefers tea"),
        ("Bob", "We had soup for lunch"),
    ]);
    let found = index.search(&SearchQuery::new("What does Alice drink?"), 4);
    assert_eq!(found.first().map(|found| found.id), Some(0));
    assert!(
        index
            .search(&SearchQuery::new("What does nobody drink?"), 4)
            .is_empty()
    );
}

#[test]
fn notes_without_a_thread_never_change_how_sessions_compare() {
    let session = |notes: u64, removed: u64| {
        let mut index = talk(&[
            ("Alice", "The blue kettle is in the hall"),
            ("Bob", "And the old boat is at the mill"),
        ]);
        index.insert(&Unit {
            id: 9,
            text: "The kettle leaks",
            speaker: None,
            thread: Some("other talk"),
            at: Timestamp::from_micros(JUNE),
        });
        for id in 100..100 + notes {
            index.insert(&Unit {
                id,
                text: "The blue kettle is in the hall",
                speaker: None,
                thread: None,
                at: Timestamp::from_micros(JUNE),
            });
        }
        for id in 100..100 + removed {
            index.remove(id);
        }
        let found = index.search(&SearchQuery::new("kettle at the mill"), 100);
        [0, 9].map(|id| part(&found, id, Feature::Session))
    };
    let alone = session(0, 0);
    assert!(alone.iter().all(|part| *part > 0.0), "{alone:?}");
    assert_eq!(session(50, 0), alone);
    assert_eq!(session(50, 20), alone);
    assert_eq!(session(50, 50), alone);
}

#[test]
fn notes_without_a_thread_never_change_the_score_of_what_was_said() {
    let scores = |notes: u64, removed: u64| {
        let mut index = talk(&[
            ("Alice", "The blue kettle is in the hall"),
            ("Bob", "And the old boat is at the mill"),
            ("Alice", "The kettle leaks"),
        ]);
        for id in 100..100 + notes {
            index.insert(&Unit {
                id,
                text: "Bob's old boat at the mill leaks",
                speaker: None,
                thread: None,
                at: Timestamp::from_micros(JUNE),
            });
        }
        for id in 100..100 + removed {
            index.remove(id);
        }
        let index = Index::decode(&index.encode(), Config::default()).unwrap();
        let found = index.search(&SearchQuery::new("an old kettle at the mill"), 100);
        let said = found.into_iter().filter(|one| one.id < 100);
        said.map(|one| (one.id, one.score)).collect::<Vec<_>>()
    };
    let alone = scores(0, 0);
    assert_eq!(alone.len(), 3);
    assert_eq!(scores(12, 0), alone);
    assert_eq!(scores(12, 5), alone);
    assert_eq!(scores(12, 12), alone);
    assert_ne!(scores(13, 0), alone, "nearly all that is known is in notes");
}

/// A long reply of the kind that assistants write: it mentions everything, and says nothing about the person.
fn long_reply(about: &str) -> String {
    let tips = (1..=30).map(|number| {
        format!(
            "{number}. Many people like to think about {about} and plan number {number} ahead.\n"
        )
    });
    tips.chain(["A dog needs a name, a vet and a walk in the park.".to_owned()])
        .collect()
}

#[test]
fn a_long_reply_does_not_come_before_the_short_message_that_says_it() {
    let replies = ["toys for a dog", "the vet and a walk", "a name for a pet"].map(long_reply);
    let index = talk(&[
        (
            "user",
            "Which toys does a puppy like? Ours is a terrier, and we call him Max",
        ),
        ("assistant", &replies[0]),
        ("user", "How often must he see a doctor?"),
        ("assistant", &replies[1]),
        ("user", "Thank you"),
        ("assistant", &replies[2]),
    ]);
    let found = index.search(&SearchQuery::new("What do we call our dog?"), 3);
    assert_eq!(found[0].id, 0, "{found:?}");
}

#[test]
fn a_long_text_is_found_by_its_best_passage_and_once() {
    let reply = long_reply("rain").replace("plan number 17 ahead", "carry the yellow umbrella");
    let index = talk(&[
        ("Bob", "What shall I take along?"),
        ("Alice", &reply),
        ("Bob", "Good"),
    ]);
    let found = index.search(&SearchQuery::new("Who carries a yellow umbrella?"), 10);
    assert_eq!(found[0].id, 1);
    assert_eq!(found.iter().filter(|found| found.id == 1).count(), 1);
    assert_eq!(index.neighbours(0, 2), [1, 2]);
    assert_eq!(index.session(1), [0, 1, 2]);
    assert_eq!(index.len(), 3);
}

#[test]
fn i_is_the_one_who_asks_and_you_the_one_who_is_asked() {
    let index = talk(&[
        ("Alice", "The blue kettle is mine"),
        ("assistant", "The blue kettle is for the kitchen"),
        ("Bob", "Which kettle?"),
    ]);
    let ask = |text, asker: &str| {
        let query = SearchQuery::new(text).asked_by(asker.into());
        part(&index.search(&query, 3), 0, Feature::Person)
    };
    assert!(ask("Where is my blue kettle?", "Alice") > 0.0);
    assert_eq!(ask("Where is my blue kettle?", "Bob"), 0.0);
    assert_eq!(
        ask("What did you tell me about the blue kettle?", "Alice"),
        0.0
    );
    assert_eq!(
        ask("What did Bob tell me about the blue kettle?", "Alice"),
        0.0
    );
}

#[test]
fn a_misspelt_word_finds_what_its_writer_meant() {
    let index = talk(&[
        ("Caroline", "Where did you leave the blue kettle?"),
        ("Bob", "Under the stairs, in a box"),
        ("Caroline", "We had soup for lunch on the boat"),
        ("Bob", "The weather was lovely all week"),
    ]);
    let best = |question| index.search(&SearchQuery::new(question), 1)[0].id;
    for question in [
        "the blue kettel",
        "the bleu kettle",
        "the blue ketle",
        "the blue kettxle",
        "bluw ketgle",
    ] {
        assert_eq!(best(question), best("the blue kettle"), "{question}");
    }
    let speaker = |question| {
        let found = index.search(&SearchQuery::new(question), 4);
        part(&found, 2, Feature::Speaker)
    };
    assert!(speaker("What did Carolien eat on the boat?") > 0.0);
    assert_eq!(speaker("What did Carmen eat on the boat?"), 0.0);
}

#[test]
fn a_similar_word_counts_less_than_the_word_itself() {
    let index = talk(&[
        ("Alice", "The kettle is blue"),
        ("Bob", "It rained"),
        ("Alice", "We had soup"),
    ]);
    let reach = |question| {
        let found = index.search(&SearchQuery::new(question), 3);
        part(&found, 0, Feature::Reach)
    };
    assert!(reach("kettel") > 0.0);
    assert!(reach("kettel") < reach("kettle"));
    assert_eq!(reach("zeppelin"), 0.0);
}

#[test]
fn words_of_time_are_understood_if_they_are_misspelt() {
    let index = talk(&[
        ("Alice", "I saw her yesterday"),
        ("Bob", "The kettle is blue"),
    ]);
    let found = index.search(&SearchQuery::new("Wehn did Alice see her?"), 2);
    assert!(part(&found, 0, Feature::TimeTold) > 0.0);
}

#[test]
fn another_word_for_the_same_thing_is_found_and_the_word_itself_comes_first() {
    let index = talk(&[
        ("Alice", "I bought two figurines at the market yesterday"),
        ("Bob", "The weather was fine"),
        ("Alice", "My cousin came over for dinner"),
        ("Bob", "We repaired the roof"),
    ]);
    let found = index.search(&SearchQuery::new("Who purchased the statues?"), 4);
    assert_eq!(found[0].id, 0);
    assert!(part(&found, 0, Feature::Reach) > part(&found, 3, Feature::Reach));

    let index = talk(&[
        ("Alice", "The purchase took an hour"),
        ("Bob", "So it goes"),
        ("Alice", "Nothing happened on Monday"),
        ("Bob", "Nor on Tuesday"),
        ("Alice", "We acquired a boat"),
    ]);
    let reach = |query| {
        let found = index.search(&SearchQuery::new(query), 5);
        (
            part(&found, 0, Feature::Reach),
            part(&found, 4, Feature::Reach),
        )
    };
    let (word, other) = reach("purchase");
    assert!(word > other && other > 0.0, "{word} {other}");
}

#[test]
fn words_of_one_family_are_found() {
    let index = talk(&[
        ("Alice", "I competed in Ghent last spring"),
        ("Bob", "The soup was cold"),
    ]);
    let found = index.search(&SearchQuery::new("Which competition was it?"), 2);
    assert_eq!(found[0].id, 0);
}

#[test]
fn a_word_written_in_one_is_found_in_two_and_the_reverse() {
    let index = talk(&[
        ("Alice", "My smartwatch counts steps"),
        ("Bob", "The lamp on the night stand is broken"),
        ("Alice", "It rained on Monday"),
        ("Bob", "The soup was cold"),
    ]);
    let best = |query| index.search(&SearchQuery::new(query), 4)[0].id;
    assert_eq!(best("Did she buy a smart watch?"), 0);
    assert_eq!(best("What is on the nightstand?"), 1);
}

#[test]
fn an_answer_is_likelier_the_better_the_best_match_is_and_without_matches_there_is_none() {
    let index = talk(&[
        ("Alice", "The copper kettle is under the stairs in a box"),
        ("Bob", "We had soup for lunch"),
    ]);
    let confidence = |text| {
        let query = SearchQuery::new(text);
        index.confidence(&query, &index.search(&query, 5))
    };
    let (known, vague) = (
        confidence("Where is the copper kettle box under the stairs?"),
        confidence("Which trombone did they have at lunch in Ghent?"),
    );
    assert!(
        known > vague && vague > 0.0 && known < 1.0,
        "{known} {vague}"
    );
    assert_eq!(index.confidence(&SearchQuery::new("kettle"), &[]), 0.0);
}

#[test]
fn vectors_do_not_change_how_likely_an_answer_is_by_words() {
    let index = talk(&[
        ("Alice", "The copper kettle is under the stairs"),
        ("Bob", "We had soup for lunch"),
    ]);
    let hits = [Hit { id: 0, score: 0.9 }, Hit { id: 1, score: 0.1 }];
    let by_words = SearchQuery::new("Where is the kettle?");
    let by_both = by_words.dense(&hits);
    let of = |query| index.confidence(query, &index.search(query, 5));
    assert!((of(&by_words) - of(&by_both)).abs() < 1e-4);
}
