/* SPDX-License-Identifier: Apache-2.0 */
#include "services/table.h"

#include "base/nearest.h"

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

static struct part without_dots(const struct part *p)
{
    bool dots = p->length > 2 && p->at[p->length - 1] == '.' && p->at[p->length - 2] == '.';
    return (struct part){p->at, dots ? p->length - 2 : p->length};
}

/* "SERVER", "all|SERVER": a server or one of the words beside it. */
static bool is_server(const struct part *p)
{
    bool found = false;
    for (size_t i = 0, length; i < p->length; i += length + 1) {
        const char *end = memchr(p->at + i, '|', p->length - i);
        length = end != NULL ? (size_t)(end - p->at) - i : p->length - i;
        const struct part one = {p->at + i, length};
        bool server = length == 6 && memcmp(one.at, "SERVER", 6) == 0;
        if (!server && !is_choice(&one)) {
            return false;
        }
        found = found || server;
    }
    return found;
}

static bool is_in(const struct torus *torus, const char *word)
{
    cw_coord c;
    return torus_parse(torus, word, strlen(word), &c) == 0;
}

/* Does the word fit a part that is_choice() or is_server()? Otherwise *expected says what would. */
static bool fits(const struct part *p, const struct torus *torus, const char *word,
                 char expected[static TABLE_EXPECTED])
{
    bool server = is_server(p);
    if (is_chosen(p, word) || (server && is_in(torus, word))) {
        return true;
    }
    cw_dims d = torus_dims(torus);
    if (server && p->length == 6) {
        snprintf(expected, TABLE_EXPECTED, "a server of this torus (%ux%ux%u), as 0,0,0", d.x, d.y, d.z);
    } else {
        snprintf(expected, TABLE_EXPECTED, "%.*s", (int)(p->length < 60 ? p->length : 60), p->at);
    }
    return false;
}

/* The part stands for all words from `at` on. The first that does not fit; -1: there is none. */
static int misfit_of_endless(const struct part *p, const struct torus *torus, int at, int argc, const char *const *argv,
                             char expected[static TABLE_EXPECTED])
{
    const struct part each = without_dots(p);
    for (; is_server(&each) && at < argc; at++) {
        if (!fits(&each, torus, argv[at], expected)) {
            return at;
        }
    }
    return -1;
}

int table_misfit(const cw_command *command, const struct torus *torus, int argc, const char *const *argv,
                 char expected[static TABLE_EXPECTED])
{
    const char *rest = command->arguments != NULL ? command->arguments : "";
    struct part p;
    int most = 0;
    bool placed = true; /* each part so far stood for one word, which had to be there */
    expected[0] = '\0';
    while (next_part(&rest, &p)) {
        const char *next = rest + strspn(rest, " ");
        bool last = *next == '\0', optional = p.at[0] == '[';
        bool other = next[0] == '|' && (next[1] == ' ' || next[1] == '\0'); /* something else may stand here */
        if (optional && p.at[p.length - 1] == ']') {
            p = (struct part){p.at + 1, p.length - 2};
        }
        if (is_endless(&p)) {
            return placed && last ? misfit_of_endless(&p, torus, most, argc, argv, expected) : -1;
        }
        most += p.length != 1 || p.at[0] != '|';
        placed = placed && !other && memchr(p.at, '=', p.length) == NULL && (!optional || last);
        bool known = is_choice(&p) || is_server(&p);
        if (placed && most <= argc && known && !fits(&p, torus, argv[most - 1], expected)) {
            return most - 1;
        }
        placed = placed && !optional;
    }
    return argc > most ? most : -1;
}

static const char *nth_command(const void *context, size_t i)
{
    return ((const cw_command *)context)[i].words;
}

/* "there is no command 'wlak'; did you mean walk?", or all that there are. */
static int refuse_word(const cw_service *table, const char *word, char why[static TABLE_REFUSAL])
{
    const cw_command *commands = table->commands;
    char all[TABLE_REFUSAL / 2] = "";
    size_t count = 0, used = 0;
    for (; commands[count].words != NULL; count++) {
        int n = snprintf(all + used, sizeof all - used, "%s%s", count > 0 ? ", " : "", commands[count].words);
        used += n > 0 && used + (size_t)n < sizeof all ? (size_t)n : 0;
    }
    const char *near = nearest_name(word, strlen(word), nth_command, commands, count);
    snprintf(why, TABLE_REFUSAL, "service %s has no command '%.40s'; %s%s%s", table->name, word,
             near != NULL ? "did you mean " : "there are ", near != NULL ? near : all, near != NULL ? "?" : "");
    return -EINVAL;
}

int table_accepts(const cw_service *table, const struct torus *torus, int argc, const char *const *argv,
                  char why[static TABLE_REFUSAL])
{
    char expected[TABLE_EXPECTED];
    int used;
    why[0] = '\0';
    if (table->commands == NULL) {
        return 0; /* the service says it itself */
    }
    const cw_command *c = table_command(table->commands, argc, argv, &used);
    if (c == NULL) {
        return refuse_word(table, argc > 0 ? argv[0] : "", why);
    }
    const char *arguments = c->arguments != NULL ? c->arguments : "";
    if (argc - used < table_least(c)) {
        snprintf(why, TABLE_REFUSAL, "usage: %s %s %s", table->name, c->words, arguments);
        return -EINVAL;
    }
    int odd = table_misfit(c, torus, argc - used, argv + used, expected);
    if (odd < 0) {
        return 0;
    }
    snprintf(why, TABLE_REFUSAL, "'%.40s' is %s%s; usage: %s %s%s%s", argv[used + odd],
             expected[0] != '\0' ? "not " : "a word too many", expected, table->name, c->words,
             arguments[0] != '\0' ? " " : "", arguments);
    return -EINVAL;
}
