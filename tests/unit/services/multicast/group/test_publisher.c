/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on their way: best effort with members that were known lately, memory, what cannot be sent yet. */
/* The source itself: the tests reach into its private structure, to damage it. */
#include "services/multicast/group/publisher.c"

#include "group_town.h"
#include "stops.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(best_effort)
{
    town_open();
    town_join(&town_user[1], "g");
    town_join(&town_user[7], "g");
    town_join(&town_user[0], "g");
    ck_assert_int_eq(town_publish(&town_user[0], "g", "one", CW_MULTICAST_BEST_EFFORT), 0);
    ck_assert(town_result.times == 1 && town_result.status == 0 && town_result.members == 3 && town_result.rows == 0);
    ck_assert(town_user[1].got == 1 && town_user[7].got == 1 && town_user[0].got == 1 && town_user[1].best_effort);
    uint64_t crossed = town->crossed;
    ck_assert_int_eq(town_publish(&town_user[0], "g", "two", CW_MULTICAST_BEST_EFFORT), 0); /* nobody is asked */
    uint64_t second = town->crossed - crossed;
    ck_assert(town_user[1].got == 2 && town_user[7].got == 2 && second <= TOWN);
    fake_net_run(town, CW_MS(100));
    ck_assert_int_eq(town_publish(&town_user[0], "none", "three", CW_MULTICAST_BEST_EFFORT), 0);
    ck_assert(town_result.times == 3 && town_result.status == -ENOENT);
    town_close();
}
END_TEST

/* Nobody to be told, nobody to be asked: the packet has left when publish() returns, and nothing is kept. */
START_TEST(at_once)
{
    town_open();
    town_join(&town_user[1], "g");
    ck_assert_int_eq(town_publish(&town_user[0], "g", "one", CW_MULTICAST_BEST_EFFORT), 0);
    const cw_multicast_content content = {"two", 3, CW_MULTICAST_BEST_EFFORT};
    size_t before = fake_sends(town->server[0]);
    ck_assert_int_eq(town_api()->publish(town_user[0].m, "g", 1, &content, NULL, NULL), 0);
    ck_assert_uint_eq(fake_sends(town->server[0]) - before, 1);
    fake_net_run(town, CW_MS(1));
    ck_assert_uint_eq(town_user[1].got, 2);
    town_close();
}
END_TEST

START_TEST(full_and_writable)
{
    static char text[5000];
    memset(text, 'x', sizeof text - 1);
    town_open();
    town_join(&town_user[1], "g");
    unsigned sent = 0;
    const cw_multicast_content content = {text, sizeof text, 0};
    int rc;
    while ((rc = town_api()->publish(town_user[0].m, "g", 1, &content, town_done, NULL)) == 0) {
        sent++;
    }
    ck_assert(rc == -EAGAIN && sent == PUBLISHER_MOST && town_user[0].writable == 0);
    fake_net_run(town, CW_SEC(2));
    ck_assert_uint_eq(town_result.times, sent);
    ck_assert_uint_eq(town_user[1].got, sent);
    ck_assert_uint_eq(town_user[0].writable, 1);
    ck_assert_uint_eq(town_other[0].writable, 0);
    town_close();
}
END_TEST

START_TEST(no_room_in_the_queue)
{
    town_open();
    town_join(&town_user[1], "g");
    ck_assert_int_eq(town_publish(&town_user[0], "g", "one", CW_MULTICAST_BEST_EFFORT), 0);
    town->server[0]->room = 0;
    ck_assert_int_eq(town_publish(&town_user[0], "g", "two", CW_MULTICAST_BEST_EFFORT), 0);
    ck_assert_uint_eq(town_user[1].got, 1);
    town->server[0]->room = SIZE_MAX;
    multicast_service.on_writable(town->server[0], town->server[0]->state);
    fake_net_run(town, CW_MS(2));
    ck_assert(town_user[1].got == 2 && town_result.times == 2);
    town_close();
}
END_TEST

START_TEST(lengths)
{
    town_open();
    size_t most = town_api()->packet_max(town_user[0].m, 1);
    static char text[10000];
    memset(text, 'x', sizeof text);
    cw_multicast_content content = {text, most + 1, CW_MULTICAST_BEST_EFFORT};
    ck_assert_int_eq(town_api()->publish(town_user[0].m, "g", 1, &content, NULL, NULL), -EMSGSIZE);
    content.length = (size_t)CW_MULTICAST_BYTES_MAX + 1;
    content.flags = 0;
    ck_assert_int_eq(town_api()->publish(town_user[0].m, "g", 1, &content, NULL, NULL), -EMSGSIZE);
    content.length = 0;
    ck_assert_int_eq(town_api()->publish(town_user[0].m, "g", 1, &content, NULL, NULL), -EINVAL);
    town_close();
}
END_TEST

/* A member that is gone is named; one that has left is none. */
START_TEST(rows)
{
    town_open();
    for (cw_server s = 1; s < 6; s++) {
        town_join(&town_user[s], "g");
    }
    for (cw_server s = 0; s < TOWN; s++) { /* whoever is the root has not noticed yet */
        town->server[0]->down[4] = true;
    }
    town->server[4]->refuse = -ENOMEM;
    ck_assert_int_eq(town_publish(&town_user[0], "g", "x", 0), 0);
    fake_net_run(town, CW_MS(300));
    ck_assert(town_result.times == 1 && town_result.status == 0);
    ck_assert_uint_ge(town_result.complete, 4);
    for (unsigned i = 0; i < town_result.rows; i++) {
        ck_assert(town_result.row[i].status == 0 ||
                  (town_result.row[i].server.x == 1 && town_result.row[i].server.y == 1));
    }
    town_close();
}
END_TEST

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

static struct publisher box;
static struct outgoing first, last;

/* A queue of two messages: the members of the first are known, and those of the last are still to be asked for. */
static void queue_two(void)
{
    static uint8_t set[2] = {6};
    first = (struct outgoing){.next = &last, .box = &box, .stage = STAGE_SENT, .set = set, .length = 100};
    last = (struct outgoing){.box = &box, .stage = STAGE_ASK, .length = 11};
    box = (struct publisher){.first = &first, .end = &last.next, .counts = {.messages = 2, .memory = 111}};
}

START_TEST(sound)
{
    queue_two();
    ck_assert(publisher_audit(&box));
}
END_TEST

#define STOPS_AT(name, rule, damage) STOPS(name, rule, queue_two(); damage; (void)publisher_audit(&box))
STOPS_AT(sent_to_nobody_known, "groups G4: a message is sent to members that are known", last.stage = STAGE_SEND)
STOPS_AT(the_end_is_not_the_last, "groups G4: the queue's end is its last message", box.end = &first.next)
STOPS_AT(a_message_is_not_counted, "groups G4: the messages of the queue are counted right", box.counts.messages--)
STOPS_AT(bytes_are_miscounted, "groups G4: the bytes of the queue are counted right", last.length++)
STOPS_AT(too_many_bytes, "groups G4: the bytes of the queue are counted right",
         box.counts.memory = first.length = (size_t)PUBLISHER_MEMORY + 1;
         last.length = 0)

static const struct suite_test tests[] = {
    SUITE_TEST(best_effort),
    SUITE_TEST(at_once),
    SUITE_TEST(full_and_writable),
    SUITE_TEST(no_room_in_the_queue),
    SUITE_TEST(lengths),
    SUITE_TEST(rows),
    SUITE_TEST(sound),
    SUITE_TEST(sent_to_nobody_known),
    SUITE_TEST(the_end_is_not_the_last),
    SUITE_TEST(a_message_is_not_counted),
    SUITE_TEST(bytes_are_miscounted),
    SUITE_TEST(too_many_bytes),
};
SUITE_MAIN("publisher", tests)
