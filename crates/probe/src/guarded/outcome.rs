//! What a fetch can end in: an answer with remarks, or a refusal with a code.

use std::fmt;
use std::net::SocketAddr;

use countersign_core::offer::clean;

/// The bytes of one exchange as they crossed the connection, with TLS taken off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    /// Our request, head and body. Empty when none was sent.
    pub sent: Vec<u8>,
    /// Of an answer: all its heads, interim ones first, up to the empty line that ends the last. Of a refusal: the
    /// first bytes that came, whatever they are, at most as many as a head may have.
    pub received: Vec<u8>,
}

/// What a stranger answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status code of the final response.
    pub status: u16,
    /// Header lines, read: name in lower case, value as it came. Lines of one name stand together, in their order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body as far as it was read, at most the cap.
    pub body: Vec<u8>,
    /// Whether `body` is all there was. When not, a flag says why.
    pub body_complete: bool,
    /// Bytes of the final response head, its last empty line included.
    pub head_bytes: usize,
    /// Interim (1xx) responses that came before.
    pub interim: u32,
    /// Whom we dialled, checked after the connection stood.
    pub peer: SocketAddr,
    /// The certificate chain, leaf first, DER.
    pub chain: Vec<Vec<u8>>,
    /// The request and the heads, unread.
    pub wire: Wire,
    /// Milliseconds from the start of the name look-up to the end of the response head.
    pub latency_ms: u64,
    /// Remarks on the transport, each at most once.
    pub flags: Vec<TransportFlag>,
}

/// There is no answer that may be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Refused {
    /// What kind of refusal.
    pub code: RefusedCode,
    /// A sentence for a person, cleaned and capped. It may carry the server's own words and is not stable.
    pub detail: String,
    /// The certificate chain that was offered, leaf first, DER; also when it is the reason for the refusal. Empty when
    /// the server never sent one.
    pub chain: Vec<Vec<u8>>,
    /// What was sent and what came back all the same.
    pub wire: Wire,
    /// Milliseconds from the start of the fetch.
    pub elapsed_ms: u64,
}

/// A refusal before the door adds the chain and the time.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: RefusedCode,
    /// Private, so that [`Failure::new`] is the only way in.
    detail: String,
}

impl Failure {
    /// `detail` may repeat what the other side sent, so it is cleaned and capped here, where no caller can forget it:
    /// a decision that quotes it must stay small enough to be signed.
    pub(crate) fn new(code: RefusedCode, detail: impl fmt::Display) -> Self {
        Self { code, detail: clean::shown(&detail.to_string()) }
    }

    pub(crate) fn into_detail(self) -> String {
        self.detail
    }

    /// The whole refusal.
    pub(super) fn refused(self, chain: Vec<Vec<u8>>, wire: Wire, elapsed_ms: u64) -> Refused {
        Refused { code: self.code, detail: self.detail, chain, wire, elapsed_ms }
    }
}

impl fmt::Display for RefusedCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusedCode {
    /// The URL is not one that the door opens to.
    Url,
    /// The port belongs to a service that is no seller.
    PortRefused,
    /// An extra certificate authority of ours cannot be used; nothing was dialled.
    RootsUnusable,
    /// This machine has no name server to ask.
    NoNameServer,
    /// The name server did not answer in time.
    DnsTimeout,
    /// The name server says that the name does not exist.
    NameNotFound,
    /// The name server failed, refused, or answered with something that is no answer.
    Dns,
    /// The name has no address.
    NoAddress,
    /// The name has more than 16 addresses.
    TooManyAddresses,
    /// Some addresses of the name are public and some are not, which is how a rebinding name looks. None is dialled.
    AddressMixed,
    /// No address of the name may be dialled: private, reserved, denied by configuration, or this machine.
    AddressRefused,
    /// Nothing accepted the connection in time.
    ConnectTimeout,
    /// The connection was refused or lost.
    ConnectFailed,
    /// The peer is not the address that was dialled.
    PeerMoved,
    /// The TLS handshake did not finish in time.
    TlsTimeout,
    /// The TLS handshake failed for a reason other than the certificate.
    TlsFailed,
    /// The server refuses HTTP/1.1 (ALPN).
    NoHttp1,
    /// The certificate has expired.
    CertificateExpired,
    /// The certificate is not valid yet.
    CertificateNotYetValid,
    /// The certificate is for another host.
    CertificateWrongHost,
    /// No trusted authority issued the certificate (self-signed, for one).
    CertificateUntrusted,
    /// The certificate is unusable for another reason.
    CertificateInvalid,
    /// The request got no complete response head in time.
    FirstByteTimeout,
    /// The connection ended before a complete response head, in the TLS handshake or after it.
    ClosedEarly,
    /// What came back is no HTTP/1 response (HTTP/0.9, for one).
    NotHttp,
    /// The response head breaks the grammar of RFC 9112.
    HeadMalformed,
    /// The response head has too many bytes or lines.
    HeadTooLarge,
    /// There is a NUL in the response head.
    ControlInHead,
    /// More than four interim (1xx) responses.
    TooManyInterim,
    /// The server answered 101.
    SwitchingProtocols,
    /// `Content-Length` beside `Transfer-Encoding`: request smuggling, or a broken proxy.
    LengthAndChunked,
    /// Several `Content-Length` that differ.
    LengthConflict,
    /// A `Content-Length` beyond what can be counted, 2^64 bytes and more.
    BodyTooLarge,
    /// A `Transfer-Encoding` other than one `chunked`, though none was asked for.
    TransferCoding,
}

impl RefusedCode {
    /// Every value, in the order in which a fetch can meet it.
    pub const ALL: &'static [Self] = &[
        Self::Url,
        Self::PortRefused,
        Self::RootsUnusable,
        Self::NoNameServer,
        Self::DnsTimeout,
        Self::NameNotFound,
        Self::Dns,
        Self::NoAddress,
        Self::TooManyAddresses,
        Self::AddressMixed,
        Self::AddressRefused,
        Self::ConnectTimeout,
        Self::ConnectFailed,
        Self::PeerMoved,
        Self::TlsTimeout,
        Self::TlsFailed,
        Self::NoHttp1,
        Self::CertificateExpired,
        Self::CertificateNotYetValid,
        Self::CertificateWrongHost,
        Self::CertificateUntrusted,
        Self::CertificateInvalid,
        Self::FirstByteTimeout,
        Self::ClosedEarly,
        Self::NotHttp,
        Self::HeadMalformed,
        Self::HeadTooLarge,
        Self::ControlInHead,
        Self::TooManyInterim,
        Self::SwitchingProtocols,
        Self::LengthAndChunked,
        Self::LengthConflict,
        Self::BodyTooLarge,
        Self::TransferCoding,
    ];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url_refused",
            Self::PortRefused => "port_refused",
            Self::RootsUnusable => "roots_unusable",
            Self::NoNameServer => "no_name_server",
            Self::DnsTimeout => "dns_timeout",
            Self::NameNotFound => "name_not_found",
            Self::Dns => "dns_failed",
            Self::NoAddress => "no_address",
            Self::TooManyAddresses => "too_many_addresses",
            Self::AddressMixed => "address_mixed",
            Self::AddressRefused => "address_refused",
            Self::ConnectTimeout => "connect_timeout",
            Self::ConnectFailed => "connect_failed",
            Self::PeerMoved => "peer_moved",
            Self::TlsTimeout => "tls_timeout",
            Self::TlsFailed => "tls_failed",
            Self::NoHttp1 => "no_http1",
            Self::CertificateExpired => "certificate_expired",
            Self::CertificateNotYetValid => "certificate_not_yet_valid",
            Self::CertificateWrongHost => "certificate_wrong_host",
            Self::CertificateUntrusted => "certificate_untrusted",
            Self::CertificateInvalid => "certificate_invalid",
            Self::FirstByteTimeout => "first_byte_timeout",
            Self::ClosedEarly => "closed_early",
            Self::NotHttp => "not_http",
            Self::HeadMalformed => "head_malformed",
            Self::HeadTooLarge => "head_too_large",
            Self::ControlInHead => "control_in_head",
            Self::TooManyInterim => "too_many_interim",
            Self::SwitchingProtocols => "switching_protocols",
            Self::LengthAndChunked => "length_and_chunked",
            Self::LengthConflict => "length_conflict",
            Self::BodyTooLarge => "body_too_large",
            Self::TransferCoding => "transfer_coding",
        }
    }
}

/// A remark on how an answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportFlag {
    /// The answer is from this machine, because a lab flag allows it.
    LoopbackAllowed,
    /// Certificate authorities beside the public ones were trusted.
    ExtraRoots,
    /// The head is larger than many clients accept.
    HeadAbove8KiB,
    /// The head is larger than most clients accept.
    HeadAbove16KiB,
    /// A line of the head ended in LF without CR.
    BareLf,
    /// Interim (1xx) responses came first.
    Interim,
    /// The body is compressed, though only `identity` was asked for; it was not read.
    ContentEncoding,
    /// More bytes came than `Content-Length` announced; the surplus was ignored.
    BodyLong,
    /// The connection broke before the body's announced end.
    BodyShort,
    /// The body is larger than the cap; the rest was not read.
    BodyCapped,
    /// The body came too slowly and reading stopped.
    BodySlow,
    /// The body hides bytes in its chunk sizes (extensions above 256 bytes, or padding); reading stopped there.
    ChunkPadding,
}

impl TransportFlag {
    /// Every value, in the order in which a fetch can meet it.
    pub const ALL: &'static [Self] = &[
        Self::LoopbackAllowed,
        Self::ExtraRoots,
        Self::HeadAbove8KiB,
        Self::HeadAbove16KiB,
        Self::BareLf,
        Self::Interim,
        Self::ContentEncoding,
        Self::BodyLong,
        Self::BodyShort,
        Self::BodyCapped,
        Self::BodySlow,
        Self::ChunkPadding,
    ];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LoopbackAllowed => "loopback_allowed",
            Self::ExtraRoots => "extra_roots",
            Self::HeadAbove8KiB => "head_above_8_kib",
            Self::HeadAbove16KiB => "head_above_16_kib",
            Self::BareLf => "bare_lf",
            Self::Interim => "interim",
            Self::ContentEncoding => "content_encoding",
            Self::BodyLong => "body_long",
            Self::BodyShort => "body_short",
            Self::BodyCapped => "body_capped",
            Self::BodySlow => "body_slow",
            Self::ChunkPadding => "chunk_padding",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30,000 bytes that a header may hold. 120 characters as shown: 8 for the escape and 28 times 4; and the sign
    /// that there was more.
    #[test]
    fn a_strangers_words_are_cleaned_and_capped_whatever_their_length() {
        let failure = Failure::new(RefusedCode::HeadMalformed, "\u{202e}".to_owned() + &"\\xff".repeat(30_000));
        assert_eq!(failure.into_detail(), format!("\\u{{202e}}{}…", "\\xff".repeat(28)));
        let short = Failure::new(RefusedCode::HeadMalformed, "no colon");
        assert_eq!(short.refused(Vec::new(), Wire::default(), 1).detail, "no colon", "positive control");
    }
}
