//! What a person may type.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use countersign_core::policy::Objective;

/// Know who you are about to pay, what they ask, and be able to prove it later.
///
/// Exit codes: 0 yes, valid or payable · 1 no · 2 usage · 3 malformed input · 4 could not be evaluated,
/// stale or expired · 5 trust policy not met.
#[derive(Debug, Parser)]
#[command(name = "countersign", version)]
pub(crate) struct Cli {
    /// Settings for every command.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags every command takes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Data directory: keys, database
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Settings file; `countersign.toml` in the current folder when it exists
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// PostgreSQL address in place of the database file in the data directory
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Print JSON on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say nothing on standard error but errors
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Labs only: let names under .localhost reach this machine
    #[arg(long, global = true)]
    pub(crate) allow_loopback: bool,
    /// Labs only: trust the certificates in this PEM file as well
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Keep the log's full tiles in this bucket, `s3://BUCKET/FOLDER`, in place of the data directory
    #[arg(long, global = true, value_name = "S3")]
    pub(crate) tiles: Option<String>,
    /// Do not dial addresses of this block either, such as 198.51.100.0/24; may be given again
    #[arg(long = "deny-address", global = true, value_name = "CIDR")]
    pub(crate) deny_addresses: Vec<String>,
    /// Judge addresses behind this NAT64 prefix as the IPv4 address they become; may be given again
    #[arg(long, global = true, value_name = "PREFIX")]
    pub(crate) nat64: Vec<String>,
    /// Ask this name server, `ADDRESS` or `ADDRESS:PORT`, about sellers in place of the system's
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(crate) name_server: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look at a live paid endpoint and decide whether to pay it
    // A bound such as -1 is told what a bound looks like, and not that there is no flag of that name.
    #[command(allow_negative_numbers = true)]
    Check(Box<CheckArgs>),
    /// Say offline what a receipt, a signed decision or a checkpoint proves
    Verify(VerifyArgs),
    /// Make, list, show and rotate signing keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Run the transparency log, and watch logs
    #[command(subcommand)]
    Log(LogCommand),
    /// Get the receipt of a decision or a key again, or renew one
    #[command(subcommand)]
    Receipt(ReceiptCommand),
    /// Serve honest and hostile sellers on loopback
    Lab(LabArgs),
    /// Show a check against honest and hostile sellers, without network, wallet or account
    Demo(DemoArgs),
    /// Print the settings in force and where each came from
    Config,
    /// Look for what would stop a check on this machine; makes and changes nothing
    Doctor(DoctorArgs),
}

/// `countersign doctor`
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Ask the name server for this seller's addresses; without it no name leaves the machine
    #[arg(long, value_name = "NAME")]
    pub(crate) look_up: Option<String>,
}

/// `countersign check`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CheckArgs {
    /// The paid endpoint, https only
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    pub(crate) url: Option<String>,
    /// Check every URL in this file (-: standard input), one a line; prints one JSON line each
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Write the signed decision to this file
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) out: Option<PathBuf>,
    /// How the endpoint is called, where you know; without it GET, then POST when the answer to GET names it
    #[arg(long, value_enum)]
    pub(crate) method: Option<CalledBy>,
    /// Write the log's receipt for the decision to this file
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) receipt: Option<PathBuf>,
    /// Log decisions that selected nothing as well
    #[arg(long)]
    pub(crate) log_misses: bool,
    /// What an offer must hold to be selected.
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// The buyer's bounds on an offer, and the order of those inside them.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Bounds, under which what is unknown excludes an offer")]
pub(crate) struct Bounds {
    /// Only these networks (names or CAIP-2 ids, comma separated)
    #[arg(long, value_delimiter = ',')]
    pub(crate) networks: Vec<String>,
    /// Never these networks
    #[arg(long, value_delimiter = ',')]
    pub(crate) deny_networks: Vec<String>,
    /// Only these recipients
    #[arg(long = "allow-pay-to", value_delimiter = ',')]
    pub(crate) allow_pay_to: Vec<String>,
    /// Put this network's first among the offers without warnings, or else among those with; excludes none
    #[arg(long, value_name = "NETWORK")]
    pub(crate) prefer_network: Option<String>,
    /// Which of the offers inside all bounds to choose, those without warnings first
    #[arg(long, value_enum)]
    pub(crate) objective: Option<OrderedBy>,
    /// Highest price in USD, such as 0.01
    #[arg(long, value_name = "USD")]
    pub(crate) max_price_usd: Option<String>,
    /// Highest price plus known fees in USD
    #[arg(long, value_name = "USD")]
    pub(crate) max_total_cost_usd: Option<String>,
    /// Highest amount in the asset's atomic units
    #[arg(long, value_name = "UNITS")]
    pub(crate) max_amount_atomic: Option<String>,
    /// Longest probe round trip
    #[arg(long, value_name = "MS")]
    pub(crate) max_probe_latency_ms: Option<u64>,
    /// Same as --max-probe-latency-ms; the stricter of the two counts
    #[arg(long, value_name = "MS")]
    pub(crate) max_latency_ms: Option<u64>,
    /// Longest historical median latency
    #[arg(long, value_name = "MS")]
    pub(crate) max_service_latency_ms: Option<u64>,
    /// Longest settlement time of the network
    #[arg(long, value_name = "MS")]
    pub(crate) max_settlement_latency_ms: Option<u64>,
    /// At least this many observations in 7 days
    #[arg(long, value_name = "N")]
    pub(crate) min_observations: Option<u64>,
    /// At least this share of successful observations in 7 days, 0 to 1
    #[arg(long, value_name = "SHARE")]
    pub(crate) min_observed_success: Option<String>,
    /// At least this reputation, 0 to 1; none is known yet, so nothing is selected under this bound
    #[arg(long, value_name = "SHARE")]
    pub(crate) min_reputation_score: Option<String>,
    /// At least this confidence in the reputation, 0 to 1; none is known yet either
    #[arg(long, value_name = "SHARE")]
    pub(crate) min_reputation_confidence: Option<String>,
    /// The endpoint must say what input it takes
    #[arg(long)]
    pub(crate) require_invocable: bool,
    /// Accept a recipient that changed for the first time
    #[arg(long = "accept-payto-change")]
    pub(crate) accept_payto_change: bool,
    /// Succeed only with a receipt under a signed checkpoint
    #[arg(long)]
    pub(crate) require_transparency: bool,
}

/// How an endpoint is called.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum CalledBy {
    /// GET
    Get,
    /// POST; the body sent is {}
    Post,
}

/// The order of offers, under its names on the wire.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum OrderedBy {
    /// Established recipient first, then the lowest known price
    Best,
    /// The lowest known price
    Cheapest,
    /// The shortest probe; the offers of one URL share theirs, so as best
    Fastest,
    /// The steadiest endpoint; the offers of one URL share theirs, so as best
    MostReliable,
    /// The lowest price plus known fees; refuses offers whose fees are unknown
    LowestTotalCost,
    /// The shortest settlement time of the network
    FastestSettlement,
}

impl From<OrderedBy> for Objective {
    fn from(named: OrderedBy) -> Self {
        match named {
            OrderedBy::Best => Self::Best,
            OrderedBy::Cheapest => Self::Cheapest,
            OrderedBy::Fastest => Self::Fastest,
            OrderedBy::MostReliable => Self::MostReliable,
            OrderedBy::LowestTotalCost => Self::LowestTotalCost,
            OrderedBy::FastestSettlement => Self::FastestSettlement,
        }
    }
}

/// `countersign verify`
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A receipt, a signed decision, an answer, a C2SP .tlog-proof, or a log's signed checkpoint; - is standard input
    pub(crate) file: PathBuf,
    /// What a .tlog-proof is a proof of: the entry as it was logged, or the receipt or answer of a decision
    #[arg(long, value_name = "FILE")]
    pub(crate) leaf: Option<PathBuf>,
    /// Trust policy (C2SP tlog-policy): the logs and witnesses you accept; by default your own log
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: Option<PathBuf>,
    /// Refuse a checkpoint without the log's post-quantum signature
    #[arg(long)]
    pub(crate) require_pq: bool,
    /// Refuse a checkpoint signed longer ago than this: 90s, 10m, 24h, 7d
    #[arg(long, value_name = "AGE")]
    pub(crate) max_age: Option<String>,
    /// Accept documents signed by this base64 public key only (may be repeated); by default the data directory's keys count
    #[arg(long = "key", value_name = "BASE64")]
    pub(crate) keys: Vec<String>,
    /// Receipt of a signing key (may be repeated): refuse what another key signed, or this one outside its time
    #[arg(long = "key-receipt", value_name = "FILE")]
    pub(crate) key_receipts: Vec<PathBuf>,
    /// Judge expiry and age at this time instead of now
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
}

impl VerifyArgs {
    /// Whether only a receipt can satisfy the reader.
    pub(crate) fn demands_a_log(&self) -> bool {
        self.trust.is_some() || self.require_pq || self.max_age.is_some()
    }
}

/// `countersign keys`
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make the signing key for decisions, if there is none
    New,
    /// List keys, public halves only
    List,
    /// Show one key's public half
    Show {
        /// Its keyId
        id: String,
    },
    /// Make a new signing key and keep the old one as previous
    Rotate,
}

/// `countersign log`
#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Make an empty log with fresh keys; a check makes one by itself when there is none
    Init {
        /// The log's name, for good: a URL without its scheme, such as log.example/countersign/2026
        #[arg(long, value_name = "NAME")]
        origin: Option<String>,
    },
    /// Say what the log holds and which keys verify it
    Status,
    /// Declare a copied data directory to be the log, once the original can never run again
    Adopt,
    /// Hold the log, answer its read API over HTTP, and take leaves from other processes
    Serve(LogServeArgs),
    /// Derive the root again from all stored entries, and hold every file against it
    Fsck,
    /// Look at a log once: signatures, age, that it only grew, and that its entries keep the rules
    Monitor(LogMonitorArgs),
    /// Cosign the checkpoints of logs as long as they only grow (C2SP tlog-witness)
    Witness(LogWitnessArgs),
}

/// `countersign receipt`
#[derive(Debug, Subcommand)]
pub(crate) enum ReceiptCommand {
    /// Write the receipt of a signed decision or of a key that was logged from this data directory
    Export {
        /// The signed decision, or the receipt itself
        #[arg(required_unless_present = "key", conflicts_with = "key")]
        file: Option<PathBuf>,
        /// The key with this keyId: when it signs, or signed
        #[arg(long, value_name = "KEYID")]
        key: Option<String>,
        /// Write here instead of to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// As a C2SP .tlog-proof, which carries the leaf and no reveal
        #[arg(long)]
        proof: bool,
    },
    /// Renew a receipt under the log's newest checkpoint
    Upgrade {
        /// The receipt
        file: PathBuf,
        /// Write here instead of to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// `countersign log serve`
#[derive(Debug, Args)]
pub(crate) struct LogServeArgs {
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4410")]
    pub(crate) listen: String,
    /// Ask the witnesses of this policy (C2SP tlog-policy) whose lines name an address
    #[arg(long, value_name = "FILE")]
    pub(crate) witnesses: Option<PathBuf>,
}

/// `countersign log witness`
#[derive(Debug, Args)]
pub(crate) struct LogWitnessArgs {
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4411")]
    pub(crate) listen: String,
    /// Folder of this witness alone: its keys, and the last checkpoint of each log it cosigned
    #[arg(long, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// The logs it cosigns for, as a trust policy (C2SP tlog-policy)
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: PathBuf,
    /// Its name, a URL without scheme, at the first start
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// `countersign log monitor`
#[derive(Debug, Args)]
pub(crate) struct LogMonitorArgs {
    /// URL of its read API, such as `https://log.example/log`, or a folder in the same layout
    pub(crate) log: String,
    /// Trust policy (C2SP tlog-policy): the log and the witnesses you accept
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: PathBuf,
    /// Remember the last verified checkpoint here; FILE.commitments, FILE.progress and FILE.evidence stand beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Refuse a checkpoint without the log's post-quantum signature
    #[arg(long)]
    pub(crate) require_pq: bool,
    /// Refuse a checkpoint signed longer ago than this: 90s, 10m, 24h, 7d
    #[arg(long, value_name = "AGE", default_value = "5m")]
    pub(crate) max_age: String,
}

/// `countersign lab`
#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// List the sellers and stop
    #[arg(long)]
    pub(crate) list: bool,
    /// Port; 0 takes a free one
    #[arg(long, default_value_t = 4402)]
    pub(crate) port: u16,
    /// Write the lab's CA certificate here
    #[arg(long, value_name = "FILE", default_value = "lab-ca.pem")]
    pub(crate) ca_out: PathBuf,
}

/// `countersign demo`
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the signed decisions and the data directory here
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Check every seller of the lab, not a chosen dozen
    #[arg(long)]
    pub(crate) all: bool,
}
