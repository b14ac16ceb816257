// What each kernel beside this file is compiled with, three ways:
//
// - by nvcc, which brings all of CUDA along;
// - by clang for the device without NVIDIA's headers (-nocudainc -nocudalib): what the kernels use of CUDA is defined here;
// - by a plain C++ compiler (-DHOST), which runs the same source, or the plain reference that stands beside a kernel, and so says
//   what must come out. No PTX has a part in that.
//
// A kernel whose threads don't cooperate is run on the host by `EACH_THREAD(kernel)`, one thread after the other. For one whose
// threads do, a function of the same name and parameters under `#ifdef HOST` computes the result plainly: `ONCE(kernel)`.
#pragma once

#if defined(HOST)

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

struct uint3 {
    unsigned x = 0, y = 0, z = 0;
};
typedef uint3 dim3;
static uint3 threadIdx, blockIdx, blockDim, gridDim;

typedef std::function<void(const std::vector<std::string> &)> HostKernel;
static std::map<std::string, HostKernel> host_kernels;
static std::map<std::string, std::vector<char>> host_buffers;
static std::string host_folder;

static std::vector<char> host_read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        abort();
    return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

// An argument is `@` and a buffer's name, or bytes in hexadecimal.
template <class T> static T host_argument(const std::string &text) {
    if constexpr (std::is_pointer_v<T>) {
        std::string name = text.substr(1);
        if (text[0] != '@')
            abort();
        if (!host_buffers.count(name))
            host_buffers[name] = host_read(host_folder + "/" + name + ".in");
        return (T)host_buffers[name].data();
    } else {
        T value;
        if (text.size() != 2 * sizeof(T))
            abort();
        for (size_t i = 0; i < sizeof(T); i++)
            ((unsigned char *)&value)[i] = (unsigned char)std::stoul(text.substr(2 * i, 2), nullptr, 16);
        return value;
    }
}

template <class... A, size_t... I>
static void host_call(void (*f)(A...), bool once, const std::vector<std::string> &arguments, std::index_sequence<I...>) {
    if (arguments.size() != sizeof...(A))
        abort();
    std::tuple<std::remove_const_t<A>...> values{host_argument<std::remove_const_t<A>>(arguments[I])...};
    if (once)
        return std::apply(f, values);
    for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
                for (threadIdx.z = 0; threadIdx.z < blockDim.z; threadIdx.z++)
                    for (threadIdx.y = 0; threadIdx.y < blockDim.y; threadIdx.y++)
                        for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)
                            std::apply(f, values);
}

template <class... A> static bool host_add(const char *name, void (*f)(A...), bool once) {
    host_kernels[name] = [=](const std::vector<std::string> &arguments) {
        host_call(f, once, arguments, std::index_sequence_for<A...>{});
    };
    return true;
}

#define EACH_THREAD(kernel) static bool kernel##_added = host_add(#kernel, kernel, false);
#define ONCE(kernel) static bool kernel##_added = host_add(#kernel, kernel, true);

// Reads launches from `FOLDER/launches`, one a line: entry, grid, block, arguments. Buffers are `NAME.in`, and `NAME.out` after.
int main(int, char **argv) {
    host_folder = argv[1];
    std::ifstream launches(host_folder + "/launches");
    for (std::string line; std::getline(launches, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name >> gridDim.x >> gridDim.y >> gridDim.z >> blockDim.x >> blockDim.y >> blockDim.z;
        std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
        if (!host_kernels.count(name))
            abort();
        host_kernels[name](arguments);
    }
    for (auto &buffer : host_buffers)
        std::ofstream(host_folder + "/" + buffer.first + ".out", std::ios::binary).write(buffer.second.data(), buffer.second.size());
}

#else

#define EACH_THREAD(kernel)
#define ONCE(kernel)

#if defined(__clang__)

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

typedef unsigned char uint8_t;
typedef signed char int8_t;
typedef unsigned short uint16_t;
typedef short int16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long uint64_t;
typedef long int64_t;
typedef unsigned long size_t;

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// `threadIdx.x` reads a special register.
#define AXIS(name, axis) \
    __declspec(property(get = read_##axis)) unsigned axis; \
    static __device__ inline __attribute__((always_inline)) unsigned read_##axis() { return __nvvm_read_ptx_sreg_##name##_##axis(); }
#define INDEX(object, name) \
    struct object##_type { \
        AXIS(name, x) \
        AXIS(name, y) \
        AXIS(name, z) \
    }; \
    extern const __device__ __attribute__((weak)) object##_type object;
INDEX(threadIdx, tid)
INDEX(blockIdx, ctaid)
INDEX(blockDim, ntid)
INDEX(gridDim, nctaid)
#undef AXIS
#undef INDEX

extern "C" __device__ int printf(const char *, ...);

#define DEVICE static __device__ __forceinline__
DEVICE int min(int a, int b) { return a < b ? a : b; }
DEVICE int max(int a, int b) { return a > b ? a : b; }
DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
DEVICE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
DEVICE void __syncwarp(unsigned mask = ~0u) { __nvvm_bar_warp_sync(mask); }
DEVICE int __shfl_sync(unsigned mask, int value, int lane) { return __nvvm_shfl_sync_idx_i32(mask, value, lane, 31); }
DEVICE int __shfl_up_sync(unsigned mask, int value, int delta) { return __nvvm_shfl_sync_up_i32(mask, value, delta, 0); }
DEVICE int __shfl_down_sync(unsigned mask, int value, int delta) { return __nvvm_shfl_sync_down_i32(mask, value, delta, 31); }
DEVICE int __shfl_xor_sync(unsigned mask, int value, int other) { return __nvvm_shfl_sync_bfly_i32(mask, value, other, 31); }
DEVICE unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
DEVICE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
DEVICE unsigned atomicAdd(unsigned *p, unsigned v) { return __nvvm_atom_add_gen_i((int *)p, v); }
DEVICE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
DEVICE int atomicCAS(int *p, int compare, int v) { return __nvvm_atom_cas_gen_i(p, compare, v); }
DEVICE int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
DEVICE void __threadfence() { __nvvm_membar_gl(); }
#undef DEVICE

#else

#include <cstdint>
#include <cstdio>

#endif
#endif
