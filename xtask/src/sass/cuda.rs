//! What NVIDIA's compiler makes of an expression of CUDA C.

use std::ffi::OsStr;

use super::toolchain::{Result, Toolchain, executable, io_error, run};

/// The kernel of an expression: it loads a, b and c and stores the value of the expression.
fn kernel(number: usize, expression: &str) -> String {
    format!(
        "extern \"C\" __global__ void k{number}(volatile unsigned *p)\n\
         {{\n\
             volatile unsigned *row = p + 4 * threadIdx.x;\n\
             unsigned a = row[0], b = row[1], c = row[2];\n\
             row[3] = {expression};\n\
             (void)a, (void)b, (void)c;\n\
         }}\n"
    )
}

impl Toolchain {
    /// How many machine instructions each expression over `a`, `b` and `c` costs on a target: the size of its kernel less that of
    /// a kernel that stores `a`.
    ///
    /// It needs nvcc beside ptxas, with the headers of CUDA (PyPI: nvidia-cuda-nvcc, nvidia-nvvm, nvidia-cuda-crt,
    /// nvidia-cuda-runtime and nvidia-cuda-cccl).
    ///
    /// # Errors
    /// nvcc is not there, lacks its headers or refuses an expression.
    pub fn cuda_costs(&self, expressions: &[impl AsRef<str>], target: &str) -> Result<Vec<i64>> {
        let folder = tempfile::tempdir().map_err(|error| io_error(&std::env::temp_dir(), error))?;
        let (source, cubin) = (folder.path().join("kernels.cu"), folder.path().join("kernels.cubin"));
        let all = std::iter::once("a").chain(expressions.iter().map(AsRef::as_ref));
        let kernels: String = all.enumerate().map(|(i, expression)| kernel(i, expression)).collect();
        std::fs::write(&source, kernels).map_err(|error| io_error(&source, error))?;
        let nvcc = self.ptxas.with_file_name(executable("nvcc"));
        let arch = format!("-arch={target}");
        let arguments =
            [OsStr::new("-cubin"), OsStr::new(&arch), OsStr::new("-o"), cubin.as_os_str(), source.as_os_str()];
        run(&nvcc, arguments)?;
        let sizes = self.sizes(&cubin, expressions.len() + 1, target)?;
        Ok(sizes[1..].iter().map(|size| size - sizes[0]).collect())
    }
}

impl Toolchain {
    /// The PTX that nvcc makes of CUDA C for a target.
    ///
    /// # Errors
    /// nvcc is not there, lacks its headers or refuses the source.
    pub fn ptx(&self, source: &str, target: &str) -> Result<String> {
        let folder = tempfile::tempdir().map_err(|error| io_error(&std::env::temp_dir(), error))?;
        let (file, ptx) = (folder.path().join("kernels.cu"), folder.path().join("kernels.ptx"));
        std::fs::write(&file, source).map_err(|error| io_error(&file, error))?;
        let nvcc = self.ptxas.with_file_name(executable("nvcc"));
        let arch = format!("-arch={target}");
        run(&nvcc, [OsStr::new("-ptx"), OsStr::new(&arch), OsStr::new("-o"), ptx.as_os_str(), file.as_os_str()])?;
        std::fs::read_to_string(&ptx).map_err(|error| io_error(&ptx, error))
    }
}
