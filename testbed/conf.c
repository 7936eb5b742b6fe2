/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/conf.h"

#include "base/quantity.h"
#include "testbed/grants.h"
#include "testbed/veth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UDP_PORT = 7000 };

static void put_timer(FILE *out, const char *name, cw_span span)
{
    char text[QUANTITY_TEXT];
    quantity_span_format(span, text);
    fprintf(out, "    %s = \"%s\";\n", name, text);
}

static void put_timers(const struct lab *lab, FILE *out)
{
    const struct ls_timers *t = &lab->timers;
    fprintf(out, "timers {\n");
    put_timer(out, "hello", t->hello);
    put_timer(out, "dead", t->dead);
    put_timer(out, "hold", t->hold);
    put_timer(out, "flood_bound", t->flood_bound);
    put_timer(out, "retry", t->retry);
    put_timer(out, "pending_limit", t->pending_limit);
    put_timer(out, "pace", t->pace);
    put_timer(out, "damp", t->damp);
    put_timer(out, "damp_max", t->damp_max);
    put_timer(out, "refresh", t->refresh);
    fprintf(out, "}\n");
}

static void put_address(FILE *out, const char *what, uint32_t address)
{
    char text[INET_ADDRSTRLEN];
    struct in_addr a = {htonl(address)};
    inet_ntop(AF_INET, &a, text, sizeof text);
    fprintf(out, " %s = \"%s:%d\";", what, text, UDP_PORT);
}

static void put_links(const struct lab *lab, cw_server s, FILE *out)
{
    cw_links links = torus_links(&lab->torus);
    char rate[QUANTITY_TEXT];
    fprintf(out, "links {\n");
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (!(links & cw_links_of(link))) {
            continue;
        }
        fprintf(out, "    \"%s\" { shim = \"%s\";", quantity_link_name(link), lab_shim_name(lab->shim));
        if (lab->shim == LAB_UDP) {
            uint32_t own = veth_address(s, link, &lab->torus);
            put_address(out, "local", own);
            put_address(out, "remote", own ^ 3);
        } else {
            fprintf(out, " interface = \"%s\";", veth_device(link));
        }
        if (lab->bits_per_second > 0) {
            quantity_rate_format(lab->bits_per_second, rate);
            fprintf(out, " rate = \"%s\";", rate);
        }
        fprintf(out, " }\n");
    }
    fprintf(out, "}\n");
}

/*
 * Writes a service's section. The name of the module "libkv.so" or "/path/kv.so" is "kv". A service without a path is
 * built in; it is named all the same, because some do more when they are (kvcache then listens for clients).
 */
static void put_service(FILE *out, const struct lab *lab, const char *name, const char *file)
{
    char path[LAB_PATH];
    if (strcmp(file, LAB_STORE) == 0) { /* small files: each server writes two of them full of zeros at its start */
        fprintf(out, "service \"%s\" { options { folder = \"%s\"; segment_mib = 1; } }\n", file,
                lab_data(lab, name, ".store", path));
        return;
    }
    if (strcmp(file, LAB_TUNNEL) == 0 && lab->gateways[0] != '\0') {
        fprintf(out, "network \"%s\" { gateway { servers = \"%s\"; device = \"%s\"; } }\n", file, lab->gateways,
                LAB_UPLINK);
        return;
    }
    if (!lab_service_is_file(file)) {
        fprintf(out, "service \"%s\" { }\n", file);
        return;
    }
    const char *slash = strrchr(file, '/'), *stem = slash != NULL ? slash + 1 : file;
    stem = strncmp(stem, "lib", 3) == 0 ? stem + 3 : stem;
    fprintf(out, "service \"%.*s\" { file = \"%s\"; }\n", (int)strcspn(stem, "."), stem, file);
}

int conf_write(const struct lab *lab, cw_server s, FILE *out)
{
    char name[TORUS_TEXT], path[LAB_PATH], dims[QUANTITY_TEXT];
    lab_daemon_name(lab, s, name);
    quantity_dims_format(torus_dims(&lab->torus), dims);
    fprintf(out,
            "# Made by cwlab for lab %s.\n"
            "cluster = %d\n"
            "torus { dims = \"%s\"; coordinate = \"%s\"; }\n"
            "name = \"%s\"\n",
            lab->name, CONF_CLUSTER, dims, name, name);
    fprintf(out, "state_dir = \"%s\"\n", lab_data(lab, name, ".state", path));
    fprintf(out, "control { socket = \"%s\"; }\n", lab_path(lab, name, ".sock", path));
    fprintf(out, "mtu = %u\n", lab->mtu);
    fprintf(out, "watchdog = %ds\n", CONF_WATCHDOG_SEC); /* what a service manager's does elsewhere */
    /* The kernel verifies the program of a relay anew for each daemon: half a second of processor. */
    fprintf(out, "transit = %s\n", lab->transit != NULL ? lab->transit : "user");
    if (lab->strict) {
        fprintf(out, "strict = true\n");
    }
    if (lab->torus.servers == 1) {
        fprintf(out, "alone = true\n"); /* it will never have a neighbour to wait for */
    }
    grants_write(lab, out);
    put_timers(lab, out);
    if (lab->driver == LAB_NETNS) {
        put_links(lab, s, out);
    }
    fprintf(out, "service \"multicast\" { options { folder = \"%s\"; } }\n", lab_data(lab, name, ".files", path));
    fprintf(out, "service \"aggregate\" { options { data = \"%s\"; ", lab_data(lab, name, ".vectors", path));
    fprintf(out, "spool = \"%s\"; ", lab_data(lab, name, ".spool", path));
    fprintf(out, "modules = \"%s\"; } }\n", lab_data(lab, name, ".modules", path));
    for (unsigned i = 0; i < lab->services; i++) {
        put_service(out, lab, name, lab->service[i]);
    }
    for (unsigned i = 0; i < lab->networks; i++) {
        char subnet[LAB_SUBNET];
        fprintf(out, "network \"%s\" { job = %u; subnet = \"%s\"; }\n", lab->network[i], LAB_NETWORK_JOB + i,
                lab_subnet(i, subnet));
    }
    if (lab->witness[0] != '\0') {
        put_service(out, lab, name, lab->witness);
    }
    return fflush(out) == 0 && ferror(out) == 0 ? 0 : -EIO;
}

int conf_save(const struct lab *lab, cw_server s)
{
    char name[TORUS_TEXT], path[LAB_PATH];
    lab_daemon_name(lab, s, name);
    if ((mkdir(lab_data(lab, name, ".state", path), 0700) < 0 && errno != EEXIST) ||
        (mkdir(lab_data(lab, name, ".vectors", path), 0755) < 0 && errno != EEXIST) ||
        (mkdir(lab_data(lab, name, ".modules", path), 0755) < 0 && errno != EEXIST)) {
        return -errno;
    }
    FILE *out = fopen(lab_path(lab, name, ".conf", path), "we");
    if (out == NULL) {
        return -errno;
    }
    int rc = conf_write(lab, s, out);
    return fclose(out) == 0 ? rc : -EIO;
}

/* Copies the file, with the lab's timers in the place of the section that put_timers() has written. */
static int copy_retimed(const struct lab *lab, FILE *in, FILE *out)
{
    char line[LAB_PATH * 2];
    bool inside = false, met = false;
    while (fgets(line, sizeof line, in) != NULL) {
        bool begins = strcmp(line, "timers {\n") == 0;
        if (begins) {
            put_timers(lab, out);
        } else if (!inside) {
            fputs(line, out);
        }
        met |= begins;
        inside = begins || (inside && strcmp(line, "}\n") != 0);
    }
    return ferror(in) || fflush(out) != 0 || ferror(out) ? -EIO : met ? 0 : -EINVAL;
}

int conf_retime(const struct lab *lab, cw_server s)
{
    char name[TORUS_TEXT], path[LAB_PATH], fresh[LAB_PATH];
    lab_daemon_name(lab, s, name);
    FILE *in = fopen(lab_path(lab, name, ".conf", path), "re");
    FILE *out = in != NULL ? fopen(lab_path(lab, name, ".conf.new", fresh), "we") : NULL;
    int rc = out == NULL ? -errno : copy_retimed(lab, in, out);
    if (out != NULL && fclose(out) != 0) {
        rc = rc < 0 ? rc : -EIO;
    }
    if (in != NULL) {
        fclose(in);
    }
    return rc == 0 && rename(fresh, path) < 0 ? -errno : rc;
}
