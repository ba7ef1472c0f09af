use super::*;

#[tokio::test]
async fn v083_a_document_has_a_length_and_the_connection_goes_on() {
    let mut socket = connect(Serve::new(), BodyLayer::new()).await;
    for _ in 0..2 {
        socket.write_all(request("size").as_bytes()).await.unwrap();
        let answer = read_until(&mut socket, "}").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("content-type: application/json\r\n"), "{answer}");
        let document = r#"{"jsonrpc":"2.0","id":1,"result":2}"#;
        assert!(answer.contains(&format!("content-length: {}\r\n", document.len())), "{answer}");
        assert!(answer.ends_with(document), "{answer}");
    }
}

#[tokio::test]
async fn b066_b067_a_stream_comes_as_events_and_ends() {
    let mut socket = connect(Serve::new(), BodyLayer::new()).await;
    socket.write_all(request("count").as_bytes()).await.unwrap();
    let answer = read_until(&mut socket, "\r\n0\r\n\r\n").await;
    assert!(answer.contains("content-type: text/event-stream\r\n"), "{answer}");
    let events = "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n\nid: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}\n\n";
    assert!(answer.contains(&format!(": connected\n\n{events}")), "{answer}");
}

#[tokio::test]
async fn b096_connected_comes_although_nothing_follows() {
    let mut socket = connect(Serve::new(), BodyLayer::new()).await;
    socket.write_all(request("never").as_bytes()).await.unwrap();
    read_until(&mut socket, ": connected\n\n").await;
}

#[tokio::test]
async fn f08_a_client_that_writes_20_mib_before_it_reads_sees_the_413() {
    let mut socket = connect(Serve::new(), BodyLayer::new()).await;
    socket.write_all(head(20 << 20).as_bytes()).await.unwrap();
    let piece = vec![b' '; 1 << 20];
    for _ in 0..20 {
        socket.write_all(&piece).await.unwrap();
    }
    let answer = read_until(&mut socket, "}}").await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains(r#""id":null,"error":{"code":-32600,"#), "{answer}");
    assert!(!answer.contains("connection: close"), "{answer}");
    socket.write_all(request("wait").as_bytes()).await.unwrap();
    assert!(read_until(&mut socket, "true}").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn f08_a_chunked_body_over_the_limit_is_a_413_too() {
    let mut socket = connect(Serve::new(), BodyLayer::new().limit(1000)).await;
    let head = "POST /a2a HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    socket.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..100 {
        socket.write_all(format!("64\r\n{}\r\n", " ".repeat(100)).as_bytes()).await.unwrap();
    }
    socket.write_all(b"0\r\n\r\n").await.unwrap();
    assert!(read_until(&mut socket, "}}").await.starts_with("HTTP/1.1 413 "));
}

#[tokio::test]
async fn f08_beyond_the_drain_limit_the_answer_still_comes() {
    let mut socket = connect(Serve::new(), BodyLayer::new().limit(1000).drain_limit(0)).await;
    socket.write_all(head(4 << 20).as_bytes()).await.unwrap();
    socket.write_all(&vec![b' '; 4 << 20]).await.unwrap();
    let answer = read_all(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_slow_body_is_a_408() {
    let body = BodyLayer::new().read_deadline(Duration::from_millis(100));
    let mut socket = connect(Serve::new(), body).await;
    socket.write_all(head(100).as_bytes()).await.unwrap();
    socket.write_all(b"{").await.unwrap();
    let answer = read_all(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains(r#""code":-32600"#), "{answer}");
}

#[tokio::test]
async fn f12_a_body_in_several_segments_is_read_before_the_stream_begins() {
    let mut socket = connect(Serve::new(), BodyLayer::new()).await;
    socket.set_nodelay(true).unwrap();
    for piece in request("count").as_bytes().chunks(50) {
        socket.write_all(piece).await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(read_until(&mut socket, "\r\n0\r\n\r\n").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_to_go_on_or_not_to() {
    let mut socket = connect(Serve::new(), BodyLayer::new().limit(100)).await;
    let expecting = |length| head(length).replace("host: x", "host: x\r\nexpect: 100-continue");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"wait"}"#;
    socket.write_all(expecting(body.len()).as_bytes()).await.unwrap();
    assert_eq!(read_until(&mut socket, "\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    socket.write_all(body.as_bytes()).await.unwrap();
    assert!(read_until(&mut socket, "true}").await.starts_with("HTTP/1.1 200 "));
    socket.write_all(expecting(101).as_bytes()).await.unwrap();
    assert!(read_all(&mut socket).await.starts_with("HTTP/1.1 413 "));
}

#[tokio::test]
async fn other_verbs_get_a_405() {
    for (verb, has_body) in [("HEAD", false), ("OPTIONS", true), ("GET", true)] {
        let mut socket = connect(Serve::new(), BodyLayer::new()).await;
        let request = format!("{verb} /a2a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let answer = read_all(&mut socket).await;
        assert!(answer.starts_with("HTTP/1.1 405 ") && answer.contains("allow: POST\r\n"), "{answer}");
        assert_eq!(answer.ends_with("}}"), has_body, "{answer}");
    }
}
