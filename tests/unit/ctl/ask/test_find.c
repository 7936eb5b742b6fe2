/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* nftw() */
#include "ctl/ask/find.h"

#include "suite.h"

#include <errno.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], second[80], why[CLIENT_WHY];
static struct find_wish wish;
static struct find_result found;

static void make(const char *tail, bool is_folder)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, tail);
    if (is_folder) {
        ck_assert_int_eq(mkdir(path, 0700), 0);
    } else {
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fclose(file);
    }
}

static void begin(void)
{
    strcpy(folder, "/tmp/cubeway-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(second, sizeof second, "%s/user", folder);
    wish = (struct find_wish){.folder = {folder, second}};
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static void end(void)
{
    ck_assert_int_eq(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static bool finds(const char *tail)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, tail);
    int rc = find_socket(&wish, &found, why);
    ck_assert_msg(rc == 0, "%s", why);
    return strcmp(found.path, path) == 0;
}

START_TEST(named_outright)
{
    begin();
    wish.environment = "from-environment";
    ck_assert_int_eq(find_socket(&wish, &found, why), 0);
    ck_assert_str_eq(found.path, "from-environment");
    wish.socket = "there";
    ck_assert_int_eq(find_socket(&wish, &found, why), 0);
    ck_assert_str_eq(found.path, "there");
    end();
}
END_TEST

START_TEST(the_only_one)
{
    begin();
    ck_assert_int_eq(find_socket(&wish, &found, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "start cubewayd"));
    make("user", true);
    make("user/mine.sock", false);
    make("other.txt", false);
    ck_assert(finds("user/mine.sock"));
    make("0,1,2.sock", false);
    ck_assert_int_eq(find_socket(&wish, &found, why), -EEXIST);
    ck_assert_ptr_nonnull(strstr(why, "0,1,2 mine"));
    wish.node = "mine";
    ck_assert(finds("user/mine.sock"));
    wish.node = "0,1,2";
    wish.environment = "not-this";
    ck_assert(finds("0,1,2.sock"));
    wish.node = "nobody";
    ck_assert_int_eq(find_socket(&wish, &found, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "there is 0,1,2 mine"));
    end();
}
END_TEST

START_TEST(in_labs)
{
    begin();
    wish.lab = "demo";
    ck_assert_int_eq(find_socket(&wish, &found, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "cwlab list"));
    make("lab", true);
    make("lab/demo", true);
    make("lab/whole", true);
    make("lab/demo/0,0,0.sock", false);
    make("lab/whole/all.sock", false);
    make("lab/demo/0,0,1.sock", false);
    make("lab/demo/keeper.sock", false);
    ck_assert_int_eq(find_socket(&wish, &found, why), -EEXIST);
    wish.node = "0,0,1";
    ck_assert(finds("lab/demo/0,0,1.sock"));
    ck_assert_ptr_null(found.server);
    wish.lab = "whole";
    ck_assert(finds("lab/whole/all.sock"));
    ck_assert_str_eq(found.server, "0,0,1");
    wish.node = NULL;
    ck_assert(finds("lab/whole/all.sock"));
    ck_assert_ptr_null(found.server);
    end();
}
END_TEST

static void count_one(void *context, const char *name)
{
    (void)name;
    ++*(unsigned *)context;
}

START_TEST(several)
{
    struct find_crowd crowd;
    begin();
    ck_assert(!find_is_crowd(&wish));
    make("a.sock", false);
    make("b.sock", false);
    wish.node = "all";
    ck_assert(find_is_crowd(&wish) && find_crowd(&wish, &crowd, why) == 0);
    ck_assert(crowd.count == 2 && strcmp(crowd.one[1].name, "b") == 0 && strstr(crowd.one[1].at.path, "/b.sock"));
    find_crowd_free(&crowd);
    wish.node = "b a";
    ck_assert(find_is_crowd(&wish) && find_crowd(&wish, &crowd, why) == 0);
    ck_assert(crowd.count == 2 && strcmp(crowd.one[0].name, "b") == 0);
    find_crowd_free(&crowd);
    wish.node = "a c";
    ck_assert_int_eq(find_crowd(&wish, &crowd, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "no daemon called 'c' is here; there is a b"));
    /* Of a lab, a daemon without a socket is asked all the same, and whoever asks it learns why it has none. */
    make("lab", true);
    make("lab/demo", true);
    make("lab/demo/0,0,0.sock", false);
    wish.lab = "demo";
    wish.node = "0,0,0 0,0,1";
    ck_assert_int_eq(find_crowd(&wish, &crowd, why), 0);
    ck_assert(crowd.count == 2 && strstr(crowd.one[1].at.path, "/lab/demo/0,0,1.sock") != NULL);
    find_crowd_free(&crowd);
    /* A lab in one process is one daemon, of which each server is asked. */
    make("lab/demo/all.sock", false);
    wish.node = "1,0,0 1,0,1";
    ck_assert_int_eq(find_crowd(&wish, &crowd, why), 0);
    ck_assert_str_eq(crowd.one[1].at.server, "1,0,1");
    find_crowd_free(&crowd);
    wish.node = "all";
    ck_assert(!find_is_crowd(&wish));
    end();
}
END_TEST

START_TEST(labs_elsewhere)
{
    unsigned count = 0;
    char labs[120];
    begin();
    make("here", true);
    make("here/demo", true);
    make("here/demo/0,0,0.sock", false);
    make("here/demo/0,0,1.sock", false);
    make("here/demo/keeper.sock", false);
    snprintf(labs, sizeof labs, "%s/here", folder);
    wish.labs = labs;
    wish.lab = "demo";
    ck_assert_uint_eq(find_each(&wish, count_one, &count), 2);
    ck_assert_uint_eq(count, 2);
    wish.node = "0,0,1";
    ck_assert(finds("here/demo/0,0,1.sock"));
    end();
}
END_TEST

/* In a shell of a lab, all are the daemons of that lab; what is said on the line goes before. */
START_TEST(everywhere)
{
    struct find_crowd crowd;
    char socket[160], lab[FIND_LAB], labs[FIND_PATH];
    begin();
    wish.node = NULL;
    make("lab", true);
    make("lab/demo", true);
    make("lab/demo/lab.json", false);
    make("lab/demo/0,0,0.sock", false);
    make("lab/demo/0,0,1.sock", false);
    snprintf(socket, sizeof socket, "%s/lab/demo/0,0,1.sock", folder);
    wish.environment = socket;
    find_everywhere(&wish, lab, labs);
    ck_assert_str_eq(wish.lab, "demo");
    ck_assert(find_is_crowd(&wish) && find_crowd(&wish, &crowd, why) == 0);
    ck_assert(crowd.count == 2 && strcmp(crowd.one[1].name, "0,0,1") == 0);
    find_crowd_free(&crowd);
    wish.lab = wish.labs = NULL;
    wish.node = "a b";
    find_everywhere(&wish, lab, labs);
    ck_assert(wish.lab == NULL && strcmp(wish.node, "a b") == 0);
    /* A daemon of no lab: all are those of this machine, and where there is none, that is what is said. */
    static const char *const others[] = {"/a.sock", "a.sock", "", NULL};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        wish.node = NULL;
        wish.environment = others[i];
        find_everywhere(&wish, lab, labs);
        ck_assert(wish.lab == NULL && strcmp(wish.node, "all") == 0);
        ck_assert_int_eq(find_crowd(&wish, &crowd, why), -ENOENT);
        ck_assert_ptr_nonnull(strstr(why, "no daemon is here: there is no socket in "));
    }
    end();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(named_outright), SUITE_TEST(the_only_one),
                                          SUITE_TEST(in_labs),        SUITE_TEST(several),
                                          SUITE_TEST(labs_elsewhere), SUITE_TEST(everywhere)};
SUITE_MAIN("find", tests)
