/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/relay.h"

#include "base/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef CUBEWAY_RELAY

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/capability.h>
#include <net/if.h>
#include <relay.skel.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    ATTACH_TCX = 46, /* BPF_TCX_INGRESS, which headers before Linux 6.6 do not name */
    FILTER_HANDLE = 0xC0BE,
    FILTER_PRIORITY = 0xC0BE,
    KERNEL_MAJOR = 5,
    KERNEL_MINOR = 12,  /* atomics with a result */
    RIGHT_PERFMON = 38, /* CAP_PERFMON and CAP_BPF, which headers before Linux 5.8 do not name */
    RIGHT_BPF = 39,
};

struct tap {
    enum relay_hook hook;
    int ifindex;
    int fd; /* of the tcx link; -1 */
};

struct relay {
    struct relay_program *skeleton;
    struct relay_state *state;        /* mapped */
    const struct relay_counts *count; /* mapped; one for each processor */
    unsigned processors;
    struct tap tap[CW_LINK_COUNT];
};

/* A sentence of our own; gives rc. */
__attribute__((format(printf, 3, 4))) static int because(int rc, char why[static RELAY_WHY_BYTES], const char *format,
                                                         ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, RELAY_WHY_BYTES, format, args);
    va_end(args);
    return rc;
}

static int be_silent(enum libbpf_print_level level, const char *format, va_list args)
{
    (void)level, (void)format, (void)args;
    return 0;
}

static int check_kernel(char why[static RELAY_WHY_BYTES])
{
    struct utsname name;
    int major = 0, minor = 0;
    if (uname(&name) < 0 || sscanf(name.release, "%d.%d", &major, &minor) != 2) {
        return because(-EOPNOTSUPP, why, "the version of the kernel cannot be read");
    }
    if (major < KERNEL_MAJOR || (major == KERNEL_MAJOR && minor < KERNEL_MINOR)) {
        return because(-EOPNOTSUPP, why, "the kernel is %d.%d, and a relay needs %d.%d or a later one", major, minor,
                       KERNEL_MAJOR, KERNEL_MINOR);
    }
    return 0;
}

static int check_rights(char why[static RELAY_WHY_BYTES])
{
    static const struct {
        unsigned number;
        const char *name;
    } rights[] = {{RIGHT_BPF, "CAP_BPF"}, {RIGHT_PERFMON, "CAP_PERFMON"}, {CAP_NET_ADMIN, "CAP_NET_ADMIN"}};
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &head, data) < 0) {
        return because(-errno, why, "capabilities cannot be read: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        if ((data[rights[i].number / 32].effective >> rights[i].number % 32 & 1) == 0) {
            return because(-EPERM, why,
                           "the right %s is missing: a relay is loaded by root, or with CAP_BPF, CAP_PERFMON and "
                           "CAP_NET_ADMIN",
                           rights[i].name);
        }
    }
    return 0;
}

static size_t mapped_bytes(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static int map_both(struct relay *r)
{
    int fd = bpf_map__fd(r->skeleton->maps.states);
    void *at = mmap(NULL, mapped_bytes(sizeof *r->state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        return -errno;
    }
    r->state = at;
    fd = bpf_map__fd(r->skeleton->maps.counts);
    at = mmap(NULL, mapped_bytes(r->processors * sizeof *r->count), PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        return -errno;
    }
    r->count = at;
    return 0;
}

static int load(struct relay *r, char why[static RELAY_WHY_BYTES])
{
    int processors = libbpf_num_possible_cpus();
    r->skeleton = relay_program__open();
    if (r->skeleton == NULL || processors < 0) {
        return because(r->skeleton == NULL ? -errno : processors, why, "the relay's program cannot be opened");
    }
    r->processors = (unsigned)processors;
    int rc = bpf_map__set_max_entries(r->skeleton->maps.counts, r->processors);
    rc = rc < 0 ? rc : relay_program__load(r->skeleton);
    if (rc == -EPERM) {
        return because(rc, why,
                       "the kernel refuses programs here, as it does in a user namespace: a relay is loaded "
                       "by a daemon that starts outside of it");
    }
    rc = rc < 0 ? rc : map_both(r);
    return rc < 0 ? because(rc, why, "the kernel refuses the relay's program: %s", strerror(-rc)) : 0;
}

int relay_open(struct relay **out, char why[static RELAY_WHY_BYTES])
{
    why[0] = '\0';
    int rc = check_kernel(why);
    rc = rc < 0 ? rc : check_rights(why);
    if (rc < 0) {
        return rc;
    }
    struct relay *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return because(-ENOMEM, why, "no memory");
    }
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        r->tap[i].fd = -1;
    }
    libbpf_set_print(be_silent); /* what goes wrong is said by us, once */
    rc = load(r, why);
    if (rc < 0) {
        relay_close(r);
        return rc;
    }
    *out = r;
    return 0;
}

void relay_close(struct relay *r)
{
    if (r == NULL) {
        return;
    }
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        relay_detach(r, i);
    }
    if (r->state != NULL) {
        munmap(r->state, mapped_bytes(sizeof *r->state));
    }
    if (r->count != NULL) {
        munmap((void *)(uintptr_t)r->count, mapped_bytes(r->processors * sizeof *r->count));
    }
    relay_program__destroy(r->skeleton);
    free(r);
}

struct relay_state *relay_shared(struct relay *r)
{
    return r->state;
}

int relay_program(const struct relay *r)
{
    return bpf_program__fd(r->skeleton->progs.relay_tc);
}

/* One filter of a fixed name, so that it replaces what an earlier process left. 0 or -errno. */
static int attach_clsact(int program, int ifindex)
{
    DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_INGRESS);
    DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = program, .flags = BPF_TC_F_REPLACE, .handle = FILTER_HANDLE,
                        .priority = FILTER_PRIORITY);
    int rc = bpf_tc_hook_create(&hook);
    return rc < 0 && rc != -EEXIST ? rc : bpf_tc_attach(&hook, &opts);
}

static void detach_clsact(int ifindex)
{
    DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_INGRESS);
    DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .handle = FILTER_HANDLE, .priority = FILTER_PRIORITY);
    (void)bpf_tc_detach(&hook, &opts); /* what is not there need not go */
}

int relay_attach(struct relay *r, cw_link link, const char *interface, bool clsact_only,
                 char why[static RELAY_WHY_BYTES])
{
    int program = relay_program(r), ifindex = (int)if_nametoindex(interface);
    why[0] = '\0';
    if (ifindex == 0) {
        return because(-ENODEV, why, "%s: no such interface", interface);
    }
    relay_detach(r, link);
    detach_clsact(ifindex);
    int rc = clsact_only ? -EOPNOTSUPP : bpf_link_create(program, ifindex, (enum bpf_attach_type)ATTACH_TCX, NULL);
    if (rc >= 0) {
        r->tap[link] = (struct tap){RELAY_TCX, ifindex, rc};
        RELAY_WRITE(r->state->port[link], (uint32_t)ifindex);
        return ifindex;
    }
    int second = attach_clsact(program, ifindex);
    if (second < 0) {
        return because(second, why, "%s: the relay cannot be attached: %s", interface, strerror(-second));
    }
    r->tap[link] = (struct tap){RELAY_CLSACT, ifindex, -1};
    RELAY_WRITE(r->state->port[link], (uint32_t)ifindex);
    return ifindex;
}

void relay_detach(struct relay *r, cw_link link)
{
    struct tap *tap = &r->tap[link];
    if (tap->hook == RELAY_TCX) {
        close(tap->fd);
    } else if (tap->hook == RELAY_CLSACT) {
        detach_clsact(tap->ifindex);
    }
    if (r->state != NULL) {
        RELAY_WRITE(r->state->port[link], 0);
    }
    *tap = (struct tap){.fd = -1};
}

enum relay_hook relay_hook(const struct relay *r, cw_link link)
{
    return r->tap[link].hook;
}

unsigned relay_taps(const struct relay *r, int fds[static CW_LINK_COUNT])
{
    unsigned count = 0;
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        if (r->tap[i].hook == RELAY_TCX) {
            fds[count++] = r->tap[i].fd;
        }
    }
    return count;
}

void relay_counted(const struct relay *r, struct relay_counts *out)
{
    uint64_t *sum = (uint64_t *)out;
    memset(out, 0, sizeof *out);
    for (unsigned processor = 0; processor < r->processors; processor++) {
        const uint64_t *one = (const uint64_t *)&r->count[processor];
        for (size_t i = 0; i < sizeof *out / sizeof *sum; i++) {
            sum[i] += RELAY_READ(one[i]);
        }
    }
}

#else

int relay_open(struct relay **out, char why[static RELAY_WHY_BYTES])
{
    (void)out;
    snprintf(why, RELAY_WHY_BYTES, "%s",
             "this build has no relay: clang, bpftool and libbpf must be there when it is configured (CUBEWAY_RELAY)");
    return -EOPNOTSUPP;
}

/* Nobody has a relay, so that nobody can call the others. */
void relay_close(struct relay *r)
{
    CHECK(r == NULL);
}

struct relay_state *relay_shared(struct relay *r)
{
    CHECK(r != NULL);
    return NULL;
}

int relay_attach(struct relay *r, cw_link link, const char *interface, bool clsact_only,
                 char why[static RELAY_WHY_BYTES])
{
    (void)link, (void)interface, (void)clsact_only, (void)why;
    CHECK(r != NULL);
    return -EOPNOTSUPP;
}

void relay_detach(struct relay *r, cw_link link)
{
    (void)link;
    CHECK(r != NULL);
}

enum relay_hook relay_hook(const struct relay *r, cw_link link)
{
    (void)link;
    CHECK(r != NULL);
    return RELAY_DETACHED;
}

unsigned relay_taps(const struct relay *r, int fds[static CW_LINK_COUNT])
{
    (void)fds;
    CHECK(r != NULL);
    return 0;
}

void relay_counted(const struct relay *r, struct relay_counts *out)
{
    CHECK(r != NULL);
    memset(out, 0, sizeof *out);
}

int relay_program(const struct relay *r)
{
    CHECK(r != NULL);
    return -1;
}

#endif
