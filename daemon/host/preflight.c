/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/preflight.h"

#include "base/nearest.h"
#include "daemon/config/lint.h"
#include "daemon/files/job_host.h"
#include "daemon/host/host.h"
#include "daemon/host/preflight_start.h"
#include "services/builtin.h"
#include "shim/address.h"
#include "shim/port.h"
#include "shim/replay.h"
#include "shim/udp.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { KEY = 160, SENTENCE = 2048, INTERFACES = 64 };
struct looking {
    const struct daemon_config *config;
    struct preflight *p;
    char said[SENTENCE]; /* the last line that a service has logged */
    struct mtu {
        uint32_t mtu;
        char link[KEY], name[IFNAMSIZ];
    } mtu[CW_LINK_COUNT]; /* of interfaces that are there */
    unsigned mtus;
    char meant[IFNAMSIZ]; /* the interface that was proposed last */
};

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

void preflight_tell(const struct daemon_config *config, struct preflight *p, bool mistake, const char *key,
                    const char *text)
{
    char line[SENTENCE + CONFIG_PATH + KEY];
    bool guessed;
    unsigned number = config_line(config->file, key, &guessed);
    if (guessed) {
        return;
    }
    snprintf(line, sizeof line, "%s:%u: %s%s: %s", config->file, number, mistake ? "" : "warning: ", key, text);
    *(mistake ? &p->mistakes : &p->warnings) += 1;
    (mistake ? p->mistake : p->warning)(p->context, line);
}

static void tell(struct looking *l, bool mistake, const char *key, const char *text)
{
    preflight_tell(l->config, l->p, mistake, key, text);
}

__attribute__((format(printf, 3, 4))) static void wrong(struct looking *l, const char *key, const char *format, ...)
{
    char text[SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell(l, true, key, text);
}

__attribute__((format(printf, 3, 4))) static void warn(struct looking *l, const char *key, const char *format, ...)
{
    char text[SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell(l, false, key, text);
}

/* A sentence that begins with its key: "links.-x: not configured: ..". */
static void tell_keyed(struct looking *l, bool mistake, const char *text)
{
    char key[KEY];
    const char *colon = strstr(text, ": ");
    if (colon == NULL || (size_t)(colon - text) >= sizeof key) {
        tell(l, mistake, "", text);
        return;
    }
    snprintf(key, sizeof key, "%.*s", (int)(colon - text), text);
    tell(l, mistake, key, colon + 2);
}

static void keyed_mistake(void *context, const char *text)
{
    tell_keyed(context, true, text);
}

static void keyed_warning(void *context, const char *text)
{
    tell_keyed(context, false, text);
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static const char *interface_nth(const void *context, size_t i)
{
    return ((const struct if_nameindex *)context)[i].if_name;
}

/* The start waits for an interface that is not there, so a name that nobody has is only a warning. */
static void missing_interface(struct looking *l, const char *key, const char *name)
{
    struct if_nameindex *all = if_nameindex();
    size_t count = 0;
    while (all != NULL && all[count].if_index != 0) {
        count++;
    }
    const char *near = all != NULL ? nearest_name(name, strlen(name), interface_nth, all, count) : NULL;
    near = near != NULL && strcmp(near, l->meant) != 0 ? near : NULL; /* two links cannot both mean it */
    if (near != NULL) {
        snprintf(l->meant, sizeof l->meant, "%s", near);
    }
    warn(l, key, "%s: there is no such interface now, and the daemon will wait for it%s%s%s", name,
         near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    if (all != NULL) {
        if_freenameindex(all);
    }
}

/* What an ioctl says of an interface; false: nothing. */
static bool ask_interface(const char *name, unsigned long question, struct ifreq *out)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    *out = (struct ifreq){.ifr_flags = 0};
    snprintf(out->ifr_name, sizeof out->ifr_name, "%s", name);
    bool said = fd >= 0 && ioctl(fd, question, out) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return said;
}

static void note_mtu(struct looking *l, const char *link, const char *name, uint32_t mtu)
{
    struct mtu *m = &l->mtu[l->mtus++ % CW_LINK_COUNT];
    m->mtu = mtu;
    snprintf(m->link, sizeof m->link, "%s", link);
    snprintf(m->name, sizeof m->name, "%s", name);
}

/* Without a mtu in the file all frames are as short as the narrowest interface carries: that is seldom meant. */
static void compare_mtus(struct looking *l)
{
    uint32_t most = 0;
    for (unsigned i = 0; i < l->mtus; i++) {
        most = l->mtu[i].mtu > most ? l->mtu[i].mtu : most;
    }
    for (unsigned i = 0; i < l->mtus && l->config->mtu == 0; i++) {
        const struct mtu *m = &l->mtu[i];
        char key[KEY + 16];
        snprintf(key, sizeof key, "%s.interface", m->link);
        if (m->mtu < most) {
            warn(
                l, key,
                "%s: its mtu is %u, and others here have %u: all frames are cut to %u, and neighbours with longer ones "
                "refuse this server (ip link set %s mtu %u)",
                m->name, m->mtu, most, m->mtu, m->name, most);
        }
    }
}

static void look_at_interface(struct looking *l, const char *link, const struct config_link *c)
{
    char why[SHIM_WHY_BYTES] = "", key[KEY + 16];
    struct port_options port = {.interface = c->interface, .mtu = l->config->mtu};
    snprintf(key, sizeof key, "%s.interface", link);
    int rc = port_check(&port, why);
    struct ifreq now = {.ifr_flags = 0};
    if (rc == 0 && ask_interface(c->interface, SIOCGIFFLAGS, &now) && !(now.ifr_flags & IFF_UP)) {
        warn(l, key, "%s: the interface is switched off (ip link set %s up)", c->interface, c->interface);
    }
    if (rc == 0 && ask_interface(c->interface, SIOCGIFMTU, &now)) {
        note_mtu(l, link, c->interface, (uint32_t)now.ifr_mtu);
    }
    if (rc == -ENODEV && c->shim == CONFIG_RAW) {
        missing_interface(l, key, c->interface);
    } else if (rc < 0) {
        wrong(l, key, "%s", why);
    }
}

/* What a running daemon has at this moment is no mistake. */
static void look_at_udp(struct looking *l, const char *link, const struct config_link *c)
{
    char why[SHIM_WHY_BYTES] = "", key[KEY + 16];
    struct shim *shim;
    struct udp_options udp = {.local = c->local, .remote = c->remote, .mtu = l->config->mtu};
    int rc = udp_open(&shim, &udp, why);
    snprintf(key, sizeof key, "%s.%s", link, rc == -ENETUNREACH || rc == -EHOSTUNREACH ? "remote" : "local");
    if (rc == 0) {
        shim_close(shim);
    } else if (rc != -EADDRINUSE && rc != -EACCES && rc != -EPERM) { /* a low port takes a right */
        wrong(l, key, "%s", why);
    }
}

static void look_at_capture(struct looking *l, const char *link, const struct config_link *c)
{
    char why[SHIM_WHY_BYTES] = "", key[KEY + 16];
    struct shim *shim;
    struct replay_options replay = {.file = c->file, .ethertype = (uint16_t)l->config->ethertype};
    snprintf(key, sizeof key, "%s.file", link);
    if (replay_open(&shim, &replay, why) == 0) {
        shim_close(shim);
    } else {
        wrong(l, key, "%s", why);
    }
}

static void look_at_links(struct looking *l)
{
    const struct daemon_config *config = l->config;
    for (cw_link link = 0; config->place != CONFIG_WHOLE && link < CW_LINK_COUNT; link++) {
        const struct config_link *c = &config->link[link];
        char name[KEY];
        snprintf(name, sizeof name, "links.%s", config_link_name(config, link));
        if ((c->shim == CONFIG_RAW || c->shim == CONFIG_PCAP) && c->interface[0] != '\0') {
            look_at_interface(l, name, c);
        } else if (c->shim == CONFIG_PCAP && c->file[0] != '\0') {
            look_at_capture(l, name, c);
        } else if (c->shim == CONFIG_UDP && c->local[0] != '\0' && c->remote[0] != '\0') {
            look_at_udp(l, name, c);
        }
    }
    compare_mtus(l);
    (void)lint_links(config, keyed_warning, l);
    (void)lint_timers(config, keyed_warning, l);
}

/* ---- Who, and where ---------------------------------------------------------------------------------------------- */

/* May that user write into a folder with this owner and these rights? Its further groups are not looked at. */
static bool may_write(const struct passwd *user, const struct stat *st)
{
    return user->pw_uid == 0 || (st->st_uid == user->pw_uid && st->st_mode & S_IWUSR) ||
           (st->st_gid == user->pw_gid && st->st_mode & S_IWGRP) || st->st_mode & S_IWOTH;
}

/* A folder of another name than the packaged one, and it is not there: perhaps it is misspelled. */
static void look_whether_there(struct looking *l, const char *key, const char *folder, const char *packaged)
{
    struct stat st;
    if (strcmp(folder, packaged) != 0 && stat(folder, &st) < 0 && errno == ENOENT) {
        warn(l, key, "%s: there is no such folder; the start makes it, and leaves it there", folder);
    }
}

/* The folder itself, or the one around it in which it is to be made; `levels`: how many of them may be missing. */
static void look_at_folder(struct looking *l, const char *key, const char *path, unsigned levels)
{
    char folder[CONFIG_PATH];
    struct stat st;
    snprintf(folder, sizeof folder, "%s", path);
    while (stat(folder, &st) < 0 && errno == ENOENT && levels > 0) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL || slash == folder) {
            snprintf(folder, sizeof folder, "%s", slash == NULL ? "." : "/");
        } else {
            *slash = '\0';
        }
        levels--;
    }
    if (stat(folder, &st) < 0) {
        wrong(l, key, "%s: %s", folder, strerror(errno));
    } else if (!S_ISDIR(st.st_mode)) {
        wrong(l, key, "%s: is no folder", folder);
    } else if (access(folder, W_OK | X_OK) < 0 && geteuid() == 0) {
        wrong(l, key, "%s: cannot be written to: %s", folder, strerror(errno));
    } else if (access(folder, W_OK | X_OK) < 0) {
        warn(l, key,
             "%s: cannot be written to by whoever asks now (%s): start the daemon as root, or as a user who may",
             folder, strerror(errno));
    }
}

static void look_at_state(struct looking *l)
{
    const char *folder = l->config->state_dir;
    const struct passwd *user = l->config->user[0] != '\0' ? getpwnam(l->config->user) : NULL;
    struct stat st;
    if (l->config->place == CONFIG_WHOLE) {
        return;
    }
    unsigned before = l->p->mistakes;
    look_at_folder(l, "state_dir", folder, 1);
    if (l->p->mistakes == before) {
        look_whether_there(l, "state_dir", folder, config_default().state_dir);
    }
    if (user != NULL && stat(folder, &st) == 0 && !may_write(user, &st)) {
        warn(l, "state_dir",
             "%s: user %s may not write there: a coordinate or job records that are found later could not be kept "
             "(chown %s %s)",
             folder, user->pw_name, user->pw_name, folder);
    }
}

static void look_at_socket(struct looking *l)
{
    const char *path = l->config->control_socket, *slash = strrchr(path, '/');
    char folder[CONFIG_PATH];
    struct stat st;
    size_t most = sizeof((struct sockaddr_un *)NULL)->sun_path - sizeof ".new";
    if (path[0] == '\0') {
        return;
    }
    if (strlen(path) > most) {
        wrong(l, "control.socket", "'%s': a socket's path has at most %zu bytes", path, most);
        return;
    }
    if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
        wrong(l, "control.socket", "%s: is there and is no socket; remove it, or choose another path", path);
    }
    int length = slash == NULL || slash == path ? 1 : (int)(slash - path);
    snprintf(folder, sizeof folder, "%.*s", length, slash == NULL ? "." : path);
    look_at_folder(l, "control.socket", folder, UINT32_MAX);
    look_whether_there(l, "control.socket", folder, "/run/cubeway"); /* which is new at each boot */
}

static void any_port(struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6) {
        ((struct sockaddr_in6 *)(void *)address)->sin6_port = 0;
    } else {
        ((struct sockaddr_in *)(void *)address)->sin_port = 0;
    }
}

/* An address to listen at, which must be one of this machine; the port may be in use by a daemon that runs. */
static void look_at_listener(struct looking *l, const char *key, const char *text)
{
    static const char local[] = "localhost";
    char whole[CONFIG_OPTION_VALUE + 16];
    struct sockaddr_storage address;
    const char *port = strncmp(text, local, sizeof local - 1) == 0 ? text + sizeof local - 1 : text;
    snprintf(whole, sizeof whole, "%s%s", port[0] == ':' ? "127.0.0.1" : "", port[0] == ':' ? port : text);
    int length = address_parse(whole, &address);
    if (length < 0) {
        wrong(l, key, "'%s': expected an address and a port, as 127.0.0.1:9464 or [::1]:9464", text);
        return;
    }
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    any_port(&address);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, (socklen_t)length) < 0 && errno == EADDRNOTAVAIL) {
        wrong(l, key, "%s: no interface here has that address", text);
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* ---- Services ---------------------------------------------------------------------------------------------------- */

static void on_said(void *context, const char *service, const char *text)
{
    struct looking *l = context;
    (void)service;
    snprintf(l->said, sizeof l->said, "%s", text);
}

/*
 * The option that a sentence is about ("option listen = "x": expected ..", "it has no option x"); `count`: none of
 * them.
 */
static unsigned blamed(const struct config_option *option, unsigned count, const char *said, const char *why)
{
    static const char unknown[] = "it has no option ", setting[] = "option ";
    const char *name = strstr(why, unknown);
    unsigned found = count;
    said += strncmp(said, setting, sizeof setting - 1) == 0 ? sizeof setting - 1 : 0;
    for (unsigned i = 0; i < count; i++) {
        size_t length = strlen(option[i].name);
        bool valued = strncmp(said, option[i].name, length) == 0 && strncmp(said + length, " = ", 3) == 0;
        const char *behind = name != NULL ? name + sizeof unknown - 1 : "";
        bool strange =
            strncmp(behind, option[i].name, length) == 0 && (behind[length] == '\0' || behind[length] == ';');
        found = valued || strange ? i : found;
    }
    return found;
}

/* A value that a service tells in double quotes, as "never": expected .., in those of all other keys. */
static void requote(char *text)
{
    char *end = text[0] == '"' ? strstr(text + 1, "\": expected") : NULL;
    if (end != NULL) {
        text[0] = *end = '\'';
    }
}

/* Tells of one mistake after the other: each is left out for the next try. */
static void try_service(struct looking *l, struct host *h, const struct config_service *s)
{
    struct config_option option[CONFIG_OPTIONS];
    unsigned count = s->options;
    memcpy(option, s->option, sizeof option);
    for (;;) {
        char why[HOST_WHY], key[CONFIG_KEY];
        l->said[0] = '\0';
        if (host_service_load_with(h, s->name, NULL, &s->policy, option, count, why) == 0) {
            return;
        }
        unsigned which = blamed(option, count, l->said, why);
        if (which == count) {
            wrong(l, config_service_key(s, NULL, key), "%s", l->said[0] != '\0' ? l->said : why);
            return;
        }
        (void)config_service_key(s, option[which].name, key);
        char *value = strchr(l->said, '=');
        const char *about = value == NULL ? strstr(why, ": it has no option ") : NULL;
        if (value != NULL) {
            requote(value + 2);
        }
        wrong(l, key, "%s", about != NULL ? about + 2 : value != NULL ? value + 2 : why);
        count--;
        memmove(&option[which], &option[which + 1], (count - which) * sizeof *option);
    }
}

static bool is_configured(const struct daemon_config *c, const char *name, unsigned before)
{
    for (unsigned i = 0; i < before; i++) {
        if (strcmp(c->service[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The built-in services with their options. */
static void try_services(struct looking *l, struct host *h)
{
    const struct daemon_config *c = l->config;
    size_t builtin_count;
    const cw_service *const *builtin = builtin_services(&builtin_count);
    char why[HOST_WHY];
    for (size_t i = 0; i < builtin_count; i++) {
        if (!is_configured(c, builtin[i]->name, c->service_count)) {
            (void)!host_service_load(h, builtin[i]->name, NULL, NULL, why);
        }
    }
    for (unsigned i = 0; i < c->service_count; i++) {
        const struct config_service *s = &c->service[i];
        bool known = builtin_service(s->name) != NULL || (s->network && s->job != 0);
        bool here = s->enabled && s->file[0] == '\0' && known;
        if (here && !is_configured(c, s->name, i)) {
            try_service(l, h, s);
        }
    }
}

/* What options may be depends on the size of the torus and of its frames; where it is unknown, any will do. */
static cw_dims dims_to_try(const struct daemon_config *c)
{
    struct torus torus;
    return c->dims.x != 0 && torus_init(&torus, c->dims) == 0 ? c->dims : (cw_dims){1, 1, 1};
}

/* On one server of the torus, without links. */
static void look_at_services(struct looking *l)
{
    struct daemon_config *alone = malloc(sizeof *alone);
    struct shim *none[CW_LINK_COUNT] = {NULL};
    struct host *h;
    char why[HOST_WHY];
    (void)!lint_services(l->config, keyed_mistake, l);
    if (alone == NULL) {
        return;
    }
    *alone = config_default();
    alone->place = CONFIG_STATIC;
    alone->dims = dims_to_try(l->config);
    alone->mtu = l->config->mtu;
    alone->cluster = l->config->cluster;
    alone->service_count = l->config->service_count; /* the networks of its own are found by their names */
    memcpy(alone->service, l->config->service, sizeof alone->service);
    struct host_options options = {.config = alone, .incarnation = 1, .said = on_said, .said_context = l, .shim = none};
    if (host_open(&h, &options, why) == 0) {
        try_services(l, h);
        host_close(h);
    } else {
        warn(l, "service", "not looked at: %s", why);
    }
    free(alone);
}

/* The address where clients of memcached are served is an option of kvcache. */
static void look_at_listeners(struct looking *l)
{
    const struct daemon_config *c = l->config;
    if (c->metrics_listen[0] != '\0') {
        look_at_listener(l, "metrics.listen", c->metrics_listen);
    }
    for (unsigned i = 0; i < c->service_count; i++) {
        const struct config_service *s = &c->service[i];
        for (unsigned j = 0; strcmp(s->name, "kvcache") == 0 && s->enabled && j < s->options; j++) {
            struct sockaddr_storage address; /* what is none is said by the service */
            if (strcmp(s->option[j].name, "listen") == 0 && address_parse(s->option[j].value, &address) >= 0) {
                look_at_listener(l, "service \"kvcache\".options.listen", s->option[j].value);
            }
        }
    }
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* What is wrong with a job file has its own file and line. */
static void job_mistake(void *context, const char *text)
{
    struct looking *l = context;
    const char *file = l->config->job_file;
    size_t length = strlen(file);
    if (strncmp(text, "operator_key: ", 14) == 0) {
        tell_keyed(l, true, text);
        return;
    }
    if (strncmp(text, file, length) == 0 && strncmp(text + length, ": ", 2) == 0) { /* it cannot be read at all */
        tell(l, true, "job_file", text);
        return;
    }
    l->p->mistakes++;
    l->p->mistake(l->p->context, text);
}

void preflight_jobs(const struct daemon_config *config, struct preflight *p)
{
    struct looking l = {.config = config, .p = p};
    (void)!job_host_check(config, job_mistake, &l);
}

void preflight(const struct daemon_config *config, struct preflight *p)
{
    struct looking l = {.config = config, .p = p};
    look_at_links(&l);
    preflight_start(config, p);
    look_at_state(&l);
    look_at_socket(&l);
    look_at_listeners(&l);
    preflight_jobs(config, p);
    look_at_services(&l);
}

static void note_options(const struct daemon_config *config, const struct offline *offline)
{
    for (unsigned i = 0; i < config->service_count; i++) {
        const struct config_service *s = &config->service[i];
        if (s->enabled && s->options > 0 && s->file[0] != '\0') {
            offline_note(offline, config->file, "options of service \"%s\" are checked when it starts, not now",
                         s->name);
        }
    }
}

int preflight_load(const char *file, struct daemon_config *out, const struct offline *offline)
{
    struct offline_sorter sorter = {.offline = offline, .file = file};
    int rc = config_load(file, out, offline_sort_mistake, &sorter);
    offline_sorted(&sorter);
    return rc;
}

int preflight_file(const char *file, struct daemon_config *out, const struct offline *offline,
                   int (*change)(const void *context, struct daemon_config *config), const void *context,
                   void (*further)(const struct daemon_config *config, struct preflight *p), unsigned *mistakes,
                   unsigned *warnings)
{
    struct offline_sorter sorter = {.offline = offline, .file = file};
    struct preflight p = {.mistake = offline_sort_mistake, .warning = offline_sort_warning, .context = &sorter};
    int read = config_load_most(file, out, offline_sort_mistake, &sorter);
    int code = read < 0 ? read : change(context, out);
    bool look = read >= 0 && code < 0;
    if (look) {
        preflight(out, &p);
    }
    if (look && further != NULL) {
        further(out, &p);
    }
    offline_sorted(&sorter);
    if (!look) {
        return code;
    }
    *mistakes = (unsigned)read + p.mistakes;
    *warnings = p.warnings;
    if (*mistakes == 0) {
        note_options(out, offline);
    }
    return 0;
}
