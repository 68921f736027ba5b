//! Tools of servers, good and bad.

use std::{
    collections::BTreeMap, env::current_exe, fs, net::TcpStream, path::Path, time::Duration,
};

use dormouse_contracts::{
    Arguments, AssistantId, Effect, EffectInquiry, EffectKey, Inquire, Observe, Outcome, Perform,
    Query, Timestamp, ToolCategory, ToolName, ToolReach, ToolSource, Trust, WorldErrorKind,
};
use dormouse_mcp::{
    McpAgreement, McpServer, McpServerState, McpToolPolicy, McpToolState, McpTools, McpTransport,
    SecretText,
};
use dormouse_testing::conformance::{self, WorldFixture};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{advance, timeout};

use crate::hostile::{FOLDER, ORDER, TOOLS};

/// The longest wait for an answer in these tests.
pub(crate) const LIMIT: Duration = Duration::from_millis(400);

/// A server called `bad`, which keeps its files in this folder.
pub(crate) fn bad(folder: &Path) -> McpServer {
    let arguments = ["--exact", "hostile::serves", "--nocapture"];
    let folder = SecretText(folder.to_str().unwrap().to_owned());
    let mut server = McpServer::new(
        "bad",
        McpTransport::Program {
            command: current_exe().unwrap(),
            arguments: arguments.map(str::to_owned).to_vec(),
            environment: BTreeMap::from([(FOLDER.to_owned(), folder)]),
        },
    );
    server.policy.timeout = Some(LIMIT);
    server
}

fn open(server: McpServer, folder: &Path) -> McpTools {
    McpTools::open(vec![server], folder.join("known.json")).unwrap()
}

fn by_ada() -> McpAgreement {
    McpAgreement {
        by: "Ada".to_owned(),
        at: Timestamp::EPOCH,
    }
}

/// The tools of this server, after a person agreed to all of them.
pub(crate) async fn agreed(server: McpServer, folder: &Path) -> McpTools {
    let tools = open(server.clone(), folder);
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    tools.shown(&tools.status().await.unwrap()).unwrap();
    tools.accept("bad", None, &by_ada()).unwrap();
    tools.close().await;
    open(server, folder)
}

fn name(tool: &str) -> ToolName {
    ToolName::try_new(format!("bad_{tool}")).unwrap()
}

pub(crate) fn effect(tool: &str, number: u32) -> Effect {
    Effect {
        key: EffectKey::try_new(format!("key/{number}")).unwrap(),
        actor: AssistantId::try_new("vole").unwrap(),
        tool: name(tool),
        arguments: Arguments::from_iter([("text".to_owned(), json!("hello"))]),
        reply_to: None,
        within: None,
    }
}

/// How often the server was asked to do this.
pub(crate) fn calls(folder: &Path, tool: &str) -> usize {
    fs::read_to_string(folder.join(tool))
        .unwrap_or_default()
        .len()
}

pub(crate) async fn does(
    tools: &McpTools,
    tool: &str,
    number: u32,
) -> Result<Outcome, WorldErrorKind> {
    let done = tools.perform(&effect(tool, number)).await;
    done.map_err(|error| error.kind())
}

pub(crate) fn text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(receipt) => receipt.detail["text"].as_str().unwrap().to_owned(),
        Outcome::Rejected(rejection) => rejection.reason.clone(),
        Outcome::Unknown => unreachable!("a source fails instead"),
    }
}

fn state(tools: &[dormouse_mcp::McpToolStatus], tool: &str) -> McpToolState {
    tools
        .iter()
        .find(|it| it.tool == tool)
        .unwrap()
        .state
        .clone()
}

#[tokio::test]
async fn a_tool_is_offered_once_a_person_agreed_and_its_server_runs_once_it_is_called() {
    let folder = TempDir::new().unwrap();
    let server = bad(folder.path());
    let tools = open(server.clone(), folder.path());
    assert_eq!(tools.specs(), []);
    assert_eq!(
        tools.status().await.unwrap()[0].state,
        McpServerState::Configured
    );
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    let status = tools.status().await.unwrap();
    assert_eq!(status[0].state, McpServerState::Started);
    assert_eq!(state(&status[0].tools, "echo"), McpToolState::New);
    let unseen = tools.accept("bad", Some("echo"), &by_ada()).unwrap_err();
    assert!(unseen.to_string().contains("is newer than"), "{unseen}");
    tools.shown(&status).unwrap();
    let misspelt = tools.accept("bad", Some("eco"), &by_ada()).unwrap_err();
    assert!(misspelt.to_string().contains("expected "), "{misspelt}");
    let accepted = tools.accept("bad", Some("echo"), &by_ada()).unwrap();
    assert_eq!(accepted.len(), 1);
    assert_eq!(accepted[0].digest.len(), 64);
    assert!(
        tools.accept("bad", Some("echo"), &by_ada()).is_err(),
        "there is nothing new"
    );
    assert!(
        tools
            .accept("good", None, &by_ada())
            .unwrap_err()
            .to_string()
            .contains("expected bad")
    );
    assert_eq!(
        tools.specs(),
        [],
        "what is offered stays the same until the next start"
    );
    tools.close().await;

    let tools = open(server, folder.path());
    let specs = tools.specs();
    assert_eq!(specs.len(), 1);
    assert_eq!(specs[0].name, name("echo"));
    assert_eq!(
        (specs[0].reach, specs[0].category),
        (ToolReach::Effect, ToolCategory::SafeChain)
    );
    assert_eq!(specs[0].result_trust, Some(Trust::NONE));
    assert!(specs[0].required_trust > Some(Trust::NONE));
    assert_eq!(
        tools.status().await.unwrap()[0].state,
        McpServerState::Known
    );
    let done = does(&tools, "echo", 1).await.unwrap();
    assert_eq!(text(&done), "hello");
    assert_eq!(
        tools.status().await.unwrap()[0].state,
        McpServerState::Called
    );
    let status = tools.status().await.unwrap();
    let echo = status[0].tools.iter().find(|tool| tool.tool == "echo");
    assert_eq!(echo.unwrap().agreement, Some(by_ada()));
    let unknown = does(&tools, "hangs", 2).await.unwrap();
    assert!(text(&unknown).contains("no tool"), "nobody agreed to it");
    tools.close().await;
    assert_eq!(
        tools.status().await.unwrap()[0].state,
        McpServerState::Known
    );
}

#[tokio::test]
async fn an_effect_happens_once_for_its_key() {
    let folder = TempDir::new().unwrap();
    let tools = agreed(bad(folder.path()), folder.path()).await;
    let first = does(&tools, "echo", 1).await.unwrap();
    assert_eq!(does(&tools, "echo", 1).await.unwrap(), first);
    assert_eq!(calls(folder.path(), "echo"), 1);
    assert_eq!(
        tools.inquire(&effect("echo", 1)).await.unwrap(),
        Some(first).into()
    );
    let never = tools.inquire(&effect("echo", 2)).await.unwrap();
    assert_eq!(
        never,
        EffectInquiry::CannotTell,
        "another process may have called it"
    );
    assert_eq!(
        does(&tools, "hangs", 3).await,
        Err(WorldErrorKind::Unanswered)
    );
    assert_eq!(
        does(&tools, "hangs", 3).await,
        Err(WorldErrorKind::Unanswered)
    );
    assert_eq!(calls(folder.path(), "hangs"), 1);
    let open = tools.inquire(&effect("hangs", 3)).await.unwrap();
    assert_eq!(open, EffectInquiry::CannotTell);
    tools.close().await;
    let told = folder.path().join("cancelled").exists();
    assert!(told, "the server gets the cancellation");
}

#[tokio::test]
async fn what_is_not_agreed_to_any_more_is_not_called() {
    let folder = TempDir::new().unwrap();
    let server = bad(folder.path());
    let tools = agreed(server.clone(), folder.path()).await;
    // The server changes what it says while nobody calls it.
    fs::write(folder.path().join("description"), ORDER).unwrap();
    let refused = does(&tools, "echo", 1).await.unwrap();
    assert!(
        text(&refused).contains("a person has to agree"),
        "{refused:?}"
    );
    assert!(!text(&refused).contains("bank"));
    assert_eq!(calls(folder.path(), "echo"), 0);
    let status = tools.status().await.unwrap();
    assert_eq!(state(&status[0].tools, "echo"), McpToolState::Changed);
    let echo = status[0]
        .tools
        .iter()
        .find(|tool| tool.tool == "echo")
        .unwrap();
    assert_eq!(
        (echo.description.as_str(), echo.was.as_deref()),
        (ORDER, Some("Does echo."))
    );
    tools.close().await;
    // It is not offered at the next start, and is once a person agrees, who has seen what it is now.
    let tools = open(server.clone(), folder.path());
    assert!(!tools.specs().iter().any(|spec| spec.name == name("echo")));
    tools.shown(&status).unwrap();
    fs::write(folder.path().join("description"), format!("{ORDER} Now.")).unwrap();
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    let unseen = tools.accept("bad", Some("echo"), &by_ada()).unwrap_err();
    assert!(unseen.to_string().contains("newer"), "{unseen}");
    assert!(tools.accept("bad", None, &by_ada()).is_err());
    tools.close().await;
    fs::write(folder.path().join("description"), ORDER).unwrap();
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    tools.accept("bad", Some("echo"), &by_ada()).unwrap();
    tools.close().await;
    let tools = open(server.clone(), folder.path());
    assert!(tools.specs().iter().any(|spec| spec.name == name("echo")));
    // If the server takes the change back before anybody agreed, the tool is as it was.
    fs::remove_file(folder.path().join("description")).unwrap();
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    assert_eq!(
        state(&tools.status().await.unwrap()[0].tools, "echo"),
        McpToolState::Changed
    );
    tools.close().await;
    fs::write(folder.path().join("description"), ORDER).unwrap();
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    assert_eq!(
        state(&tools.status().await.unwrap()[0].tools, "echo"),
        McpToolState::Offered
    );
    tools.close().await;
}

#[tokio::test]
async fn a_definition_that_lies_harms_nothing_but_itself() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("lies"), "").unwrap();
    let tools = agreed(bad(folder.path()), folder.path()).await;
    let names: Vec<_> = tools
        .specs()
        .iter()
        .map(|spec| spec.name.to_string())
        .collect();
    assert_eq!(names.len(), TOOLS.len() + 1, "{names:?}");
    let status = tools.status().await.unwrap();
    for unusable in ["remote", "no_object", "large", "bad name!"] {
        let state = state(&status[0].tools, unusable);
        assert!(
            matches!(state, McpToolState::Unusable(_)),
            "{unusable}: {state:?}"
        );
    }
    let hidden = tools
        .specs()
        .into_iter()
        .find(|spec| spec.name == name("hidden"))
        .unwrap();
    assert!(
        !hidden.description.contains(['\u{202e}']),
        "{}",
        hidden.description
    );
    assert!(
        !hidden.description.contains("<|im_start|>"),
        "{}",
        hidden.description
    );
    let parameter = &hidden.parameters["properties"]["text"]["description"];
    let parameter = parameter.as_str().unwrap();
    assert!(parameter.starts_with("Fine."), "{parameter}");
    assert!(
        !parameter.contains(['\u{202e}', '\u{e0041}']) && !parameter.contains("<|im_start|>"),
        "{parameter}"
    );
    let echo = tools
        .specs()
        .into_iter()
        .find(|spec| spec.name == name("echo"))
        .unwrap();
    assert_eq!(echo.description, "Does echo.", "the first of two counts");
}

#[tokio::test]
async fn a_tool_that_the_server_has_no_more_is_not_offered_and_names_without_a_tool_are_reported() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("lies"), "").unwrap();
    let mut server = bad(folder.path());
    let each = &mut server.each;
    each.insert("ecco".to_owned(), McpToolPolicy::default());
    let tools = agreed(server.clone(), folder.path()).await;
    let status = tools.status().await.unwrap();
    assert_eq!(status[0].misnamed, ["ecco"]);
    let offers = |tools: &McpTools| tools.specs().iter().any(|spec| spec.name == name("hidden"));
    assert!(offers(&tools));
    fs::remove_file(folder.path().join("lies")).unwrap();
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    let status = tools.status().await.unwrap();
    assert_eq!(state(&status[0].tools, "hidden"), McpToolState::Gone);
    tools.close().await;
    assert!(!offers(&open(server.clone(), folder.path())));
    // It is the same when it is there again.
    fs::write(folder.path().join("lies"), "").unwrap();
    let tools = open(server.clone(), folder.path());
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    tools.close().await;
    assert!(offers(&open(server, folder.path())));
}

#[tokio::test]
async fn nobody_agrees_to_what_the_settings_leave_out() {
    let folder = TempDir::new().unwrap();
    let mut server = bad(folder.path());
    server.allow = Some(["echo".to_owned()].into());
    let tools = agreed(server.clone(), folder.path()).await;
    let status = tools.status().await.unwrap();
    assert_eq!(state(&status[0].tools, "dies"), McpToolState::LeftOut);
    assert_eq!(tools.specs().len(), 1);
    tools.close().await;
    server.allow = None;
    let tools = open(server, folder.path());
    let status = tools.status().await.unwrap();
    assert_eq!(state(&status[0].tools, "dies"), McpToolState::New);
    assert_eq!(tools.specs().len(), 1);
}

#[tokio::test]
async fn endless_pages_of_tools_end() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("pages"), "").unwrap();
    let tools = agreed(bad(folder.path()), folder.path()).await;
    assert_eq!(tools.specs().len(), TOOLS.len());
}

#[tokio::test]
async fn hints_are_believed_only_if_the_operator_says_so_and_the_operator_decides() {
    let folder = TempDir::new().unwrap();
    let mut server = bad(folder.path());
    server.believe_hints = true;
    let dangerous = McpToolPolicy {
        category: Some(ToolCategory::Dangerous),
        reach: Some(ToolReach::Effect),
        ..McpToolPolicy::default()
    };
    server.each.insert("dies".to_owned(), dangerous);
    server.allow = Some(["echo", "dies"].map(str::to_owned).into());
    let tools = agreed(server, folder.path()).await;
    let of = |tool: &str| {
        let spec = tools
            .specs()
            .into_iter()
            .find(|spec| spec.name == name(tool))
            .unwrap();
        (spec.reach, spec.category)
    };
    assert_eq!(of("echo"), (ToolReach::Query, ToolCategory::SafeChain));
    assert_eq!(of("dies"), (ToolReach::Effect, ToolCategory::Dangerous));
    assert_eq!(tools.specs().len(), 2);
    let Effect {
        actor,
        tool,
        arguments,
        ..
    } = effect("echo", 1);
    let query = Query {
        actor,
        tool,
        arguments,
    };
    let seen = tools.observe(&query).await.unwrap().unwrap();
    assert_eq!(seen, json!({ "server": "bad", "text": "hello" }));
    let acted = does(&tools, "echo", 1).await.unwrap();
    assert!(text(&acted).contains("only answers"));
    assert_eq!(calls(folder.path(), "echo"), 1);
    tools.close().await;
}

#[tokio::test]
async fn an_idle_server_is_ended_and_a_call_starts_it_again() {
    let folder = TempDir::new().unwrap();
    let mut server = bad(folder.path());
    server.idle_after = Duration::ZERO;
    let tools = agreed(server, folder.path()).await;
    for number in 1..=3 {
        let done = does(&tools, "echo", number).await;
        assert_eq!(text(&done.unwrap()), "hello");
        while tools.status().await.unwrap()[0].state != McpServerState::Known {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_started_is_tried_again_after_a_pause() {
    let folder = TempDir::new().unwrap();
    let good = bad(folder.path());
    agreed(good.clone(), folder.path()).await;
    let mut gone = good;
    if let McpTransport::Program { command, .. } = &mut gone.transport {
        *command = "/nowhere/at/all".into();
    }
    let tools = open(gone, folder.path());
    assert!(!tools.specs().is_empty(), "what is known is offered");
    let failed = tools.ask(None).await;
    assert!(failed["bad"].contains("could not be started"), "{failed:?}");
    let failed = tools.ask(None).await;
    assert!(
        !failed["bad"].contains("could not be started"),
        "it is not tried at once: {failed:?}"
    );
    let refused = does(&tools, "echo", 1).await.unwrap();
    assert!(
        text(&refused).contains("cannot be reached now"),
        "{refused:?}"
    );
}

#[test]
fn servers_have_names_that_tools_can_begin_with() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("known.json");
    for name in ["", "a_b", "a.b", "two words", &"x".repeat(33)] {
        let server = McpServer {
            name: name.to_owned(),
            ..bad(folder.path())
        };
        let refused = McpTools::open(vec![server], file.clone());
        assert!(refused.is_err(), "{name}");
    }
    let twice = vec![bad(folder.path()), bad(folder.path())];
    let refused = McpTools::open(twice, file.clone()).unwrap_err();
    assert!(refused.to_string().contains("two servers are named"));
    fs::write(&file, "{").unwrap();
    let damaged = McpTools::open(vec![bad(folder.path())], file).unwrap_err();
    assert!(damaged.to_string().contains("remove it"), "{damaged}");
}

#[tokio::test]
async fn it_keeps_the_promises_of_a_source_of_tools() {
    let folder = TempDir::new().unwrap();
    let mut server = bad(folder.path());
    let query = McpToolPolicy {
        reach: Some(ToolReach::Query),
        ..McpToolPolicy::default()
    };
    server.each.insert("counts".to_owned(), query);
    server.policy.timeout = None;
    let tools = agreed(server.clone(), folder.path()).await;
    let acting = |key: EffectKey, tool| Effect {
        key,
        ..effect(tool, 0)
    };
    let fixture = || {
        let Effect {
            actor,
            tool,
            arguments,
            ..
        } = effect("counts", 0);
        WorldFixture {
            effect: |key| Effect {
                key,
                ..effect("echo", 0)
            },
            refused: acting(EffectKey::try_new("refused").unwrap(), "refuses"),
            query: Query {
                actor,
                tool,
                arguments,
            },
            feed: None,
            listener: None,
        }
    };
    conformance::tool_source(&tools, fixture()).await;
    tools.close().await;
    let tools = open(server, folder.path());
    conformance::tool_source_reopened(&tools, fixture()).await;
    tools.close().await;
}

/// What each tool of the bad server leads to.
pub(crate) async fn outcome(tools: &McpTools, tool: &str, number: u32) -> (String, String) {
    let outcome = match does(tools, tool, number).await {
        Ok(Outcome::Done(receipt)) => {
            let shown = receipt.detail["text"].as_str().unwrap();
            let cut = receipt.detail.get("cut_off_after").is_some();
            let shown = match shown {
                _ if cut => "its beginning, 8 KiB",
                _ if receipt.detail["failed"] == true => {
                    assert!(shown.starts_with("the server bad says: "), "{shown}");
                    "done, and failed, in the server's words"
                }
                _ if shown.contains("Method not found") || shown.contains("-32601") => {
                    "done: what it asked for was refused"
                }
                _ if shown.contains("decline") => "done: what it asked for was declined",
                _ if shown.contains("bank_transfer") => "the text, as text of trust 0",
                _ => "the answer",
            };
            shown.to_owned()
        }
        Ok(Outcome::Rejected(rejection)) => {
            assert!(
                rejection.reason.starts_with("the server bad "),
                "{rejection}"
            );
            "rejected, in the server's words".to_owned()
        }
        Ok(Outcome::Unknown) => unreachable!("a source fails instead"),
        Err(WorldErrorKind::Unanswered) => "*unknown*, never repeated".to_owned(),
        Err(kind) => kind.to_string(),
    };
    let runs = match tools.status().await.unwrap()[0].state {
        McpServerState::Called => "goes on",
        _ => "is ended, and started again when it is needed",
    };
    (outcome, runs.to_owned())
}

/// A row: what the server does, by its tool.
const ROWS: [(&str, &str); 19] = [
    ("echo", "answers"),
    ("dies", "dies during the call"),
    ("hangs", "does not answer within the time limit"),
    ("late", "answers after the cancellation"),
    ("slow", "reports progress, and answers after the time limit"),
    ("slow_for_ever", "reports progress without an end"),
    ("endless_line", "sends a line without an end"),
    ("endless_lines", "sends notifications without an end"),
    ("huge", "answers with 3 MB"),
    ("garbage", "sends what is not JSON before the answer"),
    ("wrong_id", "answers calls that nobody made, then this one"),
    ("wrong_shape", "answers with a number"),
    (
        "is_error",
        "answers that the tool failed, with an order in the error",
    ),
    ("refuses", "refuses the call, with an order in the error"),
    ("breaks", "fails inside, with an order in the error"),
    (
        "resource",
        "answers with a resource and a link that hold orders",
    ),
    ("samples", "asks for a sample of our model first"),
    ("elicits", "asks the person for a password first"),
    ("lies", "answers in another form than its schema says"),
];

#[tokio::test]
async fn every_bad_answer_has_one_outcome_and_the_page_lists_it() {
    let mut table =
        "| the server | the call ends | the server then |\n| --- | --- | --- |\n".to_owned();
    for (tool, what) in ROWS {
        let folder = TempDir::new().unwrap();
        let tools = agreed(bad(folder.path()), folder.path()).await;
        let (ends, runs) = outcome(&tools, tool, 1).await;
        assert_eq!(calls(folder.path(), tool), 1, "{tool} is called once");
        table += &format!("| {what} | {ends} | {runs} |\n");
        // It can be called again. After a death it is started again after a pause.
        if runs == "goes on" {
            assert_eq!(
                text(&does(&tools, "echo", 2).await.unwrap()),
                "hello",
                "{tool}"
            );
        }
        tools.close().await;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
    write_table(&page, "outcomes", &table);
}

/// Checks the table of this name in a page, or writes it if asked to.
pub(crate) fn write_table(page: &Path, name: &str, table: &str) {
    let before = fs::read_to_string(page).unwrap();
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (head, rest) = before.split_once(&begin).unwrap();
    let (_, tail) = rest.split_once(&end).unwrap();
    let after = format!("{head}{begin}{table}{end}{tail}");
    if std::env::var_os("DORMOUSE_WRITE_DOCS").is_some() {
        fs::write(page, after).unwrap();
    } else {
        assert_eq!(before, after, "DORMOUSE_WRITE_DOCS=1 writes the table");
    }
}

#[tokio::test]
async fn what_a_server_says_of_itself_is_not_passed_on() {
    let folder = TempDir::new().unwrap();
    let tools = agreed(bad(folder.path()), folder.path()).await;
    let shown = serde_json::to_value(tools.specs()).unwrap().to_string();
    assert!(
        !shown.contains("bank_transfer"),
        "its instructions are not shown"
    );
    let known: Value =
        serde_json::from_slice(&fs::read(folder.path().join("known.json")).unwrap()).unwrap();
    assert!(known["servers"]["bad"]["echo"]["accepted"].is_object());
}

#[tokio::test]
async fn a_definition_that_changes_while_the_server_runs_is_disabled_at_once() {
    for generation in ["old", "new"] {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join(generation), "").unwrap();
        let mut server = bad(folder.path());
        server.policy.timeout = None;
        let tools = agreed(server, folder.path()).await;
        assert_eq!(text(&does(&tools, "echo", 1).await.unwrap()), "hello");
        while generation == "new" && !folder.path().join("followed").exists() {
            tokio::task::yield_now().await;
        }
        let changed = does(&tools, "changes", 2).await.unwrap();
        assert_eq!(text(&changed), "changed");
        while state(&tools.status().await.unwrap()[0].tools, "echo") != McpToolState::Changed {
            tokio::task::yield_now().await;
        }
        let refused = does(&tools, "echo", 3).await.unwrap();
        assert!(
            text(&refused).contains("has changed what echo is"),
            "{refused:?}"
        );
        assert_eq!(calls(folder.path(), "echo"), 1, "{generation}");
        let status = tools.status().await.unwrap();
        assert_eq!(status[0].state, McpServerState::Called, "it still runs");
        tools.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_pause_after_a_failed_start_doubles_up_to_five_minutes() {
    let folder = TempDir::new().unwrap();
    let mut server = bad(folder.path());
    if let McpTransport::Program { command, .. } = &mut server.transport {
        *command = "/nowhere/at/all".into();
    }
    let tools = open(server, folder.path());
    let is_tried = async || tools.ask(None).await["bad"].contains("could not be started");
    assert!(is_tried().await);
    for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
        let mut pause = 0;
        loop {
            advance(Duration::from_secs(1)).await;
            pause += 1;
            if is_tried().await {
                break;
            }
        }
        // Up to a quarter is left out, so that servers that fail together are not started together.
        assert!(
            (seconds - seconds / 4..=seconds).contains(&pause),
            "{pause} of {seconds} seconds"
        );
    }
}

#[tokio::test]
async fn all_servers_are_asked_to_end_together() {
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let waits_for = |folder: &TempDir, other: &TempDir| {
        let other = other.path().to_str().unwrap();
        fs::write(folder.path().join("waits_for"), other).unwrap();
    };
    waits_for(&one, &other);
    waits_for(&other, &one);
    let mut second = bad(other.path());
    second.name = "worse".to_owned();
    let servers = vec![bad(one.path()), second];
    let tools = McpTools::open(servers, one.path().join("known.json")).unwrap();
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    tools.close().await;
    for folder in [one, other] {
        assert!(folder.path().join("together").exists());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_server_leaves_behind_ends_with_it() {
    let folder = TempDir::new().unwrap();
    let mut server = bad(folder.path());
    server.policy.timeout = None;
    let tools = agreed(server, folder.path()).await;
    let left = does(&tools, "leaves", 1).await;
    assert_eq!(left, Err(WorldErrorKind::Unanswered));
    let port: u16 = fs::read_to_string(folder.path().join("port"))
        .unwrap()
        .parse()
        .unwrap();
    tools.close().await;
    let is_gone = async {
        while TcpStream::connect(("127.0.0.1", port)).is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), is_gone).await.unwrap();
}
