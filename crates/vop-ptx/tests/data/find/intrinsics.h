/*===---- device functions written as inline asm ----===*/
#define __DEVICE__ static __device__ __forceinline__
__DEVICE__ unsigned int __vabsdiffu2(unsigned int __a, unsigned int __b) {
  unsigned int __r;
  __asm__("vabsdiff2.u32.u32.u32 %0,%1,%2,%3;"
          : "=r"(__r)
          : "r"(__a), "r"(__b), "r"(0));
  return __r;
}
__DEVICE__ unsigned int __vavgs4(unsigned int __a, unsigned int __b) {
  unsigned int __r;
  __asm__("vavrg4.s32.s32.s32 %0,%1,%2,%3;"
          : "=r"(__r)
          : "r"(__a), "r"(__b), "r"(0));
  return __r;
}
__DEVICE__ unsigned int __vcmpeq4(unsigned int __a, unsigned int __b) { return __vseteq4(__a, __b) * 255; }
