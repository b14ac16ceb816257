//! [`Cache`]: what was proved, by the hash of its text.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use vop::lower::Query;

/// The first 64 bits of the SHA-256 of a query's commands, without its comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(u64);

impl Hash {
    /// The hash of a query.
    pub fn of(query: &Query) -> Hash {
        let mut hasher = Sha256::new();
        for command in query.commands() {
            hasher.update(command.as_bytes());
            hasher.update(b"\n");
        }
        Hash(first(&hasher.finalize()))
    }

    /// The rank of this hash on a day, which may be any word. A day's sample are the hashes of the lowest ranks.
    pub fn rank(self, day: &str) -> u64 {
        let digest = Sha256::new().chain_update(day).chain_update(self.0.to_be_bytes()).finalize();
        first(&digest)
    }
}

fn first(digest: &[u8]) -> u64 {
    digest.iter().take(8).fold(0, |all, &byte| all << 8 | u64::from(byte))
}

/// 16 hexadecimal digits.
impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Hash, String> {
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| digits);
        number.map(Hash).ok_or_else(|| format!("`{text}` is no hash: 16 hexadecimal digits are"))
    }
}

/// Hashes of queries that a solver has proved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cache {
    hashes: BTreeSet<Hash>,
}

const HEADING: &str = "\
# Queries that z3 proved: of each the first 64 bits of the SHA-256 of its SMT-LIB commands, in ascending order.
# What proves (`vop prove --all --cache FILE`, of ports `cargo xtask port-prove`) adds what is missing, and leaves out what nothing asks.
";

impl Cache {
    /// Whether a query was proved.
    pub fn has(&self, hash: Hash) -> bool {
        self.hashes.contains(&hash)
    }

    /// Adds a query that was proved.
    pub fn insert(&mut self, hash: Hash) {
        self.hashes.insert(hash);
    }

    /// Keeps only the hashes that `keep` accepts.
    pub fn retain(&mut self, keep: impl FnMut(&Hash) -> bool) {
        self.hashes.retain(keep);
    }

    /// The number of hashes.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there is no hash.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Reads the text of a cache file: one hash per line. Lines that begin with `#` are comments.
    ///
    /// # Errors
    /// A sentence with the number of the line that holds no hash.
    pub fn parse(text: &str) -> Result<Cache, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let hashes = lines.map(|(i, line)| line.parse().map_err(|why| format!("line {}: {why}", i + 1)));
        Ok(Cache { hashes: hashes.collect::<Result<_, _>>()? })
    }

    /// Reads a cache file. A file that does not exist gives an empty cache.
    ///
    /// # Errors
    /// A sentence on why it cannot be read.
    pub fn load(path: &Path) -> Result<Cache, String> {
        let read = match std::fs::read_to_string(path) {
            Ok(text) => Cache::parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Cache::default()),
            Err(error) => Err(error.to_string()),
        };
        read.map_err(|why| format!("cannot read the cache {}: {why}", path.display()))
    }

    /// Writes a cache file: first beside its place, synced, then renamed, so that nobody reads half of it.
    ///
    /// # Errors
    /// A sentence on why it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), String> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(self.to_string().as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(path)?;
            // The name is on the disk as well, where folders can be synced.
            let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
            Ok(())
        };
        write().map_err(|error| format!("cannot write the cache {}: {error}", path.display()))
    }
}

/// The text of its file.
impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADING)?;
        self.hashes.iter().try_for_each(|hash| writeln!(f, "{hash}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_read_as_it_was_written() {
        let mut cache = Cache::default();
        assert_eq!(Cache::parse(&cache.to_string()), Ok(cache.clone()));
        for number in [u64::MAX, 0, 7 << 50] {
            cache.insert(Hash(number));
        }
        assert_eq!(Cache::parse(&cache.to_string()), Ok(cache.clone()));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("proofs.txt");
        assert_eq!(Cache::load(&path), Ok(Cache::default()));
        assert_eq!(cache.save(&path), Ok(()));
        assert_eq!(Cache::load(&path), Ok(cache));
        for text in ["+000000000000000", "00", "x"] {
            assert!(Cache::parse(text).is_err(), "{text}");
        }
    }
}
