// A thread for each number: four loads for one result.
// does not reach: Four loads, two results
// does not reach: Tables in registers
// lockstep: rotate.grid = ceil_div(tokens * heads * d, 128)
extern "C" __global__ void rotate(const float* x, const float* cosine, const float* sine, float* rotated, int tokens, int heads, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * heads * d) return;
    int half = d / 2, column = i % d, token = i / d / heads, pair = column % half;
    float c = cosine[token * half + pair], s = sine[token * half + pair];
    float other = column < half ? -x[i + half] : x[i - half];
    rotated[i] = x[i] * c + other * s;
}
