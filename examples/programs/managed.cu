// Memory that host and device use together: managed, mapped and registered; and variables of the module.

#include <cstring>

#include "check.h"

struct Node {
    int value;
    Node *next;
};

__managed__ int total = 5;
__device__ int counter = 7;
__constant__ float factors[4] = {1, 2, 3, 4};

__global__ void sum(Node *list) {
    for (Node *node = list; node; node = node->next) total += node->value;
    counter += 1;
}

__global__ void scale(float *values, int count) {
    int i = threadIdx.x;
    if (i < count) values[i] *= factors[i % 4];
}

int main() {
    // A list that the host builds and the device walks.
    Node *list = nullptr;
    for (int i = 1; i <= 10; i++) {
        Node *node;
        CHECK(cudaMallocManaged(&node, sizeof(Node)));
        *node = {i, list};
        list = node;
    }
    sum<<<1, 1>>>(list);
    CHECK(cudaDeviceSynchronize());
    expect("list of managed memory", total == 5 + 55);
    total = 0;
    sum<<<1, 1>>>(list);
    CHECK(cudaDeviceSynchronize());
    expect("managed variable, written by the host", total == 55);
    for (Node *next; list; list = next) {
        next = list->next;
        CHECK(cudaFree(list));
    }

    int found = 0;
    CHECK(cudaMemcpyFromSymbol(&found, counter, sizeof found));
    expect("variable of the device", found == 9);

    // Constants are set through their symbol; host memory is used by its address.
    const float others[4] = {2, 4, 6, 8};
    CHECK(cudaMemcpyToSymbol(factors, others, sizeof others));
    float *mapped, *same;
    CHECK(cudaHostAlloc(&mapped, 64 * sizeof(float), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&same, mapped, 0));
    for (int i = 0; i < 64; i++) mapped[i] = 1;
    scale<<<1, 64>>>(same, 64);
    CHECK(cudaDeviceSynchronize());
    bool is_right = true;
    for (int i = 0; i < 64; i++) is_right &= mapped[i] == others[i % 4];
    expect("mapped memory", is_right);

    float *own = static_cast<float *>(std::malloc(64 * sizeof(float)));
    for (int i = 0; i < 64; i++) own[i] = 10;
    CHECK(cudaHostRegister(own, 64 * sizeof(float), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&same, own, 0));
    scale<<<1, 64>>>(same, 64);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(own));
    is_right = true;
    for (int i = 0; i < 64; i++) is_right &= own[i] == 10 * others[i % 4];
    expect("registered memory", is_right);

    // What a pointer is.
    cudaPointerAttributes attributes;
    void *device;
    CHECK(cudaMalloc(&device, 1024));
    CHECK(cudaPointerGetAttributes(&attributes, static_cast<char *>(device) + 100));
    expect("pointer of the device", attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    CHECK(cudaPointerGetAttributes(&attributes, mapped));
    expect("pointer of the host", attributes.type == cudaMemoryTypeHost && attributes.hostPointer == mapped);
    CHECK(cudaPointerGetAttributes(&attributes, own));
    expect("pointer of nobody", attributes.type == cudaMemoryTypeUnregistered);

    // Rows of 100 bytes, one after the other, into rows with a pitch, and back.
    char rows[8][100], back[8][100];
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 100; x++) rows[y][x] = static_cast<char>(y * 31 + x);
    void *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, 100, 8));
    CHECK(cudaMemset2D(pitched, pitch, 0, 100, 8));
    CHECK(cudaMemcpy2D(pitched, pitch, rows, 100, 100, 8, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(back, 100, pitched, pitch, 100, 8, cudaMemcpyDefault));
    expect("rows with a pitch", pitch >= 100 && std::memcmp(rows, back, sizeof rows) == 0);

    std::free(own);
    CHECK(cudaFreeHost(mapped));
    CHECK(cudaFree(device));
    CHECK(cudaFree(pitched));
    return wrong;
}
