/* SPDX-License-Identifier: Apache-2.0 */
/* Groups on fake hosts that reach one another, under a service that has nothing but them. */
#include "services/multicast/group/membership.h"

#include "fake_net.h"
#include "services/multicast/cast/head.h"
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

static void ask(cw_server s, cw_job job, const char *text)
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
    ask(0, 7, "g");
    ck_assert(answers == 1 && status == -ENOENT);
    want(1, 7, "g", GROUP_MEMBER);
    want(3, 7, "g", GROUP_MEMBER);
    want(4, 8, "g", GROUP_MEMBER); /* another job's */
    ask(0, 7, "g");
    ck_assert(status == 0 && count == 2 && set[0] == 0x0a);
    ask(0, 8, "g");
    ck_assert(status == 0 && count == 1 && set[0] == 0x10);
    want(1, 7, "g", 0);
    ask(2, 7, "g");
    ck_assert(status == 0 && set[0] == 0x08);
    want(3, 7, "g", 0);
    ask(2, 7, "g");
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
    ask(0, 7, "kept");
    ck_assert(status == 0 && count == 0);
    want(2, 7, "kept", GROUP_KEEPER | GROUP_MEMBER);
    ask(0, 7, "kept");
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
        ask(0, 7, "g");
        fake_net_run(net, CW_SEC(1));
        ck_assert(answers == (unsigned)i + 1 && status == 0 && set[0] == 0x06);
    }
    net->lose = 0;
    net->server[0]->down[2] = net->server[1]->down[2] = net->server[3]->down[2] = net->server[4]->down[2] = true;
    ask(0, 7, "g");
    ck_assert(status == 0 && set[0] == 0x02); /* gone with the view */
    net->server[2]->refuse = -ENETUNREACH;    /* it cannot announce itself any more */
    net->server[0]->down[2] = net->server[1]->down[2] = net->server[3]->down[2] = net->server[4]->down[2] = false;
    fake_net_run(net, CW_SEC(5));
    ask(0, 7, "g");
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
    ask(0, 7, "g");
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
    ask(0, 7, "g");
    fake_net_run(net, CW_MS(5100));
    ck_assert(dones == 1 && done_status == -ETIMEDOUT && answers == 1 && status == -ETIMEDOUT);
    ask(0, 7, "g");
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
    ask(0, 7, "g");
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

static const struct suite_test tests[] = {
    SUITE_TEST(join_ask_leave), SUITE_TEST(kept_without_members), SUITE_TEST(soft_state), SUITE_TEST(a_new_root_waits),
    SUITE_TEST(nobody_answers), SUITE_TEST(many_groups),          SUITE_TEST(plain_names)};
SUITE_MAIN("groups", tests)
