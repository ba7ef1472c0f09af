//! One layer alone: `sse` in front of a service that knows nothing of A2A. A reader that lost the connection says where
//! it was, and goes on from there.
//!
//! ```text
//! cargo run --example one_layer -- 127.0.0.1:8000
//! curl -N http://127.0.0.1:8000/
//! curl -N http://127.0.0.1:8000/ -H 'Last-Event-ID: 7'
//! ```

use std::{convert::Infallible, env, time::Duration};

use a2a_layers::{
    encoded::{Encoded, Frame},
    error::BoxError,
    server::serve,
    sse::SseLayer,
};
use futures_util::{Stream, StreamExt, stream};
use http::{Request, Response};
use tokio::{net::TcpListener, time::sleep};
use tower::ServiceBuilder;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    println!("Serving on http://{}/", listener.local_addr()?);

    let service = ServiceBuilder::new()
        .layer(SseLayer::new().heartbeat(Duration::from_secs(5)))
        .service_fn(async |request| Ok::<_, Infallible>(Response::new(Encoded::Stream(countdown(&request)))));
    serve(listener, service).await?;
    Ok(())
}

/// Ten events, or what is left of them.
fn countdown<B>(request: &Request<B>) -> impl Stream<Item = Frame> + use<B> {
    let last = request.headers().get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok()).unwrap_or(0);
    stream::iter(last + 1..=10).then(async |number: u64| {
        sleep(Duration::from_millis(100)).await;
        Frame::new(format!(r#"{{"left":{}}}"#, 10 - number)).with_id(Some(number))
    })
}
