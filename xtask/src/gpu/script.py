#!/usr/bin/env python3
"""What an NVIDIA GPU makes of vop's lowered instructions: are they right, and are they faster?

Written by `cargo xtask gpu` for @TARGET@. Needs Python 3 and NVIDIA's driver, nothing else; the driver compiles the PTX.

1. Every form of tests/golden/values.tsv on all its rows: the instruction as it is, lowered by the manual, and lowered by
   what ptxas computes, each against the value that vop's evaluation gives.
2. The ten forms that public projects use most, as they are and lowered, in three kernels: a dependent stream (each
   instruction needs the one before it), independent streams (eight at once), and arrays (read a, b, c, write d).

    python3 gpu.py             all of it, in under four minutes; prints a report as Markdown
    python3 gpu.py --ptx DIR   writes the PTX modules there instead; needs no GPU
"""
import array, ctypes, datetime, json, os, re, sys, time

DATA = json.loads(r'''@DATA@''')
TARGET, VERSION = DATA["target"], DATA["version"]
HEADER = f".version {VERSION}\n.target {TARGET}\n.address_size 64\n"
# Where a, b and c are read and d is written: a thread a row.
ROW_KERNEL = """
.visible .entry %s(.param .u64 input, .param .u64 output, .param .u32 rows)
{
    .reg .b64 from, to, offset;
    .reg .b32 a, b, c, d, thread, block, size, rows;
    .reg .pred beyond;
    ld.param.u32 rows, [rows_parameter];
    mov.u32 thread, %%tid.x;
    mov.u32 block, %%ctaid.x;
    mov.u32 size, %%ntid.x;
    mad.lo.u32 thread, block, size, thread;
    setp.ge.u32 beyond, thread, rows;
    @beyond ret;
    ld.param.u64 from, [input];
    ld.param.u64 to, [output];
    mul.wide.u32 offset, thread, 12;
    add.u64 from, from, offset;
    ld.global.b32 a, [from];
    ld.global.b32 b, [from+4];
    ld.global.b32 c, [from+8];
    %s
    mul.wide.u32 offset, thread, 4;
    add.u64 to, to, offset;
    st.global.b32 [to], d;
    ret;
}
""".replace(".param .u32 rows)", ".param .u32 rows_parameter)")
# A stream of x = op(x, y, c), y = op(y, x, c): neither can be moved out of the loop.
STREAM_KERNEL = """
.visible .entry %s(.param .u64 output, .param .u32 seed, .param .u32 rounds)
{
    .reg .b64 to, offset;
    .reg .b32 thread, block, size, round, seed, c, all;
    .reg .b32 x<%d>, y<%d>;
    .reg .pred more;
    ld.param.u64 to, [output];
    ld.param.u32 seed, [seed];
    ld.param.u32 round, [rounds];
    mov.u32 thread, %%tid.x;
    mov.u32 block, %%ctaid.x;
    mov.u32 size, %%ntid.x;
    mad.lo.u32 thread, block, size, thread;
    mad.lo.u32 c, thread, 0x9e3779b9, seed;
%s
AGAIN:
%s
    sub.u32 round, round, 1;
    setp.ne.u32 more, round, 0;
    @more bra AGAIN;
    mov.b32 all, 0;
%s
    mul.wide.u32 offset, thread, 4;
    add.u64 to, to, offset;
    st.global.b32 [to], all;
    ret;
}
""".replace("[seed]", "[seed_parameter]").replace(".param .u32 seed,", ".param .u32 seed_parameter,")
UNROLLED, ROUNDS, STREAMS = 32, 256, 8


def stream_kernel(name, body, streams):
    """`body` is PTX over registers d, a, b and c."""
    start, loop, end = [], [], []
    for s in range(streams):
        start.append(f"    mad.lo.u32 x{s}, c, {2 * s + 3}, seed;\n    mad.lo.u32 y{s}, c, {2 * s + 31}, thread;")
        end.append(f"    add.u32 all, all, x{s};\n    xor.b32 all, all, y{s};")
    for _ in range(UNROLLED // 2):
        for pair in (("x", "y"), ("y", "x")):
            for s in range(streams):
                d, b = (f"{letter}{s}" for letter in pair)
                loop.append("    " + re.sub(r"\b[dab]\b", lambda name: b if name[0] == "b" else d, body))
    return STREAM_KERNEL % (name, streams, streams, "\n".join(start), "\n".join(loop), "\n".join(end))


def modules():
    """(name, PTX text) of every module, made one after the other."""
    forms = DATA["forms"]
    for which in ("as_is", "isa", "ptxas"):
        for first in range(0, len(forms), 500):
            kernels = [ROW_KERNEL % (f"f{i}", forms[i][which]) for i in range(first, min(first + 500, len(forms)))]
            yield f"values_{which}_{first}", HEADER + "".join(kernels)
    for which in ("as_is", "lowered"):
        kernels = []
        for i, used in enumerate(DATA["used"]):
            kernels.append(stream_kernel(f"dependent{i}", used[which], 1))
            kernels.append(stream_kernel(f"independent{i}", used[which], STREAMS))
            kernels.append(ROW_KERNEL % (f"arrays{i}", used[which]))
        yield f"streams_{which}", HEADER + "".join(kernels)


class Driver:
    """The few functions of NVIDIA's driver that this needs."""

    def __init__(self):
        for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
            try:
                self.library = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            sys.exit("gpu.py: no NVIDIA driver (libcuda.so.1) here; `--ptx DIR` needs none")
        self("cuInit", 0)
        device = ctypes.c_int()
        self("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(100)
        self("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()
        major, minor, self.processors = (self.attribute(device, number) for number in (75, 76, 16))
        self.capability = f"{major}.{minor}"
        version = ctypes.c_int()
        self("cuDriverGetVersion", ctypes.byref(version))
        self.version = (version.value // 1000, version.value % 1000 // 10)
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, function, *arguments):
        code = getattr(self.library, function)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            sys.exit(f"gpu.py: {function}: {(text.value or b'error %d' % code).decode()}")

    def attribute(self, device, number):
        value = ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    def load(self, ptx):
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 8192)
        code = self.library.cuModuleLoadDataEx(ctypes.byref(module), ptx.encode() + b"\0", 2, options, values)
        if code:
            sys.exit(f"gpu.py: the driver does not compile the PTX for {TARGET} (error {code}): {log.value.decode()}")
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer.value

    def write(self, pointer, words):
        size = ctypes.c_size_t(len(words) * words.itemsize)
        self("cuMemcpyHtoD_v2", ctypes.c_uint64(pointer), (ctypes.c_char * size.value).from_buffer(words), size)

    def read(self, pointer, count):
        words = array.array("I", bytes(4 * count))
        size = ctypes.c_size_t(4 * count)
        self("cuMemcpyDtoH_v2", (ctypes.c_char * size.value).from_buffer(words), ctypes.c_uint64(pointer), size)
        return words

    def launch(self, function, blocks, threads, arguments):
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in arguments))
        self("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None)

    def milliseconds(self, function, blocks, threads, arguments):
        """The median of eleven launches."""
        events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in events:
            self("cuEventCreate", ctypes.byref(event), 0)
        self.launch(function, blocks, threads, arguments)
        times = []
        for _ in range(11):
            self("cuEventRecord", events[0], None)
            self.launch(function, blocks, threads, arguments)
            self("cuEventRecord", events[1], None)
            self("cuEventSynchronize", events[1])
            time = ctypes.c_float()
            self("cuEventElapsedTime", ctypes.byref(time), events[0], events[1])
            times.append(time.value)
        return sorted(times)[5]


def check_values(driver):
    """How many rows differ, for each of the three."""
    forms, wrong = DATA["forms"], {}
    # The column of the code that this driver's compiler emits: 13.3 and later, or earlier.
    by_ptxas = 4 if driver.version >= (13, 3) else 5
    count = max(len(form["rows"]) for form in forms)
    source, target = driver.allocate(12 * count), driver.allocate(4 * count)
    for name, ptx in modules():
        kind, which, first = name.split("_", 1)[0], *name.rsplit("_", 1)
        if kind != "values":
            continue
        which = which.removeprefix("values_")
        column = {"as_is": by_ptxas, "isa": 3, "ptxas": 4}[which]
        module = driver.load(ptx)
        for i in range(int(first), min(int(first) + 500, len(forms))):
            rows = forms[i]["rows"]
            driver.write(source, array.array("I", [word for row in rows for word in row[:3]]))
            arguments = [ctypes.c_uint64(source), ctypes.c_uint64(target), ctypes.c_uint32(len(rows))]
            driver.launch(driver.function(module, f"f{i}"), 1, 64, arguments)
            driver("cuCtxSynchronize")
            for row, d in zip(rows, driver.read(target, len(rows))):
                if d != row[column]:
                    wrong.setdefault(which, []).append((forms[i]["form"], row[:3], d, row[column]))
        driver("cuModuleUnload", module)
    return wrong


def time_streams(driver):
    """Rows of (form, for each kernel the time as it is and lowered in ms)."""
    loaded = {name: driver.load(ptx) for name, ptx in modules() if name.startswith("streams")}
    blocks, threads = 16 * driver.processors, 256
    elements = 1 << 24
    output, source = driver.allocate(4 * elements), driver.allocate(12 * elements)
    block = array.array("I", [(i * 2654435761 + 12345) & 0xFFFFFFFF for i in range(3 << 20)])
    for part in range(elements * 12 // (12 << 20)):
        driver.write(source + part * (12 << 20), block)
    table = []
    for i, used in enumerate(DATA["used"]):
        row = []
        for kernel in ("dependent", "independent", "arrays"):
            for which in ("as_is", "lowered"):
                function = driver.function(loaded[f"streams_{which}"], f"{kernel}{i}")
                if kernel == "arrays":
                    arguments = [ctypes.c_uint64(source), ctypes.c_uint64(output), ctypes.c_uint32(elements)]
                    row.append(driver.milliseconds(function, elements // threads, threads, arguments))
                else:
                    arguments = [ctypes.c_uint64(output), ctypes.c_uint32(1), ctypes.c_uint32(ROUNDS)]
                    row.append(driver.milliseconds(function, blocks, threads, arguments))
        table.append((used["form"], row))
    return table


def main():
    if sys.argv[1:2] == ["--ptx"] and len(sys.argv) == 3:
        os.makedirs(sys.argv[2], exist_ok=True)
        for name, ptx in modules():
            with open(os.path.join(sys.argv[2], name + ".ptx"), "w") as file:
                file.write(ptx)
        return
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    started = time.time()
    driver = Driver()
    print(f"{driver.name}, compute capability {driver.capability}, driver for CUDA {driver.version[0]}.{driver.version[1]}, "
          f"{datetime.date.today()}; lowered for {TARGET}.\n")
    wrong = check_values(driver)
    rows = sum(len(form["rows"]) for form in DATA["forms"])
    for which, words in (("as_is", "as they are"), ("isa", "lowered by the manual"), ("ptxas", "lowered by ptxas's code")):
        bad = wrong.get(which, [])
        print(f"- {rows - len(bad)} of {rows} rows of {len(DATA['forms'])} forms {words}: as vop evaluates them")
        for form, inputs, d, expected in bad[:5]:
            print(f"  - `{form}` on {', '.join(map(hex, inputs))}: {d:#010x}, not {expected:#010x}")
    print("\nMilliseconds as they are → lowered (times as fast):\n")
    print("| form | dependent stream | independent streams | arrays |\n| --- | --- | --- | --- |")
    for form, times in time_streams(driver):
        cells = [f"{a:.3f} → {b:.3f} ({a / b:.2f})" for a, b in zip(times[::2], times[1::2])]
        print(f"| `{form}` | {' | '.join(cells)} |")
    print(f"\n{time.time() - started:.0f} s in all.")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
