//! An agent of rig that is measured: `dormouse-peer-rig URL FOLDER ROUNDS TURNS EARLIER...`.
//!
//! In each round a new conversation has so many earlier turns, and then TURNS more, which are measured. Nothing is kept on a
//! disk: rig has no store of its own for that. Prints a line of JSON for each number of earlier turns: the times in
//! milliseconds, on average the processor time, and the resident memory in bytes.

use std::{
    convert::Infallible,
    env, fs,
    time::{Duration, Instant},
};

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeVal,
};
use rig::{
    agent::{Agent, AgentBuilder},
    completion::Message,
    providers::openai::OpenAIConfig,
    tool::PortableTool,
};
use serde_json::{Value, json};

struct Inspect;

impl PortableTool for Inspect {
    const NAME: &'static str = "inspect_location";
    type Args = Value;
    type Output = Value;
    type Error = Infallible;

    fn description(&self) -> String {
        "Looks around.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"detail_level": {"type": "string"}}})
    }

    async fn call(&self, _: Value) -> Result<Value, Infallible> {
        Ok(json!({"room": "Attic", "exits": ["down"]}))
    }
}

struct Wind;

impl PortableTool for Wind {
    const NAME: &'static str = "wind";
    type Args = Value;
    type Output = Value;
    type Error = Infallible;

    fn description(&self) -> String {
        "The wind where a thing is.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]})
    }

    async fn call(&self, arguments: Value) -> Result<Value, Infallible> {
        Ok(json!({"wind": "calm", "at": arguments}))
    }
}

async fn say(agent: &Agent, history: &mut Vec<Message>, words: String) {
    let response = agent.prompt(words).history(history.clone()).max_turns(8);
    let response = response.await.expect("the agent answers");
    assert_eq!(response.completion_calls.len(), 5, "a turn has five steps");
    history.extend(response.messages);
}

#[derive(Default)]
struct Took {
    walls: Vec<f64>,
    processor: f64,
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [url, _folder, rounds, turns, points @ ..] = arguments.as_slice() else {
        panic!("expected: URL FOLDER ROUNDS TURNS EARLIER...");
    };
    let number = |text: &String| text.parse::<usize>().expect("a number");
    let (rounds, turns) = (number(rounds), number(turns));
    let mut points: Vec<usize> = points.iter().map(number).collect();
    points.sort();
    let mut config = OpenAIConfig::new("none");
    config.base_url = url.clone();
    let agent = AgentBuilder::new(config.client().chat("tiny"))
        .preamble("You are Dormouse, who lives in this place.")
        .tool(Inspect)
        .tool(Wind)
        .build();
    say(&agent, &mut Vec::new(), "what is new?".to_owned()).await;
    let mut took: Vec<Took> = points.iter().map(|_| Took::default()).collect();
    for _ in 0..rounds {
        let (mut history, mut said) = (Vec::new(), 0);
        for (point, took) in points.iter().zip(&mut took) {
            while said < *point {
                say(&agent, &mut history, format!("what is new, friend {said}?")).await;
                said += 1;
            }
            let before = processor_time();
            for _ in 0..turns {
                let started = Instant::now();
                say(&agent, &mut history, format!("what is next, friend {said}?")).await;
                took.walls.push(milliseconds(started.elapsed()));
                said += 1;
            }
            took.processor += milliseconds(processor_time() - before);
        }
    }
    for (point, took) in points.iter().zip(took) {
        let line = json!({
            "earlier": point,
            "processor": took.processor / took.walls.len() as f64,
            "walls": took.walls,
            "resident": resident_bytes(),
        });
        println!("{line}");
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn processor_time() -> Duration {
    let used = getrusage(UsageWho::RUSAGE_SELF).expect("the system says");
    let part = |time: TimeVal| {
        Duration::from_micros((time.tv_sec() * 1_000_000 + time.tv_usec()).unsigned_abs())
    };
    part(used.user_time()) + part(used.system_time())
}

fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes.map_or(0, |number| 1_024 * number.trim().parse::<u64>().expect("a number"))
}
