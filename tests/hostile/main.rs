//! A bounded, repeatable run of the fuzz entries: seeds, everything cut off, and many mutants of each.

mod corpus;
pub mod entries;

use corpus::{Random, mutate};

/// Runs an entry on the seeds, on every beginning of them, and on mutants.
fn feed(entry: fn(&[u8]), seeds: &[&[u8]]) {
    const MUTANTS: usize = 4_000;
    entry(b"");
    for seed in seeds {
        entry(seed);
        for end in 0..seed.len().min(2_000) {
            entry(&seed[..end]);
        }
        let mut random = Random::new(seed.len() as u64);
        for _ in 0..MUTANTS {
            entry(&mutate(seed, seeds, &mut random));
        }
    }
}

/// The parameters behind every choice of method.
fn under_each_method(params: &[&[u8]], methods: u8) -> Vec<Vec<u8>> {
    let each = |method: u8| params.iter().map(move |text| [&[method], *text].concat());
    (0..methods).flat_map(each).collect()
}

fn feed_dialect(entry: fn(&[u8]), params: &[&[u8]], methods: u8) {
    let calls = under_each_method(params, methods);
    for call in &calls {
        entry(call);
    }
    for params in params {
        let seeds: Vec<&[u8]> = calls.iter().filter(|call| call.ends_with(params)).map(Vec::as_slice).collect();
        feed(entry, &seeds[..1]);
    }
}

#[test]
fn json_is_kept_or_refused() {
    let deep = [vec![b'['; 100], vec![b']'; 100]].concat();
    let deeper = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    feed(entries::json, &[corpus::MESSAGE_1_0, corpus::NUMBERS, corpus::STRINGS, &deep]);
    entries::json(&deeper);
    entries::json(&vec![b'['; 100_000]);
    entries::json("{\"a\":".repeat(100_000).as_bytes());
}

#[test]
fn base64_is_judged_rightly_without_decoding() {
    feed(entries::base64, &[b"AP8QgA==", b"+/8AEA", b"-_8AEA==", b"QUJDREVGR0hJSktMTU5PUA=="]);
}

#[test]
fn hostile_0_3_parameters_get_a_precise_error() {
    feed_dialect(entries::v0_3, &[corpus::MESSAGE_0_3, corpus::PUSH_0_3, corpus::ID], 13);
}

#[test]
fn hostile_1_0_parameters_get_a_precise_error() {
    feed_dialect(entries::v1_0, &[corpus::MESSAGE_1_0, corpus::LIST_1_0, corpus::PUSH_1_0, corpus::ID], 12);
}

#[test]
fn hostile_parameters_of_0_3_over_rest_get_a_precise_error() {
    feed_dialect(entries::v0_3_rest, &[corpus::MESSAGE_0_3, corpus::PUSH_0_3, corpus::ID], 10);
}

#[test]
fn every_target_gets_a_call_or_a_refusal() {
    let seeds: [&[u8]; 6] = [
        b"\x01/message:send",
        b"\x00/acme/tasks/urn:uuid:7%2F..%zz:subscribe?after=1",
        b"\x00/tasks?contextId=a+b&status=3&pageSize=%31&includeArtifacts=true&page_token=\"",
        b"\x02/v1/tasks/%F0%9F%98%80/pushNotificationConfigs/c?configId=%",
        b"\x00/v1/card",
        b"\x01/v1/tasks/t:cancel",
    ];
    feed(entries::rest, &seeds);
}

#[test]
fn every_body_gets_one_envelope() {
    feed(entries::json_rpc, &[corpus::CALL, corpus::LONG_ID, corpus::BATCH]);
    entries::json_rpc(&[b"[".repeat(100_000), b"]".repeat(100_000)].concat());
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{0}{1}}}}}"#, "[".repeat(200), "]".repeat(200));
    entries::json_rpc(deep.as_bytes());
}

#[test]
fn versions_are_two_numbers() {
    feed(entries::version, &[b"1.0", b"0.3.0", b"65535.65535", b"1.0.0-rc.1", b" 1.0"]);
}

#[test]
fn page_tokens_of_others_are_refused() {
    feed(entries::cursor, &[b"19ad0f3c2a1.7", b"0.0", b"7fffffffffffffff.ffffffffffffffff", b"-1.0"]);
}

/// Mutants differ from what they came from, or nothing above would be tried.
#[test]
fn mutants_are_many_and_the_same_in_every_run() {
    let mutants = || {
        let mut random = Random::new(7);
        (0..500).map(|_| mutate(corpus::CALL, &[corpus::BATCH], &mut random)).collect::<Vec<_>>()
    };
    let (mut some, again) = (mutants(), mutants());
    assert_eq!(some, again);
    some.sort();
    some.dedup();
    assert!(some.len() > 400, "{} kinds of mutants", some.len());
}
