//! Lists over TCP, with sockets.
use std::time::Duration;

use queryport::lists::GameSpy2List;
use queryport::{Client, GameKey, Limits, QueryOptions, Timing};

use crate::common::list_servers::gamespy4::Plain;
use crate::common::list_servers::tcp;

fn client() -> Client {
    Client::new().unwrap().with_timing(
        Timing::default()
            .with_timeout(Duration::from_secs(2))
            .with_retries(0),
    )
}

fn plain() -> Vec<u8> {
    Plain::head([203, 0, 113, 9], 6500, &[(0, "hostname")], &["Popular"])
        .server(0x41, [192, 0, 2, 1], &[b"\xffAlpha\0"])
        .server(0x51, [192, 0, 2, 2], &[&[0x28, 0xF1], &[0]])
        .end()
}

/// Servers that are left out are not among the entries either.
#[tokio::test]
async fn entries_are_of_servers_in_scope() {
    let server = |plain: Plain, ip| plain.server(0x41, ip, &[b"\xffSrv\0"]);
    let head = Plain::head([203, 0, 113, 9], 6500, &[(0, "hostname")], &[]);
    let plain = [[127, 0, 0, 1], [192, 0, 2, 1], [0, 0, 0, 0]]
        .into_iter()
        .fold(head, server)
        .end();
    let master = tcp::gamespy4(b"tG3j8c", plain).await;
    let list = client()
        .list(
            master,
            GameSpy2List::new("swat4", GameKey::new("tG3j8c").unwrap()),
        )
        .await
        .unwrap();
    assert_eq!((list.servers.len(), list.out_of_scope), (1, 2));
    let entries: Vec<_> = list.entries.iter().map(|entry| entry.server).collect();
    assert_eq!(entries, list.servers);
}

#[tokio::test]
async fn a_list_over_tcp_ends_at_the_limit_of_the_client() {
    let master = tcp::gamespy4(b"tG3j8c", plain()).await;
    let request = GameSpy2List::new("swat4", GameKey::new("tG3j8c").unwrap());
    let limits = Limits::default().with_max_servers(1);
    let client = client().with_options(QueryOptions::default().with_limits(limits));
    let list = client.list(master, request).await.unwrap();
    assert_eq!((list.servers.len(), list.over_limit), (1, 1));
}

/// The servers that have arrived at the timeout make an incomplete list.
#[tokio::test]
async fn a_list_that_is_cut_by_time_is_incomplete() {
    let cut = plain().len() - 5;
    let master = tcp::gamespy4(b"tG3j8c", plain()[..cut].to_vec()).await;
    let request = GameSpy2List::new("swat4", GameKey::new("tG3j8c").unwrap());
    let mut servers = client()
        .servers_at(master, request)
        .with_timeout(Duration::from_millis(300));
    while servers.next().await.is_some() {}
    let list = servers.masters()[0]
        .list
        .as_ref()
        .unwrap()
        .as_ref()
        .unwrap();
    assert_eq!(
        (list.servers.len(), list.completeness.is_complete()),
        (2, false)
    );
}
