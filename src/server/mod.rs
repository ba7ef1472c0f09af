//! To be written.

mod linger;
mod serve;

pub use self::serve::{Serve, serve};
