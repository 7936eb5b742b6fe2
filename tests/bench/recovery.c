/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store's service does when a daemon starts: the journal is opened and its records become registers in tables
 * of 144 shards, as at each of three servers. Before each round the kernel is told to forget the files' pages.
 */
#include "recovery.h"

#include "daemon/files/disk_desk.h"
#include "services/store/disk/journal.h"
#include "services/store/held/places.h"
#include "services/store/held/table.h"
#include "services/store/held/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SERVERS = 3, SHARDS = SERVERS * STORE_SHARDS_PER_SERVER, VALUE = 100, KIND = 3, CLASS = 7, ROUNDS_MOST = 21 };

struct life {
    struct disk_desk *desk;
    struct journal *j;
    struct torus torus;
    struct store_table table[SHARDS];
    unsigned found;
    double first; /* when the first was told */
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now_s(void)
{
    return seconds(CLOCK_MONOTONIC);
}

_Noreturn static void fail(const char *why)
{
    fprintf(stderr, "bench_storage: recovery: %s\n", why);
    exit(EXIT_FAILURE);
}

static void on_found(void *arg, uint8_t kind, const uint8_t *value, size_t size)
{
    struct life *l = arg;
    struct store_register *r = kind == KIND ? store_register_decode(value + 1, size - 1) : NULL;
    if (r == NULL) {
        fail("a record that is none");
    }
    const struct store_name name = store_register_name(r);
    const cw_key key = store_places_key(&name);
    l->first = l->found++ == 0 ? now_s() : l->first;
    if (store_table_put(&l->table[store_places_shard(&l->torus, &key)], r) != 0) {
        fail("no memory");
    }
}

static void on_opened(void *arg, enum journal_state state)
{
    if (state != JOURNAL_OPEN) {
        fail(journal_why(((struct life *)arg)->j));
    }
}

static void on_landed(void *arg)
{
    (void)arg;
}

static void on_died(void *arg)
{
    fail(journal_why(((struct life *)arg)->j));
}

static void on_damaged(void *arg, uint8_t kind, const cw_key *key)
{
    (void)arg;
    (void)kind;
    (void)key;
    fail("damage");
}

static void wait_for(struct life *l)
{
    struct pollfd fd = {.fd = disk_desk_fd(l->desk), .events = POLLIN};
    if (poll(&fd, 1, 60000) != 1) {
        fail("the disk does not answer");
    }
    disk_desk_collect(l->desk);
}

/* Gives the seconds that it took. */
static double begin(struct life *l, const char *folder)
{
    const struct journal_events events = {l, on_found, on_opened, on_landed, on_died, on_damaged};
    const struct journal_options options = {.owner = CLASS, .fresh_id = 1, .segment = 16 << 20};
    *l = (struct life){.found = 0};
    if (torus_init(&l->torus, (cw_dims){SERVERS, 1, 1}) != 0) {
        fail("no torus");
    }
    for (unsigned i = 0; i < SHARDS; i++) {
        store_table_open(&l->table[i], CLASS);
    }
    const double start = now_s();
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || disk_desk_open(&l->desk, fd) != 0 ||
        journal_open(&l->j, &options, &events, disk_desk_face(l->desk)) != 0) {
        fail("cannot be opened");
    }
    while (journal_state(l->j) == JOURNAL_OPENING) {
        wait_for(l);
    }
    l->first = l->found == 0 ? start : l->first - start;
    return now_s() - start;
}

static void end(struct life *l)
{
    disk_desk_close(l->desk);
    journal_close(l->j);
    for (unsigned i = 0; i < SHARDS; i++) {
        store_table_close(&l->table[i]);
    }
}

static void put(struct life *l, unsigned number)
{
    static const char bytes[VALUE];
    char text[32];
    const size_t length = (size_t)snprintf(text, sizeof text, "name-%08u", number);
    const struct store_name name = {1, (const uint8_t *)text, length};
    struct store_register *r = store_register_new(&name, VALUE);
    uint8_t record[1 + 1024];
    if (r == NULL || 1 + store_register_size(r) > sizeof record) {
        fail("no register");
    }
    memcpy(r->bytes + length, bytes, VALUE);
    r->tag.n = r->version = number + 1;
    r->ops = 1;
    record[0] = 1;
    store_register_encode(r, record + 1);
    const cw_key key = store_places_record(&name);
    journal_put(l->j, KIND, &key, record, 1 + store_register_size(r));
    free(r);
}

static void fill(const char *folder, unsigned registers)
{
    static struct life l;
    struct journal_status status = {.waiting = 0};
    (void)begin(&l, folder);
    for (unsigned i = 0; i < registers; i++) {
        put(&l, i);
        for (journal_status(l.j, &status); status.waiting > 0; journal_status(l.j, &status)) {
            wait_for(&l);
        }
    }
    while (!journal_is_settled(l.j)) {
        wait_for(&l);
    }
    end(&l);
}

/* All that is in the folder is read from the disk again. Gives its MB. */
static double forget_pages(const char *folder)
{
    DIR *d = opendir(folder);
    double bytes = 0;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && e->d_name[0] != '.') {
            bytes += (double)lseek(fd, 0, SEEK_END);
            (void)!fsync(fd);
            (void)!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (d != NULL) {
        closedir(d);
    }
    return bytes / 1e6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void recovery_measure(const char *folder, unsigned registers, int rounds)
{
    static struct life l;
    static double all[ROUNDS_MOST], first[ROUNDS_MOST], cpu[ROUNDS_MOST];
    double mb = 0;
    fill(folder, registers);
    for (int i = 0; i < rounds; i++) {
        mb = forget_pages(folder);
        cpu[i] = seconds(CLOCK_PROCESS_CPUTIME_ID);
        all[i] = begin(&l, folder);
        cpu[i] = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu[i];
        first[i] = l.first;
        if (l.found != registers) {
            fail("registers are missing");
        }
        end(&l);
    }
    qsort(all, (size_t)rounds, sizeof *all, ascending);
    qsort(first, (size_t)rounds, sizeof *first, ascending);
    qsort(cpu, (size_t)rounds, sizeof *cpu, ascending);
    printf("recovery of %u registers of %d bytes from %.0f MB: %.2f s, %.2f until the first is told; %.2f s of a "
           "processor\n",
           registers, VALUE, mb, all[rounds / 2], first[rounds / 2], cpu[rounds / 2]);
}
