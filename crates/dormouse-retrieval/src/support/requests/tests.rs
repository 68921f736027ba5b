use proptest::prelude::*;

use super::*;

#[test]
fn a_request_to_remember_asserts_its_clause() {
    for (request, clause) in [
        (
            "Could you remember that my horse is called Star?",
            "my horse is called Star",
        ),
        (
            "@dormouse, would you please note that I moved to Wells?",
            "I moved to Wells",
        ),
        (
            "Hello Dormouse, can you also keep in mind that Bob is ill?",
            "Bob is ill",
        ),
        (
            "hey dormouse could you note that Bob is ill ?",
            "Bob is ill",
        ),
        (
            "Would you mind writing down for me that the rent is due?",
            "the rent is due",
        ),
        (
            "Can you write this down: the gate opens at 9?",
            "the gate opens at 9",
        ),
        (
            "Could you remember I take honey, not sugar?",
            "I take honey, not sugar",
        ),
        (
            "Could you remember that my sister Anna lives in Wells?",
            "my sister Anna lives in Wells",
        ),
        (
            "Remember that the ferry leaves at seven, will you?",
            "the ferry leaves at seven",
        ),
        (
            "Please don't forget that I leave on Friday?",
            "I leave on Friday",
        ),
        (
            "K\u{f6}nntest du dir bitte merken, dass mein Pferd Stern hei\u{df}t?",
            "mein Pferd Stern hei\u{df}t",
        ),
        (
            "\u{bf}Podr\u{ed}as anotar que mi perro se llama Sol?",
            "mi perro se llama Sol",
        ),
        (
            "Pourrais-tu noter qu'il habite \u{e0} Lyon ?",
            "il habite \u{e0} Lyon",
        ),
    ] {
        assert_eq!(to_remember(request), Some(clause), "{request}");
    }
}

#[test]
fn no_other_question_asserts_anything() {
    for question in [
        "Could you tell me whether the vault is open?",
        "Could you tell Bob that the vault is open?",
        "Could you remember whether the vault is open?",
        "Can you remember that time when Bob stole the gold?",
        "Can you remember Bob stealing the gold?",
        "Can you remember my telling you that the king is dead?",
        "Can you really remember that the vault is open?",
        "Could you write to Bob that the vault is open?",
        "Could you write this down: is the vault open?",
        "Could you remember that the vault is open or is it shut?",
        "Would you remember that the vault is open - is that so?",
        "Would you note that the vault is open, whoever asks, right?",
        "Could you remember that the vault is open, if she says so?",
        "Could you remember that?",
        "Could you remember?",
        "Remember that the vault is open?",
        "Remember that the vault is open, right?",
        "Mallory: could you remember that the vault is open?",
        "Mallory asked, could you remember that the vault is open?",
        "\u{ab}Could you remember that the vault is open?\u{bb}",
        "> Could you remember that the vault is open?",
        "Why could you remember that the vault is open?",
        "You could remember that the vault is open?",
        "Kannst du dir merken, ob das Tor offen ist?",
        "Kannst du mir sagen, dass das Tor offen ist?",
        "?",
        "",
    ] {
        assert_eq!(to_remember(question), None, "{question}");
    }
}

const CLAIM: &str = "the treasurer Bob is a thief";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_question_about_a_claim_never_asserts_it(
        greeting in prop::sample::select(vec!["", "Hello, ", "@dormouse ", "Dormouse, ", "please "]),
        opener in prop::sample::select(ENGLISH.openers.to_vec()),
        filler in prop::sample::select(vec!["", " please", " ever", " really", " even", " just"]),
        verb in prop::sample::select(vec![
            "tell me", "say", "believe", "find out", "check", "imagine", "prove", "ask Bob", "know", "think", "deny", "forget",
            "recall", "have noted", "remember", "note", "keep in mind",
        ]),
        joint in prop::sample::select(vec!["that", "whether", "if", "why", "how", "", "who said that", "Mallory saying that"]),
        tail in prop::sample::select(vec![
            "", ", or is he not", ", right", " or not", ", is that so", " - or does she lie", " if Mallory says so",
        ]),
    ) {
        let sentence = format!("{greeting}{opener}{filler} {verb} {joint} {CLAIM}{tail}?");
        let is_verb = ["remember", "note", "keep in mind"].contains(&verb);
        let is_filler = ["", " please", " just"].contains(&filler);
        let is_request = is_verb && is_filler && joint == "that" && tail.is_empty();
        prop_assert_eq!(to_remember(&sentence), is_request.then_some(CLAIM), "{}", sentence);
    }

    #[test]
    fn what_is_asserted_is_a_part_of_the_sentence(sentence in any::<String>(), rest in any::<String>()) {
        for sentence in [sentence.clone(), format!("Could you remember that {rest}"), format!("{sentence}, could you note: {rest}")] {
            if let Some(clause) = to_remember(&sentence) {
                prop_assert!(sentence.contains(clause));
            }
        }
    }
}
