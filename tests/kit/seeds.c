/* SPDX-License-Identifier: Apache-2.0 */
#include "seeds.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void *seeds_share(size_t bytes)
{
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("seeds: mmap");
        exit(2);
    }
    return shared;
}

void seeds_fail(char wrong[static SEEDS_WRONG_BYTES], const char *rule, const char *format, ...)
{
    if (wrong[0] != '\0') {
        return;
    }
    int at = snprintf(wrong, SEEDS_WRONG_BYTES, "%s: ", rule);
    va_list args;
    va_start(args, format);
    vsnprintf(wrong + at, SEEDS_WRONG_BYTES - (size_t)at, format, args);
    va_end(args);
}

static int usage(const struct seeds *s, const char *program)
{
    fprintf(stderr, "usage: %s [--first SEED] [--seeds COUNT] [--seed SEED] [--all] [--say] [--inside]", program);
    for (const struct seeds_option *o = s->options; o != NULL && o->name != NULL; o++) {
        fprintf(stderr, " [%s%s]", o->name, o->flag != NULL ? "" : " NUMBER");
    }
    fprintf(stderr, "\n");
    return 2;
}

static bool read_number(const char *text, int64_t *number)
{
    char *end;
    if (text == NULL) {
        return false;
    }
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

enum { REFUSED = -1 };

/* One option and its number. Returns how many words it took, 0 when it is not understood, REFUSED for a wrong count. */
static int read_option(struct seeds *s, const char *word, const char *next)
{
    int64_t first = 0, count = 0;
    const struct seeds_option common[] = {
        {"--first", NULL, &first}, {"--seeds", NULL, &count},     {"--seed", NULL, &first},
        {"--all", &s->all, NULL},  {"--say", &s->say_each, NULL}, {"--inside", &s->inside, NULL},
        {NULL, NULL, NULL},
    };
    const struct seeds_option *const lists[] = {common, s->options};
    for (unsigned i = 0; i < 2; i++) {
        const struct seeds_option *o = lists[i];
        while (o != NULL && o->name != NULL && strcmp(o->name, word) != 0) {
            o++;
        }
        if (o == NULL || o->name == NULL) {
            continue;
        }
        if (o->flag != NULL) {
            *o->flag = true;
            return 1;
        }
        if (!read_number(next, o->number)) {
            return 0;
        }
        if (o->number == &first || o->number == &count) {
            if (*o->number < 0 || (o->number == &count && count == 0)) {
                return REFUSED;
            }
            s->named = true;
            s->first = o->number == &first ? (uint64_t)first : s->first;
            s->count = o->number == &count ? (uint64_t)count : strcmp(word, "--seed") == 0 ? 1 : s->count;
        }
        return 2;
    }
    return 0;
}

int seeds_read(struct seeds *s, int argc, char **argv)
{
    s->first = s->first == 0 ? 1 : s->first;
    for (int i = 1; i < argc;) {
        int words = read_option(s, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        if (words == REFUSED) {
            fprintf(stderr, "%s: %s %s: a seed is at least 0, and a count of seeds at least 1\n", argv[0], argv[i],
                    argv[i + 1]);
            return usage(s, argv[0]);
        }
        if (words == 0) {
            fprintf(stderr, "%s: '%s' is no option, or has no number behind it\n", argv[0], argv[i]);
            return usage(s, argv[0]);
        }
        i += words;
    }
    return 0;
}

static double seconds(void)
{
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    time_t whole = self.ru_utime.tv_sec + self.ru_stime.tv_sec + children.ru_utime.tv_sec + children.ru_stime.tv_sec;
    suseconds_t rest =
        self.ru_utime.tv_usec + self.ru_stime.tv_usec + children.ru_utime.tv_usec + children.ru_stime.tv_usec;
    return (double)whole + (double)rest / 1e6;
}

static void run_seed(const struct seeds *s, uint64_t seed)
{
    memset(s->ledger, 0, s->ledger_bytes);
    if (s->inside) {
        s->run(seed);
        return;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        s->run(seed);
        exit(0); /* not _exit(), because the address sanitizer looks for leaks in exit() */
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        seeds_fail(s->wrong, "fork", "there is no child process");
    } else if (WIFSIGNALED(status)) {
        seeds_fail(s->wrong, "stopped", "the program stopped itself: %s", strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        seeds_fail(s->wrong, "stopped", "the program ended with %d", WEXITSTATUS(status));
    }
}

int seeds_run(struct seeds *s)
{
    double began = seconds();
    for (uint64_t seed = s->first; seed - s->first < s->count && (s->failed == 0 || s->all); seed++) {
        run_seed(s, seed);
        s->tried++;
        if (s->add != NULL) {
            s->add();
        }
        if (s->wrong[0] != '\0') {
            s->failed++;
            printf("seed %llu: %s\n", (unsigned long long)seed, s->wrong);
        } else if (s->say_each) {
            printf("seed %llu is well: ", (unsigned long long)seed);
            if (s->say != NULL) {
                s->say();
            }
            printf("\n");
        }
        fflush(stdout);
    }
    printf("%llu seeds, %.1f s: %llu failed\n", (unsigned long long)s->tried, seconds() - began,
           (unsigned long long)s->failed);
    return s->failed == 0 ? 0 : 1;
}
