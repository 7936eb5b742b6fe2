/* SPDX-License-Identifier: Apache-2.0 */
/* test_load.c - a file is read whole, with all its mistakes, and its keys have lines. */
#include "daemon_said.h"
#include "suite.h"

#include <stdlib.h>
#include <unistd.h>

static char file[64];

static void write_file(const char *text)
{
    snprintf(file, sizeof file, "/tmp/cubeway-load-XXXXXX");
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

START_TEST(what_can_be_read_is_read)
{
    struct said said = {.count = 0};
    struct daemon_config c;
    write_file("cluster = 7\nmtu = big\nwhat =\ntorus { dims = 3x3x3; coordinate = '0,0,1' }\n");
    ck_assert_int_eq(config_load(file, &c, say, &said), -EINVAL);
    ck_assert_uint_eq(said.count, 2);
    said.count = 0;
    ck_assert_int_eq(config_load_most(file, &c, say, &said), 2);
    ck_assert_uint_eq(c.cluster, 7);
    ck_assert_uint_eq(c.mtu, 0);
    ck_assert_uint_eq(c.self.z, 1);
    ck_assert_str_eq(c.file, file);
    unlink(file);
    said.count = 0;
    ck_assert_int_eq(config_load_most(file, &c, say, &said), -ENOENT);
    ck_assert_uint_eq(said.count, 1);
}
END_TEST

START_TEST(keys_have_lines)
{
    bool guessed;
    write_file("cluster = 7\nlinks {\n  +x {\n    shim = raw\n  }\n}\nservice \"a.b\" {\n options {\n  c = 1 } }\n");
    ck_assert_uint_eq(config_line(file, "cluster", &guessed), 1);
    ck_assert_uint_eq(config_line(file, "links.+x.shim", &guessed), 4);
    ck_assert_uint_eq(config_line(file, "links.+x.interface", &guessed), 3);
    ck_assert_uint_eq(config_line(file, "service \"a.b\".options.c", &guessed), 9);
    ck_assert_uint_eq(config_line(file, "nothing", &guessed), 1);
    ck_assert(!guessed);
    unlink(file);
    ck_assert_uint_eq(config_line(file, "cluster", &guessed), 1);
    ck_assert(!guessed);
    write_file("name = 'a;\ncontrol { socket = \"/x }\ncluster = 7\n");
    ck_assert(config_line(file, "name", &guessed) == 1 && guessed);
    ck_assert(config_line(file, "control.socket", &guessed) == 2 && guessed);
    ck_assert(config_line(file, "cluster", &guessed) == 3 && !guessed);
    unlink(file);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_can_be_read_is_read), SUITE_TEST(keys_have_lines)};
SUITE_MAIN("load", tests)
