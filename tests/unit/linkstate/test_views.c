/* SPDX-License-Identifier: Apache-2.0 */
#include "views_fixture.h"

#include <stdio.h>

/* The members as text, "0 1 5", for tables and messages. */
static const char *members(const struct reach *set, char out[static 256])
{
    size_t used = 0;
    out[0] = '\0';
    for (cw_server s = reach_next(set, 0); s != CW_SERVER_NONE; s = reach_next(set, s + 1)) {
        used += (size_t)snprintf(out + used, 256 - used, "%s%u", used == 0 ? "" : " ", s);
    }
    return out;
}

static void check_views(const struct fixture *f, const char *committed, const char *optimistic)
{
    char text[256];
    ck_assert_str_eq(members(views_committed(&f->views), text), committed);
    ck_assert_str_eq(members(views_optimistic(&f->views), text), optimistic);
    bool equal = strcmp(committed, optimistic) == 0;
    ck_assert((views_committed(&f->views) == views_optimistic(&f->views)) == equal);
}

/* A ring of four, 0 - 1 - 2 - 3 - 0 by +z, whole and quiet, as server 0 sees it. */
static struct fixture *ring_open(void)
{
    struct fixture *f = fixture_open((cw_dims){1, 1, 4}, 0);
    cluster_link_all(&f->cluster, LINK_UP);
    hear_all(f);
    ck_assert(refresh(f));
    check_views(f, "0 1 2 3", "0 1 2 3");
    return f;
}

/* Server s loses both its links, by its neighbours' word; its own last record stays. */
static void cut_off(struct fixture *f, cw_server s)
{
    cw_server up = f->cluster.neighbours[s * CW_LINK_COUNT + CW_LINK_ZP];
    cw_server down = f->cluster.neighbours[s * CW_LINK_COUNT + CW_LINK_ZM];
    cluster_list(&f->cluster, up, CW_LINK_ZM, LINK_DOWN);
    cluster_list(&f->cluster, down, CW_LINK_ZP, LINK_DOWN);
    hear(f, up);
    hear(f, down);
}

START_TEST(alone_at_first)
{
    struct fixture *f = fixture_open((cw_dims){1, 1, 4}, 2);
    check_views(f, "2", "2");
    ck_assert(!refresh(f));
    ck_assert_int_eq(views_wake(&f->views).ns, CW_NEVER.ns);
    ck_assert_uint_eq(views_hops(&f->views, f->cluster.neighbours, 2), 0);
    ck_assert_uint_eq(views_hops(&f->views, f->cluster.neighbours, 1), ROUTES_UNREACHABLE);
    ck_assert_uint_eq(f->views.epoch, 0);
    /* Records of unconnected servers change nothing but what is known. */
    hear_all(f);
    refresh(f);
    check_views(f, "2", "2");
    ck_assert_uint_eq(f->views.epoch, 0);
    fixture_close(f);
}
END_TEST

START_TEST(pending_then_up)
{
    struct fixture *f = fixture_open((cw_dims){1, 1, 4}, 0);
    cluster_link(&f->cluster, 1, CW_LINK_ZP, LINK_UP); /* 1 - 2 are a component of their own */
    hear_all(f);
    refresh(f);
    check_views(f, "0", "0");
    cluster_link(&f->cluster, 0, CW_LINK_ZP, LINK_PENDING);
    hear_all(f);
    uint64_t epoch = f->views.epoch, renewals = f->views.renewals;
    ck_assert(refresh(f));
    check_views(f, "0", "0 1 2");
    ck_assert_uint_eq(f->views.epoch, epoch + 1);
    ck_assert_uint_eq(f->views.routes_epoch, 0);
    ck_assert_uint_eq(f->views.renewals, renewals + 2);
    /* Data has no way there; admission acks have. */
    ck_assert_uint_eq(views_next_hops(&f->views, 2), CW_LINKS_NONE);
    ck_assert_uint_eq(views_wide_next_hops(&f->views, 2), cw_links_of(CW_LINK_ZP));

    cluster_link(&f->cluster, 0, CW_LINK_ZP, LINK_UP);
    hear_all(f);
    ck_assert(refresh(f));
    check_views(f, "0 1 2", "0 1 2");
    ck_assert_uint_eq(f->views.routes_epoch, 1);
    ck_assert_uint_eq(f->views.renewals, renewals + 2);
    ck_assert_uint_eq(views_next_hops(&f->views, 2), cw_links_of(CW_LINK_ZP));
    ck_assert_uint_eq(views_hops(&f->views, f->cluster.neighbours, 2), 2);
    ck_assert_uint_eq(views_wide_next_hops(&f->views, 2), cw_links_of(CW_LINK_ZP));
    fixture_close(f);
}
END_TEST

/* Semantics 4.2, detail 2 (mutant NO_LOOKTHROUGH): the pending link is between 1 and 2, and we are 0. */
START_TEST(through_the_pending_links_of_others)
{
    struct fixture *f = fixture_open((cw_dims){1, 1, 4}, 0);
    cluster_link(&f->cluster, 0, CW_LINK_ZP, LINK_UP);
    cluster_link(&f->cluster, 1, CW_LINK_ZP, LINK_PENDING);
    cluster_link(&f->cluster, 2, CW_LINK_ZP, LINK_PENDING);
    hear_all(f);
    refresh(f);
    check_views(f, "0 1", "0 1 2 3");
    fixture_close(f);
}
END_TEST

START_TEST(held_to_the_nanosecond)
{
    struct fixture *f = ring_open();
    pass(f, 1000);
    cut_off(f, 2);
    pass(f, 500); /* nobody asks for half a millisecond: the hold begins when the loss is first seen */
    uint64_t epoch = f->views.epoch, routes_epoch = f->views.routes_epoch;
    ck_assert(refresh(f));
    check_views(f, "0 1 3", "0 1 2 3");
    ck_assert_uint_eq(f->views.epoch, epoch + 1);
    ck_assert_uint_eq(f->views.routes_epoch, routes_epoch + 1);
    ck_assert_int_eq(views_wake(&f->views).ns, (1500 + HOLD_US) * 1000);

    f->now = (cw_time){(1500 + HOLD_US) * 1000 - 1};
    ck_assert(!refresh(f));
    check_views(f, "0 1 3", "0 1 2 3");
    f->now.ns++;
    ck_assert(refresh(f));
    check_views(f, "0 1 3", "0 1 3");
    ck_assert_uint_eq(f->views.epoch, epoch + 2);
    ck_assert_uint_eq(f->views.routes_epoch, routes_epoch + 1);
    ck_assert_int_eq(views_wake(&f->views).ns, CW_NEVER.ns);
    fixture_close(f);
}
END_TEST

START_TEST(holds_end_one_by_one)
{
    struct fixture *f = ring_open();
    cut_off(f, 2);
    refresh(f);
    pass(f, 10000);
    cut_off(f, 3);
    refresh(f);
    check_views(f, "0 1", "0 1 2 3");
    pass(f, HOLD_US - 10000);
    refresh(f);
    check_views(f, "0 1", "0 1 3");
    ck_assert_int_eq(views_wake(&f->views).ns, (HOLD_US + 10000) * 1000);
    pass(f, 10000);
    refresh(f);
    check_views(f, "0 1", "0 1");
    fixture_close(f);
}
END_TEST

START_TEST(back_in_time)
{
    struct fixture *f = ring_open();
    cut_off(f, 2);
    refresh(f);
    uint64_t renewals = f->views.renewals;
    pass(f, HOLD_US - 1);
    cluster_link_all(&f->cluster, LINK_UP);
    hear_all(f);
    refresh(f);
    check_views(f, "0 1 2 3", "0 1 2 3");
    ck_assert_uint_eq(f->views.renewals, renewals); /* it never left O, and is who it was */
    ck_assert_int_eq(views_wake(&f->views).ns, CW_NEVER.ns);
    /* A second loss has a hold of its own. */
    cut_off(f, 2);
    refresh(f);
    pass(f, HOLD_US - 1);
    refresh(f);
    check_views(f, "0 1 3", "0 1 2 3");
    fixture_close(f);
}
END_TEST

START_TEST(another_life)
{
    struct fixture *f = ring_open();
    ck_assert_uint_eq(views_incarnation(&f->views, 2), 1);
    cluster_restart(&f->cluster, 2);
    hear(f, 2);
    refresh(f);
    check_views(f, "0 1 3", "0 1 2 3");
    ck_assert_uint_eq(views_incarnation(&f->views, 2), 1); /* held for what its old life may still do */
    uint64_t renewals = f->views.renewals, epoch = f->views.epoch;
    cluster_link(&f->cluster, 2, CW_LINK_ZP, LINK_PENDING);
    hear(f, 2);
    hear(f, 3);
    ck_assert(refresh(f));
    check_views(f, "0 1 3", "0 1 2 3");
    ck_assert_uint_eq(views_incarnation(&f->views, 2), 2);
    ck_assert_uint_eq(f->views.renewals, renewals + 1); /* a round that waits for O must begin again */
    ck_assert_uint_eq(f->views.epoch, epoch);           /* but the sets are what they were */
    pass(f, 2 * HOLD_US);
    refresh(f);
    check_views(f, "0 1 3", "0 1 2 3"); /* no hold is left: it is pending */
    fixture_close(f);
}
END_TEST

/* All between two refreshes: it left and came back as somebody else. */
START_TEST(another_life_unseen)
{
    struct fixture *f = ring_open();
    uint64_t renewals = f->views.renewals, epoch = f->views.epoch;
    cluster_restart(&f->cluster, 2);
    hear(f, 2);
    cluster_link(&f->cluster, 1, CW_LINK_ZP, LINK_UP);
    cluster_link(&f->cluster, 2, CW_LINK_ZP, LINK_UP);
    hear_all(f);
    ck_assert(refresh(f));
    check_views(f, "0 1 2 3", "0 1 2 3");
    ck_assert_uint_eq(f->views.renewals, renewals + 1);
    ck_assert_uint_eq(f->views.epoch, epoch);
    fixture_close(f);
}
END_TEST

START_TEST(leaving_owns_nothing_but_is_passed_through)
{
    struct fixture *f = ring_open();
    cut_off(f, 1); /* 0 - 3 - 2: the only way to 2 is through 3; 1 is held */
    f->cluster.record[3].flags = RECORD_LEAVING;
    f->cluster.record[3].seq++;
    hear(f, 3);
    refresh(f);
    check_views(f, "0 2", "0 1 2");
    ck_assert_uint_eq(views_next_hops(&f->views, 2), cw_links_of(CW_LINK_ZM));
    ck_assert_uint_eq(views_hops(&f->views, f->cluster.neighbours, 3), 1);
    /* A held server that turns out to have been leaving is released. */
    f->cluster.record[1].flags = RECORD_LEAVING;
    f->cluster.record[1].seq++;
    hear(f, 1);
    uint64_t epoch = f->views.epoch, routes_epoch = f->views.routes_epoch;
    refresh(f);
    check_views(f, "0 2", "0 2");
    ck_assert_uint_eq(f->views.epoch, epoch + 1);
    ck_assert_uint_eq(f->views.routes_epoch, routes_epoch);
    /* We ourselves, too. */
    f->cluster.record[0].flags = RECORD_LEAVING;
    f->cluster.record[0].seq++;
    hear(f, 0);
    refresh(f);
    check_views(f, "2", "2");
    fixture_close(f);
}
END_TEST

START_TEST(goodbye_ends_a_hold)
{
    static const struct {
        uint64_t incarnation;
        bool before; /* the goodbye comes before we see that the server is gone */
        const char *optimistic;
    } table[] = {
        {1, true, "0 1 3"},    {1, false, "0 1 3"}, /* its own */
        {9, false, "0 1 3"},   {9, true, "0 1 3"},  /* of a later life: this one has ended as well */
        {0, false, "0 1 2 3"}, {0, true, "0 1 2 3"} /* of an older one: says nothing */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct fixture *f = ring_open();
        if (table[i].before) {
            views_goodbye(&f->views, 2, table[i].incarnation);
            ck_assert(!refresh(f));
            check_views(f, "0 1 2 3", "0 1 2 3");
            cut_off(f, 2);
        } else {
            cut_off(f, 2);
            refresh(f);
            views_goodbye(&f->views, 2, table[i].incarnation);
            bool due = cw_time_due(views_wake(&f->views), f->now);
            ck_assert(due == (table[i].incarnation != 0));
        }
        refresh(f);
        check_views(f, "0 1 3", table[i].optimistic);
        fixture_close(f);
    }
}
END_TEST

START_TEST(a_goodbye_is_not_for_the_next_life)
{
    struct fixture *f = ring_open();
    views_goodbye(&f->views, 2, 1);
    cluster_restart(&f->cluster, 2);
    hear(f, 2);
    cluster_link(&f->cluster, 1, CW_LINK_ZP, LINK_UP);
    hear_all(f);
    refresh(f);
    check_views(f, "0 1 2 3", "0 1 2 3");
    cut_off(f, 2);
    refresh(f);
    check_views(f, "0 1 3", "0 1 2 3");
    fixture_close(f);
}
END_TEST

/* Every coming and going, however short, until it is noted. */
START_TEST(touched_until_it_is_noted)
{
    char text[256];
    struct fixture *f = ring_open();
    ck_assert_str_eq(members(&f->views.touched, text), "0 1 2 3");
    views_forget_touched(&f->views);
    refresh(f);
    ck_assert_str_eq(members(&f->views.touched, text), "");
    cut_off(f, 2);
    refresh(f);
    ck_assert_str_eq(members(&f->views.touched, text), "2"); /* it left C */
    cluster_link_all(&f->cluster, LINK_UP);
    hear_all(f);
    refresh(f);
    ck_assert_str_eq(members(&f->views.touched, text), "2"); /* and is back: that stays to be noted */
    views_forget_touched(&f->views);
    cut_off(f, 2);
    refresh(f);
    views_forget_touched(&f->views);
    pass(f, HOLD_US);
    refresh(f);
    ck_assert_str_eq(members(&f->views.touched, text), "2"); /* it left O */
    views_forget_touched(&f->views);
    cluster_restart(&f->cluster, 3); /* all between two refreshes */
    hear(f, 3);
    cluster_link_all(&f->cluster, LINK_UP);
    hear_all(f);
    refresh(f);
    check_views(f, "0 1 2 3", "0 1 2 3");
    ck_assert_str_eq(members(&f->views.touched, text), "2 3"); /* one came back, one lives anew */
    fixture_close(f);
}
END_TEST

START_TEST(shrinking)
{
    struct fixture *f = ring_open();
    cut_off(f, 2);
    refresh(f);
    uint64_t epoch = f->views.epoch, routes_epoch = f->views.routes_epoch;
    cluster_restart(&f->cluster, 0);
    hear(f, 0);
    views_shrink(&f->views);
    check_views(f, "0", "0");
    ck_assert_uint_eq(f->views.epoch, epoch + 1);
    ck_assert_uint_eq(f->views.routes_epoch, routes_epoch + 1);
    ck_assert_uint_eq(views_next_hops(&f->views, 1), CW_LINKS_NONE);
    refresh(f);
    check_views(f, "0", "0");
    ck_assert_uint_eq(f->views.epoch, epoch + 1);
    views_shrink(&f->views);
    refresh(f);
    ck_assert_uint_eq(f->views.epoch, epoch + 1);
    /* Those it knew before are newcomers now. */
    uint64_t renewals = f->views.renewals;
    cluster_link(&f->cluster, 0, CW_LINK_ZP, LINK_PENDING);
    hear_all(f);
    refresh(f);
    check_views(f, "0", "0 1");
    ck_assert_uint_eq(f->views.renewals, renewals + 1);
    fixture_close(f);
}
END_TEST

/* Nothing of a shrunken view's tables may serve again, however alike the world is when it is next searched. */
START_TEST(shrinking_and_all_as_before)
{
    struct fixture *f = ring_open();
    cluster_link(&f->cluster, 0, CW_LINK_ZM, LINK_PENDING);
    hear_all(f);
    refresh(f);
    ck_assert_uint_eq(views_wide_next_hops(&f->views, 3), cw_links_of(CW_LINK_ZM));
    views_shrink(&f->views);
    ck_assert_uint_eq(views_wide_next_hops(&f->views, 3), CW_LINKS_NONE);
    for (int again = 0; again < 2; again++) {
        cluster_link(&f->cluster, 0, CW_LINK_ZM, LINK_UP);
        hear_all(f);
        ck_assert(lsdb_is_whole(&f->db));
        refresh(f);
        check_views(f, "0 1 2 3", "0 1 2 3");
        ck_assert_uint_eq(views_next_hops(&f->views, 3), cw_links_of(CW_LINK_ZM));
        ck_assert_uint_eq(views_hops(&f->views, f->cluster.neighbours, 2), 2);
        views_shrink(&f->views);
    }
    fixture_close(f);
}
END_TEST

/* Epochs tell links inside C from all others. */
START_TEST(links_elsewhere_are_no_news)
{
    struct fixture *f = fixture_open((cw_dims){3, 3, 3}, 0);
    for (cw_link link = 2; link < CW_LINK_COUNT; link++) { /* the plane x = 0: servers 0 to 8 */
        for (cw_server s = 0; s < 9; s++) {
            cluster_list(&f->cluster, s, link, LINK_UP);
        }
    }
    hear_all(f);
    refresh(f);
    ck_assert_uint_eq(f->views.committed.members, 9);
    uint64_t epoch = f->views.epoch, routes_epoch = f->views.routes_epoch;
    cluster_link(&f->cluster, 13, CW_LINK_YP, LINK_UP); /* in another component */
    hear_all(f);
    ck_assert(!refresh(f));
    ck_assert_uint_eq(f->views.epoch, epoch);
    cluster_list(&f->cluster, 4, CW_LINK_YP, LINK_DOWN); /* in ours, on no shortest path of ours alone */
    hear_all(f);
    ck_assert(refresh(f));
    ck_assert_uint_eq(f->views.epoch, epoch + 1);
    ck_assert_uint_eq(f->views.routes_epoch, routes_epoch + 1);
    f->cluster.record[4].seq++; /* a refresh of a record is no news at all */
    hear(f, 4);
    ck_assert_int_eq(views_wake(&f->views).ns, CW_NEVER.ns);
    fixture_close(f);
}
END_TEST

/* A burst nobody asks about: one search at once, the next after servers / 4 us. */
START_TEST(searches_nobody_asked_for_keep_their_distance)
{
    struct fixture *f = fixture_open((cw_dims){4, 4, 4}, 0);
    pass(f, 1000);
    cluster_link(&f->cluster, 0, CW_LINK_XP, LINK_PENDING);
    hear_all(f);
    ck_assert(cw_time_due(views_wake(&f->views), f->now));
    refresh(f);
    cluster_link(&f->cluster, 0, CW_LINK_XM, LINK_PENDING);
    hear_all(f);
    ck_assert_int_eq(views_wake(&f->views).ns, f->now.ns + 16000);
    /* An end of a hold that comes first is not put off. */
    refresh(f);
    cluster_link(&f->cluster, 0, CW_LINK_XM, LINK_DOWN);
    hear_all(f);
    refresh(f);
    pass(f, HOLD_US - 1);
    cluster_link(&f->cluster, 0, CW_LINK_YM, LINK_PENDING);
    hear_all(f);
    refresh(f);
    cluster_link(&f->cluster, 0, CW_LINK_ZM, LINK_PENDING);
    hear_all(f);
    ck_assert_int_eq(views_wake(&f->views).ns, f->now.ns + 1000);
    fixture_close(f);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(alone_at_first),
    SUITE_TEST(pending_then_up),
    SUITE_TEST(through_the_pending_links_of_others),
    SUITE_TEST(held_to_the_nanosecond),
    SUITE_TEST(holds_end_one_by_one),
    SUITE_TEST(back_in_time),
    SUITE_TEST(another_life),
    SUITE_TEST(another_life_unseen),
    SUITE_TEST(leaving_owns_nothing_but_is_passed_through),
    SUITE_TEST(goodbye_ends_a_hold),
    SUITE_TEST(a_goodbye_is_not_for_the_next_life),
    SUITE_TEST(touched_until_it_is_noted),
    SUITE_TEST(shrinking),
    SUITE_TEST(shrinking_and_all_as_before),
    SUITE_TEST(links_elsewhere_are_no_news),
    SUITE_TEST(searches_nobody_asked_for_keep_their_distance),
};
SUITE_MAIN("views", tests)
