//! An agent and a gRPC service of tonic on one port, over HTTP/1.1 and HTTP/2.
//!
//! ```text
//! cargo run --example tonic_mount -- 127.0.0.1:8000
//! grpcurl -plaintext 127.0.0.1:8000 grpc.health.v1.Health/Check
//! ```

use std::{convert::Infallible, env};

use a2a_layers::{error::BoxError, part::Input, server::Mount};
use axum::serve::ListenerExt;
use http::Request;
use tokio::net::TcpListener;
use tonic::service::Routes;
use tower::service_fn;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/", listener.local_addr()?);

    let agent = service_fn(|request: Request<Input>| async move {
        Ok::<_, Infallible>(format!("heard beside tonic: {}", request.body().text()))
    });
    let service = Mount::new("beside-tonic", agent).url(&url).build()?;

    // Any generated service would do in the place of this one.
    let (_reporter, health) = tonic_health::server::health_reporter();
    let app = Routes::new(health).into_axum_router().fallback_service(service);

    println!("Serving on {url}");
    // Without delay, or else events wait for one another.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, app).await?;
    Ok(())
}
