/* SPDX-License-Identifier: Apache-2.0 */
/* What a keeper is asked for, on 8 servers in namespaces, whose daemons are shell scripts. */
#include "lab_place.h"
#include "testbed/keeper.h"
#include "testbed/launch.h"
#include "testbed/peer.h"

#include <errno.h>

static struct lab lab;

struct seen {
    char state[16], ended[64];
};

static void look(void *context, const struct message *row)
{
    struct seen *seen = context;
    const char *ended = message_get_text(row, "ended", NULL);
    if (strcmp(message_get_text(row, "server", NULL), "1,0,1") == 0) {
        snprintf(seen->state, sizeof seen->state, "%s", message_get_text(row, "state", NULL));
        snprintf(seen->ended, sizeof seen->ended, "%s", ended != NULL ? ended : "");
    }
}

static int ask(const char *what, int argc, const char *const *argv, struct seen *seen)
{
    char path[LAB_PATH], why[PEER_WHY];
    struct peer p;
    ck_assert_int_eq(peer_open(&p, lab_path(&lab, "keeper", ".sock", path)), 0);
    int rc = peer_ask(&p, peer_request(what, argc, argv), CW_MS(10000), look, seen, why);
    if (p.passed[0] >= 0 || p.passed[1] >= 0) {
        close(p.passed[0]);
        close(p.passed[1]);
    }
    peer_close(&p);
    return rc;
}

#define ASK(what, ...) \
    ask(what, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]){__VA_ARGS__}, NULL_SEEN)
#define NULL_SEEN (&(struct seen){"", ""})

static const char *state(void)
{
    static struct seen seen;
    ck_assert_int_eq(ask("status", 0, NULL, &seen), 0);
    return seen.state;
}

START_TEST(what_can_be_done_to_a_server)
{
    char *place = place_make(), why[LAB_WHY];
    struct launch l;
    bool cleaned;
    if (launch_allowed(why) < 0) {
        printf("%s\n", why);
        place_remove(place);
        return;
    }
    lab = (struct lab){.driver = LAB_NETNS, .mtu = 9000, .scale = 1};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 2, 2}), 0);
    sprintf(lab.daemon, "%s/daemon", place);
    FILE *f = fopen(lab.daemon, "w");
    fputs("#!/bin/sh\nexec sleep 100\n", f);
    fclose(f);
    ck_assert_int_eq(chmod(lab.daemon, 0755), 0);
    ck_assert(lab_place(&lab, "s", why) == 0 && launch_begin(&l, &lab, &cleaned, why) == 0);
    ck_assert_msg(launch_wait(&l, NULL, NULL, why) == 0, "%s", why);

    ck_assert_str_eq(state(), "running");
    ck_assert_int_eq(ASK("fail", "1,0,1"), 0);
    ck_assert_str_eq(state(), "dead");
    ck_assert_int_eq(ASK("fail", "1,0,1"), 1);
    ck_assert_int_eq(ASK("restore", "1,0,1"), 0);
    ck_assert_int_eq(ASK("restore", "1,0,1"), -EALREADY);
    ck_assert_int_eq(ASK("power-off", "1,0,1"), 0);
    ck_assert_int_eq(ASK("restore", "1,0,1"), 0);
    ck_assert_int_eq(ASK("pause", "1,0,1", "50000000"), 0);
    ck_assert_str_eq(state(), "paused");
    usleep(80000);
    ck_assert_str_eq(state(), "running");
    ck_assert_int_eq(ASK("pause", "1,0,1"), 0);
    ck_assert_int_eq(ASK("continue", "1,0,1"), 0);
    ck_assert_int_eq(ASK("link", "1,0,1", "+x", "down"), 0);
    ck_assert_int_eq(ASK("link", "1,0,1", "+x", "up"), 0);
    ck_assert_int_eq(ASK("link", "1,0,1", "+x"), -EINVAL);
    ck_assert_int_eq(ASK("link", "1,0,1", "+w", "up"), -EINVAL);
    ck_assert_int_eq(ASK("loss", "1,0,1", "+x", "1000000"), 0);
    ck_assert_int_eq(ASK("loss", "1,0,1", "+x", "0"), 0);
    ck_assert_int_eq(ASK("loss", "1,0,1", "+x", "-1"), -EINVAL);
    ck_assert_int_eq(ASK("namespace", "1,0,1"), 0);
    ck_assert_int_eq(ASK("fail", "2,0,0"), -EINVAL);
    ck_assert_int_eq(ASK("rescale", "4", "9.0", "unasked", "9000000000000000000"), -EBUSY); /* the lab is not up yet */
    ck_assert_int_eq(ASK("leave", "1,0,1"), 0);
    launch_close(&l, &lab);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_can_be_done_to_a_server)};
SUITE_MAIN("keeper_serve", tests)
