use std::task::Poll;

use a2a_layers::{
    blob::{BlobId, BlobService, BlobStore, File, MemoryBlobStore, ServeBlobs, ServeBlobsLayer},
    error::BoxError,
};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok};
use tower::{Layer, ServiceExt, service_fn};
use tower_test::mock;

use super::Spy;

async fn ask(service: BlobService<MemoryBlobStore>, req: Request<()>) -> (http::response::Parts, Bytes) {
    let (head, body) = service.oneshot(req).await.unwrap().into_parts();
    (head, body.collect().await.unwrap().to_bytes())
}

async fn one_file(file: File) -> (BlobService<MemoryBlobStore>, String) {
    let store = MemoryBlobStore::new("https://a.example/files");
    let url = store.put(file).await.unwrap();
    let id = url.strip_prefix("https://a.example/files/").unwrap().to_owned();
    (BlobService::new(store), id)
}

fn get(path: &str) -> Request<()> {
    Request::get(path).body(()).unwrap()
}

#[tokio::test]
async fn a_file_is_served_as_it_was_stored_and_never_run() {
    let file = File::new("<script>").with_media_type("text/html").with_filename("ü.html");
    let (service, id) = one_file(file).await;
    let (head, body) = ask(service, get(&format!("/{id}"))).await;
    assert_eq!((head.status, &body[..]), (StatusCode::OK, &b"<script>"[..]));
    for (name, value) in [
        ("content-type", "text/html"),
        ("content-length", "8"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; sandbox"),
        ("content-disposition", "attachment; filename=\"_.html\"; filename*=UTF-8''%C3%BC.html"),
        ("cache-control", "private, max-age=31536000, immutable"),
        ("etag", &format!("\"{id}\"")),
    ] {
        assert_eq!(head.headers[name], value, "{name}");
    }
}

#[tokio::test]
async fn what_senders_say_cannot_break_the_headers() {
    let file = File::new("x").with_media_type("text/html\r\nx: y").with_filename("a\r\nSet-Cookie: b=c\"");
    let (service, id) = one_file(file).await;
    let (head, _) = ask(service, get(&format!("/{id}"))).await;
    assert_eq!(head.headers["content-type"], "application/octet-stream");
    assert!(head.headers.get("set-cookie").is_none());
    let disposition = head.headers["content-disposition"].to_str().unwrap();
    assert!(disposition.starts_with("attachment; filename=\"a__Set-Cookie: b=c_\";"), "{disposition}");
}

#[tokio::test]
async fn head_tells_all_but_the_bytes() {
    let (service, id) = one_file(File::new("four")).await;
    let (head, body) = ask(service, Request::head(format!("/{id}")).body(()).unwrap()).await;
    assert_eq!((head.status, &head.headers["content-length"], body.len()), (StatusCode::OK, &"4".parse().unwrap(), 0));
    assert_eq!(head.headers["content-disposition"], "attachment");
}

#[tokio::test]
async fn a_reader_that_has_the_file_gets_304() {
    let (service, id) = one_file(File::new("x")).await;
    for (wanted, status) in [
        (format!("\"{id}\""), 304),
        (format!("\"other\", W/\"{id}\""), 304),
        ("*".to_owned(), 304),
        ("\"other\"".to_owned(), 200),
        (id.clone(), 200),
    ] {
        let req = Request::get(format!("/{id}")).header("if-none-match", &wanted).body(()).unwrap();
        let (head, body) = ask(service.clone(), req).await;
        assert_eq!((head.status.as_u16(), body.is_empty()), (status, status == 304), "{wanted}");
        assert_eq!(head.headers["etag"], format!("\"{id}\""));
    }
}

#[tokio::test]
async fn other_methods_are_405_and_say_which_are_not() {
    let (service, id) = one_file(File::new("x")).await;
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let req = Request::builder().method(method).uri(format!("/{id}")).body(()).unwrap();
        let (head, _) = ask(service.clone(), req).await;
        assert_eq!(
            (head.status, &head.headers["allow"]),
            (StatusCode::METHOD_NOT_ALLOWED, &"GET, HEAD".parse().unwrap())
        );
    }
}

#[tokio::test]
async fn whatever_is_no_id_is_404() {
    let (service, id) = one_file(File::new("x")).await;
    let unknown = format!("/{}", BlobId::random());
    let upper = format!("/{}", id.to_uppercase());
    let (below, above) = (format!("/{id}/x"), format!("/x/{id}"));
    let (slash, escaped) = (format!("//{id}"), format!("/%2e%2e/{id}"));
    for path in ["/", "/..", "/../../etc/passwd", "/%2e%2e%2fetc", &unknown, &upper, &below, &above, &slash, &escaped] {
        let (head, body) = ask(service.clone(), get(path)).await;
        assert_eq!((head.status, body.len()), (StatusCode::NOT_FOUND, 0), "{path}");
    }
    let (head, _) = ask(service, get(&format!("/{id}?download=1"))).await;
    assert_eq!(head.status, StatusCode::OK, "a query does not matter");
}

#[tokio::test]
async fn a_prefix_is_wanted_whole() {
    let (service, id) = one_file(File::new("x")).await;
    for prefix in ["/files", "files/", "/files/"] {
        let service = service.clone().prefix(prefix);
        assert_eq!(ask(service.clone(), get(&format!("/files/{id}"))).await.0.status, StatusCode::OK);
        for path in [format!("/{id}"), format!("/filesx/{id}"), format!("/files{id}"), "/files".to_owned()] {
            assert_eq!(ask(service.clone(), get(&path)).await.0.status, StatusCode::NOT_FOUND, "{path}");
        }
    }
}

#[tokio::test]
async fn f06_a_store_that_fails_is_a_500_that_says_nothing() {
    let response = BlobService::new(Spy::default()).oneshot(get(&format!("/{}", BlobId::random()))).await.unwrap();
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert!(response.into_body().collect().await.unwrap().to_bytes().is_empty());
}

#[tokio::test]
async fn one_port_serves_the_files_and_all_else() {
    let store = MemoryBlobStore::new("/blobs/");
    let url = store.put(File::new("file")).await.unwrap();
    let site = service_fn(|req: Request<()>| async move {
        Ok::<_, BoxError>(Response::new(Full::new(Bytes::from(req.uri().path().to_owned()))))
    });
    let site = ServeBlobsLayer::new("/blobs", store).layer(site);
    for (path, status, expected) in [
        (&*url, 200, "file"),
        ("/blobs/", 404, ""),
        ("/blobs/x", 404, ""),
        ("/blobs", 200, "/blobs"),
        ("/blobsx", 200, "/blobsx"),
        ("/", 200, "/"),
    ] {
        let response = site.clone().oneshot(get(path)).await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        let body = response.into_body();
        assert_eq!(
            (body.size_hint().exact(), body.is_end_stream()),
            (Some(expected.len() as u64), expected.is_empty())
        );
        assert_eq!(body.collect().await.unwrap().to_bytes(), expected, "{path}");
    }
}

#[test]
fn readiness_and_errors_are_those_of_the_service_inside() {
    let layer = ServeBlobsLayer::new("/blobs", MemoryBlobStore::new("/blobs"));
    let (mut service, mut handle) = mock::spawn_layer::<Request<()>, Response<Full<Bytes>>, _>(layer);
    handle.allow(0);
    assert_pending!(service.poll_ready());
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    // A request for a file uses up the readiness without a call.
    let mut answer = tokio_test::task::spawn(service.call(get("/blobs/x")));
    assert_eq!(assert_ready_ok!(answer.poll()).status(), StatusCode::NOT_FOUND);
    assert!(matches!(tokio_test::task::spawn(handle.next_request()).poll(), Poll::Pending));
    handle.send_error("broken");
    assert_ready_err!(service.poll_ready());
}

#[test]
fn all_of_it_can_be_sent() {
    fn check<T: Send + Sync + Clone + std::fmt::Debug>(_: &T) {}
    let store = MemoryBlobStore::new("/");
    check(&BlobService::new(store.clone()));
    check(&ServeBlobsLayer::new("/b", store.clone()));
    check(&ServeBlobs::new((), "/b", store));
}
