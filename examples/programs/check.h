// What the programs beside this file share.

#pragma once

#include <cstdio>
#include <cstdlib>

// Ends the program if a call of CUDA fails.
#define CHECK(call)                                                                                              \
    do {                                                                                                         \
        cudaError_t error = (call);                                                                              \
        if (error != cudaSuccess) {                                                                              \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));       \
            std::exit(2);                                                                                        \
        }                                                                                                        \
    } while (0)

// Prints one line, and counts what is wrong.
static int wrong = 0;

static void expect(const char *what, bool is_right) {
    std::printf("%s: %s\n", what, is_right ? "right" : "WRONG");
    wrong += !is_right;
}
