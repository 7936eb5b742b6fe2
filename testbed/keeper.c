/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* namespaces */
#include "testbed/keeper.h"

#include "testbed/builds.h"
#include "testbed/conf.h"
#include "testbed/grants.h"
#include "testbed/hold.h"
#include "testbed/peer.h"
#include "testbed/rotate.h"
#include "testbed/uplink.h"
#include "testbed/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UDP_HEADERS = 28 }; /* of IPv4 and UDP; added to the MTU, so that a frame may be as long as with other shims */

static const cw_span between_looks = CW_MS(5000); /* at the sizes of logs */
static const cw_span grace = CW_MS(2000);         /* from SIGTERM to SIGKILL, when the lab ends */

/* ---- What is told ------------------------------------------------------------------------------------------------ */

static void tell(struct keeper *k, const char *text)
{
    (void)send(k->lifeline, text, strlen(text), MSG_NOSIGNAL);
}

static void tell_progress(void *context, const char *what, uint32_t done, uint32_t total)
{
    char text[64];
    snprintf(text, sizeof text, "at %u %u %s\n", done, total, what);
    tell(context, text);
}

void keeper_note(struct keeper *k, const char *what, cw_server s, const char *more)
{
    char name[TORUS_TEXT];
    if (k->journal != NULL) {
        lab_daemon_name(&k->lab, s, name);
        fprintf(k->journal, "%lld %s %s%s%s\n", (long long)peer_clock().ns, what, name, more[0] != '\0' ? " " : "",
                more);
        fflush(k->journal);
    }
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

int keeper_start(struct keeper *k, cw_server s)
{
    char name[TORUS_TEXT], conf[LAB_PATH], log[LAB_PATH], trails[LAB_PATH + 32];
    lab_daemon_name(&k->lab, s, name);
    const char *const argv[] = {k->lab.daemon, "-c", lab_path(&k->lab, name, ".conf", conf), NULL};
    snprintf(trails, sizeof trails, WITNESS_FOLDER "=%s", lab_data_folder(&k->lab));
    const char *const extra[] = {trails, NULL};
    const struct crew_order order = {
        .argv = argv,
        .extra = extra,
        .ns = k->veth != NULL ? veth_namespace(k->veth, s) : -1,
        .log = lab_data(&k->lab, name, ".log", log),
        .folder = k->lab.folder,
    };
    keeper_note(k, "start", s, "");
    return crew_start(&k->crew[s], &order);
}

static int fail(struct keeper *k, const char *what, int rc)
{
    char text[LAB_WHY + 64];
    snprintf(text, sizeof text, "failed %.*s%s%s\n", LAB_WHY, what, rc < 0 ? ": " : "", rc < 0 ? strerror(-rc) : "");
    tell(k, text);
    return rc < 0 ? rc : -EINVAL;
}

static int build_cables(struct keeper *k)
{
    char why[VETH_WHY];
    const struct veth_plan plan = {
        .torus = &k->lab.torus,
        .mtu = k->lab.mtu + (k->lab.shim == LAB_UDP ? UDP_HEADERS : 0),
        .bits_per_second = k->lab.bits_per_second,
        .addresses = k->lab.shim == LAB_UDP,
        .ipv6 = lab_has_tunnel(&k->lab),
        .dark = k->lab.scale > 1,
        .progress = tell_progress,
        .context = k,
    };
    int rc = veth_open(&k->veth, &plan, why);
    return rc < 0 ? fail(k, why, 0) : 0;
}

static int build_uplink(struct keeper *k)
{
    int rc = uplink_start(&k->uplink, &k->lab, veth_namespace(k->veth, uplink_server(&k->lab)));
    return rc < 0 ? fail(k, k->lab.uplink, rc) : 0;
}

static int build_crew(struct keeper *k)
{
    k->daemons = k->lab.driver == LAB_PROCESS ? 1 : k->lab.torus.servers;
    k->crew = calloc(k->daemons, sizeof *k->crew);
    k->down = calloc(k->lab.torus.servers, sizeof *k->down);
    k->loss = calloc((size_t)k->lab.torus.servers * CW_LINK_COUNT, sizeof *k->loss);
    if (k->crew == NULL || k->down == NULL || k->loss == NULL) {
        return fail(k, "no memory", 0);
    }
    char why[GRANTS_WHY];
    if (grants_make(&k->lab, why) < 0) {
        return fail(k, why, 0);
    }
    for (unsigned i = 0; i < k->lab.services && k->lab.driver == LAB_NETNS; i++) {
        if (lab_service_is_file(k->lab.service[i])) {
            (void)!builds_keep(&k->lab, k->lab.service[i]); /* whoever cannot load it says so */
        }
    }
    for (cw_server s = 0; s < k->daemons; s++) {
        char text[64];
        k->crew[s].status = -1;
        int rc = conf_save(&k->lab, s);
        if (rc < 0) {
            return fail(k, "a configuration cannot be written", rc);
        }
        rc = keeper_start(k, s);
        if (rc < 0) {
            return fail(k, k->lab.daemon, rc);
        }
        snprintf(text, sizeof text, "at %u %u daemons\n", s + 1, k->daemons);
        tell(k, text);
    }
    return 0;
}

static int build_socket(struct keeper *k)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[LAB_PATH];
    lab_path(&k->lab, "keeper", ".sock", path);
    snprintf(address.sun_path, sizeof address.sun_path, "%.107s", path);
    k->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (k->listener < 0 || bind(k->listener, (const struct sockaddr *)&address, sizeof address) < 0 ||
        listen(k->listener, KEEPER_CLIENTS) < 0) {
        return fail(k, path, -errno);
    }
    return 0;
}

static int build(struct keeper *k)
{
    char path[LAB_PATH];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    k->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    k->journal = fopen(lab_data(&k->lab, "journal", "", path), "we");
    k->user_ns = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
    if (k->signals < 0 || k->journal == NULL) {
        return fail(k, "the keeper cannot begin", -errno);
    }
    int rc = build_socket(k);
    if (rc == 0 && k->lab.driver == LAB_NETNS) {
        rc = build_cables(k);
    }
    if (rc == 0 && k->lab.uplink[0] != '\0') {
        rc = build_uplink(k);
    }
    if (rc == 0) {
        rc = build_crew(k);
    }
    if (rc == 0 && k->veth != NULL && k->lab.scale > 1) {
        rc = veth_light(k->veth);
    }
    return rc;
}

/* ---- Keeping ----------------------------------------------------------------------------------------------------- */

/* Reaps every process that has ended. The first process of a namespace gets the orphans of others, too. */
static void reap(struct keeper *k)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (cw_server s = 0; s < k->daemons; s++) {
            if (k->crew[s].pid == pid) {
                crew_ended(&k->crew[s], status);
                keeper_note(k, "ended", s, "");
            }
        }
        (void)overload_look_ended(&k->overload, pid, status);
        if (k->uplink.pid == pid) {
            crew_ended(&k->uplink, status);
        }
    }
}

static void on_signal(struct keeper *k)
{
    struct signalfd_siginfo info;
    while (read(k->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        k->done |= info.ssi_signo != SIGCHLD;
    }
    reap(k);
}

static void on_lifeline(struct keeper *k)
{
    char text[16];
    ssize_t length = recv(k->lifeline, text, sizeof text, MSG_DONTWAIT);
    if (length > 0) {
        k->tied = k->tied && memcmp(text, "stay", (size_t)length < 4 ? (size_t)length : 4) != 0;
    } else if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(k->lifeline);
        k->lifeline = -1;
        k->done |= k->tied;
    }
}

static void on_client(struct keeper *k)
{
    int fd = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC);
    for (unsigned i = 0; i < KEEPER_CLIENTS && fd >= 0; i++) {
        if (k->client[i].fd < 0) {
            k->client[i].fd = fd;
            return;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* Ends the pauses that are over. Returns the ns from now to the end of the next pause; -1: there is none. */
static int64_t end_pauses(struct keeper *k)
{
    int64_t next = -1;
    for (cw_server s = 0; s < k->daemons; s++) {
        struct crew *c = &k->crew[s];
        if (c->state != CREW_PAUSED || !cw_time_before(c->resume, CW_NEVER)) {
            continue;
        }
        int64_t left = cw_time_since(c->resume, peer_clock()).ns;
        if (left <= 0) {
            (void)crew_continue(c);
            keeper_note(k, "continued", s, "");
        } else if (next < 0 || left < next) {
            next = left;
        }
    }
    return next;
}

static void turn(struct keeper *k)
{
    struct pollfd waits[3 + KEEPER_CLIENTS] = {
        {.fd = k->signals, .events = POLLIN},
        {.fd = k->listener, .events = POLLIN},
        {.fd = k->lifeline, .events = POLLIN},
    };
    for (unsigned i = 0; i < KEEPER_CLIENTS; i++) {
        waits[3 + i] = (struct pollfd){.fd = k->client[i].fd, .events = POLLIN};
    }
    int64_t left = end_pauses(k), look = cw_time_since(k->look, peer_clock()).ns;
    int64_t next = cw_time_since(k->count_next, peer_clock()).ns;
    look = overload_allowed(&k->lab) && next < look ? next : look;
    look = look > 0 ? look : 0;
    left = left < 0 || look < left ? look : left;
    struct timespec most = {left / CW_SEC(1).ns, left % CW_SEC(1).ns};
    if (ppoll(waits, 3 + KEEPER_CLIENTS, &most, NULL) <= 0) {
        return;
    }
    if (waits[0].revents != 0) {
        on_signal(k);
    }
    if (waits[2].revents != 0) {
        on_lifeline(k);
    }
    for (unsigned i = 0; i < KEEPER_CLIENTS; i++) {
        if (waits[3 + i].revents != 0 && !keeper_serve(k, &k->client[i])) {
            close(k->client[i].fd);
            free(k->client[i].bytes);
            k->client[i] = (struct keeper_client){.fd = -1};
        }
    }
    if (waits[1].revents != 0) {
        on_client(k);
    }
}

/* No log outgrows its bound by more than a daemon writes between two looks. */
static void cut_logs(struct keeper *k)
{
    char name[TORUS_TEXT], path[LAB_PATH];
    cw_time now = peer_clock();
    if (!cw_time_due(k->look, now)) {
        return;
    }
    k->look = cw_time_add(now, between_looks);
    for (cw_server s = 0; s < k->daemons; s++) {
        (void)rotate_log(lab_data(&k->lab, lab_daemon_name(&k->lab, s, name), ".log", path), ROTATE_BYTES);
    }
}

/* Has the machine been too busy for this lab for some seconds? Then somebody looks whether its timers do. */
static void watch_overload(struct keeper *k)
{
    cw_time now = peer_clock();
    if (!overload_allowed(&k->lab) || !cw_time_due(k->count_next, now)) {
        return;
    }
    k->count_next = cw_time_add(now, CW_MS(OVERLOAD_EVERY_MS));
    if (!k->tied && overload_note(&k->overload, overload_runnable(), overload_processors())) {
        overload_look_begin(&k->overload, &k->lab);
    }
}

static unsigned living(const struct keeper *k)
{
    unsigned count = 0;
    for (cw_server s = 0; s < k->daemons && k->crew != NULL; s++) {
        count += k->crew[s].state != CREW_DEAD;
    }
    return count;
}

/* Asks all daemons to end, and kills those that have not ended after `grace`. */
static void finish(struct keeper *k)
{
    cw_time until = cw_time_add(peer_clock(), grace);
    hold_say_end(&k->lab);
    for (cw_server s = 0; s < k->daemons && k->crew != NULL; s++) {
        (void)crew_terminate(&k->crew[s]);
    }
    while (living(k) > 0 && cw_time_before(peer_clock(), until)) {
        struct pollfd waits = {.fd = k->signals, .events = POLLIN};
        (void)poll(&waits, 1, 20);
        on_signal(k);
    }
    for (cw_server s = 0; s < k->daemons && k->crew != NULL; s++) {
        (void)crew_kill(&k->crew[s], true);
    }
    (void)crew_kill(&k->uplink, true);
    if (k->overload.looking > 0) {
        (void)kill(k->overload.looking, SIGKILL);
    }
    while (living(k) > 0 && waitpid(-1, NULL, 0) > 0) {
    }
    for (unsigned i = 0; i < KEEPER_CLIENTS; i++) {
        if (k->client[i].fd >= 0) {
            close(k->client[i].fd);
        }
        free(k->client[i].bytes);
    }
    veth_close(k->veth);
    if (k->journal != NULL) {
        fclose(k->journal);
    }
    free(k->crew);
    free(k->down);
    free(k->loss);
}

int keeper_run(const struct lab *lab, int lifeline)
{
    struct keeper *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return 1;
    }
    k->lab = *lab;
    k->lab.keeper = crew_number_outside(); /* lab.json is written again with other timers */
    k->lifeline = lifeline;
    k->tied = true;
    for (unsigned i = 0; i < KEEPER_CLIENTS; i++) {
        k->client[i].fd = -1;
    }
    int rc = build(k);
    if (rc == 0) {
        tell(k, "up\n");
    }
    while (rc == 0 && !k->done) {
        turn(k);
        cut_logs(k);
        watch_overload(k);
    }
    finish(k);
    /* A command that waits for the end sees it when the keeper's socket closes. By then all files must be gone. */
    lab_remove_folder(lab);
    free(k);
    return rc < 0;
}
