// Each fault that a kernel can make, and the error that CUDA gives for it. The argument names the fault.

#include <cassert>
#include <cstring>

#include <unistd.h>

#include "check.h"

__global__ void bounds(int *values) { values[threadIdx.x] = 1; }

__global__ void null(int *values) { *(values - reinterpret_cast<size_t>(values) / sizeof(int)) = 1; }

__global__ void misaligned(char *bytes) { *reinterpret_cast<int *>(bytes + 1) = 1; }

__global__ void asserted(int *values) { assert(values[0] == 42); }

__global__ void trapped() { __trap(); }

__global__ void endless(volatile int *value) {
    while (*value == 0) {}
}

__device__ int deep(volatile int *values, int depth) {
    volatile int local[64];
    local[depth % 64] = depth;
    return depth > (1 << 20) ? local[depth % 64] : deep(values, depth + 1) + local[depth % 64] + values[0];
}

__global__ void overflow(volatile int *values) { values[0] = deep(values, 0); }

// The shared memory of a block: every thread writes one place.
__global__ void race(int *result) {
    __shared__ int place;
    place = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) *result = place >= 0;
}

// A function of the host that never returns: what the stream was given behind it is never done.
void never(void *) {
    for (;;) pause();
}

int main(int count, char **arguments) {
    const char *fault = count > 1 ? arguments[1] : "none";
    int *values;
    CHECK(cudaMalloc(&values, 64 * sizeof(int)));
    CHECK(cudaMemset(values, 0, 64 * sizeof(int)));
    if (!std::strcmp(fault, "bounds")) bounds<<<1, 96>>>(values);
    else if (!std::strcmp(fault, "null")) null<<<1, 1>>>(values);
    else if (!std::strcmp(fault, "misaligned")) misaligned<<<1, 1>>>(reinterpret_cast<char *>(values));
    else if (!std::strcmp(fault, "assert")) asserted<<<1, 1>>>(values);
    else if (!std::strcmp(fault, "trap")) trapped<<<1, 1>>>();
    else if (!std::strcmp(fault, "endless")) endless<<<1, 1>>>(values);
    else if (!std::strcmp(fault, "stack")) overflow<<<1, 1>>>(values);
    else if (!std::strcmp(fault, "shape")) trapped<<<1, 2048>>>();
    else if (!std::strcmp(fault, "race")) race<<<1, 64>>>(values);
    else if (!std::strcmp(fault, "never")) {
        bounds<<<1, 64>>>(values);
        CHECK(cudaLaunchHostFunc(nullptr, never, nullptr));
        return 0;
    } else if (!std::strcmp(fault, "freed")) {
        bounds<<<1, 64>>>(values);
        CHECK(cudaFree(values));
        bounds<<<1, 1>>>(values);
    } else if (!std::strcmp(fault, "copy")) {
        std::printf("copy: %s\n", cudaGetErrorName(cudaMemcpy(values, fault, 1 << 20, cudaMemcpyHostToDevice)));
    } else if (std::strcmp(fault, "leak") && std::strcmp(fault, "none")) {
        std::fprintf(stderr, "there is no fault `%s`\n", fault);
        return 1;
    }
    // A launch that is wrong says so at once; a kernel that fails, when the host waits for it.
    std::printf("launch: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    std::printf("wait: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf("last: %s\n", cudaGetErrorName(cudaGetLastError()));
    // An error of a kernel stays.
    int *more;
    cudaError_t next = cudaMalloc(&more, 4);
    std::printf("next: %s\n", cudaGetErrorName(next));
    if (next == cudaSuccess) {
        CHECK(cudaFree(more));
        if (std::strcmp(fault, "leak") && std::strcmp(fault, "freed")) CHECK(cudaFree(values));
    }
    return 0;
}
