#include "lab.cuh"

// variance[row], all rows by one thread.
extern "C" __global__ void finish(const float* squares, float* variance, int m, int n, float epsilon)
{
    for (int row = 0; row < m; row++) {
        variance[row] = squares[row] / n + epsilon;
    }
}
