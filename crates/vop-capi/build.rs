//! Names the shared library as it is installed, so that programs look for that.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    match system.as_str() {
        "linux" | "android" | "freebsd" => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libvop.so.0"),
        "macos" => println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libvop.0.dylib"),
        _ => {}
    }
}
