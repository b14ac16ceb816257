#!/usr/bin/env python3
"""Runs the conformance suite of PTX video instructions through a CUDA driver.

    python3 run.py                               NVIDIA's driver; needs a GPU
    python3 run.py --libcuda PATH/libcuda.so     another implementation of the driver API
    python3 run.py --semantics manual            what an emulator of the manual must compute
    python3 run.py --vectors vectors-large.tsv --jobs 16
                                                 every row of a file, compiled here, by as many processes

It needs Python 3 and nothing else. It ends with 0 if every row is right, with 1 if one is wrong, and with 2 if it could not run.
HOW-TO-READ.md explains what it prints.
"""
import argparse, array, concurrent.futures, ctypes, multiprocessing, os, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
SEMANTICS = ("manual", "ptxas", "ptxas-13.2")
# Rows of a module that is made here: a driver compiles it in about a second.
ROWS_OF_MODULE = 500


class Failure(Exception):
    pass


class Driver:
    """The few functions of the driver API that this needs."""

    def __init__(self, path):
        try:
            self.library = ctypes.CDLL(path)
        except OSError as error:
            raise Failure(f"cannot load the driver: {error}")
        self("cuInit", 0)
        device = ctypes.c_int()
        self("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(256)
        self("cuDeviceGetName", name, 256, device)
        self.name = name.value.decode(errors="replace")
        capability = [ctypes.c_int(), ctypes.c_int()]
        for value, attribute in zip(capability, (75, 76)):
            self("cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
        self.capability = ".".join(str(value.value) for value in capability)
        version = ctypes.c_int()
        self("cuDriverGetVersion", ctypes.byref(version))
        self.version = (version.value // 1000, version.value % 1000 // 10)
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def code(self, function, *arguments):
        try:
            call = getattr(self.library, function)
        except AttributeError:
            raise Failure(f"the driver has no {function}") from None
        return call(*arguments)

    def __call__(self, function, *arguments):
        code = self.code(function, *arguments)
        if code:
            raise Failure(f"{function}: {self.error(code)}")

    def error(self, code):
        text = ctypes.c_char_p()
        try:
            self.code("cuGetErrorString", code, ctypes.byref(text))
        except Failure:
            pass  # The number says it.
        return f"error {code}" + (f", {text.value.decode(errors='replace')}" if text.value else "")

    def load(self, ptx):
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 8192)
        code = self.code("cuModuleLoadDataEx", ctypes.byref(module), ptx + b"\0", 2, options, values)
        if code:
            said = log.value.decode(errors="replace").strip()
            raise Failure(f"cuModuleLoadDataEx: {self.error(code)}" + (f"\n{said}" if said else ""))
        return module

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def words(self, pointer, count):
        words = array.array("I", bytes(4 * count))
        size = ctypes.c_size_t(4 * count)
        self("cuMemcpyDtoH_v2", (ctypes.c_char * size.value).from_buffer(words), pointer, size)
        return words

    def run(self, module, name, *arguments):
        function = ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in arguments))
        self("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, pointers, None)
        self("cuCtxSynchronize")

    def array(self, module, name, count):
        pointer, size = ctypes.c_uint64(), ctypes.c_size_t()
        self("cuModuleGetGlobal_v2", ctypes.byref(pointer), ctypes.byref(size), module, name.encode())
        if size.value != 4 * count:
            raise Failure(f"{name} has {size.value} bytes, not {4 * count}")
        return self.words(pointer, count)


def read(path):
    """The rows of a file by mnemonic: {mnemonic: [(form, [a, b, c, manual, ptxas, ptxas-13.2])]}."""
    rows = {}
    with open(path) as file:
        next(file)
        for line in file:
            form, *words = line.rstrip("\n").split("\t")
            rows.setdefault(form.partition(".")[0], []).append((form, [int(word, 16) for word in words]))
    return rows


def kernel(rows):
    """A module that computes rows, without a check."""
    inputs = ",".join(f"{word:#x}" for _, words in rows for word in words[:3])
    body = "".join(
        f"ld.global.b32 a,[inputs+{12 * i}];ld.global.b32 b,[inputs+{12 * i + 4}];ld.global.b32 c,[inputs+{12 * i + 8}];\n"
        f"{form};\nst.global.b32 [rows_got+{4 * i}],d;\n"
        for i, (form, _) in enumerate(rows))
    return (f".version 3.0\n.target sm_30\n.address_size 64\n.global .align 4 .b32 inputs[{3 * len(rows)}]={{{inputs}}};\n"
            f".visible .global .align 4 .b32 rows_got[{len(rows)}];\n.visible .entry rows()\n{{\n.reg .b32 a,b,c,d;\n{body}ret;\n}}\n").encode()


# The driver of this process, or why there is none. Each process has its own.
driver = None


def start(path):
    global driver
    try:
        driver = Driver(path)
    except Failure as failure:
        driver = failure


def about(_):
    if isinstance(driver, Failure):
        raise driver
    return driver.name, driver.capability, driver.version


def computed(task):
    """What the driver computes for the rows of a task, and what the kernel says of each semantics. Or a text that says why not."""
    mnemonic, rows, ptx, entry, checks = task
    try:
        module = driver.load(ptx)
        said = []
        for number in range(len(SEMANTICS) if checks else 0):
            result = driver.allocate(8)
            driver.run(module, entry, result, ctypes.c_uint32(number))
            said.append(tuple(driver.words(result, 2)))
            driver("cuMemFree_v2", result)
        if not checks:
            driver.run(module, entry)
        got = driver.array(module, f"{entry}_got", rows)
        driver("cuModuleUnload", module)
        return mnemonic, got, said
    except Failure as failure:
        return mnemonic, str(failure), None


def tasks(names, rows, made_here):
    """A task for each kernel of the suite, or for each part of the rows."""
    for name in names:
        if made_here:
            for first in range(0, len(rows[name]), ROWS_OF_MODULE):
                part = rows[name][first:first + ROWS_OF_MODULE]
                yield name, len(part), kernel(part), "rows", False
        else:
            with open(os.path.join(HERE, "kernels", f"{name}.ptx"), "rb") as file:
                yield name, len(rows[name]), file.read(), name, True


def run_all(path, jobs, names, rows, made_here):
    """What is known of the device, and for each mnemonic the values or a failure, and what its kernel says."""
    if jobs == 1:
        start(path)
        device, outcomes = about(None), map(computed, tasks(names, rows, made_here))
    else:
        # A driver does not survive a fork.
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(jobs, context, start, (path,)) as pool:
            device = pool.submit(about, None).result()
            outcomes = list(pool.map(computed, tasks(names, rows, made_here)))
    results = {}
    for name, got, said in outcomes:
        before, *_ = results.get(name, (array.array("I"),))
        # The first failure of a mnemonic stays.
        if isinstance(before, str) or isinstance(got, str):
            results[name] = (before if isinstance(before, str) else got, None)
        else:
            results[name] = (before + got, said)
    return device, results


def describe(mnemonic, number, row, got, column):
    form, (a, b, c, *expected) = row
    others = ", ".join(f"{name} {value:#010x}" for name, value in zip(SEMANTICS, expected))
    return (f"{mnemonic} row {number}: {form}\n"
            f"    a {a:#010x}, b {b:#010x}, c {c:#010x}: got {got:#010x}, expected {expected[column]:#010x} ({others})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], epilog="HOW-TO-READ.md explains what it prints.")
    parser.add_argument("mnemonics", nargs="*", metavar="MNEMONIC", help="only these, such as vadd4 (default: all 23)")
    parser.add_argument("--libcuda", default="libcuda.so.1", metavar="PATH", help="the driver (default: libcuda.so.1)")
    parser.add_argument("--semantics", choices=("auto",) + SEMANTICS, default="auto",
                        help="which column is right; auto takes that of the compiler in NVIDIA's driver (default: auto)")
    parser.add_argument("--vectors", metavar="FILE", help="compile and run the rows of this file, not the kernels")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many processes compile and run (default: 1)")
    parser.add_argument("--all", action="store_true", help="print every wrong row, and every form that differs from the manual")
    args = parser.parse_args()
    began = time.time()
    rows = read(args.vectors or os.path.join(HERE, "vectors-small.tsv"))
    if args.jobs < 1:
        parser.error("--jobs needs at least 1")
    unknown = [name for name in args.mnemonics if name not in rows]
    if unknown:
        raise Failure(f"no such mnemonic: {', '.join(unknown)}")
    names = args.mnemonics or list(rows)
    (device, capability, version), results = run_all(args.libcuda, args.jobs, names, rows, bool(args.vectors))
    # The driver's compiler is the ptxas of the driver's CUDA version.
    by_driver = "ptxas" if version >= (13, 3) else "ptxas-13.2"
    semantics = by_driver if args.semantics == "auto" else args.semantics
    column = SEMANTICS.index(semantics)
    print(f"{device}, compute capability {capability}, driver for CUDA {version[0]}.{version[1]}")
    print(f"right is what the column {semantics} says\n")
    print(f"{'':<18}   rows that differ from\n{'mnemonic':<10}{'rows':>8}" + "".join(f"{name:>12}" for name in SEMANTICS)
          + "   first wrong row")
    total, wrong_in_all, failed, messages, forms, differ = 0, [0] * 3, [], [], set(), {}
    for name in names:
        got, said = results[name]
        if isinstance(got, str):
            failed.append(name)
            print(f"{name:<10}{len(rows[name]):>8}   could not run")
            messages.append(f"{name}: {got}")
            continue
        wrong = [[i for i, (row, d) in enumerate(zip(rows[name], got)) if row[1][3 + by] != d] for by in range(3)]
        first = str(wrong[column][0] + 1) if wrong[column] else "-"
        print(f"{name:<10}{len(rows[name]):>8}" + "".join(f"{len(indices):>12}" for indices in wrong) + f"   {first}")
        # The kernel has compared, too.
        if said and said != [(indices[0] + 1 if indices else 0, len(indices)) for indices in wrong]:
            failed.append(name)
            messages.append(f"{name}: the kernel says (first wrong row, wrong rows) = {said}, and its values say otherwise: "
                            "comparisons, loops or stores of this implementation are wrong")
        total += len(got)
        wrong_in_all = [before + len(indices) for before, indices in zip(wrong_in_all, wrong)]
        shown = wrong[column] if args.all else wrong[column][:1]
        messages += [describe(name, i + 1, rows[name][i], got[i], column) for i in shown]
        forms.update(row[0] for row in rows[name])
        for i in wrong[0]:
            differ.setdefault(rows[name][i][0], i)
    print(f"{'all':<10}{total:>8}" + "".join(f"{count:>12}" for count in wrong_in_all) + "\n")
    if messages:
        print("wrong rows:" if args.all else "the first wrong row of each mnemonic:")
        print("\n".join(messages), end="\n\n")
    print(f"{len(forms) - len(differ)} of {len(forms)} forms compute what the manual says on all their rows"
          + (f"; {len(differ)} differ:" if differ else "."))
    for form in list(differ)[:None if args.all else 10]:
        print(f"    {form}")
    if len(differ) > 10 and not args.all:
        print(f"    … (--all prints all {len(differ)})")
    verdict = "could not run or contradicts itself: " + ", ".join(failed) if failed else \
        f"{wrong_in_all[column]} of {total} rows are wrong" if wrong_in_all[column] else "every row is right"
    print(f"\n{verdict}; {time.time() - began:.1f} s")
    return 2 if failed else int(wrong_in_all[column] > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, OSError) as failure:
        print(f"run.py: {failure}", file=sys.stderr)
        sys.exit(2)
