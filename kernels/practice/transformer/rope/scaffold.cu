extern "C" __global__ void rotate(const float* x, const float* cosine, const float* sine, float* rotated, int tokens, int heads, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * heads * (d / 2)) return;
    int pair = i % (d / 2), head = i / (d / 2) % heads, token = i / (d / 2) / heads;
    long long first = (long long)(token * heads + head) * d + pair, second = first + d / 2;
    // TODO: cosine and sine of this token and pair, then turn (x[first], x[second]).
    rotated[first] = x[first];
    rotated[second] = x[second];
}
