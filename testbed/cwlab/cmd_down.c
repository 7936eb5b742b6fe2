/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/command.h"
#include "testbed/hold.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A busy machine lets a keeper wait, and the daemons that it ends: what takes long is told, and waited for. */
static const cw_span patience = CW_SEC(120), told_after = CW_MS(1500), told_again = CW_SEC(5);
enum { ROUND_US = 10000 };

struct ways {
    bool json, quiet;
};

static cw_time now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (cw_time){t.tv_sec * CW_NS_PER_SEC + t.tv_nsec};
}

/* The daemons that have not ended, as far as the kernel says which children the keeper has. */
static unsigned children_of(pid_t keeper)
{
    char path[80];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)keeper, (int)keeper);
    FILE *f = fopen(path, "re");
    while (f != NULL && fscanf(f, "%*d") != EOF) {
        count++;
    }
    if (f != NULL) {
        fclose(f);
    }
    return count;
}

/* What the ending waits for now. */
static void tell(const struct lab *lab, cw_span waited)
{
    unsigned left = children_of(lab->keeper);
    fprintf(stderr, "lab '%s' is ending, since %.0f s: ", lab->name, (double)waited.ns / 1e9);
    if (left > 0) {
        fprintf(stderr,
                "%u of its daemons have not ended; from two seconds on they are killed, and only the disk, on which "
                "they write, can keep them\n",
                left);
    } else {
        fprintf(stderr, "its files are being removed\n");
    }
}

enum ending { ENDED, ENDS_STILL, FILES_STAY };

/* The keeper removes the folder last. */
static enum ending await_end(const struct lab *lab, bool quiet)
{
    cw_time began = now();
    cw_span next = told_after;
    while (access(lab->folder, F_OK) == 0) {
        cw_span waited = cw_time_since(now(), began);
        if (lab->keeper > 0 && kill(lab->keeper, 0) < 0 && errno == ESRCH) {
            return access(lab->folder, F_OK) == 0 ? FILES_STAY : ENDED;
        }
        if (waited.ns > patience.ns) {
            return ENDS_STILL;
        }
        if (!quiet && waited.ns > next.ns) {
            tell(lab, waited);
            next = CW_NS(waited.ns + told_again.ns);
        }
        usleep(ROUND_US);
    }
    return ENDED;
}

/* A keeper that closes the connection without an answer is ending the lab already, for its `cwlab up` has ended. */
static int order_end(const struct program_command *self, const struct lab *lab)
{
    char path[LAB_PATH], why[PEER_WHY];
    struct peer p;
    if (hold_state(lab) == HOLD_ENDS) {
        return EXIT_FINE;
    }
    int rc = peer_open(&p, lab_path(lab, "keeper", ".sock", path));
    if (rc == 0) {
        rc = peer_ask(&p, peer_request("down", 0, NULL), patience, NULL, NULL, why);
        peer_close(&p);
    } else {
        snprintf(why, sizeof why, "its keeper does not answer");
    }
    return rc >= 0 || rc == -ECONNRESET || rc == -EPIPE ? EXIT_FINE
                                                        : program_refuse(self, "lab '%s': %s", lab->name, why);
}

static int end_one(const struct program_command *self, const struct lab *lab, const struct ways *ways)
{
    int code = order_end(self, lab);
    enum ending ending = code == EXIT_FINE ? await_end(lab, ways->quiet || ways->json) : ENDED;
    if (ending == FILES_STAY) {
        return program_refuse(self,
                              "lab '%s' has ended, but files of it stay in %s and %s: is something mounted there?",
                              lab->name, lab->folder, lab_data_folder(lab));
    }
    if (ending == ENDS_STILL) {
        return program_refuse(
            self,
            "the keeper of lab '%s' (process %d) has not ended in %d s, and may still do so: its log is %s/keeper.log",
            lab->name, (int)lab->keeper, (int)(patience.ns / CW_NS_PER_SEC), lab->folder);
    }
    if (code == EXIT_FINE && ways->json) {
        struct report *r = report_open("down");
        report_text(r, "lab", lab->name);
        report_integer(r, "servers", lab->torus.servers);
        return program_print(self, r, true, code);
    }
    if (code == EXIT_FINE && !ways->quiet) {
        fprintf(stderr, "lab '%s' of %u server%s has ended\n", lab->name, lab->torus.servers,
                lab->torus.servers == 1 ? "" : "s");
    }
    return code;
}

struct all {
    const struct program_command *self;
    const struct ways *ways;
    bool asks;
    unsigned living;
    int code;
};

/* Asks, where several labs are to end and there is a terminal: the user may want to keep one of them. */
static bool is_wanted(const struct all *all, const struct lab *lab)
{
    char answer[16];
    if (!all->asks) {
        return true;
    }
    fprintf(stderr, "end lab '%s' of %u server%s? [y/N] ", lab->name, lab->torus.servers,
            lab->torus.servers == 1 ? "" : "s");
    return fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
}

static void count_each(void *context, const char *name)
{
    struct all *all = context;
    struct lab lab;
    char why[LAB_WHY];
    all->living += lab_load(&lab, name, why) == 0 && hold_state(&lab) != HOLD_DEAD;
}

static void end_each(void *context, const char *name)
{
    struct all *all = context;
    struct lab lab;
    char why[LAB_WHY];
    if (lab_load(&lab, name, why) < 0) {
        return;
    }
    if (hold_clear(&lab)) {
        fprintf(stderr, "cwlab down: removed what dead lab '%s' had left\n", name);
        return;
    }
    if (is_wanted(all, &lab)) {
        int code = end_one(all->self, &lab, all->ways);
        all->code = code != EXIT_FINE ? code : all->code;
    }
}

static int run(const struct program_command *self, int argc, char **argv)
{
    const char *name = NULL;
    bool everything = false, yes = false;
    struct ways ways = {.json = false};
    const struct option option[] = {
        {"name", OPTION_TEXT, &name, "LAB",
         "which lab; without it the one that CWLAB_NAME names, or else '" LAB_DEFAULT "'", false},
        {"all", OPTION_FLAG, &everything, NULL, "every lab of this user, and what dead ones left", false},
        {"yes", OPTION_FLAG, &yes, NULL, "with --all: do not ask, where there are several, on a terminal", false},
        {"json", OPTION_FLAG, &ways.json, NULL, "print JSON: an object for each lab that has ended", false},
        {"quiet", OPTION_FLAG, &ways.quiet, NULL, "do not say which labs have ended", false},
    };
    struct lab lab;
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, NULL);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (everything && name != NULL) {
        return program_refuse(self, "--all ends every lab, and --name %s only that one: give one of the two", name);
    }
    if (everything) {
        struct all all = {.self = self, .ways = &ways, .code = EXIT_FINE};
        lab_each(count_each, &all);
        all.asks = !yes && all.living > 1 && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
        lab_each(end_each, &all);
        if (all.living == 0 && !ways.quiet) {
            fprintf(stderr, "no lab is up\n");
        }
        return all.code;
    }
    if (name == NULL && code == PROGRAM_GO) {
        name = command_default_name() != NULL ? command_default_name() : LAB_DEFAULT;
    }
    char why[LAB_WHY];
    if (lab_load(&lab, name, why) == 0 && hold_state(&lab) == HOLD_ENDS) {
        return end_one(self, &lab, &ways);
    }
    code = command_lab(self, name, &lab);
    return code != PROGRAM_GO ? code : end_one(self, &lab, &ways);
}

const struct program_command command_down = {
    .program = &program_cwlab,
    .name = "down",
    .summary = "end a lab: daemons in order, then everything",
    .words = "[--name LAB | --all [--yes]] [--quiet]",
    .text = "Daemons get SIGTERM and two seconds to leave in good order, then SIGKILL. Namespaces, links and files\n"
            "go with them. Without --name only the default lab ends, even if another one is the only lab that is up:\n"
            "it may be somebody's who works at another terminal.",
    .example = "  cwlab down\n"
               "  cwlab down --all --yes",
    .run = run,
};
