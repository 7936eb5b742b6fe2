/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* namespaces, strsep */
#include "testbed/cwlab/names.h"

#include "hosts/hosts.h"
#include "services/tunnel/address.h"
#include "services/tunnel/packet/limits.h"
#include "testbed/conf.h"
#include "testbed/uplink.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOSTS "/etc/hosts"
#define RESOLVER "/etc/resolv.conf"
/* Between a line that begins so and this one are the names of a lab. */
#define BEGIN "# The servers of lab "
#define END "# End of the servers of that lab, by cwlab"

static void write_network(const struct lab *lab, const struct address_wish *wish, const char *domain, FILE *out)
{
    char why[ADDRESS_WHY_BYTES];
    struct address_plan plan;
    enum address_fault fault;
    if (address_plan_make(&plan, wish, &fault, why) < 0) {
        return;
    }
    for (cw_server s = 0; s < lab->torus.servers; s++) {
        const cw_coord c = torus_coord(&lab->torus, s);
        struct ip_address four, six;
        char text4[ADDRESS_TEXT_BYTES], text6[ADDRESS_TEXT_BYTES];
        address_of(&plan, s, 4, &four);
        address_of(&plan, s, 6, &six);
        const struct hosts_server server = {c, s, address_text(&four, text4), address_text(&six, text6)};
        hosts_write(&server, domain, out);
    }
}

static bool has_built_in(const struct lab *lab)
{
    bool built_in = false;
    for (unsigned i = 0; i < lab->services; i++) {
        built_in |= strcmp(lab->service[i], LAB_TUNNEL) == 0;
    }
    return built_in;
}

void names_write(const struct lab *lab, FILE *out)
{
    struct address_wish wish = {.cluster = CONF_CLUSTER, .dims = torus_dims(&lab->torus), .job = TUNNEL_JOB};
    if (has_built_in(lab)) {
        write_network(lab, &wish, HOSTS_DOMAIN, out);
    }
    for (unsigned i = 0; i < lab->networks; i++) {
        char subnet[LAB_SUBNET];
        wish.job = LAB_NETWORK_JOB + i;
        wish.subnet4 = lab_subnet(i, subnet);
        write_network(lab, &wish, lab->network[i], out);
    }
}

/* Has the line the name of a server, as 1-0-2.cube, in that domain? */
static bool names_server_of(const char *line, const char *domain)
{
    size_t length = strlen(domain);
    for (const char *at = line; (at = strchr(at, '.')) != NULL; at++) {
        const char *first = at, *behind = at + 1 + length;
        unsigned dashes = 0;
        while (first > line && (isdigit((unsigned char)first[-1]) || first[-1] == '-')) {
            dashes += *--first == '-';
        }
        if (dashes == 2 && first > line && isspace((unsigned char)first[-1]) && strncmp(at + 1, domain, length) == 0 &&
            (*behind == '\0' || isspace((unsigned char)*behind))) {
            return true;
        }
    }
    return false;
}

/* Has the line the name of a server in a domain of this lab? Whose server that is, is another question. */
static bool names_server(const struct lab *lab, const char *line)
{
    bool found = has_built_in(lab) && names_server_of(line, HOSTS_DOMAIN);
    for (unsigned i = 0; i < lab->networks; i++) {
        found |= names_server_of(line, lab->network[i]);
    }
    return found;
}

/*
 * Copies the machine's file, without the names of labs: what we see may be the file that another lab has lent, or
 * cwctl hosts --write has put the names of some torus there.
 */
static int copy_hosts(const struct lab *lab, FILE *out)
{
    static const struct hosts_block lent = {BEGIN, END, true};
    char *text = NULL;
    size_t length = 0;
    FILE *in = fopen(HOSTS, "re"), *others = open_memstream(&text, &length);
    int rc = in == NULL ? -errno : others == NULL ? -ENOMEM : hosts_copy_others(in, &lent, others);
    if (in != NULL) {
        fclose(in);
    }
    if (others != NULL && fclose(others) != 0) {
        rc = -ENOMEM;
    }
    if (rc == 0 || rc == -EILSEQ) { /* the end of a block was cut off: nothing of the machine's is behind it */
        char *rest = text, *line;
        while ((line = strsep(&rest, "\n")) != NULL && rest != NULL) { /* each line has its newline */
            if (!names_server(lab, line)) {
                fprintf(out, "%s\n", line);
            }
        }
        rc = 0;
    }
    free(text);
    return rc == -ENOENT ? 0 : rc;
}

/* Does this process see names whose title begins so, as a child of another cwlab exec? */
static bool has_names(const char *title)
{
    char line[LAB_PATH + LAB_NAME + 64];
    bool found = false;
    FILE *in = fopen(HOSTS, "re");
    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL) {
        found = strncmp(line, title, strlen(title)) == 0;
    }
    if (in != NULL) {
        fclose(in);
    }
    return found;
}

/* Is the line, with its newline, one of the text? */
static bool is_line_of(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    while (at != NULL && at != text && at[-1] != '\n') {
        at = strstr(at + 1, line);
    }
    return at != NULL;
}

/*
 * What the file that is there says of the servers, as cwctl hosts --write puts them: 0: exactly these; -ESTALE: others,
 * or not all; -ENOENT: nothing; or -errno.
 */
static int look_at_written(const struct lab *lab)
{
    char *names = NULL, *line = NULL;
    size_t length = 0, room = 0, ours = 0, wanted = 0, others = 0;
    FILE *own = open_memstream(&names, &length), *in = fopen(HOSTS, "re");
    int rc = own == NULL ? -ENOMEM : in == NULL ? -errno : 0;
    if (own != NULL) {
        names_write(lab, own);
        rc = fclose(own) != 0 && rc == 0 ? -ENOMEM : rc;
    }
    for (const char *at = names; rc == 0 && (at = strchr(at, '\n')) != NULL; at++) {
        wanted++;
    }
    while (rc == 0 && getline(&line, &room, in) > 0) {
        if (names_server(lab, line)) {
            bool found = is_line_of(names, line);
            ours += found;
            others += !found;
        }
    }
    if (in != NULL) {
        fclose(in);
    }
    free(line);
    free(names);
    if (rc < 0) {
        return rc;
    }
    bool exact = others == 0 && ours >= wanted;
    return exact ? 0 : others + ours > 0 ? -ESTALE : -ENOENT;
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
        int rc = -errno;
        if (fd >= 0) {
            close(fd);
            (void)unlink(fresh);
        }
        return rc;
    }
    (void)fchmod(fd, 0644);
    int rc = copy_hosts(lab, out);
    fputs(title, out);
    names_write(lab, out);
    fputs(END "\n", out);
    errno = 0;
    bool whole = fflush(out) == 0 && !ferror(out);
    rc = rc == 0 && !whole ? (errno != 0 ? -errno : -EIO) : rc;
    rc = fclose(out) != 0 && rc == 0 ? -errno : rc;
    rc = rc == 0 && rename(fresh, path) < 0 ? -errno : rc;
    if (rc < 0) {
        (void)unlink(fresh);
    }
    return rc;
}

/* With a way out, programs of the lab ask the name server that is there: the machine's may be out of their reach. */
static int lend_resolver(const struct lab *lab)
{
    char path[LAB_PATH];
    if (lab->uplink[0] == '\0') {
        return 0;
    }
    FILE *out = fopen(lab_path(lab, NULL, "resolv.conf", path), "we");
    if (out == NULL) {
        return -errno;
    }
    fputs("nameserver " UPLINK_RESOLVER "\n", out);
    return fclose(out) == 0 && mount(path, RESOLVER, NULL, MS_BIND, NULL) == 0 ? 0 : -errno;
}

int names_lend(const struct lab *lab)
{
    char path[LAB_PATH], title[LAB_PATH + LAB_NAME + 64];
    snprintf(title, sizeof title, BEGIN "%s (%s), by cwlab\n", lab->name, lab->folder);
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
    if (rc == 0 && has_names(BEGIN)) {
        (void)umount2(HOSTS, MNT_DETACH); /* or ours goes on top of it */
    }
    if (rc == 0 && mount(path, HOSTS, NULL, MS_BIND, NULL) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        int written = look_at_written(lab);
        return written == 0 || written == -ESTALE ? written : rc;
    }
    return lend_resolver(lab);
}
