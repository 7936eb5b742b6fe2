/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk messages over an engine that is the test: what it is given, and what it gives. */
/* The source itself: the tests reach into its private structure, to damage it. */
#include "services/multicast/group/bulk.c"

#include "cubeway/multicast.h"
#include "fake_host.h"
#include "services/multicast/cast/head.h"
#include "stops.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* The engine. */
static cast_accept_fn accept_fn;
static void *accept_context;
static struct cast_order ordered;
static uint8_t label[CAST_LABEL_MOST];
static int send_rc;
static uint64_t tickets;

void cast_engine_kind(struct cast_engine *e, enum cast_content kind, cast_accept_fn accept, void *context)
{
    (void)e;
    ck_assert_int_eq(kind, CAST_BULK);
    accept_fn = accept;
    accept_context = context;
}

int cast_engine_send(struct cast_engine *e, const struct cast_order *order, uint64_t *ticket)
{
    (void)e;
    ordered = *order;
    memcpy(label, order->label, order->label_bytes);
    *ticket = ++tickets;
    return send_rc;
}

int cast_engine_cancel(struct cast_engine *e, uint64_t ticket, int status)
{
    (void)e;
    ck_assert_uint_eq(ticket, tickets);
    const struct cast_result result = {.ticket = ticket, .status = status};
    ordered.done(ordered.context, &result);
    return 0;
}

static struct bulk *bulk;
static unsigned delivered, dones;
static int done_status;

static struct group_name name_of(void)
{
    struct group_name name;
    ck_assert_int_eq(group_name_make(&name, 4096, "web", 3), 0);
    return name;
}

static void deliver(void *context, const cw_multicast_message *m)
{
    (void)context;
    ck_assert(m->to_group && !m->best_effort && m->name_length == 3);
    ck_assert_uint_eq(m->from.x, 2);
    ck_assert_uint_eq(m->length, 10);
    ck_assert_mem_eq(m->bytes, "0123456789", 10);
    delivered++;
}

static void done(void *arg, int status, const struct cast_member *member, unsigned count)
{
    (void)member, (void)count;
    ck_assert_ptr_eq(arg, &dones);
    dones++;
    done_status = status;
}

static struct torus torus;
static struct clients clients;
static cw_multicast *client;
static cw_svc *user;

static int holder_open(cw_svc *s, void *state)
{
    (void)state;
    return bulk_open(&bulk, s, NULL, &clients);
}

static void holder_close(cw_svc *s, void *state)
{
    (void)s, (void)state;
    bulk_close(bulk);
}

static cw_verdict no_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static const cw_service holder = {CW_SERVICE_INIT,       .name = "multicast", .version = "1",
                                  .job = MULTICAST_JOB,  .open = holder_open, .close = holder_close,
                                  .on_packet = no_packet};
static const cw_service user_service = {CW_SERVICE_INIT, .name = "user", .version = "1", .job = 4096,
                                        .on_packet = no_packet};
static cw_svc *host;

/* Whether the client is a member of the group "web". */
static void want(bool wanted)
{
    const struct group_name name = name_of();
    struct client_subject *subject;
    ck_assert_int_eq(client_find_or_add(client, &name, &subject), 0);
    subject->group = wanted ? GROUP_MEMBER : 0;
}

static void teardown(void)
{
    clients_detach(client);
    clients_free(client);
    ck_assert_uint_eq(fake_close(user), 0);
    ck_assert_uint_eq(fake_close(host), 0);
}

static void setup(void)
{
    const cw_multicast_config config = {CW_MULTICAST_INIT, .deliver = deliver};
    host = fake_open(&holder, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    user = fake_open(&user_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 1, 1}), 0);
    clients = (struct clients){.torus = &torus};
    ck_assert_int_eq(clients_attach(&clients, user, &config, &client), 0);
    want(true);
    delivered = dones = 0;
    send_rc = 0;
}

START_TEST(labels)
{
    uint8_t bytes[BULK_LABEL_HEAD + GROUP_NAME_MOST + 1];
    struct group_name name = name_of(), out;
    bool to_group;
    size_t n = bulk_label_encode(&name, true, bytes);
    ck_assert_int_eq(bulk_label_decode(bytes, n, &out, &to_group), 0);
    ck_assert(to_group && group_name_compare(&name, &out) == 0);
    for (size_t i = 0; i < n + 2; i++) {
        ck_assert_int_eq(bulk_label_decode(bytes, i, &out, &to_group), i == n ? 0 : -EBADMSG);
    }
    for (size_t i = 4; i < 8; i++) {
        bytes[i] ^= 0x80;
        ck_assert_int_eq(bulk_label_decode(bytes, n, &out, &to_group), -EBADMSG);
        bytes[i] ^= 0x80;
    }
}
END_TEST

START_TEST(sent)
{
    static const uint8_t bytes[20000] = {1, 2, 3}, set[1] = {6};
    uint8_t out[4];
    setup();
    struct group_name name = name_of();
    ck_assert_int_eq(bulk_send(bulk, &name, true, set, bytes, sizeof bytes, done, &dones), 0);
    ck_assert(ordered.bytes == sizeof bytes && ordered.members == set && ordered.kind == CAST_BULK);
    ck_assert(ordered.from.read(ordered.from.context, 1, out, 2) == 0 && out[0] == 2 && out[1] == 3);
    ck_assert_int_lt(ordered.from.read(ordered.from.context, sizeof bytes - 1, out, 2), 0);
    const struct cast_result result = {.status = -ETIMEDOUT};
    ordered.done(ordered.context, &result);
    ck_assert(dones == 1 && done_status == -ETIMEDOUT);
    send_rc = -EBUSY;
    ck_assert_int_eq(bulk_send(bulk, &name, true, set, bytes, sizeof bytes, done, &dones), -EAGAIN);
    send_rc = 0;
    for (int i = 0; i < BULK_AT_ONCE; i++) {
        ck_assert_int_eq(bulk_send(bulk, &name, true, set, bytes, sizeof bytes, done, i == 0 ? NULL : &dones), 0);
    }
    ck_assert_int_eq(bulk_send(bulk, &name, true, set, bytes, sizeof bytes, done, &dones), -EAGAIN);
    bulk_cancel(bulk, &dones);
    ck_assert_uint_eq(dones, 1);
    teardown();
}
END_TEST

static int offer(uint64_t bytes, struct cast_sink *sink)
{
    struct group_name name = name_of();
    struct cast_offer o = {.ticket = 1, .origin = 2, .kind = CAST_BULK, .bytes = bytes, .label = label};
    o.label_bytes = bulk_label_encode(&name, true, label);
    return accept_fn(accept_context, &o, sink);
}

START_TEST(taken)
{
    struct cast_sink sink = {.context = NULL};
    setup();
    ck_assert_int_eq(offer(10, &sink), 0);
    ck_assert_int_eq(sink.write(sink.context, 5, (const uint8_t *)"56789", 5), 0);
    ck_assert_int_eq(sink.write(sink.context, 0, (const uint8_t *)"01234", 5), 0);
    ck_assert_int_eq(sink.write(sink.context, 6, (const uint8_t *)"56789", 5), -EBADMSG);
    ck_assert_int_eq(sink.end(sink.context, 0), 0);
    ck_assert_uint_eq(delivered, 0); /* not from within */
    fake_run(host, CW_NS(0));
    ck_assert_uint_eq(delivered, 1);
    ck_assert_int_eq(offer(10, &sink), 0);
    ck_assert_int_eq(sink.end(sink.context, -ECONNRESET), -ECONNRESET);
    ck_assert_int_eq(offer(10, &sink), 0);
    want(false); /* the client leaves meanwhile */
    ck_assert_int_eq(sink.end(sink.context, 0), -ENOENT);
    ck_assert_int_eq(offer(10, &sink), -ENOENT);
    fake_run(host, CW_MS(1));
    ck_assert_uint_eq(delivered, 1);
    teardown();
}
END_TEST

START_TEST(bounded)
{
    struct cast_sink sink = {.context = NULL};
    setup();
    ck_assert_int_eq(offer((uint64_t)CW_MULTICAST_BYTES_MAX + 1, &sink), -EMSGSIZE);
    for (unsigned i = 0; i < BULK_MEMORY / CW_MULTICAST_BYTES_MAX; i++) {
        ck_assert_int_eq(offer(CW_MULTICAST_BYTES_MAX, &sink), 0);
    }
    ck_assert_int_eq(offer(1, &sink), -ENOBUFS);
    ck_assert_int_eq(sink.end(sink.context, -ECANCELED), -ECANCELED);
    ck_assert_int_eq(offer(1, &sink), 0);
    teardown(); /* with some that are coming */
}
END_TEST

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

/* One message goes, and one of ten bytes comes. */
static void send_and_take(void)
{
    static const uint8_t bytes[20000], set[1] = {6};
    const struct group_name name = name_of();
    struct cast_sink sink;
    setup();
    ck_assert_int_eq(bulk_send(bulk, &name, true, set, bytes, sizeof bytes, done, &dones), 0);
    ck_assert_int_eq(offer(10, &sink), 0);
}

START_TEST(sound)
{
    send_and_take();
    ck_assert(bulk_audit(bulk));
    bulk_cancel(bulk, &dones);
    ck_assert(bulk_audit(bulk));
    teardown();
}
END_TEST

#define STOPS_AT(name, rule, damage) STOPS(name, rule, send_and_take(); damage; (void)bulk_audit(bulk))
STOPS_AT(a_message_is_not_counted, "groups G5: bulk messages under way are counted right", bulk->out_count--)
STOPS_AT(memory_is_miscounted, "groups G5: the memory of what comes is counted right", bulk->memory++)
STOPS_AT(too_much_memory, "groups G5: the memory of what comes is counted right",
         bulk->memory = bulk->in->length = (size_t)BULK_MEMORY + 1)

static const struct suite_test tests[] = {
    SUITE_TEST(labels),
    SUITE_TEST(sent),
    SUITE_TEST(taken),
    SUITE_TEST(bounded),
    SUITE_TEST(sound),
    SUITE_TEST(a_message_is_not_counted),
    SUITE_TEST(memory_is_miscounted),
    SUITE_TEST(too_much_memory),
};
SUITE_MAIN("bulk", tests)
