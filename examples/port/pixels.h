// What a program computes of grey pixels, four in a word.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define DEVICE __device__ inline
#else
#define DEVICE inline
#endif

// Adds the four absolute differences to sum.
DEVICE void add_difference(unsigned &sum, unsigned a, unsigned b)
{
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
}

// Adds to each pixel, and stops at white.
DEVICE unsigned brighter(unsigned pixels, unsigned by)
{
    unsigned result;
    asm volatile("vadd4.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(result) : "r"(pixels), "r"(by * 0x01010101u), "r"(0));
    return result;
}

// The mean of two words, white where it is above a limit and black elsewhere.
DEVICE unsigned mask_of_mean(unsigned a, unsigned b, unsigned limit)
{
    unsigned result;
    asm("{\n\t"
        ".reg .u32 mean, above;\n\t"
        "vavrg4.u32.u32.u32 mean, %1, %2, %2;\n\t"
        "vset4.u32.u32.gt above, mean, %3, %3;  // 1 in each lane\n\t"
        "mul.lo.u32 %0, above, 255;\n\t"
        "}"
        : "=r"(result) : "r"(a), "r"(b), "r"(limit * 0x01010101u));
    return result;
}

// Half of the first pixel of `a` and half of the third of `b`, rounded down, on top of a start.
#define HALF_SUM(to, a, b, start)                                                                                      \
    asm("vadd.u32.u32.u32 %0, %1.b0, %2.b2;\n\t"                                                                       \
        "shr.u32 %0, %0, 1;\n\t"                                                                                       \
        "vadd.u32.u32.u32.add %0, %0, 0, %3;" : "=&r"(to) : "r"(a), "r"(b), "r"(start))
