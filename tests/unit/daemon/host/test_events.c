/* SPDX-License-Identifier: Apache-2.0 */
/* test_events.c - one order, a bound, and nothing lost between two questions. */
#include "daemon/host/events.h"

#include "rows_said.h"
#include "suite.h"

static struct events events;
static struct rows_said said;

START_TEST(places_grow_and_are_found)
{
    cw_coord server = {1, 2, 0};
    events = (struct events){.count = 0};
    ck_assert_ptr_null(events_next(&events, 0));
    events_add(&events, &server, "link", "%s is up", "+x");
    events_add(&events, NULL, "service", "ping runs");
    const struct event *first = events_next(&events, 0);
    ck_assert_str_eq(first->text, "+x is up");
    const struct event *second = events_next(&events, first->at_us);
    ck_assert_uint_gt(second->at_us, first->at_us);
    ck_assert_str_eq(second->kind, "service");
    ck_assert_ptr_null(events_next(&events, second->at_us));
    struct rows_reader reader = rows_said_reader(&said);
    events_tell(first, "2,2,2", &reader);
    events_tell(second, "2,2,2", &reader);
    events_tell(second, "", &reader);
    ck_assert_ptr_nonnull(strstr(said.row[0], " server=1,2,0 kind=link text=+x is up"));
    ck_assert_ptr_nonnull(strstr(said.row[1], " server=2,2,2 kind=service text=ping runs"));
    ck_assert_ptr_null(strstr(said.row[2], "server=")); /* its daemon has no place yet */
}
END_TEST

START_TEST(the_oldest_are_forgotten)
{
    events = (struct events){.count = 0};
    for (unsigned i = 0; i < 3 * EVENTS_KEPT + 7; i++) {
        events_add(&events, NULL, "n", "%u", i);
    }
    unsigned seen = 0;
    uint64_t after = 0;
    for (const struct event *e; (e = events_next(&events, after)) != NULL; after = e->at_us) {
        char text[16];
        snprintf(text, sizeof text, "%u", 2 * EVENTS_KEPT + 7 + seen++);
        ck_assert_str_eq(e->text, text);
    }
    ck_assert_uint_eq(seen, EVENTS_KEPT);
}
END_TEST

static void hear(void *context, const struct event *event)
{
    *(const struct event **)context = event;
}

START_TEST(who_listens_hears_it)
{
    const struct event *heard = NULL;
    events = (struct events){.heard = hear, .context = &heard};
    events_add(&events, NULL, "a kind that is too long", "text");
    ck_assert_ptr_nonnull(heard);
    ck_assert_str_eq(heard->kind, "a kind that is ");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(places_grow_and_are_found),
    SUITE_TEST(the_oldest_are_forgotten),
    SUITE_TEST(who_listens_hears_it),
};
SUITE_MAIN("events", tests)
