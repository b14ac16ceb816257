//! The script for a GPU, as far as it can be tested without one: it runs, and ptxas takes the modules that it makes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use xtask::gpu;

use crate::tools;

#[test]
fn modules_assemble() {
    let Some(toolchain) = tools::ptxas() else { return };
    for target in ["sm_75", "sm_90", "sm_120f"] {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("gpu.py");
        std::fs::write(&script, gpu::script(target.parse().unwrap())).unwrap();
        let modules = folder.path().join("modules");
        let output = match Command::new("python3").arg(&script).arg("--ptx").arg(&modules).output() {
            Ok(output) => output,
            Err(error) => {
                tools::say(format_args!("no python3 ({error})"));
                return;
            }
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Every form three times, 500 a module, and two modules that are timed.
        assert_eq!(std::fs::read_dir(&modules).unwrap().count(), 3 * 13 + 2);
        // Not all for each target, as assembling takes long.
        let names = ["streams_as_is", "values_isa_0", "streams_lowered", "values_ptxas_6000"];
        let names = match target {
            _ if tools::full() => &names[..],
            "sm_75" => &names[..1],
            "sm_90" => &names[1..2],
            _ => &names[2..],
        };
        for name in names {
            let module = std::fs::read(modules.join(name).with_extension("ptx")).unwrap();
            assert_eq!(toolchain.assemble(&module, target).unwrap(), "", "{name} for {target}");
        }
    }
}
