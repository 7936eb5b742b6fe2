/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/many.h"

#include "services/tunnel/head.h"
#include "services/tunnel/internal.h"
#include "suite.h"
#include "tunnel_town.h"

#include <errno.h>
#include <string.h>

enum { PACKET_MAX = 5000 };

/* The service multicast, as far as it is used: the last message is kept, and brought to others by the test. */
struct cw_multicast {
    cw_svc *user;
    cw_multicast_config config;
    bool member;
};

static struct cw_multicast users[TOWN_SERVERS];
static unsigned published;
static bool full;
static uint8_t message[PACKET_MAX];
static size_t message_bytes;
static struct rng chance = {53};
static struct ip_kit_packet drawn;

static int mc_open(cw_svc *multicast, cw_svc *user, const cw_multicast_config *config, cw_multicast **out)
{
    struct cw_multicast *u = &users[cw_self(user).x];
    (void)multicast;
    ck_assert_ptr_null(u->user);
    *u = (struct cw_multicast){user, *config, false};
    *out = u;
    return 0;
}

static void mc_close(cw_multicast *u)
{
    u->user = NULL;
}

static int mc_join(cw_multicast *u, const char *group, size_t length, cw_multicast_acked_fn done, void *arg)
{
    (void)arg;
    ck_assert(length == 2 && memcmp(group, "ip", 2) == 0 && done == NULL);
    u->member = true;
    return 0;
}

static int mc_publish(cw_multicast *u, const char *group, size_t length, const cw_multicast_content *content,
                      cw_multicast_done_fn done, void *arg)
{
    (void)arg;
    ck_assert(u->member && length == 2 && memcmp(group, "ip", 2) == 0 && done == NULL);
    ck_assert_uint_eq(content->flags, CW_MULTICAST_BEST_EFFORT);
    ck_assert_uint_le(content->length, PACKET_MAX);
    if (full) {
        return -EAGAIN;
    }
    published++;
    memcpy(message, content->bytes, content->length);
    message_bytes = content->length;
    return 0;
}

static size_t mc_packet_max(const cw_multicast *u, size_t name_length)
{
    (void)u;
    return PACKET_MAX + 2 - name_length;
}

static const cw_multicast_api api = {.size = sizeof api,
                                     .open = mc_open,
                                     .close = mc_close,
                                     .join = mc_join,
                                     .publish = mc_publish,
                                     .packet_max = mc_packet_max};

static const void *offers(cw_svc *s, const char *name, unsigned version)
{
    (void)s;
    return strcmp(name, "multicast") == 0 && version == CW_MULTICAST_API ? &api : NULL;
}

static void begin(const char *option)
{
    const char *const options[] = {option, NULL};
    fake_offers = offers;
    published = 0;
    full = false;
    town_open(options);
    for (unsigned i = 0; i < TOWN_SERVERS; i++) {
        fake_run(town[i].s, CW_MS(1));
    }
}

static void end(void)
{
    town_close();
    town_ethernet = false;
    for (unsigned i = 0; i < TOWN_SERVERS; i++) {
        ck_assert_ptr_null(users[i].user);
    }
    fake_offers = NULL;
}

/* A datagram from a server to a group of IP, as its kernel would write it. */
static void send_to(unsigned server, const uint8_t *group, size_t payload)
{
    struct ip_kit_wish wish = {.version = 4, .protocol = 17, .payload_most = payload, .from = (uint8_t)server, .to = 1};
    do {
        ip_kit_draw(&chance, &wish, &drawn);
    } while (drawn.gso_size != 0 || drawn.length > payload + 60);
    memcpy(drawn.bytes + 16, group, 4);
    ip_set_length(drawn.bytes, (drawn.bytes[0] & 15u) * 4, drawn.length);
    town_read(server, &drawn);
}

static void deliver(unsigned from, unsigned to)
{
    const cw_multicast_message m = {.size = sizeof m,
                                    .from = {(uint8_t)from, 0, 0},
                                    .to_group = true,
                                    .best_effort = true,
                                    .bytes = message,
                                    .length = message_bytes};
    users[to].config.deliver(users[to].config.context, &m);
}

static const uint8_t mdns[] = {224, 0, 0, 251}, everybody[] = {255, 255, 255, 255};

START_TEST(comes_to_all_others)
{
    begin("multicast=yes");
    for (unsigned i = 0; i < 2; i++) {
        send_to(0, i == 0 ? mdns : everybody, 300);
        ck_assert_uint_eq(published, i + 1);
        for (unsigned to = 0; to < TOWN_SERVERS; to++) {
            deliver(0, to);
            ck_assert_uint_eq(town[to].writes, to != 0);
            if (to != 0) {
                ck_assert_uint_eq(town[to].write[0].length, drawn.length);
                const size_t data = (drawn.bytes[0] & 15u) * 4 + 8; /* the sum of UDP's is as of the group's address */
                ck_assert_mem_eq(town[to].write[0].bytes + 12, drawn.bytes + 12, 8);
                ck_assert_mem_eq(town[to].write[0].bytes + data, drawn.bytes + data, drawn.length - data);
            }
            town_forget(to);
        }
    }
    ck_assert_uint_eq(town_count(0, "many_sent"), 2);
    ck_assert_uint_eq(town_count(1, "many_came"), 2);
    end();
}
END_TEST

START_TEST(what_comes_is_judged)
{
    begin("multicast=yes");
    send_to(0, mdns, 300);
    deliver(2, 1); /* server 2 repeats what is of server 0 */
    ck_assert_uint_eq(town_count(1, "drop-damaged"), 1);
    message[40]++;
    deliver(0, 1);
    ck_assert_uint_eq(town_count(1, "drop-damaged"), 2);
    message_bytes = 3;
    deliver(0, 1);
    ck_assert_uint_eq(town[1].writes, 0);
    send_to(0, mdns, 300);
    drawn.bytes[15]++; /* of another server */
    drawn.bytes[14] = 2;
    ip_set_length(drawn.bytes, (drawn.bytes[0] & 15u) * 4, drawn.length);
    town_read(0, &drawn);
    ck_assert_uint_eq(town_count(0, "drop-source"), 1);
    ck_assert_uint_eq(published, 2);
    /* A lie of a whole server: the sum is right, and the destination is one server. */
    const struct piece_head head = {.kind = PIECE_PLAIN};
    memcpy(message + TUNNEL_HEAD_BYTES + 16, (const uint8_t[]){10, 64, 1, 1}, 4);
    ip_set_length(message + TUNNEL_HEAD_BYTES, (message[TUNNEL_HEAD_BYTES] & 15u) * 4,
                  message_bytes - TUNNEL_HEAD_BYTES);
    piece_encode(&head, 0, CW_SERVER_NONE, message, message_bytes);
    deliver(0, 1);
    ck_assert_uint_eq(town_count(1, "drop-not-here"), 1);
    ck_assert_uint_eq(town[1].writes, 0);
    end();
}
END_TEST

START_TEST(no_more_than_so_many)
{
    begin("multicast=yes");
    for (unsigned i = 0; i < MANY_A_SECOND + 5; i++) {
        send_to(0, mdns, 100);
    }
    ck_assert_uint_eq(published, MANY_A_SECOND);
    ck_assert_uint_eq(town_count(0, "many_over"), 5);
    fake_run(town[0].s, CW_MS(10));
    send_to(0, mdns, 100);
    ck_assert_uint_eq(published, MANY_A_SECOND + 1);
    fake_run(town[0].s, CW_SEC(2));
    full = true;
    send_to(0, mdns, 100);
    ck_assert_uint_eq(town_count(0, "many_over"), 6);
    end();
}
END_TEST

START_TEST(longer_than_a_message)
{
    begin("multicast=yes");
    do {
        struct ip_kit_wish wish = {.version = 4, .protocol = 17, .payload_most = 8000, .from = 0, .to = 1};
        ip_kit_draw(&chance, &wish, &drawn);
    } while (drawn.length < PACKET_MAX || drawn.gso_size != 0);
    memcpy(drawn.bytes + 16, mdns, 4);
    ip_set_length(drawn.bytes, (drawn.bytes[0] & 15u) * 4, drawn.length);
    town_read(0, &drawn);
    ck_assert_uint_eq(published, 0);
    ck_assert_uint_eq(town_count(0, "drop-too-big"), 1);
    ck_assert_uint_eq(town[0].writes, 0); /* no ICMP */
    end();
}
END_TEST

static bool is_open(void)
{
    return users[0].user != NULL;
}

START_TEST(where_it_is_allowed)
{
    begin("multicast=no");
    ck_assert(!is_open());
    send_to(0, mdns, 100);
    ck_assert_uint_eq(town_count(0, "drop-multicast"), 1);
    end();
    begin("force=no");
    ck_assert(!is_open()); /* a tun, unless it is wanted */
    end();
    town_ethernet = true;
    begin("ethernet=yes");
    ck_assert(is_open());
    end();
    town_ethernet = true;
    begin("multicast=no");
    ck_assert(!is_open());
    end();
    const char *const options[] = {"multicast=yes", NULL};
    town_open(options); /* and no service multicast */
    fake_run(town[0].s, CW_MS(1));
    send_to(0, mdns, 100);
    ck_assert_uint_eq(town_count(0, "drop-multicast"), 1);
    town_close();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(comes_to_all_others),   SUITE_TEST(what_comes_is_judged), SUITE_TEST(no_more_than_so_many),
    SUITE_TEST(longer_than_a_message), SUITE_TEST(where_it_is_allowed),
};
SUITE_MAIN("many", tests)
