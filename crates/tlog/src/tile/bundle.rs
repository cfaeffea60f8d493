//! Entry bundles: the entries of one tile's width, each behind its length as two bytes, big-endian.

/// The longest entry the two length bytes can announce.
pub const MAX_ENTRY: usize = 65_535;

/// The longest bundle in bytes: 256 entries, each as long as can be. No other file of a log is longer.
pub const MAX_BUNDLE: usize = super::FULL_WIDTH as usize * (2 + MAX_ENTRY);

/// The bytes are not a bundle of the width asked for, or the entries do not fit in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// Not 1 to 256 entries, or fewer or more than announced.
    #[error("the bundle holds another number of entries than its width")]
    Width,
    /// An entry is longer than [`MAX_ENTRY`].
    #[error("an entry is longer than 65,535 bytes")]
    EntryTooLong,
    /// The bytes end inside an entry.
    #[error("the bundle ends inside an entry")]
    Truncated,
}

impl BundleError {
    /// A stable word for the caller.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Width => "bundle_width",
            Self::EntryTooLong => "entry_too_long",
            Self::Truncated => "bundle_truncated",
        }
    }
}

/// Writes 1 to 256 entries as one bundle.
pub fn encode<E: AsRef<[u8]>>(entries: &[E]) -> Result<Vec<u8>, BundleError> {
    if !(1..=usize::from(super::FULL_WIDTH)).contains(&entries.len()) {
        return Err(BundleError::Width);
    }
    let mut bytes = Vec::new();
    for entry in entries {
        let entry = entry.as_ref();
        let length = u16::try_from(entry.len()).map_err(|_| BundleError::EntryTooLong)?;
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(entry);
    }
    Ok(bytes)
}

/// Reads a bundle of exactly `width` entries, 1 to 256; nothing may follow them.
pub fn decode(bytes: &[u8], width: u16) -> Result<Vec<&[u8]>, BundleError> {
    if !(1..=super::FULL_WIDTH).contains(&width) {
        return Err(BundleError::Width);
    }
    let mut entries = Vec::with_capacity(usize::from(width));
    let mut rest = bytes;
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk().ok_or(BundleError::Truncated)?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (entry, after) = after.split_at_checked(length).ok_or(BundleError::Truncated)?;
        entries.push(entry);
        if entries.len() > usize::from(width) {
            return Err(BundleError::Width);
        }
        rest = after;
    }
    if entries.len() == usize::from(width) { Ok(entries) } else { Err(BundleError::Width) }
}

/// The first `width` entries of a bundle, as bytes: what a partial bundle is of the later full one. `None` when the
/// bytes hold fewer whole entries.
pub fn prefix(bytes: &[u8], width: u16) -> Option<&[u8]> {
    let mut end = 0usize;
    for _ in 0..width {
        let length = bytes.get(end..)?.first_chunk()?;
        end += 2 + usize::from(u16::from_be_bytes(*length));
    }
    bytes.get(..end)
}
