//! What it costs to leave out what the listeners of a request did not perceive, against no such filter.

use std::hint::black_box;

use dormouse_contracts::{AssistantId, Audience, EntityId, Timestamp};
use dormouse_memory::{Memory, Note, RecallRequest};

use crate::{clock::now, speech::Speech, times::Times};

/// How many people there are.
const PEOPLE: usize = 5_000;
/// How many of them hear what is said to a group.
const GROUP: usize = 256;
/// How many different groups there are.
const GROUPS: usize = 1_000;

fn people(from: usize, count: usize) -> Audience {
    let ids = (from..from + count).map(|number| format!("player:{:04}", number % PEOPLE));
    ids.map(|id| EntityId::try_new(id).unwrap()).collect()
}

/// Every second record is public, each other one was said to one of the groups.
pub(crate) async fn measure(speech: &Speech) {
    let memory = Memory::builder(AssistantId::try_new("bench").unwrap(), || {
        Timestamp::from_micros(i64::MAX / 2)
    });
    let memory = memory.ephemeral().unwrap();
    let groups: Vec<_> = (0..GROUPS).map(|group| people(group * 5, GROUP)).collect();
    let numbered: Vec<_> = speech.turns.iter().enumerate().collect();
    for turns in numbered.chunks(1_000) {
        let notes = turns.iter().map(|(number, turn)| {
            let known_to = match number % 2 {
                0 => Audience::Public,
                _ => groups[number / 2 % GROUPS].clone(),
            };
            Note::new(&turn.text)
                .said_by(&turn.speaker)
                .at(Timestamp::from_micros(turn.at * 1_000_000))
                .known_to(known_to)
        });
        memory.add_all(notes.collect(), "bench").await.unwrap();
    }
    let asked = [
        ("recall, no filter by listeners (baseline)", None),
        ("recall, one listener", Some(people(7, 1))),
        ("recall, 5,000 listeners", Some(people(0, PEOPLE))),
    ];
    let mut times = asked.each_ref().map(|_| Times::default());
    for question in &speech.questions {
        // In turn, so that what else the machine does meets all of them.
        for ((_, listeners), times) in asked.iter().zip(&mut times) {
            let mut request = RecallRequest::new(question.as_str());
            if let Some(listeners) = listeners {
                request = request.for_listeners(listeners.clone());
            }
            let begun = now();
            black_box(memory.recall(request).await.unwrap());
            times.push(now().duration_since(begun));
        }
    }
    let baseline = times[0].middle().as_secs_f64();
    let ratios = times
        .each_ref()
        .map(|times| times.middle().as_secs_f64() / baseline);
    for (((what, _), times), ratio) in asked.iter().zip(times).zip(ratios) {
        times.tell(&format!("{what}, ratio {ratio:.2}"));
    }
}
