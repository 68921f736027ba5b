//! A long visit in a small context window: earlier turns are left out of prompts, and nothing of them is lost.

use dormouse_contracts::{AssistantId, ReadEvents, Seq};
use dormouse_engine::Event;
use dormouse_store::LogView;
use dormouse_testing::effort;

use crate::program::{Home, Run};

const WINDOW: u32 = 4_096;

/// A visit with this many turns. The last one asks for something that the third one said.
fn script(turns: u32) -> String {
    let mut script = "begin 2027-01-01T09:00:00Z\n".to_owned();
    for turn in 1..turns {
        let said = match turn {
            3 => "remember that the silver key is under the third flowerpot".to_owned(),
            _ => format!(
                "boat {turn} came in with {} barrels of salted herring and left again with the tide",
                turn * 7
            ),
        };
        script.push_str(&format!("+1m Alice: whisper Dormouse = {said}\n"));
    }
    script.push_str("+1m Alice: whisper Dormouse = Where is the silver key?\n");
    script
}

fn life(home: &Home) -> Vec<Event> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let log = LogView::open(&home.file("log.redb")).unwrap();
    let key = AssistantId::try_new("dormouse").unwrap();
    let stored = runtime.block_on(log.read(&key, Seq(0), 100_000)).unwrap();
    stored
        .iter()
        .map(|stored| Event::decode(stored).unwrap())
        .collect()
}

fn play(home: &Home, turns: u32) -> Run {
    let file = home.write("visit.txt", &script(turns));
    home.write(
        "dormouse.toml",
        &format!("[limits]\nmax_context_tokens = {WINDOW}\n"),
    );
    home.run(&["play", "--json", "--script", file.to_str().unwrap()], "")
}

#[test]
fn two_hundred_turns_in_a_small_window_keep_what_was_said_in_the_third() {
    let home = Home::new();
    let turns = effort(200).max(70);
    let run = play(&home, turns);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);

    let (mut tick, mut compacted, mut summaries, mut replies) = (0, 0, 0, 0);
    for event in life(&home) {
        match event {
            Event::TickStarted(started) => tick = started.tick,
            Event::Replied(replied) => {
                replies += 1;
                println!("tick {tick}: {} of {WINDOW} tokens", replied.prompt_tokens);
                assert!(replied.prompt_tokens * 100 < WINDOW * 80, "tick {tick}");
            }
            Event::Compacted(it) => {
                compacted += 1;
                let dropped: usize = it.dropped.iter().map(|span| span.turns.len()).sum();
                let (before, after) = (it.before, it.after);
                println!(
                    "tick {tick}: compacted {before} to {after} tokens, {dropped} turns left out"
                );
                assert!(after < before);
            }
            Event::HistorySummarized(made) => {
                summaries += 1;
                println!(
                    "tick {tick}: {} to {}: {}",
                    made.span.from, made.span.to, made.text
                );
            }
            _ => {}
        }
    }
    assert!(
        tick >= u64::from(turns) && replies >= turns,
        "{tick} ticks, {replies} replies"
    );
    assert!(compacted > 1 && summaries > 0, "{compacted}, {summaries}");
    let last = run.out.lines().filter(|line| line.contains("flowerpot"));
    let last: Vec<_> = last.collect();
    assert!(
        last.last()
            .is_some_and(|line| !line.contains("remember that")),
        "{last:?}"
    );

    let again = home.run(&["log", "replay", "--decide"], "");
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    let shown = home.run(&["log", "show"], "");
    assert!(shown.out.contains("left out"), "{}", shown.out);
}

#[test]
fn memory_compact_says_how_full_the_window_is_and_changes_nothing_if_asked_not_to() {
    let home = Home::new();
    assert_eq!(play(&home, 40).code, Some(0));
    let before = life(&home).len();
    let dry = home.run(
        &["memory", "compact", "--dry-run", "--provider", "offline"],
        "",
    );
    assert_eq!(dry.code, Some(0), "{}", dry.err);
    assert!(dry.out.contains(" of 4096 tokens ("), "{}", dry.out);
    assert_eq!(life(&home).len(), before);
    let off = home.run(&["config", "set", "compaction.enabled", "false"], "");
    assert_eq!(off.code, Some(0), "{}", off.err);
}
