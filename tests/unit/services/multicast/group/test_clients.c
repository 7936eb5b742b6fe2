/* SPDX-License-Identifier: Apache-2.0 */
/* Who is here and wants what: a message reaches the client that wants it, and nobody else. */
#include "services/multicast/group/clients.h"

#include "fake_host.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct torus torus;
static struct clients clients;
static cw_svc *user[2];
static cw_multicast *client[2];
static unsigned got[2], writable[2];
static bool stops;
static cw_multicast_message last;

static cw_verdict no_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static const cw_service services[2] = {
    {CW_SERVICE_INIT, .name = "one", .version = "1", .job = 4096, .on_packet = no_packet},
    {CW_SERVICE_INIT, .name = "two", .version = "1", .job = 4097, .on_packet = no_packet},
};

static void deliver(void *context, const cw_multicast_message *m)
{
    ++*(unsigned *)context;
    last = *m;
}

static bool forward(void *context, const cw_multicast_message *m)
{
    (void)context, (void)m;
    return !stops;
}

static void is_writable(void *context)
{
    writable[(unsigned *)context - got]++;
}

static void setup(void)
{
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 1, 1}), 0);
    clients = (struct clients){.torus = &torus};
    memset(got, 0, sizeof got);
    memset(writable, 0, sizeof writable);
    stops = false;
    for (unsigned i = 0; i < 2; i++) {
        const cw_multicast_config config = {CW_MULTICAST_INIT, .context = &got[i], .deliver = deliver,
                                            .forward = i == 0 ? forward : NULL,
                                            .writable = i == 0 ? is_writable : NULL};
        user[i] = fake_open(&services[i], (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
        ck_assert_int_eq(clients_attach(&clients, user[i], &config, &client[i]), 0);
    }
}

static void teardown(void)
{
    for (unsigned i = 0; i < 2; i++) {
        clients_detach(client[i]);
        clients_free(client[i]);
        ck_assert_uint_eq(fake_close(user[i]), 0);
    }
    ck_assert_ptr_null(clients.first);
}

static struct group_name name_of(cw_job job, const char *text)
{
    struct group_name name;
    ck_assert_int_eq(group_name_make(&name, job, text, strlen(text)), 0);
    return name;
}

START_TEST(delivered_to_who_wants_it)
{
    setup();
    const struct group_name mine = name_of(4096, "g"), others = name_of(4097, "g");
    struct client_subject *subject;
    ck_assert_int_eq(client_find_or_add(client[0], &mine, &subject), 0);
    subject->group = GROUP_MEMBER;
    const struct arrival a = {.name = &mine, .to_group = true, .from = 2, .bytes = (const uint8_t *)"x", .length = 1};
    struct arrival b = a, topic = a;
    b.name = &others;
    topic.to_group = false;
    ck_assert_int_eq(clients_deliver(&clients, &a), 0);
    ck_assert_int_eq(clients_deliver(&clients, &b), -ENOENT);
    ck_assert_int_eq(clients_deliver(&clients, &topic), -ENOENT);
    ck_assert_uint_eq(got[0], 1);
    ck_assert_uint_eq(got[1], 0);
    ck_assert_uint_eq(last.from.x, 2);
    ck_assert(clients_want(&clients, &mine, true));
    ck_assert(!clients_want(&clients, &mine, false));
    subject->group = GROUP_KEEPER; /* keeps the group, and is no member */
    ck_assert(!clients_want(&clients, &mine, true));
    teardown();
}
END_TEST

START_TEST(forward_and_writable)
{
    setup();
    const struct group_name mine = name_of(4096, "g"), others = name_of(4097, "g"), nobody = name_of(5000, "g");
    struct arrival a = {.name = &mine, .best_effort = true};
    ck_assert(clients_forward(&clients, &a));
    stops = true;
    ck_assert(!clients_forward(&clients, &a));
    a.name = &others; /* has no forward() */
    ck_assert(clients_forward(&clients, &a));
    a.name = &nobody;
    ck_assert(clients_forward(&clients, &a));
    clients_writable(&clients);
    ck_assert_uint_eq(writable[0], 0);
    client[0]->refused = client[1]->refused = true;
    clients_writable(&clients);
    clients_writable(&clients);
    ck_assert_uint_eq(writable[0], 1);
    teardown();
}
END_TEST

START_TEST(names_come_and_go)
{
    setup();
    const struct group_name g = name_of(4096, "g"), h = name_of(4096, "h");
    struct client_subject *subject;
    cw_multicast *second;
    const cw_multicast_config config = {CW_MULTICAST_INIT, .deliver = deliver};
    ck_assert_int_eq(clients_attach(&clients, user[0], &config, &second), -EEXIST);
    ck_assert_int_eq(clients_attach(&clients, NULL, &config, &second), -EINVAL);
    ck_assert_ptr_null(client_find(client[0], &g));
    ck_assert_int_eq(client_find_or_add(client[0], &g, &subject), 0);
    subject->listens = true;
    ck_assert_int_eq(client_find_or_add(client[0], &h, &subject), 0);
    client_drop_if_idle(client[0], subject);
    ck_assert_ptr_null(client_find(client[0], &h));
    client_drop_if_idle(client[0], client_find(client[0], &g)); /* it listens */
    ck_assert_ptr_nonnull(client_find(client[0], &g));
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(delivered_to_who_wants_it), SUITE_TEST(forward_and_writable),
                                          SUITE_TEST(names_come_and_go)};
SUITE_MAIN("clients", tests)
