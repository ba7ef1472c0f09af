//! Two agents behind one port, beside routes of one's own: one in protocol 1.0 with files, one in 0.3. Callers see their
//! own tasks alone, and ctrl-c lets those that are connected finish.
//!
//! ```text
//! cargo run --example two_mounts -- 127.0.0.1:8000
//! ```

use std::{convert::Infallible, env};

use a2a_layers::{
    blob::MemoryBlobStore,
    error::BoxError,
    owner::Owner,
    part::Input,
    server::{Mount, Mounts, Serve, Settings},
    types::Part,
};
use axum::{Router, routing::get};
use http::{Request, header::AUTHORIZATION};
use tokio::net::TcpListener;
use tower::{ServiceBuilder, service_fn};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}", listener.local_addr()?);

    let scribe = service_fn(async |request: Request<Input>| {
        let note = Part::raw(request.body().text().to_owned()).with_filename("note.txt").with_media_type("text/plain");
        Ok::<_, Infallible>(note)
    });
    let scribe = Mount::new("scribe", scribe)
        .description("Writes down what you say")
        .url(format!("{url}/scribe"))
        .settings(Settings::strict_1_0())
        .blob_store(MemoryBlobStore::new(format!("{url}/scribe/files")), Some("/scribe/files"))
        .build()?;

    let parrot = service_fn(async |request: Request<Input>| Ok::<_, Infallible>(request.body().text().to_owned()));
    let parrot = Mount::new("parrot", parrot)
        .description("Says what you say")
        .url(format!("{url}/parrot"))
        .settings(Settings::strict_0_3())
        // The well-known path is the scribe's.
        .card_path("/parrot/agent-card.json")
        .build()?;

    let agents = ServiceBuilder::new().map_request(with_owner).service(Mounts::new().mount(scribe)?.mount(parrot)?);
    let app: Router = Router::new().route("/health", get(async || "I am well")).fallback_service(agents);

    println!("Serving on {url}/scribe");
    Serve::new().with_shutdown(tokio::signal::ctrl_c()).run(listener, app).await?;
    Ok(())
}

/// Who calls. A server of yours looks the token up, and answers with 401 if it is wrong; see `tower_http::auth`.
fn with_owner<B>(mut request: Request<B>) -> Request<B> {
    let token = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let owner = token.map_or(Owner::anonymous(), Owner::new);
    request.extensions_mut().insert(owner);
    request
}
