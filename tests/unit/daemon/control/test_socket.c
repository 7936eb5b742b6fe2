/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/control/socket.h"

#include "suite.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[100], why[CONTROL_WHY];

static void begin(void)
{
    strcpy(folder, "/tmp/cubeway-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run/d.sock", folder);
}

static void end(void)
{
    char name[120];
    (void)unlink(path);
    snprintf(name, sizeof name, "%s/run", folder);
    ck_assert_int_eq(rmdir(name), 0); /* nothing else was left there */
    ck_assert_int_eq(rmdir(folder), 0);
}

static bool connects(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool there = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return there;
}

START_TEST(it_is_there_while_it_is_open)
{
    struct control_socket s;
    struct stat st;
    begin();
    ck_assert_int_eq(control_socket_open(&s, path, 0600, "", why), 0);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    ck_assert(connects());
    control_socket_close(&s);
    ck_assert_int_ne(stat(path, &st), 0);
    end();
}
END_TEST

START_TEST(a_living_daemon_keeps_it)
{
    struct control_socket s, second;
    begin();
    ck_assert_int_eq(control_socket_open(&s, path, 0660, NULL, why), 0);
    ck_assert_int_eq(control_socket_open(&second, path, 0660, NULL, why), -EADDRINUSE);
    ck_assert_ptr_nonnull(strstr(why, "living daemon"));
    ck_assert(connects());
    control_socket_close(&s);
    end();
}
END_TEST

START_TEST(a_dead_one_does_not)
{
    struct control_socket s;
    begin();
    pid_t child = fork();
    if (child == 0) {
        _exit(control_socket_open(&s, path, 0660, NULL, why) == 0 ? 0 : 1); /* closes nothing */
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert(!connects());
    ck_assert_int_eq(control_socket_open(&s, path, 0660, NULL, why), 0);
    ck_assert(connects());
    control_socket_close(&s);
    end();
}
END_TEST

/* Who may not remove it leaves it without rights, and a socket without rights may be replaced. */
START_TEST(who_left_in_order_can_be_told)
{
    struct control_socket s;
    struct stat st;
    begin();
    ck_assert_int_eq(control_socket_open(&s, path, 0660, NULL, why), 0);
    control_socket_give(&s, "");
    control_socket_give(&s, "nobody has this name");
    char run[sizeof path];
    snprintf(run, sizeof run, "%s", path);
    *strrchr(run, '/') = '\0';
    pid_t child = fork();
    if (child == 0) {
        /* As a daemon that has given up its rights: the folder is not its own. */
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
        bool bare = syscall(SYS_capset, &head, none) == 0 && chmod(run, 0500) == 0;
        control_socket_close(&s);
        _exit(bare && chmod(run, 0700) == 0 ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    close(s.fd);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0);
    ck_assert_int_eq(control_socket_open(&s, path, 0660, NULL, why), 0);
    ck_assert(connects());
    control_socket_close(&s);
    end();
}
END_TEST

/* The file has become somebody else's: closing leaves it alone. */
START_TEST(only_its_own_file_goes)
{
    struct control_socket s;
    struct stat st;
    begin();
    ck_assert_int_eq(control_socket_open(&s, path, 0660, NULL, why), 0);
    ck_assert_int_eq(unlink(path), 0);
    FILE *other = fopen(path, "w");
    fclose(other);
    control_socket_close(&s);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(control_socket_open(&s, path, 0660, NULL, why), -EEXIST);
    ck_assert_ptr_nonnull(strstr(why, "no socket"));
    end();
}
END_TEST

START_TEST(what_cannot_be_is_said)
{
    struct control_socket s;
    char longer[200];
    begin();
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ck_assert_int_eq(control_socket_open(&s, longer, 0660, NULL, why), -ENAMETOOLONG);
    ck_assert_int_eq(control_socket_open(&s, "", 0660, NULL, why), -ENAMETOOLONG);
    ck_assert_int_eq(control_socket_open(&s, path, 0660, "no-such-group-at-all", why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "groupadd"));
    ck_assert_int_eq(control_socket_open(&s, "/proc/self/cmdline/d.sock", 0660, NULL, why), -ENOTDIR);
    end();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(it_is_there_while_it_is_open),  SUITE_TEST(a_living_daemon_keeps_it), SUITE_TEST(a_dead_one_does_not),
    SUITE_TEST(who_left_in_order_can_be_told), SUITE_TEST(only_its_own_file_goes),   SUITE_TEST(what_cannot_be_is_said),
};
SUITE_MAIN("control_socket", tests)
