/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/near.h"

#include "ctl/ask/remedy.h"
#include "ctl/diagnosis/finding.h"

#include <string.h>

enum { NOTE = 4 };

static bool is_doubtful(const struct message *m)
{
    static const char *const causes[] = {"deaf", "damped", "no-carrier", "carrier-lost", "flapping", "half", NULL};
    return finding_is_any(m, "cause", causes);
}

bool diagnose_near_doubts(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (is_doubtful(rows->row[i])) {
            return true;
        }
    }
    return false;
}

/* Is that port among the names, which have spaces between them? */
static bool lists(const char *names, const char *port)
{
    const char *at = port[0] != '\0' ? strstr(names, port) : NULL;
    return at != NULL; /* "+x" is in no other name of a link */
}

/* What the server at the far end says of its own port there. */
static const struct message *far_end(const struct rows *all, const struct message *f)
{
    static const char *const causes[] = {"interface-down", "interface-missing", "unconfigured", "mtu", "refused", NULL};
    for (size_t i = 0; i < all->count; i++) {
        const struct message *m = all->row[i];
        bool end = finding_same(m, "server", f, "expected") && finding_same(m, "link", f, "expected_port");
        bool own = end && finding_is_any(m, "cause", causes) && !message_has(m, "seen");
        bool switched = strcmp(finding_text(m, "cause"), "switched-off") == 0 &&
                        finding_same(m, "server", f, "expected") &&
                        lists(finding_text(m, "links_off"), finding_text(f, "expected_port"));
        if (own || (switched && strcmp(finding_text(f, "cause"), "deaf") != 0)) {
            return m;
        }
    }
    return NULL;
}

/* An end that rests after several falls sends hellos and answers none: from here that looks like half a cable. */
static bool far_end_rests(const struct rows *all, const struct message *f)
{
    for (size_t i = 0; i < all->count; i++) {
        if (finding_is(all->row[i], "part", "rests") &&
            finding_same_end(all->row[i], "server", "link", f, "expected", "expected_port")) {
            return true;
        }
    }
    return false;
}

void diagnose_rests(struct rows *rows, const struct rows *all)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct message *f = rows->row[i];
        if (finding_is(f, "cause", "half") && far_end_rests(all, f)) {
            message_text(f, "cause", "coming-up");
            message_integer(f, "severity", NOTE);
            finding_put(f, "text",
                        "the link %s to %s is coming up: %s of %s rests (damped) after it went down several "
                        "times",
                        finding_text(f, "link"), finding_text(f, "expected"), finding_text(f, "expected_port"),
                        finding_text(f, "expected"));
            finding_put(f, "do", "cwctl links %s", finding_text(f, "link"));
            message_text(f, "where", finding_text(f, "server"));
        }
    }
}

static void replace(struct message *f, const struct message *m)
{
    static const char *const fields[] = {"server", "cause", "link", "text", "do", "where", "expected", "expected_port"};
    char text[REMEDY_TEXT];
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        snprintf(text, sizeof text, "%s", finding_text(m, fields[i]));
        message_text(f, fields[i], text);
    }
    message_integer(f, "severity", message_get_integer(m, "severity", NOTE));
    if (finding_text(m, "where")[0] != '\0' &&
        strncmp(finding_text(m, "do"), "on ", 3) != 0) { /* it is to be typed over there */
        snprintf(text, sizeof text, "on %s: %s", finding_text(m, "where"), finding_text(m, "do"));
        message_text(f, "do", text);
        message_text(f, "where", "");
    }
}

static bool is_told(const struct rows *rows, const struct message *m)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (finding_same(rows->row[i], "server", m, "server") && finding_same(rows->row[i], "text", m, "text")) {
            return true;
        }
    }
    return false;
}

void diagnose_near(struct rows *rows, const struct rows *all)
{
    size_t kept = 0;
    diagnose_rests(rows, all);
    for (size_t i = 0; i < rows->count; i++) {
        struct message *f = rows->row[i];
        const struct message *m = is_doubtful(f) ? far_end(all, f) : NULL;
        struct rows before = {rows->row, kept, kept};
        if (m != NULL && is_told(&before, m)) {
            message_close(f);
            continue;
        }
        if (m != NULL) {
            replace(f, m);
        }
        rows->row[kept++] = f;
    }
    rows->count = kept;
}

const char *diagnose_refused(const struct rows *all, const char *server)
{
    static const char *const causes[] = {"cluster", "settings", "version", "twin", NULL};
    for (size_t i = 0; i < all->count; i++) {
        const struct message *m = all->row[i];
        bool mtu = strcmp(finding_text(m, "cause"), "mtu") == 0 && message_has(m, "seen");
        if ((mtu || finding_is_any(m, "cause", causes)) && strcmp(finding_text(m, "expected"), server) == 0) {
            return finding_text(m, "text");
        }
    }
    return NULL;
}
