/* SPDX-License-Identifier: Apache-2.0 */
/* A keeper of one process, whose daemon is a shell script: what it promises of lifelines and ends. */
#include "lab_place.h"
#include "testbed/keeper.h"
#include "testbed/launch.h"
#include "testbed/peer.h"

#include <errno.h>
#include <sys/stat.h>

static void script(const char *place, char *path, const char *text)
{
    sprintf(path, "%s/daemon", place);
    FILE *f = fopen(path, "w");
    fprintf(f, "#!/bin/sh\n%s\n", text);
    fclose(f);
    ck_assert_int_eq(chmod(path, 0755), 0);
}

static void begin(struct launch *l, struct lab *lab, const char *place, const char *text)
{
    char why[LAB_WHY];
    bool cleaned;
    *lab = (struct lab){.driver = LAB_PROCESS, .mtu = 9000, .scale = 1};
    ck_assert_int_eq(torus_init(&lab->torus, (cw_dims){3, 3, 3}), 0);
    script(place, lab->daemon, text);
    ck_assert_int_eq(lab_place(lab, "k", why), 0);
    int rc = launch_begin(l, lab, &cleaned, why);
    ck_assert_msg(rc == 0, "%s", why);
}

static void count(void *context, const struct message *row)
{
    *(int *)context += strcmp(message_get_text(row, "state", NULL), "running") == 0;
}

static int ask(const struct lab *lab, const char *what, const char *word, int *running)
{
    char path[LAB_PATH], why[PEER_WHY];
    struct peer p;
    ck_assert_int_eq(peer_open(&p, lab_path(lab, "keeper", ".sock", path)), 0);
    int rc = peer_ask(&p, peer_request(what, word != NULL, &word), CW_MS(10000), count, running, why);
    peer_close(&p);
    return rc;
}

START_TEST(it_ends_with_whoever_began_it)
{
    char *place = place_make(), why[LAB_WHY];
    struct launch l;
    struct lab lab;
    int running = 0;
    begin(&l, &lab, place, "exec sleep 100");
    ck_assert_int_eq(launch_wait(&l, NULL, NULL, why), 0);
    ck_assert(ask(&lab, "status", NULL, &running) == 0 && running == 1);
    ck_assert_int_eq(ask(&lab, "fail", "0,0,0", &running), -EOPNOTSUPP);
    ck_assert_int_eq(ask(&lab, "nonsense", NULL, &running), -ENOSYS);
    launch_close(&l, &lab);
    ck_assert_int_lt(access(lab.folder, F_OK), 0);
    place_remove(place);
}
END_TEST

START_TEST(let_go_it_stays_until_down)
{
    char *place = place_make(), why[LAB_WHY];
    struct launch l;
    struct lab lab, found;
    int running = 0;
    begin(&l, &lab, place, "exec sleep 100");
    ck_assert_int_eq(launch_wait(&l, NULL, NULL, why), 0);
    launch_let_go(&l);
    close(l.lifeline);
    ck_assert(ask(&lab, "status", NULL, &running) == 0 && running == 1);
    ck_assert(lab_load(&found, "k", why) == 0 && found.keeper == lab.keeper && lab_lives(&found));
    ck_assert_int_eq(ask(&lab, "down", NULL, &running), 0);
    for (int i = 0; i < 500 && access(lab.folder, F_OK) == 0; i++) {
        usleep(10000);
    }
    ck_assert(access(lab.folder, F_OK) < 0);
    place_remove(place);
}
END_TEST

START_TEST(a_daemon_that_cannot_begin)
{
    char *place = place_make(), why[LAB_WHY];
    struct launch l;
    struct lab lab;
    bool cleaned;
    lab = (struct lab){.driver = LAB_PROCESS, .mtu = 9000, .scale = 1, .daemon = "/no/such/daemon"};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){3, 3, 3}), 0);
    ck_assert(lab_place(&lab, "k", why) == 0 && launch_begin(&l, &lab, &cleaned, why) == 0);
    ck_assert_int_lt(launch_wait(&l, NULL, NULL, why), 0);
    ck_assert(strstr(why, "/no/such/daemon") != NULL);
    launch_close(&l, &lab);
    ck_assert(access(lab.folder, F_OK) < 0);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(it_ends_with_whoever_began_it),
                                          SUITE_TEST(let_go_it_stays_until_down),
                                          SUITE_TEST(a_daemon_that_cannot_begin)};
SUITE_MAIN("keeper", tests)
