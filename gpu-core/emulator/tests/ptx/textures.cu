// What NVRTC makes of CUDA's texture and surface functions: textures.sm_75.ptx is this file, compiled for compute_75.
extern "C" __global__ void textures(cudaTextureObject_t t, const float *in, const int *at, float *out) {
    float x = in[0], y = in[1], z = in[2];
    int layer = at[0];
    bool resident;
    float4 around = tex2Dgather<float4>(t, x, y, 2);
    uchar4 colour = tex2D<uchar4>(t, x, y);
    short2 pair = tex1DLayered<short2>(t, x, layer);
    out[0] = tex1Dfetch<float>(t, layer) + tex1D<float>(t, x) + tex2D<float>(t, x, y) + tex3D<float>(t, x, y, z);
    out[1] = tex2DLayered<float>(t, x, y, layer) + texCubemap<float>(t, x, y, z);
    out[2] = texCubemapLayered<float>(t, x, y, z, layer) + around.x + around.y + around.z + around.w;
    out[3] = tex1DLod<float>(t, x, z) + tex2DLod<float>(t, x, y, z) + tex3DLod<float>(t, x, y, z, x);
    out[4] = tex2DGrad<float>(t, x, y, make_float2(x, y), make_float2(y, z));
    out[5] = tex3DGrad<float>(t, x, y, z, make_float4(x, y, z, 0), make_float4(z, y, x, 0));
    out[6] = tex2D<float>(t, x, y, &resident) + resident + texCubemapLod<float>(t, x, y, z, x);
    out[7] = colour.x + colour.w + pair.x + pair.y;
}

extern "C" __global__ void surfaces(cudaSurfaceObject_t s, const int *at, int *out) {
    int x = at[0], y = at[1], z = at[2], word;
    int4 four;
    short2 pair;
    unsigned char byte;
    long long wide;
    surf1Dread(&word, s, 4 * x, cudaBoundaryModeClamp);
    surf2Dread(&four, s, 16 * x, y);
    surf2DLayeredread(&pair, s, 4 * x, y, z, cudaBoundaryModeZero);
    surf3Dread(&byte, s, x, y, z);
    surf1DLayeredread(&wide, s, 8 * x, z);
    out[0] = word + four.x + four.y + four.z + four.w + pair.x + pair.y + byte + int(wide);
    surf1Dwrite(word, s, 4 * x);
    surf2Dwrite(four, s, 16 * x, y, cudaBoundaryModeZero);
    surf2DLayeredwrite(pair, s, 4 * x, y, z);
    surf3Dwrite(byte, s, x, y, z, cudaBoundaryModeClamp);
    surfCubemapwrite(word, s, 4 * x, y, 3);
}
