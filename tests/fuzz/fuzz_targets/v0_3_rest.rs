#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| entries::v0_3_rest(data));
