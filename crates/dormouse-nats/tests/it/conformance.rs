//! The suite that every event log passes.

use dormouse_nats::NatsLog;
use dormouse_testing::conformance;

use crate::{
    SHORT,
    proxy::{Pass, Proxy},
    server::{Cluster, Settings},
};

impl conformance::AnswerLoss for Proxy {
    fn lose_answers(&self) {
        self.set(Pass::NoAnswers);
    }

    fn lose_requests(&self) {
        self.set(Pass::NoRequests);
    }

    fn mend(&self) {
        self.set(Pass::All);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_twice_when_answers_are_lost_on_the_way() {
    let Some(cluster) = Cluster::start(1, Settings::default()) else {
        return;
    };
    let mut config = cluster.config();
    let proxy = Proxy::start(&config.servers[0]).await;
    config.servers = vec![proxy.address()];
    config.patience = SHORT;
    let log = NatsLog::connect(&config).await.unwrap();
    conformance::event_log_in_doubt(&log, &proxy).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_conforms_on_one_server_before_and_after_that_is_killed() {
    let Some(mut cluster) = Cluster::start(1, Settings::default()) else {
        return;
    };
    let log = cluster.connect().await;
    conformance::event_log(&log).await;
    cluster.nodes[0].kill();
    cluster.nodes[0].start();
    // The same connection, which has to be made again.
    conformance::event_log_reopened(&log).await;
    conformance::event_log_reopened(&cluster.connect().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_conforms_on_three_servers_while_leaders_are_killed() {
    let Some(mut cluster) = Cluster::start(3, Settings::default()) else {
        return;
    };
    let log = cluster.connect().await;
    let client = cluster.client().await;
    let (mut kills, most) = (0, if crate::is_quick() { 2 } else { 5 });
    let mut suite = std::pin::pin!(conformance::event_log(&log));
    // Only the suite ends this: a killed leader starts again before the next one is killed.
    loop {
        tokio::select! {
            biased;
            () = &mut suite => break,
            leader = cluster.leader(&client) => {
                if let Some(leader) = leader && kills < most {
                    cluster.nodes[leader].kill();
                    cluster.nodes[leader].start();
                    kills += 1;
                }
            }
        }
    }
    assert!(kills > 0);
    println!("{kills} leaders were killed");
    let leader = cluster.leader(&client).await;
    if let Some(leader) = leader {
        cluster.nodes[leader].kill();
    }
    // Two servers of three are left.
    conformance::event_log_reopened(&cluster.connect().await).await;
}
