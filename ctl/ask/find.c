/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/find.h"

#include "base/check.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAMES_SHOWN = 6 };
static const char suffix[] = ".sock";

/* The keeper of a lab is not a daemon. */
static int is_socket_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return strcmp(entry->d_name, "keeper.sock") != 0 && length >= sizeof suffix &&
           strcmp(entry->d_name + length - (sizeof suffix - 1), suffix) == 0;
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static bool is_searched(const struct find_wish *wish, unsigned i)
{
    return wish->folder[i] != NULL && (i == 0 || wish->lab == NULL || wish->labs == NULL);
}

static void folder_of(const struct find_wish *wish, unsigned i, char *out, size_t room)
{
    if (wish->lab != NULL) {
        snprintf(out, room, wish->labs != NULL ? "%s/%s" : "%s/lab/%s",
                 wish->labs != NULL ? wish->labs : wish->folder[i], wish->lab);
    } else {
        snprintf(out, room, "%s", wish->folder[i]);
    }
}

unsigned find_each(const struct find_wish *wish, void (*visit)(void *context, const char *name), void *context)
{
    unsigned count = 0;
    for (unsigned i = 0; is_searched(wish, i); i++) {
        char folder[256];
        struct dirent **entry;
        folder_of(wish, i, folder, sizeof folder);
        int n = scandir(folder, &entry, is_socket_name, alphasort);
        for (int k = 0; k < n; k++) {
            entry[k]->d_name[strlen(entry[k]->d_name) - (sizeof suffix - 1)] = '\0';
            visit(context, entry[k]->d_name);
            free(entry[k]);
            count++;
        }
        if (n >= 0) {
            free(entry);
        }
    }
    return count;
}

/* Finds the socket of that name, in the first folder that has it. */
static bool take_named(const struct find_wish *wish, const char *name, struct find_result *out)
{
    for (unsigned i = 0; is_searched(wish, i); i++) {
        char folder[200];
        folder_of(wish, i, folder, sizeof folder);
        int n = snprintf(out->path, sizeof out->path, "%s/%s%s", folder, name, suffix);
        if (n > 0 && (size_t)n < sizeof out->path && exists(out->path)) {
            return true;
        }
    }
    return false;
}

struct names {
    char text[512];
    char only[200];
    unsigned count;
};

static void note_name(void *context, const char *name)
{
    struct names *names = context;
    size_t used = strlen(names->text);
    if (names->count++ == 0) {
        snprintf(names->only, sizeof names->only, "%s", name);
    }
    if (names->count <= NAMES_SHOWN) {
        snprintf(names->text + used, sizeof names->text - used, "%s%.60s", used > 0 ? " " : "", name);
    }
}

static int refuse_none(const struct find_wish *wish, const struct names *names, char why[static CLIENT_WHY])
{
    if (wish->node != NULL && names->count > 0) {
        snprintf(why, CLIENT_WHY, "no daemon called '%s' is here%s%s; there is %s%s", wish->node,
                 wish->lab != NULL ? ", in lab " : "", wish->lab != NULL ? wish->lab : "", names->text,
                 names->count > NAMES_SHOWN ? " .." : "");
    } else if (wish->lab != NULL) {
        snprintf(why, CLIENT_WHY, "no lab '%s' is up here; cwlab list shows those that are", wish->lab);
    } else if (wish->node != NULL && strcmp(wish->node, "all") != 0) {
        snprintf(why, CLIENT_WHY,
                 "no daemon called '%s' is here: there is no %s/%s.sock; cubewayd makes it when it starts", wish->node,
                 wish->folder[0], wish->node);
    } else {
        snprintf(
            why, CLIENT_WHY,
            "no daemon is here: there is no socket in %s; start it (systemctl start cubewayd), or name its socket with "
            "--socket PATH",
            wish->folder[0]);
    }
    return -ENOENT;
}

static int refuse_many(const struct find_wish *wish, const struct names *names, char why[static CLIENT_WHY])
{
    snprintf(why, CLIENT_WHY, "%u daemons are here%s%s (%s%s); say which one with --node NAME", names->count,
             wish->lab != NULL ? ", in lab " : "", wish->lab != NULL ? wish->lab : "", names->text,
             names->count > NAMES_SHOWN ? " .." : "");
    return -EEXIST;
}

int find_socket(const struct find_wish *wish, struct find_result *out, char why[static CLIENT_WHY])
{
    struct names names = {.count = 0};
    *out = (struct find_result){.server = NULL};
    const char *named = wish->socket;
    if (named == NULL && wish->node == NULL && wish->lab == NULL) {
        named = wish->environment;
    }
    if (named != NULL) {
        snprintf(out->path, sizeof out->path, "%s", named);
        return 0;
    }
    if (wish->node != NULL && take_named(wish, wish->node, out)) {
        return 0;
    }
    if (wish->lab != NULL && take_named(wish, "all", out)) {
        out->server = wish->node; /* the lab is one process */
        return 0;
    }
    find_each(wish, note_name, &names);
    if (names.count == 0 || wish->node != NULL) {
        return refuse_none(wish, &names, why);
    }
    if (names.count > 1) {
        return refuse_many(wish, &names, why);
    }
    return take_named(wish, names.only, out) ? 0 : refuse_none(wish, &names, why);
}

/* ---- Several daemons --------------------------------------------------------------------------------------------- */

/* "LABS/NAME/1,0,2.sock", where LABS/NAME/lab.json lies. */
static bool split_lab(const char *socket, char lab[static FIND_LAB], char labs[static FIND_PATH])
{
    char note[FIND_PATH + 16];
    const char *file = socket != NULL ? strrchr(socket, '/') : NULL;
    int length = file != NULL && file - socket < FIND_PATH ? (int)(file - socket) : 0;
    snprintf(labs, FIND_PATH, "%.*s", length, length > 0 ? socket : "");
    snprintf(note, sizeof note, "%s/lab.json", labs);
    char *name = strrchr(labs, '/');
    if (name == NULL || strlen(name + 1) >= FIND_LAB || !exists(note)) {
        return false;
    }
    *name = '\0';
    snprintf(lab, FIND_LAB, "%s", name + 1);
    return true;
}

void find_everywhere(struct find_wish *wish, char lab[static FIND_LAB], char labs[static FIND_PATH])
{
    bool here = wish->node == NULL && wish->lab == NULL && wish->socket == NULL;
    if (here && split_lab(wish->environment, lab, labs)) {
        wish->lab = lab;
        wish->labs = labs;
    }
    wish->node = wish->node != NULL ? wish->node : "all";
}

bool find_is_crowd(const struct find_wish *wish)
{
    struct find_result one;
    if (wish->socket != NULL || wish->node == NULL) {
        return false;
    }
    /* The daemon of a lab in one process is called "all". */
    return strchr(wish->node, ' ') != NULL || (strcmp(wish->node, "all") == 0 && !take_named(wish, "all", &one));
}

static void add_one(void *context, const char *name)
{
    struct find_crowd *crowd = context;
    crowd->one = realloc(crowd->one, (crowd->count + 1) * sizeof *crowd->one);
    CHECK(crowd->one != NULL);
    struct find_one *one = &crowd->one[crowd->count++];
    *one = (struct find_one){.at.server = NULL};
    snprintf(one->name, sizeof one->name, "%s", name);
}

/* Where a daemon of the lab would have its socket. */
static void take_absent(const struct find_wish *wish, struct find_one *one)
{
    char folder[160] = ""; /* a socket's path has 107 bytes at most */
    for (unsigned i = 0; is_searched(wish, i) && (i == 0 || !exists(folder)); i++) {
        folder_of(wish, i, folder, sizeof folder);
    }
    snprintf(one->at.path, sizeof one->at.path, "%s/%s%s", folder, one->name, suffix);
}

int find_crowd(const struct find_wish *wish, struct find_crowd *out, char why[static CLIENT_WHY])
{
    *out = (struct find_crowd){.count = 0};
    if (strcmp(wish->node, "all") == 0) {
        find_each(wish, add_one, out);
    } else {
        char word[64];
        int length;
        for (const char *at = wish->node; sscanf(at, " %63[^ ]%n", word, &length) == 1; at += length) {
            add_one(out, word);
        }
    }
    struct find_wish single = *wish;
    int rc = out->count > 0 ? 0 : find_socket(wish, &(struct find_result){.server = NULL}, why);
    for (size_t i = 0; i < out->count && rc == 0; i++) {
        single.node = out->one[i].name;
        if (find_socket(&single, &out->one[i].at, why) < 0) {
            rc = wish->lab != NULL ? 0 : -ENOENT;
            take_absent(wish, &out->one[i]);
        }
        out->one[i].at.server = out->one[i].at.server != NULL ? out->one[i].name : NULL;
    }
    if (rc < 0) {
        find_crowd_free(out);
    }
    return rc;
}

void find_crowd_free(struct find_crowd *crowd)
{
    free(crowd->one);
    *crowd = (struct find_crowd){.count = 0};
}
