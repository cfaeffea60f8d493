use super::*;
use crate::offer::BodyEnd;
use crate::time::Timestamp;

fn to(lines: &[&str]) -> (Redirect, Option<&'static str>) {
    let headers: Vec<_> = lines.iter().map(|line| ("Location".to_owned(), line.as_bytes().to_vec())).collect();
    let exchange = Exchange {
        url: "https://api.example.com/v1/paid?x=1",
        method: "GET",
        status: 307,
        headers: &headers,
        body: b"",
        body_end: BodyEnd::Whole,
        seen_at: Timestamp::from_seconds(0),
        keys: &[],
    };
    let (redirect, found) = read(&exchange);
    (redirect, found.map(|finding| finding.rule))
}

#[test]
fn where_a_redirect_leads_is_told() {
    let (away, open) = (Some("http.redirect_elsewhere"), Some("http.redirect_without_tls"));
    for (location, resolved, site, leads, rule) in [
        ("/v2/paid", "https://api.example.com/v2/paid", "example.com", Leads::SameSite, None),
        ("other#top", "https://api.example.com/v1/other", "example.com", Leads::SameSite, None),
        ("https://pay.example.com/", "https://pay.example.com/", "example.com", Leads::SameSite, None),
        ("http://api.example.com/", "http://api.example.com/", "example.com", Leads::WithoutTls, open),
        ("https://example.com.example.net/", "https://example.com.example.net/", "example.net", Leads::Elsewhere, away),
        ("//example.org/x", "https://example.org/x", "example.org", Leads::Elsewhere, away),
        (
            "https://api.example.com@example.net/",
            "https://api.example.com@example.net/",
            "example.net",
            Leads::Elsewhere,
            away,
        ),
        ("http://169.254.169.254/latest/", "http://169.254.169.254/latest/", "169.254.169.254", Leads::Elsewhere, away),
    ] {
        let wanted = Redirect { location: resolved.to_owned(), site: Some(site.to_owned()), leads };
        assert_eq!(to(&[location]), (wanted, rule), "{location}");
    }
}

#[test]
fn a_redirect_that_names_no_address_leads_nowhere() {
    for (lines, seen) in [
        (&[][..], "absent"),
        (&["https://a.example/", "https://b.example/"], "https://a.example/, https://b.example/"),
        (&["https://[/"], "https://[/"),
        (&["mailto:sales@example.com"], "mailto:sales@example.com"),
    ] {
        let wanted = Redirect { location: seen.to_owned(), site: None, leads: Leads::Nowhere };
        assert_eq!(to(lines), (wanted, Some("http.redirect_nowhere")), "{lines:?}");
    }
}

/// 200 characters and the mark; letters that steer a terminal never get through.
#[test]
fn what_a_redirect_says_is_capped_and_cleaned() {
    let (long, _) = to(&[&format!("https://example.net/{}", "x".repeat(3000))]);
    assert_eq!(long.location.chars().count(), 201);
    let (steering, _) = to(&["mailto:\u{1b}[2J\u{202e}"]);
    assert!(!steering.location.contains(['\u{1b}', '\u{202e}']), "{}", steering.location);
}
