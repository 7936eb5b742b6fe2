/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of one packet on fake hosts that reach one another, under a service that has nothing but them. */
/* The source itself: the tests reach into its private structure, to damage it. */
#include "services/multicast/group/datagrams.c"

#include "fake_net.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/group/datagram_window.h"
#include "stops.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { SERVERS = 9, MESSAGES = 400 };

struct holder {
    struct datagrams *datagrams;
    struct clients clients;
    struct torus torus;
    cw_server self;
    cw_svc *user; /* of the client */
    cw_multicast *client;
};

static unsigned got[SERVERS][MESSAGES], forwards, dones;
static int stop_at; /* a server that passes nothing on; -1: none */
static int status[SERVERS];
static unsigned rows;
static struct fake_net *net;

static cw_verdict no_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static const cw_service user = {CW_SERVICE_INIT, .name = "user", .version = "1", .job = 4096, .on_packet = no_packet};

static void deliver(void *context, const cw_multicast_message *m)
{
    struct holder *holder = context;
    uint32_t number;
    ck_assert_uint_eq(m->name_length, 1);
    ck_assert_int_eq(m->name[0], 'g');
    ck_assert_uint_ge(m->length, 4);
    memcpy(&number, m->bytes, 4);
    ck_assert_uint_lt(number, MESSAGES);
    got[holder->self][number]++;
}

static bool forward(void *context, const cw_multicast_message *m)
{
    (void)m;
    struct holder *holder = context;
    forwards++;
    return (int)holder->self != stop_at;
}

static int holder_open(cw_svc *s, void *state)
{
    struct holder *h = state;
    h->self = cw_server_id(s, cw_self(s));
    int rc = torus_init(&h->torus, cw_torus(s));
    h->clients.torus = &h->torus;
    return rc < 0 ? rc : datagrams_open(&h->datagrams, s, &h->torus, &h->clients);
}

static void holder_close(cw_svc *s, void *state)
{
    (void)s;
    struct holder *h = state;
    datagrams_close(h->datagrams);
}

static cw_verdict holder_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    struct holder *h = state;
    struct group_head head;
    size_t length;
    const uint8_t *bytes = cw_packet_data(p, &length);
    ck_assert_int_eq(group_head_decode(bytes, length, &head), 0);
    return datagrams_packet(h->datagrams, &head, rx) < 0 ? CW_DROP : CW_FORWARD;
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

static struct datagrams *datagrams_of(cw_server s)
{
    return ((struct holder *)net->server[s]->state)->datagrams;
}

static struct group_name name_of(void)
{
    struct group_name name;
    ck_assert_int_eq(group_name_make(&name, 4096, "g", 1), 0);
    return name;
}

/* A client of job 4096 that is a member of the group g, on every server. */
static void attach(cw_server s)
{
    struct holder *h = net->server[s]->state;
    const cw_multicast_config config = {CW_MULTICAST_INIT, .context = h, .deliver = deliver, .forward = forward};
    const struct group_name name = name_of();
    struct client_subject *subject;
    h->user = fake_open(&user, torus_dims(&h->torus), torus_coord(&h->torus, s));
    ck_assert_int_eq(clients_attach(&h->clients, h->user, &config, &h->client), 0);
    ck_assert_int_eq(client_find_or_add(h->client, &name, &subject), 0);
    subject->group = GROUP_MEMBER;
}

static void detach(cw_server s)
{
    struct holder *h = net->server[s]->state;
    clients_detach(h->client);
    clients_free(h->client);
    ck_assert_uint_eq(fake_close(h->user), 0);
}

static void setup(void)
{
    net = fake_net_open(&holder, (cw_dims){3, 3, 1});
    for (cw_server s = 0; s < SERVERS; s++) {
        net->server[s]->random = s * 77 + 1;
        attach(s);
    }
    memset(got, 0, sizeof got);
    forwards = dones = rows = 0;
    stop_at = -1;
}

static void teardown(void)
{
    for (cw_server s = 0; s < SERVERS; s++) {
        detach(s);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}

static void done(void *arg, const struct cast_member *member, unsigned count)
{
    (void)arg;
    dones++;
    rows = count;
    for (unsigned i = 0; i < count; i++) {
        ck_assert(member[i].state != CAST_WAITING && (i == 0 || member[i].server > member[i - 1].server));
        status[member[i].server] = member[i].status;
    }
}

static int send(cw_server from, uint16_t members, bool reliable, uint32_t number, size_t length)
{
    static uint8_t bytes[FAKE_MTU];
    const uint8_t set[2] = {(uint8_t)members, (uint8_t)(members >> 8)};
    memcpy(bytes, &number, 4);
    const struct group_name name = name_of();
    const struct datagram_order order = {.name = &name,
                                         .to_group = true,
                                         .reliable = reliable,
                                         .set = set,
                                         .bytes = bytes,
                                         .length = length,
                                         .done = done};
    return datagrams_send(datagrams_of(from), &order);
}

static void everybody_has(uint16_t members, cw_server source, uint32_t number)
{
    for (cw_server s = 0; s < SERVERS; s++) {
        ck_assert_uint_eq(got[s][number], (members >> s & 1) && s != source);
    }
}

START_TEST(to_some_and_all)
{
    setup();
    for (uint32_t i = 0; i < 40; i++) { /* by each of the trees */
        uint16_t members = (uint16_t)(i % 2 == 0 ? 0x1ff : 0x55 << i % 3);
        ck_assert_int_eq(send(i % SERVERS, members, i % 4 < 2, i, 100), 0);
        ck_assert_uint_eq(dones, i / 4 * 2 + (i % 4 < 2 ? i % 4 : 2)); /* never from within */
        fake_net_run(net, CW_MS(2));
        everybody_has(members, i % SERVERS, i);
    }
    ck_assert_uint_eq(dones, 20);
    for (cw_server s = 0; s < SERVERS; s++) {
        ck_assert_uint_eq(datagrams_open_count(datagrams_of(s)), 0);
    }
    teardown();
}
END_TEST

START_TEST(exactly_once_through_loss)
{
    setup();
    net->lose = 3;
    for (uint32_t i = 0; i < 300; i++) {
        while (send(4, 0x1ff, true, i, 50) == -EAGAIN) {
            fake_net_run(net, CW_MS(1));
        }
    }
    fake_net_run(net, CW_SEC(5));
    ck_assert_uint_eq(dones, 300);
    for (uint32_t i = 0; i < 300; i++) {
        everybody_has(0x1ff, 4, i);
    }
    for (uint32_t i = 300; i < 400; i++) {
        ck_assert_int_eq(send(4, 0x1ff, false, i, 50), 0);
        fake_net_run(net, CW_MS(1));
    }
    unsigned lost = 0;
    for (uint32_t i = 300; i < 400; i++) {
        for (cw_server s = 0; s < SERVERS; s++) {
            ck_assert_uint_le(got[s][i], 1); /* at most once */
            lost += got[s][i] == 0 && s != 4;
        }
    }
    ck_assert_uint_gt(lost, 20);
    teardown();
}
END_TEST

START_TEST(members_that_do_not)
{
    setup();
    const struct group_name left = name_of();
    client_find(((struct holder *)net->server[3]->state)->client, &left)->group = 0;
    for (cw_server s = 0; s < SERVERS; s++) {
        net->server[s]->down[6] = s != 6;
    }
    net->server[5]->refuse = net->server[6]->refuse = -ENOMEM; /* hear, and cannot speak */
    ck_assert_int_eq(send(0, 0x1fe, true, 7, 50), 0);
    fake_net_run(net, CW_SEC(11));
    ck_assert(dones == 1 && rows == 8 && status[3] == -ENOENT && status[6] == -ENETUNREACH && status[5] == -ETIMEDOUT);
    ck_assert(status[1] == 0 && status[8] == 0 && got[1][7] == 1 && got[3][7] == 0 && got[5][7] == 1);
    ck_assert_int_eq(send(0, 0x001, false, 7, 50), -ENETUNREACH); /* nobody but the source */
    ck_assert_int_eq(send(0, 0x001, true, 7, 50), 0);
    fake_net_run(net, CW_MS(1));
    ck_assert(dones == 2 && rows == 0);
    teardown();
}
END_TEST

/* One that leaves the view while it is waited for. */
START_TEST(a_member_goes)
{
    setup();
    net->server[5]->refuse = -ENOMEM;
    ck_assert_int_eq(send(0, 0x030, true, 7, 50), 0);
    fake_net_run(net, CW_MS(250));
    ck_assert_uint_eq(dones, 0);
    net->server[0]->down[5] = true;
    datagrams_event(datagrams_of(0));
    ck_assert(dones == 1 && status[4] == 0 && status[5] == -ENETUNREACH);
    teardown();
}
END_TEST

START_TEST(bounds)
{
    setup();
    size_t most = datagrams_most(datagrams_of(0), 1);
    ck_assert_int_eq(send(0, 2, true, 0, most), 0);
    ck_assert_int_eq(send(0, 2, true, 0, most + 1), -EMSGSIZE);
    fake_net_run(net, CW_MS(1));
    ck_assert_uint_eq(got[1][0], 1);
    net->server[1]->refuse = -ENOMEM; /* answers nothing */
    unsigned sent = 0;
    while (send(0, 2, true, 1 + sent, 10) == 0) {
        sent++;
    }
    ck_assert_uint_eq(sent, DATAGRAM_WINDOW / 2);
    ck_assert_int_eq(send(0, 2, true, 1, 10), -EAGAIN);
    ck_assert_int_eq(send(0, 2, false, 399, 10), 0);
    net->server[1]->refuse = 0;
    fake_net_run(net, CW_MS(500));
    ck_assert(dones == sent + 1 && send(0, 2, true, 398, 10) == 0);
    net->server[0]->room = 0;
    ck_assert_int_eq(send(0, 2, true, 397, 10), -EAGAIN);
    ck_assert_int_eq(send(0, 2, false, 397, 10), -EAGAIN);
    net->server[0]->room = SIZE_MAX;
    datagrams_cancel(datagrams_of(0), NULL);
    fake_net_run(net, CW_MS(500));
    ck_assert_uint_eq(dones, sent + 1);
    ck_assert_int_eq(send(0, 2, true, 396, 10), 0);
    teardown(); /* with one open */
}
END_TEST

/* A refused message has reached nobody; one that any child took keeps its number to itself. */
START_TEST(a_child_that_cannot_now)
{
    setup();
    const uint16_t members = 0x17f; /* 7 is dead: in two trees the source has two children */
    for (cw_server s = 0; s < SERVERS; s++) {
        net->server[s]->down[7] = true;
    }
    unsigned whole = 0;
    for (uint32_t i = 0; i < 40; i++) {
        net->server[0]->balk = 1;
        int rc = send(0, members, i % 2 == 0, i, 50);
        ck_assert(rc == 0 || rc == -EAGAIN);
        ck_assert_uint_eq(net->server[0]->balk, 0);
        whole += rc == 0;
        ck_assert_int_eq(send(0, members, true, 100 + i, 50), 0);
        fake_net_run(net, CW_MS(200));
        everybody_has(members, 0, 100 + i);
        if (rc < 0) {
            everybody_has(0, 0, i);
        } else if (i % 2 == 0) {
            everybody_has(members, 0, i);
        }
    }
    ck_assert(whole > 0 && whole < 40);
    teardown();
}
END_TEST

START_TEST(not_passed_on)
{
    setup();
    ck_assert_int_eq(send(0, 0x1ff, false, 1, 10), 0);
    fake_net_run(net, CW_MS(1));
    everybody_has(0x1ff, 0, 1);
    ck_assert_uint_gt(forwards, 0);
    cw_server child = SERVERS;
    for (cw_server s = 1; s < SERVERS; s++) { /* whoever it is that hears first */
        stop_at = (int)s;
        memset(got, 0, sizeof got);
        ck_assert_int_eq(send(0, 0x1ff, false, 2, 10), 0);
        fake_net_run(net, CW_MS(1));
        unsigned has = 0;
        for (cw_server i = 0; i < SERVERS; i++) {
            has += got[i][2];
        }
        child = has == 1 && got[s][2] == 1 ? s : child;
    }
    ck_assert_uint_lt(child, SERVERS);
    teardown();
}
END_TEST

/* What nobody should send: of other tori, of oneself, direct ones of others; and twice. */
START_TEST(strangers)
{
    setup();
    uint8_t bytes[200];
    const uint8_t set[2] = {0xff, 0x01};
    const uint32_t number = 5;
    struct group_head h = {.kind = GROUP_DATAGRAM,
                           .flags = DATAGRAM_DIRECT | DATAGRAM_RELIABLE | DATAGRAM_TO_GROUP,
                           .job = 4096,
                           .life = 9,
                           .origin = 2,
                           .number = 1,
                           .servers = 9,
                           .set = set,
                           .name = "g",
                           .name_bytes = 1,
                           .bytes = (const uint8_t *)&number,
                           .length = 4};
    struct group_head out;
    cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .src_job = MULTICAST_JOB, .src_process = 1};
    group_head_encode(&h, bytes);
    ck_assert_int_eq(group_head_decode(bytes, group_head_bytes(&h), &out), 0);
    ck_assert_int_eq(datagrams_packet(datagrams_of(7), &out, &rx), -EINVAL);
    rx.src_process = 2;
    ck_assert_int_eq(datagrams_packet(datagrams_of(2), &out, &rx), -EINVAL);
    ck_assert(datagrams_packet(datagrams_of(7), &out, &rx) == 0 && got[7][5] == 1);
    ck_assert(datagrams_packet(datagrams_of(7), &out, &rx) == 0 && got[7][5] == 1);
    out.servers = 8;
    out.number = 2;
    ck_assert_int_eq(datagrams_packet(datagrams_of(7), &out, &rx), -EINVAL);
    h = (struct group_head){.kind = GROUP_RECEIPT, .life = 1, .number = 1};
    ck_assert_int_eq(datagrams_packet(datagrams_of(7), &h, &rx), -ESTALE);
    teardown();
}
END_TEST

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

static struct datagrams *damaged;

/* Two datagrams of server 0 are under way, and nobody has answered. */
static void send_two(void)
{
    setup();
    ck_assert(send(0, 0x1ff, true, 0, 100) == 0 && send(0, 0x1ff, true, 1, 100) == 0);
    damaged = datagrams_of(0);
    ck_assert_uint_eq(datagrams_open_count(damaged), 2);
}

START_TEST(sound)
{
    send_two();
    ck_assert(datagrams_audit(damaged));
    fake_net_run(net, CW_MS(2));
    ck_assert(datagrams_audit(damaged));
    teardown();
}
END_TEST

#define STOPS_AT(name, rule, damage) STOPS(name, rule, send_two(); damage; (void)datagrams_audit(damaged))
STOPS_AT(one_waits_and_is_not_counted, "groups G3: the members that have not answered are counted right",
         damaged->out->waiting--)
STOPS_AT(a_number_is_too_old, "groups G3: numbers under way lie within half a window",
         damaged->numbers[1] = damaged->out->number + DATAGRAM_WINDOW / 2)
STOPS_AT(numbers_are_equal, "groups G3: numbers ascend", damaged->out->number = damaged->out->next->number)
STOPS_AT(a_datagram_is_counted_twice, "groups G3: datagrams under way are counted right", damaged->out_count++)
STOPS_AT(the_end_is_not_the_last, "groups G3: datagrams under way are counted right", damaged->out_end = &damaged->out)
STOPS_AT(bytes_are_miscounted, "groups G3: the bytes of datagrams under way are counted right", damaged->memory--)

static const struct suite_test tests[] = {
    SUITE_TEST(to_some_and_all),
    SUITE_TEST(exactly_once_through_loss),
    SUITE_TEST(members_that_do_not),
    SUITE_TEST(a_member_goes),
    SUITE_TEST(bounds),
    SUITE_TEST(a_child_that_cannot_now),
    SUITE_TEST(not_passed_on),
    SUITE_TEST(strangers),
    SUITE_TEST(sound),
    SUITE_TEST(one_waits_and_is_not_counted),
    SUITE_TEST(a_number_is_too_old),
    SUITE_TEST(numbers_are_equal),
    SUITE_TEST(a_datagram_is_counted_twice),
    SUITE_TEST(the_end_is_not_the_last),
    SUITE_TEST(bytes_are_miscounted),
};
SUITE_MAIN("datagrams", tests)
