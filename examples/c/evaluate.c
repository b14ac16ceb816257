/* Evaluates a video instruction: evaluate INSTRUCTION VALUE… */
#include <stdio.h>
#include <stdlib.h>
#include <vop.h>

/* Prints why a call failed, and frees that. */
static int fail(vop_diagnostics *why) {
    fprintf(stderr, "%s\n", vop_diagnostics_rendered(why).data);
    vop_diagnostics_free(why);
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 5) {
        fprintf(stderr, "usage: evaluate INSTRUCTION [A [B [C]]]\n");
        return 2;
    }
    uint32_t values[3], d;
    size_t count = 0;
    for (int i = 2; i < argc; i++) values[count++] = (uint32_t)strtoul(argv[i], NULL, 0);

    vop_diagnostics *why = NULL;
    vop_instruction *instruction = NULL;
    if (vop_parse(argv[1], VOP_NUL_TERMINATED, NULL, 0, &instruction, &why) != VOP_OK) return fail(why);
    printf("%s\n", vop_instruction_meaning(instruction).data);
    vop_status status = vop_eval(instruction, VOP_SEMANTICS_ISA, values, count, &d, &why);
    if (status == VOP_OK) printf("d = %#x\n", d);
    vop_instruction_free(instruction);
    return status == VOP_OK ? 0 : fail(why);
}
