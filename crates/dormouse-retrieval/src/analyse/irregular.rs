//! Irregular English forms, which the stemmer cannot reduce to their base.

/// The base of an irregular form: `buy` of `bought`, `child` of `children`.
pub(super) fn base_form(word: &str) -> Option<&'static str> {
    let place = FORMS.binary_search_by(|(form, _)| (*form).cmp(word)).ok()?;
    FORMS.get(place).map(|(_, base)| *base)
}

/// Pairs of an irregular form and its base, sorted by form.
#[rustfmt::skip]
const FORMS: &[(&str, &str)] = &[
    ("am", "be"), ("are", "be"), ("arisen", "arise"), ("arose", "arise"), ("ate", "eat"), ("awoke", "awake"),
    ("awoken", "awake"), ("beaten", "beat"), ("became", "become"), ("been", "be"), ("began", "begin"),
    ("begun", "begin"), ("being", "be"), ("bent", "bend"), ("best", "good"), ("betted", "bet"), ("better", "good"),
    ("bit", "bite"), ("bitten", "bite"), ("bled", "bleed"), ("blew", "blow"), ("blown", "blow"), ("bore", "bear"),
    ("borne", "bear"), ("bought", "buy"), ("bound", "bind"), ("bred", "breed"), ("broke", "break"),
    ("broken", "break"), ("brought", "bring"), ("built", "build"), ("burnt", "burn"), ("came", "come"),
    ("caught", "catch"), ("children", "child"), ("chose", "choose"), ("chosen", "choose"), ("clung", "cling"),
    ("crept", "creep"), ("dealt", "deal"), ("did", "do"), ("does", "do"), ("doing", "do"), ("done", "do"),
    ("dove", "dive"), ("drank", "drink"), ("drawn", "draw"), ("dreamt", "dream"), ("drew", "draw"),
    ("driven", "drive"), ("drove", "drive"), ("drunk", "drink"), ("dug", "dig"), ("eaten", "eat"), ("elder", "old"),
    ("eldest", "old"), ("fallen", "fall"), ("fed", "feed"), ("feet", "foot"), ("fell", "fall"), ("felt", "feel"),
    ("fled", "flee"), ("flew", "fly"), ("flown", "fly"), ("forbade", "forbid"), ("forbidden", "forbid"),
    ("forgave", "forgive"), ("forgiven", "forgive"), ("forgot", "forget"), ("forgotten", "forget"),
    ("fought", "fight"), ("found", "find"), ("froze", "freeze"), ("frozen", "freeze"), ("gave", "give"),
    ("geese", "goose"), ("given", "give"), ("goes", "go"), ("gone", "go"), ("got", "get"), ("gotten", "get"),
    ("grew", "grow"), ("ground", "grind"), ("grown", "grow"), ("had", "have"), ("halves", "half"), ("has", "have"),
    ("having", "have"), ("heard", "hear"), ("held", "hold"), ("hid", "hide"), ("hidden", "hide"), ("hung", "hang"),
    ("is", "be"), ("kept", "keep"), ("knelt", "kneel"), ("knew", "know"), ("knives", "knife"), ("known", "know"),
    ("laid", "lay"), ("lain", "lie"), ("leant", "lean"), ("leapt", "leap"), ("learnt", "learn"), ("led", "lead"),
    ("left", "leave"), ("lent", "lend"), ("lit", "light"), ("lost", "lose"), ("lying", "lie"),
    ("made", "make"), ("meant", "mean"), ("men", "man"), ("met", "meet"), ("mice", "mouse"), ("mistaken", "mistake"),
    ("mistook", "mistake"), ("older", "old"), ("oldest", "old"), ("overcame", "overcome"), ("paid", "pay"),
    ("people", "person"), ("proven", "prove"), ("ran", "run"), ("rang", "ring"), ("ridden", "ride"),
    ("risen", "rise"), ("rode", "ride"), ("rose", "rise"), ("rung", "ring"), ("said", "say"), ("sang", "sing"),
    ("sank", "sink"), ("sat", "sit"), ("saw", "see"), ("seen", "see"), ("sent", "send"), ("sewn", "sew"),
    ("shaken", "shake"), ("shone", "shine"), ("shook", "shake"), ("shot", "shoot"), ("shown", "show"),
    ("shrank", "shrink"), ("shrunk", "shrink"), ("slept", "sleep"), ("slid", "slide"), ("smelt", "smell"),
    ("sold", "sell"), ("sought", "seek"), ("sped", "speed"), ("spelt", "spell"), ("spent", "spend"),
    ("spilt", "spill"), ("spoilt", "spoil"), ("spoke", "speak"), ("spoken", "speak"), ("sprang", "spring"),
    ("sprung", "spring"), ("spun", "spin"), ("stole", "steal"), ("stolen", "steal"), ("stood", "stand"),
    ("stricken", "strike"), ("striven", "strive"), ("strove", "strive"), ("struck", "strike"), ("stuck", "stick"),
    ("stung", "sting"), ("sung", "sing"), ("sunk", "sink"), ("swam", "swim"), ("swept", "sweep"),
    ("swollen", "swell"), ("swore", "swear"), ("sworn", "swear"), ("swum", "swim"), ("swung", "swing"),
    ("taken", "take"), ("taught", "teach"), ("teeth", "tooth"), ("thought", "think"), ("threw", "throw"),
    ("thrown", "throw"), ("told", "tell"), ("took", "take"), ("tore", "tear"), ("torn", "tear"),
    ("undergone", "undergo"), ("understood", "understand"), ("undertaken", "undertake"), ("undertook", "undertake"),
    ("underwent", "undergo"), ("was", "be"), ("went", "go"), ("wept", "weep"), ("were", "be"),
    ("withdrawn", "withdraw"), ("withdrew", "withdraw"), ("wives", "wife"), ("woke", "wake"), ("woken", "wake"),
    ("women", "woman"), ("won", "win"), ("wore", "wear"), ("worn", "wear"), ("worse", "bad"), ("worst", "bad"),
    ("wound", "wind"), ("wove", "weave"), ("woven", "weave"), ("written", "write"), ("wrote", "write"),
];

#[cfg(test)]
pub(super) fn forms() -> &'static [(&'static str, &'static str)] {
    FORMS
}
