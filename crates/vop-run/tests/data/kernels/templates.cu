// Templates: a linear algebra of fixed sizes, recursion at compile time, functors and lambdas, constexpr tables, overloads.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_80 -G # debug
// clang-22 --cuda-gpu-arch=sm_75 -O1 # clang-22
// launch templates grid=1 block=32
// buffer in s32 @lcg 64 seed 137 range -50 50
// buffer out s64 *160
#include "kernel.h"

template <class T, int N> struct Matrix {
    T cell[N][N];

    __device__ static Matrix one() {
        Matrix result = {};
        for (int i = 0; i < N; i++)
            result.cell[i][i] = 1;
        return result;
    }

    __device__ Matrix operator*(const Matrix &other) const {
        Matrix result = {};
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    result.cell[i][j] += cell[i][k] * other.cell[k][j];
        return result;
    }
};

template <unsigned E> struct Power {
    template <class M> __device__ static M of(const M &m) { return E % 2 ? m * Power<E / 2>::of(m * m) : Power<E / 2>::of(m * m); }
};
template <> struct Power<0> {
    template <class M> __device__ static M of(const M &) { return M::one(); }
};

template <class F, class... Rest> __device__ long long fold(F f, long long first, Rest... rest) {
    if constexpr (sizeof...(rest) == 0)
        return first;
    else
        return f(first, fold(f, rest...));
}

template <class F> __device__ __noinline__ long long times(int n, F f) {
    long long sum = 0;
    for (int i = 0; i < n; i++)
        sum += f(i);
    return sum;
}

__host__ __device__ constexpr int square_root(int n) {
    int root = 0;
    while ((root + 1) * (root + 1) <= n)
        root++;
    return root;
}

__device__ int kind(int) { return 1; }
__device__ int kind(unsigned) { return 2; }
__device__ int kind(float) { return 3; }
template <class T> __device__ int kind(T *) { return 4 + sizeof(T); }

extern "C" __global__ void templates(const int *in, long long *out) {
    int x = in[2 * threadIdx.x], y = in[2 * threadIdx.x + 1];
    long long *to = out + 5 * threadIdx.x;
    Matrix<long long, 2> fibonacci = {{{1, 1}, {1, x % 2}}};
    to[0] = Power<9>::of(fibonacci).cell[0][1];
    Matrix<int, 3> m = {{{x, 1, 0}, {0, y, 1}, {1, 0, 2}}};
    to[1] = Power<3>::of(m).cell[2][1] + m.cell[0][0];
    to[2] = fold([](long long a, long long b) { return a * 3 - b; }, x, y, x + y, 7, y - x);
    to[3] = times(10, [=](int i) { return (long long)x * i + y; }) + times((x & 7) + 1, [&](int i) { return in[i] - y; });
    to[4] = kind(x) + 10 * kind((unsigned)y) + 100 * kind(1.0f) + 1000 * kind(to) + square_root(1000);
}
EACH_THREAD(templates)
