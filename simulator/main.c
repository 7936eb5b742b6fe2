/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - cwsim: one program, a command for each thing that can be asked of a simulated cluster. */
#include "cubeway/version.h"
#include "simulator/command.h"

#include <string.h>

static void print_usage(FILE *out)
{
    fputs("usage: cwsim COMMAND [options]\n"
          "\n"
          "Simulates a cluster wired as a 3D torus, packet by packet. Every server runs the node's real code; what is\n"
          "made up are cables, clocks and faults. A run is a function of its options and its seed, bit for bit, and\n"
          "every invariant is checked in every run.\n"
          "\n"
          "Commands:\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    }
    fputs("\n"
          "  cwsim COMMAND --help    its options, and an example\n"
          "  cwsim --version         version and commit\n"
          "\n"
          "First steps:\n"
          "  cwsim run simulator/scenarios/kill-root.txt      a server dies; nothing is misdelivered\n"
          "  cwsim throughput --dims 4x4x4                    all to all, against the exact bound\n"
          "  cwsim churn --dims 4x4x4 --churn 5 --seconds 2   failures while keys are used\n"
          "\n"
          "Exit codes: 0 all is well; 1 an invariant or an expectation failed; 2 a wrong option or scenario.\n",
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
        printf("cwsim %s (%s)\n", CW_VERSION, report_commit());
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
    fprintf(stderr, "cwsim: unknown command '%s'%s%s%s\n", word, near != NULL ? "; did you mean " : "",
            near != NULL ? near : "", near != NULL ? "?" : "; cwsim --help lists them");
    return EXIT_USAGE;
}
