//! Seeds, and how mutants are made of them: by a generator of our own, so that every run tries the same.

pub(crate) const MESSAGE_1_0: &[u8] = br#"{"tenant":"t","message":{"messageId":"m","contextId":"c","taskId":"k","role":"ROLE_USER","parts":[{"text":"a\u00e9\n"},{"raw":"AP8QgA==","filename":"b.bin","mediaType":"application/octet-stream"},{"url":"https://files.example/a"},{"data":{"n":[1,2.5e3,null,true]}}],"extensions":["https://ext.example/x"],"reference_task_ids":["r"],"metadata":{"k":"v"}},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":3,"returnImmediately":true},"metadata":{}}"#;
pub(crate) const MESSAGE_0_3: &[u8] = br#"{"message":{"kind":"message","messageId":"m","contextId":"c","taskId":"k","role":"user","parts":[{"kind":"text","text":"a"},{"kind":"file","file":{"name":"b.bin","mimeType":"application/octet-stream","bytes":"AP8QgA=="}},{"kind":"file","file":{"uri":"https://files.example/a"}},{"data":{"n":1},"kind":"data"}],"referenceTaskIds":["r"],"metadata":{"k":"v"}},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":3,"blocking":false},"metadata":{}}"#;
pub(crate) const LIST_1_0: &[u8] = br#"{"tenant":"","contextId":"c","status":"TASK_STATE_WORKING","pageSize":20,"pageToken":"19ad0f3c2a1.7","historyLength":0,"statusTimestampAfter":"2026-01-02T03:04:05.678Z","includeArtifacts":true}"#;
pub(crate) const PUSH_1_0: &[u8] = br#"{"tenant":"","taskId":"t","id":"p","url":"https://hook.example/a","token":"k","authentication":{"scheme":"Bearer","credentials":"c"},"pageSize":1,"pageToken":""}"#;
pub(crate) const PUSH_0_3: &[u8] = br#"{"taskId":"t","id":"t","pushNotificationConfigId":"p","pushNotificationConfig":{"id":"p","url":"https://hook.example/a","token":"k","authentication":{"schemes":["Bearer"],"credentials":"c"}}}"#;
pub(crate) const ID: &[u8] = br#"{"id":"2f1c","historyLength":2,"metadata":{"a":null}}"#;
pub(crate) const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":"a-1","method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}"#;
pub(crate) const LONG_ID: &[u8] =
    br#"{"id":123456789012345678901234567890,"method":"m","jsonrpc":"2.0","params":null}"#;
pub(crate) const BATCH: &[u8] = br#"[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":2,"method":"m"}]"#;
pub(crate) const NUMBERS: &[u8] = br#"[0,-0,1e999,-1E-9,9223372036854775808,1.0000000000000000000000000000001]"#;
pub(crate) const STRINGS: &[u8] = br#"["\ud83d\ude00","\ud83d","\u0000","\u2028",{"a":1,"a":2}]"#;

/// What breaks readers of JSON more often than chance would.
const WORDS: [&[u8]; 22] = [
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"\"\"",
    b"-1",
    b"1e999",
    b"99999999999999999999",
    b"\\ud800",
    b"\\u0000",
    b"\xff",
    b"\xc3",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
    b"\0",
    b"\"",
    b"\\",
    b",",
    b":",
    b"{",
    b"]",
    b"\"kind\":\"x\",",
];

/// A small generator (SplitMix64) whose numbers depend on the seed alone.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below the bound; 0 if there is none.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// One to four changes: a byte, a bit, a cut, a word put in, a piece doubled, a piece of another seed.
pub(crate) fn mutate(seed: &[u8], others: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = at + random.below(bytes.len() - at + 1).min(40);
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] = random.next() as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 => drop(bytes.drain(at..end)),
            3 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].iter().copied())),
            4 => drop(bytes.splice(at..end, WORDS[random.below(WORDS.len())].iter().copied())),
            5 => {
                let piece = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, piece));
            }
            _ => {
                let other = others[random.below(others.len())];
                let from = random.below(other.len());
                let to = from + random.below(other.len() - from + 1).min(60);
                drop(bytes.splice(at..at, other[from..to].iter().copied()));
            }
        }
    }
    bytes
}
