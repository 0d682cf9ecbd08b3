//go:build gpu && linux

/*
 * Every driver function is a jump through its place in a table, which driver.c
 * fills. The symbols are hidden: the real libraries must find the driver's own
 * functions, not these.
 */

#define FORWARD(name) FORWARD_(name, privkern_table_##name)

#if defined(__x86_64__)
#define FORWARD_(name, place) \
    .globl name; .hidden name; .type name, @function; name: jmp *place(%rip);
#elif defined(__aarch64__)
#define FORWARD_(name, place) \
    .globl name; .hidden name; .type name, %function; \
    name: adrp x16, place; ldr x16, [x16, :lo12:place]; br x16;
#else
#error "CUDA is supported on amd64 and arm64"
#endif

    .text
#include "symbols.h"

    .section .note.GNU-stack, "", %progbits
