//! `cargo xtask port-cost --vectors`: how long vectors take.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use vop_port::{Port, Source, Target};

use super::Failure;
use super::process::{output, succeed};

/// Times the functions of a target, and plain C that computes lane by lane, in loops over 4,096 words, and prints geometric means.
///
/// The loop of the plain functions is what a compiler gets from a header that has no instructions for this machine: it vectorises what it can.
pub(super) fn run(folder: &Path, target: Target, ports: &[Port], plain: &str) -> Result<(), Failure> {
    let (vector, flags): (&str, &[&str]) = match target.name() {
        "avx2" => ("__m256i", &["-mavx2"]),
        "avx512" => ("__m512i", &["-mavx512f", "-mavx512bw", "-mprefer-vector-width=512"]),
        other => return Err(format!("{other} cannot be timed here: avx2 and avx512 can").into()),
    };
    let mut text = String::from("#include <stdint.h>\n#include <stdio.h>\n#include <time.h>\n");
    text.push_str(&vop_port::file(ports));
    text.push_str(&plain.replace("\nuint32_t ", "\nstatic inline uint32_t ").replacen(
        "uint32_t ",
        "static inline uint32_t ",
        1,
    ));
    let _ = write!(
        text,
        "\nenum {{ N = 4096 }};\nstatic uint32_t a[N], b[N], c[N], d[N], e[N];\n\
         static double now(void)\n{{\n    struct timespec t;\n    clock_gettime(CLOCK_MONOTONIC, &t);\n    return 1e9 * t.tv_sec + t.tv_nsec;\n}}\n\
         typedef void (*loop)(void);\nstatic double least(loop f)\n{{\n    double best = 1e30;\n    for (int i = 0; i < 12; i++) {{\n        \
         const double before = now();\n        for (int k = 0; k < 8; k++) f();\n        const double time = (now() - before) / 8 / N;\n        \
         if (time < best) best = time;\n    }}\n    return best;\n}}\n"
    );
    let mut rows = String::new();
    for port in ports {
        let name = port.name();
        let _ = writeln!(
            text,
            "static __attribute__((noinline)) void loop_{name}(void)\n{{\n    for (int i = 0; i < N; i += sizeof({vector}) / 4)\n        \
             *({vector} *)(d + i) = {name}(*({vector} *)(a + i), *({vector} *)(b + i), *({vector} *)(c + i));\n}}\n\
             static __attribute__((noinline)) void loop_plain_{name}(void)\n{{\n    for (int i = 0; i < N; i++) e[i] = plain_{name}(a[i], b[i], c[i]);\n}}"
        );
        let _ = writeln!(rows, "    row(\"{name}\", loop_{name}, loop_plain_{name});");
    }
    let _ = write!(
        text,
        "static void row(const char *name, loop f, loop plain)\n{{\n    const double x = least(f), y = least(plain);\n    \
         for (int i = 0; i < N; i++) if (d[i] != e[i]) printf(\"wrong \");\n    printf(\"%s %g %g\\n\", name, x, y);\n}}\n\
         int main(void)\n{{\n    uint32_t x = 1;\n    for (int i = 0; i < N; i++) {{\n        x = x * 1664525 + 1013904223; a[i] = x ^ x >> 15;\n        \
         x = x * 1664525 + 1013904223; b[i] = x ^ x >> 15;\n        x = x * 1664525 + 1013904223; c[i] = x ^ x >> 15;\n    }}\n{rows}    return 0;\n}}\n"
    );
    let text = text.replace("static uint32_t a[N]", "static _Alignas(64) uint32_t a[N]");
    let text =
        text.replace("[N], b[N], c[N], d[N], e[N];", "[N]; static _Alignas(64) uint32_t b[N], c[N], d[N], e[N];");
    std::fs::write(folder.join("time.c"), text)?;
    let program = folder.join("time");
    let mut command = Command::new("gcc");
    command.current_dir(folder).args(["-std=gnu11", "-O3", "-fno-strict-aliasing"]).args(flags);
    succeed(command.arg("-o").arg(&program).arg("time.c"))?;
    let lines = output(&mut Command::new(&program))?;
    let mut families: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (line, port) in lines.lines().zip(ports) {
        let mut words = line.split(' ').skip(1).map(|word| word.parse::<f64>());
        let (Some(Ok(own)), Some(Ok(plain))) = (words.next(), words.next()) else {
            return Err(format!("{line}: the two functions differ").into());
        };
        let Source::Form(form, _) = port.source() else { continue };
        for family in [form.mnemonic().name(), "all"] {
            families.entry(family).or_default().push((own, plain));
        }
    }
    let mut out = std::io::stdout();
    writeln!(out, "| mnemonic | forms | ps per word | lane by lane | ratio |\n| --- | ---: | ---: | ---: | ---: |")?;
    for (name, rows) in &families {
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| {
            (rows.iter().map(|row| of(row).ln()).sum::<f64>() / rows.len() as f64).exp()
        };
        let (own, plain) = (1000.0 * mean(&|row| row.0), 1000.0 * mean(&|row| row.1));
        writeln!(out, "| {name} | {} | {own:.0} | {plain:.0} | {:.2} |", rows.len(), own / plain)?;
    }
    Ok(())
}
