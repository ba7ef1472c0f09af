//! An agent that any number of replicas serve from one Postgres, and a front that shares connections out among them.
//! `run.sh`, beside this file, starts all of it from installed programs, kills a replica, and shows what becomes of its work:
//!
//! ```text
//! examples/replicas/run.sh
//! ```
//!
//! By hand it is one line for each replica, with a port of 0 for any that is free, and one for the front:
//!
//! ```text
//! replicas serve 127.0.0.1:8001 postgres://user@host/database
//! replicas front 127.0.0.1:8000 127.0.0.1:8001 127.0.0.1:8002 127.0.0.1:8003
//! ```

mod front;

use std::{convert::Infallible, time::Duration};

use a2a_layers::{
    agent::Reply,
    error::BoxError,
    part::Input,
    server::{Mount, Serve},
    task::PostgresTaskStore,
};
use futures_util::{StreamExt as _, stream};
use http::Request;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tower::service_fn;

/// How long a replica may be silent before it counts as gone. In earnest the default, 30 s, is better: a database that
/// stands still for a moment is no reason to do work twice.
const LEASE: Duration = Duration::from_secs(2);
/// How long a replica that is told to stop goes on with streams, and then with runs. Supervisors kill after 10 to 30 s.
const STOPPING: Duration = Duration::from_secs(3);
/// The pause between words.
const PAUSE: Duration = Duration::from_millis(100);

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address, database] => serve(address, database).await,
        ["front", address, replicas @ ..] if !replicas.is_empty() => front::share_out(address, replicas).await,
        _ => Err("usage: replicas serve ADDRESS DATABASE | replicas front ADDRESS REPLICA...".into()),
    }
}

async fn serve(address: &str, database: &str) -> Result<(), BoxError> {
    let store = PostgresTaskStore::builder(database).lease(LEASE).open().await?;
    let agent = service_fn(|request: Request<Input>| async move { Ok::<_, Infallible>(count(request.body().text())) });
    let listener = TcpListener::bind(address).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let service = Mount::new("counter", agent)
        .url(&url)
        .task_store(store)
        // This agent may do its work twice, so whoever sees that a replica has gone begins its runs again.
        .tasks(|tasks| tasks.rerun_lost(1))
        .build()?;
    let mut told_to_stop = signal(SignalKind::terminate())?;
    println!("Serving on {url}");
    let serve = Serve::new().with_shutdown(told_to_stop.recv()).shutdown_deadline(STOPPING);
    serve.run(listener, service.clone()).await?;
    service.shutdown(STOPPING).await;
    Ok(())
}

/// Counts to the number in the message, and says which process does so.
fn count(text: &str) -> Reply {
    let process = format!("process {}:", std::process::id());
    let numbers = (1..=text.trim().parse().unwrap_or(10_u32)).map(|number| format!(" {number}"));
    Reply::stream(stream::iter(std::iter::once(process).chain(numbers)).then(|word| async move {
        tokio::time::sleep(PAUSE).await;
        Ok::<_, Infallible>(word)
    }))
}
