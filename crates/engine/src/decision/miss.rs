//! Why nothing was selected, in the words of the answer (`miss_reason`).

use countersign_core::offer::{NotEvaluated, ReadingKind};
use countersign_core::policy::MissReason;
use countersign_probe::RefusedCode;

use super::Parts;

/// One word of the closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// Nothing answered in time.
    ProbeTimeout,
    /// The guard refused the address.
    Ssrf,
    /// There was no challenge that could be read, or none of its offers can be paid.
    No402Envelope,
    /// The URL answered without asking for payment.
    Reachable200,
    /// The server failed.
    Upstream5xx,
    /// No offer names a recipient.
    NoPayto,
    /// No complete offer says what input it takes, where that was required.
    NoInputSchema,
    /// No complete offer is inside all bounds.
    ConstraintsUnmet,
}

impl Miss {
    /// Every value.
    pub const ALL: [Self; 8] = [
        Self::ProbeTimeout,
        Self::Ssrf,
        Self::No402Envelope,
        Self::Reachable200,
        Self::Upstream5xx,
        Self::NoPayto,
        Self::NoInputSchema,
        Self::ConstraintsUnmet,
    ];

    /// The stable word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProbeTimeout => "probe_timeout",
            Self::Ssrf => "ssrf",
            Self::No402Envelope => "no_402_envelope",
            Self::Reachable200 => "reachable_200",
            Self::Upstream5xx => "upstream_5xx",
            Self::NoPayto => "no_payto",
            Self::NoInputSchema => "no_input_schema",
            Self::ConstraintsUnmet => "constraints_unmet",
        }
    }

    /// What it means, and what to do.
    pub const fn told(self) -> (&'static str, &'static str) {
        match self {
            Self::ProbeTimeout => ("the seller or the name server did not answer in time", "try again later"),
            Self::Ssrf => ("the name leads into a private network or to this machine", "do not use this seller"),
            Self::No402Envelope => (
                "there was no payment challenge that could be read, or none of its offers can be paid",
                "look at `transport.refused` and the findings, which say why",
            ),
            Self::Reachable200 => ("the URL answered without asking for payment", "call it without paying"),
            Self::Upstream5xx => ("the server failed", "try again later"),
            Self::NoPayto => ("no offer names a recipient", "do not pay; the seller has to name one"),
            Self::NoInputSchema => (
                "complete offers, but the endpoint does not say what input it takes, or says it of a method whose terms were not seen",
                "leave out --require-invocable if you know the input",
            ),
            Self::ConstraintsUnmet => {
                ("complete offers, but none inside all your bounds", "`unmet_constraints` names the bounds")
            }
        }
    }
}

/// The policy knows only what was read; why nothing could be read is said here. None when an offer was selected.
pub(super) fn of(parts: &Parts<'_>) -> Option<Miss> {
    let decided = &parts.judged.decided;
    if decided.selected.is_some() {
        return None;
    }
    match (&parts.sighting.result, parts.sighting.reading.kind) {
        (Err(refused), _) => Some(unseen(refused.code)),
        (_, ReadingKind::NotEvaluated(NotEvaluated::Reachable200)) => Some(Miss::Reachable200),
        (_, ReadingKind::NotEvaluated(NotEvaluated::ServerError)) => Some(Miss::Upstream5xx),
        _ => decided.miss_reason.map(judged),
    }
}

/// A word of the closed list for every refusal of the door.
fn unseen(code: RefusedCode) -> Miss {
    use RefusedCode as C;
    match code {
        C::DnsTimeout | C::ConnectTimeout | C::TlsTimeout | C::FirstByteTimeout => Miss::ProbeTimeout,
        C::AddressMixed | C::AddressRefused => Miss::Ssrf,
        C::Url
        | C::PortRefused
        | C::RootsUnusable
        | C::NoNameServer
        | C::NameNotFound
        | C::Dns
        | C::NoAddress
        | C::TooManyAddresses
        | C::ConnectFailed
        | C::PeerMoved
        | C::TlsFailed
        | C::NoHttp1
        | C::CertificateExpired
        | C::CertificateNotYetValid
        | C::CertificateWrongHost
        | C::CertificateUntrusted
        | C::CertificateInvalid
        | C::ClosedEarly
        | C::NotHttp
        | C::HeadMalformed
        | C::HeadTooLarge
        | C::ControlInHead
        | C::TooManyInterim
        | C::SwitchingProtocols
        | C::LengthAndChunked
        | C::LengthConflict
        | C::BodyTooLarge
        | C::TransferCoding => Miss::No402Envelope,
    }
}

fn judged(reason: MissReason) -> Miss {
    match reason {
        MissReason::No402Envelope => Miss::No402Envelope,
        MissReason::NoPayto => Miss::NoPayto,
        MissReason::NoInputSchema => Miss::NoInputSchema,
        MissReason::ConstraintsUnmet => Miss::ConstraintsUnmet,
    }
}
