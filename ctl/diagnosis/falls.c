/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/falls.h"

#include "ctl/diagnosis/finding.h"

#include "base/quantity.h"

#include <string.h>

enum { NOTE = 4, TEXT = 600, LINKS_NAMED = 4 };

/* What a server did as a whole, of which its links fell. */
static bool is_reason(const struct message *m)
{
    static const char *const causes[] = {"stalled", "stalls", "restarts", "held", "left", "switched-off", "waited"};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (finding_is(m, "cause", causes[i])) {
            return true;
        }
    }
    return false;
}

/*
 * Another finding is about this cable, or about a server at one of its ends; or the far end has told of the fall, or
 * has switched its interface off and on.
 */
static bool is_told(const struct rows *rows, size_t count, size_t fell)
{
    const struct message *f = rows->row[fell];
    for (size_t i = 0; i < count; i++) {
        const struct message *m = rows->row[i];
        bool far = finding_same(m, "server", f, "expected") && finding_same(m, "link", f, "expected_port");
        if (finding_is(m, "part", "fell") ? far && i < fell : far) {
            return true;
        }
        if (finding_is(m, "part", "finding") && is_reason(m) &&
            (finding_same(m, "server", f, "server") || finding_same(m, "server", f, "expected") ||
             finding_same(m, "expected", f, "expected") || finding_same(m, "expected", f, "server"))) {
            return true;
        }
    }
    return false;
}

static size_t put_fall(char *text, size_t used, const struct message *m, unsigned before)
{
    char ago[QUANTITY_TEXT];
    char often[40] = "once";
    int64_t times = message_get_integer(m, "times", 1);
    if (times > 1) {
        snprintf(often, sizeof often, "%lld times", (long long)times);
    }
    quantity_ago_format(CW_SEC(message_get_integer(m, "ago_s", 0)), ago);
    int length = snprintf(text + used, TEXT - used, "%s%s of %s to %s (%s, last %s)", before > 0 ? ", " : "",
                          finding_text(m, "link"), finding_text(m, "server"), finding_text(m, "expected"), often, ago);
    return used + (size_t)length < TEXT ? used + (size_t)length : TEXT - 1;
}

static void tell(struct rows *rows, const char *falls, unsigned links, const struct message *only)
{
    struct message *m = message_open();
    char text[TEXT + 160], more[32] = "";
    if (links > LINKS_NAMED) {
        snprintf(more, sizeof more, " and %u more", links - LINKS_NAMED);
    }
    snprintf(text, sizeof text, "%u link%s went down lately, too seldom to say why, and %s up now: %s%s", links,
             links == 1 ? "" : "s", links == 1 ? "is" : "are", falls, more);
    message_text(m, "server", links == 1 ? finding_text(only, "server") : "");
    message_text(m, "part", "finding");
    message_integer(m, "severity", NOTE);
    message_text(m, "cause", "fell-once");
    if (links == 1) {
        message_text(m, "link", finding_text(only, "link"));
    }
    message_text(m, "text", text);
    message_text(m, "do", "cwctl events --all says when, and what else happened then");
    rows_add(rows, m);
}

void diagnose_falls(struct rows *rows)
{
    size_t count = rows->count, servers = 0, used = 0;
    const struct message *last = NULL;
    unsigned links = 0;
    char text[TEXT] = "";
    for (size_t i = 0; i < count; i++) {
        servers += finding_is(rows->row[i], "part", "about");
    }
    for (size_t i = 0; i < count && servers > 1; i++) {
        if (!finding_is(rows->row[i], "part", "fell") || is_told(rows, count, i)) {
            continue;
        }
        if (links < LINKS_NAMED) {
            used = put_fall(text, used, rows->row[i], links);
        }
        last = rows->row[i];
        links++;
    }
    if (links > 0) {
        tell(rows, text, links, last);
    }
}
