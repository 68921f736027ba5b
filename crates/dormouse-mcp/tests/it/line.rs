//! A client that writes and reads lines, and the server that it talks to.

use std::{future::pending, path::Path};

use dormouse_contracts::{AssistantId, Timestamp};
use dormouse_mcp::{MemoryLimits, MemoryServer, ServeError};
use dormouse_memory::Memory;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
        duplex, split,
    },
    task::JoinSet,
};

/// A client, its server, and the folder of the memory.
pub(crate) struct Line {
    answers: Lines<BufReader<ReadHalf<DuplexStream>>>,
    calls: WriteHalf<DuplexStream>,
    serving: JoinSet<Result<(), ServeError>>,
    number: u64,
    /// What each request carries besides its arguments, in the protocol without `initialize`.
    meta: Option<Value>,
    pub(crate) folder: TempDir,
}

pub(crate) async fn open(folder: &Path) -> Memory {
    let key = AssistantId::try_new("agent").unwrap();
    let builder = Memory::builder(key, || "2026-11-29T10:00:00Z".parse::<Timestamp>().unwrap());
    builder.open(folder.join("memory.redb")).await.unwrap()
}

impl Line {
    /// A client that said nothing yet.
    pub(crate) async fn silent(folder: TempDir, limits: MemoryLimits) -> Self {
        let memory = open(folder.path()).await;
        let server = MemoryServer::try_new(memory, limits).await.unwrap();
        let (client, served) = duplex(1 << 20);
        let (input, output) = split(served);
        let mut serving = JoinSet::new();
        serving.spawn(server.serve(input, output, pending()));
        let (answers, calls) = split(client);
        Self {
            answers: BufReader::new(answers).lines(),
            calls,
            serving,
            number: 0,
            meta: None,
            folder,
        }
    }

    /// A client of the protocol that begins with `initialize`.
    pub(crate) async fn begun(folder: TempDir, limits: MemoryLimits) -> Self {
        let mut line = Self::silent(folder, limits).await;
        let client = json!({ "name": "line", "version": "1" });
        let begin =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        line.asks("initialize", begin).await;
        line.says(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string())
            .await;
        line
    }

    pub(crate) async fn new() -> Self {
        Self::begun(TempDir::new().unwrap(), MemoryLimits::default()).await
    }

    /// From now on each request is complete in itself, as the protocol of 2026-07-28 says.
    pub(crate) fn without_sessions(&mut self) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "line", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        }));
    }

    pub(crate) async fn says(&mut self, line: &str) {
        self.calls
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    pub(crate) async fn hears(&mut self) -> Value {
        let line = self.answers.next_line().await.unwrap();
        serde_json::from_str(&line.expect("the server answers")).unwrap()
    }

    /// A request, and the answer to it.
    pub(crate) async fn asks(&mut self, method: &str, mut params: Value) -> Value {
        self.number += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let request =
            json!({ "jsonrpc": "2.0", "id": self.number, "method": method, "params": params });
        self.says(&request.to_string()).await;
        let answer = self.hears().await;
        assert_eq!(answer["id"], self.number, "{answer}");
        answer
    }

    /// The result of a call that is carried out.
    pub(crate) async fn calls(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.tries(tool, arguments).await;
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{answer}");
        result["structuredContent"].clone()
    }

    /// The answer to a call.
    pub(crate) async fn tries(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.asks("tools/call", params).await
    }

    /// Why a call is not carried out, as a model reads it.
    pub(crate) async fn is_refused(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.tries(tool, arguments).await;
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The texts that are recalled.
    pub(crate) async fn recalls(&mut self, arguments: Value) -> Vec<String> {
        let found = self.calls("recall", arguments).await;
        let items = found["items"].as_array().unwrap().iter();
        items
            .map(|item| item["text"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Closes the stream, and returns the folder when the server has ended.
    pub(crate) async fn ends(mut self) -> TempDir {
        drop((self.answers, self.calls));
        self.serving.join_next().await.unwrap().unwrap().unwrap();
        self.folder
    }
}
