"""The ground: compiled kernels, threads, warnings, whole files and locks."""
