/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "testbed/command.h"
#include "testbed/converge.h"
#include "testbed/launch.h"
#include "testbed/veth.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A lab of more servers than SMALL gets slower timers: so that a processor handles no more hellos a second than this, and no more than so many
 * pairs of a server and another's record in the time of a hello, for every record goes to every server when the lab comes together.
 * Otherwise hellos come late, and servers are called dead that are not (docs/testbed.md).
 */
enum { SMALL = 32, HELLOS_PER_CPU = 5000, PAIRS_PER_CPU = 1000, SERVERS_MAX = 4096 };
/* One process has one thread for them all, but no frame of it passes a kernel. */
enum { HELLOS_INSIDE = 100000, PAIRS_INSIDE = 8192 };

struct choice {
    const char *driver, *name, *shim, *timers;
    uint32_t mtu;
    uint64_t rate;
    cw_span patience;
    struct option_words services;
    bool json, quiet, foreground, no_wait;
};

/* ---- What is wanted -------------------------------------------------------------------------------------------------------------- */

static cw_span times(cw_span span, uint64_t by)
{
    return (cw_span){span.ns * (int64_t)by};
}

static uint64_t times_needed(uint64_t work, uint64_t most)
{
    return (work + most - 1) / most;
}

static uint64_t scale_for(const struct lab *lab)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t cpus = online > 0 ? (uint64_t)online : 1, servers = lab->torus.servers;
    uint64_t links = servers * (uint64_t)__builtin_popcount(torus_links(&lab->torus));
    bool inside = lab->driver == LAB_PROCESS;
    uint64_t hellos = times_needed(links * (UINT64_C(1000000000) / (uint64_t)lab->timers.hello.ns),
                                   inside ? HELLOS_INSIDE : cpus * HELLOS_PER_CPU);
    uint64_t pairs = times_needed(servers * servers, inside ? PAIRS_INSIDE : cpus * PAIRS_PER_CPU);
    return servers <= SMALL ? 1 : hellos > pairs ? hellos : pairs;
}

static void set_timers(struct lab *lab, bool fast)
{
    lab->fast = fast;
    lab->timers = fast ? ls_timers_fast() : ls_timers_default();
    lab->scale = scale_for(lab);
    if (lab->scale > 1) {
        struct ls_timers *t = &lab->timers;
        t->hello = times(t->hello, lab->scale);
        t->dead = times(t->dead, lab->scale);
        t->hold = times(t->hold, lab->scale);
        t->flood_bound = times(t->flood_bound, lab->scale);
        t->retry = times(t->retry, lab->scale);
        t->pending_limit = times(t->pending_limit, lab->scale);
        t->pace = times(t->pace, lab->scale);
    }
}

static int add_service(const struct command *self, struct lab *lab, const char *word)
{
    if (strcmp(word, "ping") == 0 || strcmp(word, "bench") == 0 || strcmp(word, "trace") == 0 ||
        strcmp(word, "transport") == 0) {
        return COMMAND_GO; /* always there */
    }
    char *whole = strchr(word, '/') != NULL || strstr(word, ".so") != NULL ? realpath(word, NULL) : NULL;
    if (whole == NULL || strlen(whole) >= LAB_PATH || lab->services == LAB_SERVICES) {
        free(whole);
        return command_refuse(
            self, "--service %s: expected ping, bench, trace, transport, or the file of a service (.so); at most %d",
            word, LAB_SERVICES);
    }
    snprintf(lab->service[lab->services++], LAB_PATH, "%s", whole);
    free(whole);
    return COMMAND_GO;
}

static int choose_driver(const struct command *self, struct lab *lab, const char *word)
{
    char why[LAB_WHY];
    if (strcmp(word, "auto") == 0) {
        lab->driver = launch_allowed(why) == 0 ? LAB_NETNS : LAB_PROCESS;
        if (lab->driver == LAB_PROCESS) {
            fprintf(stderr, "cwlab up: %s; all servers will live in one process\n", why);
        }
        return COMMAND_GO;
    }
    if (lab_driver_parse(word, &lab->driver) < 0) {
        return command_refuse(self, "--driver %s: expected netns, process or auto", word);
    }
    if (lab->driver == LAB_NETNS && launch_allowed(why) < 0) {
        return command_refuse(self, "%s", why);
    }
    return COMMAND_GO;
}

static int read_choice(const struct command *self, const struct choice *c, const char *dims, struct lab *lab)
{
    cw_dims d;
    char why[LAB_WHY];
    *lab = (struct lab){.scale = 1};
    if (quantity_dims(dims, strlen(dims), &d) < 0 || torus_init(&lab->torus, d) < 0 ||
        lab->torus.servers > SERVERS_MAX) {
        return command_refuse(self, "'%s' are no dimensions: expected as 3x3x3, at most %d servers", dims, SERVERS_MAX);
    }
    if (lab_place(lab, c->name, why) < 0) {
        return command_refuse(self, "%s", why);
    }
    if (lab_shim_parse(c->shim, &lab->shim) < 0) {
        return command_refuse(self, "--shim %s: expected raw, pcap or udp", c->shim);
    }
    if (c->mtu < 1500 || c->mtu > 9000) {
        return command_refuse(self, "--mtu %u: expected 1500 to 9000", c->mtu);
    }
    if (strcmp(c->timers, "fast") != 0 && strcmp(c->timers, "default") != 0) {
        return command_refuse(self, "--timers %s: expected fast or default", c->timers);
    }
    lab->mtu = c->mtu;
    lab->bits_per_second = c->rate;
    int code = choose_driver(self, lab, c->driver);
    for (int i = 0; i < c->services.count && code == COMMAND_GO; i++) {
        code = add_service(self, lab, c->services.word[i]);
    }
    if (code != COMMAND_GO) {
        return code;
    }
    set_timers(lab, strcmp(c->timers, "fast") == 0);
    if (command_find("CUBEWAYD", "cubewayd", lab->daemon) < 0) {
        return command_refuse(self, "cubewayd is not beside cwlab, and not on the PATH; CUBEWAYD=FILE names it");
    }
    if (command_find("CWLAB_WITNESS", "witness.so", lab->witness) < 0) {
        lab->witness[0] = '\0';
    }
    return COMMAND_GO;
}

/* ---- Bringing it up -------------------------------------------------------------------------------------------------------------- */

struct show {
    bool on;
    const struct lab *lab;
    bool dead; /* a daemon is */
};

static void show_building(void *context, unsigned done, unsigned total, const char *what)
{
    const struct show *show = context;
    if (show->on) {
        fprintf(stderr, "\r\033[K%s %u of %u", what, done, total);
    }
}

static bool show_converging(void *context, unsigned done, unsigned total)
{
    const struct show *show = context;
    if (show->on) {
        fprintf(stderr, "\r\033[Kservers that know all others: %u of %u", done, total);
    }
    return true;
}

static void hide(const struct show *show)
{
    if (show->on) {
        fputs("\r\033[K", stderr);
    }
}

struct dead {
    char name[TORUS_TEXT], ended[64];
};

static void find_dead(void *context, const struct message *row)
{
    struct dead *d = context;
    const char *state = message_get_text(row, "state"), *name = message_get_text(row, "server");
    const char *ended = message_get_text(row, "ended");
    if (d->name[0] == '\0' && state != NULL && name != NULL && strcmp(state, "dead") == 0) {
        snprintf(d->name, sizeof d->name, "%s", name);
        snprintf(d->ended, sizeof d->ended, "%s", ended != NULL ? ended : "");
    }
}

/* The last lines of a log, for somebody who will not see the file. */
static void quote_log(const struct lab *lab, const char *name)
{
    char path[LAB_PATH], text[1500];
    FILE *f = fopen(lab_path(lab, name, ".log", path), "re");
    if (f == NULL) {
        return;
    }
    if (fseek(f, -(long)sizeof text, SEEK_END) != 0) {
        rewind(f);
    }
    size_t length = fread(text, 1, sizeof text, f);
    fclose(f);
    fprintf(stderr, "its log ends:\n%.*s", (int)length, text);
}

/* Why it did not become what it should. */
static void explain(const struct command *self, const struct lab *lab, unsigned count)
{
    struct dead dead = {.name = ""};
    fprintf(stderr, "cwlab up: %u of %u servers know all others; the rest do not in time\n", count, lab->torus.servers);
    (void)command_keeper(self, lab, "status", 0, NULL, find_dead, &dead);
    if (dead.name[0] != '\0') {
        fprintf(stderr, "the daemon of %s is dead: %s\n", dead.name, dead.ended);
        quote_log(lab, dead.name);
    }
}

static double seconds_since(cw_time from)
{
    return (double)cw_time_since(peer_clock(), from).ns / 1e9;
}

static int tell(const struct lab *lab, const struct choice *c, double built, double converged)
{
    char dims[QUANTITY_TEXT];
    quantity_dims_format(torus_dims(&lab->torus), dims);
    if (!c->json) {
        fprintf(stderr, "lab '%s': %u servers (%s, %s) up in %.2f s", lab->name, lab->torus.servers, dims,
                lab->driver == LAB_PROCESS ? "one process" : lab_shim_name(lab->shim), built);
        if (converged > 0) {
            fprintf(stderr, ", all know each other after %.2f s", converged);
        }
        fputc('\n', stderr);
        return EXIT_FINE;
    }
    struct report *r = report_open("up");
    report_text(r, "lab", lab->name);
    report_text(r, "dims", dims);
    report_text(r, "driver", lab_driver_name(lab->driver));
    report_integer(r, "servers", lab->torus.servers);
    report_integer(r, "keeper", lab->keeper);
    report_integer(r, "timers_scale", (int64_t)lab->scale);
    report_real(r, "built_seconds", built);
    report_real(r, "converged_seconds", converged);
    return command_print(r, true, EXIT_FINE);
}

/* Until a key ends us, or the lab ends. */
static void stay(const struct launch *l)
{
    char byte;
    while (read(l->lifeline, &byte, 1) > 0) {
    }
}

static int bring_up(const struct command *self, struct lab *lab, const struct choice *c)
{
    struct show show = {.on = !c->quiet && !c->json && isatty(STDERR_FILENO), .lab = lab};
    struct launch l;
    char why[LAB_WHY];
    bool cleaned;
    cw_time began = peer_clock();
    int rc = launch_begin(&l, lab, &cleaned, why);
    if (cleaned) {
        fprintf(stderr, "cwlab up: removed what a dead lab '%s' had left\n", lab->name);
    }
    if (rc == 0) {
        rc = launch_wait(&l, show_building, &show, why);
    }
    hide(&show);
    if (rc < 0) {
        launch_close(&l, lab);
        return command_refuse(self, "%s", why);
    }
    double built = seconds_since(began), converged = 0;
    if (lab->scale > 1) {
        fprintf(stderr, "cwlab up: so many servers ask more than this machine has: timers are %lu times as long\n",
                (unsigned long)lab->scale);
    }
    if (!c->no_wait) {
        cw_time until = cw_time_add(began, times(c->patience, lab->scale));
        unsigned count = converge_wait(lab, NULL, lab->torus.servers, until, show_converging, &show);
        hide(&show);
        converged = seconds_since(began);
        if (count < lab->torus.servers) {
            explain(self, lab, count);
            launch_close(&l, lab);
            return EXIT_BROKEN;
        }
    }
    int code = tell(lab, c, built, converged);
    if (c->foreground) {
        fflush(stdout);
        stay(&l);
    } else {
        launch_let_go(&l);
    }
    return code;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct option_words words;
    struct choice c = {
        .driver = "auto", .name = "lab", .shim = "raw", .timers = "default", .mtu = 9000, .patience = CW_MS(20000)};
    const struct option option[] = {
        {"driver", OPTION_TEXT, &c.driver, "netns|process|auto", "a namespace for each server, or all in one process",
         false},
        {"name", OPTION_TEXT, &c.name, "LAB", "several labs at once have several names", false},
        {"mtu", OPTION_SMALL, &c.mtu, "BYTES", "of a frame behind its Ethernet header, 1500 to 9000", false},
        {"rate", OPTION_RATE, &c.rate, NULL, "of every link, each way (tbf); 0: as fast as it goes", false},
        {"shim", OPTION_TEXT, &c.shim, "raw|pcap|udp", "how daemons reach their links", false},
        {"service", OPTION_LIST, &c.services, "FILE.so", "one more service on every server; may be repeated", false},
        {"timers", OPTION_TEXT, &c.timers, "fast|default", "hello 5 ms and dead 15 ms, or 10 ms and 50 ms", false},
        {"patience", OPTION_SPAN, &c.patience, NULL, "for all servers to know each other", false},
        {"no-wait", OPTION_FLAG, &c.no_wait, NULL, "return when all daemons have begun", false},
        {"foreground", OPTION_FLAG, &c.foreground, NULL, "stay; the lab ends with this command", false},
        {"json", OPTION_FLAG, &c.json, NULL, "print JSON", false},
        {"quiet", OPTION_FLAG, &c.quiet, NULL, "no progress on the terminal", false},
    };
    struct lab lab;
    int code = command_options(self, option, sizeof option / sizeof *option, argc, argv, &words);
    if (code != COMMAND_GO) {
        return code;
    }
    if (words.count != 1) {
        return command_refuse(self, "expected the shape of the torus, as 3x3x3");
    }
    code = read_choice(self, &c, words.word[0], &lab);
    return code != COMMAND_GO ? code : bring_up(self, &lab, &c);
}

const struct command command_up = {
    .name = "up",
    .summary = "bring up a torus of daemons; returns when all servers know each other",
    .words = "XxYxZ [options]",
    .text =
        "Makes a network namespace for each server and a veth pair for each cable, starts a cubewayd in each, and "
        "waits\n"
        "until every server reaches every other. As root, or as an ordinary user where user namespaces are allowed.\n"
        "With --driver process one cubewayd holds all servers: for machines that allow neither.\n"
        "The keeper stays behind and holds everything together; cwlab down ends it, and so does its death.",
    .example = "  cwlab up 3x3x3\n"
               "  cwlab up 4x4x2 --name small --rate 100mbit --mtu 1500 --timers fast\n"
               "  cwlab up 3x3x3 --service hitcount-build/hitcount.so",
    .run = run,
};
