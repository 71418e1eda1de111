// Neighbouring threads have records or rows of their own, which they change: what is written first in a language of objects.
// And one whose threads do not all give their variables values.
// All take three buffers of n floats and a number.

extern "C" {

struct Record {
    float a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};

// Every field of 64 bytes, in place.
__global__ void records(const Record* a, const float* b, Record* c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (16 * i + 15 >= n) return;
    for (int times = 0; times < 4; times++) {
        c[i].a += a[i].a, c[i].b += a[i].b, c[i].c += a[i].c, c[i].d += a[i].d;
        c[i].e += a[i].e, c[i].f += a[i].f, c[i].g += a[i].g, c[i].h += a[i].h;
        c[i].i += a[i].i, c[i].j += a[i].j, c[i].k += a[i].k, c[i].l += a[i].l;
        c[i].m += a[i].m, c[i].n += a[i].n, c[i].o += a[i].o, c[i].p += a[i].p;
    }
}

// A row of 33 floats each, which does not begin with a sector.
__global__ void rows_apart(const float* a, const float* b, float* c, unsigned n) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (33 * row + 32 >= n) return;
    float most = a[33 * row];
    for (int i = 1; i < 33; i++) most = fmaxf(most, a[33 * row + i]);
    for (int i = 0; i < 33; i++) c[33 * row + i] = a[33 * row + i] - most;
}

// Sums along rows of 64, in place.
__global__ void running(const float* a, const float* b, float* c, unsigned n) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (64 * row + 63 >= n) return;
    for (int i = 1; i < 64; i++) c[64 * row + i] += c[64 * row + i - 1];
}

// Half of the threads compute with what they never got, and keep it to themselves.
__global__ void half_set(const float* a, const float* b, float* c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x, y;
    if (b[i] > 3.0f) x = a[i], y = a[i ^ 1];
    float sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * x + y * k;
    if (b[i] > 3.0f) c[i] = sum;
}

}
