/* SPDX-License-Identifier: Apache-2.0 */
/* Groups on fake hosts that reach one another, under a service that has nothing but them. */
/* The source itself: the tests reach into its private structure, to damage it. */
#include "services/multicast/group/membership.c"

#include "fake_net.h"
#include "services/multicast/cast/head.h"
#include "stops.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

struct holder {
    struct membership *membership;
};

static int holder_open(cw_svc *s, void *state)
{
    struct holder *h = state;
    return membership_open(&h->membership, s);
}

static void holder_close(cw_svc *s, void *state)
{
    (void)s;
    struct holder *h = state;
    membership_close(h->membership);
}

static cw_verdict holder_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    struct holder *h = state;
    struct group_head head;
    size_t length;
    const uint8_t *bytes = cw_packet_data(p, &length);
    if (group_head_decode(bytes, length, &head) < 0) {
        return CW_DROP;
    }
    return membership_packet(h->membership, p, &head, rx) ? CW_TAKE : CW_DROP;
}

static const cw_service holder = {
    CW_SERVICE_INIT,
    .name = "multicast",
    .version = "1",
    .job = MULTICAST_JOB,
    .state_size = sizeof(struct holder),
    .open = holder_open,
    .close = holder_close,
    .on_packet = holder_packet,
};

static struct fake_net *net;
static unsigned dones, answers, count;
static int done_status, status;
static uint8_t set[1];

static struct membership *membership_of(cw_server s)
{
    return ((struct holder *)net->server[s]->state)->membership;
}

static struct group_name name_of(cw_job job, const char *text)
{
    struct group_name name;
    ck_assert_int_eq(group_name_make(&name, job, text, strlen(text)), 0);
    return name;
}

static void setup(void)
{
    net = fake_net_open(&holder, (cw_dims){5, 1, 1});
    for (cw_server s = 0; s < 5; s++) {
        net->server[s]->random = s * 77 + 1;
    }
    fake_net_run(net, CW_MS(300)); /* roots settle */
    dones = answers = 0;
}

static void teardown(void)
{
    ck_assert_uint_eq(fake_net_close(net), 0);
}

static void done(void *arg, int rc)
{
    (void)arg;
    dones++;
    done_status = rc;
}

static void answered(void *arg, int rc, const uint8_t *members, unsigned members_count)
{
    (void)arg;
    answers++;
    status = rc;
    count = members_count;
    set[0] = members != NULL ? members[0] : 0;
}

static void want(cw_server s, cw_job job, const char *text, uint8_t flags)
{
    struct group_name name = name_of(job, text);
    unsigned before = dones;
    ck_assert_int_eq(membership_want(membership_of(s), &name, flags, done, NULL), 0);
    ck_assert_uint_eq(dones, before);
    fake_net_run(net, CW_MS(5));
    ck_assert_uint_eq(dones, before + 1);
    ck_assert_int_eq(done_status, 0);
    ck_assert_uint_eq(membership_wanted(membership_of(s), &name), flags);
}

static void ask_members(cw_server s, cw_job job, const char *text)
{
    struct group_name name = name_of(job, text);
    unsigned before = answers;
    ck_assert_int_eq(membership_ask(membership_of(s), &name, answered, NULL), 0);
    ck_assert_uint_eq(answers, before);
    fake_net_run(net, CW_MS(5));
}

START_TEST(join_ask_leave)
{
    setup();
    ask_members(0, 7, "g");
    ck_assert(answers == 1 && status == -ENOENT);
    want(1, 7, "g", GROUP_MEMBER);
    want(3, 7, "g", GROUP_MEMBER);
    want(4, 8, "g", GROUP_MEMBER); /* another job's */
    ask_members(0, 7, "g");
    ck_assert(status == 0 && count == 2 && set[0] == 0x0a);
    ask_members(0, 8, "g");
    ck_assert(status == 0 && count == 1 && set[0] == 0x10);
    want(1, 7, "g", 0);
    ask_members(2, 7, "g");
    ck_assert(status == 0 && set[0] == 0x08);
    want(3, 7, "g", 0);
    ask_members(2, 7, "g");
    ck_assert_int_eq(status, -ENOENT);
    struct group_name name = name_of(7, "g");
    ck_assert_int_eq(membership_want(membership_of(2), &name, 0, done, NULL), -ENOENT);
    ck_assert_int_eq(membership_want(membership_of(2), &name, 8, done, NULL), -EINVAL);
    teardown();
}
END_TEST

START_TEST(kept_without_members)
{
    setup();
    want(2, 7, "kept", GROUP_KEEPER);
    ask_members(0, 7, "kept");
    ck_assert(status == 0 && count == 0);
    want(2, 7, "kept", GROUP_KEEPER | GROUP_MEMBER);
    ask_members(0, 7, "kept");
    ck_assert(status == 0 && set[0] == 0x04);
    teardown();
}
END_TEST

/* Members stay for as long as they live, through loss, and no longer. */
START_TEST(soft_state)
{
    setup();
    net->lose = 3;
    struct group_name name = name_of(7, "g");
    ck_assert_int_eq(membership_want(membership_of(1), &name, GROUP_MEMBER, done, NULL), 0);
    ck_assert_int_eq(membership_want(membership_of(2), &name, GROUP_MEMBER, done, NULL), 0);
    fake_net_run(net, CW_SEC(1));
    ck_assert(dones == 2 && done_status == 0);
    for (int i = 0; i < 20; i++) {
        ask_members(0, 7, "g");
        fake_net_run(net, CW_SEC(1));
        ck_assert(answers == (unsigned)i + 1 && status == 0 && set[0] == 0x06);
    }
    net->lose = 0;
    net->server[0]->down[2] = net->server[1]->down[2] = net->server[3]->down[2] = net->server[4]->down[2] = true;
    ask_members(0, 7, "g");
    ck_assert(status == 0 && set[0] == 0x02); /* gone with the view */
    net->server[2]->refuse = -ENETUNREACH;    /* it cannot announce itself any more */
    net->server[0]->down[2] = net->server[1]->down[2] = net->server[3]->down[2] = net->server[4]->down[2] = false;
    fake_net_run(net, CW_SEC(5));
    ask_members(0, 7, "g");
    ck_assert(status == 0 && set[0] == 0x02);
    teardown();
}
END_TEST

/* A root that is new answers nobody before all could announce themselves; and they do so at once. */
START_TEST(a_new_root_waits)
{
    setup();
    want(1, 7, "g", GROUP_MEMBER);
    for (cw_server s = 0; s < 5; s++) {
        net->server[s]->steady_since = 5; /* the map of keys changed */
        const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .epoch = 5};
        uint64_t before = fake_sends(net->server[s]);
        membership_event(membership_of(s), &ev);
        ck_assert_uint_eq(fake_sends(net->server[s]) - before, s == 1);
    }
    ask_members(0, 7, "g");
    fake_net_run(net, CW_MS(200));
    ck_assert_uint_eq(answers, 0);
    fake_net_run(net, CW_MS(90));
    ck_assert(answers == 1 && status == 0 && set[0] == 0x02);
    teardown();
}
END_TEST

START_TEST(nobody_answers)
{
    setup();
    for (cw_server s = 0; s < 5; s++) {
        net->server[s]->fenced = true;
    }
    struct group_name name = name_of(7, "g");
    ck_assert_int_eq(membership_want(membership_of(1), &name, GROUP_MEMBER, done, NULL), 0);
    ask_members(0, 7, "g");
    fake_net_run(net, CW_MS(5100));
    ck_assert(dones == 1 && done_status == -ETIMEDOUT && answers == 1 && status == -ETIMEDOUT);
    ask_members(0, 7, "g");
    membership_cancel(membership_of(0), NULL);
    fake_net_run(net, CW_SEC(6));
    ck_assert_uint_eq(answers, 1);
    for (unsigned i = 0; i < GROUPS_QUESTIONS_MOST; i++) {
        ck_assert_int_eq(membership_ask(membership_of(0), &name, answered, NULL), 0);
    }
    ck_assert_int_eq(membership_ask(membership_of(0), &name, answered, NULL), -EAGAIN);
    for (cw_server s = 0; s < 5; s++) {
        net->server[s]->fenced = false;
    }
    fake_net_run(net, CW_SEC(1)); /* it has gone on trying */
    ck_assert_uint_eq(answers, 1 + GROUPS_QUESTIONS_MOST);
    ask_members(0, 7, "g");
    ck_assert(status == 0 && set[0] == 0x02);
    teardown(); /* whatever is open */
}
END_TEST

START_TEST(many_groups)
{
    setup();
    for (unsigned i = 0; i < GROUPS_HERE_MOST; i++) {
        char text[16];
        snprintf(text, sizeof text, "g%u", i);
        struct group_name name = name_of(7, text);
        ck_assert_int_eq(membership_want(membership_of(1), &name, GROUP_MEMBER, done, NULL), 0);
    }
    struct group_name name = name_of(7, "more");
    ck_assert_int_eq(membership_want(membership_of(1), &name, GROUP_MEMBER, done, NULL), -ENOSPC);
    fake_net_run(net, CW_MS(5));
    ck_assert_uint_eq(dones, GROUPS_HERE_MOST);
    unsigned rows = 0, roots = 0;
    struct membership_row row;
    for (cw_server s = 0; s < 5; s++) {
        for (unsigned i = 0; membership_row(membership_of(s), i, &row); i++) {
            rows += row.flags == GROUP_MEMBER && row.acked;
            roots += row.root && row.members == 1;
        }
    }
    ck_assert(rows == GROUPS_HERE_MOST && roots == GROUPS_HERE_MOST);
    teardown();
}
END_TEST

START_TEST(plain_names)
{
    ck_assert(group_plain_name("web-1.a_B") && !group_plain_name("all") && !group_plain_name(""));
    ck_assert(!group_plain_name("1,0,0") && !group_plain_name("a b"));
}
END_TEST

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

static struct membership *damaged;
static struct announced *of_group;

/* Server 1 is a member of a group, and its question for the members of the group is under way. */
static void join_and_ask(void)
{
    const struct group_name name = name_of(7, "g");
    setup();
    want(1, 7, "g", GROUP_MEMBER);
    damaged = membership_of(1);
    of_group = announcer_find(&damaged->announcer, &name);
    ck_assert_ptr_nonnull(of_group);
    ck_assert_int_eq(membership_ask(damaged, &name, answered, NULL), 0);
}

static void join_too_many(void)
{
    struct announcer *a = &damaged->announcer;
    a->group = realloc(a->group, (GROUPS_HERE_MOST + 1) * sizeof(struct announced *));
    ck_assert_ptr_nonnull(a->group);
    while (a->count <= GROUPS_HERE_MOST) {
        a->group[a->count++] = of_group;
    }
}

START_TEST(sound)
{
    join_and_ask();
    for (cw_server s = 0; s < 5; s++) {
        ck_assert(membership_audit(membership_of(s)));
    }
    teardown();
}
END_TEST

#define STOPS_AT(name, rule, damage) STOPS(name, rule, join_and_ask(); damage; (void)membership_audit(damaged))
STOPS_AT(a_serial_of_nobody, "groups G2: a serial was given out", of_group->serial = damaged->announcer.serials + 1)
STOPS_AT(acknowledged_and_never_wanted, "groups G2: what is acknowledged was wanted", of_group->serial = 0)
STOPS_AT(a_question_is_not_counted, "groups G2: the questions under way are counted right", damaged->question_count--)
STOPS_AT(a_call_is_counted_twice, "groups G2: a group has at most one call under way", damaged->calls++)
STOPS_AT(too_many_groups_here, "groups G2: the groups of this server are bounded", join_too_many())
STOPS_AT(the_table_is_wrong, "groups G1: the entries of a root's table are counted right", damaged->table.entries++)

static const struct suite_test tests[] = {
    SUITE_TEST(join_ask_leave),
    SUITE_TEST(kept_without_members),
    SUITE_TEST(soft_state),
    SUITE_TEST(a_new_root_waits),
    SUITE_TEST(nobody_answers),
    SUITE_TEST(many_groups),
    SUITE_TEST(plain_names),
    SUITE_TEST(sound),
    SUITE_TEST(a_serial_of_nobody),
    SUITE_TEST(acknowledged_and_never_wanted),
    SUITE_TEST(a_question_is_not_counted),
    SUITE_TEST(a_call_is_counted_twice),
    SUITE_TEST(too_many_groups_here),
    SUITE_TEST(the_table_is_wrong),
};
SUITE_MAIN("groups", tests)
