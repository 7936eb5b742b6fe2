/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guests.h"

#include "core/mutant.h"

#include <errno.h>
#include <stdlib.h>

enum { CHAINS = 256 };

/* Neighbouring numbers, as processes and ports have, lie apart (the finalizer of MurmurHash3). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

void guests_init(struct guests *g, uint32_t limit, uint32_t first_life)
{
    CHECK(limit <= GUESTS_MAX);
    *g = (struct guests){.limit = limit, .life = first_life};
    list_init(&g->refused);
    list_init(&g->told);
    list_init(&g->gone);
    g->nobody.number = (uint16_t)(GUESTS_FIRST + limit);
}

void guests_close(struct guests *g)
{
    CHECK(g->count == 0 && list_is_empty(&g->refused) && !guests_are_stirred(g));
    free(g->at);
    free(g->slot);
    free(g->chain);
}

size_t guests_bytes(const struct guests *g)
{
    size_t tables = g->limit * sizeof *g->at + (g->mask + 1) * sizeof *g->slot + CHAINS * sizeof *g->chain;
    size_t ports = 0;
    for (uint32_t i = 0; g->at != NULL && i < g->limit; i++) {
        ports += g->at[i] != NULL ? g->at[i]->key_ports : 0;
    }
    return g->at == NULL ? 0 : tables + g->count * sizeof(struct guest) + ports * sizeof(struct guest_port);
}

/* ---- By (job, process) and by number ----------------------------------------------------------------------------- */

static uint32_t home_of(const struct guests *g, cw_job job, cw_process process)
{
    return (uint32_t)mix((uint64_t)job << 32 | process) & g->mask;
}

/* The slot of that process, or the empty one where it would be. */
static uint32_t slot_of(const struct guests *g, cw_job job, cw_process process)
{
    uint32_t at = home_of(g, job, process);
    while (g->slot[at] != NULL && (g->slot[at]->job != job || g->slot[at]->process != process)) {
        at = (at + 1) & g->mask;
    }
    return at;
}

/* With the first guest. */
static bool make_tables(struct guests *g)
{
    uint32_t slots = 2;
    while (slots < 2 * g->limit) {
        slots *= 2;
    }
    g->at = calloc(g->limit, sizeof *g->at);
    g->slot = calloc(slots, sizeof(struct guest *));
    g->chain = calloc(CHAINS, sizeof *g->chain);
    if (g->at == NULL || g->slot == NULL || g->chain == NULL) {
        free(g->at);
        free(g->slot);
        free(g->chain);
        g->at = g->slot = NULL;
        g->chain = NULL;
        return false;
    }
    g->mask = slots - 1;
    return true;
}

/* One that was not in use a moment ago, so that a number that is remembered by mistake stands for nobody. */
static uint32_t free_number(struct guests *g)
{
    while (g->at[g->cursor] != NULL) {
        g->cursor = (g->cursor + 1) % g->limit;
    }
    uint32_t i = g->cursor;
    g->cursor = (i + 1) % g->limit;
    return i;
}

struct guest *guests_add(struct guests *g, cw_job job, cw_process process)
{
    if (g->count == g->limit || (g->at == NULL && !make_tables(g))) {
        return NULL;
    }
    struct guest *guest = calloc(1, sizeof *guest);
    if (guest == NULL) {
        return NULL;
    }
    uint32_t i = free_number(g), slot = slot_of(g, job, process);
    CHECK(g->slot[slot] == NULL);
    g->life += !NODE_MUTANT(GUEST_LIFE);
    g->life += g->life == 0;
    *guest = (struct guest){.job = job, .process = process, .life = g->life, .number = (uint16_t)(GUESTS_FIRST + i)};
    g->at[i] = g->slot[slot] = guest;
    g->count++;
    return guest;
}

/* Empties a slot, and moves up those behind it that would no longer be found. */
static void empty_slot(struct guests *g, uint32_t hole)
{
    for (uint32_t at = (hole + 1) & g->mask; g->slot[at] != NULL; at = (at + 1) & g->mask) {
        uint32_t home = home_of(g, g->slot[at]->job, g->slot[at]->process);
        if (((at - home) & g->mask) >= ((at - hole) & g->mask)) {
            g->slot[hole] = g->slot[at];
            hole = at;
        }
    }
    g->slot[hole] = NULL;
}

struct guest *guests_find(const struct guests *g, cw_job job, cw_process process)
{
    return g->slot != NULL ? g->slot[slot_of(g, job, process)] : NULL;
}

struct guest *guests_after(const struct guests *g, cw_job job, unsigned number)
{
    for (uint32_t i = number < GUESTS_FIRST ? 0 : number - GUESTS_FIRST + 1; g->count > 0 && i < g->limit; i++) {
        if (g->at[i] != NULL && g->at[i]->job == job) {
            return g->at[i];
        }
    }
    return NULL;
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static struct guest_port **chain_of(const struct guests *g, cw_job job, cw_port port)
{
    return &g->chain[mix((uint64_t)job << 16 | port) % CHAINS];
}

static struct guest_port **port_of(const struct guests *g, const struct guest *guest, cw_port port)
{
    struct guest_port **at = chain_of(g, guest->job, port);
    while (*at != NULL && ((*at)->guest != guest || (*at)->port != port)) {
        at = &(*at)->next;
    }
    return at;
}

int guests_serve(struct guests *g, struct guest *guest, cw_port port, bool serves)
{
    struct guest_port **at = port_of(g, guest, port), *entry = *at;
    if (serves == (entry != NULL)) {
        return 0;
    }
    if (!serves) {
        *at = entry->next;
        guest->key_ports--;
        free(entry);
        return 0;
    }
    if (guest->key_ports == GUEST_KEY_PORTS) {
        return -ENOBUFS;
    }
    entry = malloc(sizeof *entry);
    if (entry == NULL) {
        return -ENOMEM;
    }
    *entry = (struct guest_port){.guest = guest, .port = port};
    *at = entry;
    guest->key_ports++;
    return 0;
}

uint64_t guests_hash(cw_process process, uint64_t route)
{
    return mix(route ^ mix(process + UINT64_C(0x9e3779b97f4a7c15)));
}

struct guest *guests_for_key(const struct guests *g, cw_job job, cw_port port, uint64_t route)
{
    struct guest *best = NULL;
    uint64_t most = 0;
    const struct guest_port *entry = g->chain != NULL ? *chain_of(g, job, port) : NULL;
    for (; entry != NULL; entry = entry->next) {
        uint64_t hash = guests_hash(entry->guest->process, route);
        if (entry->port == port && entry->guest->job == job && entry->guest->why == 0 &&
            (best == NULL || hash > most || (hash == most && entry->guest->process > best->process))) {
            best = entry->guest;
            most = NODE_MUTANT(GUEST_KEY) ? 0 : hash;
        }
    }
    return best;
}

static void end_ports(struct guests *g, const struct guest *guest)
{
    for (unsigned i = 0; guest->key_ports > 0 && i < CHAINS; i++) {
        struct guest_port **at = &g->chain[i];
        while (*at != NULL) {
            struct guest_port *entry = *at;
            if (entry->guest == guest) {
                *at = entry->next;
                free(entry);
            } else {
                at = &entry->next;
            }
        }
    }
}

/* ---- Room, and who is told --------------------------------------------------------------------------------------- */

void guest_note_taken(struct guest *guest, uint32_t bytes)
{
    CHECK(guest->queued > 0 && guest->queued_bytes >= bytes);
    guest->queued--;
    guest->queued_bytes -= bytes;
}

void guest_note_served(struct guest *guest, uint32_t bytes)
{
    CHECK(guest->here > 0 && guest->here_bytes >= bytes);
    guest->here--;
    guest->here_bytes -= bytes;
}

void guests_note_drained(struct guests *g)
{
    for (uint32_t i = 0; g->count > 0 && i < g->limit; i++) {
        if (g->at[i] != NULL) {
            g->at[i]->queued = g->at[i]->queued_bytes = 0;
        }
    }
    g->nobody.queued = g->nobody.queued_bytes = 0;
}

bool guest_has_room(const struct guest *guest, uint32_t bytes)
{
    uint32_t here = NODE_MUTANT(GUEST_HERE) ? 0 : guest->here,
             here_bytes = NODE_MUTANT(GUEST_HERE) ? 0 : guest->here_bytes;
    return NODE_MUTANT(GUEST_ROOM) ||
           (guest->queued + here < GUEST_PACKETS && guest->queued_bytes + here_bytes + bytes <= GUEST_BYTES);
}

static void move(struct list *list, struct guest *guest)
{
    if (list_is_linked(&guest->waits)) {
        list_remove(&guest->waits);
    }
    list_push_back(list, &guest->waits);
}

void guests_refuse(struct guests *g, struct guest *guest)
{
    if (!list_is_linked(&guest->waits)) { /* else it stands in its turn, or is to be told already */
        list_push_back(&g->refused, &guest->waits);
    }
}

void guests_stir(struct guests *g, struct guest *guest)
{
    move(&g->told, guest);
}

void guests_note_left(struct guests *g, struct guest *guest)
{
    if (list_is_linked(&guest->waits) && guest->queued + guest->here <= GUEST_PACKETS / 2) {
        guests_stir(g, guest);
    }
}

void guests_note_room(struct guests *g)
{
    struct list_node *first = list_pop_front(&g->refused);
    if (first != NULL) {
        list_push_back(&g->told, first);
    }
}

void guests_note_all_room(struct guests *g)
{
    list_splice_back(&g->told, &g->refused);
}

/* ---- Going ------------------------------------------------------------------------------------------------------- */

void guests_remove(struct guests *g, struct guest *guest)
{
    uint32_t slot = slot_of(g, guest->job, guest->process);
    CHECK(g->slot[slot] == guest && guest->calls == 0 && guest->queued == 0 && guest->here == 0);
    end_ports(g, guest);
    guest->key_ports = 0;
    empty_slot(g, slot);
    g->at[guest->number - GUESTS_FIRST] = NULL;
    g->count--;
    move(&g->gone, guest);
}

struct guest *guests_next_gone(struct guests *g)
{
    struct list_node *first = list_pop_front(&g->gone);
    return first != NULL ? container_of(first, struct guest, waits) : NULL;
}

bool guests_valid(const struct guests *g)
{
    uint32_t found = 0;
    for (uint32_t i = 0; g->at != NULL && i < g->limit; i++) {
        const struct guest *guest = g->at[i];
        if (guest == NULL) {
            continue;
        }
        found++;
        if (guest->number != GUESTS_FIRST + i || guests_find(g, guest->job, guest->process) != guest) {
            return false;
        }
    }
    return found == g->count && list_valid(&g->refused) && list_valid(&g->told) && list_valid(&g->gone);
}
