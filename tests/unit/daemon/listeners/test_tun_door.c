/* SPDX-License-Identifier: Apache-2.0 */
/* The door of a network: what programs send reaches the service, and what it says reaches them. */
#include "daemon/listeners/tun_door.h"

#include "daemon/machine/waits.h"
#include "daemon_town.h"
#include "netns.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static char why[HOST_WHY];

/* To a server that there is not: the service says so by ICMP, and the kernel tells the program. */
START_TEST(a_program_is_told)
{
    netns_enter();
    struct host *h = town_open("torus { dims = 1x1x1; coordinate = all } service ip { options { device = cw7 } }");
    struct tun_door *d = NULL;
    int rc = tun_door_open(&d, h, why);
    ck_assert_msg(rc == 0 && d != NULL, "%s", why);
    ck_assert_uint_ne(if_nametoindex("cw7"), 0);
    int s = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
    ck_assert_int_eq(setsockopt(s, IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(0x0a400901)}};
    ck_assert_int_eq(connect(s, (struct sockaddr *)&to, sizeof to), 0);
    ck_assert_int_eq(send(s, "abc", 3, 0), 3);
    int error = 0;
    for (unsigned i = 0; i < 4000 && error == 0; i++) {
        char byte;
        host_turn(h, CW_MS(1));
        if (recv(s, &byte, 1, MSG_DONTWAIT) < 0 && errno != EAGAIN) {
            error = errno;
        }
    }
    ck_assert_int_eq(error, EHOSTUNREACH);
    close(s);
    tun_door_close(d);
    ck_assert_uint_eq(if_nametoindex("cw7"), 0);
    host_close(h);
}
END_TEST

/* Is a tun of this process in one of its epoll sets? */
static bool waits_for_a_tun(void)
{
    for (int fd = 0; fd < 256; fd++) {
        char path[32], target[32] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        (void)!readlink(path, target, sizeof target - 1);
        if (strcmp(target, "/dev/net/tun") == 0) {
            return waits_find(fd) != -ENOENT;
        }
    }
    return false;
}

/* A removed device is always ready and gives nothing: the loop must not wait for it, and one line says what to do. */
START_TEST(the_device_is_removed)
{
    netns_enter();
    struct daemon_config config =
        town_config("torus { dims = 1x1x1; coordinate = all } service ip { options { device = cw7 } }");
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    struct log *log = log_open(ends[1], CW_LOG_ERROR, false);
    struct host_options options = {.config = &config, .incarnation = 1000, .log = log};
    struct host *h = NULL;
    struct tun_door *d = NULL;
    ck_assert_msg(host_open(&h, &options, why) == 0 && host_load_configured(h, why) == 0, "%s", why);
    ck_assert_msg(tun_door_open(&d, h, why) == 0, "%s", why);
    ck_assert(waits_for_a_tun());
    netns_up("cw7", false);
    for (unsigned i = 0; i < 20; i++) {
        host_turn(h, CW_MS(1));
    }
    ck_assert(waits_for_a_tun()); /* a device that is only down may come up again */
    netns_delete("cw7");
    for (unsigned i = 0; i < 2000 && waits_for_a_tun(); i++) {
        host_turn(h, CW_MS(1));
    }
    ck_assert(!waits_for_a_tun());
    tun_door_close(d);
    host_close(h);
    log_close(log);
    char text[LOG_LINE + 1] = "";
    close(ends[1]);
    ck_assert_int_gt(read(ends[0], text, LOG_LINE), 0);
    ck_assert_msg(strstr(text, "restart the daemon") != NULL && strstr(text, "device=cw7") != NULL, "%s", text);
    ck_assert_msg(strchr(text, '\n') == text + strlen(text) - 1, "%s", text);
    close(ends[0]);
}
END_TEST

START_TEST(without_the_service)
{
    struct host *h = town_open("torus { dims = 1x1x1; coordinate = all }");
    struct tun_door *d = NULL;
    ck_assert_int_eq(tun_door_open(&d, h, why), 0);
    ck_assert_ptr_null(d);
    tun_door_close(d);
    host_close(h);
}
END_TEST

START_TEST(several_servers)
{
    struct host *h = town_open("torus { dims = 2x1x1; coordinate = all } service ip { }");
    struct tun_door *d = NULL;
    ck_assert_int_eq(tun_door_open(&d, h, why), -EINVAL);
    ck_assert_msg(strstr(why, "has no devices") != NULL, "%s", why);
    ck_assert_ptr_null(d);
    host_close(h);
}
END_TEST

START_TEST(bad_device)
{
    struct host *h = town_open("torus { dims = 1x1x1; coordinate = all } service ip { options { device = \"a b\" } }");
    struct tun_door *d = NULL;
    ck_assert_int_eq(tun_door_open(&d, h, why), -EINVAL);
    ck_assert_msg(strstr(why, "ip: device \"a b\"") != NULL, "%s", why);
    host_close(h);
}
END_TEST

/* Each network has a device; those of a network that this server is not in has none. */
START_TEST(several_networks)
{
    netns_enter();
    struct host *h = town_open("torus { dims = 1x1x1; coordinate = all } network ip { } "
                               "network blue { job = 5003; subnet = 10.80.0.0/12; servers = 0 }");
    struct tun_door *d = NULL;
    int rc = tun_door_open(&d, h, why);
    ck_assert_msg(rc == 0 && d != NULL, "%s", why);
    ck_assert(if_nametoindex("cw0") != 0 && if_nametoindex("cw-blue") != 0);
    tun_door_close(d);
    ck_assert(if_nametoindex("cw0") == 0 && if_nametoindex("cw-blue") == 0);
    host_close(h);
}
END_TEST

/* When one of them cannot be had, none is left behind. */
START_TEST(all_or_none)
{
    netns_enter();
    netns_veth("cw-blue", "far", 1500, -1);
    struct host *h = town_open("torus { dims = 1x1x1; coordinate = all } network ip { } "
                               "network blue { job = 5003; subnet = 10.80.0.0/12 }");
    struct tun_door *d = NULL;
    ck_assert_int_eq(tun_door_open(&d, h, why), -EINVAL);
    ck_assert_msg(strstr(why, "blue: device cw-blue cannot be had") != NULL, "%s", why);
    ck_assert_ptr_null(d);
    ck_assert_uint_eq(if_nametoindex("cw0"), 0);
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(several_networks),    SUITE_TEST(all_or_none),
                                          SUITE_TEST(a_program_is_told),   SUITE_TEST(the_device_is_removed),
                                          SUITE_TEST(without_the_service), SUITE_TEST(several_servers),
                                          SUITE_TEST(bad_device)};

int main(void)
{
    if (!netns_can()) {
        return SUITE_SKIP;
    }
    if (access("/dev/net/tun", R_OK | W_OK) != 0) {
        puts("there is no /dev/net/tun to open here");
        return SUITE_SKIP;
    }
    return suite_run("tun_door", tests, sizeof tests / sizeof *tests);
}
