//! A load balancer at its plainest: the next connection goes to the next replica that takes one. It knows nothing of HTTP
//! or of tasks, and needs not: any replica answers for any task.

use std::io;

use a2a_layers::error::BoxError;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

pub(crate) async fn share_out(address: &str, replicas: &[&str]) -> Result<(), BoxError> {
    let listener = TcpListener::bind(address).await?;
    println!("In front on http://{}/", listener.local_addr()?);
    let replicas: Vec<String> = replicas.iter().map(|&replica| replica.to_owned()).collect();
    for turn in 0.. {
        let (mut client, _) = listener.accept().await?;
        let replicas = replicas.clone();
        tokio::spawn(async move {
            // Whoever gets no replica sees its connection closed. So does whoever had one that goes down.
            if let Ok(mut replica) = connect(&replicas, turn).await {
                let _ = copy_bidirectional(&mut client, &mut replica).await;
            }
        });
    }
    Ok(())
}

/// To the one whose turn it is, or to the next that is there.
async fn connect(replicas: &[String], turn: usize) -> io::Result<TcpStream> {
    let mut refused = io::Error::from(io::ErrorKind::NotConnected);
    for at in turn..turn + replicas.len() {
        match TcpStream::connect(&replicas[at % replicas.len()]).await {
            Ok(replica) => return Ok(replica),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
