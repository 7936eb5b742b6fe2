/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/target.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Servers ----------------------------------------------------------------------------------------------------- */

enum { ANY = -1, NUMBER_MOST = 100000, SERVER_TEXT = 64 };

/* "0,*,2" as three numbers, ANY for a *. */
static bool read_pattern(const char *word, int out[static 3])
{
    for (int i = 0; i < 3; i++) {
        if (*word == '*') {
            out[i] = ANY;
            word++;
        } else if (*word >= '0' && *word <= '9') {
            for (out[i] = 0; *word >= '0' && *word <= '9' && out[i] < NUMBER_MOST; word++) {
                out[i] = 10 * out[i] + (*word - '0');
            }
        } else {
            return false;
        }
        if (*word != (i < 2 ? ',' : '\0')) {
            return false;
        }
        word++;
    }
    return true;
}

/* The next of the servers in a word; false: there are no more. A word may name several, with spaces between. */
static bool next_server(const char **at, char out[static SERVER_TEXT])
{
    *at += strspn(*at, " ");
    size_t length = strcspn(*at, " ");
    snprintf(out, SERVER_TEXT, "%.*s", (int)(length < SERVER_TEXT ? length : 0), *at); /* too long: is no server */
    *at += length;
    return length > 0;
}

static bool is_one(const char *word)
{
    int pattern[3];
    return strcmp(word, "all") == 0 || read_pattern(word, pattern);
}

bool target_is_server(const char *word)
{
    char one[SERVER_TEXT];
    bool any = false;
    while (next_server(&word, one)) {
        any = is_one(one);
        if (!any) {
            return false;
        }
    }
    return any;
}

/* One server, one pattern, or all. */
static int mark_one(const struct torus *torus, const char *word, bool *who)
{
    int pattern[3] = {ANY, ANY, ANY}, fits = 0, fresh = 0;
    if (strcmp(word, "all") != 0 && !read_pattern(word, pattern)) {
        return -EINVAL;
    }
    for (cw_server s = 0; s < torus->servers; s++) {
        cw_coord c = torus_coord(torus, s);
        if ((pattern[0] == ANY || pattern[0] == c.x) && (pattern[1] == ANY || pattern[1] == c.y) &&
            (pattern[2] == ANY || pattern[2] == c.z)) {
            fits++;
            fresh += !who[s];
            who[s] = true;
        }
    }
    return fits > 0 ? fresh : -EINVAL;
}

int target_mark(const struct torus *torus, const char *word, bool *who)
{
    char one[SERVER_TEXT];
    int fresh = target_is_server(word) ? 0 : -EINVAL;
    while (fresh >= 0 && next_server(&word, one)) {
        int more = mark_one(torus, one, who);
        fresh = more < 0 ? more : fresh + more;
    }
    return fresh;
}

/* ---- The line ---------------------------------------------------------------------------------------------------- */

/* After these words of cwctl all that follows is for a service, or --name is an option of the command itself. */
static bool ends_ours(const struct target *t)
{
    const char *first = t->words > 0 ? t->word[0] : "", *second = t->words > 1 ? t->word[1] : "";
    return strcmp(first, "service") == 0 ||
           (strcmp(first, "services") == 0 && (strcmp(second, "load") == 0 || strcmp(second, "reload") == 0));
}

/* An option of ours at argv[i]: how many words it takes, or 0: it is none. */
static int take_name(char **argv, int argc, int i, const char **name)
{
    if (strncmp(argv[i], "--name=", 7) == 0) {
        *name = argv[i] + 7;
        return 1;
    }
    if (strcmp(argv[i], "--name") == 0 && i + 1 < argc) {
        *name = argv[i + 1];
        return 2;
    }
    return 0;
}

/* Sorts the words of the line. PROGRAM_GO, or the exit code. */
static int sort_words(const struct program_command *self, int argc, char **argv, enum target_reach reach,
                      struct target *t, const char **name)
{
    const struct option option[] = {
        {"name", OPTION_TEXT, (void *)(uintptr_t)name, "LAB",
         "which lab; not needed while there is only one, or where CWLAB_NAME names it", false},
    };
    bool ours = true;
    if (argc > 2 && strcmp(argv[1], program_complete_word) == 0) {
        return program_options(self, option, 1, argc, argv, NULL);
    }
    for (int i = 1; i < argc;) {
        int taken = ours ? take_name(argv, argc, i, name) : 0;
        if (taken > 0) {
            i += taken;
            continue;
        }
        bool dashed = argv[i][0] == '-' && argv[i][1] == '-', first = t->servers == 0 && t->words == 0;
        if ((first || reach == TARGET_ALONE) && (dashed || strcmp(argv[i], "-h") == 0)) {
            char *asked[] = {argv[0], argv[i], NULL};
            int code = program_options(self, option, 1, 2, asked, NULL); /* its help, or what is wrong */
            return code != PROGRAM_GO ? code : program_refuse(self, "expected a server, as 0,1,2; found '%s'", argv[i]);
        }
        if (t->words == 0 && target_is_server(argv[i])) {
            t->server[t->servers++] = argv[i];
        } else {
            t->word[t->words++] = argv[i];
            ours = ours && reach == TARGET_ANYWHERE && !ends_ours(t) && strcmp(argv[i], "--") != 0;
        }
        i++;
    }
    return PROGRAM_GO;
}

int target_read(const struct program_command *self, int argc, char **argv, enum target_reach reach, struct target *out)
{
    const char *name = NULL;
    *out = (struct target){.servers = 0};
    out->server = calloc((size_t)argc + 1, sizeof *out->server);
    out->word = calloc((size_t)argc + 1, sizeof *out->word);
    CHECK(out->server != NULL && out->word != NULL);
    int code = sort_words(self, argc, argv, reach, out, &name);
    if (code == PROGRAM_GO) {
        code = command_lab(self, name, &out->lab);
    }
    out->named = name != NULL;
    if (code != PROGRAM_GO) {
        return code;
    }
    out->who = calloc(out->lab.torus.servers, sizeof *out->who);
    CHECK(out->who != NULL);
    for (int i = 0; i < out->servers; i++) {
        int fresh = target_mark(&out->lab.torus, out->server[i], out->who);
        if (fresh < 0) {
            return program_refuse(self, "expected a server of the torus, as 0,1,2; found '%s'", out->server[i]);
        }
        out->count += (unsigned)fresh;
    }
    return PROGRAM_GO;
}

void target_close(struct target *t)
{
    free(t->server);
    free(t->word);
    free(t->who);
    *t = (struct target){.servers = 0};
}

int target_one(const struct program_command *self, const struct target *t, cw_server *out)
{
    if (t->servers == 0 && t->words == 0) {
        return program_refuse(self, "expected a server of the torus, as 0,1,2");
    }
    if (t->servers == 0) {
        return program_refuse(self, "expected a server of the torus, as 0,1,2; found '%s'", t->word[0]);
    }
    if (t->count != 1) {
        return program_refuse(self, "expected one server, not %u", t->count);
    }
    for (*out = 0; !t->who[*out]; ++*out) {
    }
    return PROGRAM_GO;
}
