//! A network that can be told to fail: a proxy before the database.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What becomes of what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    None,
    /// The next request gets there, and its connection is gone before there is an answer; then it is as before.
    Answer,
    /// The next request does not get there, and its connection is gone; then it is as before.
    Request,
    /// The next request gets there, and its connection is gone before there is an answer; then it is down.
    LastAnswer,
    /// Nothing gets through, and nobody says so.
    Silence,
    /// Nobody can connect, and who is connected is cut off.
    Down,
}

#[derive(Clone)]
pub(crate) struct Proxy {
    address: SocketAddr,
    fault: Arc<AtomicU8>,
    /// How often a fault took place.
    pub(crate) cuts: Arc<AtomicUsize>,
}

impl Proxy {
    /// Before the server of this URL.
    pub(crate) async fn new(url: &str) -> Self {
        let server = server(url).to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, fault) = (listener.local_addr().unwrap(), Arc::new(AtomicU8::new(Fault::None as u8)));
        let proxy = Self { address, fault, cuts: Arc::default() };
        let of_all = proxy.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (proxy, server) = (of_all.clone(), server.clone());
                tokio::spawn(async move {
                    if proxy.is(Fault::Down) {
                        return;
                    }
                    let Ok(server) = TcpStream::connect(server).await else { return };
                    proxy.carry(client, server).await;
                });
            }
        });
        proxy
    }

    /// The same URL through this.
    pub(crate) fn url(&self, url: &str) -> String {
        url.replacen(server(url), &self.address.to_string(), 1)
    }

    pub(crate) fn set(&self, fault: Fault) {
        self.fault.store(fault as u8, Ordering::SeqCst);
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault.load(Ordering::SeqCst) == fault as u8
    }

    /// True for the one that the fault falls to.
    fn takes(&self, fault: Fault) -> bool {
        let taken = self.fault.compare_exchange(fault as u8, Fault::None as u8, Ordering::SeqCst, Ordering::SeqCst);
        self.cuts.fetch_add(taken.is_ok().into(), Ordering::SeqCst);
        taken.is_ok()
    }

    async fn carry(&self, mut client: TcpStream, mut server: TcpStream) {
        let (mut request, mut answer) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        let mut is_last = false;
        loop {
            tokio::select! {
                read = client.read(&mut request) => {
                    let Ok(read @ 1..) = read else { return };
                    if self.takes(Fault::Request) || self.is(Fault::Down) {
                        return;
                    }
                    self.silent().await;
                    is_last = is_last || self.takes(Fault::Answer);
                    if self.takes(Fault::LastAnswer) {
                        self.set(Fault::Down);
                        is_last = true;
                    }
                    if server.write_all(&request[..read]).await.is_err() {
                        return;
                    }
                }
                read = server.read(&mut answer) => {
                    let Ok(read @ 1..) = read else { return };
                    // The server answers once it is done.
                    if is_last || self.is(Fault::Down) {
                        return;
                    }
                    self.silent().await;
                    if client.write_all(&answer[..read]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    async fn silent(&self) {
        while self.is(Fault::Silence) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}

/// The host and port in a URL.
fn server(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap();
    authority.rsplit_once('@').map_or(authority, |(_, server)| server)
}
