use futures_util::stream;
use reqwest::Body;

use super::*;

fn client() -> HttpClient {
    let base = Url::parse("http://127.0.0.1:9").unwrap();
    HttpClient::try_new(&base, Access::default(), &Network::direct()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_complaint_that_never_ends_is_not_waited_for() {
    let begun = stream::iter([Ok::<_, std::io::Error>("slow ")]);
    let body = Body::wrap_stream(begun.chain(stream::pending()));
    let begun_at = Instant::now();
    let complaint = client().complaint(http::Response::new(body).into()).await;
    assert_eq!(complaint.to_string(), "slow");
    assert_eq!(begun_at.elapsed(), COMPLAINT_PATIENCE);
}

#[tokio::test(start_paused = true)]
async fn a_complaint_in_drops_is_waited_for_no_longer() {
    let drops = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Some((Ok::<_, std::io::Error>("x"), ()))
    });
    let answer = http::Response::new(Body::wrap_stream(drops));
    let complaint = client().complaint(answer.into()).await;
    assert!(complaint.to_string().starts_with("xxxx"), "{complaint}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_falls_silent_is_waited_for_as_long_as_the_network_says() {
    let begun = stream::iter([Ok::<_, std::io::Error>("slow ")]);
    let body = Body::wrap_stream(begun.chain(stream::pending()));
    let patience = Patience {
        between_bytes: Duration::from_secs(7),
        ..Patience::default()
    };
    let base = Url::parse("http://127.0.0.1:9").unwrap();
    let network = Network::direct().waiting(patience);
    let client = HttpClient::try_new(&base, Access::default(), &network).unwrap();
    let begun_at = Instant::now();
    let mut pieces = client.pieces(http::Response::new(body).into());
    assert_eq!(pieces.next().await.unwrap().unwrap(), "slow ");
    let failure = pieces.next().await.unwrap().unwrap_err();
    assert!(matches!(failure, Failure::Silent(_)), "{failure}");
    assert_eq!(begun_at.elapsed(), patience.between_bytes);
    assert!(pieces.next().await.is_none(), "that is its end");
}
