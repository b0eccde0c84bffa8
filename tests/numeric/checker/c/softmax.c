/* Softmax and its gradient in C99, judged without a binding: it reads vectors and writes answers.

       cc -O2 softmax.c -lm -o softmax
       python -m numeric vectors softmax vectors.safetensors --dtype float32
       ./softmax vectors.safetensors answers.safetensors
       python -m numeric check answers.safetensors --as softmax

   Single and double precision, as the vectors ask. -DUNSHIFTED and -DGRADIENT_WITHOUT_SUM make mistakes on purpose. The format is
   that of docs/vectors.md; the header of a file of vectors has no spaces, and its fields always stand in this order:

       "3/input/z":{"dtype":"F32","shape":[4,33],"data_offsets":[1024,1552]}                                              */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AXES 8

typedef struct {
    char dtype[8];
    int axes;
    size_t shape[MOST_AXES], entries, bytes;
    const char *data;
} Array;

typedef struct {
    char *bytes;
    size_t size;
} Buffer;

static void fail(const char *why, const char *what) {
    fprintf(stderr, "softmax: %s %s\n", why, what);
    exit(1);
}

static Buffer read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail("cannot read", path);
    long size = ftell(file);
    Buffer all = {size > 8 ? malloc((size_t)size + 1) : NULL, (size_t)size};
    rewind(file);
    if (!all.bytes || fread(all.bytes, 1, all.size, file) != all.size) fail("cannot read", path);
    fclose(file);
    all.bytes[all.size] = 0;
    return all;
}

static void append(Buffer *buffer, const void *bytes, size_t size) {
    buffer->bytes = realloc(buffer->bytes, buffer->size + size + 1);
    if (!buffer->bytes) fail("no memory", "");
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    buffer->bytes[buffer->size] = 0;
}

/* The array of this name; 0 where the file has none. */
static int find(const Buffer *file, const char *name, Array *array) {
    uint64_t header;
    memcpy(&header, file->bytes, 8); /* little-endian, as nearly every machine is */
    char start[128];
    snprintf(start, sizeof start, "\"%s\":{\"dtype\":\"", name);
    const char *entry = strstr(file->bytes + 8, start);
    if (!entry || entry > file->bytes + 8 + header) return 0;
    entry += strlen(start);
    size_t length = strcspn(entry, "\"");
    if (length >= sizeof array->dtype) fail("unknown dtype of", name);
    memcpy(array->dtype, entry, length);
    array->dtype[length] = 0;
    char *at = strchr(entry, '[') + 1;
    array->entries = 1;
    for (array->axes = 0; *at != ']'; array->axes++) {
        if (array->axes == MOST_AXES) fail("too many axes:", name);
        array->shape[array->axes] = strtoull(at, &at, 10);
        array->entries *= array->shape[array->axes];
        if (*at == ',') at++;
    }
    at = strchr(at, '[') + 1;
    size_t first = strtoull(at, &at, 10), end = strtoull(at + 1, NULL, 10);
    if (8 + header + end > file->size) fail("cut off before", name);
    array->data = file->bytes + 8 + header + first;
    array->bytes = end - first;
    return 1;
}

static int find_of(const Buffer *file, int number, const char *part, Array *array) {
    char name[64];
    snprintf(name, sizeof name, "%d/%s", number, part);
    return find(file, name, array);
}

/* Of a slice of n numbers that lie `step` apart: s = softmax(z / t), and dz = s (dy - sum s dy) / t. */
#define DEFINE(NAME, REAL, EXP)                                                                      \
    static void NAME(const REAL *z, const REAL *dy, REAL *s, REAL *dz, size_t n, size_t step, REAL t) { \
        REAL largest = z[0], sum = 0, inner = 0;                                                     \
        for (size_t i = 1; i < n; i++)                                                               \
            if (z[i * step] > largest) largest = z[i * step];                                        \
        if (UNSHIFTED_HERE) largest = 0;                                                             \
        for (size_t i = 0; i < n; i++) sum += s[i * step] = EXP((z[i * step] - largest) / t);        \
        for (size_t i = 0; i < n; i++) s[i * step] /= sum;                                           \
        if (!dy) return;                                                                             \
        for (size_t i = 0; i < n; i++) inner += s[i * step] * dy[i * step];                          \
        if (WITHOUT_SUM_HERE) inner = 0;                                                             \
        for (size_t i = 0; i < n; i++) dz[i * step] = s[i * step] * (dy[i * step] - inner) / t;      \
    }

#ifdef UNSHIFTED
#define UNSHIFTED_HERE 1
#else
#define UNSHIFTED_HERE 0
#endif
#ifdef GRADIENT_WITHOUT_SUM
#define WITHOUT_SUM_HERE 1
#else
#define WITHOUT_SUM_HERE 0
#endif

DEFINE(softmax_of_slice_f64, double, exp)
DEFINE(softmax_of_slice_f32, float, expf)

static void softmax(const Array *z, const Array *dy, char *s, char *dz, int axis, double t) {
    if (axis < 0) axis += z->axes;
    size_t outer = 1, inner = 1, n = z->shape[axis];
    for (int a = 0; a < axis; a++) outer *= z->shape[a];
    for (int a = axis + 1; a < z->axes; a++) inner *= z->shape[a];
    for (size_t i = 0; i < outer; i++)
        for (size_t j = 0; j < inner; j++) {
            size_t start = i * n * inner + j;
            if (!strcmp(z->dtype, "F64"))
                softmax_of_slice_f64((const double *)z->data + start, dy ? (const double *)dy->data + start : NULL,
                                     (double *)s + start, (double *)dz + start, n, inner, t);
            else
                softmax_of_slice_f32((const float *)z->data + start, dy ? (const float *)dy->data + start : NULL,
                                     (float *)s + start, (float *)dz + start, n, inner, (float)t);
        }
}

/* Adds an array to the answers: its entry to the header, its bytes to the data. */
static void answer(Buffer *header, Buffer *data, const char *name, const Array *like, const void *bytes) {
    char text[256];
    int used = snprintf(text, sizeof text, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", header->size > 1 ? "," : "", name, like->dtype);
    for (int a = 0; a < like->axes; a++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%zu", a ? "," : "", like->shape[a]);
    used += snprintf(text + used, sizeof text - (size_t)used, "],\"data_offsets\":[%zu,%zu]}", data->size, data->size + like->bytes);
    append(header, text, (size_t)used);
    append(data, bytes, like->bytes);
}

int main(int count, char **arguments) {
    if (count != 3) fail("needed two files:", "VECTORS.safetensors ANSWERS.safetensors");
    Buffer file = read_file(arguments[1]), header = {NULL, 0}, data = {NULL, 0};
    Array document, z, dy, axis, temperature;
    append(&header, "{", 1);
    if (!find(&file, "vectors", &document)) fail("no vectors in", arguments[1]);
    answer(&header, &data, "vectors", &document, document.data); /* which vectors these are the answers to */
    for (int k = 0; find_of(&file, k, "input/z", &z); k++) {
        if (strcmp(z.dtype, "F64") && strcmp(z.dtype, "F32")) fail("only float64 and float32, and not", z.dtype);
        if (!find_of(&file, k, "option/axis", &axis) || !find_of(&file, k, "option/temperature", &temperature))
            fail("no options in", arguments[1]);
        int64_t along;
        double t;
        memcpy(&along, axis.data, sizeof along);
        memcpy(&t, temperature.data, sizeof t);
        int gradients = find_of(&file, k, "cotangent", &dy);
        /* copies, since the data need not lie where a double may be read */
        char *in = malloc(z.bytes), *cotangent = malloc(z.bytes), *s = malloc(z.bytes), *dz = malloc(z.bytes);
        if (!in || !cotangent || !s || !dz) fail("no memory", "");
        Array aligned = z, aligned_dy = dy;
        aligned.data = memcpy(in, z.data, z.bytes);
        if (gradients) aligned_dy.data = memcpy(cotangent, dy.data, z.bytes);
        softmax(&aligned, gradients ? &aligned_dy : NULL, s, dz, (int)along, t);
        char name[64];
        snprintf(name, sizeof name, "%d/output", k);
        answer(&header, &data, name, &z, s);
        snprintf(name, sizeof name, "%d/gradient/z", k);
        if (gradients) answer(&header, &data, name, &z, dz);
        free(in), free(cotangent), free(s), free(dz);
    }
    append(&header, "}", 1);
    FILE *out = fopen(arguments[2], "wb");
    uint64_t length = header.size;
    if (!out || fwrite(&length, 8, 1, out) != 1 || fwrite(header.bytes, 1, header.size, out) != header.size ||
        fwrite(data.bytes, 1, data.size, out) != data.size || fclose(out))
        fail("cannot write", arguments[2]);
    return 0;
}
