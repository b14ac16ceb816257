#pragma once
#if __CUDA_ARCH__ >= 300
#  define HAS_VIDEO 1
#endif

__device__ __forceinline__ uint vadd2(uint a, uint b)
{
    uint r = 0;

#if __CUDA_ARCH__ >= 300
    asm("vadd2.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
#elif __CUDA_ARCH__ >= 200
    asm("vadd.u32.u32.u32.sat %0.h0, %1.h0, %2.h0, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    asm("vadd.u32.u32.u32.sat %0.h1, %1.h1, %2.h1, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
#else
    r = a + b;
#endif

    return r;
}

__device__ __forceinline__ uint vseteq4(uint a, uint b)
{
    uint r = 0, c = 'v', d = '"';
    unsigned long big = 1'000'000;
    asm("vset4.u32.u32.eq %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    asm("varvg4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    asm("VAVRG4.U32.U32.U32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    asm("vmul2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    return r;
}

// Members and variables called like instructions.
struct Range { float vmin; struct { float x; } vmax; };
inline float width(Range r, float vmin, int vadd) { return vmax.x - r.vmin + vadd; }
inline void vote() { asm volatile("vote.sync.ballot.b32 %0, p, 0xffffffff;" :: ); asm volatile("" ::: "memory"); }
