/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/metrics.h"

#include "daemon_operator.h"
#include "suite.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

static char text[1 << 20];

static void add(void *context, const char *piece)
{
    (void)context;
    ck_assert_uint_lt(strlen(text) + strlen(piece), sizeof text);
    strcat(text, piece);
}

/* ---- A small reader of OpenMetrics 1.0: what a collector would refuse, it refuses -------------------------------- */

struct reader {
    char family[100], type[20];
    char seen[64][100]; /* families: each is in one piece */
    unsigned families, samples;
    bool helped, ended;
    double bound; /* of the last bucket */
    uint64_t below;
};

static void begin_family(struct reader *r, const char *name, const char *type)
{
    for (unsigned i = 0; i < r->families; i++) {
        ck_assert_msg(strcmp(r->seen[i], name) != 0, "%s comes twice", name);
    }
    snprintf(r->seen[r->families++], 100, "%s", name);
    snprintf(r->family, sizeof r->family, "%s", name);
    snprintf(r->type, sizeof r->type, "%s", type);
    r->helped = false;
    ck_assert(strcmp(type, "counter") == 0 || strcmp(type, "gauge") == 0 || strcmp(type, "info") == 0 ||
              strcmp(type, "histogram") == 0);
    ck_assert_msg(strlen(name) < 6 || strcmp(name + strlen(name) - 6, "_total") != 0, "%s", name);
}

/* Bounds grow, and what is below them; +Inf is the last, and _count says the same. */
static void read_bucket(struct reader *r, const char *line)
{
    const char *le = strstr(line, "le=\""), *number = strrchr(line, ' ');
    ck_assert_ptr_nonnull(number);
    double bound = le != NULL ? (strncmp(le + 4, "+Inf", 4) == 0 ? HUGE_VAL : atof(le + 4)) : 0;
    uint64_t below = strtoull(number, NULL, 10);
    if (strncmp(line, "_bucket", 7) != 0) {
        ck_assert_msg(isinf(r->bound), "%s", line);
        ck_assert_msg(strncmp(line, "_sum", 4) == 0 || below == r->below, "%s", line);
        return;
    }
    bool first = isinf(r->bound) || r->bound == 0;
    ck_assert_msg(first || (bound > r->bound && below >= r->below), "%s", line);
    r->bound = bound;
    r->below = below;
}

/* name{label="value",..} number */
static void read_sample(struct reader *r, const char *line)
{
    size_t family = strlen(r->family);
    const char *suffix = strcmp(r->type, "counter") == 0 ? "_total" : strcmp(r->type, "info") == 0 ? "_info" : "";
    ck_assert_msg(strncmp(line, r->family, family) == 0, "%s is not of %s", line, r->family);
    ck_assert_msg(strncmp(line + family, suffix, strlen(suffix)) == 0, "%s", line);
    if (strcmp(r->type, "histogram") == 0) {
        suffix = strncmp(line + family, "_bucket", 7) == 0 ? "_bucket"
                 : strncmp(line + family, "_sum", 4) == 0  ? "_sum"
                                                           : "_count";
        ck_assert_msg(strncmp(line + family, suffix, strlen(suffix)) == 0, "%s", line);
        read_bucket(r, line + family);
    }
    const char *at = line + family + strlen(suffix);
    ck_assert_msg(*at == '{', "%s", line);
    do {
        at++;
        ck_assert_msg(islower((unsigned char)*at), "%s", line);
        at += strspn(at, "abcdefghijklmnopqrstuvwxyz_");
        ck_assert_msg(at[0] == '=' && at[1] == '"', "%s", line);
        for (at += 2; *at != '"'; at++) {
            ck_assert_msg(*at != '\0', "%s", line);
            at += *at == '\\';
        }
        at++;
    } while (*at == ',');
    ck_assert_msg(at[0] == '}' && at[1] == ' ' && isdigit((unsigned char)at[2]), "%s", line);
    bool seconds = strcmp(suffix, "_sum") == 0;
    ck_assert_msg(strspn(at + 2, seconds ? "0123456789." : "0123456789") == strlen(at + 2), "%s", line);
    r->samples++;
}

static void read_line(struct reader *r, char *line)
{
    char name[100], type[20];
    ck_assert_msg(!r->ended, "something behind the end: %s", line);
    if (strcmp(line, "# EOF") == 0) {
        r->ended = true;
    } else if (sscanf(line, "# TYPE %99s %19s", name, type) == 2) {
        begin_family(r, name, type);
    } else if (sscanf(line, "# HELP %99s", name) == 1) {
        ck_assert_str_eq(name, r->family);
        ck_assert(!r->helped);
        r->helped = true;
    } else if (sscanf(line, "# UNIT %99s %19s", name, type) == 2) {
        ck_assert_str_eq(name, r->family);
        ck_assert_str_eq(name + strlen(name) - strlen(type), type);
    } else {
        read_sample(r, line);
    }
}

static void read_all(struct reader *r)
{
    *r = (struct reader){.families = 0};
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        read_line(r, line);
    }
    ck_assert(r->ended);
}

START_TEST(a_collector_can_read_it)
{
    struct operator d;
    struct reader r;
    operator_open(&d, "torus { dims = 3x1x1; coordinate = all }");
    town_settle(d.host, 3);
    operator_says(&d, "\"command\":\"ping\",\"args\":[\"all\"]", "\"received\":2");
    const struct metrics_out out = {add, NULL, false};
    text[0] = '\0';
    metrics_write(d.host, &out);
    ck_assert_ptr_nonnull(strstr(text, "cubeway_servers_reachable{server=\"1,0,0\"} 3\n"));
    ck_assert_ptr_nonnull(strstr(text, "cubeway_packets_made_total{server=\"0,0,0\"} 2\n"));
    ck_assert_ptr_nonnull(strstr(text, "cubeway_packets_dropped_total{server=\"2,0,0\",cause=\"hop-limit\"} 0\n"));
    ck_assert_ptr_nonnull(strstr(text, "cubeway_link_sent_frames_total{server=\"2,0,0\",link=\"-x\"}"));
    ck_assert_ptr_nonnull(strstr(text, "cubeway_service_seconds_bucket{server=\"0,0,0\",service=\"kvcache\",histogram="
                                       "\"set\",le=\"0.000001024\"} 0\n"));
    ck_assert_ptr_nonnull(strstr(
        text,
        "cubeway_service_seconds_sum{server=\"2,0,0\",service=\"kvcache\",histogram=\"get_root\"} 0.000000000\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "cubeway_link_hellos_lost_total{server=\"1,0,0\",link=\"-x\",direction=\"out\"} 0\n"));
    read_all(&r);
    ck_assert_uint_gt(r.families, 15);
    ck_assert_uint_gt(r.samples, 100);
    ck_assert_int_eq(host_fail(host_server(d.host, 1)), 0); /* one that is down has no numbers */
    text[0] = '\0';
    metrics_write(d.host, &out);
    ck_assert_ptr_null(strstr(text, "cubeway_servers_reachable{server=\"1,0,0\"}"));
    read_all(&r);
    operator_close(&d);
}
END_TEST

START_TEST(labels_and_addresses)
{
    char out[20], host[32];
    uint16_t port;
    metrics_escape("a\"b\\c\nd", out, sizeof out);
    ck_assert_str_eq(out, "a\\\"b\\\\c\\nd");
    metrics_escape("\"\"\"\"\"\"\"\"\"\"\"\"", out, 8);
    ck_assert_uint_le(strlen(out), 7);
    ck_assert_uint_eq(strlen(out) % 2, 0); /* no half of a pair */
    ck_assert_int_eq(metrics_address("127.0.0.1:9464", host, sizeof host, &port), 0);
    ck_assert_str_eq(host, "127.0.0.1");
    ck_assert_uint_eq(port, 9464);
    ck_assert_int_eq(metrics_address("[::1]:80", host, sizeof host, &port), 0);
    ck_assert_str_eq(host, "::1");
    ck_assert_int_eq(metrics_address(":80", host, sizeof host, &port), 0);
    ck_assert_str_eq(host, "127.0.0.1");
    static const char *const bad[] = {"", "127.0.0.1", "::1:80", "a:", "a:x", "a:99999", "a:80x"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(metrics_address(bad[i], host, sizeof host, &port) == -EINVAL, "%s", bad[i]);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_collector_can_read_it), SUITE_TEST(labels_and_addresses)};
SUITE_MAIN("metrics_text", tests)
