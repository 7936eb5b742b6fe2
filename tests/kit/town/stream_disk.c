/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_disk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file that is open: of an input the bytes are borrowed. */
struct spool_file {
    bool made;
    uint8_t *bytes;
    size_t length;
};

struct vectors_file {
    char name[STREAM_DISK_NAME];
    uint8_t *bytes;
    size_t length;
};

static const struct stream_blob *find(const struct stream_blob *blobs, const char *name)
{
    for (int i = 0; i < STREAM_DISK_FILES; i++) {
        if (blobs[i].name[0] != '\0' && strcmp(blobs[i].name, name) == 0) {
            return &blobs[i];
        }
    }
    return NULL;
}

/* Takes the bytes. */
static void put(struct stream_blob *blobs, const char *name, uint8_t *bytes, size_t length)
{
    for (int i = 0; i < STREAM_DISK_FILES; i++) {
        struct stream_blob *b = &blobs[i];
        if (b->name[0] == '\0' || strcmp(b->name, name) == 0) {
            free(b->bytes);
            snprintf(b->name, sizeof b->name, "%s", name);
            b->bytes = bytes;
            b->length = length;
            return;
        }
    }
    abort();
}

static void *grow(void *bytes, size_t length)
{
    void *p = realloc(bytes, length + 1);
    if (p == NULL) {
        abort();
    }
    return p;
}

/* ---- The spool, and inputs --------------------------------------------------------------------------------------- */

static int make(void *context, const char *folder, struct spool_file **out)
{
    struct stream_disk *d = context;
    (void)folder;
    *out = calloc(1, sizeof **out);
    (*out)->made = true;
    d->handles++;
    return 0;
}

static int spool_write(void *context, struct spool_file *f, const uint8_t *bytes, uint64_t length)
{
    struct stream_disk *d = context;
    if (d->spool_error < 0) {
        return d->spool_error;
    }
    f->bytes = grow(f->bytes, f->length + length);
    memcpy(f->bytes + f->length, bytes, length);
    f->length += length;
    d->spooled += length;
    return 0;
}

static int input(void *context, const char *folder, const char *name, struct spool_file **out, uint64_t *length)
{
    struct stream_disk *d = context;
    const struct stream_blob *b = find(d->input, name);
    (void)folder;
    if (b == NULL) {
        return -ENOENT;
    }
    *out = calloc(1, sizeof **out);
    (*out)->bytes = b->bytes;
    (*out)->length = b->length;
    *length = b->length;
    d->handles++;
    return 0;
}

static int spool_read(void *context, struct spool_file *f, uint64_t offset, uint8_t *out, uint64_t length)
{
    (void)context;
    if (offset + length > f->length) {
        return -ENODATA;
    }
    memcpy(out, f->bytes + offset, length);
    return 0;
}

static void spool_close_file(void *context, struct spool_file *f)
{
    struct stream_disk *d = context;
    d->handles--;
    if (f->made) {
        free(f->bytes);
    }
    free(f);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static int result_begin(void *context, const char *folder, const char *name, struct vectors_file **out)
{
    struct stream_disk *d = context;
    (void)folder;
    *out = calloc(1, sizeof **out);
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    d->handles++;
    return 0;
}

static int result_write(void *context, struct vectors_file *f, const uint8_t *bytes, uint64_t length)
{
    const struct stream_disk *d = context;
    if (d->result_error < 0) {
        return d->result_error;
    }
    f->bytes = grow(f->bytes, f->length + length);
    memcpy(f->bytes + f->length, bytes, length);
    f->length += length;
    return 0;
}

static int result_end(void *context, struct vectors_file *f)
{
    struct stream_disk *d = context;
    d->handles--;
    put(d->output, f->name, grow(f->bytes, f->length), f->length);
    free(f);
    return 0;
}

static void result_abandon(void *context, struct vectors_file *f)
{
    struct stream_disk *d = context;
    d->handles--;
    free(f->bytes);
    free(f);
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static int total(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    int64_t sum = 0;
    (void)key;
    (void)argument;
    for (size_t i = 0; i < count; i++) {
        char text[24];
        snprintf(text, sizeof text, "%.*s", (int)values[i].length, (const char *)values[i].bytes);
        sum += strtoll(text, NULL, 10);
    }
    return snprintf((char *)out, room, "%" PRId64, sum);
}

static int one_more(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    (void)key;
    (void)values;
    (void)argument;
    return snprintf((char *)out, room, "%zu", count + 1);
}

static int pairs(cw_bytes line, uint64_t argument, cw_emit_fn emit, void *to)
{
    const uint8_t *tab = line.length > 0 ? memchr(line.bytes, '\t', line.length) : NULL;
    (void)argument;
    if (tab == NULL) {
        return -EINVAL;
    }
    size_t key = (size_t)(tab - line.bytes);
    return emit(to, (cw_bytes){line.bytes, key}, (cw_bytes){tab + 1, line.length - key - 1});
}

static int load(void *context, const char *folder, bool (*found)(void *arg, const struct module_file *f), void *arg,
                struct module_files **out)
{
    static const cw_combiner right = {.size = sizeof right,
                                      .api = CW_COMBINE_API,
                                      .name = "total",
                                      .deterministic = true,
                                      .associative = true,
                                      .combine = total};
    static const cw_combiner wrong = {.size = sizeof wrong,
                                      .api = CW_COMBINE_API,
                                      .name = "total",
                                      .deterministic = true,
                                      .associative = true,
                                      .combine = one_more};
    static const cw_mapper mapper = {.size = sizeof mapper, .api = CW_MAPPER_API, .name = "pairs", .map = pairs};
    struct stream_disk *d = context;
    const uint8_t digest[MODULES_DIGEST] = {d->other_module ? 2 : 1};
    const struct module_file f = {
        .file = "total.so", .digest = digest, .combiner = d->other_module ? &wrong : &right, .mapper = &mapper};
    (void)folder;
    if (!d->no_module) {
        (void)found(arg, &f);
    }
    d->handles++;
    *out = (struct module_files *)(void *)d;
    return 0;
}

static void unload(void *context, struct module_files *files)
{
    struct stream_disk *d = context;
    (void)files;
    d->handles--;
}

/* ---- What tests call --------------------------------------------------------------------------------------------- */

void stream_disk_open(struct stream_disk *d)
{
    enum { PIECE = 8 << 20 };
    memset(d, 0, sizeof *d);
    d->results = (struct vectors_host){.size = sizeof d->results, .context = d, .piece = PIECE};
    d->results.begin = result_begin;
    d->results.write = result_write;
    d->results.end = result_end;
    d->results.abandon = result_abandon;
    d->modules = (struct modules_host){.size = sizeof d->modules, .context = d, .load = load, .unload = unload};
    d->spool = (struct spool_host){.size = sizeof d->spool, .context = d, .make = make, .write = spool_write};
    d->spool.input = input;
    d->spool.read = spool_read;
    d->spool.close = spool_close_file;
}

void stream_disk_close(struct stream_disk *d)
{
    for (int i = 0; i < STREAM_DISK_FILES; i++) {
        free(d->input[i].bytes);
        free(d->output[i].bytes);
    }
    memset(d->input, 0, sizeof d->input);
    memset(d->output, 0, sizeof d->output);
}

void stream_disk_put(struct stream_disk *d, const char *name, const void *bytes, size_t length)
{
    uint8_t *copy = grow(NULL, length);
    if (length > 0) {
        memcpy(copy, bytes, length);
    }
    put(d->input, name, copy, length);
}

const struct stream_blob *stream_disk_result(const struct stream_disk *d, const char *name)
{
    return find(d->output, name);
}
