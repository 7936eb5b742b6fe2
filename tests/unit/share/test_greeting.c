/* SPDX-License-Identifier: Apache-2.0 */
#include "share/greeting.h"
#include "suite.h"

#include <string.h>

static struct share_greeting hello(void)
{
    struct share_greeting g = {.type = SHARE_GREET_HELLO};
    g.hello.version = SHARE_VERSION;
    g.hello.geometry = (struct share_geometry){64, 64 << 10, 64};
    g.hello.process = CW_PROCESS_ANY;
    strcpy(g.hello.job, "web");
    strcpy(g.hello.label, "stencil");
    return g;
}

static enum share_greeting_fault judge(const struct share_greeting *g, bool from_process)
{
    uint8_t bytes[SHARE_GREETING_MOST];
    struct share_greeting out;
    size_t size = share_greeting_encode(g, bytes);
    return share_greeting_decode(bytes, size, from_process, &out);
}

/* Each type from its end alone, at its length alone; what is accepted is what would be written. */
START_TEST(types)
{
    for (unsigned type = 1; type < SHARE_GREETS; type++) {
        struct share_greeting g = hello(), out;
        uint8_t bytes[SHARE_GREETING_MOST + 1] = {0}, again[SHARE_GREETING_MOST];
        bool process = type == SHARE_GREET_HELLO || type == SHARE_GREET_MAPPED || type == SHARE_GREET_REGION ||
                       type == SHARE_GREET_BYE;
        if (type != SHARE_GREET_HELLO) {
            memset(&g, 0, sizeof g);
        }
        g.type = (enum share_greeting_type)type;
        if (type == SHARE_GREET_COOKIE) {
            g.cookie.version = SHARE_VERSION;
        } else if (type == SHARE_GREET_AREAS) {
            g.areas.geometry = (struct share_geometry){64, 64 << 10, 64};
            g.areas.region_bytes = SHARE_PAGE;
        } else if (type == SHARE_GREET_REGION || type == SHARE_GREET_AREA) {
            g.region.bytes = SHARE_PAGE;
        }
        size_t size = share_greeting_encode(&g, bytes);
        ck_assert_uint_eq(size, share_greeting_size(g.type));
        SUITE_HOLDS(share_greeting_decode(bytes, size, process, &out) == SHARE_GREET_FINE, "type %u", type);
        SUITE_HOLDS(out.type == g.type, "type %u", type);
        SUITE_HOLDS(share_greeting_encode(&out, again) == size && memcmp(bytes, again, size) == 0, "type %u", type);
        SUITE_HOLDS(share_greeting_decode(bytes, size, !process, &out) == SHARE_GREET_TYPE, "type %u", type);
        SUITE_HOLDS(share_greeting_decode(bytes, size + 1, process, &out) != SHARE_GREET_FINE, "type %u", type);
        for (size_t cut = 0; cut < size; cut++) {
            SUITE_HOLDS(share_greeting_decode(bytes, cut, process, &out) != SHARE_GREET_FINE, "type %u, %zu bytes",
                        type, cut);
        }
    }
    ck_assert_uint_eq(share_greeting_size(SHARE_GREETS), 0);
    ck_assert_uint_eq(share_greeting_size((enum share_greeting_type)0), 0);
}
END_TEST

START_TEST(hellos)
{
    struct share_greeting g = hello();
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_FINE);
    g.hello.version = 2;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_VERSION);
    g = hello();
    g.hello.flags = 4;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_ZERO);
    g = hello();
    g.hello.first = 1;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_ZERO);
    g.hello.flags = SHARE_HELLO_MORE;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_FINE);
    g = hello();
    g.hello.geometry.commands = 63;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_SIZES);
    g = hello();
    memset(g.hello.job, 'x', sizeof g.hello.job); /* without a NUL */
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_TEXT);
    g = hello();
    g.hello.job[10] = 'x'; /* behind its NUL */
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_TEXT);
    g = hello();
    g.hello.label[0] = '\n';
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_TEXT);
    g = hello();
    g.hello.ticket_length = SHARE_TICKET + 1;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_TEXT);
    g.hello.ticket_length = 7;
    g.hello.ticket[7] = 1;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_TEXT);
    g.hello.ticket_length = 8;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_FINE);
}
END_TEST

START_TEST(the_others)
{
    struct share_greeting g = {.type = SHARE_GREET_REGION, .region = {.bytes = SHARE_PAGE}};
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_FINE);
    g.region.number = 1;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_ZERO);
    g.region = (struct share_greet_region){.bytes = SHARE_PAGE + 1};
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_SIZES);
    g.region.bytes = 0;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_SIZES);
    g.region.bytes = 2 * (uint64_t)SHARE_REGION_MOST;
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_SIZES);
    g = (struct share_greeting){.type = SHARE_GREET_BYE, .word = {.value = 1}};
    ck_assert_int_eq(judge(&g, true), SHARE_GREET_ZERO);
    g = (struct share_greeting){.type = SHARE_GREET_LANE, .lane = {.lane = SHARE_LANES_MOST}};
    ck_assert_int_eq(judge(&g, false), SHARE_GREET_SIZES);
    g = (struct share_greeting){.type = SHARE_GREET_READY, .ready = {.zero = 1}};
    ck_assert_int_eq(judge(&g, false), SHARE_GREET_ZERO);
    g = (struct share_greeting){.type = SHARE_GREET_COOKIE};
    ck_assert_int_eq(judge(&g, false), SHARE_GREET_VERSION);
    g = (struct share_greeting){.type = SHARE_GREET_AREAS, .areas = {.zero = 1}};
    ck_assert_int_eq(judge(&g, false), SHARE_GREET_ZERO);
    g.areas.zero = 0;
    ck_assert_int_eq(judge(&g, false), SHARE_GREET_SIZES);
    for (unsigned f = 0; f < SHARE_GREET_FAULTS; f++) {
        ck_assert_ptr_nonnull(share_greeting_fault_name((enum share_greeting_fault)f));
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(types), SUITE_TEST(hellos), SUITE_TEST(the_others)};
SUITE_MAIN("greeting", tests)
