/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"
#include "base/quantity.h"
#include "services/builtin.h"
#include "services/loader.h"
#include "testbed/cwlab/await.h"
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/converge.h"
#include "testbed/cwlab/explain.h"
#include "testbed/cwlab/outlet.h"
#include "testbed/cwlab/scale.h"
#include "testbed/launch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SERVERS_MAX = 4096 };
static const cw_span between_looks = CW_MS(1000), between_lines = CW_MS(100);

struct choice {
    const char *driver, *name, *shim, *timers, *transit;
    uint32_t mtu;
    uint64_t rate, scale;
    cw_span patience;
    struct option_words services, networks, gateways;
    double wanted; /* the result of scale_wanted() */
    bool json, quiet, foreground, no_wait, no_grants, strict, tunnel, uplink;
};

/* ---- What is wanted ---------------------------------------------------------------------------------------------- */

static const char *nth_built_in(const void *context, size_t i)
{
    const cw_service *const *all = context;
    return all[i]->name;
}

static int refuse_service_name(const struct program_command *self, const char *word)
{
    size_t count;
    const cw_service *const *all = builtin_all(&count);
    const char *near = nearest_name(word, strlen(word), nth_built_in, all, count);
    return program_refuse(self, "--service %s: expected a service that is built in, or the file of one (.so)%s%s%s",
                          word, near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                          near != NULL ? "?" : "");
}

/*
 * Asks the module for its table, as each daemon of the lab will: what is wrong with it is said before any of them runs.
 * Gives its path from the root on, to be freed; NULL: standard error says why.
 */
static char *find_module(const struct program_command *self, const char *word)
{
    char why[TABLE_WHY_BYTES];
    struct loader_module module;
    if (loader_open(word, &module, why) < 0) {
        program_refuse(self, "--service %s", why);
        return NULL;
    }
    loader_close(&module);
    char *whole = realpath(word, NULL);
    if (whole != NULL && strlen(whole) >= LAB_PATH) {
        program_refuse(self, "--service %s: its path has more than %d bytes", word, LAB_PATH - 1);
        free(whole);
        whole = NULL;
    }
    return whole;
}

static int add_service(const struct program_command *self, struct lab *lab, const char *word)
{
    char *whole = NULL;
    for (unsigned i = 0; i < lab->services; i++) {
        if (strcmp(lab->service[i], word) == 0) {
            return PROGRAM_GO;
        }
    }
    if (lab->services == LAB_SERVICES) {
        return program_refuse(self, "--service %s: there are %d before it, and there can be no more", word,
                              LAB_SERVICES);
    }
    if (builtin_service(word) != NULL) {
        whole = strdup(word);
    } else if (strchr(word, '/') != NULL || strstr(word, ".so") != NULL) {
        whole = find_module(self, word);
    } else {
        return refuse_service_name(self, word);
    }
    if (whole == NULL) {
        return EXIT_USAGE;
    }
    snprintf(lab->service[lab->services++], LAB_PATH, "%s", whole);
    free(whole);
    return PROGRAM_GO;
}

static int add_network(const struct program_command *self, struct lab *lab, const char *word)
{
    cw_service table;
    char why[TABLE_WHY_BYTES];
    if (lab->networks == LAB_NETWORKS) {
        return program_refuse(self, "--network %s: there are %d before it, and there can be no more", word,
                              LAB_NETWORKS);
    }
    if (strlen(word) > 12 || builtin_network(LAB_NETWORK_JOB, word, 0, &table, why) < 0 ||
        builtin_service(word) != NULL) {
        return program_refuse(
            self, "--network %s: expected a name of 1 to 12 letters and digits, and none of a service", word);
    }
    for (unsigned i = 0; i < lab->networks; i++) {
        if (strcmp(lab->network[i], word) == 0) {
            return PROGRAM_GO;
        }
    }
    snprintf(lab->network[lab->networks++], LAB_NAME, "%s", word);
    return PROGRAM_GO;
}

static int add_gateway(const struct program_command *self, struct lab *lab, const char *word)
{
    cw_coord c;
    size_t used = strlen(lab->gateways);
    if (torus_parse(&lab->torus, word, strlen(word), &c) < 0) {
        return program_refuse(self, "--gateway %s: expected a server of the lab, as 0,0,0", word);
    }
    if (used + 8 > sizeof lab->gateways) {
        return program_refuse(self, "--gateway %s: there are too many before it", word);
    }
    snprintf(lab->gateways + used, sizeof lab->gateways - used, "%s%u", used > 0 ? " " : "", torus_id(&lab->torus, c));
    return PROGRAM_GO;
}

/* Where udev is, everybody may open the device, which by itself gives no right; a bare root may have it otherwise. */
static const char *tunnel_remedy(int error, char *out, size_t room)
{
    struct stat st;
    bool there = stat("/dev/net/tun", &st) == 0;
    if (error == ENOENT) {
        return "; modprobe tun makes it";
    }
    if (error != EACCES || !there) {
        return "";
    }
    snprintf(out, room, "; its mode is %04o: as root chmod 0666 /dev/net/tun, as udev does, or cwlab up as root",
             (unsigned)(st.st_mode & 07777));
    return out;
}

/* What each daemon would say at its start is said once, before there is a lab. */
static int check_tunnel(const struct program_command *self, const struct lab *lab)
{
    if (lab_has_tunnel(lab) && lab->driver == LAB_PROCESS) {
        return program_refuse(self, "--tunnel needs a namespace for each server: --driver process has no devices");
    }
    if (lab_has_tunnel(lab) && access("/dev/net/tun", R_OK | W_OK) < 0) {
        char remedy[160];
        return program_refuse(self, "--tunnel: /dev/net/tun cannot be opened: %s%s", strerror(errno),
                              tunnel_remedy(errno, remedy, sizeof remedy));
    }
    return PROGRAM_GO;
}

/* The value of an option is none of these words, which are NULL at the end. */
static int refuse_word(const struct program_command *self, const char *option, const char *value, const char *expected,
                       const char *const *words)
{
    const char *near = nearest_word(value, words);
    return program_refuse(self, "%s %s: expected %s%s%s%s", option, value, expected,
                          near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
}

static int choose_driver(const struct program_command *self, struct lab *lab, const char *word)
{
    char why[LAB_WHY];
    if (strcmp(word, "auto") == 0) {
        lab->driver = launch_allowed(why) == 0 ? LAB_NETNS : LAB_PROCESS;
        if (lab->driver == LAB_PROCESS) {
            fprintf(stderr, "cwlab up: %s; all servers will live in one process\n", why);
        }
        return PROGRAM_GO;
    }
    if (lab_driver_parse(word, &lab->driver) < 0) {
        static const char *const words[] = {"netns", "process", "auto", NULL};
        return refuse_word(self, "--driver", word, "netns, process or auto", words);
    }
    if (lab->driver == LAB_NETNS && launch_allowed(why) < 0) {
        return program_refuse(self, "%s", why);
    }
    return PROGRAM_GO;
}

/*
 * Scales the timers by the number of servers and by the other work of the machine. Other work does no harm to a torus
 * inside one process, because its time stands still while the process waits (clock.h).
 */
static void choose_timers(struct choice *c, struct lab *lab)
{
    bool fast = strcmp(c->timers, "fast") == 0;
    c->wanted = lab->driver == LAB_PROCESS ? 0 : scale_wanted();
    lab->wanted = c->scale != 0 ? -1 : c->wanted;
    lab->hurries = lab->driver == LAB_NETNS && scale_hurries();
    lab_set_timers(lab, fast, 1);
    uint64_t scale = scale_now(lab, c->wanted);
    bool busy = scale > scale_now(lab, 0);
    if (c->scale != 0 && c->scale < scale && busy) {
        fprintf(stderr,
                "cwlab up: this machine is busy (%.0f other processes want its %u processor%s): servers may count one "
                "another out with --scale %lu; without it, timers would be %lu times as long\n",
                c->wanted, scale_machine(), scale_machine() == 1 ? "" : "s", (unsigned long)c->scale,
                (unsigned long)scale);
    }
    lab_set_timers(lab, fast, c->scale != 0 ? c->scale : scale);
}

static int read_choice(const struct program_command *self, struct choice *c, const char *dims, struct lab *lab)
{
    cw_dims d;
    char why[LAB_WHY];
    *lab = (struct lab){.scale = 1};
    if (quantity_dims(dims, strlen(dims), &d) < 0 || torus_init(&lab->torus, d) < 0 ||
        lab->torus.servers > SERVERS_MAX) {
        return program_refuse(self, "'%s' are no dimensions: expected as 3x3x3, at most %d servers", dims, SERVERS_MAX);
    }
    if (lab_place(lab, c->name, why) < 0) {
        return program_refuse(self, "%s", why);
    }
    if (lab_shim_parse(c->shim, &lab->shim) < 0) {
        static const char *const words[] = {"raw", "pcap", "udp", NULL};
        return refuse_word(self, "--shim", c->shim, "raw, pcap or udp", words);
    }
    if (c->mtu < 1500 || c->mtu > 9000) {
        return program_refuse(self, "--mtu %u: expected 1500 to 9000", c->mtu);
    }
    if (strcmp(c->timers, "fast") != 0 && strcmp(c->timers, "default") != 0) {
        static const char *const words[] = {"fast", "default", NULL};
        return refuse_word(self, "--timers", c->timers, "fast or default", words);
    }
    if (c->scale > SCALE_MOST) {
        return program_refuse(self, "--scale %lu: expected 1 to %d, or 0", (unsigned long)c->scale, SCALE_MOST);
    }
    lab->mtu = c->mtu;
    lab->bits_per_second = c->rate;
    const char *strict = getenv("CUBEWAY_STRICT");
    lab->no_grants = c->no_grants;
    if (strcmp(c->transit, "auto") != 0 && strcmp(c->transit, "kernel") != 0 && strcmp(c->transit, "user") != 0) {
        return program_refuse(self, "--transit %s: expected auto, kernel or user", c->transit);
    }
    lab->transit = c->transit;
    lab->strict = c->strict || (strict != NULL && strcmp(strict, "1") == 0);
    int code = choose_driver(self, lab, c->driver);
    for (int i = 0; i < c->services.count && code == PROGRAM_GO; i++) {
        code = add_service(self, lab, c->services.word[i]);
    }
    for (int i = 0; i < c->networks.count && code == PROGRAM_GO; i++) {
        code = add_network(self, lab, c->networks.word[i]);
    }
    for (int i = 0; i < c->gateways.count && code == PROGRAM_GO; i++) {
        code = add_gateway(self, lab, c->gateways.word[i]);
    }
    code = code == PROGRAM_GO && c->uplink ? outlet_choose(self, lab) : code;
    code = code == PROGRAM_GO && (c->tunnel || lab->gateways[0] != '\0') ? add_service(self, lab, LAB_TUNNEL) : code;
    code = code == PROGRAM_GO ? check_tunnel(self, lab) : code;
    if (code != PROGRAM_GO) {
        return code;
    }
    choose_timers(c, lab);
    if (command_find("CUBEWAYD", "cubewayd", lab->daemon) < 0) {
        return program_refuse(self, "cubewayd is not beside cwlab, and not on the PATH; CUBEWAYD=FILE names it");
    }
    if (command_find("CWLAB_WITNESS", "witness.so", lab->witness) < 0) {
        lab->witness[0] = '\0';
    }
    return PROGRAM_GO;
}

/* ---- Bringing it up ---------------------------------------------------------------------------------------------- */

struct show {
    bool on;
    const struct lab *lab;
    cw_time began;
    cw_time look;  /* when to see next whether daemons have died */
    cw_time shown; /* when the line of progress may be written again */
};

static double seconds_since(cw_time from)
{
    return (double)cw_time_since(peer_clock(), from).ns / 1e9;
}

static void show_building(void *context, unsigned done, unsigned total, const char *what)
{
    struct show *show = context;
    cw_time now = peer_clock();
    if (show->on && (cw_time_due(show->shown, now) || done == total)) {
        show->shown = cw_time_add(now, between_lines);
        fprintf(stderr, "\r\033[K%s %u of %u, %.0f s", what, done, total, seconds_since(show->began));
    }
}

/* Shows how far the lab is. False when a daemon has died by itself: the lab cannot come together then. */
static bool show_converging(void *context, const struct converge_sight *sight)
{
    struct show *show = context;
    struct explain e;
    char name[TORUS_TEXT];
    if (cw_time_due(show->look, peer_clock())) {
        show->look = cw_time_add(peer_clock(), between_looks);
        if (explain_look(&e, show->lab) && e.unordered > 0) {
            return false;
        }
    }
    if (show->on && cw_time_due(show->shown, peer_clock())) {
        show->shown = cw_time_add(peer_clock(), between_lines);
        torus_format(torus_coord(&show->lab->torus, sight->server), name);
        fprintf(stderr, "\r\033[Kservers that know all others: %u of %u (%s reaches %u), %.0f s", sight->done,
                sight->total, name, sight->reachable, seconds_since(show->began));
    }
    return true;
}

static void hide(const struct show *show)
{
    if (show->on) {
        fputs("\r\033[K", stderr);
    }
}

/* Says why the lab did not come together. */
static void tell_failure(const struct program_command *self, const struct lab *lab, unsigned count, double seconds)
{
    struct explain e;
    bool looked = explain_look(&e, lab);
    program_refuse(self, "%u of %u servers know all others after %.1f s; the rest do not%s", count, lab->torus.servers,
                   seconds, looked && e.dead > 0 ? ", for daemons have died" : " in time (--patience)");
    if (looked) {
        e.goes = true;
        explain_tell(&e, lab, stderr);
        if (e.dead == 0 && !explain_is_starved(&e)) {
            fprintf(stderr, "no daemon is dead, and processors are not too few (%.0f processes want one of %u)\n",
                    e.load, e.processors);
        }
    }
    fprintf(stderr,
            "The lab is taken down, and its logs with it; with --no-wait it stays as it is, for cwlab status and "
            "%s/*.log\n",
            lab_data_folder(lab));
}

static int tell(const struct program_command *self, const struct lab *lab, const struct choice *c, double built,
                double converged)
{
    char dims[QUANTITY_TEXT];
    quantity_dims_format(torus_dims(&lab->torus), dims);
    if (!c->json && c->quiet) {
        return EXIT_FINE;
    }
    if (!c->json) {
        fprintf(stderr, "lab '%s': %u server%s (%s, %s) up in %.2f s", lab->name, lab->torus.servers,
                lab->torus.servers == 1 ? "" : "s", dims,
                lab->driver == LAB_PROCESS ? "one process" : lab_shim_name(lab->shim), built);
        if (converged > 0 && lab->torus.servers > 1) {
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
    report_real(r, "processors_wanted", c->wanted);
    report_flag(r, "before_others", lab->hurries);
    report_integer(r, "hello_ns", lab->timers.hello.ns);
    report_integer(r, "dead_ns", lab->timers.dead.ns);
    report_integer(r, "hold_ns", lab->timers.hold.ns);
    report_integer(r, "built_ns", (int64_t)(built * 1e9));
    if (converged > 0) { /* --no-wait does not look */
        report_integer(r, "converged_ns", (int64_t)(converged * 1e9));
    }
    return program_print(self, r, true, EXIT_FINE);
}

/*
 * With --no-wait: returns when every daemon can be asked or is dead. A lab whose daemons die stays as it is, so these
 * are only counted.
 */
static void wait_for_sockets(const struct lab *lab, const struct choice *c, cw_time until)
{
    char why[AWAIT_WHY];
    unsigned silent = 0, daemons = lab->driver == LAB_PROCESS ? 1 : lab->torus.servers;
    for (cw_server s = 0; s < daemons; s++) {
        silent += await_daemon(lab, s, until, why) < 0;
    }
    if (silent > 0 && !c->quiet) {
        fprintf(stderr, "cwlab up: %u daemon%s cannot be asked: cwlab status --name %s says why\n", silent,
                silent == 1 ? "" : "s", lab->name);
    }
}

/* Waits until a key of the terminal ends this command, or the lab ends. */
static void stay(const struct launch *l)
{
    char byte;
    while (read(l->lifeline, &byte, 1) > 0) {
    }
}

/* Ends this command as the signal would; the keeper ends the lab then, which takes a moment. */
static void on_interrupt(int signal_number)
{
    static const char text[] = "\ncwlab up: interrupted: the lab that was coming up ends by itself now\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static int bring_up(const struct program_command *self, struct lab *lab, const struct choice *c)
{
    cw_time began = peer_clock();
    struct show show = {
        .on = !c->quiet && !c->json && isatty(STDERR_FILENO),
        .lab = lab,
        .began = began,
        .look = cw_time_add(began, between_looks),
    };
    struct launch l;
    char why[LAB_WHY], timers[SCALE_TEXT];
    bool cleaned;
    signal(SIGINT, on_interrupt); /* before there is anything that others may see */
    signal(SIGTERM, on_interrupt);
    int rc = launch_begin(&l, lab, &cleaned, why);
    if (rc < 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    if (cleaned) {
        fprintf(stderr, "cwlab up: removed what a dead lab '%s' had left\n", lab->name);
    }
    if (rc == 0) {
        if (lab->scale > 1 && !c->quiet) {
            fprintf(stderr, "cwlab up: timers are longer: %s\n",
                    scale_describe(lab, scale_processors(), c->wanted, timers));
        }
        rc = launch_wait(&l, show_building, &show, why);
    }
    hide(&show);
    if (rc < 0) {
        launch_close(&l, lab);
        return program_refuse(self, "%s", why);
    }
    double built = seconds_since(began), converged = 0;
    cw_time until = cw_time_add(began, c->patience.ns > 0 ? c->patience : scale_patience(lab));
    if (c->no_wait) {
        wait_for_sockets(lab, c, until);
    } else {
        const struct converge_goal goal = {.want = lab->torus.servers, .links = true};
        unsigned count = converge_wait(lab, &goal, until, show_converging, &show);
        hide(&show);
        converged = seconds_since(began);
        if (count < lab->torus.servers) {
            tell_failure(self, lab, count, converged);
            launch_close(&l, lab);
            return EXIT_BROKEN;
        }
    }
    int code = c->uplink ? outlet_open(self, lab) : PROGRAM_GO;
    if (code != PROGRAM_GO) {
        launch_close(&l, lab);
        return EXIT_BROKEN;
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    code = tell(self, lab, c, built, converged);
    if (c->foreground) {
        fflush(stdout);
        stay(&l);
    } else {
        launch_let_go(&l);
    }
    return code;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    struct option_words words;
    struct choice c = {
        .driver = "auto", .name = LAB_DEFAULT, .shim = "raw", .timers = "default", .transit = "user", .mtu = 9000};
    const struct option option[] = {
        {"driver", OPTION_TEXT, &c.driver, "netns|process|auto", "a namespace for each server, or all in one process",
         false},
        {"name", OPTION_TEXT, &c.name, "LAB", "the lab's name; several labs at once need different ones", false},
        {"mtu", OPTION_SMALL, &c.mtu, "BYTES", "size of a frame behind its Ethernet header, 1500 to 9000", false},
        {"rate", OPTION_RATE, &c.rate, NULL, "rate of every link, in each direction (tbf); 0: no limit", false},
        {"shim", OPTION_TEXT, &c.shim, "raw|pcap|udp", "how daemons reach their links", false},
        {"transit", OPTION_TEXT, &c.transit, "auto|kernel|user",
         "packets that pass a server go through the kernel where they can, through it or not at all, or the daemon",
         false},
        {"service", OPTION_LIST, &c.services, "FILE.so|NAME",
         "a module for every server, or a built-in service to configure; may be repeated", false},
        {"tunnel", OPTION_FLAG, &c.tunnel, NULL,
         "each server has a device cw0, by which any program speaks TCP/IP with the others (--service ip)", false},
        {"network", OPTION_LIST, &c.networks, "NAME",
         "a network of its own beside --tunnel: job 5001 and on, device cw-NAME, names 1-0-2.NAME; may be repeated",
         false},
        {"gateway", OPTION_LIST, &c.gateways, "SERVER",
         "a gateway of --tunnel, by its device up0, which you connect; may be repeated", false},
        {"uplink", OPTION_FLAG, &c.uplink, NULL,
         "a way out of the lab by its first gateway (0,0,0), through sockets of slirp4netns; the machine stays as it "
         "is",
         false},
        {"no-grants", OPTION_FLAG, &c.no_grants, NULL, "services of --service may send nothing before cwctl job grant",
         false},
        {"strict", OPTION_FLAG, &c.strict, NULL, "daemons log each misuse of the service API (or CUBEWAY_STRICT=1)",
         false},
        {"timers", OPTION_TEXT, &c.timers, "fast|default", "hello 5 ms and dead 15 ms, or 10 ms and 50 ms", false},
        {"scale", OPTION_COUNT, &c.scale, "N", "timers are so many times as long; 0: as this machine needs it now",
         false},
        {"patience", OPTION_SPAN, &c.patience, NULL,
         "for all servers to know each other; 0: 20 s, and 200 ms more for each server", false},
        {"no-wait", OPTION_FLAG, &c.no_wait, NULL,
         "return when all daemons can be asked; they may not know each other yet", false},
        {"foreground", OPTION_FLAG, &c.foreground, NULL, "do not return; the lab ends with this command", false},
        {"json", OPTION_FLAG, &c.json, NULL, "print JSON", false},
        {"quiet", OPTION_FLAG, &c.quiet, NULL, "say nothing when all is well", false},
    };
    struct lab lab;
    c.name = command_default_name() != NULL ? command_default_name() : LAB_DEFAULT;
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, &words);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (words.count != 1) {
        return program_refuse(self, "expected the shape of the torus, as 3x3x3");
    }
    code = read_choice(self, &c, words.word[0], &lab);
    return code != PROGRAM_GO ? code : bring_up(self, &lab, &c);
}

const struct program_command command_up = {
    .program = &program_cwlab,
    .name = "up",
    .summary = "bring up a torus of daemons; returns when all servers know each other",
    .words = "XxYxZ [options]",
    .text = "Makes a network namespace for each server and a veth pair for each cable, starts a cubewayd in each\n"
            "namespace, and waits until every server reaches every other. Works as root, and as an ordinary user\n"
            "where user namespaces are allowed. With --driver process one cubewayd holds all servers: for machines\n"
            "that allow neither. The keeper, a process in the background, holds everything together; the lab ends\n"
            "with it, by cwlab down or otherwise. Many servers on few processors, and any number on a busy machine,\n"
            "get longer timers; up says which. A lab that does not come together is taken down, and up says why.",
    .example = "  cwlab up 3x3x3\n"
               "  cwlab up 4x4x2 --name small --rate 100mbit --mtu 1500 --timers fast\n"
               "  cwlab up 3x3x3 --service hitcount-build/hitcount.so\n"
               "  cwlab up 3x3x3 --tunnel && cwlab exec 0,0,0 ping -c 3 10.64.5.1\n"
               "  cwlab up 3x3x3 --tunnel --network blue && cwlab exec 0,0,0 ping -c 3 1-0-2.blue\n"
               "  cwlab up 3x3x3 --uplink && cwlab exec 1,1,1 curl http://deb.debian.org/\n"
               "  cwlab up 3x3x3 --service kvcache && cwlab exec 0,0,0 memcstat --servers=127.0.0.1",
    .run = run,
};
