/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/cmd_complete.h"

#include "base/quantity.h"
#include "services/builtin.h"

#include "testbed/cwlab/lend.h"
#include "testbed/cwlab/target.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Labs -------------------------------------------------------------------------------------------------------- */

struct naming {
    const struct completion *c; /* NULL: the labs that live are only counted */
    char name[LAB_NAME];        /* of one of them */
    unsigned living;
};

static void say_lab(void *context, const char *name)
{
    struct naming *n = context;
    struct lab lab;
    char why[LAB_WHY], help[128], dims[QUANTITY_TEXT];
    if (lab_load(&lab, name, why) < 0) {
        return;
    }
    quantity_dims_format(torus_dims(&lab.torus), dims);
    snprintf(help, sizeof help, "%s%s", dims, lab_lives(&lab) ? "" : ", dead");
    if (n->c != NULL) {
        completion_say(n->c, name, help);
    } else if (lab_lives(&lab)) {
        n->living++;
        snprintf(n->name, sizeof n->name, "%s", name);
    }
}

/* The lab that the line means: of --name, of CWLAB_NAME, or the only one. Says nothing where there is none. */
static bool find_lab(const struct program_line *line, struct lab *lab)
{
    struct naming only = {.c = NULL};
    char why[LAB_WHY];
    const char *name = completion_given(line->options, line->argc, line->argv, "name");
    name = name != NULL ? name : command_default_name();
    if (name == NULL) {
        lab_each(say_lab, &only);
        name = only.living == 1 ? only.name : NULL;
    }
    return name != NULL && lab_load(lab, name, why) == 0;
}

static void say_servers(const struct program_line *line, const struct completion *c)
{
    struct lab lab;
    char name[TORUS_TEXT];
    if (c->count > 0 && c->option == NULL && !target_is_server(c->plain[c->count - 1])) {
        return; /* the servers are all named */
    }
    if (find_lab(line, &lab)) {
        for (cw_server s = 0; s < lab.torus.servers; s++) {
            torus_format(torus_coord(&lab.torus, s), name);
            completion_say(c, name, NULL);
        }
    }
}

/* The services that are built in, which `up --service NAME` takes. */
static void say_services(const struct completion *c)
{
    size_t count;
    const cw_service *const *all = builtin_all(&count);
    for (size_t i = 0; i < count; i++) {
        completion_say(c, all[i]->name, "built in");
    }
}

/* ---- cwctl, behind ctl ------------------------------------------------------------------------------------------- */

/* Where cwctl's words begin: behind the servers, and an option of ours. argc: they have not begun. */
static int words_begin(const struct program_line *line)
{
    int i = 0;
    while (i < line->argc) {
        const char *word = line->argv[i];
        if (strcmp(word, "--name") == 0) {
            i += 2;
        } else if (strncmp(word, "--name=", 7) == 0 || target_is_server(word)) {
            i++;
        } else {
            return i;
        }
    }
    return line->argc;
}

/* Runs `cwctl complete` for the words from argv[from] on, of the daemon of the first server that is named. */
static void ask_cwctl(const struct program_line *line, int from)
{
    static char complete[] = "complete", of_lab[] = "--lab", of_node[] = "--node", first[] = "0,0,0";
    char cwctl[LAB_PATH], folder[LAB_PATH];
    char *argv[OPTION_WORDS_MAX + 8] = {cwctl, complete};
    struct lab lab;
    int n = 2;
    if (line->argc > OPTION_WORDS_MAX || command_find("CWCTL", "cwctl", cwctl) < 0) {
        return;
    }
    if (find_lab(line, &lab) && lab_root(folder) == 0) {
        (void)setenv("CWLAB_DIR", folder, 1); /* where cwctl looks for the lab */
        argv[n++] = of_lab;
        argv[n++] = lab.name;
        argv[n++] = of_node;
        argv[n] = first;
        for (int i = 0; i < from; i++) {
            bool one = target_is_server(line->argv[i]) && strpbrk(line->argv[i], "*al ") == NULL;
            argv[n] = one ? line->argv[i] : argv[n];
        }
        n++;
    }
    memcpy(argv + n, line->argv + from, (size_t)(line->argc - from) * sizeof *argv);
    fflush(stdout);
    (void)lend_run(line->command, argv);
}

bool complete_behind(const struct program_line *line, const struct completion *c)
{
    int from = words_begin(line);
    (void)c;
    if (line->command != &command_ctl || from >= line->argc - 1) {
        return false;
    }
    ask_cwctl(line, from);
    return true;
}

void complete_values(void *context, const struct completion *c, const char *kind)
{
    const struct program_line *line = context;
    if (strcmp(kind, "LAB") == 0) {
        lab_each(say_lab, &(struct naming){.c = c});
    } else if (strcmp(kind, "SERVER") == 0) {
        say_servers(line, c);
    } else if (strcmp(kind, "NAME") == 0 && c->option != NULL && strcmp(c->option->name, "service") == 0) {
        say_services(c);
    } else if (strcmp(kind, "WORDS") == 0 && c->count > 0) {
        ask_cwctl(line, line->argc - 1);
    }
}
