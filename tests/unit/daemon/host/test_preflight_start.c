/* SPDX-License-Identifier: Apache-2.0 */
/* test_preflight_start.c - what a start would find on this machine is told before. */
#include "daemon/host/preflight_start.h"

#include "daemon_said.h"
#include "sanitized.h"
#include "suite.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct said said;
static char folder[64];

/* What is said of a configuration with this text, in which %s is a folder of our own. */
static struct preflight look(const char *text)
{
    struct daemon_config c;
    struct preflight p = {.mistake = say, .warning = say, .context = &said};
    char file[96], whole[1024];
    snprintf(folder, sizeof folder, "/tmp/cubeway-start-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/one.conf", folder);
    FILE *out = fopen(file, "w");
    ck_assert_ptr_nonnull(out);
    snprintf(whole, sizeof whole, "name = one; state_dir = %s; torus { dims = 3x1x1; coordinate = '0,0,0' }\n%s",
             folder, text);
    fputs(whole, out);
    fclose(out);
    said = (struct said){.count = 0};
    ck_assert_int_ge(config_load_most(file, &c, say, &said), 0);
    preflight_start(&c, &p);
    unlink(file);
    return p;
}

static void expect(const char *text)
{
    bool found = false;
    for (unsigned i = 0; i < said.count && i < 32; i++) {
        found |= strstr(said.text[i], text) != NULL;
    }
    ck_assert_msg(found, "not '%s' but '%s'", text, said.text[0]);
}

START_TEST(a_sound_one)
{
    struct preflight p = look("user = root\n");
    ck_assert_msg(said.count == 0, "%s", said.text[0]);
    ck_assert_uint_eq(p.mistakes + p.warnings, 0);
    rmdir(folder);
}
END_TEST

/* Who mistypes a name is not told to make such a user. */
START_TEST(names_that_are_nearly_right)
{
    struct preflight p = look("user = rooot; control { group = rooot; socket = /tmp/cw.sock }\n");
    expect(": user: there is no user rooot; did you mean root?");
    expect(": control.group: there is no group rooot; did you mean root?");
    ck_assert_uint_eq(p.mistakes, 2);
    rmdir(folder);
    (void)look("user = cw-nobody-here\n");
    expect("there is no user cw-nobody-here; make it (useradd --system cw-nobody-here), or take the key out");
    rmdir(folder);
}
END_TEST

START_TEST(a_state_file_that_is_damaged)
{
    struct daemon_config c = config_default();
    struct preflight p = {.mistake = say, .warning = say, .context = &said};
    char file[96];
    (void)look("");
    snprintf(file, sizeof file, "%s/one.state", folder);
    FILE *out = fopen(file, "w");
    ck_assert_ptr_nonnull(out);
    fputs("x\n", out);
    fclose(out);
    c.place = CONFIG_STATIC;
    snprintf(c.name, sizeof c.name, "one");
    snprintf(c.state_dir, sizeof c.state_dir, "%s", folder);
    said = (struct said){.count = 0};
    preflight_start(&c, &p);
    expect("one.state: this file is damaged; remove it");
    ck_assert_uint_eq(p.mistakes, 1);
    unlink(file);
    rmdir(folder); /* which has nothing else in it: no lock was made */
    ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

START_TEST(a_folder_for_files_that_cannot_be_made)
{
    struct preflight p = look("service multicast { options { folder = /nowhere/x/y } }\n");
    expect("one.conf:2: warning: service \"multicast\".options.folder: /nowhere/x/y cannot be made, for there is no "
           "folder /nowhere/x: no files will be taken (mkdir -p /nowhere/x/y)");
    ck_assert_uint_eq(p.warnings, 1);
    rmdir(folder);
    p = look("service multicast { options { folder = /tmp/cubeway-not-yet } }\n");
    ck_assert_uint_eq(p.warnings, 0);
    rmdir(folder);
}
END_TEST

START_TEST(who_has_no_rights)
{
    if (SANITIZED) {
        return; /* who has given up rights cannot be looked at for leaks */
    }
    if (geteuid() == 0) {
        ck_assert_int_eq(seteuid(65534), 0); /* of this test's process alone */
    }
    umask(0);
    struct preflight p = look("links { +x { shim = raw; interface = lo } }\n");
    expect("one.conf:2: warning: links: whoever asks now may not open packet sockets (CAP_NET_RAW)");
    ck_assert_uint_eq(p.warnings, 1);
    rmdir(folder);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_sound_one),
    SUITE_TEST(names_that_are_nearly_right),
    SUITE_TEST(a_state_file_that_is_damaged),
    SUITE_TEST(a_folder_for_files_that_cannot_be_made),
    SUITE_TEST(who_has_no_rights),
};
SUITE_MAIN("preflight_start", tests)
