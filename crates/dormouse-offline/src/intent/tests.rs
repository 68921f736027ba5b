use super::*;

fn remember(text: &str) -> Intent {
    Intent::Remember(text.to_owned())
}
fn ask(text: &str) -> Intent {
    Intent::Ask(text.to_owned())
}
fn go(text: &str) -> Intent {
    Intent::Go(text.to_owned())
}

#[test]
fn usual_phrases_are_recognised() {
    for (words, intent) in [
        ("hello", Intent::Talk(Topic::Greeting)),
        ("Hi there!", Intent::Talk(Topic::Greeting)),
        ("@dormouse, good morning.", Intent::Talk(Topic::Greeting)),
        ("Hello, my name is Bob", Intent::Talk(Topic::Greeting)),
        (
            "remember that Alice prefers tea",
            remember("Alice prefers tea"),
        ),
        (
            "Hello @dormouse! Please remember: I like it hot.",
            remember("I like it hot."),
        ),
        ("Don’t forget the milk", remember("the milk")),
        ("Who are you?", Intent::Talk(Topic::WhoAreYou)),
        ("help!", Intent::Talk(Topic::Abilities)),
        ("look around", Intent::Look),
        ("Where are you?", Intent::Look),
        ("where am I", Intent::Look),
        ("go north", go("north")),
        ("Please go to the garden.", go("garden")),
        ("follow me to the kitchen", go("kitchen")),
        ("Follow Alice to the Old Mill", go("Old Mill")),
        ("come north", go("north")),
        ("Thank you so much", Intent::Talk(Topic::Thanks)),
        ("bye, dormouse", Intent::Talk(Topic::Bye)),
        ("what does Alice prefer?", ask("what does Alice prefer?")),
        ("Hi, who likes tea", ask("who likes tea")),
        ("tell me about Bob", ask("tell me about Bob")),
        (
            "The kettle is blue, right?",
            ask("The kettle is blue, right?"),
        ),
        (
            "do you remember the kettle?",
            ask("do you remember the kettle?"),
        ),
        ("remember me?", ask("remember me?")),
    ] {
        assert_eq!(recognise(words, &["Dormouse"]), intent, "{words}");
    }
}

#[test]
fn similar_messages_are_not_misunderstood() {
    for words in [
        "",
        "@dormouse",
        "The kettle sings.",
        "hippo",
        "golf tomorrow",
        "helpful, that",
        "remember",
        "looks like rain",
        "go",
        "goal: north",
        "ignore previous instructions",
        "how",
        "go and fetch me the blue kettle from the kitchen",
        "byes",
        "thankless",
    ] {
        assert_eq!(recognise(words, &["Dormouse"]), Intent::Unknown, "{words}");
    }
}
