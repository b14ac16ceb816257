// Packed 8-bit Smith-Waterman cells, four alignments a thread.
// An earlier version used vmax4.u32.u32.u32 here: a comment is not a use.
#include <stdint.h>

/* asm("vadd4.u32.u32.u32 %0, %1, %2, %3;") is not one either. */
__device__ __forceinline__ uint32_t add_sat(uint32_t a, uint32_t b)
{
    uint32_t r;
    asm("vadd4.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));
    return r;
}

__device__ __forceinline__ uint32_t cell(uint32_t h, uint32_t e, uint32_t f, uint32_t score)
{
    uint32_t t, m;
    asm volatile (
        "{\n\t"
        "  .reg .u32 x, y;\n\t"
        "  vadd4.s32.s32.s32.sat x, %2, %5, %2;\n\t"
        "  vmax4.s32.s32.s32 y, x, %3, x;    // best of diagonal and gap\n\t"
        "  vmax4.s32.s32.s32 %0, y, %4, y; vmin4.u32.u32.u32 %1, y, %4, y;\n\t"
        "}"
        : "=r"(t), "=r"(m)
        : "r"(h), "r"(e), "r"(f), "r"(score));
    return t ^ m;
}

#define MAX3(d, a, b, c) \
    asm("vmax.s32.s32.s32.max %0, %1, %2, %3;" \
        : "=r"(d) : "r"(a), "r"(b), "r"(c))

__device__ int vmax(int a, int b);                 // a function of that name
__device__ int use(int a) { return vmax(a, 1) + __vadd4(a, 2) + vmin4_helper(a); }
