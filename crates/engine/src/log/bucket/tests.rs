use std::sync::atomic::{AtomicUsize, Ordering};

use countersign_core::leaf::LeafType;
use countersign_probe::Limits;
use countersign_probe::testkit::{Behaviour, Server};
use countersign_tlog::tile::Content;
use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;

use super::*;
use crate::fsck::{self, FaultKind};
use crate::log::{LogBook, Place};

fn path(n: u64) -> TilePath {
    TilePath::full_at(Content::Hashes(0), n)
}

fn memory(store: &Arc<InMemory>, data: &Path) -> BucketTiles {
    let store: Arc<dyn ObjectStore> = Arc::<InMemory>::clone(store);
    BucketTiles::over(store, "logs/one".to_owned(), &Place::new(data).log()).unwrap()
}

#[test]
fn a_bucket_is_named_like_everywhere() {
    for text in ["s3://tiles", "s3://my.tiles-2/logs/one", "s3://tiles/a_b"] {
        assert_eq!(text.parse::<Bucket>().unwrap().to_string(), text);
    }
    assert_eq!("s3://tiles/logs/".parse::<Bucket>().unwrap().to_string(), "s3://tiles/logs");
    for text in [
        "",
        "tiles",
        "s3://",
        "s3://ab",
        "s3:///logs",
        "s3://tiles//x",
        "s3://tiles/../x",
        "s3://tiles/a?b",
        "s3://a b/c",
    ] {
        assert_eq!(text.parse::<Bucket>(), Err(BucketError), "{text}");
    }
}

#[test]
fn a_tile_is_written_once_and_found_again() {
    let (data, store) = (tempfile::tempdir().unwrap(), Arc::new(InMemory::new()));
    let tiles = memory(&store, data.path());
    assert_eq!(tiles.get(&path(7)), Ok(None));
    assert_eq!(tiles.put(&path(7), b"one"), Ok(()));
    assert_eq!(tiles.put(&path(7), b"one"), Ok(()), "the same again");
    assert_eq!(tiles.put(&path(7), b"two"), Err(TilesError::Conflict(path(7))));
    assert_eq!(tiles.get(&path(7)), Ok(Some(b"one".to_vec())));
}

/// Other documents in each round: the same one again would be the same leaf.
fn append(book: &LogBook, round: &str, leaves: usize) {
    book.hold().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..20 {
            scope.spawn(move || {
                for n in 0..leaves / 20 {
                    book.append(LeafType::decision(), format!("{{\"n\":\"{round}.{thread}.{n}\"}}").as_bytes())
                        .unwrap();
                }
            });
        }
    });
}

/// A log of 300 leaves begins in its folder and goes on in a bucket, which gets what the segments still hold.
fn lives_in(data: &Path, tiles: &Arc<BucketTiles>) {
    let env = || Arc::new(Env::Real);
    append(&LogBook::serving(data, env()), "folder", 300);
    assert!(data.join("log/tile/entries/000").exists() && data.join("log/tile/0/000").exists(), "control");

    let book = |tiles: &Arc<BucketTiles>| {
        let tiles: Arc<dyn Tiles> = Arc::<BucketTiles>::clone(tiles);
        LogBook::serving(data, env()).stored_in(tiles)
    };
    append(&book(tiles), "bucket", 300);
    assert!(!data.join("log/tile/entries/001").exists(), "what filled up later is not in the folder");
    for kind in [Content::Entries, Content::Hashes(0)] {
        for n in [0, 1] {
            assert_eq!(tiles.holds(&TilePath::full_at(kind, n)), Ok(true), "but in the bucket");
        }
        assert_eq!(tiles.holds(&TilePath::full_at(kind, 2)), Ok(false), "and nothing else is");
    }
    let whole = fsck::check(data, &**tiles).unwrap();
    assert_eq!((whole.checkpoint.size, whole.report.bundles), (600, 3));

    // Without the bucket nothing is said of what it holds.
    let folder = fsck::check(data, &DirTiles::new(&Place::new(data).log())).unwrap_err();
    assert_eq!((folder.code(), folder.kind()), ("fsck_lacking", FaultKind::Lacks));
    append(&book(tiles), "after", 20);
}

#[test]
fn a_log_goes_on_in_a_bucket() {
    let (data, store) = (tempfile::tempdir().unwrap(), Arc::new(InMemory::new()));
    let tiles = Arc::new(memory(&store, data.path()));
    lives_in(data.path(), &tiles);

    let altered = object_store::path::Path::from("logs/one/tile/entries/001");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.put(&altered, b"other".to_vec().into())).unwrap();
    assert_eq!(fsck::check(data.path(), &*tiles).unwrap_err().kind(), FaultKind::Differs);
}

/// What fsck says of a log whose tiles should be in this bucket.
fn said(data: &Path, tiles: &BucketTiles) -> Result<u64, (String, &'static str)> {
    let whole = fsck::check(data, tiles).map(|whole| whole.checkpoint.size);
    whole.map_err(|fault| {
        assert_eq!((fault.code(), fault.kind()), ("fsck_lacking", FaultKind::Lacks));
        (fault.to_string(), fault.hint())
    })
}

/// Who is told `whole` may delete the folder.
#[test]
fn a_bucket_is_whole_when_it_holds_everything_itself() {
    let (data, store) = (tempfile::tempdir().unwrap(), Arc::new(InMemory::new()));
    append(&LogBook::serving(data.path(), Arc::new(Env::Real)), "folder", 520);
    let (tiles, folder) = (memory(&store, data.path()), data.path().join("log/tile"));
    let (before, copy) = ("the tile storage lacks what the log has stored: ", "only in the data directory's log/tile/");
    let files: Vec<_> = [0, 1].into_iter().flat_map(countersign_tlog::tile::completed_by).collect();

    for (n, path) in files.iter().enumerate() {
        let lacking: Vec<_> = files[n..].iter().map(|path| format!("{path}, {copy}")).collect();
        let (reason, hint) = said(data.path(), &tiles).unwrap_err();
        assert_eq!(reason, format!("{before}{}", lacking.join("; ")));
        assert!(hint.starts_with("copy `log/tile/`"), "{hint}");
        tiles.put(path, &std::fs::read(data.path().join("log").join(path.to_string())).unwrap()).unwrap();
    }
    assert_eq!(said(data.path(), &tiles), Ok(520), "the control: all of it was copied");

    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(said(data.path(), &tiles), Ok(520), "and the folder is not needed any more");
    let (reason, hint) = said(data.path(), &memory(&Arc::new(InMemory::new()), data.path())).unwrap_err();
    assert!(reason.starts_with(&format!("{before}tile/entries/000, only in write-ahead segments; ")), "{reason}");
    assert!(hint.contains("log serve"), "{hint}");
}

/// The real client, to a port where nobody listens.
fn away(data: &Path) -> BucketTiles {
    client("http://127.0.0.1:1", &"s3://tiles".parse().unwrap(), data)
}

fn client(endpoint: &str, bucket: &Bucket, data: &Path) -> BucketTiles {
    let account = AmazonS3Builder::new()
        .with_endpoint(endpoint)
        .with_region("eu-central-1")
        .with_access_key_id("test")
        .with_secret_access_key("test");
    let services = Services::new(&[], Limits { body: 17 << 20, ..Limits::default() }).unwrap();
    BucketTiles::configured(account, bucket, &Place::new(data).log(), services, Arc::new(Env::Real)).unwrap()
}

#[test]
fn a_bucket_that_is_away_delays_no_receipt_and_is_told_once() {
    let data = tempfile::tempdir().unwrap();
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let book = LogBook::serving(data.path(), Arc::new(Env::Real))
        .stored_in(Arc::new(away(data.path())))
        .when_storage_turns(move |error| {
            assert!(matches!(error, Some(TilesError::Unavailable(_))), "{error:?}");
            count.fetch_add(1, Ordering::Relaxed);
        });
    append(&book, "away", 300);
    drop(book);
    assert_eq!(told.load(Ordering::Relaxed), 1);
    // What could not be stored is in the segments, and is stored once there is a place again.
    let tiles = memory(&Arc::new(InMemory::new()), data.path());
    let tiles = Arc::new(tiles);
    let kept: Arc<dyn Tiles> = Arc::<BucketTiles>::clone(&tiles);
    drop(LogBook::serving(data.path(), Arc::new(Env::Real)).stored_in(kept).hold().unwrap());
    assert!(tiles.fetch(&path(0)).unwrap().is_some());
}

/// Against a server that speaks S3: `COUNTERSIGN_TEST_S3` names it, such as `http://127.0.0.1:5555` of `moto_server`.
#[test]
fn a_server_that_speaks_s3_holds_a_log() {
    let Ok(endpoint) = std::env::var("COUNTERSIGN_TEST_S3") else {
        return println!("skipped: COUNTERSIGN_TEST_S3 names no server that speaks S3");
    };
    let data = tempfile::tempdir().unwrap();
    let name = format!("tiles-{}", hex::encode(&Env::Real.random().unwrap()[..8]));
    let bucket: Bucket = format!("s3://{name}/logs/one").parse().unwrap();
    let tiles = Arc::new(client(&endpoint, &bucket, data.path()));
    assert!(matches!(tiles.put(&path(0), b"x"), Err(TilesError::Unavailable(_))), "there is no such bucket yet");
    made(&endpoint, &name);
    lives_in(data.path(), &tiles);
    assert_eq!(tiles.put(&path(1), b"other"), Err(TilesError::Conflict(path(1))));
}

#[expect(clippy::disallowed_methods, reason = "a test is its own configuration")]
fn made(endpoint: &str, bucket: &str) {
    use countersign_probe::configured::ConfiguredUrl;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let services = Services::new(&[], Limits::default()).unwrap();
    let url = ConfiguredUrl::from_configuration(endpoint).unwrap().below(bucket).unwrap();
    let request = hyper::Request::put(endpoint).body(bytes::Bytes::new()).unwrap();
    let answer = runtime.block_on(services.exchange(&url, &request, Env::Real.now())).unwrap();
    assert_eq!(answer.status().as_u16(), 200);
}

/// The real client, to a server that gives every request this answer.
fn answered(status: &str, body: &str, then: impl Fn(&BucketTiles)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let say = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let server = runtime.block_on(Server::start_http(Behaviour::Say(say.into()))).unwrap();
    let data = tempfile::tempdir().unwrap();
    let bucket = "s3://tiles/logs/one".parse().unwrap();
    then(&client(&format!("http://127.0.0.1:{}", server.port()), &bucket, data.path()));
}

fn refusal(code: &str) -> String {
    let message = "words that a server may make as long as it likes ".repeat(20);
    format!("<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>")
}

/// The codes are those of the Amazon S3 API reference, "List of error codes".
#[test]
fn the_word_of_s3_comes_first_with_what_to_do() {
    for (status, code, remedy) in [
        ("403 Forbidden", "AccessDenied", "s3:GetObject"),
        ("403 Forbidden", "SignatureDoesNotMatch", "correct AWS_SECRET_ACCESS_KEY"),
        ("404 Not Found", "NoSuchBucket", "correct its name in --tiles"),
        ("400 Bad Request", "AuthorizationHeaderMalformed", "set AWS_REGION"),
    ] {
        answered(status, &refusal(code), |tiles| {
            for said in [tiles.put(&path(0), b"x").unwrap_err(), tiles.get(&path(0)).unwrap_err()] {
                let said = said.to_string();
                assert!(said.starts_with(&format!("tile storage: the bucket answers {code}: words")), "{said}");
                assert!(said.contains(remedy), "{said}");
            }
        });
    }
    let data = tempfile::tempdir().unwrap();
    let said = away(data.path()).get(&path(0)).unwrap_err().to_string();
    assert!(said.starts_with("tile storage: the bucket: http://127.0.0.1:1: connect_failed"), "{said}");
}

#[test]
fn a_bucket_that_is_not_there_is_no_bucket_without_the_tile() {
    answered("404 Not Found", &refusal("NoSuchKey"), |tiles| {
        assert_eq!((tiles.get(&path(0)), tiles.ask()), (Ok(None), Asked::There));
    });
    answered("404 Not Found", &refusal("NoSuchBucket"), |tiles| {
        assert!(tiles.get(&path(0)).is_err());
        assert!(matches!(tiles.ask(), Asked::NoBucket(_)));
    });
    answered("403 Forbidden", &refusal("AccessDenied"), |tiles| assert!(matches!(tiles.ask(), Asked::Away(_))));
    answered("200 OK", "a bundle", |tiles| assert_eq!(tiles.ask(), Asked::There));
}

#[test]
fn without_credentials_nobody_is_asked_for_some() {
    let log = tempfile::tempdir().unwrap();
    let open = |account: AmazonS3Builder| {
        let services = Services::new(&[], Limits::default()).unwrap();
        let bucket = "s3://tiles".parse().unwrap();
        BucketTiles::configured(account, &bucket, log.path(), services, Arc::new(Env::Real)).map(drop)
    };
    let none = AmazonS3Builder::new().with_region("eu-central-1");
    assert_eq!(open(none.clone()).map_err(|error| error.code()), Err("tiles_no_credentials"));
    let empty = none.clone().with_access_key_id("").with_secret_access_key("");
    assert_eq!(open(empty).map_err(|error| error.code()), Err("tiles_no_credentials"));
    assert_eq!(open(none.clone().with_access_key_id("half")).map_err(|error| error.code()), Err("tiles_settings"));
    assert_eq!(open(none.clone().with_access_key_id("a").with_secret_access_key("b")), Ok(()), "the control");
    let role = none.with_config(AmazonS3ConfigKey::MetadataEndpoint, "http://169.254.169.254");
    assert_eq!(open(role), Ok(()), "only who asks for it");
}
