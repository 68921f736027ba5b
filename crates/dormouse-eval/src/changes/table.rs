//! Facts that change: what somebody says first, what they say later, and the question whose answer is the later one.

/// A fact that changes.
#[derive(Debug)]
pub(super) struct ChangedFact {
    /// What its speaker says first.
    pub(super) before: &'static str,
    /// What the same speaker says later.
    pub(super) after: &'static str,
    /// The question, with `NAME` for the speaker.
    pub(super) question: &'static str,
}

const fn fact(before: &'static str, after: &'static str, question: &'static str) -> ChangedFact {
    ChangedFact {
        before,
        after,
        question,
    }
}

/// Facts of which some say that something changed, and others only say what is so now. Neighbours are of different kinds, so
/// that the facts at even and at odd places are alike.
#[rustfmt::skip]
pub(super) const FACTS: &[ChangedFact] = &[
    fact("I take the number 12 bus to the office every morning.", "I no longer take the bus to the office, I cycle there along the canal.", "How does NAME get to the office?"),
    fact("My dentist is Dr. Okafor on Mill Street.", "My dentist is Dr. Lindqvist now, her practice is near the station.", "Who is NAME's dentist?"),
    fact("I drink my coffee with oat milk.", "I switched from oat milk to almond milk in my coffee.", "What kind of milk does NAME take in coffee?"),
    fact("My rent is 850 a month, which is fine for this area.", "They raised it again, my rent is 990 a month.", "How much rent does NAME pay?"),
    fact("Our choir meets on Tuesday evenings in the parish hall.", "The choir has moved to Thursday evenings, still in the parish hall.", "On which evening does NAME's choir meet?"),
    fact("My sister Ines lives in Porto.", "My sister Ines lives in Ghent with her new partner.", "Where does NAME's sister Ines live?"),
    fact("I keep my savings at Harbour Bank.", "I closed my account at Harbour Bank and keep my savings at Northgate instead.", "At which bank does NAME keep savings?"),
    fact("The wifi password at my flat is bluekettle.", "I changed the wifi password at my flat, it is redlantern.", "What is the wifi password at NAME's flat?"),
    fact("I'm allergic to penicillin, the doctor told me.", "The new test shows I'm not allergic to penicillin after all.", "Is NAME allergic to penicillin?"),
    fact("I drive an old green Volvo.", "I sold the Volvo and drive a small electric Renault.", "Which car does NAME drive?"),
    fact("My phone is a Pixel, it does what I need.", "Got myself a new phone, it's a Fairphone this time.", "Which phone does NAME have?"),
    fact("My daughter plays the trumpet in the school band.", "My daughter gave up the trumpet and plays the cello in the school band.", "Which instrument does NAME's daughter play?"),
    fact("I usually get up at six to write.", "These days I get up at half past seven, the writing can wait.", "At what time does NAME get up?"),
    fact("The plumber we use is called Marek.", "We no longer use Marek, our plumber is a woman called Stine.", "What is NAME's plumber called?"),
    fact("I'm reading a biography of Ada Lovelace at the moment.", "I finished Lovelace; now I'm reading a biography of Shackleton.", "Which biography is NAME reading?"),
    fact("My gym is the one on Castle Road.", "I left the gym on Castle Road and joined the gym by the river.", "Which gym does NAME go to?"),
    fact("My landlord is Mr. Petrov, a quiet man.", "The house was sold, so my landlord is Mrs. Aalto.", "Who is NAME's landlord?"),
    fact("I take 20 milligrams of the blood pressure tablets.", "The doctor cut the blood pressure tablets down to 10 milligrams.", "How many milligrams of the blood pressure tablets does NAME take?"),
    fact("My favourite tea is jasmine.", "My favourite tea is lapsang, I can't drink jasmine anymore.", "What is NAME's favourite tea?"),
    fact("We feed the tortoise on Mondays and Fridays.", "The vet says we should feed the tortoise on Sundays only.", "On which days does NAME feed the tortoise?"),
    fact("I work as a receptionist at the Grand Hotel.", "I started a new job as a translator for the city council.", "What is NAME's job?"),
    fact("My email is through Fastpost, it never fails.", "I moved my email from Fastpost to Swiftmail last week.", "Which provider does NAME use for email?"),
    fact("The spare key is under the flower pot.", "The spare key is with the neighbours upstairs, not under the flower pot.", "Where is NAME's spare key?"),
    fact("My bike is in the repair shop on Elm Lane.", "My bike is back from the repair shop, it's in the cellar.", "Where is NAME's bike?"),
    fact("I'm learning Portuguese with an app.", "I dropped Portuguese, I'm learning Danish with a tutor.", "Which language is NAME learning?"),
    fact("My brother is engaged to Fatima.", "My brother broke off the engagement with Fatima, he is seeing Lena.", "Who is NAME's brother with?"),
    fact("The bakery opens at eight on Saturdays.", "The bakery opens at nine on Saturdays from this month.", "When does the bakery open on Saturdays, according to NAME?"),
    fact("I sing alto in the chorus.", "They moved me from alto to tenor in the chorus.", "Which voice does NAME sing in the chorus?"),
    fact("My laptop runs Windows, I've never tried anything else.", "I put Linux on my laptop, Windows is gone.", "What does NAME's laptop run?"),
    fact("I volunteer at the animal shelter on Sundays.", "I stopped volunteering at the shelter, I help at the food bank on Sundays.", "Where does NAME volunteer on Sundays?"),
    fact("The wedding is on the 14th of June.", "We had to postpone the wedding, it's on the 6th of September.", "On which date is NAME's wedding?"),
    fact("I subscribe to the Morning Courier.", "I cancelled the Courier and subscribe to the Weekly Review.", "Which paper does NAME subscribe to?"),
    fact("Our team is coached by Hassan.", "Our team has a new coach, her name is Brigitte.", "Who coaches NAME's team?"),
    fact("My blood type is A positive, says the old card.", "The hospital corrected it: my blood type is O positive.", "What is NAME's blood type?"),
    fact("I park behind the library.", "I can't park behind the library anymore, I park at the market square.", "Where does NAME park?"),
    fact("My cat sleeps in the laundry basket.", "My cat has moved to the top of the wardrobe, that's where she sleeps.", "Where does NAME's cat sleep?"),
    fact("The meeting room is on the third floor.", "The meeting room is on the ground floor since the renovation.", "On which floor is the meeting room, according to NAME?"),
    fact("My best marathon time is four hours and ten minutes.", "I beat it! My best marathon time is three hours and fifty-two minutes.", "What is NAME's best marathon time?"),
    fact("I wear glasses with a brown frame.", "I swapped my glasses for contact lenses.", "Does NAME wear glasses or lenses?"),
    fact("Our book club is reading Middlemarch.", "Our book club is reading The Leopard, Middlemarch was too long.", "What is NAME's book club reading?"),
    fact("The heating is set to 21 degrees.", "We set the heating to 18 degrees to save gas.", "To how many degrees is NAME's heating set?"),
    fact("My accountant is Ms. Duarte.", "Ms. Duarte retired, so Mr. Feld is my accountant.", "Who is NAME's accountant?"),
    fact("I'm on the night shift at the warehouse.", "I'm not on the night shift anymore, I have the early shift at the warehouse.", "Which shift does NAME have at the warehouse?"),
    fact("The boat is moored at Pier 4.", "We moved the boat to Pier 9.", "At which pier is NAME's boat?"),
    fact("My son wants to be a pilot.", "My son has changed his mind, he wants to be a beekeeper.", "What does NAME's son want to be?"),
    fact("I pay 30 a month for insurance with Albion.", "I switched my insurance from Albion to Mutualis.", "With whom does NAME have insurance?"),
    fact("My hair is long, down to the shoulders.", "I cut my hair really short for the summer.", "How long is NAME's hair?"),
    fact("The grandparents are coming on the Friday train.", "The grandparents are coming by car on Saturday instead.", "How are NAME's grandparents coming?"),
    fact("My recipe for the lemon cake needs four eggs.", "I changed my recipe for the lemon cake, it needs only two eggs.", "How many eggs does NAME's lemon cake need?"),
    fact("I bank on Clara to water the plants.", "Clara moved away, Tom waters the plants for me.", "Who waters NAME's plants?"),
    fact("My piano lessons are with Mrs. Novak.", "I have piano lessons with Mr. Adeyemi since Mrs. Novak fell ill.", "With whom does NAME have piano lessons?"),
    fact("I use the red notebook for the accounts.", "I use a spreadsheet for the accounts instead of the red notebook.", "What does NAME use for the accounts?"),
    fact("The dog is called Biscuit for now.", "We renamed the dog, she is called Juniper.", "What is NAME's dog called?"),
    fact("My office is room 214.", "They gave me another office, it's room 308.", "Which room is NAME's office?"),
    fact("We are flying to Lisbon with Aeroluz.", "We are not flying to Lisbon, we take the night train.", "How is NAME travelling to Lisbon?"),
    fact("I eat meat twice a week.", "I became a vegetarian, so I eat no meat.", "Does NAME eat meat?"),
    fact("My favourite player is Moreno, the goalkeeper.", "My favourite player is Sato, the young striker.", "Who is NAME's favourite player?"),
    fact("The bins are collected on Wednesdays.", "The bins are collected on Mondays as of this week.", "On which day are NAME's bins collected?"),
    fact("I owe Rashid 200 for the tickets.", "I paid Rashid back, so I owe him nothing for the tickets.", "How much does NAME owe Rashid for the tickets?"),
    fact("My desk faces the window.", "I turned my desk around, it faces the door.", "What does NAME's desk face?"),
    fact("The password for the club's website is in Olga's drawer.", "The password for the club's website is in the safe now.", "Where is the password for the website of NAME's club?"),
    fact("I run five kilometres before breakfast.", "With my knee I swim before breakfast instead of running.", "What does NAME do before breakfast?"),
    fact("My mentor at the institute is Professor Ruiz.", "Professor Ruiz left, my mentor at the institute is Doctor Amin.", "Who is NAME's mentor at the institute?"),
    fact("The printer is out of order.", "The printer works again, they replaced the drum.", "Does the printer work, according to NAME?"),
];
