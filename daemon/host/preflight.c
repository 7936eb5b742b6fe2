/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/preflight.h"

#include "daemon/files/job_host.h"
#include "daemon/host/preflight_links.h"
#include "daemon/host/preflight_services.h"
#include "daemon/host/preflight_start.h"
#include "shim/address.h"

#include <errno.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { KEY = 160, SENTENCE = 2048 };
struct looking {
    const struct daemon_config *config;
    struct preflight *p;
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

void preflight_wrong(const struct daemon_config *config, struct preflight *p, const char *key, const char *format, ...)
{
    char text[SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    preflight_tell(config, p, true, key, text);
}

void preflight_warn(const struct daemon_config *config, struct preflight *p, const char *key, const char *format, ...)
{
    char text[SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    preflight_tell(config, p, false, key, text);
}

void preflight_keyed(const struct daemon_config *config, struct preflight *p, bool mistake, const char *text)
{
    char key[KEY];
    const char *colon = strstr(text, ": ");
    if (colon == NULL || (size_t)(colon - text) >= sizeof key) {
        preflight_tell(config, p, mistake, "", text);
        return;
    }
    snprintf(key, sizeof key, "%.*s", (int)(colon - text), text);
    preflight_tell(config, p, mistake, key, colon + 2);
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
        preflight_warn(l->config, l->p, key, "%s: there is no such folder; the start makes it, and leaves it there",
                       folder);
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
        preflight_wrong(l->config, l->p, key, "%s: %s", folder, strerror(errno));
    } else if (!S_ISDIR(st.st_mode)) {
        preflight_wrong(l->config, l->p, key, "%s: is no folder", folder);
    } else if (access(folder, W_OK | X_OK) < 0 && geteuid() == 0) {
        preflight_wrong(l->config, l->p, key, "%s: cannot be written to: %s", folder, strerror(errno));
    } else if (access(folder, W_OK | X_OK) < 0) {
        preflight_warn(
            l->config, l->p, key,
            "%s: cannot be written to by whoever asks now (%s): start the daemon as root, or as a user who may", folder,
            strerror(errno));
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
        preflight_warn(
            l->config, l->p, "state_dir",
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
        preflight_wrong(l->config, l->p, "control.socket", "'%s': a socket's path has at most %zu bytes", path, most);
        return;
    }
    if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
        preflight_wrong(l->config, l->p, "control.socket",
                        "%s: is there and is no socket; remove it, or choose another path", path);
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
        preflight_wrong(l->config, l->p, key, "'%s': expected an address and a port, as 127.0.0.1:9464 or [::1]:9464",
                        text);
        return;
    }
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    any_port(&address);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, (socklen_t)length) < 0 && errno == EADDRNOTAVAIL) {
        preflight_wrong(l->config, l->p, key, "%s: no interface here has that address", text);
    }
    if (fd >= 0) {
        close(fd);
    }
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
        preflight_keyed(l->config, l->p, true, text);
        return;
    }
    if (strncmp(text, file, length) == 0 && strncmp(text + length, ": ", 2) == 0) { /* it cannot be read at all */
        preflight_tell(l->config, l->p, true, "job_file", text);
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
    preflight_links(config, p);
    preflight_start(config, p);
    look_at_state(&l);
    look_at_socket(&l);
    look_at_listeners(&l);
    preflight_jobs(config, p);
    preflight_services(config, p);
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

bool preflight_can_load(const char *file, struct daemon_config *out)
{
    FILE *nowhere = fopen("/dev/null", "we");
    struct offline quiet = {false, nowhere, nowhere};
    bool can = nowhere == NULL || preflight_load(file, out, &quiet) == 0; /* then it is told when it is loaded */
    if (nowhere != NULL) {
        fclose(nowhere);
    }
    return can;
}
