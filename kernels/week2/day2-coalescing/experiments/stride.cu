#include "lab.cuh"

// Copies n floats, a list of records of STRIDE floats each, field by field: first the first float of every record, then
// the second of every record, and so on. n is a multiple of 96 here, so that every STRIDE divides it.
#define STRIDE 8

extern "C" __global__ void copy(const float* x, float* y, int n)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n) {
        //@ field
        const int records = n / STRIDE;
        const int record = thread % records, field = thread / records;
        y[record * STRIDE + field] = x[record * STRIDE + field];
        //@ end
    }
}
