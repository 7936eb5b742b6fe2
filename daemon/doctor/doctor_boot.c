/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/doctor/doctor_boot.h"

#include "daemon/doctor/doctor_view.h"
#include "daemon/host/internal.h"

#include "cubeway/version.h"
#include "wire/frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const cw_span late_told = CW_MINUTES(1); /* that the process did not run when it was due is told so long */

enum { SWAPS_MOST = 8, PORTS = 128 };

void doctor_about(struct host *h, const struct rows_reader *out, const char *self)
{
    out->text(out->context, "server", self);
    out->text(out->context, "part", "about");
    out->text(out->context, "version", CW_VERSION);
    out->integer(out->context, "mtu", h->mtu);
    const struct host_stalls *stalls = host_stalls(h);
    cw_span ago = cw_time_since(host_now(h), stalls->last);
    if (stalls->count > 0 && ago.ns <= late_told.ns) {
        out->integer(out->context, "late_ago_s", ago.ns / CW_NS_PER_SEC);
        out->integer(out->context, "late_longest_ms", cw_span_ms(stalls->longest));
    }
    out->row(out->context);
}

/* The hellos have told of that link, and better; or it is up, and the slower probes of the bootstrap lag behind. */
static bool is_told(const struct doctor *d, cw_link link)
{
    return (d->told & cw_links_of(link)) != 0 || d->info[link].committed;
}

/* Both say so, and each is heard by all its neighbours as ever: their cables are right. */
static void tell_copy(struct doctor *d, const struct boot_fault *fault)
{
    const struct daemon_config *config = host_config(d->s->host);
    cw_link link = (cw_link)fault->direction;
    char far[TORUS_TEXT];
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) { /* another cable leads there, too */
        if (d->copies & cw_links_of(i) &&
            memcmp(&d->info[i].expected, &d->info[link].expected, sizeof d->info[i].expected) == 0) {
            return;
        }
    }
    d->copies |= cw_links_of(link);
    torus_format(d->info[link].expected, far);
    doctor_say(d, DOCTOR_WARNING, "same-id", link,
               "this server and %s have the same id (%016" PRIx64 "): the state file of one is a copy of the other's",
               far, fault->far.id != 0 ? fault->far.id : fault->who.id);
    doctor_advise(d,
                  "on the one with the copy, %s or %s: systemctl stop cubewayd; rm its file (here: %s/%s.state); "
                  "systemctl start cubewayd",
                  d->self, far, config->state_dir, config->name);
}

void doctor_bootstrap(struct doctor *d, const struct boot *b)
{
    for (unsigned i = 0; i < boot_fault_count(b); i++) {
        const struct boot_fault *fault = boot_fault(b, i);
        char text[BOOT_FAULT_TEXT];
        bool own = fault->who.placed && memcmp(&fault->who.at, &d->s->self, sizeof d->s->self) == 0;
        if (fault->kind == BOOT_FAULT_SAME_ID && fault->direction < CW_LINK_COUNT) {
            if (own) {
                tell_copy(d, fault);
            }
            continue;
        }
        if (own && fault->direction < CW_LINK_COUNT && is_told(d, (cw_link)fault->direction)) {
            continue;
        }
        if (own && fault->kind == BOOT_FAULT_SILENT && doctor_is_cut_off(d)) {
            continue; /* that it reaches nobody is said, and worse than that no cable brings anything */
        }
        boot_fault_text(fault, text);
        doctor_say(d, fault->tells_only ? DOCTOR_WARNING : DOCTOR_BROKEN, boot_fault_name(fault->kind), CW_LINK_SELF,
                   "%s", text);
        doctor_do(d, "cwctl wiring");
    }
}

/* ---- A server without a place ------------------------------------------------------------------------------------ */

/* The ports over which that version of the wire comes, as "+x, -y"; 0 where none does. */
static unsigned list_ports(const struct host *h, const uint8_t *foreign, uint8_t version, char out[static PORTS])
{
    unsigned count = 0;
    size_t used = 0;
    out[0] = '\0';
    for (cw_link link = 0; link < CW_LINK_COUNT && used < PORTS; link++) {
        if (foreign[link] == version) {
            used += (size_t)snprintf(out + used, PORTS - used, "%s%s", count++ > 0 ? ", " : "",
                                     config_link_name(&h->config, h->port_of[link]));
        }
    }
    return count;
}

/*
 * Neighbours whose frames tell nothing to who looks for a place: they are of another version of the wire. One finding
 * for each version.
 */
static void look_at_foreign_ports(struct doctor *d)
{
    const struct host *h = d->s->host;
    const uint8_t *foreign = host_pump_server(d->s)->viewlog.foreign;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        char ports[PORTS];
        bool told = foreign[link] == 0;
        for (cw_link before = 0; before < link; before++) {
            told |= foreign[before] == foreign[link];
        }
        if (told) {
            continue;
        }
        unsigned count = list_ports(h, foreign, foreign[link], ports);
        doctor_say(d, DOCTOR_BROKEN, "version", CW_LINK_SELF,
                   "what comes over %s is version %u of the wire, and this server speaks version %u: its neighbour%s "
                   "there run%s another release, and neither understands the other",
                   ports, foreign[link], WIRE_VERSION_NOW, count == 1 ? "" : "s", count == 1 ? "s" : "");
        doctor_advise(d, "cubewayd --version there (here: %s), then install the same release on %s", CW_VERSION,
                      count == 1 ? "both" : "all");
    }
}

static void tell_swap(struct doctor *d, const struct boot_swap *swap)
{
    char text[BOOT_FAULT_TEXT], remedy[BOOT_FAULT_TEXT];
    boot_swap_text(swap, text);
    boot_swap_remedy(swap, remedy);
    doctor_say(d, DOCTOR_GRAVE, "swapped", CW_LINK_SELF, "%s: as long as they are, no server finds its place", text);
    doctor_advise(d, "%s, then: cwctl wiring", remedy);
}

static bool is_among(const struct boot_swap *swaps, unsigned count, const struct boot_swap *swap)
{
    for (unsigned i = 0; i < count; i++) {
        if (boot_swap_equal(&swaps[i], swap)) {
            return true;
        }
    }
    return false;
}

/* Positions are guesses while no torus is agreed on. */
static void tell_fault(struct doctor *d, const struct boot_fault *fault)
{
    struct boot_fault plain = *fault;
    char text[BOOT_FAULT_TEXT];
    struct boot_who *who[] = {&plain.who, &plain.far, &plain.expected, &plain.other};
    for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
        who[i]->placed = who[i]->placed && who[i]->id == 0;
    }
    boot_fault_text(&plain, text);
    doctor_say(d, fault->tells_only ? DOCTOR_WARNING : DOCTOR_GRAVE, boot_fault_name(fault->kind), CW_LINK_SELF, "%s",
               text);
    doctor_advise(d, "cwctl wiring");
}

/* True: something was told that keeps this server from its place. */
static bool look_at_faults(struct doctor *d, const struct boot *b)
{
    struct boot_swap swaps[SWAPS_MOST];
    unsigned count = 0;
    bool bars = false;
    for (unsigned i = 0; i < boot_fault_count(b); i++) {
        const struct boot_fault *fault = boot_fault(b, i);
        struct boot_swap swap;
        bars = bars || !fault->tells_only;
        if (!boot_fault_swap(fault, &swap) || count == SWAPS_MOST) {
            tell_fault(d, fault);
        } else if (!is_among(swaps, count, &swap)) {
            swaps[count++] = swap;
            tell_swap(d, &swap);
        }
    }
    return bars;
}

static void tell_no_place(struct doctor *d, const struct boot *b)
{
    struct boot_progress progress;
    boot_progress(b, &progress);
    doctor_say(d, DOCTOR_GRAVE, "no-place", CW_LINK_SELF,
               progress.state == BOOT_REFUSED
                   ? "no torus can be made of the cables that are known: this server has no place (servers known: "
                     "%" PRIu32 ")"
                   : "this server still looks for its place in the torus (servers known: %" PRIu32 ")",
               progress.servers);
    doctor_advise(d, "cwctl wiring");
}

unsigned doctor_search(struct host *h, const struct rows_reader *out)
{
    struct doctor d = {.s = host_server(h, 0), .out = out, .link = CW_LINK_SELF};
    snprintf(d.self, sizeof d.self, "-");
    doctor_about(h, out, d.self);
    if (h->boot != NULL) {
        look_at_foreign_ports(&d);
        if (!look_at_faults(&d, h->boot)) {
            tell_no_place(&d, h->boot);
        }
    }
    return d.found;
}
