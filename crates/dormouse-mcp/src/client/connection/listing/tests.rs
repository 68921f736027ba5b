use rmcp::{service::serve_client_with_lifecycle, transport::async_rw::AsyncRwTransport};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split},
    time::timeout,
};

use super::{
    super::{Client, lifecycle},
    *,
};
use crate::client::{
    requests::{RequestGate, SharedModel},
    settings::McpRequests,
};

/// Where a report names what it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What a server in this process does, at the time of the test.
#[derive(Default)]
struct Server {
    /// Whether it speaks the protocol since 2026-07-28. Its reports end at once.
    is_new: bool,
    /// How many changes it reports before each listing.
    reports: usize,
    is_silent: AtomicBool,
    listings: Mutex<Vec<Instant>>,
    listens: Mutex<Vec<Instant>>,
}

impl Server {
    fn listings(&self) -> Vec<Instant> {
        self.listings.lock().unwrap().clone()
    }

    /// What it says to a message.
    fn said(&self, message: &Value) -> Vec<Value> {
        let id = &message["id"];
        let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let tools = json!({ "listChanged": true });
        match message["method"].as_str().unwrap_or_default() {
            "server/discover" if self.is_new => vec![answer(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": tools },
                "ttlMs": 0, "cacheScope": "private",
            }))],
            "initialize" => vec![answer(json!({
                "protocolVersion": "2025-06-18", "capabilities": { "tools": tools },
                "serverInfo": { "name": "pong", "version": "1" },
            }))],
            "subscriptions/listen" => {
                self.listens.lock().unwrap().push(Instant::now());
                let begun = json!({ "notifications": { "toolsListChanged": true }, "_meta": { SUBSCRIPTION: id } });
                vec![
                    json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": begun }),
                    answer(json!({ "resultType": "complete", "_meta": { SUBSCRIPTION: id } })),
                ]
            }
            "tools/list" => {
                self.listings.lock().unwrap().push(Instant::now());
                let report =
                    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
                let mut said = vec![report; self.reports];
                if !self.is_silent.load(Ordering::SeqCst) {
                    let tool = json!({ "name": "echo", "inputSchema": { "type": "object" } });
                    said.push(answer(json!({ "tools": [tool] })));
                }
                said
            }
            _ if id.is_null() => Vec::new(),
            _ => vec![
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32_601, "message": "no such method" } }),
            ],
        }
    }

    async fn serve(&self, stream: DuplexStream) {
        let (input, mut output) = split(stream);
        let mut lines = BufReader::new(input).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            for said in self.said(&serde_json::from_str(&line).unwrap()) {
                let line = format!("{said}\n");
                output.write_all(line.as_bytes()).await.unwrap();
            }
        }
    }
}

/// A client of this server, which has listed its tools, does this.
async fn with_client(server: &Server, work: impl AsyncFnOnce(Arc<Listing>, Peer<RoleClient>)) {
    let folder = TempDir::new().unwrap();
    let known = Arc::new(KnownTools::at(folder.path().join("known.json")));
    let listing = Arc::new(Listing::new("pong", &known));
    let gate = RequestGate::new("pong", McpRequests::default(), SharedModel::default());
    let client = Client {
        gate: Arc::new(gate),
        listing: Arc::clone(&listing),
    };
    let (ours, theirs) = duplex(1 << 16);
    let used = async {
        let (input, output) = split(ours);
        let transport = AsyncRwTransport::new_client(input, output);
        let service = serve_client_with_lifecycle(client, transport, lifecycle());
        let service = service.await.unwrap();
        listing.begin(service.peer()).await.unwrap();
        work(Arc::clone(&listing), service.peer().clone()).await;
    };
    tokio::select! {
        () = used => {}
        () = server.serve(theirs) => panic!("the client ended"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_reports_a_change_before_each_answer_is_asked_once_a_second() {
    let server = Server {
        reports: 100,
        ..Server::default()
    };
    with_client(&server, async |listing, peer| {
        sleep(Duration::from_secs(10)).await;
        let times = server.listings();
        assert!((10..=11).contains(&times.len()), "{}", times.len());
        let pauses = times.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(pauses.min() >= Some(INTERVAL));
        // A call waits for one listing.
        let offered = timeout(INTERVAL * 2, listing.current(&peer)).await.unwrap();
        assert!(offered.contains_key("echo"));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_nobody_waits_for_is_made_again() {
    let server = Server::default();
    with_client(&server, async |listing, peer| {
        server.is_silent.store(true, Ordering::SeqCst);
        let given_up = timeout(Duration::from_secs(5), listing.changed(&peer)).await;
        assert!(given_up.is_err());
        assert_eq!(server.listings().len(), 2);
        server.is_silent.store(false, Ordering::SeqCst);
        assert!(listing.current(&peer).await.contains_key("echo"));
        assert_eq!(server.listings().len(), 3);
        listing.current(&peer).await;
        assert_eq!(server.listings().len(), 3, "nothing changed");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn reports_that_end_are_asked_for_again_and_meanwhile_each_call_asks() {
    let server = Server {
        is_new: true,
        ..Server::default()
    };
    with_client(&server, async |listing, peer| {
        assert!(is_to_be_followed(&peer));
        let follow = Arc::clone(&listing).follow(peer.clone());
        let calls = async {
            sleep(Duration::from_secs(40)).await;
            for _ in 0..3 {
                let before = server.listings().len();
                sleep(INTERVAL).await;
                listing.current(&peer).await;
                assert_eq!(server.listings().len(), before + 1);
            }
            sleep(Duration::from_secs(400)).await;
        };
        tokio::select! {
            () = follow => panic!("it gave up"),
            () = calls => {}
        }
        let times = server.listens.lock().unwrap().clone();
        let pauses = times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs());
        let pauses: Vec<_> = pauses.take(9).collect();
        // The first one waits for the listing, too.
        assert_eq!(pauses, [2, 2, 4, 8, 16, 32, 60, 60, 60]);
    })
    .await;
}
