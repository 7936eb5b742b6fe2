/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/by_itself.h"

#include "ctl/ask/lab.h"

#include "base/check.h"

#include <errno.h>
#include <string.h>

static const char alone[] = "--all"; /* what such a command only tells: it may be asked again, through any daemon */

const char *by_itself_option(const struct command *c)
{
    static const struct {
        int (*run)(struct call *call);
        const char *option;
    } askers[] = {{run_doctor, alone}, {run_events, alone}, {run_kv_stats, ""},         {run_kv_hot, ""},
                  {run_job_audit, ""}, {run_kv_flush, ""},  {run_file_send, "--to all"}};
    for (size_t i = 0; i < sizeof askers / sizeof *askers; i++) {
        if (c->run == askers[i].run) {
            return askers[i].option;
        }
    }
    return NULL;
}

bool by_itself_takes_many(const struct command *c)
{
    static int (*const lonely[])(struct call * call) = {
        run_kv_set,      run_kv_delete, run_top,       run_capture,    run_job_create,
        run_job_destroy, run_job_sign,  run_job_grant, run_job_revoke, run_job_keygen,
    };
    for (size_t i = 0; c->run != NULL && i < sizeof lonely / sizeof *lonely; i++) {
        if (c->run == lonely[i]) {
            return false;
        }
    }
    return by_itself_option(c) == NULL;
}

/* A word as a shell reads it. */
static void say_word(const char *word, FILE *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fprintf(out, " %s", word);
        return;
    }
    fputs(" '", out);
    for (const char *c = word; *c != '\0'; c++) {
        fputs(*c == '\'' ? "'\\''" : (char[]){*c, '\0'}, out);
    }
    fputc('\'', out);
}

int by_itself_refuse(const struct call *call, const struct find_crowd *crowd)
{
    const struct arguments *a = call->arguments;
    const char *name = call->command->name, *option = by_itself_option(call->command), *lab = a->lab;
    const char *node = crowd->count > 0 ? crowd->one[0].name : "NAME";
    int words = 1;
    for (const char *c = name; *c != '\0'; c++) {
        words += *c == ' ';
    }
    fprintf(call->errors, "cwctl: %s reaches all servers by itself, through one daemon: ", name);
    fprintf(call->errors, lab != NULL ? "cwlab ctl --name %s %s %s" : "cwctl%s --node %s %s", lab != NULL ? lab : "",
            node, name);
    for (int i = words; i < a->words; i++) {
        say_word(a->word[i], call->errors);
    }
    size_t length = strcspn(option + (option[0] != '\0' ? 2 : 0), " ");
    bool given = option[0] == '\0';
    for (int i = 0; i < a->options; i++) {
        const char *of = a->given[i].option->name;
        fprintf(call->errors, " --%s", of);
        if (a->given[i].text != NULL) {
            say_word(a->given[i].text, call->errors);
        }
        given = given || (strlen(of) == length && memcmp(of, option + 2, length) == 0);
    }
    fprintf(call->errors, "%s%s%s\n", given ? "" : " ", given ? "" : option, a->json ? " --json" : "");
    return EXIT_USAGE;
}

bool by_itself_only_tells(const struct command *c)
{
    return by_itself_option(c) == alone;
}

static void add_all(struct arguments *a)
{
    const struct arguments_option *o = commands_options();
    while (strcmp(o->name, alone + 2) != 0) {
        o++;
    }
    CHECK(a->options < ARGUMENTS_OPTIONS);
    a->given[a->options++] = (struct arguments_given){.option = o};
}

int by_itself_run(struct call *call, const struct find_crowd *crowd, cw_span start_patience)
{
    char why[CLIENT_WHY] = "no daemon is there";
    struct arguments arguments = *call->arguments;
    int rc = -ENOENT;
    for (size_t i = 0; rc < 0 && i < crowd->count; i++) {
        rc = lab_client_open(&call->client, crowd->one[i].at.path, start_patience, why);
        call->server = arguments.server != NULL ? arguments.server : crowd->one[i].at.server;
    }
    if (rc < 0) {
        fprintf(call->errors, "cwctl: %s\n", why);
        return rc == -ETIME ? EXIT_TIMEOUT : EXIT_NOBODY;
    }
    if (call_given(call, alone + 2) == NULL) {
        add_all(&arguments);
    }
    call->arguments = &arguments;
    client_stop_on(call->client, call->stop);
    int code = call_run(call);
    client_close(call->client);
    return code;
}
