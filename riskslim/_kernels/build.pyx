"""Compiler and options that the extensions were built with."""


cdef extern from "build.h":
    const char *RS_COMPILER
    const char *rs_vector_level() noexcept


def compiler():
    """Name and version of the compiler."""
    return RS_COMPILER.decode()


def vector_level():
    """Instructions in use here, of those that the loops over the rows were compiled for."""
    return rs_vector_level().decode()
