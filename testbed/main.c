/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - cwlab: a cluster of real daemons on real links, on one machine. */
#include "cubeway/version.h"
#include "testbed/command.h"

#include <string.h>

static void print_usage(FILE *out)
{
    fputs("usage: cwlab COMMAND [options]\n"
          "\n"
          "Brings up a torus of real daemons on this machine: one network namespace for each server, a veth pair for "
          "each\n"
          "cable. Nothing is installed and nothing is left behind: a lab lives as long as its keeper process.\n"
          "\n"
          "  cwlab up 3x3x3                      27 servers; returns when all know each other\n"
          "  cwlab pingall                       everybody pings everybody\n"
          "  cwlab ctl 0,0,0 key explain hello   ask a server's daemon\n"
          "  cwlab fail 1,0,2                    kill -9\n"
          "  cwlab down\n"
          "\n"
          "Commands:\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    }
    fputs("\n"
          "cwlab COMMAND --help explains one, with an example. cwlab --version\n"
          "Exit codes: 0 all is well; 1 done, and not as it should be; 2 wrong usage, or not possible here; 3 no such "
          "lab.\n",
          out);
}

static const char *command_name(const void *context, size_t i)
{
    (void)context;
    return commands[i]->name;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (strcmp(word, "help") == 0 && argc == 2)) {
        print_usage(stdout);
        return EXIT_FINE;
    }
    if (strcmp(word, "--version") == 0) {
        printf("cwlab %s (%s)\n", CW_VERSION, report_commit());
        return EXIT_FINE;
    }
    static char help[] = "--help";
    char *asked[] = {argv[0], help, NULL};
    bool about = strcmp(word, "help") == 0;
    word = about ? argv[2] : word;
    size_t count = 0;
    for (; commands[count] != NULL; count++) {
        if (strcmp(commands[count]->name, word) == 0) {
            return about ? commands[count]->run(commands[count], 2, asked)
                         : commands[count]->run(commands[count], argc - 1, argv + 1);
        }
    }
    const char *near = options_nearest(word, strlen(word), command_name, NULL, count);
    fprintf(stderr, "cwlab: unknown command '%s'%s%s%s\n", word, near != NULL ? "; did you mean " : "",
            near != NULL ? near : "", near != NULL ? "?" : "; cwlab --help lists them");
    return EXIT_USAGE;
}
