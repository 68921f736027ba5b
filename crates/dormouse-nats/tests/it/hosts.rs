//! Hosts that share assistants, as processes of their own: they are paused for longer than their lease, killed, and asked to
//! leave.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use dormouse_contracts::{AssistantId, BoxError, BoxFuture, Seq};
use dormouse_nats::{HostAssistants, HostConfig, HostName, HostingError, NatsLog, Stay};
use tokio::{
    io::AsyncBufReadExt,
    select,
    time::{Instant, sleep},
};

use crate::{
    append, assistant, read_all,
    server::{Cluster, Settings},
};

const LEASE: Duration = Duration::from_secs(3);
const LIVES: usize = 8;
const NAME: &str = "DORMOUSE_TEST_HOST";
const SERVERS: &str = "DORMOUSE_TEST_SERVERS";
/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Assistants that append an event each few milliseconds, and say so.
struct Talkers {
    log: NatsLog,
    name: String,
}

impl Talkers {
    fn say(line: &str) {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n@{line}").unwrap();
        out.flush().unwrap();
    }
}

impl HostAssistants for Talkers {
    fn enrolled(&self) -> BoxFuture<'_, Result<BTreeSet<AssistantId>, BoxError>> {
        Box::pin(async {
            Ok((0..LIVES)
                .map(|it| assistant(&format!("life-{it}")))
                .collect())
        })
    }

    fn live(&self, assistant: AssistantId, mut stay: Stay) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut end = read_all(&self.log, &assistant).await.unwrap().len() as u64;
            stay.began();
            let name = &self.name;
            loop {
                let payload = format!("{name} {end}");
                match append(&self.log, &assistant, end, payload.clone()).await {
                    Ok(Seq(last)) => end = last,
                    Err(error) => {
                        Self::say(&format!("refused {assistant} {error}"));
                        return;
                    }
                }
                Self::say(&format!("wrote {assistant} {end} {payload}"));
                select! {
                    biased;
                    () = stay.until_let_go() => return Self::say(&format!("let-go {assistant}")),
                    () = sleep(Duration::from_millis(40)) => {}
                }
            }
        })
    }
}

/// A host process. Run by the other tests, with its name in the environment.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_process() {
    let Ok(name) = env::var(NAME) else {
        return;
    };
    let mut config = Cluster::config_of(env::var(SERVERS).unwrap().split(','), 1);
    config.patience = Duration::from_secs(5);
    let log = NatsLog::connect(&config).await.unwrap();
    let host = HostConfig {
        name: HostName::try_new(name.clone()).unwrap(),
        weight: 1,
        capacity: 100,
        lease: LEASE,
    };
    let talkers = Talkers {
        log: log.clone(),
        name,
    };
    let leave = async {
        let mut input = tokio::io::BufReader::new(tokio::io::stdin());
        let mut line = String::new();
        input.read_line(&mut line).await.unwrap();
        if line.is_empty() {
            // The other tests have ended: it must not live on.
            std::process::exit(1);
        }
    };
    match log.host(&host, &talkers, leave).await {
        Ok(()) => Talkers::say("left"),
        Err(HostingError::NameInUse(_)) => Talkers::say("name-in-use"),
        Err(error) => panic!("{error}"),
    }
}

/// What hosts have said, one line after the other.
#[derive(Default)]
struct Heard {
    lines: Vec<(String, String)>,
    /// Which process of a host wrote last, by assistant.
    writer: BTreeMap<String, String>,
    acknowledged: Vec<(String, u64, String)>,
}

struct Hosts {
    servers: String,
    heard: Arc<Mutex<Heard>>,
    news: (mpsc::Sender<()>, mpsc::Receiver<()>),
    processes: BTreeMap<String, (Child, ChildStdin)>,
}

impl Hosts {
    fn new(cluster: &Cluster) -> Self {
        Self {
            servers: cluster.config().servers.join(","),
            heard: Arc::default(),
            news: mpsc::channel(),
            processes: BTreeMap::new(),
        }
    }

    fn start(&mut self, name: &str) {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "hosts::a_host_process", "--nocapture"])
            .env(NAME, name)
            .env(SERVERS, &self.servers)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let input = process.stdin.take().unwrap();
        let (heard, news) = (Arc::clone(&self.heard), self.news.0.clone());
        let label = name.to_owned();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let Some(line) = line.strip_prefix('@') else {
                    continue;
                };
                let mut heard = heard.lock().unwrap();
                if let Some(("wrote", rest)) = line.split_once(' ') {
                    let mut words = rest.splitn(3, ' ');
                    let life = words.next().unwrap().to_owned();
                    let seq = words.next().unwrap().parse().unwrap();
                    let payload = words.next().unwrap().to_owned();
                    heard.writer.insert(life.clone(), label.clone());
                    heard.acknowledged.push((life, seq, payload));
                } else {
                    heard.lines.push((label.clone(), line.to_owned()));
                }
                news.send(()).ok();
            }
        });
        self.processes.insert(name.to_owned(), (process, input));
    }

    fn signal(&self, name: &str, signal: &str) {
        let (process, _) = self.processes.get(name).unwrap();
        let id = process.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }

    fn kill(&mut self, name: &str) {
        let (mut process, _) = self.processes.remove(name).unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    fn leave(&mut self, name: &str) {
        let (_, input) = self.processes.get_mut(name).unwrap();
        writeln!(input, "leave").unwrap();
    }

    /// Waits until this holds of what the hosts said.
    fn until(&self, what: &str, mut holds: impl FnMut(&Heard) -> bool) {
        let deadline = Instant::now() + LIMIT;
        while !holds(&self.heard.lock().unwrap()) {
            let left = deadline.duration_since(Instant::now());
            let is_news = self.news.1.recv_timeout(left).is_ok();
            assert!(is_news, "{what}: {:?}", self.heard.lock().unwrap().lines);
        }
    }

    fn until_written_by(&self, names: &[&str]) {
        self.heard.lock().unwrap().writer.clear();
        self.until(&format!("all live in {names:?}"), |heard| {
            let all = heard.writer.len() == LIVES;
            all && heard.writer.values().all(|it| names.contains(&it.as_str()))
        });
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for (process, _) in self.processes.values_mut() {
            drop(process.kill());
            drop(process.wait());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_stopped_for_longer_than_its_lease_is_fenced_and_no_event_is_lost() {
    let Some(cluster) = Cluster::start(1, Settings::default()) else {
        return;
    };
    let mut hosts = Hosts::new(&cluster);
    hosts.start("a");
    hosts.start("b");
    let both = |heard: &Heard| {
        let names: BTreeSet<_> = heard.writer.values().collect();
        heard.writer.len() == LIVES && names.len() == 2
    };
    hosts.until("both hosts have assistants", both);

    hosts.signal("a", "-STOP");
    let started = Instant::now();
    hosts.until_written_by(&["b"]);
    println!(
        "all assistants of a stopped host live elsewhere after {:.1} s",
        started.elapsed().as_secs_f64()
    );
    hosts.signal("a", "-CONT");
    // Its first appends are refused, or it lets go before it makes them.
    let went = |heard: &Heard, what: &str| {
        let mut lines = heard.lines.iter();
        lines.any(|(host, line)| host == "a" && line.starts_with(what))
    };
    hosts.until("the host notices", |heard| {
        went(heard, "refused") || went(heard, "let-go")
    });
    // It gets its share again.
    hosts.heard.lock().unwrap().writer.clear();
    hosts.until("both hosts have assistants again", both);

    hosts.kill("a");
    let started = Instant::now();
    hosts.until_written_by(&["b"]);
    println!(
        "all assistants of a killed host live elsewhere after {:.1} s",
        started.elapsed().as_secs_f64()
    );
    hosts.start("a");
    hosts.heard.lock().unwrap().writer.clear();
    hosts.until("both hosts have assistants again", both);
    hosts.leave("a");
    let started = Instant::now();
    hosts.until("the host has left", |heard| {
        heard.lines.contains(&("a".to_owned(), "left".to_owned()))
    });
    hosts.until_written_by(&["b"]);
    println!(
        "all assistants of a host that left live elsewhere after {:.1} s",
        started.elapsed().as_secs_f64()
    );
    // Two processes of one name: the second gives up.
    let first = hosts.processes.remove("b").unwrap();
    hosts.start("b");
    hosts.until("the second process gives up", |heard| {
        heard
            .lines
            .contains(&("b".to_owned(), "name-in-use".to_owned()))
    });
    hosts.processes.insert("first".to_owned(), first);

    let log = cluster.connect().await;
    let acknowledged = hosts.heard.lock().unwrap().acknowledged.clone();
    let mut stored = 0;
    for life in 0..LIVES {
        let life = assistant(&format!("life-{life}"));
        let report = log.verify(&life).await.unwrap();
        assert_eq!(report.broken, None);
        let events = read_all(&log, &life).await.unwrap();
        stored += events.len();
        for (of, seq, payload) in &acknowledged {
            if *of == life.as_str() {
                let found = &events[*seq as usize - 1].payload;
                assert_eq!(found, payload.as_bytes(), "event {seq} of {life}");
            }
        }
    }
    println!("{} acknowledged, {stored} stored", acknowledged.len());
}
