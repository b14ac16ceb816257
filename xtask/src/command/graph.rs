//! The packages that builds are made of, as cargo says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Failure;
use super::process::{cargo, output};

/// Name and version.
pub(crate) type Key = (String, String);

/// What a package says of itself.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Its licence as an SPDX expression; older packages write `MIT/Apache-2.0`.
    pub(crate) license: Option<String>,
    pub(crate) license_file: Option<PathBuf>,
    pub(crate) authors: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) repository: Option<String>,
    /// The folder that holds it.
    pub(crate) folder: PathBuf,
    /// The registry it is from; a package of the workspace has none.
    pub(crate) source: Option<String>,
    /// Whether it may be published.
    pub(crate) published: bool,
    /// The packages that it is linked with.
    pub(crate) needs: BTreeSet<Key>,
    /// These, and the packages that its build script is linked with.
    pub(crate) compiled_after: BTreeSet<Key>,
}

impl Package {
    /// Whether it belongs to the workspace.
    pub(crate) fn is_ours(&self) -> bool {
        self.source.is_none()
    }
}

/// All packages of the workspace and what they need, with all features, for one target.
pub(crate) struct Graph(BTreeMap<Key, Package>);

impl Graph {
    /// Asks `cargo metadata`.
    ///
    /// # Errors
    ///
    /// If cargo fails: a package that is not on this machine cannot be fetched, or Cargo.lock is not current.
    pub(crate) fn read(root: &Path, target: &str) -> Result<Graph, Failure> {
        let text = output(
            Command::new(cargo())
                .args(["metadata", "--format-version=1", "--locked", "--all-features", "--filter-platform", target])
                .current_dir(root),
        )?;
        let metadata: Value = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let required = |package: &Value, name: &str| {
            text(&package[name]).ok_or_else(|| format!("cargo metadata: a package without {name}"))
        };
        let mut keys = BTreeMap::new();
        let mut packages = BTreeMap::new();
        for package in list(&metadata["packages"]) {
            let key = (required(&package, "name")?, required(&package, "version")?);
            keys.insert(required(&package, "id")?, key.clone());
            let manifest = PathBuf::from(required(&package, "manifest_path")?);
            let found = Package {
                name: key.0.clone(),
                version: key.1.clone(),
                license: text(&package["license"]),
                license_file: text(&package["license_file"]).map(PathBuf::from),
                authors: list(&package["authors"]).iter().filter_map(text).collect(),
                description: text(&package["description"]),
                repository: text(&package["repository"]),
                folder: manifest.parent().map(Path::to_path_buf).unwrap_or_default(),
                source: text(&package["source"]),
                // An empty list of registries forbids publication.
                published: package["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
                needs: BTreeSet::new(),
                compiled_after: BTreeSet::new(),
            };
            packages.insert(key, found);
        }
        for node in list(&metadata["resolve"]["nodes"]) {
            let Some(package) = key_of(&node["id"], &keys).and_then(|key| packages.get_mut(&key)) else { continue };
            let of_kinds = |kinds: &[Value]| {
                let deps = list(&node["deps"]);
                let is_wanted =
                    |needed: &&Value| list(&needed["dep_kinds"]).iter().any(|kind| kinds.contains(&kind["kind"]));
                deps.iter().filter(is_wanted).filter_map(|needed| key_of(&needed["pkg"], &keys)).collect()
            };
            package.needs = of_kinds(&[Value::Null]);
            package.compiled_after = of_kinds(&[Value::Null, "build".into()]);
        }
        Ok(Graph(packages))
    }

    /// All of them, by name and version.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &Package> {
        self.0.values()
    }

    /// Some of them, in order.
    ///
    /// # Errors
    ///
    /// If one is not in the graph.
    pub(crate) fn select(&self, keys: &BTreeSet<Key>) -> Result<Vec<&Package>, Failure> {
        let find = |key: &Key| {
            self.0.get(key).ok_or_else(|| {
                format!("cargo metadata does not know {} {}, which cargo tree names", key.0, key.1).into()
            })
        };
        keys.iter().map(find).collect()
    }

    /// The packages that are published, each behind those that it needs.
    pub(crate) fn published(&self) -> Vec<&Package> {
        let mut left: Vec<&Package> =
            self.packages().filter(|package| package.is_ours() && package.published).collect();
        let mut sorted: Vec<&Package> = Vec::new();
        while let Some(next) = left.iter().position(|package| {
            !left.iter().any(|other| package.needs.contains(&(other.name.clone(), other.version.clone())))
        }) {
            sorted.push(left.remove(next));
        }
        sorted
    }
}

fn key_of(id: &Value, keys: &BTreeMap<String, Key>) -> Option<Key> {
    keys.get(id.as_str()?).cloned()
}

/// Which packages of a build `cargo tree` lists.
pub(crate) struct Tree<'a> {
    pub(crate) package: &'a str,
    pub(crate) target: &'a str,
    pub(crate) all_features: bool,
    /// `normal,no-proc-macro`: what is linked; `normal,build`: whatever is compiled.
    pub(crate) edges: &'a str,
    /// Whether packages that are not on this machine are an error instead of being fetched.
    pub(crate) offline: bool,
}

impl Tree<'_> {
    /// The packages, the root included.
    ///
    /// # Errors
    ///
    /// If cargo fails, as for [`Graph::read`].
    pub(crate) fn list(&self, root: &Path) -> Result<BTreeSet<Key>, Failure> {
        let mut command = Command::new(cargo());
        command.args(["tree", "--locked", "--prefix=none", "--no-dedupe", "--format={p}", "--package", self.package]);
        command.args(["--target", self.target, "--edges", self.edges]);
        command.args(self.all_features.then_some("--all-features")).args(self.offline.then_some("--offline"));
        let text = output(command.current_dir(root))?;
        let key = |line: &str| {
            let mut words = line.split(' ');
            Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
        };
        Ok(text.lines().filter_map(key).collect())
    }
}
