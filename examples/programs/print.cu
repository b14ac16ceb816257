// `printf` in a kernel: what it writes appears when the host waits, and keeps its order with what the host writes.

#include "check.h"

__global__ void hello(const char *from) {
    if (threadIdx.x == 0) printf("block %d of %d: %s, %5.2f %c %x\n", blockIdx.x, gridDim.x, from, 1.5 * blockIdx.x, 'a' + blockIdx.x, 255);
}

int main() {
    char *text;
    CHECK(cudaMallocManaged(&text, 16));
    std::snprintf(text, 16, "a kernel");
    std::printf("before\n");
    // One block each, so that the order is certain.
    for (int i = 0; i < 2; i++) hello<<<1, 32>>>(text);
    CHECK(cudaDeviceSynchronize());
    std::printf("after\n");
    CHECK(cudaFree(text));
    return 0;
}
