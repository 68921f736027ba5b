//! Weighted rendezvous hashing: every host computes the same order of hosts for an assistant, without asking anybody. If a host
//! joins or leaves, only the assistants that it gets or had move.

use std::cmp::Ordering;

/// How well a host fits an assistant; the smallest fits best. Hosts get assistants in proportion to their weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit(f64);

impl Fit {
    /// Schindelhauer and Schomaker's logarithmic method: `-ln(u) / weight` is the least for a host with a probability in
    /// proportion to its weight.
    pub(super) fn of(host: &str, weight: u32, assistant: &str) -> Self {
        let hash = mixed(host, assistant);
        // 53 bits, and never 0 or 1.
        #[expect(
            clippy::cast_precision_loss,
            reason = "a number of 53 bits is exact in an f64"
        )]
        let uniform = ((hash >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        Self(-uniform.ln() / f64::from(weight))
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// FNV-1a of both names, mixed so that every bit depends on all others. It must be the same in every version.
fn mixed(host: &str, assistant: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in host.bytes().chain([0]).chain(assistant.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(hosts: &[(&'a str, u32)], assistant: &str) -> &'a str {
        let fit = |host: &&(&str, u32)| Fit::of(host.0, host.1, assistant);
        hosts
            .iter()
            .min_by(|a, b| fit(a).compare(&fit(b)))
            .unwrap()
            .0
    }

    #[test]
    fn hosts_get_assistants_in_proportion_to_their_weights() {
        let hosts = [("a", 100), ("b", 100), ("c", 200)];
        let mut counts = [0; 3];
        for number in 0..10_000 {
            let best = best(&hosts, &format!("resident-{number}"));
            counts[hosts.iter().position(|host| host.0 == best).unwrap()] += 1;
        }
        for (count, expected) in counts.iter().zip([2_500_i32, 2_500, 5_000]) {
            assert!((count - expected).abs() < 200, "{counts:?}");
        }
    }

    #[test]
    fn only_the_assistants_of_a_host_that_leaves_move() {
        let all = [("a", 1), ("b", 1), ("c", 1), ("d", 1)];
        let mut moved = 0;
        for number in 0..4_000 {
            let assistant = format!("resident-{number}");
            let (before, after) = (best(&all, &assistant), best(&all[..3], &assistant));
            assert!(before == "d" || before == after);
            moved += u32::from(before != after);
        }
        assert!((900..1_100).contains(&moved), "{moved}");
    }

    #[test]
    fn the_hash_is_the_same_in_every_version() {
        assert_eq!(mixed("a", "alice"), 12_169_769_855_797_085_338);
    }
}
