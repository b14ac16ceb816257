// Ray tracing: renders a scene of triangles with a tree of boxes (a bounding volume hierarchy).
//
// Compiled to raytrace.ptx with:  nvcc -arch=sm_75 -fmad=false -ptx raytrace.cu
// Run on the CPU with:            vop run raytrace.toml
//
// -fmad=false keeps products and sums apart, so that this arithmetic gives the same bits in another language.

// The video instructions. They compare the bits of floats as integers, which gives the order of non-negative floats. When a ray is
// tested against a box, negative floats may be ordered wrongly. This does no harm: the ray's start, which is not negative, replaces
// them, or the ray misses the box anyway (Aila, Laine and Karras, "Understanding the efficiency of ray traversal on GPUs", 2012,
// who found these instructions for ray tracing).

// max(min(a, b), c)
__device__ __forceinline__ float min_max(float a, float b, float c) {
    int d;
    asm("vmin.s32.s32.s32.max %0, %1, %2, %3;" : "=r"(d) : "r"(__float_as_int(a)), "r"(__float_as_int(b)), "r"(__float_as_int(c)));
    return __int_as_float(d);
}

// min(max(a, b), c)
__device__ __forceinline__ float max_min(float a, float b, float c) {
    int d;
    asm("vmax.s32.s32.s32.min %0, %1, %2, %3;" : "=r"(d) : "r"(__float_as_int(a)), "r"(__float_as_int(b)), "r"(__float_as_int(c)));
    return __int_as_float(d);
}

// max(max(a, b), c)
__device__ __forceinline__ float max_max(float a, float b, float c) {
    int d;
    asm("vmax.s32.s32.s32.max %0, %1, %2, %3;" : "=r"(d) : "r"(__float_as_int(a)), "r"(__float_as_int(b)), "r"(__float_as_int(c)));
    return __int_as_float(d);
}

// min(min(a, b), c)
__device__ __forceinline__ float min_min(float a, float b, float c) {
    int d;
    asm("vmin.s32.s32.s32.min %0, %1, %2, %3;" : "=r"(d) : "r"(__float_as_int(a)), "r"(__float_as_int(b)), "r"(__float_as_int(c)));
    return __int_as_float(d);
}

struct Vector {
    float x, y, z;
};

__device__ __forceinline__ Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Vector operator*(Vector a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ Vector cross(Vector a, Vector b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ __forceinline__ Vector unit(Vector a) { return a * (1 / sqrtf(dot(a, a))); }

// The first hit of a ray: its distance, and the triangle (-1 for none).
struct Hit {
    float distance;
    int triangle;
};

constexpr float FAR = 1e30f;

// The scene. A node of the tree is 16 words: the boxes of its two children, x from and to, y from and to of each, then z from and to
// of each; then the children, a node or, as ~(8 * first + count), a run of triangles; two words are not used. A triangle is its first
// corner and the ways from there to the others, three words each.
struct Scene {
    const float4 *nodes;
    const float *triangles;
};

__device__ __forceinline__ Vector load(const float *at) { return {__ldg(at), __ldg(at + 1), __ldg(at + 2)}; }

// The first triangle that a ray hits; of several at one distance, the one with the lowest number. With `any`, any hit will do.
__device__ Hit trace(Scene scene, Vector origin, Vector direction, float limit, bool any) {
    // No component may be 0: its inverse would be infinite, and 0 times infinity is not a number.
    constexpr float LEAST = 1e-20f;
    Vector inverse = {1 / (fabsf(direction.x) > LEAST ? direction.x : copysignf(LEAST, direction.x)),
                      1 / (fabsf(direction.y) > LEAST ? direction.y : copysignf(LEAST, direction.y)),
                      1 / (fabsf(direction.z) > LEAST ? direction.z : copysignf(LEAST, direction.z))};
    Hit hit = {limit, -1};
    int stack[32];
    int depth = 0;
    int node = 0;
    while (true) {
        // Down to a leaf, nearer children first.
        while (node >= 0) {
            float4 left = __ldg(&scene.nodes[4 * node]), right = __ldg(&scene.nodes[4 * node + 1]), z = __ldg(&scene.nodes[4 * node + 2]);
            float4 rest = __ldg(&scene.nodes[4 * node + 3]);
            int children[2] = {__float_as_int(rest.x), __float_as_int(rest.y)};
            auto enter_leave = [&](float4 xy, float z_from, float z_to, float &enter, float &leave) {
                float x0 = (xy.x - origin.x) * inverse.x, x1 = (xy.y - origin.x) * inverse.x;
                float y0 = (xy.z - origin.y) * inverse.y, y1 = (xy.w - origin.y) * inverse.y;
                float z0 = (z_from - origin.z) * inverse.z, z1 = (z_to - origin.z) * inverse.z;
                enter = max_max(fminf(x0, x1), fminf(y0, y1), min_max(z0, z1, 0));
                leave = min_min(fmaxf(x0, x1), fmaxf(y0, y1), max_min(z0, z1, hit.distance));
            };
            float enter[2], leave[2];
            enter_leave(left, z.x, z.y, enter[0], leave[0]);
            enter_leave(right, z.z, z.w, enter[1], leave[1]);
            bool first = enter[0] <= leave[0], second = enter[1] <= leave[1];
            if (first && second) {
                bool swap = enter[1] < enter[0];
                node = swap ? children[1] : children[0];
                stack[depth++] = swap ? children[0] : children[1];
            } else if (first || second) {
                node = first ? children[0] : children[1];
            } else {
                if (depth == 0)
                    return hit;
                node = stack[--depth];
            }
        }

        int start = ~node >> 3, count = ~node & 7;
        for (int i = start; i < start + count; i++) {
            const float *triangle = scene.triangles + 9 * i;
            Vector corner = load(triangle), a = load(triangle + 3), b = load(triangle + 6);
            // Möller and Trumbore.
            Vector across = cross(direction, b);
            float scale = 1 / dot(a, across);
            Vector from = origin - corner;
            float u = dot(from, across) * scale;
            Vector other = cross(from, a);
            float v = dot(direction, other) * scale;
            float distance = dot(b, other) * scale;
            if (u >= 0 && v >= 0 && u + v <= 1 && distance > 0 &&
                (distance < hit.distance || (distance == hit.distance && i < hit.triangle))) {
                hit = {distance, i};
                if (any)
                    return hit;
            }
        }
        if (depth == 0)
            return hit;
        node = stack[--depth];
    }
}

struct Camera {
    Vector eye, forward, right, up; // right and up are half the picture's width and height, at distance `forward`
};

__device__ Vector sky(Vector direction) {
    float height = fmaxf(direction.y, 0);
    return Vector{0.75f, 0.82f, 0.90f} * (1 - height) + Vector{0.18f, 0.32f, 0.62f} * height;
}

// The colour of a point without its reflections.
__device__ Vector shade(Scene scene, const float *colours, Vector light, Vector point, Vector normal, int triangle) {
    Vector colour = load(colours + 4 * triangle);
    // The first two triangles are the floor, a chessboard.
    if (triangle < 2 && ((int)floorf(point.x) + (int)floorf(point.z)) & 1)
        colour = colour * 0.35f;
    float facing = dot(normal, light);
    float direct = 0;
    if (facing > 0 && trace(scene, point + normal * 1e-3f, light, FAR, true).triangle < 0)
        direct = facing;
    return colour * (direct * 0.85f + normal.y * 0.1f + 0.2f);
}

// One thread for each pixel. `picture` gets red, green and blue, `seen` the triangle that the pixel shows (-1 for the sky), and
// `depth` the distance of that triangle.
//
// colours: red, green, blue and reflectivity of each triangle.
extern "C" __global__ void render(const float4 *nodes, const float *triangles, const float *colours, Camera camera, Vector light, int width,
                                  int height, unsigned char *picture, int *seen, float *depth) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    Scene scene = {nodes, triangles};
    float across = (2 * x + 1 - width) / (float)width, down = (2 * y + 1 - height) / (float)height;
    Vector origin = camera.eye;
    Vector direction = unit(camera.forward + camera.right * across - camera.up * down);

    Vector colour = {0, 0, 0};
    float weight = 1;
    for (int bounce = 0; bounce < 3; bounce++) {
        Hit hit = trace(scene, origin, direction, FAR, false);
        if (bounce == 0) {
            seen[y * width + x] = hit.triangle;
            depth[y * width + x] = hit.distance;
        }
        if (hit.triangle < 0) {
            colour = colour + sky(direction) * weight;
            break;
        }
        const float *triangle = triangles + 9 * hit.triangle;
        Vector normal = unit(cross(load(triangle + 3), load(triangle + 6)));
        if (dot(normal, direction) > 0)
            normal = normal * -1;
        Vector point = origin + direction * hit.distance;
        float mirror = __ldg(colours + 4 * hit.triangle + 3);
        if (bounce == 2)
            mirror = 0;
        colour = colour + shade(scene, colours, light, point, normal, hit.triangle) * (weight * (1 - mirror));
        if (mirror == 0)
            break;
        weight = weight * mirror;
        origin = point + normal * 1e-3f;
        direction = direction - normal * (2 * dot(normal, direction));
    }
    // The square root is close to the curve of screens.
    unsigned char *pixel = picture + 3 * (y * width + x);
    pixel[0] = (unsigned char)(sqrtf(fminf(colour.x, 1)) * 255 + 0.5f);
    pixel[1] = (unsigned char)(sqrtf(fminf(colour.y, 1)) * 255 + 0.5f);
    pixel[2] = (unsigned char)(sqrtf(fminf(colour.z, 1)) * 255 + 0.5f);
}
