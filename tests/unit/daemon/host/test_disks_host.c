/* SPDX-License-Identifier: Apache-2.0 */
/* test_disks_host.c - a service finds a disk of its own for each server, and is told of it inside an upcall. */
#include "daemon/host/disks_host.h"

#include "cubeway/store.h"
#include "daemon/host/internal.h"
#include "daemon_town.h"
#include "storage/disk.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "disks-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static struct host *open_town(void)
{
    char text[200];
    snprintf(text, sizeof text,
             "torus { dims = 3x1x1; coordinate = all }\n"
             "service \"store\" { options { folder = \"%s\"; segment_mib = 1 } }\n",
             folder);
    return town_open(text);
}

static bool has_id(const char *server)
{
    char path[100];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s/id", folder, server);
    return stat(path, &st) == 0 && st.st_size > 0;
}

/* The store makes its files as soon as it has a disk; everything is told by the loop. */
START_TEST(each_server_has_a_disk)
{
    make_folder();
    struct host *h = open_town();
    for (unsigned i = 0; i < 3000 && !(has_id("0,0,0") && has_id("1,0,0") && has_id("2,0,0")); i++) {
        host_turn(h, CW_MS(5));
    }
    ck_assert(has_id("0,0,0") && has_id("1,0,0") && has_id("2,0,0"));
    unsigned disks = 0;
    for (struct list_node *n = list_first(&h->disks_open); n != NULL; n = list_next(&h->disks_open, n)) {
        disks++;
    }
    ck_assert_uint_eq(disks, 3);
    host_close(h);
    remove_folder();
}
END_TEST

START_TEST(a_folder_has_one_user)
{
    char why[DISKS_WHY], place[100];
    struct disk *disk;
    make_folder();
    struct host *h = open_town();
    const struct disks_host *d = &h->disks;
    cw_coord self = {1, 0, 0};
    ck_assert_int_eq(d->open(d->context, self, "store", CW_STORE_API, folder, &disk, why), -EBUSY);
    ck_assert_ptr_nonnull(strstr(why, "1,0,0 cannot be used: another program uses it"));
    snprintf(place, sizeof place, "%s/other", folder);
    ck_assert_int_eq(d->open(d->context, self, "store", CW_STORE_API, place, &disk, why), 0);
    d->close(d->context, disk);
    snprintf(place, sizeof place, "%s/nowhere/at/all", folder);
    ck_assert_int_eq(d->open(d->context, self, "store", CW_STORE_API, place, &disk, why), -ENOENT);
    snprintf(place, sizeof place, "%s/open", folder);
    ck_assert_int_eq(mkdir(place, 0700), 0);
    ck_assert_int_eq(chmod(place, 0777), 0);
    ck_assert_int_eq(d->open(d->context, self, "store", CW_STORE_API, place, &disk, why), -EPERM);
    ck_assert_ptr_nonnull(strstr(why, "others may write there"));
    host_close(h);
    remove_folder();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_server_has_a_disk), SUITE_TEST(a_folder_has_one_user)};
SUITE_MAIN("disks_host", tests)
