/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* All servers of a run have the same module, or it is refused, with the name of the one that has not. */
START_TEST(own_functions)
{
    static const char *const options[] = {"data=/d", "spool=/s", "modules=/m", NULL};
    static const struct {
        cw_server other, none;
        int rc;
        const char *says;
    } cases[] = {
        {CW_SERVER_NONE, CW_SERVER_NONE, 0, NULL},
        {4, CW_SERVER_NONE, -ELIBBAD, "server 1,1,0: its module of that name is another one"},
        {CW_SERVER_NONE, 0, -ELIBACC, "server 0,0,0: it has no such module in its modules folder"}, /* who writes */
        {1, CW_SERVER_NONE, -ELIBBAD, "; and 2 others"}, /* where the run is ordered: all others have another one */
        {CW_SERVER_NONE, 1, -ELIBACC, "'module:pairs': there is no such module here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stream_town_modules.other = cases[i].other;
        stream_town_modules.none = cases[i].none;
        struct fake_net *net = stream_town_open(options);
        stream_town_fill(20);
        const struct fake_result *r =
            stream_town_ask(net, 1, "run map=module:pairs combine=module:total from=in to=0,0,0:out of=1,1,0 of=2,2,0");
        ck_assert_int_eq(r->rc, cases[i].rc);
        if (cases[i].says != NULL) {
            ck_assert_msg(strstr(fake_text(r, 0, "error"), cases[i].says) != NULL, "%s", fake_text(r, 0, "error"));
        } else {
            ck_assert(stream_town_right(0, 20, 1u << 4 | 1u << 8));
            ck_assert(strncmp(fake_text(r, 0, "operation"), "module:total@01000000", 21) == 0);
        }
        stream_town_close(net);
    }
    /* A server that is only on the way combines, too: the run ends at once. */
    stream_town_modules.other = CW_SERVER_NONE;
    unsigned refused = 0;
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        stream_town_modules.none = s;
        struct fake_net *net = stream_town_open(options);
        stream_town_fill(20);
        const struct fake_result *r =
            stream_town_ask(net, 4, "run map=kv combine=module:total from=in to=0,0,0:out of=1,1,0 path=trees");
        refused += r->rc == -ELIBACC && s != 0 && s != 4;
        ck_assert(r->rc == 0 || r->rc == -ELIBACC);
        stream_town_close(net);
    }
    ck_assert_uint_gt(refused, 0);
    stream_town_modules.none = CW_SERVER_NONE;
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(own_functions)};
SUITE_MAIN("functions", tests)
