//! An agent in an axum application, beside other routes.
//!
//! ```text
//! cargo run --example axum_mount -- 127.0.0.1:8000
//! ```

use std::{convert::Infallible, env};

use a2a_layers::{error::BoxError, part::Input, server::Mount};
use axum::{Router, routing::get, serve::ListenerExt};
use http::Request;
use tokio::net::TcpListener;
use tower::service_fn;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/agent", listener.local_addr()?);

    let agent = service_fn(|request: Request<Input>| async move {
        Ok::<_, Infallible>(format!("axum heard: {}", request.body().text()))
    });
    let service = Mount::new("on-axum", agent).url(&url).build()?;

    // Routes of your own come first; the agent has its endpoint, its card, and nothing else.
    let app = Router::new().route("/health", get(async || "I am well")).fallback_service(service);

    println!("Serving on {url}");
    // Without delay, or else events wait for one another.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, app).await?;
    Ok(())
}
