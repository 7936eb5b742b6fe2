/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_disk_desk.c - a store on real files: in the folder of the build, and on tmpfs where that is there. What a loss
 * of power does to a disk is the simulator's business; here it is that orders reach the files, side by side and in
 * order.
 */
#include "daemon/files/disk_desk.h"
#include "storage/storage.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOLD = 64 };

struct listener {
    struct disk_waiter waiter;
    struct disk_desk *desk;
    uint64_t ticket[TOLD];
    int64_t result[TOLD];
    unsigned count;
};

static const char *const places[] = {"desk-XXXXXX", "/dev/shm/desk-XXXXXX"};

/* A new folder, whose name is written over `path`; -1: this place is not there. */
static int folder_at(unsigned place, char path[static 40])
{
    strcpy(path, places[place]);
    return mkdtemp(path) == NULL ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void remove_folder(const char *path)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    ck_assert_int_eq(system(command), 0);
}

static void told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    struct listener *l = (struct listener *)waiter;
    ck_assert_uint_lt(l->count, TOLD);
    l->ticket[l->count] = ticket;
    l->result[l->count++] = result;
}

static void wait_for(struct disk_desk *desk)
{
    struct pollfd fd = {.fd = disk_desk_fd(desk), .events = POLLIN};
    ck_assert_int_eq(poll(&fd, 1, 60000), 1);
    disk_desk_collect(desk);
}

static int64_t order(struct listener *l, struct disk_order o)
{
    unsigned before = l->count = 0;
    o.waiter = &l->waiter;
    o.ticket = 5;
    disk_submit(disk_desk_face(l->desk), &o);
    while (l->count == before) {
        wait_for(l->desk);
    }
    ck_assert_uint_eq(l->ticket[0], 5);
    return l->result[0];
}

static void orders_at(unsigned place)
{
    char path[40], text[8] = "", full[80];
    int folder = folder_at(place, path);
    if (folder < 0) {
        return;
    }
    struct listener l = {.waiter = {told}};
    ck_assert_int_eq(disk_desk_open(&l.desk, folder), 0);
    ck_assert_int_eq(order(&l, (struct disk_order){.what = DISK_OPEN, .name = "a"}), -ENOENT);
    int64_t a = order(&l, (struct disk_order){.what = DISK_OPEN, .name = "a", .create = true});
    ck_assert_int_ge(a, 0);
    uint32_t file = (uint32_t)a;
    ck_assert_int_eq(order(&l, (struct disk_order){.what = DISK_OPEN, .name = "a", .lane = DISK_LANE_SIDE}), a);
    ck_assert_int_eq(
        order(&l, (struct disk_order){.what = DISK_WRITE, .file = file, .from = "hello", .size = 5, .sync = true}), 0);
    ck_assert_int_eq(order(&l, (struct disk_order){.what = DISK_READ, .file = file, .to = text, .size = 8}), 5);
    ck_assert_str_eq(text, "hello");
    ck_assert_int_eq(order(&l, (struct disk_order){.what = DISK_ALLOCATE, .file = file, .offset = 8192}), 0);
    ck_assert_int_eq(order(&l, (struct disk_order){.what = DISK_SYNC, .file = file}), 0);
    snprintf(full, sizeof full, "%s/.hidden", path);
    close(open(full, O_CREAT | O_WRONLY, 0600));
    snprintf(full, sizeof full, "%s/link", path);
    ck_assert_int_eq(symlink("/etc/passwd", full), 0);
    struct disk_file files[4];
    ck_assert_int_eq(order(&l, (struct disk_order){.what = DISK_LIST, .list = files, .size = 4}), 1);
    ck_assert_str_eq(files[0].name, "a");
    ck_assert_uint_eq(files[0].size, 8192);
    ck_assert_int_eq(order(&l, (struct disk_order){.what = DISK_OPEN, .name = "link"}), -ELOOP);
    ck_assert_int_eq(order(&l, (struct disk_order){.what = DISK_REMOVE, .file = file}), 0);
    ck_assert_int_eq(order(&l, (struct disk_order){.what = DISK_LIST}), 0);
    struct disk_desk_counts counts;
    disk_desk_counts(l.desk, &counts);
    ck_assert_uint_eq(counts.failed, 2);
    ck_assert_uint_eq(counts.waiting, 0);
    disk_desk_close(l.desk);
    remove_folder(path);
}

START_TEST(orders_reach_the_files)
{
    orders_at(0);
    orders_at(1);
}
END_TEST

START_TEST(a_lane_keeps_its_order)
{
    char path[40];
    struct listener l = {.waiter = {told}};
    ck_assert_int_eq(disk_desk_open(&l.desk, folder_at(0, path)), 0);
    uint32_t file = (uint32_t)order(&l, (struct disk_order){.what = DISK_OPEN, .name = "a", .create = true});
    l.count = 0;
    for (uint64_t i = 0; i < TOLD; i++) {
        disk_submit(disk_desk_face(l.desk), &(struct disk_order){.what = DISK_WRITE,
                                                                 .lane = i % 2 == 0 ? DISK_LANE_LOG : DISK_LANE_SIDE,
                                                                 .file = file,
                                                                 .offset = i,
                                                                 .from = "x",
                                                                 .size = 1,
                                                                 .waiter = &l.waiter,
                                                                 .ticket = i});
    }
    while (l.count < TOLD) {
        wait_for(l.desk);
    }
    uint64_t last[2] = {0, 0};
    for (unsigned i = 0; i < TOLD; i++) {
        ck_assert_int_eq(l.result[i], 0);
        ck_assert_uint_ge(l.ticket[i], last[l.ticket[i] % 2]);
        last[l.ticket[i] % 2] = l.ticket[i];
    }
    disk_desk_close(l.desk);
    remove_folder(path);
}
END_TEST

struct owner {
    bool opened, stopped;
    struct storage_opened how;
    unsigned acked, read;
    bool room;
};

static void opened(void *arg, const struct storage_opened *how)
{
    ((struct owner *)arg)->opened = true;
    ((struct owner *)arg)->how = *how;
}

static void appended(void *arg, uint64_t ticket, int result, uint64_t position)
{
    (void)ticket;
    (void)position;
    ck_assert_int_eq(result, 0);
    ((struct owner *)arg)->acked++;
}

static void was_read(void *arg, uint64_t ticket, int result, const struct log_record *r)
{
    ck_assert_int_eq(result, 0);
    ck_assert_uint_eq(r->value_size, 100 * ticket);
    ck_assert(ticket == 0 || ((const char *)r->value)[0] == (char)('a' + ticket % 26));
    ((struct owner *)arg)->read++;
}

static void room(void *arg)
{
    ((struct owner *)arg)->room = true;
}

static void stopped(void *arg, int result)
{
    ck_assert_int_eq(result, 0);
    ((struct owner *)arg)->stopped = true;
}

static void damaged(void *arg, uint8_t kind, const cw_key *key)
{
    (void)arg;
    ck_abort_msg("register %u/%u is damaged", kind, key->b[0]);
}

static void store_at(unsigned place)
{
    enum { REGISTERS = 100 };
    char path[40];
    int folder = folder_at(place, path);
    if (folder < 0) {
        return;
    }
    struct storage_config c = storage_config_default();
    c.class_id = 1;
    c.fresh_id = 2;
    c.meta_segment = 1 << 20;
    c.blob_segment = 1 << 20;
    c.group_max = 1 << 16;
    static char value[100 * REGISTERS];
    for (unsigned life = 0; life < 2; life++) {
        struct owner o = {.opened = false};
        struct storage_events events = {&o, opened, appended, was_read, room, stopped, damaged};
        struct disk_desk *desk;
        struct storage *s;
        ck_assert_int_eq(disk_desk_open(&desk, life == 0 ? folder : open(path, O_RDONLY | O_DIRECTORY)), 0);
        ck_assert_int_eq(storage_open(&s, &c, &events, disk_desk_face(desk)), 0);
        while (!o.opened) {
            wait_for(desk);
        }
        ck_assert_int_eq(o.how.as, life == 0 ? STORAGE_FORMATTED : STORAGE_RECOVERED);
        for (uint64_t i = 0; i < REGISTERS && life == 0;) {
            memset(value, (int)('a' + i % 26), sizeof value);
            struct storage_put put = {.key = {{(uint8_t)i}}, .value = value, .value_size = (uint32_t)(100 * i)};
            put.value_sum = storage_sum(value, put.value_size);
            bool taken = storage_append(s, &put, 1, i) == 0;
            storage_flush(s);
            i += taken;
            do {
                wait_for(desk); /* of its group; or of the segment that is made */
            } while (o.acked < i);
        }
        for (uint64_t i = 0; i < REGISTERS; i++) {
            ck_assert_int_eq(storage_read(s, 0, &(cw_key){{(uint8_t)i}}, i), 0);
        }
        while (o.read < REGISTERS) {
            wait_for(desk);
        }
        if (life == 0) {
            storage_stop(s);
            while (!o.stopped) {
                wait_for(desk);
            }
        }
        disk_desk_close(desk);
        storage_close(s);
    }
    remove_folder(path);
}

START_TEST(a_store_lives_on_real_files)
{
    store_at(0);
    store_at(1);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(orders_reach_the_files),
    SUITE_TEST(a_lane_keeps_its_order),
    SUITE_TEST(a_store_lives_on_real_files),
};
SUITE_MAIN("disk_desk", tests)
