// Clamps a sum of signed numbers to the lowest byte of a pixel, as rasterisers do. By the manual a negative sum becomes 0; ptxas's
// code makes it 255. `vop check --target sm_90 examples/check/clamp.cu` reports it.
__device__ unsigned shade(int light, int ambient, unsigned pixel) {
    unsigned d;
    asm("vadd.u32.s32.s32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(light), "r"(ambient), "r"(pixel));
    return d;
}
