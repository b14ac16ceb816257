"""Runs exported kernels by NVIDIA's driver, and compares what they write with what the engine's tests expect.

    mkdir /tmp/cases
    VOP_EXPORT=/tmp/cases cargo test -p vop-run --test machine_code
    python3 crates/vop-run/tests/random/on_gpu.py /tmp/cases

It needs Python 3 and the driver alone. On an H200 all kernels gave the same but those with floats that are NaNs, whose sign and payload the
manual leaves open, and with `rsqrt.approx`: docs/run.md has the details.
"""

import ctypes
import glob
import os
import sys


def main(folder):
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        status = getattr(cuda, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            cuda.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else status}")

    call("cuInit", 0)
    context = ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    same, different, failed = 0, [], []
    for launch in sorted(glob.glob(os.path.join(folder, "*.launch"))):
        stem = launch[: -len(".launch")]
        grid, block, count, words = open(launch).read().split("\n")
        try:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            call("cuModuleLoadData", ctypes.byref(module), open(stem + ".ptx", "rb").read() + b"\0")
            call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
            parameters, buffers = [], []
            for i in range(int(count)):
                before = open(f"{stem}.{i}.before", "rb").read()
                address = ctypes.c_uint64()
                call("cuMemAlloc_v2", ctypes.byref(address), max(len(before), 1))
                call("cuMemcpyHtoD_v2", address, before, len(before))
                buffers.append((address, len(before), open(f"{stem}.{i}.after", "rb").read()))
                parameters.append(address)
            parameters += [ctypes.c_uint32(int(word)) for word in words.split()]
            pointers = (ctypes.c_void_p * len(parameters))(
                *[ctypes.cast(ctypes.pointer(parameter), ctypes.c_void_p) for parameter in parameters]
            )
            shape = [int(n) for n in grid.split() + block.split()]
            call("cuLaunchKernel", function, *shape, 0, None, pointers, None)
            call("cuCtxSynchronize")
            wrong = []
            for i, (address, length, after) in enumerate(buffers):
                found = ctypes.create_string_buffer(max(length, 1))
                call("cuMemcpyDtoH_v2", found, address, length)
                call("cuMemFree_v2", address)
                found = found.raw[:length]
                places = [at for at in range(0, length, 4) if found[at : at + 4] != after[at : at + 4]]
                wrong += [(i, at, found[at : at + 4][::-1].hex(), after[at : at + 4][::-1].hex()) for at in places]
            call("cuModuleUnload", module)
        except RuntimeError as error:
            failed.append((os.path.basename(stem), str(error)))
            continue
        if wrong:
            different.append((os.path.basename(stem), wrong))
        else:
            same += 1
    for name, wrong in different:
        print(f"{name}: {len(wrong)} words differ")
        for i, at, found, expected in wrong[:6]:
            print(f"    buffer {i}, byte {at}: {found} on the GPU, {expected} expected")
    for name, why in failed:
        print(f"{name}: {why}")
    print(f"{same} the same, {len(different)} different, {len(failed)} failed")
    return 1 if different or failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
