//! The promises of a vector index.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a suite panics where an implementation is wrong"
)]

mod changes;
mod collections;
mod filters;
mod nearest;
mod reopened;
mod subject;
mod together;

use dormouse_contracts::VectorIndex;

pub use nearest::Exactness;

/// Checks the promises of [`VectorIndex`].
///
/// Uses collections whose names begin with `conformance`, which nobody else may use, and removes them, except
/// `conformance-kept`: [`vector_index_reopened`] looks for that one. Adds about five thousand points of up to 32
/// numbers.
///
/// # Panics
///
/// At the first broken promise.
pub async fn vector_index(index: &dyn VectorIndex, exactness: Exactness) {
    collections::the_index_has_one_identity(index).await;
    collections::preparing_again_changes_nothing(index).await;
    collections::another_length_is_refused_and_wipes_nothing(index).await;
    collections::without_a_collection_nothing_is_done(index).await;
    collections::discarded_collections_are_gone(index).await;
    collections::collections_are_apart(index).await;
    changes::added_points_are_found(index).await;
    changes::a_point_replaces_one_of_its_number(index).await;
    changes::removed_points_are_not_found(index).await;
    changes::repeating_a_call_changes_nothing(index).await;
    changes::one_that_does_not_fit_keeps_all_out(index).await;
    filters::assistants_see_their_own(index).await;
    filters::trust_is_compared_to_the_last_bit(index).await;
    filters::times_are_from_and_before(index).await;
    filters::far_times_are_no_limits(index).await;
    filters::all_parts_must_fit(index).await;
    filters::a_filter_takes_nothing_from_the_rest(index).await;
    filters::a_replaced_point_is_filtered_by_its_new_payload(index).await;
    nearest::hits_are_ordered_by_score_and_then_by_number(index).await;
    nearest::scores_are_cosines_for_vectors_of_any_length(index).await;
    nearest::limits_are_kept(index).await;
    nearest::queries_that_do_not_fit_are_refused(index).await;
    nearest::as_many_of_the_nearest_are_found_as_promised(index, exactness).await;
    together::adding_and_searching_go_on_together(index).await;
    reopened::write(index).await;
    reopened::check(index).await;
}

/// Checks that an index that was closed and opened again contains the points that [`vector_index`] left, and removes
/// them. Use it for an index whose retention is [`Durable`](dormouse_contracts::Retention::Durable).
///
/// # Panics
///
/// If something is missing or different.
pub async fn vector_index_reopened(index: &dyn VectorIndex) {
    reopened::is_durable(index);
    reopened::check(index).await;
    reopened::go_on(index).await;
}
