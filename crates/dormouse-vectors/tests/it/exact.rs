use dormouse_testing::conformance::{self, Exactness};
use dormouse_vectors::Exact;

#[tokio::test]
async fn the_exact_index_keeps_every_promise() {
    conformance::vector_index(&Exact::new(), Exactness::Exact).await;
}
