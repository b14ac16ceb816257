// Written by `cargo xtask docs`; a test fails when it is not what that writes.
//
// Executes forms of video instructions for which ptxas's code disagrees with the manual (docs/ptxas.md) on this machine's GPU,
// and prints whose result each is:
//
//     nvcc -arch=native -o ptxas docs/ptxas.cu && ./ptxas
//
// The exit status is 0 if every result is the expected one for the ptxas of the compiler's release.

#include <cstdio>
#include <cstdlib>

struct Row {
    const char *form, *deviation;
    unsigned in[3], manual, newest, older;
};

static const Row rows[] = {
    {"vmad.u32.u32.u32.shr7 d, a, b, c", "signed-words", {0x0, 0x0, 0xffffffff}, 0x1ffffff, 0xffffffff, 0xffffffff},
    {"vmad.u32.u32.u32.sat.shr7 d, a, b, c", "unsigned-scale", {0x0, 0x0, 0xffffffff}, 0x1ffffff, 0xffffffff, 0xffffffff},
    {"vshl.s32.u32.u32.clamp.min d, a, b, c", "low-64-bits", {0xffffffff, 0x20, 0x1}, 0x1, 0x0, 0x0},
    {"vshl.u32.u32.u32.sat.clamp d, a, b", "low-34-bits", {0xffffffff, 0x2, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vshl.u32.u32.u32.sat.clamp d.b0, a, b, c", "shift-to-word", {0x1, 0x8, 0x0}, 0xff, 0x0, 0x0},
    {"vshr.u32.u32.u32.sat.clamp d.b0, a, b, c", "shift-to-word", {0x100, 0x0, 0x0}, 0xff, 0x0, 0x0},
    {"vadd.u32.s32.u32.sat d.b0, a, b, c", "unsigned-part", {0xffffffff, 0x0, 0x0}, 0x0, 0xff, 0xff},
    {"vsub.u32.u32.u32.sat d.b0, a, b, c", "unsigned-part", {0x0, 0x1, 0x0}, 0x0, 0xff, 0xff},
    {"vmin.u32.s32.u32.sat d.b0, a, b, c", "unsigned-part", {0xffffffff, 0x0, 0x0}, 0x0, 0xff, 0xff},
    {"vmax.u32.s32.s32.sat d.b0, a, b, c", "unsigned-part", {0xffffffff, 0xffffffff, 0x0}, 0x0, 0xff, 0xff},
    {"vadd.u32.u32.u32.sat d, a, b", "sign-only", {0x1, 0xffffffff, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vsub.u32.u32.s32.sat d, a, b", "sign-only", {0xffffffff, 0xffffffff, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vabsdiff.u32.s32.u32.sat d, a, b", "sign-only", {0xffffffff, 0xffffffff, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vadd.u32.u32.u32.min d, a, b, c", "low-32-bits", {0x1, 0xffffffff, 0x1}, 0x1, 0x0, 0x0},
    {"vsub.u32.u32.u32.min d, a, b.b0, c", "low-32-bits", {0xffffffff, 0x1, 0xffffffff}, 0xfffffffe, 0xffffffff, 0xffffffff},
    {"vshl.u32.u32.u32.sat.clamp.min d, a, b, c", "low-32-bits", {0x7fffffff, 0x1, 0xffffffff}, 0xfffffffe, 0xffffffff, 0xffffffff},
    {"vshr.u32.u32.u32.sat.clamp.min d, a, b, c", "low-32-bits", {0x80000000, 0x0, 0xffffffff}, 0x80000000, 0xffffffff, 0xffffffff},
    {"vadd.u32.s32.u32.min d, a, b.b0, c", "unsigned-compare", {0xffffffff, 0x0, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vsub.u32.u32.u32.min d, a, b, c", "unsigned-compare", {0x0, 0x1, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vmin.u32.s32.u32.min d, a, b, c", "unsigned-compare", {0xffffffff, 0x0, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vmax.u32.s32.s32.min d, a, b, c", "unsigned-compare", {0xffffffff, 0xffffffff, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vshl.u32.s32.u32.clamp.min d, a, b, c", "unsigned-compare", {0xffffffff, 0x0, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vshr.u32.s32.u32.clamp.min d, a, b, c", "unsigned-compare", {0xffffffff, 0x0, 0x0}, 0xffffffff, 0x0, 0x0},
    {"vset.s32.u32.eq.min d, a, b, c", "c-signed-as-a", {0x0, 0x0, 0xffffffff}, 0x1, 0xffffffff, 0xffffffff},
    {"vadd.u32.u32.u32 d.h1, a, b, c", "wrong-half", {0x0, 0x1, 0x0}, 0x10000, 0x10000, 0x0},
    {"vsub.u32.u32.u32 d.h1, a, b, c", "wrong-half", {0x1, 0x0, 0x0}, 0x10000, 0x10000, 0x0},
    {"vabsdiff.u32.u32.u32 d.h1, a, b, c", "wrong-half", {0x0, 0x1, 0x0}, 0x10000, 0x10000, 0x0},
    {"vmin.u32.u32.u32 d.h1, a, b, c", "wrong-half", {0x1, 0x1, 0x0}, 0x10000, 0x10000, 0x0},
    {"vmax.u32.u32.u32 d.h1, a, b, c", "wrong-half", {0x0, 0x1, 0x0}, 0x10000, 0x10000, 0x0},
    {"vshl.u32.u32.u32.clamp d.h1, a, b, c", "wrong-half", {0x1, 0x0, 0x0}, 0x10000, 0x10000, 0x0},
    {"vshr.u32.u32.u32.clamp d.h1, a, b, c", "wrong-half", {0x1, 0x0, 0x0}, 0x10000, 0x10000, 0x0},
    {"vset.u32.u32.eq d.h1, a, b, c", "wrong-half", {0x0, 0x0, 0x0}, 0x10000, 0x10000, 0x0},
};
constexpr int count = sizeof rows / sizeof *rows;

__global__ void execute(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x;
    // Loaded, so that ptxas cannot compute the results itself.
    unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], d = 0;
    switch (i) {
    case 0: asm volatile("vmad.u32.u32.u32.shr7 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 1: asm volatile("vmad.u32.u32.u32.sat.shr7 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 2: asm volatile("vshl.s32.u32.u32.clamp.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 3: asm volatile("vshl.u32.u32.u32.sat.clamp %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 4: asm volatile("vshl.u32.u32.u32.sat.clamp %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 5: asm volatile("vshr.u32.u32.u32.sat.clamp %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 6: asm volatile("vadd.u32.s32.u32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 7: asm volatile("vsub.u32.u32.u32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 8: asm volatile("vmin.u32.s32.u32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 9: asm volatile("vmax.u32.s32.s32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 10: asm volatile("vadd.u32.u32.u32.sat %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 11: asm volatile("vsub.u32.u32.s32.sat %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 12: asm volatile("vabsdiff.u32.s32.u32.sat %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 13: asm volatile("vadd.u32.u32.u32.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 14: asm volatile("vsub.u32.u32.u32.min %0, %1, %2.b0, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 15: asm volatile("vshl.u32.u32.u32.sat.clamp.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 16: asm volatile("vshr.u32.u32.u32.sat.clamp.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 17: asm volatile("vadd.u32.s32.u32.min %0, %1, %2.b0, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 18: asm volatile("vsub.u32.u32.u32.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 19: asm volatile("vmin.u32.s32.u32.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 20: asm volatile("vmax.u32.s32.s32.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 21: asm volatile("vshl.u32.s32.u32.clamp.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 22: asm volatile("vshr.u32.s32.u32.clamp.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 23: asm volatile("vset.s32.u32.eq.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 24: asm volatile("vadd.u32.u32.u32 %0.h1, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 25: asm volatile("vsub.u32.u32.u32 %0.h1, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 26: asm volatile("vabsdiff.u32.u32.u32 %0.h1, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 27: asm volatile("vmin.u32.u32.u32 %0.h1, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 28: asm volatile("vmax.u32.u32.u32 %0.h1, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 29: asm volatile("vshl.u32.u32.u32.clamp %0.h1, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 30: asm volatile("vshr.u32.u32.u32.clamp %0.h1, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    case 31: asm volatile("vset.u32.u32.eq %0.h1, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); break;
    }
    out[i] = d;
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(2);
    }
}

int main()
{
    unsigned *in, *out;
    check(cudaMallocManaged(&in, 3 * count * sizeof *in));
    check(cudaMallocManaged(&out, count * sizeof *out));
    for (int i = 0; i < 3 * count; i++)
        in[i] = rows[i / 3].in[i % 3];
    execute<<<count, 1>>>(in, out);
    check(cudaDeviceSynchronize());
    const int version = 100 * __CUDACC_VER_MAJOR__ + __CUDACC_VER_MINOR__;
    int surprises = 0;
    for (int i = 0; i < count; i++) {
        const Row &row = rows[i];
        unsigned expected = version < 1303 ? row.older : row.newest;
        const char *whose = out[i] == row.manual ? "as the manual" : out[i] == row.newest ? "as ptxas 13.3 and later"
                          : out[i] == row.older  ? "as ptxas 11.7 to 13.2" : "as none";
        surprises += out[i] != expected;
        printf("%-16s %-44s %08x %08x %08x -> %08x %s%s\n", row.deviation, row.form, row.in[0], row.in[1], row.in[2], out[i],
               whose, out[i] == expected ? "" : ", which is not expected");
    }
    printf("%d forms, %d not as expected of ptxas %d.%d\n", count, surprises, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
    return surprises != 0;
}
