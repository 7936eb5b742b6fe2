/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* unshare */
#include "shim/raw.h"

#include "conformance.h"
#include "ether.h"
#include "netns.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MTU = 9000 };

static struct shim *open_on(const char *interface, uint32_t mtu)
{
    struct shim *s;
    char why[SHIM_WHY_BYTES] = "";
    int rc = raw_open(&s, &(struct port_options){.interface = interface, .mtu = mtu}, why);
    ck_assert_msg(rc == 0, "%d %s", rc, why);
    return s;
}

static void set_up(void)
{
    netns_enter();
    netns_veth("left", "right", MTU, -1);
}

static void open_raw(struct cable *c, uint32_t mtu)
{
    c->end[0] = open_on("left", mtu);
    c->end[1] = open_on("right", mtu);
}

/* One end down: the other has no carrier. */
static void cut(struct cable *c, bool is_cut)
{
    (void)c;
    netns_up("right", !is_cut);
}

static const struct conformance_kind kind = {
    .name = "raw",
    .mtu = MTU,
    .set_up = set_up,
    .open = open_raw,
    .cut = cut,
    .stranger = ether_strangers,
    .has_last_words = true,
    .needs_namespace = true,
    .shortest = 1,
};

START_TEST(errors_are_named)
{
    ether_try_errors(raw_open);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(errors_are_named),
};

int main(void)
{
    return conformance_run(&kind, tests, sizeof tests / sizeof *tests);
}
