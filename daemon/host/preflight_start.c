/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/preflight_start.h"

#include "base/nearest.h"
#include "daemon/files/state.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT = 1024, NAMES = 512 };

struct starting {
    const struct daemon_config *config;
    struct preflight *p;
};

__attribute__((format(printf, 4, 5))) static void say(const struct starting *s, bool mistake, const char *key,
                                                      const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    preflight_tell(s->config, s->p, mistake, key, text);
}

/* ---- Users ------------------------------------------------------------------------------------------------------- */

/* Names of this machine's users or groups. */
struct names {
    char name[NAMES][CONFIG_NAME];
    size_t count;
};

static const char *name_nth(const void *context, size_t i)
{
    return ((const struct names *)context)->name[i];
}

static void add_name(struct names *names, const char *name)
{
    if (names->count < NAMES && strlen(name) < CONFIG_NAME) {
        snprintf(names->name[names->count++], CONFIG_NAME, "%s", name);
    }
}

static void list_users(struct names *names)
{
    setpwent();
    for (const struct passwd *user; (user = getpwent()) != NULL;) {
        add_name(names, user->pw_name);
    }
    endpwent();
}

static void list_groups(struct names *names)
{
    setgrent();
    for (const struct group *group; (group = getgrent()) != NULL;) {
        add_name(names, group->gr_name);
    }
    endgrent();
}

/* Who mistypes a name does not want a user of that name to be made. */
static void tell_nobody(const struct starting *s, const char *key, const char *what, const char *name,
                        const char *command, const struct names *names)
{
    const char *near = nearest_name(name, strlen(name), name_nth, names, names->count);
    if (near != NULL) {
        say(s, true, key, "there is no %s %s; did you mean %s?", what, name, near);
    } else {
        say(s, true, key, "there is no %s %s; make it (%s --system %s), or take the key out", what, name, command,
            name);
    }
}

static void look_at_people(const struct starting *s)
{
    const char *user = s->config->user, *group = s->config->control_group;
    struct names names = {.count = 0};
    if (user[0] != '\0' && getpwnam(user) == NULL) {
        list_users(&names);
        tell_nobody(s, "user", "user", user, "useradd", &names);
    }
    names.count = 0;
    if (group[0] != '\0' && s->config->control_socket[0] != '\0' && getgrnam(group) == NULL) {
        list_groups(&names);
        tell_nobody(s, "control.group", "group", group, "groupadd", &names);
    }
}

/* ---- Rights ------------------------------------------------------------------------------------------------------ */

static bool has_ports(const struct daemon_config *config)
{
    for (cw_link link = 0; config->place != CONFIG_WHOLE && link < CW_LINK_COUNT; link++) {
        if (config->link[link].interface[0] != '\0') {
            return true;
        }
    }
    return false;
}

/* The file may be right, and whoever asks now be nobody who could start a daemon with it. */
static void look_at_rights(const struct starting *s)
{
    if (!has_ports(s->config)) {
        return;
    }
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        close(fd);
    } else if (errno == EPERM || errno == EACCES) {
        say(s, false, "links",
            "whoever asks now may not open packet sockets (CAP_NET_RAW): start the daemon as root, or by systemctl");
    }
}

/* ---- The disk ---------------------------------------------------------------------------------------------------- */

static void look_at_kept(const struct starting *s)
{
    char why[STATE_WHY];
    if (s->config->place != CONFIG_WHOLE && state_look(s->config->state_dir, s->config->name, why) == -EBADMSG) {
        say(s, true, "state_dir", "%s", why);
    }
}

/* Only the last part of a folder's name is made. */
static void look_at_folder(const struct starting *s, const char *path)
{
    char around[CONFIG_OPTION_VALUE], *slash;
    struct stat st;
    snprintf(around, sizeof around, "%s", path);
    while ((slash = strrchr(around, '/')) != NULL && slash[1] == '\0' && slash != around) {
        *slash = '\0';
    }
    bool there = stat(around, &st) == 0;
    if (there && !S_ISDIR(st.st_mode)) {
        say(s, false, "service \"multicast\".options.folder", "%s: is no folder: no files will be taken", path);
        return;
    }
    if (there || slash == NULL) {
        return;
    }
    slash[slash == around] = '\0';
    if (stat(around, &st) < 0) {
        say(s, false, "service \"multicast\".options.folder",
            "%s cannot be made, for there is no folder %s: no files will be taken (mkdir -p %s)", path, around, path);
    }
}

static void look_at_folders(const struct starting *s)
{
    for (unsigned i = 0; i < s->config->service_count; i++) {
        const struct config_service *service = &s->config->service[i];
        const char *folder = config_service_option(service, "folder");
        if (strcmp(service->name, "multicast") == 0 && service->enabled && folder != NULL && folder[0] == '/') {
            look_at_folder(s, folder);
        }
    }
}

void preflight_start(const struct daemon_config *config, struct preflight *p)
{
    const struct starting s = {config, p};
    look_at_people(&s);
    look_at_rights(&s);
    look_at_kept(&s);
    look_at_folders(&s);
}
