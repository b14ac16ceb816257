// A sum of signed numbers, clamped into the lowest byte of a pixel, as rasterisers do it. By the manual a negative sum becomes 0;
// by the code that ptxas emits it becomes 255. `vop check --target sm_90 examples/check/clamp.cu` shows it.
__device__ unsigned shade(int light, int ambient, unsigned pixel) {
    unsigned d;
    asm("vadd.u32.s32.s32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(light), "r"(ambient), "r"(pixel));
    return d;
}
