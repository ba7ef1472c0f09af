//! An agent on a plain hyper server: what comes out of a mount is an ordinary tower service.
//!
//! ```text
//! cargo run --example hyper_mount -- 127.0.0.1:8000
//! ```

use std::{convert::Infallible, env};

use a2a_layers::{error::BoxError, part::Input, server::Mount};
use http::Request;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::net::TcpListener;
use tower::service_fn;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/", listener.local_addr()?);

    let agent = service_fn(|request: Request<Input>| async move {
        Ok::<_, Infallible>(format!("hyper heard: {}", request.body().text()))
    });
    let service = Mount::new("on-hyper", agent).url(&url).build()?;

    println!("Serving on {url}");
    loop {
        let (stream, _) = listener.accept().await?;
        // Or else events wait for one another.
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        let mut builder = http1::Builder::new();
        // With a timer hyper closes connections that never get through with their headers.
        let connection = builder.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                eprintln!("a connection broke off: {error}");
            }
        });
    }
}
