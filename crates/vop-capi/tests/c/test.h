/* What the test programs share. They are C and C++ at once. */
#ifndef TEST_H
#define TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vop.h"

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

/* A call that must succeed. It names `why` for the diagnostics. */
#define OK(call)                                                                             \
    do {                                                                                     \
        vop_diagnostics *why = NULL;                                                         \
        vop_status status = (call);                                                          \
        if (status != VOP_OK || why != NULL) {                                               \
            fprintf(stderr, "%s:%d: status %d: %s\n%s\n", __FILE__, __LINE__, (int)status,   \
                    #call, vop_diagnostics_rendered(why).data);                              \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

#define NUL VOP_NUL_TERMINATED

static inline int is(vop_str text, const char *expected) {
    return text.len == strlen(expected) && strcmp(text.data, expected) == 0;
}

static inline int has(vop_str text, const char *part) {
    return strlen(text.data) == text.len && strstr(text.data, part) != NULL;
}

#endif
