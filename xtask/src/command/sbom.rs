//! The bill of materials of a build: CycloneDX 1.6 as JSON.
//!
//! It is made from the same lists of packages as the licence texts and docs/dependencies.md, so that the three cannot disagree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use spdx::Expression;

use super::Failure;
use super::graph::{Graph, Key, Package, Tree};
use super::process::output;

/// What a package of the workspace is linked with for a target, all features on.
///
/// # Errors
///
/// If cargo does not tell.
pub(crate) fn sbom(root: &Path, package: &str, target: &str) -> Result<String, Failure> {
    let tree =
        Tree { package, target, all_features: true, edges: "normal,no-proc-macro", offline: false }.list(root)?;
    let graph = Graph::read(root, target)?;
    let packages = graph.select(&tree)?;
    let lock = std::fs::read_to_string(root.join("Cargo.lock"))?;
    let rust = output(std::process::Command::new("rustc").arg("--version").current_dir(root))?;
    let bom = bom(package, target, &packages, &checksums(&lock)?, rust.split(' ').nth(1).unwrap_or("unknown"))?;
    Ok(format!("{bom:#}\n"))
}

/// The SHA-256 of each package of Cargo.lock that has one.
fn checksums(lock: &str) -> Result<BTreeMap<Key, String>, Failure> {
    let lock: toml::Table = lock.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(toml::Value::as_array).ok_or("Cargo.lock lists no package")?;
    let text = |package: &toml::Value, key: &str| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let row = |package| Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?));
    Ok(packages.iter().filter_map(row).collect())
}

fn bom(
    name: &str,
    target: &str,
    packages: &[&Package],
    checksums: &BTreeMap<Key, String>,
    rust: &str,
) -> Result<Value, Failure> {
    let reference = |package: &Package| format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"));
    let known: BTreeSet<Key> = packages.iter().map(|package| (package.name.clone(), package.version.clone())).collect();
    let by_key: BTreeMap<&Key, &&Package> = known.iter().zip(packages).collect();
    let component = |package: &Package, kind: &str| {
        let mut component = json!({
            "type": kind,
            "bom-ref": reference(package),
            "name": package.name,
            "version": package.version,
            "purl": reference(package),
        });
        if let Some(license) = &package.license {
            let canonical = Expression::canonicalize(license).ok().flatten();
            component["licenses"] = json!([{ "expression": canonical.as_deref().unwrap_or(license) }]);
        }
        if let Some(description) = &package.description {
            component["description"] = description.trim().into();
        }
        if let Some(checksum) = checksums.get(&(package.name.clone(), package.version.clone())) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        if let Some(repository) = &package.repository {
            component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
        }
        component
    };
    let root = packages
        .iter()
        .find(|package| package.name == name)
        .ok_or_else(|| format!("cargo tree does not list {name}"))?;
    let mut components: Vec<Value> =
        packages.iter().filter(|package| package.name != name).map(|package| component(package, "library")).collect();
    components.push(json!({
        "type": "framework",
        "bom-ref": "rust-std",
        "name": "Rust standard library",
        "version": rust,
        "licenses": [{ "expression": "MIT OR Apache-2.0" }],
    }));
    let dependencies: Vec<Value> = packages
        .iter()
        .map(|package| {
            let needs = package.needs.iter().filter_map(|key| by_key.get(key)).map(|needed| reference(needed));
            let standard = (package.name == name).then(|| "rust-std".to_owned());
            json!({ "ref": reference(package), "dependsOn": needs.chain(standard).collect::<Vec<_>>() })
        })
        .collect();
    let mut main = component(root, "application");
    main["properties"] = json!([{ "name": "cargo:target", "value": target }]);
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": main },
        "components": components,
        "dependencies": dependencies,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::process::root;

    #[test]
    fn every_linked_package_is_in_it_once() {
        let root = root().unwrap_or_else(|error| panic!("{error}"));
        let text = sbom(&root, "vop-ptx", "x86_64-unknown-linux-gnu").unwrap_or_else(|error| panic!("{error}"));
        let bom: Value = serde_json::from_str(&text).expect("it is JSON");
        let components = bom["components"].as_array().expect("a list");
        let names: BTreeSet<&str> = components.iter().filter_map(|component| component["name"].as_str()).collect();
        assert!(names.is_superset(&BTreeSet::from(["vop", "memchr", "aho-corasick"])), "{names:?}");
        assert_eq!(names.len(), components.len());
        for component in components {
            let name = component["name"].as_str().expect("a name");
            assert!(component["licenses"][0]["expression"].is_string(), "{name}");
            let hashed = component["hashes"][0]["content"].as_str().is_some_and(|hash| hash.len() == 64);
            assert_eq!(hashed, !name.starts_with("vop") && name != "Rust standard library", "{name}");
        }
        let dependencies = bom["dependencies"].as_array().expect("a list");
        let of =
            |name: &str| dependencies.iter().find(|one| one["ref"].as_str().is_some_and(|one| one.starts_with(name)));
        let needs = of("pkg:cargo/vop-ptx@").expect("vop-ptx")["dependsOn"].to_string();
        assert!(needs.contains("pkg:cargo/vop@") && needs.contains("pkg:cargo/memchr@"), "{needs}");
    }
}
