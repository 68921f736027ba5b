//! `dormouse log move`.

use crate::program::Home;

#[cfg(not(feature = "cluster"))]
#[test]
fn a_program_without_the_feature_says_how_to_build_it() {
    let home = Home::new();
    let run = home.run(&["log", "move", "--to", "nats://127.0.0.1:1"], "");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("--features cluster"), "{}", run.err);
}

#[test]
fn exactly_one_direction_is_named() {
    let home = Home::new();
    let neither = home.run(&["log", "move"], "");
    let both = ["log", "move", "--to", "nats://a", "--from", "nats://b"];
    let both = home.run(&both, "");
    assert_eq!((neither.code, both.code), (Some(2), Some(2)));
}

#[cfg(feature = "cluster")]
#[expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "the lints know tests from their attribute; these are also the functions that tests share"
)]
mod with_a_server {
    use std::{
        env, fs,
        io::{BufRead, BufReader},
        net::TcpListener,
        path::{Path, PathBuf},
        process::{Child, Command, Stdio},
    };

    use dormouse_contracts::{Append, AppendRequest, AssistantId, EntityId, Timestamp};
    use dormouse_engine::{Event, LinesDropped};
    use dormouse_store::RedbLog;
    use tokio::time::Instant;

    use crate::program::{Home, Run};

    /// A server with logins, as `cargo xtask peers` installs it. Killed when it is dropped.
    struct Server {
        process: Child,
        address: String,
        _folder: tempfile::TempDir,
    }

    impl Server {
        fn start() -> Option<Self> {
            let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers");
            let home = env::var_os("DORMOUSE_PEERS").map_or_else(default, PathBuf::from);
            let program = home.join("nats/bin/nats-server");
            if !program.is_file() {
                println!("skipped: nats (run `cargo xtask peers` to install it)");
                return None;
            }
            let folder = tempfile::tempdir().unwrap();
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let address = listener.local_addr().unwrap();
            drop(listener);
            let config = folder.path().join("server.conf");
            let store = folder.path().join("store");
            let text = format!(
                "listen: {address}\njetstream {{ store_dir: {store:?}, sync_interval: always }}\n\
                 accounts {{ D {{ jetstream: enabled, users: [ {{user: dormouse, password: pw}} ] }}\n\
                 SYS {{ users: [ {{user: sys, password: pw}} ] }} }}\nsystem_account: SYS\n"
            );
            fs::write(&config, text).unwrap();
            let mut process = Command::new(program)
                .arg("-c")
                .arg(config)
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let output = process.stderr.take().unwrap();
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            assert!(lines.any(|line| line.contains("Server is ready")));
            // It goes on reading, because a server that cannot write its messages stops.
            std::thread::spawn(move || lines.for_each(drop));
            Some(Self {
                process,
                address: format!("nats://{address}"),
                _folder: folder,
            })
        }

        fn command(&self, home: &Home, way: &str) -> Command {
            let arguments = ["log", "move", way, &self.address, "--replicas", "1"];
            let mut command = home.command(&arguments);
            command
                .env("DORMOUSE_CLUSTER_LOGIN", "dormouse:pw")
                .env("DORMOUSE_CLUSTER_SYSTEM_LOGIN", "sys:pw");
            command
        }

        fn run(&self, home: &Home, way: &str, more: &[&str]) -> Run {
            let mut command = self.command(home, way);
            command.args(more);
            crate::program::finish(command.spawn().unwrap(), b"")
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            drop(self.process.kill());
            drop(self.process.wait());
        }
    }

    fn hash(home: &Home) -> String {
        let replayed = home.run(&["log", "replay", "--json"], "").items().remove(0);
        replayed["hash"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_life_moves_to_a_cluster_and_back() {
        let Some(server) = Server::start() else {
            return;
        };
        let (first, second) = (Home::new(), Home::new());
        let played = first.play("Hello!\nremember that Alice prefers tea\n");
        assert_eq!(played.code, Some(0), "{}", played.err);
        let moved = server.run(&first, "--to", &[]);
        assert_eq!(moved.code, Some(0), "{}", moved.err);
        assert!(moved.out.contains(&hash(&first)), "{}", moved.out);
        let again = server.run(&first, "--to", &["--assistant", "dormouse"]);
        assert!(again.out.contains(" 0 of them new"), "{}", again.out);

        let back = server.run(&second, "--from", &[]);
        assert_eq!(back.code, Some(0), "{}", back.err);
        assert_eq!(hash(&second), hash(&first));
        let shown = |home: &Home| home.run(&["log", "show", "--json"], "").out;
        assert_eq!(shown(&second), shown(&first));
        let verified = second.run(&["log", "verify"], "");
        assert_eq!(verified.code, Some(0), "{}", verified.err);

        // It goes on in one place, and then in both.
        let stopped = second.run(&["emergency", "stop", "--by", "Ada"], "");
        assert_eq!(stopped.code, Some(0), "{}", stopped.err);
        let moved = server.run(&second, "--to", &[]);
        assert!(moved.out.contains(" 1 of them new"), "{}", moved.out);
        let older = server.run(&first, "--to", &[]);
        assert_eq!(older.code, Some(2));
        assert!(
            older.err.contains("move the life the other way"),
            "{}",
            older.err
        );
        first.play("Hello again!\n");
        let diverged = server.run(&first, "--to", &[]);
        assert_eq!(diverged.code, Some(2));
        assert!(
            diverged.err.contains("is not the same in both logs"),
            "{}",
            diverged.err
        );

        let unknown = server.run(&first, "--to", &["--assistant", "nobody"]);
        assert!(unknown.err.contains("nobody"), "{}", unknown.err);
        let mut unasked = first.command(&["log", "move", "--to", &server.address]);
        unasked.env_remove("DORMOUSE_CLUSTER_SYSTEM_LOGIN");
        let unasked = crate::program::finish(unasked.spawn().unwrap(), b"");
        assert_eq!(unasked.code, Some(2));
        assert!(
            unasked.err.contains("--acknowledged-before-sync"),
            "{}",
            unasked.err
        );
    }

    /// Events of a life that an operator stops and lets go on, again and again.
    fn long_life(home: &Home, count: u64) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let log = RedbLog::open_existing(&home.file("log.redb")).unwrap();
        let key = AssistantId::try_new("dormouse").unwrap();
        let mut end = log.end_of(&key).unwrap();
        while end.0 < count {
            let events = (end.0..count).take(2_000).map(|number| {
                let event = Event::LinesDropped(LinesDropped {
                    entity: EntityId::try_new(format!("player-{number}-{}", "x".repeat(200))).ok(),
                    lines: number,
                });
                let at = Timestamp::from_micros(1_795_219_200_000_000 + number as i64);
                event.encode(at).unwrap()
            });
            let request = AppendRequest {
                assistant: key.clone(),
                expected: end,
                events: events.collect(),
            };
            end = runtime.block_on(log.append(request)).unwrap();
        }
        log.close();
    }

    /// `DORMOUSE_MOVED_EVENTS=1000000` and `--nocapture` measure a life of a million events.
    #[test]
    fn a_long_life_is_interrupted_goes_on_and_comes_back() {
        let Some(server) = Server::start() else {
            return;
        };
        let count = env::var("DORMOUSE_MOVED_EVENTS").map_or(6_000, |it| it.parse().unwrap());
        let (first, second) = (Home::new(), Home::new());
        first.play("Hello!\n");
        // Its decisions are not decided again: these events were written by hand.
        first.leave_its_log();
        second.leave_its_log();
        long_life(&first, count);
        let bytes = fs::metadata(first.file("log.redb")).unwrap().len();
        // It is killed while it moves.
        let mut killed = server.command(&first, "--to").spawn().unwrap();
        std::thread::yield_now();
        killed.kill().unwrap();
        killed.wait().unwrap();
        let started = Instant::now();
        let moved = server.run(&first, "--to", &[]);
        let there = started.elapsed();
        assert_eq!(moved.code, Some(0), "{}", moved.err);
        let started = Instant::now();
        let back = server.run(&second, "--from", &[]);
        let here = started.elapsed();
        assert_eq!(back.code, Some(0), "{}", back.err);
        println!(
            "{count} events, {bytes} bytes: there in {:.1} s, back in {:.1} s\n{}{}",
            there.as_secs_f64(),
            here.as_secs_f64(),
            moved.out,
            back.out
        );
        assert_eq!(hash(&first), hash(&second));
    }
}
