/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/start/wanted.h"

#include "commandline/completion.h"
#include "daemon/config/offline.h"
#include "daemon/host/preflight.h"
#include "daemon/listeners/tun_check.h"
#include "daemon/machine/log.h"
#include "daemon/machine/priority.h"

#include <stdlib.h>
#include <string.h>

static const char default_file[] = "/etc/cubeway/cubewayd.conf";

struct wish {
    const char *file;
    bool check, show, version, json, foreground;
    const char *level, *user;
    bool no_watcher;
};

enum { OPTIONS = 9 };

static void list_options(struct option option[OPTIONS], struct wish *w)
{
    const struct option all[OPTIONS] = {
        {"-c", OPTION_TEXT, &w->file, "FILE", "configuration", false},
        {"check-config", OPTION_FLAG, &w->check, NULL, "say everything that is wrong with it, and end; FILE may follow",
         false},
        {"show-config", OPTION_FLAG, &w->show, NULL, "print it with everything that it leaves out, and end", false},
        {"log-level", OPTION_TEXT, &w->level, "LEVEL", "error, warn, info or debug, whatever the file says", false},
        {"user", OPTION_TEXT, &w->user, "NAME", "run as this user once the links are open, whatever the file says",
         false},
        {"no-watcher", OPTION_FLAG, &w->no_watcher, NULL,
         "no process that says goodbye to the neighbours if this one is killed", false},
        {"version", OPTION_FLAG, &w->version, NULL, "print the version, and end", false},
        {"json", OPTION_FLAG, &w->json, NULL, "with these three: print JSON, one object a line", false},
        {"foreground", OPTION_FLAG, &w->foreground, NULL, "there is no other way", true},
    };
    memcpy(option, all, sizeof all);
}

static void print_help(const struct option option[OPTIONS])
{
    puts("usage: cubewayd [-c FILE]\n"
         "\n"
         "The daemon of one server of a cluster that is wired as a 3D torus: it finds its neighbours over six links,\n"
         "routes packets to servers and to keys, and runs services. It stays in the foreground and logs to standard\n"
         "error; a service manager, or a shell's &, keeps it in the background.\n"
         "\n"
         "Options:");
    options_print(option, OPTIONS, stdout);
    puts("\n"
         "First steps:\n"
         "  a whole torus in this process, to try things on, without any right or cable:\n"
         "      echo 'torus { dims = 3x3x3; coordinate = all } control { socket = cw.sock }' > all.conf\n"
         "      cubewayd -c all.conf\n"
         "  a server with cables:\n"
         "      cluster = 7;\n"
         "      torus { dims = \"4x4x4\"; coordinate = \"0,1,2\"; }\n"
         "      links {\n"
         "          \"+x\" { shim = raw; interface = eth1; }     # and so on for -x +y -y +z -z\n"
         "      }\n"
         "  cubewayd --check-config my.conf && cubewayd -c my.conf\n"
         "\n"
         "Signals: TERM and INT leave in order (a second one ends at once); HUP reads the log level again.\n"
         "Exit codes: 0 left in order; 1 it could not start or run; 2 wrong option or configuration.\n"
         "See cubewayd(8), cubewayd.conf(5); cwctl(1) talks to a running daemon.");
}

/* --version wins over whatever comes behind it, mistakes included, as --help does. */
static int on_given(void *context, const struct option *option, const char *text)
{
    const struct wish *w = context;
    (void)option;
    (void)text;
    return w->version ? 1 : 0;
}

/* -1: go on; otherwise the exit code. */
static int read_options(int argc, char **argv, struct wish *w)
{
    static const struct option_traits traits[OPTIONS] = {[OPTIONS - 1] = {.letter = 'f'}};
    struct option option[OPTIONS];
    struct option_words words;
    struct options of = {"cubewayd", option, OPTIONS, traits, .abbreviated = true, .given = on_given, .context = w};
    *w = (struct wish){.file = default_file};
    list_options(option, w);
    if (argc > 2 && strcmp(argv[1], "complete") == 0) {
        completion_plain(&of, argc - 2, argv + 2, stdout);
        return WANTED_FINE;
    }
    int rc = options_read(&of, argc, argv, &words, stderr);
    if (rc < 0) {
        return WANTED_USAGE;
    }
    if (w->version) {
        bool json = w->json || strcmp(argv[argc - 1], "--json") == 0; /* reading ended at --version */
        offline_version(&(struct offline){json, stdout, stderr});
        return WANTED_FINE;
    }
    if (rc > 0) {
        *w = (struct wish){.file = default_file}; /* the help shows values as the defaults */
        print_help(option);
        return WANTED_FINE;
    }
    int used = w->check && words.count > 0 ? 1 : 0;
    if (words.count > used) {
        fprintf(stderr, "cubewayd: '%s' is one word too many; cubewayd --help says what there is\n", words.word[used]);
        return WANTED_USAGE;
    }
    w->file = used > 0 ? words.word[0] : w->file;
    return -1;
}

/* CUBEWAY_STRICT=1, for authors of services. */
static bool strict_wanted(void)
{
    const char *text = getenv("CUBEWAY_STRICT");
    return text != NULL && strcmp(text, "1") == 0;
}

/* What the command line says goes before what the file says. -1: go on. */
static int apply_options(const void *wish, struct daemon_config *config)
{
    const struct wish *w = wish;
    if (w->level != NULL && !log_level_parse(w->level, &config->log_level)) {
        fprintf(stderr, "cubewayd: --log-level %s: expected error, warn, info or debug\n", w->level);
        return WANTED_USAGE;
    }
    if (w->user != NULL) {
        if (strlen(w->user) >= sizeof config->user) {
            fprintf(stderr, "cubewayd: --user: too long a name\n");
            return WANTED_USAGE;
        }
        snprintf(config->user, sizeof config->user, "%s", w->user);
    }
    config->watcher = config->watcher && !w->no_watcher;
    config->strict = config->strict || strict_wanted();
    return -1;
}

/* Says everything that is wrong with the file, and what the start would find. Gives the exit code. */
static int check_config(const struct wish *w, struct daemon_config *config)
{
    struct offline o = {w->json, stdout, stderr};
    unsigned mistakes, warnings;
    int rc = preflight_file(w->file, config, &o, apply_options, w, tun_check, &mistakes, &warnings);
    if (rc != 0) {
        return rc < 0 ? WANTED_USAGE : rc;
    }
    if (mistakes == 0 && config->priority == CONFIG_REALTIME && config->place != CONFIG_WHOLE) {
        offline_note(&o, w->file, "priority = realtime is not tried now: %s", priority_realtime_takes);
    }
    offline_checked(&o, w->file, mistakes, warnings);
    return mistakes > 0 ? WANTED_USAGE : WANTED_FINE;
}

/* -1: go on. */
static int read_config(const struct wish *w, struct daemon_config *config)
{
    if (!w->show && (w->check || !preflight_can_load(w->file, config))) {
        return check_config(w, config);
    }
    struct offline o = {w->json && w->show, stdout, stderr};
    if (preflight_load(w->file, config, &o) < 0) {
        return WANTED_USAGE;
    }
    int rc = apply_options(w, config);
    if (rc >= 0) {
        return rc;
    }
    if (w->show) {
        offline_config(&o, config);
        return WANTED_FINE;
    }
    struct preflight p = {.mistake = offline_mistake, .context = &o};
    preflight_jobs(config, &p);
    return p.mistakes > 0 ? WANTED_USAGE : -1;
}

int wanted_read(int argc, char **argv, struct daemon_config *config)
{
    struct wish wish;
    int rc = read_options(argc, argv, &wish);
    return rc < 0 ? read_config(&wish, config) : rc;
}
