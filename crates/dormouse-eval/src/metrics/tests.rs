use super::*;

fn gold(places: &[usize]) -> BTreeSet<usize> {
    places.iter().copied().collect()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} is not {b}");
}

#[test]
fn any_counts_each_question_at_most_once() {
    let ranked = [9, 4, 7];
    near(any_at(1, &ranked, &gold(&[4, 7])), 0.0);
    near(any_at(2, &ranked, &gold(&[4, 7])), 1.0);
    near(any_at(10, &ranked, &gold(&[4, 7])), 1.0);
    near(any_at(10, &ranked, &gold(&[1])), 0.0);
    near(any_at(10, &[], &gold(&[1])), 0.0);
}

#[test]
fn fraction_is_the_share_of_found_evidence() {
    let ranked = [9, 4, 7];
    near(fraction_at(2, &ranked, &gold(&[4, 7, 1, 2])), 0.25);
    near(fraction_at(3, &ranked, &gold(&[4, 7, 1, 2])), 0.5);
    near(fraction_at(3, &ranked, &gold(&[])), 0.0);
}

#[test]
fn reciprocal_rank_depends_only_on_the_first_evidence() {
    near(reciprocal_rank(&[9, 4, 7], &gold(&[7, 4])), 0.5);
    near(reciprocal_rank(&[9, 4, 7], &gold(&[7])), 1.0 / 3.0);
    near(reciprocal_rank(&[9, 4, 7], &gold(&[8])), 0.0);
}

#[test]
fn gain_is_discounted_by_place_and_relative_to_the_best_possible() {
    near(ndcg_at(5, &[1, 2, 3], &gold(&[1, 2])), 1.0);
    // 1/log2(3) of the ideal 1.
    near(ndcg_at(5, &[9, 1], &gold(&[1])), 0.630_929_753_571_457_4);
    // Places 1 and 3: (1 + 1/2) / (1 + 1/log2(3)).
    near(
        ndcg_at(5, &[1, 9, 2], &gold(&[1, 2])),
        1.5 / 1.630_929_753_571_457_4,
    );
    // Places after the fifth do not count, and at most five are expected.
    near(ndcg_at(5, &[8, 8, 8, 8, 8, 1], &gold(&[1])), 0.0);
    near(
        ndcg_at(5, &[1, 2, 3, 4, 5], &gold(&[1, 2, 3, 4, 5, 6])),
        1.0,
    );
    near(ndcg_at(5, &[1], &gold(&[])), 0.0);
}

#[test]
fn means_are_over_questions_and_budgets_keep_their_order() {
    let gold = Gold {
        places: gold(&[1, 2]),
        sessions: gold(&[0]),
    };
    let shown = [vec![], vec![1], vec![1, 2], vec![1, 2], vec![1, 2]];
    let hit = Found {
        ranked: vec![1, 5, 2],
        sessions: vec![0, 1],
        shown: shown
            .iter()
            .map(|places: &Vec<usize>| places.iter().copied().collect())
            .collect(),
    };
    let miss = Found {
        shown: vec![BTreeSet::new(); 5],
        ..Found::default()
    };
    let mut marks = Marks::of(&hit, &gold);
    marks.add(&Marks::of(&miss, &gold));
    let mean = |measure| marks.mean(measure).unwrap();
    assert_eq!(marks.questions, 2);
    near(mean(Measure::Any(1)), 0.5);
    near(mean(Measure::Fraction(5)), 0.5);
    near(mean(Measure::ReciprocalRank), 0.5);
    near(mean(Measure::SessionHit), 0.5);
    near(mean(Measure::AnyWithin(256)), 0.0);
    near(mean(Measure::AnyWithin(512)), 0.5);
    near(mean(Measure::AllWithin(512)), 0.0);
    near(mean(Measure::AllWithin(1024)), 0.5);
    assert_eq!(Marks::default().mean(Measure::Any(1)), None);
}
