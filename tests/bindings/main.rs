//! The same answers over every binding, in both versions of the protocol (spec 1.0 §5.1).
//!
//! One table of [scenarios] is played over JSON-RPC, HTTP+JSON and gRPC, in 1.0 and in 0.3, against one server on one
//! port, by real clients. Each answer is brought into one canonical form, ids and times made alike, and held against that
//! of JSON-RPC in 1.0. Where they may differ is said in [exceptions], with the reason. What is about the [port] that they
//! share is beside it.

mod answer;
mod client;
mod exceptions;
mod names;
mod place;
mod port;
mod problem;
mod request;
mod scenario;
mod scenarios;
mod way;
#[path = "../wire/mod.rs"]
#[allow(dead_code, unused_imports, reason = "its client writes bytes, and those here are real ones")]
mod wire;

use std::{collections::BTreeSet, panic::AssertUnwindSafe};

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use self::{
    client::Talk,
    exceptions::{Change, EXCEPTIONS},
    place::Place,
    scenario::summary,
    way::Way,
};

/// The answers without what only the names of owners say.
fn without_owner(way: Way, answers: Vec<Value>) -> Vec<Value> {
    let text = json!(answers).to_string().replace(&format!(" of {way}"), "");
    serde_json::from_str(&text).expect("the same, shorter")
}

#[tokio::test]
async fn every_binding_gives_the_same_answers() {
    let mut failures = Vec::new();
    let mut needed = BTreeSet::new();
    let (mut scenarios, mut played) = (0, 0);
    for place in Place::ALL {
        let server = place.start().await;
        let talks = Way::ALL.map(|way| Talk::new(way, server.address));
        for scenario in scenarios::table().iter().filter(|scenario| scenario.place == place) {
            scenarios += 1;
            let mut reference = Vec::new();
            for talk in &talks {
                let of_this = EXCEPTIONS.iter().enumerate().filter(|(_, exception)| {
                    let named = exception.scenarios.is_empty() || exception.scenarios.contains(&scenario.name);
                    named && (exception.of)(talk.way)
                });
                let mut expected: Vec<Value> = reference.clone();
                let mut absent = false;
                for (place, exception) in of_this {
                    let before = expected.clone();
                    match exception.change {
                        Change::Absent => absent = true,
                        Change::Edit(edit) => edit(talk.way, &mut expected),
                    }
                    if absent || before != expected {
                        needed.insert(place);
                    }
                }
                if absent {
                    continue;
                }
                played += 1;
                let played = AssertUnwindSafe(scenario.play(talk, &server.stage)).catch_unwind().await;
                let Ok(answers) = played.map(|answers| without_owner(talk.way, answers)) else {
                    failures.push(format!("{} over {}: a panic, which is above", scenario.name, talk.way));
                    continue;
                };
                if talk.way == Way::ALL[0] {
                    let shown: Vec<_> = answers.iter().map(summary).collect();
                    if shown != scenario.shows {
                        failures.push(format!(
                            "{}: {shown:?} is not {:?}: {}",
                            scenario.name,
                            scenario.shows,
                            json!(answers)
                        ));
                    }
                    reference = answers;
                } else if answers != expected {
                    let (answers, expected) = (json!(answers), json!(expected));
                    failures.push(format!("{} over {}:\n  {answers}\nis not\n  {expected}", scenario.name, talk.way));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    for (place, exception) in EXCEPTIONS.iter().enumerate() {
        assert!(needed.contains(&place), "an exception that nothing needs: {}", exception.why);
    }
    // What is left out of a table is left out in silence.
    assert!(scenarios >= 60 && played >= 6 * scenarios - 60, "{scenarios} scenarios, played {played} times");
}
