//! The address of a service, as configuration names it.

use std::fmt;

use url::Url;

/// An `http` or `https` URL that the operator of this machine wrote into its configuration. It may name a private
/// address. There is no way from a stranger's URL to this type: only whoever reads the settings makes one
/// (`clippy.toml` holds everybody else to it), and what is added later cannot leave its origin.
///
/// Chain and facilitator URLs often carry a key in path or query, so only the origin is ever printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfiguredUrl(Url);

/// Why a text of the configuration is no address of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfiguredUrlError {
    /// Not a URL.
    #[error("it is not a URL")]
    Malformed,
    /// Neither http nor https.
    #[error("it must start with http:// or https://")]
    Scheme,
    /// A user name or a password.
    #[error("it carries a user name or a password")]
    Userinfo,
    /// A fragment, which is never sent.
    #[error("it has a fragment, which is never sent")]
    Fragment,
    /// A path that could leave the service: empty or dotted segments, or other characters than letters, digits, `-._~`.
    #[error("the path below it is not plain")]
    Path,
}

impl ConfiguredUrl {
    /// Reads a setting.
    ///
    /// # Errors
    /// [`ConfiguredUrlError`] names the first rule that the text breaks.
    pub fn from_configuration(text: &str) -> Result<Self, ConfiguredUrlError> {
        let url = Url::parse(text.trim()).map_err(|_| ConfiguredUrlError::Malformed)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ConfiguredUrlError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ConfiguredUrlError::Userinfo);
        }
        if url.fragment().is_some() {
            return Err(ConfiguredUrlError::Fragment);
        }
        Ok(Self(url))
    }

    /// The same service, `path` further down: `https://log.example/a` and `tile/0/001` make
    /// `https://log.example/a/tile/0/001`. A query of the setting is kept.
    ///
    /// # Errors
    /// [`ConfiguredUrlError::Path`] when `path` is not plain segments.
    pub fn below(&self, path: &str) -> Result<Self, ConfiguredUrlError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let segment = |text: &str| !matches!(text, "" | "." | "..") && text.bytes().all(plain);
        if !path.split('/').all(segment) {
            return Err(ConfiguredUrlError::Path);
        }
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        Ok(Self(url))
    }

    /// The same address with these pairs added to its query, escaped.
    #[must_use]
    pub fn with_query(&self, pairs: &[(&str, &str)]) -> Self {
        let mut url = self.0.clone();
        url.query_pairs_mut().extend_pairs(pairs);
        Self(url)
    }

    /// Scheme, host and port: what may be shown.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

impl fmt::Debug for ConfiguredUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ConfiguredUrl({}/…)", self.origin())
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests are their own configuration")]
mod tests {
    use super::*;

    fn url(text: &str) -> ConfiguredUrl {
        ConfiguredUrl::from_configuration(text).unwrap()
    }

    #[test]
    fn what_configuration_may_name() {
        for text in [
            "http://10.0.0.1:8080/",
            "http://localhost/",
            "https://[::1]/x",
            "http://witness",
            "https://rpc.example/v1?key=1",
        ] {
            assert!(ConfiguredUrl::from_configuration(text).is_ok(), "{text}");
        }
        for (text, error) in [
            ("", ConfiguredUrlError::Malformed),
            ("witness", ConfiguredUrlError::Malformed),
            ("file:///etc/passwd", ConfiguredUrlError::Scheme),
            ("ftp://a.example/", ConfiguredUrlError::Scheme),
            ("https://me:secret@a.example/", ConfiguredUrlError::Userinfo),
            ("https://me@a.example/", ConfiguredUrlError::Userinfo),
            ("https://a.example/#x", ConfiguredUrlError::Fragment),
        ] {
            assert_eq!(ConfiguredUrl::from_configuration(text), Err(error), "{text}");
        }
    }

    #[test]
    fn what_is_added_stays_at_the_service() {
        let base = url("https://log.example/a/?key=1");
        assert_eq!(base.below("tile/0/x001").unwrap().url().as_str(), "https://log.example/a/tile/0/x001?key=1");
        let bare = url("https://log.example");
        assert_eq!(bare.below("checkpoint").unwrap().url().as_str(), "https://log.example/checkpoint");
        for path in [
            "",
            "/x",
            "x/",
            "a//b",
            "..",
            "a/../b",
            ".",
            "//evil.example/",
            "a?b",
            "a#b",
            "%2e%2e",
            "a\\b",
            "a b",
            "@x",
        ] {
            assert_eq!(base.below(path), Err(ConfiguredUrlError::Path), "{path}");
        }
        let asked = bare.with_query(&[("chain", "eip155:8453"), ("u", "https://a/?b&c#d")]);
        assert_eq!(asked.url().as_str(), "https://log.example/?chain=eip155%3A8453&u=https%3A%2F%2Fa%2F%3Fb%26c%23d");
    }

    #[test]
    fn a_key_in_the_address_is_never_printed() {
        let shown = format!("{:?}", url("https://rpc.example:8443/v1/SECRET?key=SECRET"));
        assert_eq!(shown, "ConfiguredUrl(https://rpc.example:8443/…)");
    }
}
