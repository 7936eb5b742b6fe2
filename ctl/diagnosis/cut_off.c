/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/cut_off.h"

#include "ctl/diagnosis/finding.h"

#include <string.h>

enum { NAME = 32, TEXT = 240, NAMED_MOST = 16 };

/* Names of servers, as a sentence has them: each once, the first ones. */
struct some {
    char text[TEXT];
    unsigned count;
};

static void add(struct some *s, const char *name)
{
    size_t used = strlen(s->text);
    if (!finding_has_name(s->text, name) && s->count < NAMED_MOST && used + strlen(name) + 2 < TEXT) {
        snprintf(s->text + used, TEXT - used, "%s%s", used > 0 ? " " : "", name);
        s->count++;
    }
}

/* Puts those of the list into `alive` that have answered, and the others into `silent`. */
static void part(const char *list, const char *answered, struct some *alive, struct some *silent)
{
    for (size_t length; *list != '\0'; list += length, list += *list == ' ') {
        char name[NAME];
        length = strcspn(list, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        add(finding_has_name(answered, name) ? alive : silent, name);
    }
}

static bool is_cut_off(const struct message *m)
{
    return m != NULL && finding_is(m, "cause", "cut-off") && message_has(m, "silent");
}

static void tell_alive(struct message *m, const struct some *alive, const struct some *silent)
{
    finding_put(m, "text",
                "%s reaches no other server, and hears nothing from %s, though %s: it stood still a moment ago, or its "
                "cables are out%s%s",
                finding_text(m, "server"), alive->text, alive->count == 1 ? "that one has answered" : "these answered",
                silent->count > 0 ? "; not heard, either: " : "", silent->text);
    finding_put(m, "do", "on %s: cwctl links; here again in some seconds", finding_text(m, "server"));
}

static void tell_silent(struct message *m, const struct some *servers, const struct some *silent)
{
    finding_put(m, "text",
                "%s reach no other server: of their neighbours nobody is heard, and none has answered: %s; a server "
                "beside one of these has a neighbour again once it runs",
                servers->text, silent->text);
    message_text(m, "server", "");
    message_text(m, "start", silent->text);
    if (silent->count == 1) {
        finding_put(m, "do", "on %s: systemctl start cubewayd", silent->text);
    } else {
        finding_put(m, "do", "systemctl start cubewayd on these %u: %s", silent->count, silent->text);
    }
}

void diagnose_cut_off(struct rows *rows, const char *answered)
{
    struct some servers = {.count = 0}, silent = {.count = 0};
    size_t first = rows->count;
    for (size_t i = 0; answered != NULL && i < rows->count; i++) {
        struct some alive = {.count = 0}, missed = {.count = 0};
        struct message *m = rows->row[i];
        if (!is_cut_off(m)) {
            continue;
        }
        part(finding_text(m, "silent"), answered, &alive, &missed);
        if (alive.count > 0) {
            tell_alive(m, &alive, &missed);
            message_text(m, "silent", "");
            continue;
        }
        first = first < i ? first : i;
        add(&servers, finding_text(m, "server"));
        part(finding_text(m, "silent"), answered, &alive, &silent);
    }
    if (servers.count < 2) {
        return; /* it may be its own cables */
    }
    for (size_t i = first + 1; i < rows->count; i++) {
        if (is_cut_off(rows->row[i]) && finding_text(rows->row[i], "silent")[0] != '\0') {
            findings_drop(rows, i);
        }
    }
    tell_silent(rows->row[first], &servers, &silent);
}
