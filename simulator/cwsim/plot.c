/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#include "simulator/cwsim/plot.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

/* A string of gnuplot's in single quotes, in which a quote is written twice. */
static void put_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "'" : "", out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void put_setting(FILE *out, const char *setting, const char *text)
{
    fprintf(out, "set %s ", setting);
    put_quoted(out, text);
    fputc('\n', out);
}

/* Colours that are told apart by everybody (Okabe and Ito). */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};
enum { COLOURS = sizeof colours / sizeof *colours };

/* One term of the plot command; a series of points has its values written beside it by another. */
static void put_series(FILE *out, const struct plot *p, unsigned i, const char *name)
{
    const struct plot_series *s = &p->series[i];
    if (s->point != NULL) {
        fprintf(out, "$series%u using 1:2", i);
    } else {
        fprintf(out, "'%s.csv' using (column('%s')):(column('%s'))", name, s->x, s->y);
        if (p->x_log && i == 0) {
            fprintf(out, ":xtic(stringcolumn('%s'))", s->x);
        }
    }
    const char *colour = s->point != NULL ? "black" : colours[i % COLOURS];
    fprintf(out, " with %s linewidth 2 pointtype %d pointsize 1.3 linecolor rgb '%s' title ",
            s->line ? "linespoints" : "points", s->point != NULL ? 8 : 7, colour);
    put_quoted(out, s->title);
    if (s->point != NULL) {
        fprintf(out, ", \\\n     $series%u using 1:($2 != 0 ? $2 : NaN):2 with labels offset character 0,-1.2 notitle",
                i);
    }
}

int plot_write(const struct plot *p, const char *directory, const char *name)
{
    char path[PATH_ROOM];
    if (snprintf(path, sizeof path, "%s/%s.gp", directory, name) >= (int)sizeof path) {
        return -ENAMETOOLONG;
    }
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return -errno;
    }
    fprintf(out, "# gnuplot %s.gp draws %s.png from %s.csv\n", name, name, name);
    fputs("set datafile separator ','\nset terminal pngcairo size 900,560 noenhanced font 'Sans,11'\n", out);
    fprintf(out, "set output '%s.png'\nset grid lt 1 lw 1 lc rgb '#d8d8d8'\nset key above Left reverse\n", name);
    put_setting(out, "title", p->title);
    put_setting(out, "xlabel", p->x_label);
    put_setting(out, "ylabel", p->y_label);
    fputs(p->x_log ? "set logscale x\nset offsets graph 0.04, graph 0.04\n"
                   : "set xrange [0:*]\nset offsets 0, graph 0.04\n",
          out);
    fputs(p->y_log ? "set logscale y\nset format y '%g'\n" : "set yrange [0:*]\n", out);
    for (unsigned i = 0; i < p->count; i++) {
        const struct plot_series *s = &p->series[i];
        if (s->point != NULL) {
            fprintf(out, "$series%u << END\n", i);
            for (unsigned k = 0; k < s->points; k++) {
                fprintf(out, "%.9g,%.9g\n", s->point[2 * k], s->point[2 * k + 1]);
            }
            fputs("END\n", out);
        }
    }
    for (unsigned i = 0; i < p->count; i++) {
        fputs(i == 0 ? "plot " : ", \\\n     ", out);
        put_series(out, p, i, name);
    }
    fputc('\n', out);
    bool failed = ferror(out) != 0;
    return fclose(out) != 0 || failed ? -EIO : 0;
}

int plot_draw(const char *directory, const char *name)
{
    char script[PATH_ROOM], program[] = "gnuplot";
    if (snprintf(script, sizeof script, "%s.gp", name) >= (int)sizeof script) {
        return -ENAMETOOLONG;
    }
    char path[PATH_ROOM];
    char *const argv[] = {program, script, NULL};
    if (snprintf(path, sizeof path, "%s/%s", directory, script) >= (int)sizeof path) {
        return -ENAMETOOLONG;
    }
    /* First, so that what the spawn does not find is gnuplot. */
    if (access(path, R_OK) < 0) {
        return -errno;
    }
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return -ENOMEM;
    }
    pid_t child;
    int failed = posix_spawn_file_actions_addchdir_np(&actions, directory);
    if (failed == 0) {
        failed = posix_spawnp(&child, program, &actions, NULL, argv, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        return failed == ENOENT ? -ENOPKG : -failed;
    }
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}
