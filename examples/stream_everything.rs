//! An agent that streams words, data and files. Files go into a blob store, and callers get their URLs.
//!
//! ```text
//! cargo run --example stream_everything -- 127.0.0.1:8000
//! ```

use std::{convert::Infallible, env, time::Duration};

use a2a_layers::{
    agent::{ArtifactUpdate, Reply, Update},
    blob::MemoryBlobStore,
    error::BoxError,
    part::Input,
    server::{Mount, serve},
    types::{Artifact, Part},
};
use futures_util::{StreamExt, stream};
use http::Request;
use serde_json::json;
use tokio::{net::TcpListener, time::sleep};
use tower::service_fn;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}", listener.local_addr()?);

    let agent = service_fn(|request: Request<Input>| async move { Ok::<_, Infallible>(report(request.body())) });
    let store = MemoryBlobStore::new(format!("{url}/files"));
    let service = Mount::new("reporter", agent).blob_store(store, Some("/files")).url(&url).build()?;

    println!("Serving on {url}");
    serve(listener, service).await?;
    Ok(())
}

fn report(input: &Input) -> Reply {
    let words = input.text().split_whitespace().count();
    let table = format!("what,count\nwords,{words}\n");
    let updates = [
        // How far it is.
        Update::progress("Counting"),
        // Pieces of text join into one artifact.
        Update::text("There are "),
        Update::text(format!("{words} words.")),
        // Data and files are artifacts of their own.
        Update::data(json!({ "words": words })),
        Update::file(Part::raw(table).with_filename("count.csv").with_media_type("text/csv")),
        // An artifact under an id of one's own can grow.
        Artifact::new("log", vec!["began\n".into()]).into(),
        ArtifactUpdate::new(Artifact::new("log", vec!["ended\n".into()])).appended().last().into(),
    ];
    Reply::stream(stream::iter(updates).then(async |update| {
        sleep(Duration::from_millis(50)).await;
        Ok::<_, Infallible>(update)
    }))
}
