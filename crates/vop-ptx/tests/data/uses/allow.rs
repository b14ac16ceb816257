//! `// vop: allow(V0702)` in the middle of a comment is none.
fn f() {
    asm!(
        "vmax4.u32.u32.u32.sat {d}, {a}, {b}, {c};", // vop: allow(V0702)
        /* vop: allow(V0702) /* nested */ */
        "vmin4.u32.u32.u32.sat {d}, {a}, {b}, {c};",
        "vmax4.u32.u32.u32.sat {d}, {a}, {b}, {c};",
        "// vop: allow(V0702)",
        "vmin4.u32.u32.u32.sat {d}, {a}, {b}, {c};",
    );
    let c = '"'; // vop: allow(V0702) after a quote (NO)
    let s = r#"vmax4.u32.u32.u32.sat d, a, b, c;"#; // vop: allow(V0702)
}
