use a2a_layers::server::serve;
use tokio::sync::oneshot;

use super::*;

#[tokio::test]
async fn a_head_that_never_comes_closes_the_connection() {
    for sent in ["", "POST /a2a HTT", "POST /a2a HTTP/1.1\r\nhost: x\r\ncontent-"] {
        let serve = Serve::new().header_read_timeout(Duration::from_millis(100));
        let mut socket = connect(serve, BodyLayer::new()).await;
        socket.write_all(sent.as_bytes()).await.unwrap();
        let answer = read_all(&mut socket).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
}

#[tokio::test]
async fn a_stalled_head_holds_up_nobody_else() {
    let (address, _) = start(Serve::new(), BodyLayer::new()).await;
    let _stalled = TcpStream::connect(address).await.unwrap();
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(request("wait").as_bytes()).await.unwrap();
    assert!(read_until(&mut socket, "true}").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn heads_have_limits() {
    let headers = |count| "x: y\r\n".repeat(count);
    for (count, length, status) in [(2, 10, "405"), (3, 10, "431"), (1, 9000, "431")] {
        let serve = Serve::new().max_headers(3).max_header_size(8192);
        let mut socket = connect(serve, BodyLayer::new()).await;
        let value = "v".repeat(length);
        let head = format!("GET /a2a HTTP/1.1\r\nlong: {value}\r\n{}\r\n", headers(count));
        socket.write_all(head.as_bytes()).await.unwrap();
        let answer = read_until(&mut socket, "\r\n\r\n").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{count}, {length}: {answer}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_keeps_nothing_for_ever() {
    let (stop, stopped) = oneshot::channel::<()>();
    let serve = Serve::new().write_timeout(Duration::from_millis(100));
    let serve = serve.shutdown_deadline(2 * PATIENCE).with_shutdown(stopped);
    let (address, server) = start(serve, BodyLayer::new()).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    // More than sockets have room for.
    socket.write_all(request("large").as_bytes()).await.unwrap();
    assert!(read_until(&mut socket, "\r\n\r\n").await.starts_with("HTTP/1.1 200 "));
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, server).await.expect("it waits for a reader").unwrap().unwrap();
}

#[tokio::test]
async fn an_answer_that_its_client_still_takes_is_no_head_that_is_late() {
    let serve = Serve::new().header_read_timeout(Duration::from_millis(100));
    let (address, _) = start(serve, BodyLayer::new()).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    // More than sockets have room for, and yet all of it is with the server's connection at once.
    socket.write_all(request("large").as_bytes()).await.unwrap();
    let mut answer = read_until(&mut socket, "\r\n\r\n").await.into_bytes();
    // One that says nothing shows when the time for a head is over.
    let mut piece = vec![0; 8 << 20];
    for _ in 0..3 {
        assert_eq!(read_all(&mut TcpStream::connect(address).await.unwrap()).await, "");
        socket.read_exact(&mut piece).await.expect("it was broken off");
    }
    let rest = b"1}";
    answer.clear();
    while !answer.ends_with(rest) {
        let read = tokio::time::timeout(PATIENCE, socket.read_buf(&mut answer)).await.unwrap().unwrap();
        assert!(read > 0, "it was broken off");
    }
    // From here on it counts.
    assert_eq!(read_all(&mut socket).await, "");
}

#[tokio::test]
async fn a_panic_ends_its_own_connection_alone() {
    let (address, server) = start(Serve::new(), BodyLayer::new()).await;
    let mut other = TcpStream::connect(address).await.unwrap();
    other.write_all(request("wait").as_bytes()).await.unwrap();
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(request("panic").as_bytes()).await.unwrap();
    assert_eq!(read_all(&mut socket).await, "");
    assert!(read_until(&mut other, "true}").await.starts_with("HTTP/1.1 200 "));
    assert!(!server.is_finished());
}

#[tokio::test]
async fn a_shutdown_lets_requests_in_flight_finish() {
    let (stop, stopped) = oneshot::channel::<()>();
    let (address, server) = start(Serve::new().with_shutdown(stopped), BodyLayer::new()).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(request("size").as_bytes()).await.unwrap();
    read_until(&mut idle, "}").await;
    socket.write_all(request("slow").as_bytes()).await.unwrap();
    read_until(&mut socket, "\"result\":1}\n\n").await;
    stop.send(()).unwrap();
    // An idle connection that is closed shows that the server has heard of it; only then does the answer go on.
    assert_eq!(read_all(&mut idle).await, "");
    RELEASE.notify_one();
    let rest = read_all(&mut socket).await;
    assert!(rest.contains("\"result\":2}") && rest.ends_with("\r\n0\r\n\r\n"), "{rest}");
    drop((socket, idle));
    tokio::time::timeout(PATIENCE, server).await.expect("it goes on").unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_shutdown_waits_no_longer_than_its_deadline() {
    let (stop, stopped) = oneshot::channel::<()>();
    let serve = Serve::new().shutdown_deadline(Duration::from_millis(100)).with_shutdown(stopped);
    let (address, server) = start(serve, BodyLayer::new()).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(request("never").as_bytes()).await.unwrap();
    read_until(&mut socket, ": connected\n\n").await;
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, server).await.expect("it goes on").unwrap().unwrap();
}

#[tokio::test]
async fn f47_a_reader_that_leaves_drops_its_stream() {
    let (dropped, gone) = oneshot::channel::<()>();
    let dropped = std::sync::Arc::new(std::sync::Mutex::new(Some(dropped)));
    let service = service_fn(move |_: Request<hyper::body::Incoming>| {
        let guard = dropped.lock().unwrap().take();
        // The stream owns the sender, so that its end is seen by the receiver.
        let stream = stream::pending::<Frame>().map(move |frame| (&guard, frame).1);
        async move { Ok::<_, std::convert::Infallible>(Response::new(Encoded::Stream(stream))) }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, ServiceBuilder::new().layer(SseLayer::new()).service(service)));
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    read_until(&mut socket, ": connected\n\n").await;
    drop(socket);
    let end = tokio::time::timeout(PATIENCE, gone).await.expect("the stream is still there");
    assert!(end.is_err(), "dropped, not sent");
}
