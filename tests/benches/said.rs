//! What is said to assistants that answer offline.

/// One message in four is a note, one a question about a note, one a greeting, and one only a remark.
pub(crate) fn message(number: u64) -> String {
    let (item, place) = (number % 1_009, number % 17);
    match number % 4 {
        0 => format!("remember that item {item} is on shelf {place}"),
        1 => format!("where is item {}?", (number / 4 * 4) % 1_009),
        2 => format!("hello, this is cup {number} and I take it with milk"),
        _ => format!("The kettle whistles for the {number}th time today, and nobody minds."),
    }
}
