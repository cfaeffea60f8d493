//! What a buyer asks for.

use crate::amount::{Amount, Usd};
use crate::endpoint::ResourceUrl;
use crate::network::Network;
use serde_json::{Map, Value, json};

/// How the offers that may be selected are ordered, after those without a warning were put first and then those on the
/// preferred network. Ranks only; filters nothing, except that [`Objective::LowestTotalCost`] refuses an offer whose
/// total cost is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// Established recipient first, then the lowest known price.
    #[default]
    Best,
    /// The lowest known price in dollars.
    Cheapest,
    /// The shortest probe; offers of one URL share one probe, so they are ordered as `best`.
    Fastest,
    /// The steadiest endpoint; offers of one URL share one history, so they are ordered as `best`.
    MostReliable,
    /// The lowest price plus known fees.
    LowestTotalCost,
    /// The shortest published settlement time of the network.
    FastestSettlement,
}

/// A check with its bounds. `None`, `false` and an empty list mean "no such bound".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRequest {
    /// What to look at.
    pub url: ResourceUrl,
    /// The offer's network must be one of these.
    pub networks: Vec<Network>,
    /// The offer's network must be none of these.
    pub deny_networks: Vec<Network>,
    /// The offer must pay one of these recipients.
    pub allow_pay_to: Vec<String>,
    /// Ranks offers on this network first, among those with warnings and among those without; filters nothing.
    pub prefer_network: Option<Network>,
    /// Order of the offers that may be selected.
    pub objective: Objective,
    /// Highest price in dollars.
    pub max_price_usd: Option<Usd>,
    /// Highest price plus fees, in dollars.
    pub max_total_cost_usd: Option<Usd>,
    /// Highest amount in atomic units of a dollar token with six decimals; any other asset counts
    /// in other units and fails closed.
    pub max_amount_atomic: Option<Amount>,
    /// Longest round trip of this request's probe, in milliseconds.
    pub max_probe_latency_ms: Option<u64>,
    /// Another name of `max_probe_latency_ms`; when both are given the stricter counts.
    pub max_latency_ms: Option<u64>,
    /// Highest median round trip of the last seven days, in milliseconds.
    pub max_service_latency_ms: Option<u64>,
    /// Longest published time until a payment on the network is settled, in milliseconds.
    pub max_settlement_latency_ms: Option<u64>,
    /// Least number of trusted observations in the last seven days.
    pub min_observations: Option<u64>,
    /// Least share of successes in the last seven days; needs three observations.
    pub min_observed_success: Option<Share>,
    /// Least reputation. None is known yet, so under this bound no offer is selected.
    pub min_reputation_score: Option<Share>,
    /// Least confidence in the reputation; as `min_reputation_score`.
    pub min_reputation_confidence: Option<Share>,
    /// Whether an input schema must be present.
    pub require_invocable: bool,
    /// Whether a recipient that changed for the first time may be selected.
    pub accept_payto_change: bool,
    /// Whether a receipt under a signed checkpoint is demanded. The engine judges it, after the decision is signed.
    pub require_transparency: bool,
}

impl CheckRequest {
    /// A request without bounds.
    pub fn new(url: ResourceUrl) -> Self {
        Self {
            url,
            networks: Vec::new(),
            deny_networks: Vec::new(),
            allow_pay_to: Vec::new(),
            prefer_network: None,
            objective: Objective::Best,
            max_price_usd: None,
            max_total_cost_usd: None,
            max_amount_atomic: None,
            max_probe_latency_ms: None,
            max_latency_ms: None,
            max_service_latency_ms: None,
            max_settlement_latency_ms: None,
            min_observations: None,
            min_observed_success: None,
            min_reputation_score: None,
            min_reputation_confidence: None,
            require_invocable: false,
            accept_payto_change: false,
            require_transparency: false,
        }
    }

    /// The probe bound in force: the stricter of its two names.
    pub fn probe_bound_ms(&self) -> Option<u64> {
        self.max_probe_latency_ms.into_iter().chain(self.max_latency_ms).min()
    }

    /// The bounds in force, under their names on the wire; decimals are strings.
    pub fn applied(&self) -> Map<String, Value> {
        let names =
            |list: &[Network]| (!list.is_empty()).then(|| json!(list.iter().map(Network::as_str).collect::<Vec<_>>()));
        let number = |bound: Option<u64>| bound.map(|bound| json!(bound));
        let share = |bound: Option<Share>| bound.map(|share| json!(share.to_string()));
        let set = |flag: bool| flag.then_some(Value::Bool(true));
        let all = [
            ("networks", names(&self.networks)),
            ("deny_networks", names(&self.deny_networks)),
            ("allow_pay_to", (!self.allow_pay_to.is_empty()).then(|| json!(self.allow_pay_to))),
            ("prefer_network", self.prefer_network.as_ref().map(|network| json!(network.as_str()))),
            ("objective", Some(json!(self.objective))),
            ("max_price_usd", self.max_price_usd.as_ref().map(|usd| json!(usd))),
            ("max_total_cost_usd", self.max_total_cost_usd.as_ref().map(|usd| json!(usd))),
            ("max_amount_atomic", self.max_amount_atomic.as_ref().map(|amount| json!(amount))),
            ("max_probe_latency_ms", number(self.probe_bound_ms())),
            ("max_service_latency_ms", number(self.max_service_latency_ms)),
            ("max_settlement_latency_ms", number(self.max_settlement_latency_ms)),
            ("min_observations", number(self.min_observations)),
            ("min_observed_success", share(self.min_observed_success)),
            ("min_reputation_score", share(self.min_reputation_score)),
            ("min_reputation_confidence", share(self.min_reputation_confidence)),
            ("require_invocable", set(self.require_invocable)),
            ("accept_payTo_change", set(self.accept_payto_change)),
            ("require_transparency", set(self.require_transparency)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// A share between 0 and 1, exact to a millionth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

/// The text is no share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a share is a decimal between 0 and 1 with at most six digits after the point")]
pub struct ShareError;

impl Share {
    /// Reads `0`, `1`, or either with a point and one to six digits, such as `0.95`.
    ///
    /// # Errors
    /// [`ShareError`] for every other text.
    pub fn parse(text: &str) -> Result<Self, ShareError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = (1..=6).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || !matches!(whole, "0" | "1") {
            return Err(ShareError);
        }
        let ppm: u32 = format!("{whole}{fraction:0<6}").parse().map_err(|_| ShareError)?;
        if ppm > 1_000_000 { Err(ShareError) } else { Ok(Self(ppm)) }
    }

    /// Millionths, 0 to 1,000,000.
    pub const fn ppm(self) -> u32 {
        self.0
    }

    /// Whether `part` of `whole` is at least this share.
    pub fn reached(self, part: u64, whole: u64) -> bool {
        u128::from(part) * 1_000_000 >= u128::from(self.0) * u128::from(whole)
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fraction = format!("{:06}", self.0 % 1_000_000);
        match fraction.trim_end_matches('0') {
            "" => write!(out, "{}", self.0 / 1_000_000),
            shortest => write!(out, "{}.{shortest}", self.0 / 1_000_000),
        }
    }
}
