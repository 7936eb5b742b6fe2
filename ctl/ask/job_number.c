/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/job_number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 96, DIGITS = 12 };

/* Asks, and looks for the row whose field has that name. 0: there is none. Takes the request. */
static int64_t find(const struct call *call, struct request_draft *request, const char *field, const char *name)
{
    struct rows rows = {NULL, 0, 0};
    char why[CLIENT_WHY];
    int64_t number = 0;
    if (client_ask(call->client, request, call_patience(call), rows_add, &rows, why) < 0) {
        rows_clear(&rows); /* the request that follows says what is wrong */
    }
    request_draft_close(request);
    for (size_t i = 0; i < rows.count && number == 0; i++) {
        if (strcmp(message_get_text(rows.row[i], field, ""), name) == 0) {
            number = message_get_integer(rows.row[i], "job", 0);
        }
    }
    rows_clear(&rows);
    return number;
}

static int64_t number_of(const struct call *call, const char *name)
{
    int64_t number = find(call, request_draft_open("services", call->server), "service", name);
    if (number == 0) {
        struct request_draft *request = request_draft_open("service", call->server);
        request_draft_word(request, "jobs");
        request_draft_word(request, "list");
        number = find(call, request, "name", name);
    }
    return number;
}

int job_number_word(const struct call *call, struct request_draft *request)
{
    const struct arguments_given *job = call_given(call, "job");
    char text[TEXT];
    if (job == NULL) {
        return EXIT_FINE;
    }
    size_t length = strlen(job->text);
    bool named = strspn(job->text, "0123456789") != length;
    int64_t number = named ? number_of(call, job->text) : length <= DIGITS ? strtoll(job->text, NULL, 10) : 0;
    if (number < 1 || number > UINT32_MAX) {
        call_complain(call, "--job %.80s: %s", job->text,
                      named ? "no service and no job of that name is known here (cwctl job list)"
                            : "a job is a whole number from 1 to 4294967295, or a name");
        return EXIT_USAGE;
    }
    snprintf(text, sizeof text, "job=%" PRId64, number);
    request_draft_word(request, text);
    return EXIT_FINE;
}
