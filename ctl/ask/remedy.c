/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/remedy.h"

#include "ctl/ask/lab.h"

#include <string.h>

void remedy_place(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct message *m = rows->row[i];
        const char *where = message_get_text(m, "where", ""), *what = message_get_text(m, "do", "");
        char text[REMEDY_TEXT];
        if (where[0] != '\0') {
            snprintf(text, sizeof text, "on %s: %s", where, what);
            message_text(m, "do", text);
        }
    }
}

/* ---- In a lab ---------------------------------------------------------------------------------------------------- */

/* Commands of a machine, and the same of a lab. */
static const struct translation {
    const char *begins;    /* the command, or its first word and a space */
    const char *command;   /* of cwlab; the server follows */
    bool keeps;            /* all of the command follows the server */
    unsigned short passes; /* so much of the command is left out before it follows */
} translations[] = {
    {"systemctl start cubewayd", "restore", false, 0},
    {"systemctl status cubewayd", "logs", false, 0},
    {"journalctl -u cubewayd", "logs", false, 0},
    {"cwctl ", "ctl", true, sizeof "cwctl " - 1},
    {"ip ", "exec", true, 0},
    {"tc ", "exec", true, 0},
};
static const char restart[] = "systemctl restart cubewayd";
static const char then[] = ", then: ";

struct writing {
    const char *option, *server;
    char *out;
    size_t used;
};

static void put(struct writing *w, const char *text, size_t length)
{
    size_t room = REMEDY_TEXT - 1 - w->used, used = strnlen(text, length < room ? length : room);
    memcpy(w->out + w->used, text, used);
    w->used += used;
    w->out[w->used] = '\0';
}

static void put_cwlab(struct writing *w, const char *command)
{
    put(w, "cwlab ", REMEDY_TEXT);
    put(w, command, REMEDY_TEXT);
    put(w, " ", REMEDY_TEXT);
    put(w, w->option, REMEDY_TEXT);
    put(w, w->server, REMEDY_TEXT);
}

static const struct translation *translation_of(const char *command)
{
    for (size_t i = 0; i < sizeof translations / sizeof *translations; i++) {
        if (strncmp(command, translations[i].begins, strlen(translations[i].begins)) == 0) {
            return &translations[i];
        }
    }
    return NULL;
}

/* One of several commands with "; " or " && " between. */
static void put_command(struct writing *w, const char *command, size_t length)
{
    const struct translation *t = translation_of(command);
    if (strncmp(command, restart, strlen(restart)) == 0) {
        put_cwlab(w, "leave");
        put(w, " && ", REMEDY_TEXT);
        put_cwlab(w, "restore");
        put(w, command + strlen(restart), length - strlen(restart));
        return;
    }
    if (t == NULL) {
        put(w, command, length);
        return;
    }
    put_cwlab(w, t->command);
    put(w, t->keeps ? " " : "", REMEDY_TEXT);
    size_t from = t->keeps ? t->passes : strlen(t->begins);
    put(w, command + from, length - from);
}

/* The length of what stands between two commands there; 0: one goes on. */
static size_t separator(const char *at)
{
    return strncmp(at, "; ", 2) == 0 ? 2 : strncmp(at, " && ", 4) == 0 ? 4 : 0;
}

static void put_commands(struct writing *w, const char *at)
{
    while (*at != '\0') {
        size_t length = 0;
        while (at[length] != '\0' && separator(at + length) == 0) {
            length++;
        }
        put_command(w, at, length);
        put(w, at + length, separator(at + length));
        at += length + separator(at + length);
    }
}

/* "on 1,1,1: ..": gives what follows, and the server; NULL: the remedy does not begin so. */
static const char *commands_on(const char *remedy, char server[static 32])
{
    size_t length = strncmp(remedy, "on ", 3) == 0 ? strspn(remedy + 3, "0123456789,") : 0;
    if (length == 0 || length >= 32 || strncmp(remedy + 3 + length, ": ", 2) != 0) {
        return NULL;
    }
    snprintf(server, 32, "%.*s", (int)length, remedy + 3);
    return remedy + 3 + length + 2;
}

char *remedy_in_lab(const char *remedy, const char *option, char out[static REMEDY_TEXT])
{
    char server[32];
    struct writing w = {option, server, out, 0};
    const char *commands = commands_on(remedy, server);
    bool known =
        commands != NULL && (translation_of(commands) != NULL || strncmp(commands, restart, strlen(restart)) == 0);
    const char *last = strstr(remedy, then);
    out[0] = '\0';
    if (known) {
        put_commands(&w, commands);
    } else if (commands != NULL && last != NULL) { /* what hands do, and a look at whether it has helped */
        size_t hands = (size_t)(last - remedy) + sizeof then - 1;
        put(&w, remedy, hands);
        put_commands(&w, remedy + hands);
    } else {
        put(&w, remedy, REMEDY_TEXT);
    }
    return out;
}

char *remedy_in_sentence(const struct client *daemon, const char *server, const char *sentence,
                         char out[static REMEDY_TEXT])
{
    const char *option = client_lab(daemon);
    bool whole = option != NULL && strcmp(client_daemon(daemon), lab_of_one_process) == 0;
    return remedy_for(option, whole ? server : client_daemon(daemon), sentence, out);
}

/* A service that is switched off: nobody writes the configuration of a lab's daemons, cwlab up does. */
static bool put_service(struct writing *w, const char *sentence)
{
    static const char section[] = "give the daemon's configuration a section service ";
    const char *found = strstr(sentence, section);
    char name[32];
    if (found == NULL || sscanf(found + sizeof section - 1, "%31s", name) != 1) {
        return false;
    }
    put(w, sentence, (size_t)(found - sentence));
    put(w, "begin the lab with ", strlen("begin the lab with "));
    if (strcmp(name, "ip") == 0) {
        put(w, "cwlab up --tunnel", strlen("cwlab up --tunnel"));
    } else {
        put(w, "cwlab up --service ", strlen("cwlab up --service "));
        put(w, name, sizeof name);
    }
    return true;
}

/* Does a command begin there, and not a word about cwctl? */
static bool is_command(const char *sentence, const char *at)
{
    static const char *const before[] = {": ", "; ", "(", "\"", "`", " and "};
    bool found = at == sentence;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        size_t length = strlen(before[i]);
        found |= (size_t)(at - sentence) >= length && strncmp(at - length, before[i], length) == 0;
    }
    return found;
}

char *remedy_for(const char *option, const char *server, const char *sentence, char out[static REMEDY_TEXT])
{
    static const char word[] = "cwctl ";
    const char *at = sentence, *found;
    struct writing w = {option, server, out, 0};
    out[0] = '\0';
    if (option != NULL && put_service(&w, sentence)) {
        return out;
    }
    while (option != NULL && w.server != NULL && (found = strstr(at, word)) != NULL) {
        bool command = is_command(sentence, found);
        put(&w, at, (size_t)(found - at));
        if (command) {
            put_cwlab(&w, "ctl");
            put(&w, " ", REMEDY_TEXT);
        } else {
            put(&w, word, REMEDY_TEXT);
        }
        at = found + sizeof word - 1;
    }
    put(&w, at, REMEDY_TEXT);
    return out;
}

/* A command for each of the names, which end with the list or at a word that is none ("and 3 more"). */
static void put_restores(const char *names, const char *option, bool one_process, char out[static REMEDY_TEXT])
{
    struct writing w = {option, NULL, out, 0};
    const char *between = "";
    char server[32];
    out[0] = '\0';
    for (size_t length; (length = strspn(names, "0123456789,")) > 0 && w.used < REMEDY_TEXT / 2;
         names += length, names += *names == ' ', between = " && ") {
        snprintf(server, sizeof server, "%.*s", (int)length, names);
        w.server = server;
        put(&w, between, strlen(between));
        put_cwlab(&w, one_process ? "ctl" : "restore");
        put(&w, " restore", one_process ? strlen(" restore") : 0);
    }
    put(&w, " && ..", names[0] != '\0' ? strlen(" && ..") : 0);
}

/* What was done to a lab by a command of cwlab is undone by another one. */
static bool undo(struct message *m, const char *option, bool one_process)
{
    const char *cause = message_get_text(m, "cause", "");
    char text[REMEDY_TEXT];
    bool slow = strcmp(cause, "stalled") == 0 || strcmp(cause, "waited") == 0 || strcmp(cause, "machine") == 0;
    if (slow && message_get_text(m, "service", NULL) == NULL) { /* all servers share one machine */
        const char *space = option[0] == '\0' ? "" : " ";
        int length = option[0] == '\0' ? 0 : (int)strlen(option) - 1;
        snprintf(text, sizeof text,
                 "cwlab status%s%.*s: is this machine busy? Then fewer servers, or longer timers: cwlab %s%s%.*s",
                 space, length, option, one_process ? "up --scale N" : "rescale", one_process ? "" : space,
                 one_process ? 0 : length, option);
    } else if (strcmp(cause, "interface-down") == 0) {
        snprintf(text, sizeof text, "cwlab link %s%s %s up", option, message_get_text(m, "server", ""),
                 message_get_text(m, "link", ""));
    } else if ((strcmp(cause, "no-majority") == 0 || strcmp(cause, "cut-off") == 0) &&
               message_get_text(m, "start", NULL) != NULL) {
        put_restores(message_get_text(m, "start", ""), option, one_process, text);
    } else if (strcmp(cause, "no-carrier") == 0 && one_process) {
        snprintf(text, sizeof text, "cwlab ctl %s%s mend %s", option, message_get_text(m, "server", ""),
                 message_get_text(m, "link", ""));
    } else if (strcmp(cause, "server-down") == 0 && one_process) {
        snprintf(text, sizeof text, "cwlab ctl %s%s restore", option, message_get_text(m, "expected", ""));
    } else if (strcmp(cause, "server-down") == 0) {
        const char *server = message_get_text(m, "expected", "");
        snprintf(text, sizeof text, "cwlab logs %s%s; cwlab restore %s%s", option, server, option, server);
    } else {
        return false;
    }
    message_text(m, "do", text);
    return true;
}

/* It begins with a command that may be typed anywhere. */
static bool is_anywhere(const char *remedy)
{
    return strncmp(remedy, "cwctl ", 6) == 0 && strncmp(remedy, "cwctl doctor on ", 16) != 0;
}

void remedies_in_lab(struct rows *rows, const char *option, const char *daemon)
{
    bool one_process = strcmp(daemon, lab_of_one_process) == 0;
    for (size_t i = 0; i < rows->count && option != NULL; i++) {
        char text[REMEDY_TEXT];
        const char *remedy = message_get_text(rows->row[i], "do", "");
        if (!undo(rows->row[i], option, one_process)) {
            message_text(rows->row[i], "do",
                         is_anywhere(remedy) ? remedy_for(option, daemon, remedy, text)
                                             : remedy_in_lab(remedy, option, text));
        }
    }
}
