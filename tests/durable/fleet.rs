//! Several servers on the same tasks, which come and go.

use std::sync::{Mutex as Lock, PoisonError};

use futures_util::future::try_join_all;
use tokio::sync::Mutex;

use super::{
    Outcome,
    server::{Orders, Server},
};

/// The replicas. Those that have gone still have their addresses, as in a load balancer that does not know yet.
#[derive(Debug)]
pub(crate) struct Fleet {
    servers: Vec<Mutex<Server>>,
    urls: Lock<Vec<String>>,
}

impl Fleet {
    pub(crate) async fn start(orders: &[Orders]) -> Outcome<Self> {
        let servers = try_join_all(orders.iter().map(Server::start)).await?;
        let urls = servers.iter().map(|server| server.url.clone()).collect();
        Ok(Self { servers: servers.into_iter().map(Mutex::new).collect(), urls: Lock::new(urls) })
    }

    /// Where a replica serves; they are counted round and round.
    pub(crate) fn url(&self, replica: usize) -> String {
        let urls = self.urls.lock().unwrap_or_else(PoisonError::into_inner);
        urls[replica % urls.len()].clone()
    }

    pub(crate) async fn pid(&self, replica: usize) -> Outcome<u32> {
        self.servers[replica].lock().await.pid()
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
