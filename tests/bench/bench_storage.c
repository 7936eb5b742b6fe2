/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log alone on a real disk, beside RocksDB (with blob files) and LMDB where they were there at build time, and
 * beside the limit: one write and one fdatasync into a file that was written before. All in one folder, in one run:
 * medians of alternating rounds, records a second that were told durable, and the ratio to the best peer.
 *
 *   bench_storage [--folder PATH] [--rounds N] [--part log|recovery] [--smoke]
 *
 * Records of 3.55 KB and of 1.47 MB (the sizes of the paper's thumbnails and pictures), one at a time and in groups of
 * 16. Each engine overwrites the same keys again and again, so that what it does to get rid of old ones is counted.
 * Without --smoke it wants 3 GB of room. The part `recovery` is of the store's journal, and has no peer: recovery.c.
 */
#include "daemon/files/disk_desk.h"
#include "recovery.h"
#include "storage/storage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_LMDB
#include <lmdb.h>
#endif
#ifdef HAVE_ROCKSDB
#include <rocksdb/c.h>
#endif

enum { ROUNDS_MOST = 21, SMALL = 3550, LARGE = 1470000, GROUP_MOST = 16 };

static char *value; /* LARGE bytes */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

_Noreturn static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_storage: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

/* An engine: makes what it needs in a folder; writes `group` records durably, as keys from `first` on. */
struct engine {
    const char *name;
    void *(*open)(const char *folder);
    void (*write)(void *self, uint32_t first, uint32_t keys, uint32_t size, uint32_t group);
    void (*close)(void *self);
    bool is_peer;
};

/* Ours. */
struct ours {
    struct disk_desk *desk;
    struct storage *s;
    bool opened, stopped;
    uint64_t given, acked;
};

static void opened(void *arg, const struct storage_opened *how)
{
    if (how->as != STORAGE_FORMATTED) {
        fail("storage", how->why == NULL ? "opened" : how->why);
    }
    ((struct ours *)arg)->opened = true;
}

static void appended(void *arg, uint64_t ticket, int result, uint64_t position)
{
    (void)ticket;
    (void)position;
    if (result != 0) {
        fail("storage", strerror(-result));
    }
    ((struct ours *)arg)->acked++;
}

static void was_read(void *arg, uint64_t ticket, int result, const struct log_record *r)
{
    (void)arg;
    (void)ticket;
    (void)result;
    (void)r;
}

static void room(void *arg)
{
    (void)arg;
}

static void stopped(void *arg, int result)
{
    (void)result;
    ((struct ours *)arg)->stopped = true;
}

static void damaged(void *arg, uint8_t kind, const cw_key *key)
{
    (void)arg;
    (void)kind;
    (void)key;
    fail("storage", "damage");
}

static void wait_for(struct ours *o)
{
    struct pollfd fd = {.fd = disk_desk_fd(o->desk), .events = POLLIN};
    if (poll(&fd, 1, 60000) != 1) {
        fail("storage", "the disk does not answer");
    }
    disk_desk_collect(o->desk);
}

static void *ours_open(const char *folder)
{
    struct ours *o = calloc(1, sizeof *o);
    struct storage_events events = {o, opened, appended, was_read, room, stopped, damaged};
    struct storage_config c = storage_config_default();
    c.fresh_id = 1;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o == NULL || fd < 0 || disk_desk_open(&o->desk, fd) != 0 ||
        storage_open(&o->s, &c, &events, disk_desk_face(o->desk)) != 0) {
        fail("storage", "cannot be opened");
    }
    while (!o->opened) {
        wait_for(o);
    }
    return o;
}

static void ours_write(void *self, uint32_t first, uint32_t keys, uint32_t size, uint32_t group)
{
    struct ours *o = self;
    for (uint32_t i = 0; i < group;) {
        uint32_t n = (first + i) % keys;
        struct storage_put put = {.kind = 1, .value = value, .value_size = size, .value_sum = storage_sum(value, size)};
        memcpy(put.key.b, &n, sizeof n);
        int rc = storage_append(o->s, &put, 1, 0);
        if (rc == -EAGAIN) {
            storage_flush(o->s);
            wait_for(o);
            continue;
        }
        if (rc != 0) {
            fail("storage", strerror(-rc));
        }
        o->given++;
        i++;
    }
    storage_flush(o->s);
    while (o->acked < o->given) {
        wait_for(o);
    }
}

static void ours_close(void *self)
{
    struct ours *o = self;
    storage_stop(o->s);
    while (!o->stopped) {
        wait_for(o);
    }
    disk_desk_close(o->desk);
    storage_close(o->s);
    free(o);
}

/* The limit: one write, one sync, at the next place of a file that was written before. */
struct limit {
    int fd;
    uint64_t at;
};

enum { LIMIT_BYTES = 64 << 20 };

static void *limit_open(const char *folder)
{
    struct limit *l = calloc(1, sizeof *l);
    char path[400];
    snprintf(path, sizeof path, "%s/limit", folder);
    if (l == NULL || (l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)) < 0) {
        fail(path, strerror(errno));
    }
    for (uint64_t at = 0; at + LARGE < LIMIT_BYTES; at += LARGE) {
        if (pwrite(l->fd, value, LARGE, (off_t)at) != LARGE) {
            fail(path, "short write");
        }
    }
    fsync(l->fd);
    return l;
}

static void limit_write(void *self, uint32_t first, uint32_t keys, uint32_t size, uint32_t group)
{
    struct limit *l = self;
    (void)first;
    (void)keys;
    for (uint32_t i = 0; i < group; i++) {
        uint64_t padded = (size + 4095) / 4096 * 4096;
        l->at = l->at + padded + LARGE < LIMIT_BYTES ? l->at : 0;
        if (pwrite(l->fd, value, size, (off_t)l->at) != (ssize_t)size) {
            fail("limit", "short write");
        }
        l->at += padded;
    }
    if (fdatasync(l->fd) != 0) {
        fail("limit", strerror(errno));
    }
}

static void limit_close(void *self)
{
    close(((struct limit *)self)->fd);
    free(self);
}

#ifdef HAVE_LMDB
struct lmdb {
    MDB_env *env;
    MDB_dbi dbi;
};

static void lmdb_must(int rc)
{
    if (rc != 0) {
        fail("LMDB", mdb_strerror(rc));
    }
}

static void *lmdb_open(const char *folder)
{
    struct lmdb *l = calloc(1, sizeof *l);
    MDB_txn *txn;
    lmdb_must(l == NULL ? ENOMEM : mdb_env_create(&l->env));
    lmdb_must(mdb_env_set_mapsize(l->env, (size_t)2 << 30));
    lmdb_must(mdb_env_open(l->env, folder, 0, 0600));
    lmdb_must(mdb_txn_begin(l->env, NULL, 0, &txn));
    lmdb_must(mdb_dbi_open(txn, NULL, MDB_CREATE, &l->dbi));
    lmdb_must(mdb_txn_commit(txn));
    return l;
}

static void lmdb_write(void *self, uint32_t first, uint32_t keys, uint32_t size, uint32_t group)
{
    struct lmdb *l = self;
    MDB_txn *txn;
    lmdb_must(mdb_txn_begin(l->env, NULL, 0, &txn));
    for (uint32_t i = 0; i < group; i++) {
        uint8_t name[CW_KEY_BYTES] = {0};
        uint32_t n = (first + i) % keys;
        memcpy(name, &n, sizeof n);
        MDB_val key = {sizeof name, name}, data = {size, value};
        lmdb_must(mdb_put(txn, l->dbi, &key, &data, 0));
    }
    lmdb_must(mdb_txn_commit(txn));
}

static void lmdb_close(void *self)
{
    mdb_env_close(((struct lmdb *)self)->env);
    free(self);
}
#endif

#ifdef HAVE_ROCKSDB
struct rocks {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_writeoptions_t *durable;
};

static void *rocks_open(const char *folder)
{
    struct rocks *r = calloc(1, sizeof *r);
    char *error = NULL;
    if (r == NULL) {
        fail("RocksDB", "no memory");
    }
    r->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(r->options, 1);
    rocksdb_options_set_enable_blob_files(r->options, 1);
    rocksdb_options_set_min_blob_size(r->options, 3072);
    rocksdb_options_set_enable_blob_gc(r->options, 1);
    rocksdb_options_set_compression(r->options, rocksdb_no_compression);
    r->durable = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(r->durable, 1);
    r->db = rocksdb_open(r->options, folder, &error);
    if (error != NULL) {
        fail("RocksDB", error);
    }
    return r;
}

static void rocks_write(void *self, uint32_t first, uint32_t keys, uint32_t size, uint32_t group)
{
    struct rocks *r = self;
    char *error = NULL;
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    for (uint32_t i = 0; i < group; i++) {
        char name[CW_KEY_BYTES] = {0};
        uint32_t n = (first + i) % keys;
        memcpy(name, &n, sizeof n);
        rocksdb_writebatch_put(batch, name, sizeof name, value, size);
    }
    rocksdb_write(r->db, r->durable, batch, &error);
    if (error != NULL) {
        fail("RocksDB", error);
    }
    rocksdb_writebatch_destroy(batch);
}

static void rocks_close(void *self)
{
    struct rocks *r = self;
    rocksdb_close(r->db);
    rocksdb_writeoptions_destroy(r->durable);
    rocksdb_options_destroy(r->options);
    free(r);
}
#endif

static const struct engine engines[] = {
    {"storage", ours_open, ours_write, ours_close, false},
#ifdef HAVE_ROCKSDB
    {"RocksDB", rocks_open, rocks_write, rocks_close, true},
#endif
#ifdef HAVE_LMDB
    {"LMDB", lmdb_open, lmdb_write, lmdb_close, true},
#endif
    {"limit", limit_open, limit_write, limit_close, false},
};
enum { ENGINES = sizeof engines / sizeof *engines };

/* What is measured: so many records a round. keys: they are overwritten in turn. */
static const struct {
    const char *name;
    uint32_t size, group, records, keys;
} shapes[] = {
    {"3.55 KB, one at a time", SMALL, 1, 3000, 1000},
    {"3.55 KB, groups of 16", SMALL, 16, 16000, 1000},
    {"1.47 MB, one at a time", LARGE, 1, 150, 64},
    {"1.47 MB, groups of 16", LARGE, 16, 160, 64},
};

static void remove_all(const char *folder)
{
    DIR *d = opendir(folder);
    char path[1600];
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') {
            unlink(path);
        }
    }
    if (d != NULL) {
        closedir(d);
    }
    rmdir(folder);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double records_a_second(const struct engine *e, void *self, size_t shape, uint32_t records)
{
    static uint32_t first;
    double start = now_s();
    for (uint32_t done = 0; done < records; done += shapes[shape].group, first += shapes[shape].group) {
        e->write(self, first, shapes[shape].keys, shapes[shape].size, shapes[shape].group);
    }
    return records / (now_s() - start);
}

/* One shape: every engine has a folder of its own; its first round, in which files grow, does not count. */
static void measure(size_t shape, const char *folder, int rounds, bool smoke)
{
    static double rate[ENGINES][ROUNDS_MOST];
    void *self[ENGINES];
    char path[ENGINES][300];
    uint32_t records = smoke ? shapes[shape].group * 2 : shapes[shape].records;
    for (size_t i = 0; i < ENGINES; i++) {
        snprintf(path[i], sizeof path[i], "%s/bench-%s-%zu", folder, engines[i].name, shape);
        remove_all(path[i]);
        if (mkdir(path[i], 0700) != 0) {
            fail(path[i], strerror(errno));
        }
        self[i] = engines[i].open(path[i]);
        (void)records_a_second(&engines[i], self[i], shape, records);
    }
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < ENGINES; i++) {
            rate[i][round] = records_a_second(&engines[i], self[i], shape, records);
        }
    }
    double best = 0, ours = 0;
    printf("%-24s", shapes[shape].name);
    for (size_t i = 0; i < ENGINES; i++) {
        engines[i].close(self[i]);
        remove_all(path[i]);
        qsort(rate[i], (size_t)rounds, sizeof **rate, ascending);
        double median = rate[i][rounds / 2];
        ours = i == 0 ? median : ours;
        best = engines[i].is_peer && median > best ? median : best;
        printf("  %s %.0f/s", engines[i].name, median);
    }
    if (best > 0) {
        printf("  ours to the best peer %.2f", ours / best);
    }
    printf("  ours to the limit %.2f\n", ours / rate[ENGINES - 1][rounds / 2]);
    fflush(stdout);
}

static void recover(const char *folder, int rounds, bool smoke)
{
    char path[300];
    snprintf(path, sizeof path, "%s/bench-recovery", folder);
    remove_all(path);
    if (mkdir(path, 0700) != 0) {
        fail(path, strerror(errno));
    }
    recovery_measure(path, smoke ? 1000 : 1000000, rounds);
    remove_all(path);
}

int main(int argc, char **argv)
{
    const char *folder = ".", *part = "";
    bool smoke = false;
    int rounds = 5;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--smoke") == 0) {
            smoke = true;
            rounds = 1;
        } else if (strcmp(argv[i], "--folder") == 0 && i + 1 < argc) {
            folder = argv[++i];
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            rounds = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--part") == 0 && i + 1 < argc) {
            part = argv[++i];
        } else {
            fail(argv[i], "usage: bench_storage [--folder PATH] [--rounds N] [--part log|recovery] [--smoke]");
        }
    }
    value = malloc(LARGE);
    if (value == NULL || rounds < 1 || rounds > ROUNDS_MOST) {
        fail("--rounds", "1 to 21");
    }
    for (uint32_t i = 0; i < LARGE; i++) {
        value[i] = (char)(i * 2654435761u >> 13);
    }
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes && strcmp(part, "recovery") != 0; shape++) {
        measure(shape, folder, rounds, smoke);
    }
    if (strcmp(part, "log") != 0) {
        recover(folder, rounds, smoke);
    }
    free(value);
    return 0;
}
