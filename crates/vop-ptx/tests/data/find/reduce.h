// 8-bit reductions on packed words.
template<> struct MULTI<FuncSum, int8_t> {
  __device__ uint32_t operator()(const uint32_t x, const uint32_t y) const {
#if (__CUDA_ARCH__ >= 300) && (__CUDA_ARCH__ < 500)
    int32_t rv, z=0;
    asm("vadd4.s32.s32.s32 %0, %1, %2, %3;" : "=r"(rv) : "r"(x), "r"(y), "r"(z));
    return rv;
#elif (__CUDA_ARCH__ >= 500)
    int32_t rv;
    asm("vmax4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(rv) : "r"(x), "r"(y), "r"(0));
    __asm__ __volatile__ ( "vmin4.s32.s32.s32 %[rv], %[x], %[y], %[z];" : [rv] "=r"(rv) : [x] "r"(x), [y] "r"(y), [z] "r"(0));
    return rv;
#endif
  }
};
