/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/lab.h"

#include <errno.h>
#include <sys/wait.h>

START_TEST(good_names)
{
    ck_assert(lab_service_is_file("/x/kv.so") && !lab_service_is_file("kvcache"));
    ck_assert(lab_name_good("lab") && lab_name_good("a-1_B"));
    ck_assert(!lab_name_good("") && !lab_name_good("../x") && !lab_name_good("a/b") && !lab_name_good("-a"));
    ck_assert(!lab_name_good("a234567890123456789012345678901234567890"));
    enum lab_driver d;
    enum lab_shim s;
    ck_assert(lab_driver_parse("process", &d) == 0 && d == LAB_PROCESS && lab_driver_parse("vm", &d) == -EINVAL);
    ck_assert(lab_shim_parse("udp", &s) == 0 && s == LAB_UDP && lab_shim_parse("pair", &s) == -EINVAL);
}
END_TEST

static void collect(void *context, const char *name)
{
    strcat(strcat(context, name), " ");
}

START_TEST(saved_and_loaded)
{
    char why[LAB_WHY], names[100] = "", path[LAB_PATH], name[TORUS_TEXT];
    char *place = place_make();
    struct lab a = {.driver = LAB_NETNS,
                    .shim = LAB_UDP,
                    .mtu = 1500,
                    .bits_per_second = 1000,
                    .scale = 3,
                    .services = 1,
                    .networks = 1,
                    .gateways = "0 3",
                    .uplink = "/usr/bin/slirp4netns"},
               b;
    ck_assert_int_eq(torus_init(&a.torus, (cw_dims){4, 3, 2}), 0);
    strcpy(a.service[0], "/x/kv.so");
    strcpy(a.network[0], "blue");
    ck_assert(lab_has_tunnel(&a));
    strcpy(a.daemon, "/bin/cubewayd");
    ck_assert_int_eq(lab_place(&a, "one", why), 0);
    ck_assert_int_eq(lab_load(&b, "one", why), -ENOENT);
    ck_assert_int_eq(lab_make_folder(&a), 0);
    ck_assert_int_eq(lab_make_folder(&a), -EEXIST);
    ck_assert_int_eq(lab_save(&a), 0);
    ck_assert_int_eq(lab_load(&b, "one", why), 0);
    ck_assert(b.torus.servers == 24 && b.shim == LAB_UDP && b.mtu == 1500 && b.bits_per_second == 1000 && b.scale == 3);
    ck_assert(b.services == 1 && strcmp(b.service[0], "/x/kv.so") == 0 && strcmp(b.folder, a.folder) == 0);
    ck_assert(b.networks == 1 && strcmp(b.network[0], "blue") == 0 && strcmp(b.gateways, "0 3") == 0);
    ck_assert_str_eq(b.uplink, "/usr/bin/slirp4netns");
    ck_assert(!lab_lives(&b));
    lab_each(collect, names);
    ck_assert_str_eq(names, "one ");
    snprintf(path, sizeof path, "%s/one/0,0,1.sock", place);
    ck_assert_str_eq(lab_path(&a, lab_daemon_name(&a, 1, name), ".sock", why), path);
    a.driver = LAB_PROCESS;
    ck_assert_str_eq(lab_daemon_name(&a, 1, name), "all");
    lab_remove_folder(&a);
    ck_assert(access(a.folder, F_OK) < 0);
    place_remove(place);
}
END_TEST

/* What lab_root() says to a user without a folder of his own at login, whose place in /tmp is there already. */
static int root_of(uid_t user)
{
    pid_t child = fork();
    if (child == 0) {
        char path[LAB_PATH];
        unsetenv("CWLAB_DIR");
        unsetenv("XDG_RUNTIME_DIR");
        _exit(setuid(user) < 0 ? EINVAL : -lab_root(path));
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

START_TEST(what_somebody_else_made_is_not_trusted)
{
    char path[64];
    uid_t user = 100000 + (uid_t)getpid();
    if (geteuid() != 0) {
        return; /* cannot be somebody else */
    }
    snprintf(path, sizeof path, "/tmp/cubeway-%u", (unsigned)user);
    ck_assert_int_eq(root_of(user), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(root_of(user), -EPERM);
    ck_assert_int_eq(chown(path, user, (gid_t)-1), 0);
    ck_assert_int_eq(root_of(user), 0);
    ck_assert_int_eq(chmod(path, 0777), 0);
    ck_assert_int_eq(root_of(user), -EPERM);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(symlink("/", path), 0);
    ck_assert_int_eq(root_of(user), -EPERM);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(good_names),
    SUITE_TEST(saved_and_loaded),
    SUITE_TEST(what_somebody_else_made_is_not_trusted),
};
SUITE_MAIN("lab", tests)
