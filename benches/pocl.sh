#!/bin/sh
# Times the kernels of `kernels/` in the engine beside PoCL, which compiles them with LLVM and checks nothing.
#
#     ./pocl.sh                                 all kernels
#     BENCH_KERNELS=matmul,nbody ./pocl.sh      some of them
#     VOP_LEVEL=avx2 ./pocl.sh                  other instructions than the best that this CPU has
#
# It needs OpenCL's loader and PoCL: on Debian and Ubuntu `apt-get install ocl-icd-libopencl1 pocl-opencl-icd` (Debian 12 has PoCL 3.1, which
# is newer than the 3.0 of PyPI's pocl-binary-distribution). A PoCL elsewhere is found by OCL_ICD_VENDORS=/path/to/pocl.icd.
set -eu
cd "$(dirname "$0")"
if ! ldconfig -p | grep -q libOpenCL.so.1; then
    echo "libOpenCL.so.1 is not there: apt-get install ocl-icd-libopencl1" >&2
    exit 1
fi
if [ -z "${OCL_ICD_VENDORS:-}" ] && ! grep -qs pocl /etc/OpenCL/vendors/*.icd; then
    echo "PoCL is not there: apt-get install pocl-opencl-icd" >&2
    exit 1
fi
exec cargo run --release -- kernels
