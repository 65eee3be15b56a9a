"""Every compiled loop, by subject. Kernels take arrays, numbers and integer codes.

A kernel may call compiled functions of other files: the machine code on disk is keyed by the
contents of all files that went into it (`_jit.cache.stamp`).
"""
