use futures_util::stream;
use reqwest::Body;

use super::*;

fn client() -> HttpClient {
    let base = Url::parse("http://127.0.0.1:9").unwrap();
    HttpClient::try_new(&base, Credentials::default(), &Network::direct()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_error_body_that_never_ends_is_read_for_a_limited_time() {
    let begun = stream::iter([Ok::<_, std::io::Error>("slow ")]);
    let body = Body::wrap_stream(begun.chain(stream::pending()));
    let begun_at = Instant::now();
    let error_body = client().error_body(http::Response::new(body).into()).await;
    assert_eq!(error_body.to_string(), "slow");
    assert_eq!(begun_at.elapsed(), ERROR_BODY_TIMEOUT);
}

#[tokio::test(start_paused = true)]
async fn a_slowly_sent_error_body_is_read_for_a_limited_time() {
    let drops = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Some((Ok::<_, std::io::Error>("x"), ()))
    });
    let answer = http::Response::new(Body::wrap_stream(drops));
    let error_body = client().error_body(answer.into()).await;
    assert!(error_body.to_string().starts_with("xxxx"), "{error_body}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_answer_times_out_after_the_configured_time() {
    let begun = stream::iter([Ok::<_, std::io::Error>("slow ")]);
    let body = Body::wrap_stream(begun.chain(stream::pending()));
    let timeouts = NetworkTimeouts {
        between_bytes: Duration::from_secs(7),
        ..NetworkTimeouts::default()
    };
    let base = Url::parse("http://127.0.0.1:9").unwrap();
    let network = Network::direct().with_timeouts(timeouts);
    let client = HttpClient::try_new(&base, Credentials::default(), &network).unwrap();
    let begun_at = Instant::now();
    let mut pieces = client.pieces(http::Response::new(body).into());
    assert_eq!(pieces.next().await.unwrap().unwrap(), "slow ");
    let failure = pieces.next().await.unwrap().unwrap_err();
    assert!(matches!(failure, Failure::Silent(_)), "{failure}");
    assert_eq!(begun_at.elapsed(), timeouts.between_bytes);
    assert!(pieces.next().await.is_none(), "that is its end");
}
