//! One send over each of the other bindings: true if it was done, false if it was refused as it should be.

use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};

use super::durable::{
    Outcome,
    client::{PATIENCE, message},
};

pub(crate) async fn rest(url: &str) -> Outcome<bool> {
    let stream = TcpStream::connect(authority(url)).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::post("/message:send").header("host", "localhost").header("a2a-version", "1.0");
    let request = request.header("content-type", "application/json");
    let body = Full::<bytes::Bytes>::from(message("say 1 0").to_string());
    let response = timeout(PATIENCE, sender.send_request(request.body(body)?)).await??;
    let (head, body) = response.into_parts();
    let answer: Value = serde_json::from_slice(&body.collect().await?.to_bytes())?;
    let advice = head.headers.get("retry-after").and_then(|after| after.to_str().ok()?.parse::<u64>().ok());
    match (head.status.as_u16(), advice) {
        (200, _) if answer["task"]["id"].is_string() => Ok(true),
        (503, Some(_)) if answer["error"]["status"] == json!("UNAVAILABLE") => Ok(false),
        (status, _) => Err(format!("HTTP+JSON is answered with {status}, {:?}: {answer}", head.headers).into()),
    }
}

fn authority(url: &str) -> &str {
    url.trim_start_matches("http://").trim_end_matches('/')
}

pub(crate) async fn grpc(url: &str) -> Outcome<bool> {
    use a2a_layers::grpc::proto::v1_0::{
        Message, Part, SendMessageRequest, a2a_service_client::A2aServiceClient, part::Content,
    };

    let part = Part { content: Some(Content::Text("say 1 0".into())), ..Part::default() };
    let message = Message { message_id: "m".into(), role: 1, parts: vec![part], ..Message::default() };
    let endpoint = tonic::transport::Endpoint::new(url.to_owned())?.timeout(PATIENCE + Duration::from_secs(1));
    let mut client = A2aServiceClient::new(endpoint.connect().await?);
    let mut request = tonic::Request::new(SendMessageRequest { message: Some(message), ..Default::default() });
    request.metadata_mut().insert("a2a-version", "1.0".parse()?);
    match client.send_message(request).await {
        Ok(_) => Ok(true),
        Err(status) if status.code() == tonic::Code::Unavailable => {
            let details = tonic_types::StatusExt::get_error_details(&status);
            match details.retry_info() {
                Some(_) => Ok(false),
                None => Err(format!("gRPC refuses without advice: {status:?}").into()),
            }
        }
        Err(status) => Err(format!("gRPC is answered with {status:?}").into()),
    }
}
