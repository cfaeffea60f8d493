use super::*;
use proptest::prelude::*;

fn domain(host: &str) -> Result<(String, bool), DomainError> {
    registrable(host).map(|domain| (domain.as_str().to_owned(), domain.shared_platform()))
}

#[test]
fn the_registrable_domain_follows_icann_and_private_rules() {
    for (host, expected, shared) in [
        ("mcp.linear.app", "linear.app", false),
        ("linear.app", "linear.app", false),
        ("www.example.co.uk", "example.co.uk", false),
        ("a.b.github.io", "b.github.io", true),
        ("x.vercel.app", "x.vercel.app", true),
        ("x.y.workers.dev", "y.workers.dev", true),
        ("foo.pages.dev", "foo.pages.dev", true),
        ("x.railway.app", "railway.app", false),
        ("x.up.railway.app", "x.up.railway.app", true),
        ("x.a.run.app", "x.a.run.app", true),
        ("www.ck", "www.ck", false),
        ("city.kawasaki.jp", "city.kawasaki.jp", false),
        ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp", false),
    ] {
        assert_eq!(domain(host), Ok((expected.to_owned(), shared)), "{host}");
    }
}

#[test]
fn a_public_suffix_has_no_domain() {
    for host in ["github.io", "vercel.app", "workers.dev", "co.uk", "foo.ck", "x.run.app"] {
        assert_eq!(domain(host), Err(DomainError::IsSuffix), "{host}");
    }
}

#[test]
fn a_shared_host_that_the_list_misses_shows_as_shared() {
    assert_eq!(domain("x.glitch.me"), Ok(("glitch.me".to_owned(), true)));
}

#[test]
fn letter_case_a_trailing_dot_and_unicode_do_not_matter() {
    for host in ["EXAMPLE.CO.UK", "example.co.uk.", "Www.Example.Co.Uk."] {
        assert_eq!(domain(host), Ok(("example.co.uk".to_owned(), false)), "{host}");
    }
    for host in ["www.bücher.de", "www.xn--bcher-kva.de", "WWW.XN--BCHER-KVA.DE"] {
        assert_eq!(domain(host), Ok(("xn--bcher-kva.de".to_owned(), false)), "{host}");
    }
}

#[test]
fn what_is_no_dns_name_is_stopped_before_the_list() {
    for (host, expected) in [
        ("192.168.0.1", DomainError::IpAddress),
        ("[::1]", DomainError::IpAddress),
        ("::1", DomainError::IpAddress),
        ("a.b.1", DomainError::IpAddress),
        ("", DomainError::EmptyLabel),
        (".", DomainError::EmptyLabel),
        ("a..b.com", DomainError::EmptyLabel),
        (".example.com", DomainError::EmptyLabel),
        ("example.com..", DomainError::EmptyLabel),
        ("a_b.com", DomainError::BadLabel),
        ("-a.com", DomainError::BadLabel),
        ("a-.com", DomainError::BadLabel),
        ("a b.com", DomainError::BadLabel),
        ("a.com:443", DomainError::BadLabel),
        ("xn--a.com", DomainError::BadLabel),
        ("com", DomainError::SingleLabel),
        ("foo.notatld", DomainError::UnknownSuffix),
    ] {
        assert_eq!(domain(host), Err(expected), "{host}");
    }
    assert_eq!(domain(&format!("{}.com", "a".repeat(64))), Err(DomainError::TooLong));
    assert_eq!(domain(&format!("{}com", "abcdefghi.".repeat(26))), Err(DomainError::TooLong));
}

#[test]
fn special_use_names_are_refused() {
    for host in [
        "localhost",
        "a.localhost",
        "a.local",
        "foo.internal",
        "a.test",
        "a.example",
        "a.invalid",
        "a.onion",
        "a.arpa",
        "a.home.arpa",
        "a.alt",
    ] {
        assert_eq!(domain(host), Err(DomainError::SpecialUse), "{host}");
    }
    assert!(domain("localhost.com").is_ok() && domain("myexample.com").is_ok());
}

#[test]
fn the_laboratory_gives_each_name_its_own_domain() {
    let lab = |host| registrable_lab(host).map(|domain| domain.as_str().to_owned());
    assert_eq!(lab("shop.localhost"), Ok("shop.localhost".to_owned()));
    assert_eq!(lab("api.Shop.localhost"), Ok("shop.localhost".to_owned()));
    assert_eq!(lab("mcp.linear.app"), Ok("linear.app".to_owned()));
    assert_eq!(lab("localhost"), Err(DomainError::SpecialUse));
    assert_eq!(lab("a.test"), Err(DomainError::SpecialUse));
}

proptest! {
    #[test]
    fn a_domain_is_a_fixed_point_and_ends_its_host(host in "[a-z]{1,8}(\\.[a-z]{1,8}){0,3}\\.(com|co\\.uk|github\\.io|dev)") {
        if let Ok(domain) = registrable(&host) {
            prop_assert!(host.ends_with(domain.as_str()));
            prop_assert_eq!(registrable(domain.as_str()), Ok(domain));
        }
    }

    #[test]
    fn no_text_panics(host in ".{0,80}") {
        let _ = (registrable(&host), registrable_lab(&host));
    }
}
