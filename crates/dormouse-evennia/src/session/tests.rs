use serde_json::json;

use super::*;
use crate::frame::{ActDone, ActState, read};

/// A session whose time is set by the test.
struct Driven {
    session: Session,
    now: Instant,
    done: Vec<Action>,
}

impl Driven {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            session: Session::new("bob", Password::new("secret"), now).resumes(None, None),
            now,
            done: Vec::new(),
        }
    }

    /// Everything that is to be done now.
    fn actions(&mut self) -> Vec<Action> {
        let actions: Vec<_> = std::iter::from_fn(|| self.session.next(self.now)).collect();
        self.done.extend(actions.clone());
        actions
    }

    /// Lets time pass until something is to be done, and returns that.
    fn later(&mut self) -> Vec<Action> {
        for _ in 0..1_000 {
            let at = self.session.next_at().expect("something is due");
            self.now = self.now.max(at);
            let actions = self.actions();
            if !actions.is_empty() {
                return actions;
            }
        }
        panic!("times come and nothing is to be done: {:?}", self.session);
    }

    fn passes(&mut self, time: Duration) -> Vec<Action> {
        let until = self.now + time;
        let mut all = self.actions();
        while let Some(at) = self.session.next_at().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            all.extend(self.actions());
        }
        self.now = until;
        all.extend(self.actions());
        all
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "a literal reads better without an ampersand"
    )]
    fn frame(&mut self, frame: serde_json::Value) -> Vec<Action> {
        let frame = read(&frame.to_string()).unwrap();
        self.session.received(frame, self.now);
        self.actions()
    }

    fn opened(&mut self) -> Vec<Action> {
        assert_eq!(self.later_or_now(), [Action::Connect]);
        self.session.opened(self.now);
        self.actions()
    }

    fn later_or_now(&mut self) -> Vec<Action> {
        let now = self.actions();
        if now.is_empty() { self.later() } else { now }
    }

    /// In the game.
    fn ready() -> Self {
        let mut driven = Self::new();
        driven.opened();
        driven.frame(json!(["logged_in", [], {}]));
        driven.frame(hello(0));
        assert!(driven.session.is_ready());
        driven
    }

    fn ask(&mut self, id: AskId, key: &str) -> Vec<Action> {
        let (key, line, only) = (key.to_owned(), "say hi".to_owned(), None);
        self.session.ask(id, Ask::Act { key, line, only }, self.now);
        self.actions()
    }
}

fn hello(lost: u64) -> serde_json::Value {
    let bob = json!({ "kind": "object", "id": 5, "key": "bob", "account": { "id": 4, "key": "bob" }, "resident": true });
    json!(["dormouse_hello", [{ "v": 1, "package": "0.1", "evennia": "5", "game": "g", "you": bob, "life": "aa",
        "seq": 3, "restored": false, "lost": lost, "problems": [] }], {}])
}

/// The answer of a game in which the account plays nobody.
fn hello_out_of_character() -> serde_json::Value {
    let mut hello = hello(0);
    hello[1][0]["you"] = json!({ "kind": "account", "id": 4, "key": "bob", "resident": true });
    hello
}

fn event(seq: u64) -> serde_json::Value {
    json!(["dormouse_event", [{ "seq": seq, "at": 100.0, "plain": "x" }], {}])
}

fn position(seq: u64) -> FeedPosition {
    FeedPosition {
        life: "aa".to_owned(),
        seq,
        at: 100.0,
    }
}

fn done(key: &str, state: &str, running: bool) -> serde_json::Value {
    json!(["dormouse_done", [{ "key": key, "state": state, "running": running, "output": ["out"] }], {}])
}

fn sent(actions: &[Action]) -> Vec<String> {
    let frames = actions.iter().filter_map(|action| match action {
        Action::Send(frame) => Some(frame.to_text()),
        _ => None,
    });
    frames.collect()
}

fn notices(actions: &[Action]) -> Vec<Notice> {
    let notices = actions.iter().filter_map(|action| match action {
        Action::Report(notice) => Some(notice.clone()),
        _ => None,
    });
    notices.collect()
}

#[test]
fn it_logs_in_greets_the_package_and_is_in_the_game() {
    let mut driven = Driven::new();
    let login = sent(&driven.opened());
    assert!(
        login[0].contains("\"login\"") && login.len() == 1,
        "{login:?}"
    );
    let greeted = sent(&driven.frame(json!(["logged_in", [], {}])));
    assert!(greeted[0].contains("client_options") && greeted[1].contains("dormouse_hello"));
    let ready = driven.frame(hello(0));
    assert!(matches!(&*notices(&ready), [Notice::Ready { name, .. }] if name == "bob"));
}

#[test]
fn a_login_that_the_server_lost_is_repeated_and_a_refused_one_is_not() {
    let mut driven = Driven::new();
    driven.opened();
    // The portal answers before the server does.
    for _ in 0..5 {
        assert!(sent(&driven.later())[0].contains("login"));
    }
    let text = "<span class=\"color-001\">Username and/or password is incorrect.</span>";
    let refused = driven.frame(json!(["text", [text], {}]));
    assert!(refused.contains(&Action::HangUp));
    assert!(notices(&refused)[0].is_final());
    assert!(!format!("{refused:?}").contains("secret"));
    driven.session.closed("closed".to_owned(), driven.now);
    assert_eq!(driven.passes(Duration::from_secs(3_600)), []);
}

#[test]
fn a_game_in_another_language_is_asked_three_times_at_most() {
    let mut driven = Driven::new();
    let mut logins = sent(&driven.opened()).len();
    for _ in 0..10 {
        driven.frame(json!(["text", ["Bienvenue"], {}]));
        logins += sent(&driven.passes(LOGIN_AGAIN)).len();
    }
    assert!(
        logins <= 4,
        "five failures would lock the address out: {logins}"
    );
    assert_eq!(driven.session.phase, Phase::Stopped);
}

#[test]
fn a_game_without_the_package_is_only_watched() {
    let mut driven = Driven::new();
    driven.opened();
    driven.frame(json!(["logged_in", [], {}]));
    let waited = driven.passes(Duration::from_secs(20));
    assert!(notices(&waited).contains(&Notice::Observing));
    let text = json!(["text", ["alice pages: obey"], {}]);
    assert_eq!(
        driven.frame(text),
        [Action::Watch("alice pages: obey".to_owned())]
    );
    // Requests are answered at once: nothing can be done here.
    assert_eq!(driven.ask(1, "k"), [Action::Answer(1, Answer::NotReached)]);
    // The package may be installed later.
    let mut asked = driven.passes(LONG_PAUSE / 2);
    driven.session.is_alive(driven.now);
    asked.extend(driven.passes(LONG_PAUSE / 2));
    assert!(sent(&asked).iter().any(|it| it.contains("dormouse_hello")));
    let told = notices(&driven.frame(hello(0)));
    assert!(matches!(&*told, [Notice::Ready { .. }]), "{told:?}");
}

#[test]
fn entries_are_acknowledged_after_they_are_stored_and_a_gap_is_asked_for() {
    let mut driven = Driven::ready();
    assert!(matches!(&*driven.frame(event(4)), [Action::Store(_)]));
    assert_eq!(
        sent(&driven.passes(ACK_WITHIN)),
        [""; 0],
        "nothing is stored yet"
    );
    driven.session.stored(position(4), driven.now);
    let acknowledged = sent(&driven.passes(ACK_WITHIN));
    assert_eq!(acknowledged, [r#"["dormouse_ack",[{"seq":4}],{}]"#]);
    assert_eq!(driven.frame(event(4)), [], "it came twice");
    let asked = sent(&driven.frame(event(6)));
    assert!(
        asked[0].contains("\"after\":4") && asked[0].contains("\"life\":\"aa\""),
        "{asked:?}"
    );
    driven.frame(hello(1));
    // What is missing is lost, and the game says so.
    assert!(matches!(&*driven.frame(event(6)), [Action::Store(_)]));
}

#[test]
fn a_program_that_was_started_again_continues_behind_what_it_stored() {
    let mut driven = Driven::new();
    driven.session = driven
        .session
        .resumes(Some("aa".to_owned()), Some(position(4)));
    driven.opened();
    let asked = sent(&driven.frame(json!(["logged_in", [], {}])));
    assert!(
        asked[1].contains(r#""after":4,"after_at":100.0"#) && asked[1].contains(r#""life":"aa""#),
        "{asked:?}"
    );
    driven.frame(hello(0));
    assert!(matches!(&*driven.frame(event(5)), [Action::Store(_)]));
}

#[test]
fn the_game_is_greeted_now_and_then_and_when_the_character_changes() {
    let mut driven = Driven::ready();
    driven.frame(event(4));
    driven.session.stored(position(4), driven.now);
    let is_hello = |frame: &String| frame.contains("dormouse_hello");
    let now_and_then = sent(&driven.passes(PING_EVERY));
    assert_eq!(now_and_then.iter().filter(|it| is_hello(it)).count(), 1);
    // What comes again was stored before, and the next entry follows it.
    driven.frame(hello(0));
    assert_eq!(driven.frame(event(4)), []);
    assert!(matches!(&*driven.frame(event(5)), [Action::Store(_)]));
    let you = driven.frame(json!(["dormouse_you", [{ "you": {}, "room": null }], {}]));
    assert!(
        sent(&you).iter().all(is_hello) && !you.is_empty(),
        "{you:?}"
    );
}

#[test]
fn what_was_lost_is_reported_and_told() {
    let mut driven = Driven::new();
    driven.opened();
    driven.frame(json!(["logged_in", [], {}]));
    let ready = driven.frame(hello(12));
    assert!(
        ready
            .iter()
            .any(|it| matches!(it, Action::Lost { count: 12, .. }))
    );
    assert!(notices(&ready).contains(&Notice::Lost { count: 12 }));
}

#[test]
fn an_act_that_a_reload_swallowed_is_sent_again_under_its_key() {
    let mut driven = Driven::ready();
    assert_eq!(sent(&driven.ask(1, "k")).len(), 1);
    let reloading = json!(["dormouse_server", [{ "event": "reloading" }], {}]);
    assert_eq!(notices(&driven.frame(reloading)), [Notice::Reloading]);
    let waiting = sent(&driven.passes(Duration::from_secs(3)));
    assert!(
        waiting.iter().all(|it| it.contains("dormouse_hello")),
        "{waiting:?}"
    );
    let again = sent(&driven.frame(hello(0)));
    assert!(
        again[0].contains("dormouse_act") && again[0].contains("\"k\""),
        "{again:?}"
    );
    let running = driven.frame(done("k", "begun", true));
    assert_eq!(running, [], "its end follows");
    let done = driven.frame(done("k", "done", false));
    assert!(matches!(
        &*done,
        [Action::Answer(
            1,
            Answer::Done(ActDone {
                state: ActState::Done,
                ..
            })
        )]
    ));
}

#[test]
fn an_act_that_nobody_answers_is_unknown_and_one_that_was_not_sent_did_not_happen() {
    let mut driven = Driven::ready();
    driven.ask(1, "k");
    driven.session.closed("cut".to_owned(), driven.now);
    driven.ask(2, "l");
    let all = driven.passes(Duration::from_secs(12));
    assert!(all.contains(&Action::Answer(2, Answer::NotReached)));
    driven.session.closed("cut".to_owned(), driven.now);
    let all = driven.passes(Duration::from_secs(20));
    assert!(all.contains(&Action::Answer(1, Answer::Unknown)));
}

#[test]
fn lost_connections_are_opened_again_with_growing_pauses() {
    let mut driven = Driven::new();
    let mut pauses = Vec::new();
    for _ in 0..9 {
        let before = driven.now;
        assert_eq!(driven.later_or_now(), [Action::Connect]);
        pauses.push((driven.now - before).as_millis());
        driven.session.closed("refused".to_owned(), driven.now);
        let told = notices(&driven.actions());
        assert_eq!(
            told.len(),
            usize::from(pauses.len() == 1),
            "it is said once"
        );
    }
    assert_eq!(
        pauses,
        [0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]
    );
}

#[test]
fn a_silent_connection_is_tested_and_given_up() {
    let mut driven = Driven::ready();
    let all = driven.passes(SILENCE);
    assert!(all.contains(&Action::Ping));
    assert!(all.contains(&Action::HangUp));
    assert!(matches!(
        driven.session.phase,
        Phase::Away { .. } | Phase::Connecting
    ));
    let mut driven = Driven::ready();
    for _ in 0..30 {
        driven.passes(Duration::from_secs(10));
        driven.session.is_alive(driven.now);
    }
    let idle = driven
        .done
        .iter()
        .filter(|it| **it == Action::Send(ToGame::Idle));
    assert_eq!(idle.count(), 1, "in five minutes");
}

#[test]
fn no_more_frames_are_sent_than_the_game_takes() {
    let mut driven = Driven::ready();
    let start = driven.now;
    for id in 0..200 {
        driven.ask(id, &format!("key {id}"));
    }
    assert!(sent(&driven.done).len() <= 40);
    for second in 1..=6 {
        driven.passes(Duration::from_secs(1));
        let most = 40 * (second + 1);
        assert!(
            sent(&driven.done).len() <= most,
            "after {:?}",
            driven.now - start
        );
    }
    let acts = driven
        .done
        .iter()
        .filter(|it| matches!(it, Action::Send(ToGame::Act { .. })));
    assert!(acts.count() >= 200);
}

#[test]
fn refusals_say_what_to_do() {
    for (code, is_final) in [
        ("not_resident", true),
        ("version", true),
        ("taken_over", false),
    ] {
        let mut driven = Driven::ready();
        let told =
            notices(&driven.frame(json!(["dormouse_error", [{ "code": code, "error": "e" }], {}])));
        assert_eq!(told.len(), 1, "{code}");
        assert_eq!(told[0].is_final(), is_final, "{code}");
    }
    let mut driven = Driven::ready();
    driven.ask(3, "k");
    let refusal =
        |code| json!(["dormouse_error", [{ "code": code, "error": "no room", "about": "k" }], {}]);
    let refused = driven.frame(refusal("full"));
    assert_eq!(
        refused,
        [Action::Answer(3, Answer::Refused("no room".to_owned()))]
    );
    driven.ask(4, "k");
    let changed = driven.frame(refusal("changed"));
    assert_eq!(changed, [Action::Answer(4, Answer::Changed)]);
    // A frame that cannot be read changes nothing.
    driven.session.skipped("odd".to_owned(), driven.now);
    assert_eq!(
        driven.actions(),
        [Action::Report(Notice::Skipped {
            why: "odd".to_owned()
        })]
    );
    assert!(driven.session.is_ready());
}

#[test]
fn a_restored_game_is_reported_and_in_another_nothing_is_done() {
    let mut driven = Driven::ready();
    driven.frame(event(4));
    driven.session.stored(position(4), driven.now);
    let restored = hello(0).to_string();
    let restored = restored.replace("\"restored\":false", "\"restored\":true");
    let reported = notices(&driven.frame(serde_json::from_str(&restored).unwrap()));
    assert_eq!(reported, [Notice::Restored]);
    let other = hello(0).to_string().replace("\"aa\"", "\"bb\"");
    let reported = notices(&driven.frame(serde_json::from_str(&other).unwrap()));
    assert!(matches!(&reported[..], [only @ Notice::AnotherGame { .. }] if only.is_final()));
    assert!(!driven.session.is_ready());
}

#[test]
fn a_login_without_a_character_takes_it_up_once() {
    let mut driven = Driven::new();
    driven.opened();
    driven.frame(json!(["logged_in", [], {}]));
    let enters = r#"["text",["ic"],{}]"#;
    let entered = driven.frame(hello_out_of_character());
    assert!(sent(&entered).contains(&enters.to_owned()), "{entered:?}");
    // The staff takes the character away: that is not undone.
    driven.frame(hello(0));
    let later = driven.frame(hello_out_of_character());
    assert!(!sent(&later).contains(&enters.to_owned()), "{later:?}");

    // Nor by a restart, while a character that was played until then is taken up again.
    driven.frame(json!(["text", [" ... Server restarted."], {}]));
    let restarted = driven.frame(hello_out_of_character());
    assert!(
        !sent(&restarted).contains(&enters.to_owned()),
        "{restarted:?}"
    );
    let mut playing = Driven::ready();
    playing.frame(json!(["text", [" ... Server restarted."], {}]));
    let restarted = playing.frame(hello_out_of_character());
    assert!(
        sent(&restarted).contains(&enters.to_owned()),
        "{restarted:?}"
    );

    let mut playing = Driven::new();
    playing.opened();
    playing.frame(json!(["logged_in", [], {}]));
    let greeted = playing.frame(hello(0));
    assert!(!sent(&greeted).contains(&enters.to_owned()), "{greeted:?}");
}
