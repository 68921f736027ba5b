//! Tools of servers that were not written for this project.

use std::{
    collections::BTreeMap,
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use dormouse_contracts::{
    Arguments, AssistantId, BoxError, BoxFuture, ChatReply, ChatRequest, Effect, EffectKey,
    ModelName, Outcome, Perform, Timestamp, ToolName, ToolSource, complete,
};
use dormouse_mcp::{
    McpAgreement, McpServer, McpServerState, McpTools, McpTransport, ModelForServers, SecretText,
};
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use dormouse_tests::{Child, Peer, Program, mcp_servers};
use serde_json::{Value, json};
use tokio::{net::TcpStream, process::Command};

/// How `python3` runs the server for time, which is installed in this folder.
fn time(home: &Path) -> [String; 2] {
    let folder = home.join("mcp");
    let code = format!(
        "import sys; sys.path.insert(0, {folder:?}); from mcp_server_time import main; main()"
    );
    ["-c".to_owned(), code]
}

/// The file of a server in JavaScript.
fn script(home: &Path, server: &str) -> String {
    let file =
        format!("mcp-servers/node_modules/@modelcontextprotocol/server-{server}/dist/index.js");
    home.join(file).to_str().unwrap().to_owned()
}

fn program(name: &str, command: &str, arguments: Vec<String>, more: &[(&str, &Path)]) -> McpServer {
    let path = env::var("PATH").unwrap();
    let more = more
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.to_str().unwrap().to_owned()));
    let environment = more.chain([("PATH".to_owned(), path)]);
    let transport = McpTransport::Program {
        command: PathBuf::from(command),
        arguments,
        environment: environment
            .map(|(name, value)| (name, SecretText(value)))
            .collect(),
    };
    patient(name, transport)
}

/// A server that may take long to start: a machine with much to do needs half a minute for Python alone.
fn patient(name: &str, transport: McpTransport) -> McpServer {
    let mut server = McpServer::new(name, transport);
    server.start_limit = Duration::from_secs(300);
    server
}

/// The tools of these servers, after a person agreed to all of them.
async fn agreed(servers: Vec<McpServer>, file: &Path) -> McpTools {
    let names: Vec<_> = servers.iter().map(|server| server.name.clone()).collect();
    let tools = McpTools::open(servers.clone(), file.to_owned()).unwrap();
    assert_eq!(tools.ask(None).await, BTreeMap::new());
    tools.shown(&tools.status().await.unwrap()).unwrap();
    let agreement = McpAgreement {
        by: "Ada".to_owned(),
        at: Timestamp::EPOCH,
    };
    for name in names {
        tools.accept(&name, None, &agreement).unwrap();
    }
    tools.close().await;
    McpTools::open(servers, file.to_owned()).unwrap()
}

async fn call(tools: &McpTools, tool: &str, arguments: Value) -> Outcome {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    let effect = Effect {
        key: EffectKey::try_new(format!("{tool}/{}", Value::Object(arguments.clone()))).unwrap(),
        actor: AssistantId::try_new("vole").unwrap(),
        tool: ToolName::try_new(tool).unwrap(),
        arguments: Arguments::clone(&arguments),
        reply_to: None,
        within: None,
    };
    tools.perform(&effect).await.unwrap()
}

async fn text(tools: &McpTools, tool: &str, arguments: Value) -> String {
    match call(tools, tool, arguments).await {
        Outcome::Done(receipt) => receipt.detail["text"].as_str().unwrap().to_owned(),
        other => panic!("{tool}: {other:?}"),
    }
}

/// Whether the server says that it failed. What it did before is not known.
fn has_failed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done(receipt) if receipt.detail["failed"] == true)
}

#[tokio::test]
async fn four_servers_of_others_offer_their_tools_and_are_called() {
    let Some(home) = mcp_servers() else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let shelf = fs::canonicalize(folder.path()).unwrap().join("shelf");
    fs::create_dir(&shelf).unwrap();
    let shelf_argument = shelf.to_str().unwrap().to_owned();
    let servers = vec![
        program("time", "python3", time(&home).to_vec(), &[]),
        program(
            "files",
            "node",
            vec![script(&home, "filesystem"), shelf_argument],
            &[],
        ),
        program(
            "graph",
            "node",
            vec![script(&home, "memory")],
            &[("MEMORY_FILE_PATH", &shelf.join("graph.jsonl"))],
        ),
        program("all", "node", vec![script(&home, "everything")], &[]),
    ];
    let tools = agreed(servers, &folder.path().join("known.json")).await;
    let status = tools.status().await.unwrap();
    for server in &status {
        assert_eq!(server.state, McpServerState::Known);
        for tool in &server.tools {
            assert!(
                tool.offered_as.is_some(),
                "{}: {:?}",
                server.server,
                tool.state
            );
        }
    }

    let converted =
        json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    assert!(
        text(&tools, "time_convert_time", converted)
            .await
            .contains("21:00")
    );
    let wrong = json!({ "timezone": "Nowhere/AtAll" });
    assert!(has_failed(
        &call(&tools, "time_get_current_time", wrong).await
    ));

    let note = shelf.join("note.txt");
    text(
        &tools,
        "files_write_file",
        json!({ "path": note, "content": "The kettle is blue." }),
    )
    .await;
    assert_eq!(fs::read_to_string(&note).unwrap(), "The kettle is blue.");
    assert_eq!(
        text(&tools, "files_read_text_file", json!({ "path": note })).await,
        "The kettle is blue."
    );
    let outside = call(
        &tools,
        "files_read_text_file",
        json!({ "path": "/etc/hostname" }),
    )
    .await;
    assert!(has_failed(&outside), "{outside:?}");

    let kettle = json!({ "entities": [{ "name": "kettle", "entityType": "thing", "observations": ["is blue"] }] });
    text(&tools, "graph_create_entities", kettle).await;
    assert!(
        text(&tools, "graph_read_graph", json!({}))
            .await
            .contains("is blue")
    );

    assert_eq!(
        text(&tools, "all_echo", json!({ "message": "hello" })).await,
        "Echo: hello"
    );
    assert!(
        text(&tools, "all_get-sum", json!({ "a": 2, "b": 3 }))
            .await
            .contains('5')
    );
    assert!(
        text(&tools, "all_get-tiny-image", json!({}))
            .await
            .contains("left out")
    );
    let status = tools.status().await.unwrap();
    assert!(
        status
            .iter()
            .all(|server| server.state == McpServerState::Called)
    );
    the_page_says_what_they_cost(&tools);
    tools.close().await;
    // What it wrote outlives it, and it is started again by the next call.
    assert!(
        text(&tools, "graph_search_nodes", json!({ "query": "kettle" }))
            .await
            .contains("is blue")
    );
    tools.close().await;
}

/// A model that writes the same for every server.
struct Poet(ScriptedModel);

impl ModelForServers for Poet {
    fn write<'a>(
        &'a self,
        _: &'a AssistantId,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<(ModelName, ChatReply), BoxError>> {
        Box::pin(async move {
            let reply = complete(&self.0, request).await?;
            Ok((ModelName::try_new("small")?, reply))
        })
    }
}

#[tokio::test]
async fn a_server_of_others_asks_the_model_and_a_person_where_that_is_allowed() {
    let Some(home) = mcp_servers() else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut server = program("all", "node", vec![script(&home, "everything")], &[]);
    let plain = agreed(vec![server.clone()], &folder.path().join("plain.json")).await;
    let offers = |tools: &McpTools, tool: &str| {
        let specs = tools.specs();
        specs.iter().any(|spec| spec.name.as_str() == tool)
    };
    let (samples, elicits) = (
        "all_trigger-sampling-request",
        "all_trigger-elicitation-request",
    );
    assert!(
        !offers(&plain, samples) && !offers(&plain, elicits),
        "nothing is announced"
    );
    server.requests.model_requests = 1;
    server.requests.answers = BTreeMap::from([
        ("name".to_owned(), json!("Dormouse")),
        ("integer".to_owned(), json!(7)),
    ]);
    let tools = agreed(vec![server], &folder.path().join("known.json")).await;
    let model = ScriptedModel::looping(ScriptedTurn::text("Hot leaves."));
    tools.set_model(Arc::new(Poet(model.clone())));
    let sampled = text(
        &tools,
        samples,
        json!({ "prompt": "A poem.", "maxTokens": 50 }),
    )
    .await;
    assert!(sampled.contains("Hot leaves."), "{sampled}");
    assert_eq!(model.requests()[0].max_tokens, Some(50));
    let answered = text(&tools, elicits, json!({})).await;
    assert!(answered.contains("- Name: Dormouse"), "{answered}");
    assert!(answered.contains("- Favorite Integer: 7"), "{answered}");
    let counts = tools.status().await.unwrap()[0].requests.unwrap();
    assert_eq!((counts.model_answered, counts.questions_answered), (1, 1));
    tools.close().await;
}

/// The tokens of the definitions of each server, as the page lists them.
fn the_page_says_what_they_cost(tools: &McpTools) {
    let counter = tiktoken_rs::o200k_base().unwrap();
    let mut servers: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let specs = tools.specs();
    for spec in &specs {
        let (server, _) = spec.name.as_str().split_once('_').unwrap();
        let definition = json!({ "name": spec.name, "description": spec.description, "parameters": spec.parameters });
        let (count, tokens) = servers.entry(server).or_default();
        *count += 1;
        *tokens += counter.encode_ordinary(&definition.to_string()).len();
    }
    let mut table = "| server | tools | tokens |\n| --- | ---: | ---: |\n".to_owned();
    for (server, (count, tokens)) in servers {
        table += &format!("| `{server}` | {count} | {tokens} |\n");
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mcp.md");
    let before = fs::read_to_string(&page).unwrap();
    let (begin, end) = ("<!-- costs -->\n", "<!-- end of costs -->");
    let (head, rest) = before.split_once(begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let after = format!("{head}{begin}{table}{end}{tail}");
    if env::var_os("DORMOUSE_WRITE_DOCS").is_some() {
        fs::write(page, after).unwrap();
    } else {
        assert_eq!(before, after, "DORMOUSE_WRITE_DOCS=1 writes the table");
    }
}

#[tokio::test]
async fn a_server_of_others_is_called_by_http() {
    let Some(home) = mcp_servers() else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let _server = Command::new("node")
        .args([script(&home, "everything"), "streamableHttp".to_owned()])
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::task::yield_now().await;
    }
    let url = format!("http://127.0.0.1:{port}/mcp");
    let transport = McpTransport::Http {
        url,
        token: Some(SecretText("a token".to_owned())),
    };
    let tools = agreed(
        vec![patient("all", transport)],
        &folder.path().join("known.json"),
    )
    .await;
    assert_eq!(
        text(&tools, "all_echo", json!({ "message": "hello" })).await,
        "Echo: hello"
    );
    tools.close().await;
}

/// Runs a command to its end.
async fn ended(child: Child) -> Vec<Value> {
    let (printed, status) = child.finish().await;
    assert!(status.success(), "{status}: {printed:?}");
    printed
}

#[tokio::test]
async fn a_resident_of_the_program_calls_a_server_of_others() {
    let (Some(home), Some(model)) = (mcp_servers(), Peer::Aimock.start().await) else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let [flag, code] = time(&home);
    let file = folder.path().join("dormouse.toml");
    let section = format!(
        "[mcp.servers.time]\ncommand = \"python3\"\nargs = [{flag:?}, {code:?}]\nreach = \"query\"\ntrust = 0.2\nstart = 300\n"
    );
    fs::write(&file, section).unwrap();
    let program = Program::over(folder.path());
    let listed = ended(program.start(&["mcp", "tools", "--json"])).await;
    let found = listed
        .iter()
        .find(|line| line["tool"] == "convert_time")
        .unwrap();
    assert_eq!(found["state"], "new", "{found}");
    let accepted = ended(program.start(&["mcp", "accept", "time", "--json"])).await;
    assert!(
        accepted
            .iter()
            .any(|line| line["digest"] == found["digest"]),
        "{accepted:?}"
    );
    let listed = ended(program.start(&["mcp", "tools", "--known", "--json"])).await;
    let found = listed
        .iter()
        .find(|line| line["tool"] == "convert_time")
        .unwrap();
    assert_eq!(
        (&found["state"], &found["offered_as"]),
        (&json!("offered"), &json!("time_convert_time"))
    );

    let url = model.base_url();
    let asked = ["play", "--json", "--provider", "local", "--base-url", &url];
    let further = ["--model", "tiny", "--tool-calling", "native"];
    let mut child = program.start(&[&asked[..], &further[..]].concat());
    child
        .write("What time is it in Tokyo at noon in Greenwich?")
        .await;
    let (printed, status) = child.finish().await;
    assert!(
        status.success(),
        "{status}: {} {}",
        program.complaints(),
        model.said()
    );
    let of = |kind: &'static str| printed.iter().filter(move |line| line["type"] == kind);
    let answered = of("event")
        .find(|line| line["kind"] == "tool_answered")
        .unwrap();
    let shown = answered["data"]["content"].as_str().unwrap();
    assert!(
        shown.contains("21:00") && shown.contains("\"server\":\"time\""),
        "{answered}"
    );
    let said = of("world").any(|line| {
        line["text"]
            .as_str()
            .is_some_and(|text| text.contains("nine in the evening"))
    });
    assert!(said, "{printed:?}");
}
