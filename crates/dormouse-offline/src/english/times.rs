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

/// The days of a week, Monday first.
pub(crate) const WEEKDAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// What may precede the name of a weekday.
pub(crate) const ON: &[&str] = &["on", "next", "this", "coming"];

/// What precedes an hour.
pub(crate) const AT: &[&str] = &["at", "by", "around", "about"];

/// What precedes a moment at which it is too late.
pub(crate) const DEADLINES: &[&str] = &["before", "until", "till", "til"];

/// What joins two moments.
pub(crate) const JOINS: &[&str] = &["and", "or", "then", "plus"];

/// Words for something that happens again and again.
pub(crate) const REPEATS: &[&str] = &[
    "hourly",
    "daily",
    "nightly",
    "weekly",
    "monthly",
    "yearly",
    "always",
    "regularly",
];

/// What "every" precedes if it says when, in addition to units, weekdays and parts of a day.
pub(crate) const EVERY: &[&str] = &["month", "year", "noon", "midnight", "time"];

/// How a sentence says that a moment has come, after "when".
pub(crate) const IT_IS: &[&str] = &[
    "it is",
    "it gets to",
    "it gets",
    "it turns",
    "it strikes",
    "it becomes",
    "it reaches",
    "the time is",
];

/// What may precede a moment that has come.
pub(crate) const NEARLY: &[&str] = &["almost", "nearly", "about", "exactly", "past", "the"];

/// Words of a condition that name no event: something that is true at any time, or only a moment.
pub(crate) const VAGUE: &[&str] = &[
    "time", "late", "early", "oclock", "am", "pm", "today", "tomorrow", "true", "right", "wrong",
    "so", "possible", "over",
];

/// Parts of a day, with the hour that each one means if no hour is named.
pub(crate) const PARTS: &[(&str, u64)] = &[
    ("morning", 8),
    ("afternoon", 15),
    ("evening", 19),
    ("night", 21),
];
