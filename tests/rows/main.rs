//! A test for each row of the requirements, named after it, through the public API, with six mounts that live side by side
//! in one process. `rows.md` says which test proves which row.

mod bread_cancel;
mod bread_card;
mod bread_errors;
mod bread_input;
mod bread_lifecycle;
mod bread_mounts;
mod bread_output;
mod bread_streaming;
mod bread_transport;
mod differences;
mod protocol;
mod support;
mod table;
mod vibes_mirrors;
mod vibes_parts;
mod vibes_setup;
mod vibes_tasks;
mod vibes_wire;
