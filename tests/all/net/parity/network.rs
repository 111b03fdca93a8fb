//! Networks of our own, and the servers in them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};
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
pub struct Server {
    /// How long it takes for each reply.
    pub delay: Duration,
    /// Bytes that are added to each reply.
    pub padding: usize,
}

impl Server {
    pub fn start(self, ip: &str) -> SocketAddr {
        let udp = UdpSocket::bind((ip, PORT)).unwrap();
        let address = udp.local_addr().unwrap();
        let tcp = TcpListener::bind(address).unwrap();
        let Self { delay, padding } = self;
        std::thread::spawn(move || {
            let mut buffer = [0; 2000];
            loop {
                let (length, from) = udp.recv_from(&mut buffer).unwrap();
                let Some(reply) = quake3_reply(&buffer[..length], padding) else {
                    continue;
                };
                let socket = udp.try_clone();
                let respond = move || {
                    std::thread::sleep(delay);
                    // A full queue counts as a lost reply.
                    socket.map(|socket| socket.send_to(&reply, from))
                };
                // Without a delay, no reply waits for another one.
                if delay.is_zero() {
                    let _ = respond();
                } else {
                    std::thread::spawn(respond);
                }
            }
        });
        std::thread::spawn(move || {
            for stream in tcp.incoming() {
                let Ok(mut stream) = stream else {
                    // No descriptor is free.
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                };
                let mut list = move || gamespy1_list(&mut stream, delay, padding);
                if delay.is_zero() {
                    let _ = list();
                } else {
                    std::thread::spawn(list);
                }
            }
        });
        address
    }
}

/// A server that answers at once.
pub fn everything(ip: &str) -> SocketAddr {
    let server = Server {
        delay: Duration::ZERO,
        padding: 0,
    };
    server.start(ip)
}

fn quake3_reply(request: &[u8], padding: usize) -> Option<Vec<u8>> {
    let request = request.strip_prefix(b"\xff\xff\xff\xff")?;
    let words: Vec<&[u8]> = request.split(|byte| b" \n".contains(byte)).collect();
    let mut reply = b"\xff\xff\xff\xff".to_vec();
    match words[0] {
        word @ (b"getstatus" | b"getinfo") => {
            let is_status = word == b"getstatus";
            reply.extend(if is_status {
                &b"statusResponse\n\\sv_hostname\\Srv"[..]
            } else {
                b"infoResponse\n\\hostname\\Srv"
            });
            reply.extend(b"\\mapname\\q3dm17\\challenge\\");
            reply.extend(*words.get(1)?);
            reply.extend(b"\\padding\\");
            reply.resize(reply.len() + padding, b'x');
            reply.extend(if is_status { &b"\n"[..] } else { b"" });
        }
        b"getservers" => {
            reply.extend(b"getserversResponse");
            for server in 0..=padding / 7 {
                reply.extend(b"\\\xc0\x00\x02\x01");
                reply.extend(u16::try_from(28_000 + server).unwrap().to_be_bytes());
            }
            reply.extend(b"\\EOT\0\0\0");
        }
        b"rcon" => {
            reply.extend(b"print\nok\n");
            reply.resize(reply.len() + padding, b'x');
        }
        _ => return None,
    }
    Some(reply)
}

fn gamespy1_list(
    stream: &mut std::net::TcpStream,
    delay: Duration,
    padding: usize,
) -> std::io::Result<()> {
    stream.write_all(br"\basic\\secure\WFXNEA")?;
    let _ = stream.read(&mut [0; 500]);
    std::thread::sleep(delay);
    for port in 0..=padding / 20 {
        stream.write_all(format!(r"\ip\192.0.2.1:{}", 7778 + port).as_bytes())?;
    }
    std::thread::sleep(delay);
    stream.write_all(br"\ip\192.0.2.2:7788\final\")
}

/// Sends a signal that the program handles to each of its threads, again and again.
pub struct Signals(Child);

impl Signals {
    pub fn start() -> Self {
        let script = format!(
            "while :; do for task in /proc/{}/task/*; do kill -USR1 ${{task##*/}}; done; sleep 0.02; done",
            std::process::id()
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The shell command after which loopback's queue takes no datagram: `send` fails with `ENOBUFS`.
pub const FILL_QUEUE: &str = "tc qdisc replace dev lo root pfifo limit 0";
const EMPTY_QUEUE: &str = "tc qdisc delete dev lo root";

/// Fills the queue for a moment.
pub fn fill_queue_briefly() -> std::thread::JoinHandle<()> {
    run(FILL_QUEUE);
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(300));
        run(EMPTY_QUEUE);
    })
}

fn run(command: &str) {
    let status = Command::new("sh").args(["-c", command]).status();
    assert!(status.unwrap().success(), "{command}");
}
