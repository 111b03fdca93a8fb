//! Lists over TCP, with sockets.
use std::net::SocketAddr;
use std::time::Duration;

use queryport::lists::{
    Cod4xList, Comparison, GameSpy1List, GameSpy2List, ListRequest, Quake3List, Ut2004List,
};
use queryport::quake3;
use queryport::{Client, GameKey, Limits, Timing};

use crate::common::list_servers::gamespy4::Plain;
use crate::common::list_servers::tcp::{self};
use crate::common::list_servers::ut2004::Listed;

fn client() -> Client {
    Client::new().unwrap().with_timing(
        Timing::default()
            .with_timeout(Duration::from_secs(2))
            .with_retries(0),
    )
}

#[tokio::test]
async fn the_lists_of_ut2004_and_ut2003_are_read() {
    let servers = || {
        (1..=40)
            .map(|number| Listed {
                players: number,
                ..Listed::new(number, b"Srv")
            })
            .collect()
    };
    for request in [Ut2004List::new(3369), Ut2004List::new(2225)] {
        let request = request.with_condition("currentplayers", Comparison::Less, "31");
        let master = tcp::ut2004(servers()).await;
        let list = client().list(master, request).await.unwrap();
        assert!(list.completeness.is_complete());
        assert_eq!((list.servers.len(), list.entries.len()), (30, 30));
    }
}

fn plain() -> Vec<u8> {
    Plain::head([203, 0, 113, 9], 6500, &[(0, "hostname")], &["Popular"])
        .server(0x41, [192, 0, 2, 1], &[b"\xffAlpha\0"])
        .server(0x51, [192, 0, 2, 2], &[&[0x28, 0xF1], &[0]])
        .end()
}

#[tokio::test]
async fn the_lists_of_gamespy_v2_are_read() {
    let master = tcp::gamespy4(b"tG3j8c", plain()).await;
    let request = GameSpy2List::new("swat4", "tG3j8c");
    let list = client().list(master, request.clone()).await.unwrap();
    let expected: [SocketAddr; 2] =
        [([192, 0, 2, 1], 6500), ([192, 0, 2, 2], 10_481)].map(SocketAddr::from);
    assert_eq!(list.servers, expected);
    assert!(list.completeness.is_complete());
    let names: Vec<_> = list
        .entries
        .iter()
        .map(|entry| entry.fields.get("hostname").unwrap().plain())
        .collect();
    assert_eq!(names, ["Alpha", "Popular"]);
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
        .list(master, GameSpy2List::new("swat4", "tG3j8c"))
        .await
        .unwrap();
    assert_eq!((list.servers.len(), list.out_of_scope), (1, 2));
    let entries: Vec<_> = list.entries.iter().map(|entry| entry.server).collect();
    assert_eq!(entries, list.servers);
}

/// The servers that have arrived at the timeout make an incomplete list.
#[tokio::test]
async fn a_list_that_is_cut_by_time_is_incomplete() {
    let cut = plain().len() - 5;
    let master = tcp::gamespy4(b"tG3j8c", plain()[..cut].to_vec()).await;
    let request = GameSpy2List::new("swat4", "tG3j8c");
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

#[test]
fn each_form_has_the_usual_port_of_its_list_servers() {
    let quake3 = Quake3List::new(&quake3::GetServers::default(), &Limits::default()).unwrap();
    let gamespy1 = GameSpy1List::new("ut", GameKey::new("Nm3aZ9").unwrap());
    let forms: [ListRequest; 5] = [
        quake3.into(),
        gamespy1.into(),
        GameSpy2List::new("swat4", "tG3j8c").into(),
        Ut2004List::new(3369).into(),
        Cod4xList::new(18).into(),
    ];
    assert_eq!(
        forms.each_ref().map(ListRequest::default_port),
        [27950, 28900, 28910, 28902, 20810]
    );
}
