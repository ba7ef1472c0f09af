//! What the tests of tasks that outlive their process have in common: programs that are their own servers, clients that
//! come back to where they were, and what must hold of a store afterwards.

pub(crate) mod agent;
pub(crate) mod check;
pub(crate) mod client;
#[path = "../postgres/database.rs"]
pub(crate) mod database;
pub(crate) mod fleet;
pub(crate) mod follower;
pub(crate) mod place;
pub(crate) mod server;

use std::{env, error::Error, time::SystemTime};

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The program is a server if it was started as one, and the test otherwise.
pub(crate) fn run(name: &str, test: impl Future<Output = Outcome<()>>) -> Outcome<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    if let Some(orders) = server::Orders::of_this_process()? {
        return runtime.block_on(server::serve(&orders));
    }
    // A test is asked for its name by some who run them.
    if env::args().any(|argument| argument == "--list") {
        println!("{name}: test");
        return Ok(());
    }
    runtime.block_on(test)
}

/// A number that the environment sets.
pub(crate) fn number(name: &str) -> Outcome<Option<u64>> {
    Ok(env::var(name).ok().map(|text| text.parse()).transpose()?)
}

/// Numbers that look like any others (xorshift).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// From the environment, or from the clock. Printed, so that the same work can be done again.
    pub(crate) fn from_environment(name: &str) -> Outcome<(Self, u64)> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let seed = number(name)?.unwrap_or(now.subsec_nanos().into());
        Ok((Self::new(seed), seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
