/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guests.h"
#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>

enum { JOB = 5000, LIMIT = 20 };

static void let_go(struct guests *g, struct guest *guest)
{
    guests_remove(g, guest);
    ck_assert_ptr_eq(guests_next_gone(g), guest);
    free(guest);
}

/* Guests come and go by chance, beside an array of those that are here. */
START_TEST(found_by_all_names)
{
    struct guests g;
    struct rng rng = {1};
    struct guest *here[LIMIT] = {NULL};
    unsigned count = 0, full = 0;
    uint32_t life = 0;
    guests_init(&g, LIMIT, UINT32_MAX - 50);
    ck_assert_uint_eq(guests_bytes(&g), 0);
    ck_assert_ptr_null(guests_find(&g, JOB, 0));
    ck_assert_ptr_null(guests_at(&g, GUESTS_FIRST));
    ck_assert_ptr_null(guests_for_key(&g, JOB, 1, 7));
    for (unsigned step = 0; step < 4000; step++) {
        cw_job job = JOB + (cw_job)rng_below(&rng, 3);
        cw_process process = (cw_process)rng_below(&rng, 12);
        struct guest *guest = guests_find(&g, job, process);
        if (guest != NULL) {
            unsigned i = guest->number - GUESTS_FIRST;
            ck_assert(guest == here[i] && guest->job == job && guest->process == process);
            let_go(&g, guest);
            here[i] = NULL;
            count--;
        } else if ((guest = guests_add(&g, job, process)) != NULL) {
            unsigned i = guest->number - GUESTS_FIRST;
            ck_assert(i < LIMIT && here[i] == NULL && guest->life != 0 && guest->life != life);
            ck_assert_ptr_eq(guests_at(&g, guest->number), guest);
            life = guest->life;
            here[i] = guest;
            count++;
        } else {
            ck_assert_uint_eq(count, LIMIT);
            full++;
        }
        ck_assert(g.count == count && guests_valid(&g));
    }
    ck_assert_uint_gt(full, 0);
    ck_assert_uint_gt(guests_bytes(&g), 0);
    for (unsigned k = 0, number = 0; k < 3; k++, number = 0) {
        for (struct guest *guest; (guest = guests_after(&g, JOB + k, number)) != NULL; number = guest->number) {
            ck_assert(guest->number > number && guest == here[guest->number - GUESTS_FIRST] && guest->job == JOB + k);
            count--;
        }
    }
    ck_assert_uint_eq(count, 0);
    for (unsigned i = 0; i < LIMIT; i++) {
        if (here[i] != NULL) {
            let_go(&g, here[i]);
        }
    }
    guests_close(&g);
}
END_TEST

START_TEST(nobody_has_the_last_number)
{
    struct guests g;
    guests_init(&g, 2, 0);
    ck_assert_ptr_eq(guests_at(&g, GUESTS_FIRST + 2), &g.nobody);
    ck_assert_ptr_null(guests_at(&g, GUESTS_FIRST + 1));
    ck_assert_ptr_null(guests_at(&g, GUESTS_FIRST + 3));
    ck_assert_uint_eq(g.nobody.life, 0);
    guests_close(&g);
}
END_TEST

/* A guest that goes moves its own keys, and no others. */
START_TEST(a_key_has_one_guest)
{
    struct guests g;
    struct guest *guest[5], *was[64];
    guests_init(&g, LIMIT, 0);
    for (unsigned i = 0; i < 5; i++) {
        guest[i] = guests_add(&g, JOB, i);
        ck_assert_int_eq(guests_serve(&g, guest[i], 3, true), 0);
        ck_assert_int_eq(guests_serve(&g, guest[i], 3, true), 0);
        ck_assert_uint_eq(guest[i]->key_ports, 1);
    }
    struct guest *stranger = guests_add(&g, JOB + 1, 0);
    ck_assert_int_eq(guests_serve(&g, stranger, 3, true), 0);
    unsigned of[5] = {0};
    for (uint64_t key = 0; key < 64; key++) {
        was[key] = guests_for_key(&g, JOB, 3, key << 40);
        ck_assert(was[key] != NULL && was[key]->job == JOB);
        for (unsigned i = 0; i < 5; i++) {
            ck_assert_uint_le(guests_hash(i, key << 40), guests_hash(was[key]->process, key << 40));
        }
        of[was[key]->process]++;
        ck_assert_ptr_null(guests_for_key(&g, JOB, 4, key << 40));
    }
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_uint_ge(of[i], 4);
    }
    let_go(&g, guest[2]);
    ck_assert_int_eq(guests_serve(&g, guest[4], 3, false), 0);
    ck_assert_int_eq(guests_serve(&g, guest[4], 3, false), 0);
    for (uint64_t key = 0; key < 64; key++) {
        struct guest *now = guests_for_key(&g, JOB, 3, key << 40);
        ck_assert(was[key] == guest[2] || was[key] == guest[4] ? now != was[key] : now == was[key]);
    }
    for (unsigned port = 10; port < 10 + GUEST_KEY_PORTS; port++) {
        ck_assert_int_eq(guests_serve(&g, guest[4], (cw_port)port, true), 0);
    }
    ck_assert_int_eq(guests_serve(&g, guest[4], 9, true), -ENOBUFS);
    ck_assert_ptr_eq(guests_for_key(&g, JOB, 10, 1), guest[4]);
    let_go(&g, guest[4]);
    ck_assert_ptr_null(guests_for_key(&g, JOB, 10, 1));
    let_go(&g, guest[0]);
    let_go(&g, guest[1]);
    let_go(&g, guest[3]);
    let_go(&g, stranger);
    guests_close(&g);
}
END_TEST

START_TEST(room_is_bounded)
{
    struct guest guest = {.number = GUESTS_FIRST};
    for (unsigned i = 0; i < GUEST_PACKETS; i++) {
        ck_assert(guest_has_room(&guest, 1500));
        guest_note_put(&guest, 1500);
    }
    ck_assert(!guest_has_room(&guest, 1));
    for (unsigned i = 0; i < GUEST_PACKETS; i++) {
        guest_note_taken(&guest, 1500);
    }
    guest_note_put(&guest, GUEST_BYTES - 9);
    ck_assert(guest_has_room(&guest, 9));
    ck_assert(!guest_has_room(&guest, 10));
}
END_TEST

static struct guest *next_told(struct guests *g)
{
    struct list_node *first = list_pop_front(&g->told);
    return first != NULL ? container_of(first, struct guest, waits) : NULL;
}

START_TEST(told_in_the_order_of_refusals)
{
    struct guests g;
    struct guest *guest[4];
    guests_init(&g, LIMIT, 0);
    for (unsigned i = 0; i < 4; i++) {
        guest[i] = guests_add(&g, JOB, i);
        guests_refuse(&g, guest[i]);
    }
    guests_refuse(&g, guest[0]); /* keeps its turn */
    ck_assert(!guests_are_stirred(&g));
    guests_note_room(&g);
    ck_assert(guests_are_stirred(&g));
    ck_assert_ptr_eq(next_told(&g), guest[0]);
    guests_refuse(&g, guest[0]);
    guests_note_room(&g);
    guests_refuse(&g, guest[1]); /* is to be told already */
    ck_assert_ptr_eq(next_told(&g), guest[1]);
    guests_stir(&g, guest[3]);
    guests_stir(&g, guest[3]);
    ck_assert_ptr_eq(next_told(&g), guest[3]);
    ck_assert_ptr_null(next_told(&g));
    guests_note_all_room(&g);
    ck_assert_ptr_eq(next_told(&g), guest[2]);
    ck_assert_ptr_eq(next_told(&g), guest[0]);
    guests_note_room(&g);
    guests_note_all_room(&g);
    ck_assert(!guests_are_stirred(&g));
    guests_refuse(&g, guest[2]); /* and goes */
    for (unsigned i = 0; i < 4; i++) {
        let_go(&g, guest[i]);
    }
    ck_assert(!guests_are_stirred(&g));
    guest[0] = guests_add(&g, JOB, 0);
    guests_note_left(&g, guest[0]); /* was not refused */
    ck_assert(!guests_are_stirred(&g));
    for (unsigned i = 0; i <= GUEST_PACKETS / 2; i++) {
        guest_note_put(guest[0], 100);
    }
    guests_refuse(&g, guest[0]);
    guests_note_left(&g, guest[0]);
    ck_assert(!guests_are_stirred(&g));
    guest_note_taken(guest[0], 100);
    guests_note_left(&g, guest[0]);
    ck_assert_ptr_eq(next_told(&g), guest[0]);
    guests_note_drained(&g);
    ck_assert(guest[0]->queued == 0 && guest[0]->queued_bytes == 0);
    let_go(&g, guest[0]);
    guests_close(&g);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(found_by_all_names), SUITE_TEST(nobody_has_the_last_number),    SUITE_TEST(a_key_has_one_guest),
    SUITE_TEST(room_is_bounded),    SUITE_TEST(told_in_the_order_of_refusals),
};
SUITE_MAIN("guests", tests)
