//! What `lab --list` says is what checks say: every line of the list is tried as a reader of it would.

use super::*;
use crate::commands::lab::describe;

/// Whether the last of the looks that the line asks for answers what the line expects.
async fn true_of(listed: &Value, checker: &Checker, env: &Env) -> bool {
    let number = |name: &str| listed[name].as_i64().unwrap_or_else(|| panic!("{name} in {listed}"));
    let looks = (u8::try_from(number("looks")).unwrap(), number("seconds_apart") * 1000);
    let expect = &listed["expect"];
    let document = match last_look(checker, env, listed["url"].as_str().unwrap(), looks).await.unwrap() {
        Err(error) => return *expect == json!({"word": null, "rule": null, "refused": error.code()}),
        Ok(checked) => checked.document,
    };
    let mut found = document["findings"].as_array().into_iter().flatten().map(|finding| &finding["rule"]);
    let rule = match (&expect["rule"], expect["word"].as_str()) {
        (Value::Null, _) => true,
        (rule, Some("payable")) => found.any(|found| found == rule),
        (rule, _) => document["word_rule"] == *rule,
    };
    document["word"] == expect["word"] && rule && document["transport"]["refused"] == expect["refused"]
}

#[tokio::test]
async fn every_line_of_the_list_of_sellers_is_what_the_last_of_its_looks_answers() {
    let folder = tempfile::tempdir().unwrap();
    let (global, lab) = (Global { quiet: true, ..Global::default() }, lab::start(0, app::now()).unwrap());
    let settings = lab_settings(&global, folder.path(), &lab).unwrap();
    let env = Arc::new(Env::Moved(AtomicI64::new(0)));
    let checker = app::checker(&settings, &global, Arc::clone(&env), Misses::Leafless).await.unwrap();
    let (mut several, mut elsewhere, mut wrong) = (0, 0, Vec::new());
    for seller in lab::sellers() {
        let listed = describe(seller, lab.port);
        several += usize::from(listed["looks"] != 1);
        elsewhere += usize::from(listed["url"] != format!("https://{}.localhost:{}/paid", seller.name, lab.port));
        if !true_of(&listed, &checker, &env).await {
            wrong.push(listed);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!((several, elsewhere), (12, 4), "sellers of which one look at the usual address says something else");
}
