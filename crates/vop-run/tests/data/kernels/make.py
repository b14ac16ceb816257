#!/usr/bin/env python3
"""Makes the PTX files and the expectations beside this script anew.

    make.py [NAME...]            all kernels, or those named

It needs nvcc, clang, clang-22, g++ and Python 3.9, nothing else: no GPU. Release 13.5 of nvcc and 14 of clang made what is committed;
clang-22 may be a script that calls the `zig clang` of PyPI's package ziglang.

NAME.cu begins with comments that say what is to be done:

    // What the kernel is there for, in a sentence or two.
    //
    // nvcc -arch=sm_75                            compiles NAME.cu to NAME.ptx; a second such line to NAME.SUFFIX.ptx,
    // clang --cuda-gpu-arch=sm_75 -O1             where SUFFIX tells the builds apart (`# SUFFIX` at the line's end); `clang-22`
                                                   is that release
    // host -ffast-math                            more options for the host's compiler; seldom needed
    // launch ENTRY grid=2 block=4,2 shared=64     one or more (also limit=1000 instructions, and cooperative=64: the blocks that
                                                there is room for); its arguments in order follow
    // buffer in u32 1 2 3                         a buffer with these elements
    // buffer in u32 @lcg 1000 seed 5              ... with 1000 random ones; `range 0 9` at the end limits them
    // buffer out s32 *8                           ... with eight zeros; `*8 -1` with eight times -1
    // buffer in                                   the same buffer again
    // value u32 5                                 a scalar
    // struct u8 1 f32 0.5 2.5                     a structure passed by value; members are aligned as in C
    // within 2ulp out                             how far `out` may be off: `4ulp`, `1e-6` (absolute) or `4ulp|1e-6` (either)
    // printed                                     what the kernel prints is compared; `printed in any order` sorts its lines
    // fails TEXT                                  the launch fails with an error that contains this

The same source, compiled by g++ with -DHOST (see kernel.h), runs on the host and gives the expectation: NAME.case repeats the
launches and says, behind `=>`, what each buffer that changed holds:

    out: 1 2 3                                   exactly these bits
    out within 2ulp: 0.5 0.25
    out: fnv1a 0x… of 1000                       the 64-bit FNV-1a hash of its bytes, and how many elements there are
    printed: / printed in any order:             lines follow, each behind `| `
    fails: TEXT

`@lcg` is x <- 6364136223846793005 x + 1442695040888963407 (mod 2^64) from the seed; each step gives the upper 32 bits of x. An
element of 64 bits takes two, the upper half first. Of floats, the upper 24 bits of a step (53 of two steps) are the fraction of
the way from the range's start to its end, computed in float64.

PTX is as the compiler wrote it, except for the paths of headers and of the folder where it was compiled.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FORMATS = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q", "s64": "q", "f32": "f", "f64": "d"}
COMPILERS = {"nvcc", "clang", "clang-22"}
KEYWORDS = COMPILERS | {"host", "launch", "buffer", "value", "struct", "within", "printed", "fails"}


def size(ty):
    return struct.calcsize(FORMATS[ty])


def pack(ty, values):
    def number(text):
        if ty.startswith("f"):
            return float(text)
        value = int(text, 0)
        bits = 8 * size(ty)
        value &= (1 << bits) - 1
        return value - (1 << bits) if ty.startswith("s") and value >> (bits - 1) else value

    return struct.pack(f"<{len(values)}{FORMATS[ty]}", *map(number, values))


def lcg(ty, words):
    """The elements that `@lcg COUNT seed SEED [range LOW HIGH]` stands for."""
    count, state = int(words[0]), int(words[2])
    limits = words[4:6] if len(words) > 3 else None
    wide = size(ty) == 8

    def step():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return state >> 32

    def element():
        bits = step()
        if wide:
            bits = bits << 32 | step()
        if ty.startswith("f"):
            low, high = map(float, limits)
            fraction = (bits >> 11) / 2.0**53 if wide else (bits >> 8) / 2.0**24
            return repr(low + fraction * (high - low))
        if limits:
            low, high = (int(limit, 0) for limit in limits)
            return str(low + bits % (high - low + 1))
        return str(bits)

    return [element() for _ in range(count)]


def elements(ty, words):
    if words[0] == "@lcg":
        return lcg(ty, words[1:])
    if words[0].startswith("*"):
        return [words[1] if len(words) > 1 else "0"] * int(words[0][1:])
    return words


def structure(words):
    content, align = b"", 1
    ty = None
    for word in words:
        if word in FORMATS:
            ty = word
            continue
        align = max(align, size(ty))
        content += bytes(-len(content) % size(ty)) + pack(ty, [word])
    return content + bytes(-len(content) % align)


def fnv1a(content):
    value = 0xCBF29CE484222325
    for byte in content:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def number(ty, value):
    if ty == "f64":
        return repr(value)
    if ty == "f32":
        # The shortest text that reads back as the same float32.
        for digits in range(1, 10):
            text = f"{value:.{digits}g}"
            if value != value or struct.pack("<f", float(text)) == struct.pack("<f", value):
                break
        return text
    return str(value)


def header(source):
    description, lines = [], []
    for line in source.read_text().splitlines():
        if not line.startswith("//"):
            break
        text = line[2:].strip()
        if text and text.split()[0] in KEYWORDS:
            lines.append(text)
        elif not lines and text:
            description.append(text)
    return description, lines


def run(command, **options):
    result = subprocess.run(command, text=True, **options)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nfailed: {result.returncode}")
    return result


def compile_ptx(name, builds):
    # A neutral folder: debug information holds its path.
    folder = Path(tempfile.gettempdir()) / "kernels"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in [HERE / f"{name}.cu", HERE / "kernel.h"]:
        shutil.copy(file, folder)
    for old in HERE.glob(f"{name}.*ptx"):
        old.unlink()
    for build in builds:
        options, _, suffix = build.partition("#")
        tool, *options = options.split()
        output = f"{name}.{suffix.strip()}.ptx" if suffix else f"{name}.ptx"
        if tool == "nvcc":
            command = ["nvcc", "-std=c++17", "-ptx", *options, f"{name}.cu", "-o", output]
        else:
            fixed = "-x cuda -S --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version -std=c++17".split()
            command = [tool, *fixed, *options, f"{name}.cu", "-o", output]
        run(command, cwd=folder)
        text = (folder / output).read_text()
        text = re.sub(r'"[^"\n]*/(cu13|nvidia|lib/clang|clang|c\+\+)/([^"\n]*)"', r'"\1/\2"', text)
        text = text.replace(f"{folder}/", "").replace(str(HERE), "")
        (HERE / output).write_text(text)


def expectation(name, description, lines):
    """The text of NAME.case."""
    buffers, launches, tolerances = {}, [], {}
    case = [f"# {line}" for line in description]
    printed = fails = None
    host = []
    for line in lines:
        keyword, *words = line.split()
        if keyword in ("launch", "buffer", "value", "struct"):
            case.append(line)
        if keyword == "launch":
            sizes = {"grid": [1, 1, 1], "block": [1, 1, 1]}
            for word in words[1:]:
                key, value = word.split("=")
                if key in sizes:
                    numbers = [int(n) for n in value.split(",")]
                    sizes[key] = numbers + [1] * (3 - len(numbers))
            launches.append([words[0], *sizes["grid"], *sizes["block"]])
        elif keyword == "buffer":
            if len(words) > 1:
                buffers[words[0]] = (words[1], pack(words[1], elements(words[1], words[2:])))
            launches[-1].append("@" + words[0])
        elif keyword == "value":
            launches[-1].append(pack(words[0], [words[1]]).hex())
        elif keyword == "struct":
            launches[-1].append(structure(words).hex())
        elif keyword == "within":
            tolerances[words[1]] = words[0]
        elif keyword == "printed":
            printed = line
        elif keyword == "fails":
            fails = line[len("fails") :].strip()
        elif keyword == "host":
            host += words
    case.append("=>")
    if fails is not None:
        return "\n".join([*case, f"fails: {fails}", ""])

    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/host"
        warnings = "-Wno-unknown-pragmas -Wno-unused-variable".split()
        options = ["-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", *warnings, *host]
        run(["g++", "-DHOST", "-x", "c++", *options, HERE / f"{name}.cu", "-o", program])
        for buffer, (_, content) in buffers.items():
            Path(folder, f"{buffer}.in").write_bytes(content)
        Path(folder, "launches").write_text("".join(" ".join(map(str, launch)) + "\n" for launch in launches))
        output = run([program, folder], stdout=subprocess.PIPE).stdout
        for buffer, (ty, before) in buffers.items():
            content = Path(folder, f"{buffer}.out").read_bytes()
            if content == before:
                continue
            count = len(content) // size(ty)
            values = struct.unpack(f"<{count}{FORMATS[ty]}", content)
            if buffer in tolerances:
                text = " ".join(number(ty, value) for value in values)
                case.append(f"{buffer} within {tolerances[buffer]}: {text}")
            elif count > 100:
                case.append(f"{buffer}: fnv1a {fnv1a(content):#018x} of {count}")
            else:
                case.append(f"{buffer}: " + " ".join(number(ty, value) for value in values))
    if printed:
        case.append(f"{printed}:")
        case += [f"| {line}".rstrip() for line in output.removesuffix("\n").split("\n")]
    return "\n".join([*case, ""])


def main():
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.cu"))
    for name in names:
        print(name, flush=True)
        description, lines = header(HERE / f"{name}.cu")
        builds = [line for line in lines if line.split()[0] in COMPILERS]
        assert builds, f"{name}.cu says no compiler"
        text = expectation(name, description, lines)
        (HERE / f"{name}.case").write_text(text)
        if not os.environ.get("NO_PTX"):
            compile_ptx(name, builds)


if __name__ == "__main__":
    main()
