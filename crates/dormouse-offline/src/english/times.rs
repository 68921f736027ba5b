//! Numbers and moments in words.

/// Numbers as words.
pub(crate) const NUMBERS: &[(&str, u64)] = &[
    ("a", 1),
    ("an", 1),
    ("one", 1),
    ("two", 2),
    ("couple", 2),
    ("three", 3),
    ("few", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("twenty-five", 25),
    ("thirty", 30),
    ("forty", 40),
    ("forty-five", 45),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
];

/// Units, with their seconds.
pub(crate) const UNITS: &[(&str, u64)] = &[
    ("seconds", 1),
    ("minutes", 60),
    ("hours", 3_600),
    ("days", 86_400),
    ("week", 604_800),
    ("weeks", 604_800),
];

/// Lengths of time without a number, as consecutive words, with their seconds.
pub(crate) const LENGTHS: &[(&str, u64)] = &[
    ("half an hours", 1_800),
    ("half a hours", 1_800),
    ("a half hours", 1_800),
    ("a quarter of an hours", 900),
    ("quarter of an hours", 900),
    ("three quarters of an hours", 2_700),
    ("an hours and a half", 5_400),
    ("one and a half hours", 5_400),
    ("a couple of minutes", 120),
    ("a few minutes", 180),
    ("a couple of hours", 7_200),
    ("a moments", 60),
];

/// Moments of a day, in minutes after midnight.
pub(crate) const MOMENTS: &[(&str, u64)] = &[("noon", 720), ("midday", 720), ("midnight", 0)];

/// Words that say which half of the day an hour belongs to: `true` for the afternoon.
pub(crate) const HALVES: &[(&str, bool)] = &[
    ("am", false),
    ("a.m", false),
    ("pm", true),
    ("p.m", true),
    ("in the morning", false),
    ("in the afternoon", true),
    ("in the evening", true),
    ("at night", true),
    ("tonight", true),
    ("this evening", true),
    ("this afternoon", true),
    ("this morning", false),
];

/// Parts of a day, with the hour that each one means if no hour is named.
pub(crate) const PARTS: &[(&str, u64)] = &[
    ("morning", 8),
    ("afternoon", 15),
    ("evening", 19),
    ("night", 21),
];
