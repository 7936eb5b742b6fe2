/* SPDX-License-Identifier: Apache-2.0 */
/* What a server with a place says of its own cables. */
#include "pair.h"

static const struct boot_place place = {{3, 3, 3}, {1, 1, 1}, {0, 1, 2, 3, 4, 5}};

static struct boot *placed(void)
{
    return pair_open(&place, (cw_time){1});
}

/* The neighbour that belongs to +x, but for one thing. */
static struct probe good(uint32_t session)
{
    struct probe probe = pair_neighbour(0, session);
    probe.flags = PROBE_PLACED;
    probe.dims = place.dims;
    probe.at = (cw_coord){2, 1, 1};
    return probe;
}

static void says(unsigned lie, uint8_t kind)
{
    struct boot *b = placed();
    boot_tick(b, (cw_time){1});
    uint32_t session = pair_pull(b, 0, (cw_time){1}).probe.session;
    struct probe probe = good(session);
    switch (lie) {
    case 1:
        probe.at.y = 2;
        break;
    case 2:
        probe.dims.z = 4;
        break;
    case 3:
        probe.label = 0;
        break;
    case 4:
        probe.label = 3;
        break;
    case 5:
        probe.cluster = 8;
        break;
    case 6:
        probe.heard = 0;
        break;
    case 7:
        probe.id = PAIR_ID;
        break;
    case 8: /* a newcomer: it will adapt */
        probe.flags = 0;
        probe.dims = (cw_dims){0};
        probe.at = (cw_coord){0};
        break;
    case 9:
        probe.id = PAIR_ID;
        probe.port = 0;
        probe.session = session;
        break;
    default:
        break;
    }
    pair_probe(b, 0, &probe, (cw_time){2});
    boot_tick(b, (cw_time){2});
    ck_assert_int_eq(boot_state(b), BOOT_AGREED);
    ck_assert_uint_eq(boot_fault_count(b), kind != 0 ? 6 : 5); /* five ports are silent */
    if (kind != 0 && boot_fault(b, 0)->kind != kind) {
        ck_abort_msg("lie %u: %s", lie, boot_fault_name(boot_fault(b, 0)->kind));
    }
    ck_assert(lie != 2 || (boot_fault(b, 0)->dims.z == 4 && !boot_fault(b, 0)->expected.placed));
    ck_assert_uint_eq(boot_fault(b, 5 - (kind == 0))->kind, BOOT_FAULT_SILENT);
    ck_assert(boot_fault(b, 4)->tells_only);
    boot_close(b);
}

START_TEST(neighbours)
{
    says(0, 0);
    says(1, BOOT_FAULT_WRONG_PLACE);
    says(2, BOOT_FAULT_WRONG_PLACE);
    says(3, BOOT_FAULT_SAME_SIGN);
    says(4, BOOT_FAULT_CROSSED);
    says(5, BOOT_FAULT_CLUSTER);
    says(6, BOOT_FAULT_ONE_WAY);
    says(7, BOOT_FAULT_SAME_ID);
    says(8, 0);
    says(9, BOOT_FAULT_LOOP);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(neighbours)};
SUITE_MAIN("boot_check", tests)
