/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/conf.h"

#include <errno.h>

static char *conf(const struct lab *lab, cw_server s)
{
    static char text[8192];
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert_int_eq(conf_write(lab, s, out), 0);
    fclose(out);
    return text;
}

/* tests/net has cubewayd read such files; here: the parts that differ. */
START_TEST(what_a_daemon_is_told)
{
    struct lab lab = {.name = "t", .folder = "/x/t", .mtu = 9000, .timers = ls_timers_default(), .services = 2};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){3, 3, 1}), 0);
    strcpy(lab.service[0], "/a/libhitcount.so");
    strcpy(lab.service[1], "kvcache");
    const char *text = conf(&lab, 4);
    ck_assert(strstr(text, "dims = \"3x3x1\"; coordinate = \"1,1,0\";") != NULL);
    ck_assert(strstr(text, "\"-y\" { shim = \"raw\"; interface = \"my\"; }") != NULL);
    ck_assert(strstr(text, "\"+z\"") == NULL); /* an axis of one has no cable */
    ck_assert(strstr(text, "socket = \"/x/t/1,1,0.sock\"") != NULL);
    ck_assert(strstr(text, "hello = \"10ms\"") != NULL);
    ck_assert(strstr(text, "service \"hitcount\" { file = \"/a/libhitcount.so\"; }") != NULL);
    ck_assert(strstr(text, "service \"kvcache\" { }") != NULL);
    ck_assert(strstr(text, "service \"multicast\" { options { folder = \"/x/t/1,1,0.files\"; } }") != NULL);
    ck_assert(strstr(text, "service \"aggregate\" { options { data = \"/x/t/1,1,0.vectors\"; "
                           "spool = \"/x/t/1,1,0.spool\"; modules = \"/x/t/1,1,0.modules\"; } }") != NULL);
    lab.shim = LAB_UDP;
    lab.bits_per_second = 1000000;
    text = conf(&lab, 0);
    ck_assert(strstr(text, "local = \"10.0.0.1:7000\"; remote = \"10.0.0.2:7000\"; rate = \"1mbit\";") != NULL);
    lab.driver = LAB_PROCESS;
    text = conf(&lab, 0);
    ck_assert(strstr(text, "coordinate = \"all\"") != NULL && strstr(text, "links {") == NULL);
}
END_TEST

START_TEST(files)
{
    char why[LAB_WHY], path[LAB_PATH];
    char *place = place_make();
    struct lab lab = {.mtu = 9000};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 2, 2}), 0);
    ck_assert(lab_place(&lab, "f", why) == 0 && lab_make_folder(&lab) == 0);
    ck_assert(conf_save(&lab, 7) == 0 && conf_save(&lab, 7) == 0);
    ck_assert_int_eq(access(lab_path(&lab, "1,1,1", ".conf", path), R_OK), 0);
    ck_assert_int_eq(access(lab_path(&lab, "1,1,1", ".state", path), W_OK), 0);
    place_remove(place);
}
END_TEST

/* What was added meanwhile stays, and nothing of the timers is left over. */
START_TEST(other_timers)
{
    char why[LAB_WHY], path[LAB_PATH], text[8192] = "";
    char *place = place_make();
    struct lab lab = {.mtu = 9000};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 2, 2}), 0);
    lab_set_timers(&lab, false, 1);
    ck_assert(lab_place(&lab, "f", why) == 0 && lab_make_folder(&lab) == 0);
    ck_assert_int_eq(conf_retime(&lab, 0), -ENOENT);
    ck_assert_int_eq(conf_save(&lab, 0), 0);
    FILE *f = fopen(lab_path(&lab, "0,0,0", ".conf", path), "ae");
    fputs("service \"mine\" { file = \"/x.so\"; }\n", f);
    fclose(f);
    lab_set_timers(&lab, false, 7);
    ck_assert_int_eq(conf_retime(&lab, 0), 0);
    f = fopen(path, "re");
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, f), 0);
    fclose(f);
    ck_assert(strstr(text, "dead = \"350ms\"") != NULL && strstr(text, "\"50ms\"") == NULL);
    ck_assert(strstr(text, "links {") != NULL && strstr(text, "service \"mine\" { file = \"/x.so\"; }") != NULL);
    const char *timers = strstr(text, "timers {");
    ck_assert(timers != NULL && strstr(timers + 1, "timers {") == NULL);
    f = fopen(path, "we");
    fputs("mtu = 9000\n", f);
    fclose(f);
    ck_assert_int_eq(conf_retime(&lab, 0), -EINVAL); /* and the file stays as it is */
    place_remove(place);
}
END_TEST

START_TEST(networks)
{
    struct lab lab = {.name = "t", .folder = "/x/t", .mtu = 9000, .services = 1, .networks = 2};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 2, 1}), 0);
    strcpy(lab.service[0], LAB_TUNNEL);
    strcpy(lab.network[0], "blue");
    strcpy(lab.network[1], "red");
    const char *text = conf(&lab, 0);
    ck_assert_ptr_nonnull(strstr(text, "service \"ip\" { }"));
    ck_assert_ptr_nonnull(strstr(text, "network \"blue\" { job = 5001; subnet = \"10.80.0.0/12\"; }"));
    ck_assert_ptr_nonnull(strstr(text, "network \"red\" { job = 5002; subnet = \"10.96.0.0/12\"; }"));
    strcpy(lab.gateways, "0 3");
    text = conf(&lab, 0);
    ck_assert_ptr_nonnull(strstr(text, "network \"ip\" { gateway { servers = \"0 3\"; device = \"up0\"; } }"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(networks),
    SUITE_TEST(what_a_daemon_is_told),
    SUITE_TEST(files),
    SUITE_TEST(other_timers),
};
SUITE_MAIN("conf", tests)
