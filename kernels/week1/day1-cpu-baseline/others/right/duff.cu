// Duff's device for the sum.
#include "lab.cuh"

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int place = 0; place < rows * columns; place++) {
        const float *p = a + place / columns * inner, *q = b + place % columns;
        float sum = 0;
        int rounds = (inner + 3) / 4;
        switch (inner % 4) {
        case 0: do { sum += *p++ * *q; q += columns;
        case 3:      sum += *p++ * *q; q += columns;
        case 2:      sum += *p++ * *q; q += columns;
        case 1:      sum += *p++ * *q; q += columns;
                } while (--rounds > 0);
        }
        c[place] = sum;
    }
}
