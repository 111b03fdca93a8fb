//! Networks of our own, and the servers in them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::net::faults::alone;

/// Runs a test by itself in a namespace. Its loopback has the MTU of Ethernet. It has a prohibited
/// network, a name with five addresses, and a name server that may be silent. `command`: the end of
/// the shell's script, before the program.
pub fn in_namespace(name: &str, command: &str) -> bool {
    let may = Command::new("unshare")
        .args(["-rmn", "sh", "-c"])
        .arg("ip link set lo up mtu 1500 && mount -t tmpfs none /mnt")
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !may {
        kit::not_checked("failures of networks: no namespace may be made here");
        return false;
    }
    let hosts = (2..=6).map(|host| format!("127.0.0.{host} five.test\\n"));
    let hosts = hosts.collect::<String>();
    let script = format!(
        "ip link set lo up mtu 1500 && ip route add prohibit 198.51.100.0/24 &&
        mount -t tmpfs none /mnt && printf '127.0.0.1 localhost\\n{hosts}' > /mnt/hosts &&
        printf 'nameserver 127.0.0.1\\noptions timeout:1 attempts:1\\n' > /mnt/resolv &&
        printf 'hosts: files dns\\n' > /mnt/nsswitch && mount --bind /mnt/hosts /etc/hosts &&
        mount --bind /mnt/resolv $(readlink -f /etc/resolv.conf) &&
        {{ mount --bind /mnt/nsswitch /etc/nsswitch.conf || true; }} && {command} \"$0\" \"$@\""
    );
    let shell = format!(
        "exec unshare -rmn sh -c '{}' \"$0\" \"$@\";",
        script.replace('\'', "'\\''")
    );
    alone(name, &shell)
}

/// A port of Quake 3, where a search of the network asks too.
pub const PORT: u16 = 27960;

/// A server of everything at this address.
pub fn answering(ip: &str) -> SocketAddr {
    let udp = UdpSocket::bind((ip, PORT)).unwrap();
    let address = udp.local_addr().unwrap();
    let tcp = TcpListener::bind(address).unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        loop {
            let (length, from) = udp.recv_from(&mut buffer).unwrap();
            if let Some(reply) = quake3_reply(&buffer[..length]) {
                let _ = udp.send_to(&reply, from);
            }
        }
    });
    std::thread::spawn(move || {
        for stream in tcp.incoming() {
            match stream {
                Ok(mut stream) => {
                    let _ = gamespy1_list(&mut stream);
                }
                // No descriptor is free.
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    });
    address
}

fn quake3_reply(request: &[u8]) -> Option<Vec<u8>> {
    let request = request.strip_prefix(b"\xff\xff\xff\xff")?;
    let words: Vec<&[u8]> = request.split(|byte| b" \n".contains(byte)).collect();
    let challenge = words.get(1).copied().unwrap_or_default();
    let status = [&b"\\mapname\\q3dm17\\challenge\\"[..], challenge].concat();
    let reply = match words[0] {
        b"getstatus" => [b"statusResponse\n", &status[..], b"\n"].concat(),
        b"getinfo" => [b"infoResponse\n", &status[..]].concat(),
        b"getservers" => b"getserversResponse\\\xc0\x00\x02\x01\x6d\x38\\EOT\0\0\0".to_vec(),
        b"rcon" => b"print\nok\n".to_vec(),
        _ => return None,
    };
    Some([b"\xff\xff\xff\xff", &reply[..]].concat())
}

fn gamespy1_list(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(br"\basic\\secure\WFXNEA")?;
    let _ = stream.read(&mut [0; 500]);
    stream.write_all(br"\ip\192.0.2.1:7778\ip\192.0.2.2:7788\final\")
}
