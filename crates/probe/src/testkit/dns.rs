//! A name server on loopback, UDP and TCP, that answers from a table, right or wrong (RFC 1035 4).

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
/// The largest answer over UDP without extensions; a larger one is cut, and the asker comes back over TCP.
const UDP_ROOM: usize = 512;

/// One record of an answer.
#[derive(Clone, Debug)]
pub struct Record {
    /// Whose it is; the name that was asked for when empty.
    owner: String,
    kind: u16,
    data: Vec<u8>,
}

impl Record {
    /// The same record of another owner.
    #[must_use]
    pub fn of(mut self, owner: &str) -> Self {
        owner.clone_into(&mut self.owner);
        self
    }
}

/// An IPv4 address.
///
/// # Panics
/// When `text` is none.
pub fn a(text: &str) -> Record {
    address(A, text)
}

/// An IPv6 address.
///
/// # Panics
/// When `text` is none.
pub fn aaaa(text: &str) -> Record {
    address(AAAA, text)
}

/// An alias for `target`.
pub fn cname(target: &str) -> Record {
    Record { owner: String::new(), kind: CNAME, data: name(target) }
}

fn address(kind: u16, text: &str) -> Record {
    let data = match text.parse().expect("a test writes addresses right") {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    Record { owner: String::new(), kind, data }
}

/// What the server says to one question.
#[derive(Clone, Debug)]
pub enum Reply {
    /// These records, of them the aliases and those of the asked type.
    Records(Vec<Record>),
    /// The name does not exist.
    NxDomain,
    /// The server failed.
    ServFail,
    /// The server does not want to answer.
    Refused,
    /// Nothing.
    Silence,
    /// Bytes that are no DNS message.
    Garbage,
}

impl Reply {
    /// These records.
    pub fn records(records: impl IntoIterator<Item = Record>) -> Self {
        Self::Records(records.into_iter().collect())
    }
}

/// Replies by name. The first question of a type gets the first reply, the second the second; the last one stays.
type Zone = HashMap<String, Vec<Reply>>;

#[derive(Debug)]
struct Shared {
    zone: Zone,
    asked: Mutex<Vec<(String, u16)>>,
}

/// A listening name server. It stops when dropped.
#[derive(Debug)]
pub struct NameServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

impl NameServer {
    /// Listens on a free port of 127.0.0.1. Names that are not in the table do not exist.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(zone: impl IntoIterator<Item = (String, Vec<Reply>)>) -> io::Result<Self> {
        let (tcp, udp) = bind().await?;
        let address = tcp.local_addr()?;
        let shared = Arc::new(Shared { zone: zone.into_iter().collect(), asked: Mutex::default() });
        let mut tasks = JoinSet::new();
        tasks.spawn(over_udp(udp, Arc::clone(&shared)));
        tasks.spawn(over_tcp(tcp, Arc::clone(&shared)));
        Ok(Self { address, shared, _tasks: tasks })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many questions it got about `name`, of every type.
    pub fn asked(&self, name: &str) -> usize {
        let asked = self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().filter(|(asked, _)| asked == name).count()
    }
}

/// The same free port for both; a port that is free for one may be taken for the other.
#[expect(
    clippy::disallowed_methods,
    reason = "it answers the datagrams that the resolver sends, and sends none itself"
)]
async fn bind() -> io::Result<(TcpListener, UdpSocket)> {
    let mut last = io::Error::other("no port");
    for _ in 0..32 {
        let tcp = TcpListener::bind(("127.0.0.1", 0)).await?;
        match UdpSocket::bind(tcp.local_addr()?).await {
            Ok(udp) => return Ok((tcp, udp)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn over_udp(socket: UdpSocket, shared: Arc<Shared>) {
    let mut buffer = [0; 1500];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        if let Some(answer) = shared.answer(&buffer[..length], UDP_ROOM) {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

async fn over_tcp(listener: TcpListener, shared: Arc<Shared>) {
    let mut open = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        open.spawn(async move {
            let _ = talk(stream, &shared).await;
        });
    }
}

/// Messages over TCP have their length in front (RFC 1035 4.2.2).
async fn talk(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    loop {
        let mut question = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut question).await?;
        let Some(answer) = shared.answer(&question, usize::from(u16::MAX)) else { continue };
        stream.write_u16(u16::try_from(answer.len()).map_err(io::Error::other)?).await?;
        stream.write_all(&answer).await?;
    }
}

impl Shared {
    fn answer(&self, question: &[u8], room: usize) -> Option<Vec<u8>> {
        let (asked, kind, end) = read_question(question)?;
        let reply = self.reply(&asked, kind);
        let header = |code: u8, cut: bool, count: u16| {
            let mut message = question[..2].to_vec();
            message.extend([0x81 | (u8::from(cut) << 1), 0x80 | code, 0, 1]);
            message.extend(count.to_be_bytes());
            message.extend([0, 0, 0, 0]);
            message.extend(&question[12..end]);
            message
        };
        match reply {
            Reply::Silence => None,
            Reply::Garbage => Some(b"no message at all".to_vec()),
            Reply::NxDomain => Some(header(3, false, 0)),
            Reply::ServFail => Some(header(2, false, 0)),
            Reply::Refused => Some(header(5, false, 0)),
            Reply::Records(records) => {
                let fits: Vec<&Record> = records.iter().filter(|one| one.kind == kind || one.kind == CNAME).collect();
                let mut message = header(0, false, u16::try_from(fits.len()).ok()?);
                fits.iter().for_each(|record| write_record(&mut message, record));
                Some(if message.len() <= room { message } else { header(0, true, 0) })
            }
        }
    }

    fn reply(&self, name: &str, kind: u16) -> Reply {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = asked.iter().filter(|one| (one.0.as_str(), one.1) == (name, kind)).count();
        asked.push((name.to_owned(), kind));
        let replies = self.zone.get(name).map(Vec::as_slice).unwrap_or_default();
        replies.get(turn).or(replies.last()).cloned().unwrap_or(Reply::NxDomain)
    }
}

/// The name without its last dot, the type, and where the question ends.
fn read_question(message: &[u8]) -> Option<(String, u16, usize)> {
    let mut at = 12;
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(message.get(at..at + length)?).to_lowercase());
        at += length;
    }
    let kind = message.get(at..at + 2)?;
    Some((labels.join("."), u16::from_be_bytes([kind[0], kind[1]]), at + 4))
}

fn write_record(message: &mut Vec<u8>, record: &Record) {
    match record.owner.as_str() {
        // A pointer to the question's name.
        "" => message.extend([0xc0, 12]),
        owner => message.extend(name(owner)),
    }
    message.extend(record.kind.to_be_bytes());
    message.extend([0, 1, 0, 0, 1, 0]);
    message.extend(u16::try_from(record.data.len()).unwrap_or(0).to_be_bytes());
    message.extend(&record.data);
}

fn name(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in text.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap_or(63));
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}
