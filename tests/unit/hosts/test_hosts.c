/* SPDX-License-Identifier: Apache-2.0 */
#include "hosts/hosts.h"

#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct hosts_server eleven = {{1, 0, 2}, 11, "10.64.11.1", "fd12::b:0:0:0:1"};

/* What a test writes, as text. */
static char *text;
static size_t length;

static FILE *begin(void)
{
    return open_memstream(&text, &length);
}

static void expect(FILE *out, const char *expected)
{
    fclose(out);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(lines_of_hosts)
{
    FILE *out = begin();
    hosts_write(&eleven, HOSTS_DOMAIN, out);
    expect(out, "10.64.11.1 1-0-2.cube s11.cube\nfd12::b:0:0:0:1 1-0-2.cube s11.cube\n");
}
END_TEST

START_TEST(zones)
{
    enum hosts_zone zone;
    ck_assert_int_eq(hosts_zone_parse("bind", &zone), -EINVAL);
    ck_assert_int_eq(hosts_zone_parse("dnsmasq", &zone), 0);
    FILE *out = begin();
    hosts_zone_begin(zone, "blue", out);
    hosts_zone_write(zone, &eleven, "blue", out);
    expect(out, "local=/blue/\nhost-record=1-0-2.blue,s11.blue,10.64.11.1,fd12::b:0:0:0:1\n");
    ck_assert_int_eq(hosts_zone_parse("unbound", &zone), 0);
    out = begin();
    hosts_zone_begin(zone, "blue", out);
    hosts_zone_write(zone, &eleven, "blue", out);
    expect(out, "server:\n    local-zone: \"blue.\" static\n"
                "    local-data: \"1-0-2.blue. IN A 10.64.11.1\"\n    local-data: \"s11.blue. IN A 10.64.11.1\"\n"
                "    local-data-ptr: \"10.64.11.1 1-0-2.blue\"\n"
                "    local-data: \"1-0-2.blue. IN AAAA fd12::b:0:0:0:1\"\n"
                "    local-data: \"s11.blue. IN AAAA fd12::b:0:0:0:1\"\n"
                "    local-data-ptr: \"fd12::b:0:0:0:1 1-0-2.blue\"\n");
}
END_TEST

/* Copies the text, of so many bytes, and expects that result. */
static void copy(const char *from, size_t bytes, bool rest, int rc, const char *expected)
{
    const struct hosts_block block = {"# A", "# Z", rest};
    FILE *in = fmemopen((void *)(uintptr_t)from, bytes, "r"), *out = begin();
    ck_assert_int_eq(hosts_copy_others(in, &block, out), rc);
    fclose(in);
    expect(out, expected);
}

START_TEST(blocks_are_left_out)
{
    static const char two[] = "1\n# A\n2\n# Z\n3\n# A\n# Z\n4", more[] = "# A b\n1\n# Z\n# Z\n";
    copy(two, strlen(two), false, 0, "1\n3\n4\n");
    copy(more, strlen(more), false, 0, more);
    copy(more, strlen(more), true, 0, "# Z\n"); /* an end without a beginning is somebody else's line */
    copy("1\n# A\n2\n", 8, false, -EILSEQ, "1\n");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(lines_of_hosts), SUITE_TEST(zones),
                                          SUITE_TEST(blocks_are_left_out)};

int main(void)
{
    return suite_run("hosts", tests, sizeof tests / sizeof *tests);
}
