//! How much memory a process has resident.

use std::fs;

/// The resident memory of a process, in bytes; 0 where that cannot be known. `process` is a number, or `self`.
pub(crate) fn resident_bytes(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes.map_or(0, |number| 1_024 * number.trim().parse::<u64>().unwrap())
}
