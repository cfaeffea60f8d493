//! Where a data directory keeps its log, and how a log begins.
//!
//! The first append makes the log. It is made once only: keys that signed without their log mean that the log was lost,
//! and a new one under the same keys would sign a second history. So before its first signature a log leaves a mark
//! beside its keys, and the file that remembers the newest head lies outside the log's folder too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_tlog::checkpoint::Origin;
use countersign_tlog::key::VerifierKey;
use countersign_tlog::note::Note;
use countersign_tlog::policy::Policy;
use countersign_tlog::sequencer::disk::{Disk, RealDisk};
use countersign_tlog::sequencer::tiles::Tiles;
use countersign_tlog::sequencer::{self, InitError, OpenError};

use super::LogError;
use super::seeds::{Seeds, SeedsOf};
use crate::env::Env;
use crate::files::{Readers, private_dir, replace, sync_parent};

/// The paths of one data directory's log.
#[derive(Clone, Debug)]
pub struct Place {
    data: PathBuf,
}

impl Place {
    /// The log of this data directory.
    pub fn new(data: &Path) -> Self {
        Self { data: data.to_owned() }
    }

    /// Segments, tiles and the public checkpoint.
    pub fn log(&self) -> PathBuf {
        self.data.join("log")
    }

    /// The trust policy of this log, for whoever reads its receipts.
    pub fn trust(&self) -> PathBuf {
        self.log().join("trust")
    }

    /// The trust policy that the log has left, or, where it is gone or damaged, the one that its keys give.
    pub(crate) fn shown_trust(&self) -> Result<String, LogError> {
        let path = self.trust();
        let damaged = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let reads = |text: String| Policy::parse(text.as_bytes()).map(|_| text).map_err(damaged);
        fs::read_to_string(&path).and_then(reads).or_else(|source| match self.seeds()? {
            Some(seeds) => Ok(seeds.keys()?.trust()),
            None => Err(LogError::Io { path, source }),
        })
    }

    /// The receipts of key changes. They lie with the log and not in the database: they say what this log holds, and a
    /// database that was restored or replaced must not make a second leaf of what is logged.
    pub fn key_receipts(&self) -> PathBuf {
        self.log().join("keys")
    }

    /// Whether a log was made here, lost or not.
    ///
    /// # Errors
    /// [`LogError::Seeds`] when its keys do not read.
    pub fn has_log(&self) -> Result<bool, LogError> {
        Ok(!matches!(self.found()?, Found::Nothing))
    }

    /// The name of the log that can be signed for here; none where no log was begun. Only reads.
    ///
    /// # Errors
    /// [`LogError::Seeds`] when its keys do not read or are another log's, `Lost` and `Keyless` when half of it is gone.
    pub fn signer(&self) -> Result<Option<Origin>, LogError> {
        let seeds = match self.found()? {
            Found::Nothing => return Ok(None),
            Found::Keys(seeds) | Found::Log(seeds) => seeds,
            Found::KeysOfLostLog => return Err(LogError::Lost(self.log())),
            Found::LogOfLostKeys => return Err(LogError::Keyless(self.seeds_file())),
        };
        let ours = seeds.keys()?.trust();
        match fs::read_to_string(self.trust()) {
            // One that does not read names no keys. Seeds that name theirs do without it: the log's start writes it anew.
            Ok(trust) if trust != ours && (seeds.is_unnamed() || Policy::parse(trust.as_bytes()).is_ok()) => {
                Err(self.others(&seeds, &self.trust().display().to_string()))
            }
            _ => Ok(Some(seeds.origin)),
        }
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.log().join("log.sock")
    }

    /// What was signed last, outside the log's folder: it outlives one that is restored from an older copy.
    pub(crate) fn second_record(&self) -> PathBuf {
        self.data.join("log-head")
    }

    fn seeds_file(&self) -> PathBuf {
        self.data.join("keys").join("log.seeds")
    }

    /// Names the key under which a log was begun. It lies with the keys and not with the log, to outlive it.
    fn mark(&self) -> PathBuf {
        self.data.join("keys").join("log.begun")
    }

    /// The log's keys, when there are any, and when nothing here names others.
    pub(super) fn seeds(&self) -> Result<Option<Seeds>, LogError> {
        // Looked at before the mark, which a log that begins just now writes before this.
        let signed = self.second_record().exists() || self.log().join("head").exists();
        let Some(seeds) = Seeds::load(SeedsOf::Log, &self.seeds_file())? else { return Ok(None) };
        let differs = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| seeds.differ_from(&text));
        // The mark of a log that was given up stays until the next one signs. Whose seeds do not say which keys they
        // give, may be that log still, with a seed that is damaged.
        let mark = (signed || seeds.is_unnamed()).then(|| self.mark());
        match mark.into_iter().chain([self.trust()]).find(differs) {
            Some(by) => Err(self.others(&seeds, &by.display().to_string())),
            None => Ok(Some(seeds)),
        }
    }

    /// What to say of keys that are not those that `by` names.
    fn others(&self, seeds: &Seeds, by: &str) -> LogError {
        let (path, why) = (self.seeds_file(), format!("its keys are not the ones that {by} names"));
        if seeds.is_unnamed() { LogError::SeedsDamaged { path, why } } else { LogError::Seeds { path, why } }
    }

    /// Refuses seeds that do not say which keys they give, where neither the trust policy names both, nor both have signed
    /// the published checkpoint: the log's own start would take it for damaged, and sign another.
    pub(super) fn vouched(&self, seeds: &Seeds, tiles: &dyn Tiles) -> Result<(), LogError> {
        let trust = seeds.keys()?.trust();
        if !seeds.is_unnamed() || fs::read_to_string(self.trust()).is_ok_and(|there| there == trust) {
            return Ok(());
        }
        let Some(published) = tiles.published().map_err(OpenError::Tiles)? else { return Ok(()) };
        let note = Note::parse(&published).ok();
        let both = |note: &Note| note.verify(seeds.vkeys()).is_ok_and(|lines| lines.len() == seeds.vkeys().len());
        // One that does not read says nothing of the keys.
        if note.is_none_or(|note| both(&note)) { Ok(()) } else { Err(self.others(seeds, "the published checkpoint")) }
    }

    /// The keys of a log that is there. Makes keys and log when there never were any.
    pub(super) fn seeds_or_new(&self, env: &Env) -> Result<Seeds, LogError> {
        match self.found()? {
            Found::Nothing => self.init(env, None),
            Found::Keys(seeds) => self.make(seeds),
            Found::Log(seeds) => Ok(seeds),
            Found::KeysOfLostLog => Err(LogError::Lost(self.log())),
            Found::LogOfLostKeys => Err(LogError::Keyless(self.seeds_file())),
        }
    }

    /// Makes an empty log with fresh keys, named `origin` or after its key.
    ///
    /// # Errors
    /// [`LogError`]; [`InitError::Exists`] when there is a log, `Lost` and `Keyless` when there was one.
    pub fn create(&self, env: &Env, origin: Option<Origin>) -> Result<(), LogError> {
        let made = match self.found()? {
            Found::Nothing => self.init(env, origin),
            Found::Keys(seeds) if origin.is_none_or(|origin| origin == seeds.origin) => self.make(seeds),
            Found::Keys(_) | Found::Log(_) => Err(LogError::Init(InitError::Exists(self.log()))),
            Found::KeysOfLostLog => Err(LogError::Lost(self.log())),
            Found::LogOfLostKeys => Err(LogError::Keyless(self.seeds_file())),
        };
        match made {
            // The keys are made, and whoever holds the folder finds them. Opening the log waits for its turn.
            Ok(_) | Err(LogError::Open(OpenError::Held(_))) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Why there is no log, where none was found.
    pub fn absent(&self) -> LogError {
        match self.found() {
            Ok(Found::KeysOfLostLog) => LogError::Lost(self.log()),
            Ok(Found::LogOfLostKeys) => LogError::Keyless(self.seeds_file()),
            Ok(Found::Nothing | Found::Keys(_) | Found::Log(_)) => LogError::NoLog,
            Err(error) => error,
        }
    }

    /// What lies here. Other processes may be in the middle of making it, in the order keys, log, mark, head: what comes
    /// last is looked at first, so that nothing seems lost which was not there yet.
    fn found(&self) -> Result<Found, LogError> {
        let signed = self.second_record().exists();
        let mark = read_mark(&self.mark()).map_err(|source| LogError::Io { path: self.mark(), source })?;
        let made = self.log().join("identity").exists();
        Ok(match self.seeds()? {
            Some(seeds) if made => Found::Log(seeds),
            Some(seeds) if signed || marks(mark.as_deref(), &seeds.name()) => Found::KeysOfLostLog,
            Some(seeds) => Found::Keys(seeds),
            None if made || signed => Found::LogOfLostKeys,
            None => Found::Nothing,
        })
    }

    /// Says for good that a log is begun under these keys, before they sign anything: from then on, keys without their
    /// log mean that it was lost. The log's own name is made durable before, or a power cut might leave the mark alone.
    pub(super) fn begin(&self, name: &str) -> io::Result<()> {
        let path = self.mark();
        let of_mark = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if marks(read_mark(&path).map_err(of_mark)?.as_deref(), name) {
            return Ok(());
        }
        // The folder above may not be ours to open.
        let _best_effort = sync_parent(&self.data);
        let written =
            sync_parent(&self.log()).and_then(|()| replace(&path, format!("{name}\n").as_bytes(), Readers::Owner));
        written.map_err(of_mark)
    }

    /// Keys first: a crash in between leaves keys that never signed, and the next start goes on from there.
    fn init(&self, env: &Env, origin: Option<Origin>) -> Result<Seeds, LogError> {
        let seeds = Seeds::new(SeedsOf::Log, env, origin)?;
        let seeds = seeds.store(&self.seeds_file())?;
        self.make(seeds)
    }

    fn make(&self, seeds: Seeds) -> Result<Seeds, LogError> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        private_dir(&self.log()).map_err(|source| LogError::Io { path: self.log(), source })?;
        match sequencer::init(&self.log(), &seeds.origin, &disk) {
            // Another process was faster; its log is ours.
            Ok(()) | Err(InitError::Exists(_)) => Ok(seeds),
            // Or it is in the middle of it. What is said is what is said of a log that is held, because the same helps.
            Err(InitError::Held(dir)) => Err(OpenError::Held(dir).into()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn write_trust(&self, trust: &str) -> Result<(), LogError> {
        let path = self.trust();
        if fs::read(&path).is_ok_and(|there| there == trust.as_bytes()) {
            return Ok(());
        }
        replace(&path, trust.as_bytes(), Readers::All).map_err(|source| LogError::Io { path, source })
    }
}

/// What lies in a data directory.
enum Found {
    /// No log was ever begun.
    Nothing,
    /// Keys that never signed: the making was cut short, or another process is in the middle of it.
    Keys(Seeds),
    /// A log and its keys.
    Log(Seeds),
    /// Keys that signed, and nothing of what they signed.
    KeysOfLostLog,
    /// A log that nobody can sign for.
    LogOfLostKeys,
}

fn read_mark(path: &Path) -> io::Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a mark is of the key of this name. One that names another key was left by a log that was given up; one that
/// does not read may be of any, and counts.
fn marks(mark: Option<&str>, name: &str) -> bool {
    mark.map(str::trim_end).is_some_and(|mark| mark == name || VerifierKey::parse(mark).is_err())
}
