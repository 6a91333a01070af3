/* What the extensions were built with, and what they choose on this machine. */
#ifndef RISKSLIM_BUILD_H
#define RISKSLIM_BUILD_H

#include "blocks.h"

#if defined(__clang__)
#define RS_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define RS_COMPILER "gcc " __VERSION__
#elif defined(_MSC_VER)
#define RS_COMPILER "msvc"
#else
#define RS_COMPILER "unknown"
#endif

/* The version of RS_CLONES that the loader has picked: it asks for the same features. */
static const char *rs_vector_level(void)
{
#if defined(RS_CLONES)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl"))
        return "x86-64-v4 (AVX-512)";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")
        && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        return "x86-64-v3 (AVX2)";
    return "baseline of x86-64";
#else
    return "baseline (no versions to choose from)";
#endif
}

#endif
