"""Optional compilation: every kernel is plain Python that numba makes fast.

Used by new kernels. Without numba the same functions run about a hundred times slower.

numba invalidates its cache only when the kernel's own file changes, so a kernel calls only kernels
of its own file.
"""

try:
    from numba import njit
except ImportError:  # a Python too new for numba, or a browser

    def njit(**_options):  # type: ignore[no-untyped-def]
        """Stand in for numba's: leave the function as it is."""
        return lambda function: function


kernel = njit(cache=True, nogil=True, error_model="numpy")
