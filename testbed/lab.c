/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw */
#include "testbed/lab.h"

#include "base/check.h"
#include "base/quantity.h"
#include "message/message.h"
#include "testbed/peer.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { SOCKET_ROOM = 24 /* bytes left for a socket's name after the folder's */, FILE_MAX = 16 * 1024 };

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static const char *const drivers[] = {[LAB_NETNS] = "netns", [LAB_PROCESS] = "process"};
static const char *const shims[] = {[LAB_RAW] = "raw", [LAB_PCAP] = "pcap", [LAB_UDP] = "udp"};

const char *lab_driver_name(enum lab_driver driver)
{
    return drivers[driver];
}

const char *lab_shim_name(enum lab_shim shim)
{
    return shims[shim];
}

static int find(const char *const names[], size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], word) == 0) {
            return (int)i;
        }
    }
    return -EINVAL;
}

int lab_driver_parse(const char *word, enum lab_driver *out)
{
    int i = find(drivers, sizeof drivers / sizeof *drivers, word);
    *out = i >= 0 ? (enum lab_driver)i : *out;
    return i < 0 ? i : 0;
}

int lab_shim_parse(const char *word, enum lab_shim *out)
{
    int i = find(shims, sizeof shims / sizeof *shims, word);
    *out = i >= 0 ? (enum lab_shim)i : *out;
    return i < 0 ? i : 0;
}

bool lab_service_is_file(const char *service)
{
    return strchr(service, '/') != NULL;
}

bool lab_has_tunnel(const struct lab *lab)
{
    for (unsigned i = 0; i < lab->services; i++) {
        if (strcmp(lab->service[i], LAB_TUNNEL) == 0) {
            return true;
        }
    }
    return lab->networks > 0;
}

/* Behind 10.64.0.0/12, that of `ip`. */
const char *lab_subnet(unsigned network, char out[static LAB_SUBNET])
{
    snprintf(out, LAB_SUBNET, "10.%u.0.0/12", (80 + 16 * network) & 0xff);
    return out;
}

bool lab_name_good(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)name[i]) && (i == 0 || strchr("-_", name[i]) == NULL)) {
            return false;
        }
    }
    return length > 0 && length < LAB_NAME;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/*
 * Not /tmp: any user may write there, and a user who made the folder first would choose which programs a lab runs and
 * which process cwlab ends.
 */
static int check_owner(const char *path)
{
    struct stat st;
    if (lstat(path, &st) < 0) {
        return errno == ENOENT ? 0 : -errno;
    }
    bool ours = S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    return ours ? 0 : -EPERM;
}

int lab_root(char out[static LAB_PATH])
{
    const char *own = getenv("CWLAB_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
    int length;
    if (own != NULL && own[0] == '/') {
        length = snprintf(out, LAB_PATH, "%s", own);
    } else if (geteuid() == 0) {
        length = snprintf(out, LAB_PATH, "/run/cubeway/lab");
    } else if (runtime != NULL && runtime[0] == '/') {
        length = snprintf(out, LAB_PATH, "%s/cubeway/lab", runtime);
    } else {
        length = snprintf(out, LAB_PATH, "/tmp/cubeway-%u", (unsigned)geteuid());
        int rc = check_owner(out);
        strcpy(out + length, "/lab");
        if (rc < 0) {
            return rc;
        }
    }
    return length < LAB_PATH ? 0 : -ENAMETOOLONG;
}

/* "/a/b/c", then "/a/b", and so on, until one is there. */
static bool find_there(const char *path, struct statfs *out)
{
    char at[LAB_PATH];
    snprintf(at, sizeof at, "%s", path);
    while (statfs(at, out) < 0) {
        char *slash = strrchr(at, '/');
        if (slash == NULL || slash == at) {
            return statfs("/", out) == 0;
        }
        *slash = '\0';
    }
    return true;
}

bool lab_in_memory(const char *folder)
{
    struct statfs fs;
    return find_there(folder, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* A folder of this user alone below `base`, if that is on a disk and may be written to. */
static bool try_base(const char *base, const char *below, const char *name, char out[static LAB_PATH])
{
    char own[LAB_PATH];
    if (base == NULL || base[0] != '/' || lab_in_memory(base) || access(base, W_OK | X_OK) < 0) {
        return false;
    }
    int length = snprintf(own, sizeof own, "%s%s/cubeway-%u", base, below, (unsigned)geteuid());
    if (length >= (int)sizeof own || check_owner(own) < 0) {
        return false;
    }
    return snprintf(out, LAB_PATH, "%s/lab/%s", own, name) < LAB_PATH;
}

/* Finds a place for what may grow. It stays "" where there is no better one than the lab's folder. */
static int place_data(struct lab *lab, char why[static LAB_WHY])
{
    const char *said = getenv("CWLAB_DATA"), *own = getenv("CWLAB_DIR");
    lab->data[0] = '\0';
    if (said != NULL && said[0] != '\0') {
        if (said[0] != '/' || snprintf(lab->data, LAB_PATH, "%s/%s", said, lab->name) >= LAB_PATH) {
            snprintf(why, LAB_WHY, "CWLAB_DATA=%.200s: expected the whole path of a folder, from / on", said);
            return -EINVAL;
        }
        return 0;
    }
    if ((own != NULL && own[0] == '/') || !lab_in_memory(lab->folder)) {
        return 0;
    }
    (void)(try_base("/var/tmp", "", lab->name, lab->data) ||
           try_base(getenv("XDG_CACHE_HOME"), "", lab->name, lab->data) ||
           try_base(getenv("HOME"), "/.cache", lab->name, lab->data));
    return 0;
}

int lab_place(struct lab *lab, const char *name, char why[static LAB_WHY])
{
    char root[LAB_PATH];
    if (!lab_name_good(name)) {
        snprintf(why, LAB_WHY, "'%.40s' is no name for a lab: letters, digits, - and _, at most %d", name,
                 LAB_NAME - 1);
        return -EINVAL;
    }
    snprintf(lab->name, sizeof lab->name, "%s", name);
    int rc = lab_root(root);
    if (rc == -EPERM) {
        snprintf(why, LAB_WHY, "%.*s belongs to somebody else, or others may write to it: remove it, or set CWLAB_DIR",
                 (int)(strlen(root) - strlen("/lab")), root);
        return rc;
    }
    if (rc < 0 || snprintf(lab->folder, LAB_PATH, "%s/%s", root, name) + SOCKET_ROOM >= 108) {
        snprintf(why, LAB_WHY, "the folder of labs has too long a name for sockets: %s", root);
        return -ENAMETOOLONG;
    }
    return place_data(lab, why);
}

const char *lab_data_folder(const struct lab *lab)
{
    return lab->data[0] != '\0' ? lab->data : lab->folder;
}

char *lab_data(const struct lab *lab, const char *stem, const char *end, char out[static LAB_PATH])
{
    snprintf(out, LAB_PATH, "%.160s/%.40s%.40s", lab_data_folder(lab), stem != NULL ? stem : "", end);
    return out;
}

char *lab_path(const struct lab *lab, const char *stem, const char *end, char out[static LAB_PATH])
{
    snprintf(out, LAB_PATH, "%.120s/%.40s%.40s", lab->folder, stem != NULL ? stem : "", end);
    return out;
}

const char *lab_daemon_name(const struct lab *lab, cw_server s, char out[static TORUS_TEXT])
{
    if (lab->driver == LAB_PROCESS) {
        memcpy(out, "all", 4);
    } else {
        torus_format(torus_coord(&lab->torus, s), out);
    }
    return out;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    (void)remove(path);
    return 0;
}

static void remove_tree(const char *folder)
{
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Makes the folders above this one. */
static int make_above(const char *folder, mode_t mode)
{
    char path[LAB_PATH];
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, mode) < 0 && errno != EEXIST) {
            return -errno;
        }
        *slash = '/';
    }
    return 0;
}

/* What a dead lab left there is removed first. */
static int make_data(const struct lab *lab)
{
    int rc = lab->data[0] != '\0' ? make_above(lab->data, 0700) : 0;
    if (rc < 0 || lab->data[0] == '\0') {
        return rc;
    }
    remove_tree(lab->data);
    return mkdir(lab->data, 0700) < 0 ? -errno : check_owner(lab->data);
}

int lab_make_root(const struct lab *lab)
{
    char path[LAB_PATH];
    int rc = make_above(lab->folder, 0755);
    return rc < 0 ? rc : lab_root(path); /* checked again: another user may have made the folder meanwhile */
}

int lab_make_folder(const struct lab *lab)
{
    int rc = lab_make_root(lab);
    rc = rc < 0 ? rc : mkdir(lab->folder, 0700) < 0 ? -errno : 0;
    return rc < 0 ? rc : make_data(lab);
}

void lab_remove_folder(const struct lab *lab)
{
    if (lab->data[0] != '\0') {
        remove_tree(lab->data);
    }
    remove_tree(lab->folder);
}

/* ---- Timers ------------------------------------------------------------------------------------------------------ */

static void longer(cw_span *span, uint64_t by)
{
    span->ns *= (int64_t)by;
}

void lab_stretch_timers(struct lab *lab, uint64_t by)
{
    struct ls_timers *t = &lab->timers;
    lab->scale *= by;
    longer(&t->hello, by);
    longer(&t->dead, by);
    longer(&t->hold, by);
    longer(&t->flood_bound, by);
    longer(&t->retry, by);
    longer(&t->pending_limit, by);
    longer(&t->pace, by);
}

void lab_set_timers(struct lab *lab, bool fast, uint64_t scale)
{
    lab->timers = fast ? ls_timers_fast() : ls_timers_default();
    lab->fast = fast;
    lab->scale = 1;
    lab_stretch_timers(lab, scale);
}

/* ---- lab.json ---------------------------------------------------------------------------------------------------- */

int lab_save(const struct lab *lab)
{
    char path[LAB_PATH], fresh[LAB_PATH], text[QUANTITY_TEXT];
    struct message *m = message_open();
    size_t length;
    quantity_dims_format(torus_dims(&lab->torus), text);
    message_text(m, "name", lab->name);
    message_text(m, "dims", text);
    message_text(m, "driver", lab_driver_name(lab->driver));
    message_text(m, "shim", lab_shim_name(lab->shim));
    message_integer(m, "mtu", lab->mtu);
    message_integer(m, "rate", (int64_t)lab->bits_per_second);
    message_flag(m, "fast", lab->fast);
    message_integer(m, "scale", (int64_t)lab->scale);
    message_text(m, "daemon", lab->daemon);
    message_text(m, "witness", lab->witness);
    message_text(m, "data", lab->data);
    message_real(m, "wanted", lab->wanted);
    message_flag(m, "hurries", lab->hurries);
    if (lab->rescaled_from > 0) {
        message_integer(m, "rescaled_ns", lab->rescaled.ns);
        message_integer(m, "rescaled_from", (int64_t)lab->rescaled_from);
        message_text(m, "rescaled_for", lab->rescaled_for);
    }
    message_integer(m, "keeper", lab->keeper);
    for (unsigned i = 0; i < lab->services; i++) {
        message_element(m, "services", lab->service[i]);
    }
    for (unsigned i = 0; i < lab->networks; i++) {
        message_element(m, "networks", lab->network[i]);
    }
    message_text(m, "gateways", lab->gateways);
    message_text(m, "uplink", lab->uplink);
    char *line = message_line(m, &length);
    CHECK(line != NULL);
    message_close(m);
    FILE *f = fopen(lab_path(lab, "lab", ".json.new", fresh), "we");
    int rc = f == NULL ? -errno : 0;
    if (f != NULL) {
        rc = fwrite(line, 1, length, f) == length ? 0 : -EIO;
        rc = fclose(f) == 0 ? rc : -EIO;
    }
    free(line);
    if (rc == 0 && rename(fresh, lab_path(lab, "lab", ".json", path)) < 0) {
        rc = -errno;
    }
    return rc;
}

static int read_fields(struct lab *lab, const struct message *m)
{
    const char *dims = message_get_text(m, "dims", NULL), *driver = message_get_text(m, "driver", NULL);
    const char *shim = message_get_text(m, "shim", NULL), *daemon = message_get_text(m, "daemon", NULL);
    const char *witness = message_get_text(m, "witness", NULL), *service, *network;
    cw_dims d;
    if (dims == NULL || driver == NULL || shim == NULL || daemon == NULL || witness == NULL ||
        quantity_dims(dims, strlen(dims), &d) < 0 || torus_init(&lab->torus, d) < 0 ||
        lab_driver_parse(driver, &lab->driver) < 0 || lab_shim_parse(shim, &lab->shim) < 0) {
        return -EINVAL;
    }
    snprintf(lab->daemon, LAB_PATH, "%s", daemon);
    snprintf(lab->witness, LAB_PATH, "%s", witness);
    lab->mtu = (uint32_t)message_get_integer(m, "mtu", 0);
    lab->bits_per_second = (uint64_t)message_get_integer(m, "rate", 0);
    lab->fast = message_get_flag(m, "fast");
    lab->scale = (uint64_t)message_get_integer(m, "scale", 1);
    lab->keeper = (pid_t)message_get_integer(m, "keeper", 0);
    lab->wanted = message_get_real(m, "wanted", 0);
    lab->hurries = message_get_flag(m, "hurries");
    lab->rescaled = (cw_time){message_get_integer(m, "rescaled_ns", 0)};
    lab->rescaled_from = (uint64_t)message_get_integer(m, "rescaled_from", 0);
    snprintf(lab->rescaled_for, LAB_REASON, "%s", message_get_text(m, "rescaled_for", ""));
    snprintf(lab->data, LAB_PATH, "%s", message_get_text(m, "data", lab->data));
    while (lab->services < LAB_SERVICES && (service = message_get_element(m, "services", lab->services)) != NULL) {
        snprintf(lab->service[lab->services++], LAB_PATH, "%s", service);
    }
    while (lab->networks < LAB_NETWORKS && (network = message_get_element(m, "networks", lab->networks)) != NULL) {
        snprintf(lab->network[lab->networks++], LAB_NAME, "%s", network);
    }
    snprintf(lab->gateways, LAB_GATEWAYS, "%s", message_get_text(m, "gateways", ""));
    snprintf(lab->uplink, LAB_PATH, "%s", message_get_text(m, "uplink", ""));
    return 0;
}

int lab_load(struct lab *lab, const char *name, char why[static LAB_WHY])
{
    char path[LAB_PATH], text[FILE_MAX];
    *lab = (struct lab){.scale = 1};
    int rc = lab_place(lab, name, why);
    if (rc < 0) {
        return rc;
    }
    FILE *f = fopen(lab_path(lab, "lab", ".json", path), "re");
    if (f == NULL) {
        snprintf(why, LAB_WHY, "there is no lab '%s': cwlab list shows those there are, cwlab up makes one", name);
        return -ENOENT;
    }
    size_t length = fread(text, 1, sizeof text, f);
    fclose(f);
    struct message *m = message_parse(text, length, NULL, 0);
    rc = m == NULL ? -EINVAL : read_fields(lab, m);
    message_close(m);
    if (rc < 0) {
        snprintf(why, LAB_WHY, "%s cannot be read: is it of another version?", path);
    }
    return rc;
}

bool lab_lives(const struct lab *lab)
{
    char path[LAB_PATH];
    struct peer p;
    if (peer_open(&p, lab_path(lab, "keeper", ".sock", path)) < 0) {
        return false;
    }
    peer_close(&p);
    return true;
}

void lab_each(void (*visit)(void *context, const char *name), void *context)
{
    char root[LAB_PATH];
    struct dirent **entry = NULL;
    int count = lab_root(root) < 0 ? 0 : scandir(root, &entry, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (lab_name_good(entry[i]->d_name)) {
            visit(context, entry[i]->d_name);
        }
        free(entry[i]);
    }
    free(entry);
}
