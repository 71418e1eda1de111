"""Times one kernel in Numba's CUDA simulator: `numba_sim.py vadd|matmul`, with NUMBA_ENABLE_CUDASIM=1 set.

Prints the seconds that the launch took. Data, sizes and blocks are those of the emulator's case of the same name.
"""

import sys
import time

import numpy as np
from numba import cuda


@cuda.jit
def vadd(a, b, c, n):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        c[i] = a[i] + b[i]


@cuda.jit
def matmul(a, b, c, n):
    x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    total = np.float32(0)
    for k in range(n):
        total += a[y * n + k] * b[k * n + x]
    c[y * n + x] = total


def main():
    name = sys.argv[1]
    words, n, grid, block = {
        "vadd": (65536, 65536, 256, 256),
        "matmul": (4096, 64, (4, 4), (16, 16)),
    }[name]
    a = (np.arange(words) % 7).astype(np.float32)
    buffers = [cuda.to_device(a), cuda.to_device(a), cuda.to_device(np.zeros(words, np.float32))]
    kernel = {"vadd": vadd, "matmul": matmul}[name]
    start = time.perf_counter()
    kernel[grid, block](*buffers, n)
    seconds = time.perf_counter() - start
    result = buffers[2].copy_to_host()
    if name == "vadd":
        expected = a + a
    else:
        square = a.reshape(n, n)
        expected = (square @ square).reshape(-1)
    assert np.allclose(result, expected), "the simulator computed something else"
    print(seconds)


main()
