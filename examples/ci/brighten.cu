// Adds `amount` to each byte of an image, four bytes a word, and clamps at 255.
extern "C" __global__ void brighten(unsigned *image, unsigned words, unsigned amount) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words)
        asm("vadd4.u32.u32.u32.sat %0, %0, %1, %0;" : "+r"(image[i]) : "r"(amount * 0x01010101u));
}
