/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* namespaces */
#include "testbed/cwlab/names.h"

#include "services/tunnel/address.h"
#include "services/tunnel/limits.h"
#include "testbed/conf.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOSTS "/etc/hosts"

void names_write(const struct lab *lab, FILE *out)
{
    char why[ADDRESS_WHY_BYTES];
    struct address_plan plan;
    enum address_fault fault;
    const struct address_wish wish = {.cluster = CONF_CLUSTER, .dims = torus_dims(&lab->torus), .job = TUNNEL_JOB};
    if (address_plan_make(&plan, &wish, &fault, why) < 0) {
        return;
    }
    for (cw_server s = 0; s < lab->torus.servers; s++) {
        const cw_coord c = torus_coord(&lab->torus, s);
        for (uint8_t version = 4; version <= 6; version += 2) {
            struct ip_address a;
            char text[ADDRESS_TEXT_BYTES];
            address_of(&plan, s, version, &a);
            fprintf(out, "%s %u-%u-%u.cube s%u.cube\n", address_text(&a, text), c.x, c.y, c.z, s);
        }
    }
}

static void copy_hosts(FILE *out)
{
    char piece[4096];
    FILE *in = fopen(HOSTS, "re");
    if (in == NULL) {
        return;
    }
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;) {
        fwrite(piece, 1, n, out);
    }
    fclose(in);
    fputc('\n', out);
}

/* Does this process see the names of the lab already, as a child of another cwlab exec? */
static bool has_names(const char *title)
{
    char line[LAB_PATH + LAB_NAME + 64];
    bool found = false;
    FILE *in = fopen(HOSTS, "re");
    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL) {
        found = strcmp(line, title) == 0;
    }
    if (in != NULL) {
        fclose(in);
    }
    return found;
}

/* The file is made anew each time, since the machine's may have changed; those that use the former one keep it. */
static int write_file(const struct lab *lab, const char *title, char path[static LAB_PATH])
{
    char fresh[LAB_PATH + 8];
    lab_path(lab, NULL, "hosts", path);
    snprintf(fresh, sizeof fresh, "%s.XXXXXX", path);
    int fd = mkstemp(fresh);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (out == NULL) {
        return -errno;
    }
    (void)fchmod(fd, 0644);
    copy_hosts(out);
    fputs(title, out);
    names_write(lab, out);
    int rc = fclose(out) == 0 && rename(fresh, path) == 0 ? 0 : -errno;
    if (rc < 0) {
        (void)unlink(fresh);
    }
    return rc;
}

int names_lend(const struct lab *lab)
{
    char path[LAB_PATH], title[LAB_PATH + LAB_NAME + 64];
    snprintf(title, sizeof title, "# The servers of lab %s (%s), by cwlab\n", lab->name, lab->folder);
    if (has_names(title)) {
        return 0;
    }
    int rc = write_file(lab, title, path);
    if (rc == 0 && unshare(CLONE_NEWNS) < 0) {
        rc = -errno;
    }
    /* What is mounted here is seen by nobody else. */
    if (rc == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0) {
        rc = -errno;
    }
    if (rc == 0 && mount(path, HOSTS, NULL, MS_BIND, NULL) < 0) {
        rc = -errno;
    }
    return rc;
}
