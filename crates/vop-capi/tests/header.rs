//! The header that is committed is the one that cbindgen writes of the crate.

use std::path::Path;

#[test]
fn header_is_that_of_the_crate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml is a configuration");
    // The crate's own files only: `Builder::with_crate` would run `cargo metadata`.
    let mut builder = cbindgen::Builder::new().with_config(config);
    let mut sources: Vec<_> = std::fs::read_dir(folder.join("src")).expect("src is there").collect();
    sources.sort_by_key(|entry| entry.as_ref().map(|entry| entry.path()).unwrap_or_default());
    for source in sources {
        let path = source.expect("the folder can be read").path();
        if path.file_name().is_some_and(|name| name != "lib.rs") {
            builder = builder.with_src(path);
        }
    }
    let mut written = Vec::new();
    builder.generate().expect("cbindgen can read the crate").write(&mut written);
    let written = String::from_utf8(written).expect("the header is UTF-8");
    let path = folder.join("include/vop.h");
    if std::env::var_os("VOP_BLESS").is_some() {
        std::fs::write(&path, &written).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == committed,
        "include/vop.h is not what cbindgen writes: VOP_BLESS=1 cargo test -p vop-capi --test header"
    );
}
