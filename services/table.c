/* SPDX-License-Identifier: Apache-2.0 */
#include "services/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { STATE_BYTES_MAX = 1 << 30 };

__attribute__((format(printf, 3, 4))) static int wrong(int rc, char why[static TABLE_WHY_BYTES], const char *format,
                                                       ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, TABLE_WHY_BYTES, format, args);
    va_end(args);
    return rc;
}

static bool sound_name(const char *name)
{
    size_t length = strnlen(name, TABLE_NAME_MAX + 1);
    if (length < 1 || length > TABLE_NAME_MAX) {
        return false;
    }
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == length;
}

/* True when the part of the table beyond ours is zero: members of a later API, none of them in use. */
static bool tail_is_zero(const cw_service *table)
{
    const unsigned char *bytes = (const unsigned char *)table;
    for (size_t i = sizeof *table; i < table->size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

int table_check(const cw_service *table, enum table_origin origin, char why[static TABLE_WHY_BYTES])
{
    why[0] = '\0';
    if (table == NULL) {
        return wrong(-EINVAL, why, "there is no table: its entry gave NULL");
    }
    if (table->size < sizeof table->size + sizeof table->api) {
        return wrong(-EINVAL, why, "the table says it is %zu bytes long: begin it with CW_SERVICE_INIT", table->size);
    }
    if (table->api == 1) {
        return wrong(
            -EPROTO, why,
            "it is made for version 1 of the service API, and this is version %d: compile it with this server's "
            "service.h (next_packet and cw_poll_links() take a place, on_path is CW_PATH_ALL where it was true)",
            CW_API_VERSION);
    }
    if (table->api != CW_API_VERSION) {
        return wrong(-EPROTO, why, "it is made for version %u of the service API, and this is version %d", table->api,
                     CW_API_VERSION);
    }
    if (table->size < sizeof *table || table->size > 2 * sizeof *table || !tail_is_zero(table)) {
        return wrong(-EPROTO, why, "its table is %zu bytes long and ours %zu: compile it with this server's service.h",
                     table->size, sizeof *table);
    }
    if (table->name == NULL || !sound_name(table->name)) {
        return wrong(-EINVAL, why, "its name is not 1 to %d letters, digits and dashes", TABLE_NAME_MAX);
    }
    if (table->version == NULL) {
        return wrong(-EINVAL, why, "%s says no version", table->name);
    }
    if (table->job == 0) {
        return wrong(-EINVAL, why, "%s has job 0, which is none", table->name);
    }
    if (origin != TABLE_BUILTIN && table->job < TABLE_BUILTIN_JOBS) {
        return wrong(-EINVAL, why, "%s has job %u, which is for built-in services: %s takes %d or above", table->name,
                     table->job, origin == TABLE_LOADED ? "a loaded one" : "an instance of another",
                     TABLE_BUILTIN_JOBS);
    }
    if (origin == TABLE_BUILTIN && table->job >= TABLE_BUILTIN_JOBS) {
        return wrong(-EINVAL, why, "%s has job %u, and built-in services stay below %d", table->name, table->job,
                     TABLE_BUILTIN_JOBS);
    }
    if (table->on_packet == NULL) {
        return wrong(
            -EINVAL, why,
            "%s has no on_packet, which every service needs: where no packet is expected, one that returns CW_DROP",
            table->name);
    }
    if (table->on_path > CW_PATH_TRACED) {
        return wrong(-EINVAL, why, "%s has on_path %u: it is CW_PATH_NONE, CW_PATH_ALL or CW_PATH_TRACED", table->name,
                     table->on_path);
    }
    if (table->mark_after.ns < 0) {
        return wrong(-EINVAL, why, "%s has a mark_after below 0", table->name);
    }
    if (table->peek_packet != NULL && table->next_packet == NULL) {
        return wrong(-EINVAL, why, "%s has peek_packet and no next_packet", table->name);
    }
    if (table->state_size > STATE_BYTES_MAX) {
        return wrong(-EINVAL, why, "%s asks for %zu bytes of state, above %d", table->name, table->state_size,
                     STATE_BYTES_MAX);
    }
    return 0;
}

int table_instance(const cw_service *table, cw_job job, const char *name, unsigned open, cw_service *out,
                   char why[static TABLE_WHY_BYTES])
{
    if (open >= TABLE_INSTANCES) {
        return wrong(-ENOSPC, why, "%d networks are open, and there can be no more", TABLE_INSTANCES);
    }
    *out = *table;
    out->size = sizeof *out;
    out->job = job;
    out->name = name;
    return table_check(out, TABLE_INSTANCE, why);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

const cw_command *table_commands(const cw_service *table)
{
    return table->commands;
}

/* How many of the words the command's own are; 0: they do not begin with it. */
static int words_of(const char *command, int argc, const char *const *argv)
{
    int used = 0;
    while (*command != '\0') {
        size_t length = strcspn(command, " ");
        if (used == argc || strlen(argv[used]) != length || memcmp(argv[used], command, length) != 0) {
            return 0;
        }
        command += length + (command[length] == ' ');
        used++;
    }
    return used;
}

const cw_command *table_command(const cw_command *commands, int argc, const char *const *argv, int *used)
{
    const cw_command *best = NULL;
    *used = 0;
    for (; commands->words != NULL; commands++) {
        int words = words_of(commands->words, argc, argv);
        if (words > *used) {
            best = commands;
            *used = words;
        }
    }
    return best;
}

int table_least(const cw_command *command)
{
    int least = 0, depth = 0;
    const char *at = command->arguments != NULL ? command->arguments : "";
    while (*at != '\0') {
        bool outside = depth == 0 && *at != '[';
        for (; *at != '\0' && *at != ' '; at++) {
            depth += (*at == '[') - (*at == ']');
        }
        least += outside;
        at += strspn(at, " ");
    }
    return least;
}

/* A part of a declaration between spaces: "SERVER", "on|off", "[count=N]", "via", "SERVER..]". */
struct part {
    const char *at;
    size_t length;
};

static bool next_part(const char **declaration, struct part *out)
{
    *declaration += strspn(*declaration, " ");
    *out = (struct part){*declaration, strcspn(*declaration, " ")};
    *declaration += out->length;
    return out->length > 0;
}

/* Does it stand for any number of words, as "SERVER.." and "TEXT..]" do, and "0..8" does not? */
static bool is_endless(const struct part *p)
{
    for (size_t i = 0; i + 1 < p->length; i++) {
        if (p->at[i] == '.' && p->at[i + 1] == '.' &&
            (i + 2 == p->length || p->at[i + 2] < '0' || p->at[i + 2] > '9')) {
            return true;
        }
    }
    return false;
}

/* Small letters, digits and '-' alone, with '|' between words: nothing of it is to be filled in. */
static bool is_choice(const struct part *p)
{
    for (size_t i = 0; i < p->length; i++) {
        if (strchr("abcdefghijklmnopqrstuvwxyz0123456789-|", p->at[i]) == NULL) {
            return false;
        }
    }
    return p->length > 0 && p->at[0] != '|';
}

static bool is_chosen(const struct part *p, const char *word)
{
    for (size_t i = 0, length; i < p->length; i += length + 1) {
        const char *end = memchr(p->at + i, '|', p->length - i);
        length = end != NULL ? (size_t)(end - p->at) - i : p->length - i;
        if (strlen(word) == length && memcmp(word, p->at + i, length) == 0) {
            return true;
        }
    }
    return false;
}

int table_misfit(const cw_command *command, int argc, const char *const *argv, char expected[static TABLE_EXPECTED])
{
    const char *rest = command->arguments != NULL ? command->arguments : "";
    struct part p;
    int most = 0;
    bool placed = true; /* each part so far stood for one word, which had to be there */
    expected[0] = '\0';
    while (next_part(&rest, &p)) {
        bool last = rest[strspn(rest, " ")] == '\0', optional = p.at[0] == '[';
        if (optional && p.at[p.length - 1] == ']') {
            p = (struct part){p.at + 1, p.length - 2};
        }
        if (is_endless(&p)) {
            return -1;
        }
        most += p.length != 1 || p.at[0] != '|';
        placed = placed && memchr(p.at, '=', p.length) == NULL && (!optional || last);
        if (placed && most <= argc && is_choice(&p) && !is_chosen(&p, argv[most - 1])) {
            snprintf(expected, TABLE_EXPECTED, "%.*s", (int)(p.length < 60 ? p.length : 60), p.at);
            return most - 1;
        }
        placed = placed && !optional;
    }
    return argc > most ? most : -1;
}
