//! Writes kernels with what they read and what they must write, for `on_gpu.py`, which runs them by NVIDIA's driver.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::Path;

/// A launch of the entry `k`: its parameters are the addresses of the buffers, then words.
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    pub(crate) ptx: &'a str,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// What each buffer has before the launch, and after it.
    pub(crate) buffers: Vec<(&'a [u8], &'a [u8])>,
    pub(crate) words: Vec<u32>,
}

impl Case<'_> {
    /// Writes the case to the folder that `VOP_EXPORT` names, if it names one.
    pub(crate) fn export(&self) {
        let Some(folder) = std::env::var_os("VOP_EXPORT") else { return };
        let write = |ending: &str, bytes: &[u8]| {
            let path = Path::new(&folder).join(format!("{}.{ending}", self.name));
            std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        };
        write("ptx", self.ptx.as_bytes());
        for (i, (before, after)) in self.buffers.iter().enumerate() {
            write(&format!("{i}.before"), before);
            write(&format!("{i}.after"), after);
        }
        let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let lines = [list(&self.grid), list(&self.block), self.buffers.len().to_string(), list(&self.words)];
        write("launch", lines.join("\n").as_bytes());
    }
}
