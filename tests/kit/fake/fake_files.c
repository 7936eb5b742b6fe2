/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_files.h"

#include "base/bytes.h"
#include "base/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct files_file {
    struct fake_files *home;
    struct fake_blob *blob; /* NULL: what was passed */
    const uint8_t *bytes;
    size_t length;
    uint32_t mode;
};

struct files_digest {
    struct digest d;
};

/* The error of a fault that this call meets; 0: it meets none. */
static int fault_of(struct fake_files *ff, const char *op)
{
    for (unsigned i = 0; i < FAKE_FAULTS; i++) {
        struct fake_fault *f = &ff->fault[i];
        if (f->op == NULL || strcmp(f->op, op) != 0) {
            continue;
        }
        if (f->after > 0) {
            f->after--;
            continue;
        }
        f->op = f->for_ever ? f->op : NULL;
        return f->error;
    }
    return 0;
}

void fake_files_fail(struct fake_files *ff, const char *op, unsigned after, int error, bool for_ever)
{
    for (unsigned i = 0; i < FAKE_FAULTS; i++) {
        if (ff->fault[i].op == NULL) {
            ff->fault[i] = (struct fake_fault){op, after, error, for_ever};
            return;
        }
    }
    abort();
}

/*
 * ---- Blobs
 * --------------------------------------------------------------------------------------------------------------
 */

struct fake_blob *fake_files_find(struct fake_files *ff, const char *name)
{
    for (unsigned i = 0; i < FAKE_BLOBS; i++) {
        if (ff->blob[i].name[0] != '\0' && strcmp(ff->blob[i].name, name) == 0) {
            return &ff->blob[i];
        }
    }
    return NULL;
}

static uint64_t used(const struct fake_files *ff)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < FAKE_BLOBS; i++) {
        sum += ff->blob[i].name[0] != '\0' ? ff->blob[i].length : 0;
    }
    return sum;
}

static void clear(struct fake_blob *b)
{
    free(b->bytes);
    *b = (struct fake_blob){.bytes = NULL};
}

static struct fake_blob *make(struct fake_files *ff, const char *name)
{
    for (unsigned i = 0; i < FAKE_BLOBS; i++) {
        if (ff->blob[i].name[0] == '\0') {
            snprintf(ff->blob[i].name, sizeof ff->blob[i].name, "%s", name);
            return &ff->blob[i];
        }
    }
    abort();
}

static int extend(struct fake_files *ff, struct fake_blob *b, uint64_t length)
{
    if (length <= b->length) {
        return 0;
    }
    if (used(ff) - b->length + length > ff->room) {
        return -ENOSPC;
    }
    uint8_t *bytes = realloc(b->bytes, length);
    if (bytes == NULL) {
        return -ENOMEM;
    }
    memset(bytes + b->length, 0, length - b->length);
    b->bytes = bytes;
    b->length = length;
    return 0;
}

void fake_files_put(struct fake_files *ff, const char *name, const void *bytes, size_t length)
{
    struct fake_blob *b = fake_files_find(ff, name);
    b = b != NULL ? b : make(ff, name);
    clear(b);
    snprintf(b->name, sizeof b->name, "%s", name);
    if (extend(ff, b, length) < 0) {
        abort();
    }
    if (length > 0) {
        memcpy(b->bytes, bytes, length);
    }
}

/*
 * ---- The host
 * -------------------------------------------------------------------------------------------------------------
 */

static int open_handle(struct fake_files *ff, struct files_file **out)
{
    struct files_file *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -ENOMEM;
    }
    f->home = ff;
    ff->handles++;
    *out = f;
    return 0;
}

uint64_t fake_files_pass(struct fake_files *ff, const uint8_t *bytes, size_t length, uint32_t mode)
{
    if (ff->passed != NULL || open_handle(ff, &ff->passed) < 0) {
        abort();
    }
    ff->passed->bytes = bytes;
    ff->passed->length = length;
    ff->passed->mode = mode;
    return ff->ticket = ++ff->tickets;
}

static int claim(void *context, uint64_t ticket, struct files_file **out)
{
    struct fake_files *ff = context;
    if (ff->passed == NULL || ff->ticket != ticket) {
        return -ENOENT;
    }
    *out = ff->passed;
    ff->passed = NULL;
    return 0;
}

static int look(void *context, struct files_file *f, struct files_facts *out)
{
    *out = (struct files_facts){.bytes = f->length, .mode = f->mode, .changed_ns = 1};
    return fault_of(context, "look");
}

static int read_at(void *context, struct files_file *f, uint64_t offset, uint8_t *out, size_t length)
{
    struct fake_files *ff = context;
    const uint8_t *bytes = f->blob != NULL ? f->blob->bytes : f->bytes;
    size_t there = f->blob != NULL ? f->blob->length : f->length;
    int rc = fault_of(ff, f->blob != NULL ? "read_back" : "read");
    ff->reads++;
    if (rc < 0 || offset > there || length > there - offset) {
        return rc < 0 ? rc : -ENODATA;
    }
    memcpy(out, bytes + offset, length);
    return 0;
}

static int have(void *context, const char *folder, const char *name, uint64_t bytes, const uint8_t *digest)
{
    struct fake_files *ff = context;
    int rc = folder[0] == '/' ? fault_of(ff, "have") : -EINVAL;
    const struct fake_blob *b = fake_files_find(ff, name);
    if (rc < 0) {
        return rc;
    }
    bool same = b != NULL && b->finished && b->length == bytes && memcmp(b->digest, digest, sizeof b->digest) == 0;
    return b == NULL ? FILES_NONE : same ? FILES_SAME : FILES_OTHER;
}

static int open_part(void *context, const char *folder, const char *part, uint64_t bytes, struct files_file **out)
{
    struct fake_files *ff = context;
    struct fake_blob *b = fake_files_find(ff, part);
    int rc = fault_of(ff, "open");
    (void)folder;
    if (rc == 0 && b != NULL && b->open) {
        rc = -EBUSY;
    }
    if (rc < 0) {
        return rc;
    }
    b = b != NULL ? b : make(ff, part);
    bool made = b->length == 0;
    rc = extend(ff, b, bytes);
    if (rc < 0) {
        clear(b);
        return rc;
    }
    rc = open_handle(ff, out);
    if (rc == 0) {
        (*out)->blob = b;
        b->open = true;
    }
    return rc < 0 ? rc : made;
}

static int write_at(void *context, struct files_file *f, uint64_t offset, const uint8_t *bytes, size_t length)
{
    struct fake_files *ff = context;
    int rc = fault_of(ff, "write");
    ff->writes++;
    rc = rc < 0 ? rc : extend(ff, f->blob, offset + length);
    if (rc == 0) {
        memcpy(f->blob->bytes + offset, bytes, length);
    }
    return rc;
}

static int sync_file(void *context, struct files_file *f)
{
    struct fake_files *ff = context;
    (void)f;
    ff->syncs++;
    return fault_of(ff, "sync");
}

static int finish(void *context, const char *folder, struct files_file *f, const struct files_end *end)
{
    struct fake_files *ff = context;
    struct fake_blob *old = fake_files_find(ff, end->name);
    int rc = fault_of(ff, "finish");
    (void)folder;
    if (rc < 0 || (old != NULL && !end->replace)) {
        return rc < 0 ? rc : -EEXIST;
    }
    if (old != NULL) {
        clear(old);
    }
    snprintf(f->blob->name, sizeof f->blob->name, "%s", end->name);
    f->blob->mode = end->mode;
    f->blob->finished = true;
    memcpy(f->blob->digest, end->digest, sizeof end->digest);
    return fault_of(ff, "folder") < 0;
}

static void close_file(void *context, struct files_file *f)
{
    struct fake_files *ff = context;
    if (f->blob != NULL) {
        f->blob->open = false;
        if (f->blob->name[0] == '?') {
            clear(f->blob);
        }
    }
    ff->handles--;
    free(f);
}

static int64_t load(void *context, const char *folder, const char *name, uint8_t *out, size_t room)
{
    struct fake_files *ff = context;
    const struct fake_blob *b = fake_files_find(ff, name);
    int rc = fault_of(ff, "load");
    (void)folder;
    if (rc < 0 || b == NULL || b->length > room) {
        return rc < 0 ? rc : b == NULL ? -ENOENT : -EFBIG;
    }
    memcpy(out, b->bytes, b->length);
    return (int64_t)b->length;
}

static int store(void *context, const char *folder, const char *name, const uint8_t *bytes, size_t length)
{
    struct fake_files *ff = context;
    int rc = fault_of(ff, "store");
    (void)folder;
    ff->stores++;
    if (rc == 0) {
        fake_files_put(ff, name, bytes, length);
    }
    return rc;
}

static int drop(void *context, const char *folder, const char *name)
{
    struct fake_blob *b = fake_files_find(context, name);
    (void)folder;
    if (b == NULL) {
        return -ENOENT;
    }
    if (b->open) { /* its bytes stay for those who have it open */
        b->name[0] = '\0';
        snprintf(b->name, sizeof b->name, "?%p", (void *)b);
        return 0;
    }
    clear(b);
    return 0;
}

static int sweep(void *context, const char *folder, cw_span age)
{
    struct fake_files *ff = context;
    int count = 0;
    (void)folder;
    (void)age;
    for (unsigned i = 0; i < FAKE_BLOBS; i++) {
        if (ff->blob[i].name[0] == '.' && !ff->blob[i].open) {
            clear(&ff->blob[i]);
            count++;
        }
    }
    return count;
}

/*
 * ---- Digests
 * ----------------------------------------------------------------------------------------------------------------
 */

static struct files_digest *digest_begin(void *context)
{
    struct files_digest *d = fault_of(context, "digest") < 0 ? NULL : malloc(sizeof *d);
    if (d != NULL) {
        digest_init(&d->d);
    }
    return d;
}

static int digest_add(struct files_digest *d, const uint8_t *bytes, size_t length)
{
    digest_bytes(&d->d, bytes, length);
    return 0;
}

static int digest_end(struct files_digest *d, uint8_t out[static FILES_DIGEST_BYTES])
{
    for (unsigned i = 0; i < FILES_DIGEST_BYTES; i += 8) {
        put_be64(out + i, digest_value(&d->d) + i);
    }
    return 0;
}

static void digest_free(struct files_digest *d)
{
    free(d);
}

void fake_files_digest(const uint8_t *bytes, size_t length, uint8_t out[static FILES_DIGEST_BYTES])
{
    struct files_digest d;
    digest_init(&d.d);
    (void)digest_add(&d, bytes, length);
    (void)digest_end(&d, out);
}

/*
 * ---- Coming and going
 * -------------------------------------------------------------------------------------------------------
 */

void fake_files_init(struct fake_files *ff)
{
    *ff = (struct fake_files){.room = UINT64_MAX};
    ff->host = (struct files_host){
        .size = sizeof ff->host,
        .context = ff,
        .claim = claim,
        .look = look,
        .read = read_at,
        .have = have,
        .open = open_part,
        .write = write_at,
        .sync = sync_file,
        .finish = finish,
        .close = close_file,
        .load = load,
        .store = store,
        .drop = drop,
        .sweep = sweep,
        .digest_open = digest_begin,
        .digest_add = digest_add,
        .digest_end = digest_end,
        .digest_close = digest_free,
    };
}

void fake_files_free(struct fake_files *ff)
{
    if (ff->passed != NULL) {
        close_file(ff, ff->passed);
    }
    for (unsigned i = 0; i < FAKE_BLOBS; i++) {
        clear(&ff->blob[i]);
    }
}
