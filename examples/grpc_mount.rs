//! An agent as one of the services of a tonic server, in both versions of the protocol, with tower's layers around it.
//!
//! ```text
//! cargo run --features grpc --example grpc_mount -- 127.0.0.1:8000
//! grpcurl -plaintext -import-path src/grpc/proto -proto lf/a2a/v1/a2a.proto \\
//!     -d '{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]}}' \\
//!     127.0.0.1:8000 lf.a2a.v1.A2AService/SendMessage
//! ```

use std::{convert::Infallible, env};

use a2a_layers::{ServiceBuilderExt as _, error::BoxError, owner::Owner, part::Input, task::MemoryTaskStore};
use http::{Request, header::AUTHORIZATION};
use tokio::net::TcpListener;
use tonic::transport::{Server, server::TcpIncoming};
use tower::ServiceBuilder;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    println!("Serving on http://{}/", listener.local_addr()?);

    let grpc =
        ServiceBuilder::new().grpc().task(MemoryTaskStore::new()).part().service_fn(
            |request: Request<Input>| async move {
                Ok::<_, Infallible>(format!("heard by tonic: {}", request.body().text()))
            },
        );
    // Any generated service would do in the place of this one.
    let (_reporter, health) = tonic_health::server::health_reporter();
    Server::builder()
        .layer(ServiceBuilder::new().map_request(with_owner))
        .concurrency_limit_per_connection(64)
        .add_service(health)
        .add_service(grpc.v1_0())
        .add_service(grpc.v0_3())
        .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)))
        .await?;
    Ok(())
}

/// Whoever has a token has tasks of its own. A real server looks whether the token is a good one.
fn with_owner<B>(mut request: Request<B>) -> Request<B> {
    let token = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let owner = token.map_or(Owner::anonymous(), Owner::new);
    request.extensions_mut().insert(owner);
    request
}
