//! Three replicas, which come and go.

use std::sync::{Mutex as Lock, PoisonError};

use tokio::sync::Mutex;

use super::durable::{
    Outcome,
    server::{Orders, Server},
};

pub(crate) const REPLICAS: usize = 3;

/// The replicas. Those that have gone still have their addresses, as in a load balancer that does not know yet.
#[derive(Debug)]
pub(crate) struct Fleet {
    servers: [Mutex<Server>; REPLICAS],
    urls: Lock<[String; REPLICAS]>,
}

impl Fleet {
    pub(crate) async fn start(orders: &Orders) -> Outcome<Self> {
        let start = || Server::start(orders);
        let (a, b, c) = tokio::try_join!(start(), start(), start())?;
        let urls = Lock::new([a.url.clone(), b.url.clone(), c.url.clone()]);
        Ok(Self { servers: [a, b, c].map(Mutex::new), urls })
    }

    /// Where a replica serves; they are counted round and round.
    pub(crate) fn url(&self, replica: usize) -> String {
        self.urls.lock().unwrap_or_else(PoisonError::into_inner)[replica % REPLICAS].clone()
    }

    pub(crate) async fn kill(&self, replica: usize) -> Outcome<()> {
        self.servers[replica].lock().await.kill().await
    }

    pub(crate) async fn stop(&self, replica: usize) -> Outcome<()> {
        self.servers[replica].lock().await.stop().await
    }

    pub(crate) async fn start_again(&self, replica: usize, orders: &Orders) -> Outcome<()> {
        let server = Server::start(orders).await?;
        self.urls.lock().unwrap_or_else(PoisonError::into_inner)[replica].clone_from(&server.url);
        *self.servers[replica].lock().await = server;
        Ok(())
    }
}
