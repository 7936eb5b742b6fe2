/* SPDX-License-Identifier: Apache-2.0 */
#include "share/greeting.h"

#include <string.h>

/* No padding: a struct's bytes are the message. */
static_assert(sizeof(struct share_greet_cookie) == 16, "cookie");
static_assert(sizeof(struct share_greet_hello) == 40 + SHARE_JOB_NAME + SHARE_LABEL + SHARE_TICKET, "hello");
static_assert(sizeof(struct share_greet_areas) == 32, "areas");
static_assert(sizeof(struct share_greet_word) == 8, "word");
static_assert(sizeof(struct share_greet_ready) == 48, "ready");
static_assert(sizeof(struct share_greet_region) == 16, "region");
static_assert(sizeof(struct share_greet_lane) == 24, "lane");
static_assert(sizeof(struct share_greet_wake) == 1, "wake");

struct kind {
    uint16_t size;
    bool from_process, from_daemon;
};

static const struct kind kinds[SHARE_GREETS] = {
    [SHARE_GREET_COOKIE] = {sizeof(struct share_greet_cookie), false, true},
    [SHARE_GREET_HELLO] = {sizeof(struct share_greet_hello), true, false},
    [SHARE_GREET_AREAS] = {sizeof(struct share_greet_areas), false, true},
    [SHARE_GREET_MAPPED] = {sizeof(struct share_greet_word), true, false},
    [SHARE_GREET_READY] = {sizeof(struct share_greet_ready), false, true},
    [SHARE_GREET_REGION] = {sizeof(struct share_greet_region), true, false},
    [SHARE_GREET_AREA] = {sizeof(struct share_greet_region), false, true},
    [SHARE_GREET_LANE] = {sizeof(struct share_greet_lane), false, true},
    [SHARE_GREET_WAKE] = {sizeof(struct share_greet_wake), false, true},
    [SHARE_GREET_BYE] = {sizeof(struct share_greet_word), true, false},
    [SHARE_GREET_GONE] = {sizeof(struct share_greet_word), false, true},
};

const char *share_greeting_fault_name(enum share_greeting_fault f)
{
    static const char *const names[SHARE_GREET_FAULTS] = {"fine", "size", "type", "version", "zero", "sizes", "text"};
    return (unsigned)f < SHARE_GREET_FAULTS ? names[f] : "?";
}

size_t share_greeting_size(enum share_greeting_type type)
{
    return (unsigned)type < SHARE_GREETS ? kinds[type].size : 0;
}

/* The type stands in the first four bytes, of WAKE in its only one. */
static void put_type(uint8_t *bytes, uint32_t type)
{
    if (type == SHARE_GREET_WAKE) {
        bytes[0] = (uint8_t)type;
        return;
    }
    memcpy(bytes, &type, sizeof type);
}

static uint32_t get_type(const uint8_t *bytes, size_t size)
{
    uint32_t type = 0;
    if (size < sizeof type) {
        return size == sizeof(struct share_greet_wake) ? bytes[0] : 0;
    }
    memcpy(&type, bytes, sizeof type);
    return type;
}

size_t share_greeting_encode(const struct share_greeting *g, uint8_t bytes[static SHARE_GREETING_MOST])
{
    size_t size = share_greeting_size(g->type);
    /* All members begin where the union does. */
    memcpy(bytes, &g->hello, size);
    if (size > 0) {
        put_type(bytes, g->type);
    }
    return size;
}

/* Text, one NUL at least, and nothing but NULs from the first on. */
static bool is_text(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    if (length == size) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e) {
            return false;
        }
    }
    for (size_t i = length; i < size; i++) {
        if (text[i] != '\0') {
            return false;
        }
    }
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    uint8_t all = 0;
    for (size_t i = 0; i < size; i++) {
        all |= bytes[i];
    }
    return all == 0;
}

static enum share_greeting_fault judge_hello(const struct share_greet_hello *h)
{
    if (h->version != SHARE_VERSION) {
        return SHARE_GREET_VERSION;
    }
    if (h->flags & ~(uint32_t)SHARE_HELLO_FLAGS || (!(h->flags & SHARE_HELLO_MORE) && h->first != 0)) {
        return SHARE_GREET_ZERO;
    }
    if (!share_geometry_sound(&h->geometry)) {
        return SHARE_GREET_SIZES;
    }
    if (h->ticket_length > SHARE_TICKET || !is_text(h->job, sizeof h->job) || !is_text(h->label, sizeof h->label) ||
        !is_zero(h->ticket + h->ticket_length, SHARE_TICKET - h->ticket_length)) {
        return SHARE_GREET_TEXT;
    }
    return SHARE_GREET_FINE;
}

static bool region_bytes_sound(uint64_t bytes)
{
    return bytes > 0 && bytes <= SHARE_REGION_MOST && bytes % SHARE_PAGE == 0;
}

static enum share_greeting_fault judge_areas(const struct share_greet_areas *a)
{
    if (a->zero != 0 || a->also_zero != 0) {
        return SHARE_GREET_ZERO;
    }
    return share_geometry_sound(&a->geometry) && region_bytes_sound(a->region_bytes) ? SHARE_GREET_FINE
                                                                                     : SHARE_GREET_SIZES;
}

static enum share_greeting_fault judge_region(const struct share_greeting *g)
{
    const struct share_greet_region *r = &g->region;
    if (g->type == SHARE_GREET_REGION && (r->number != 0 || r->generation != 0)) {
        return SHARE_GREET_ZERO;
    }
    return region_bytes_sound(r->bytes) && r->number < SHARE_REGIONS_MOST ? SHARE_GREET_FINE : SHARE_GREET_SIZES;
}

static enum share_greeting_fault judge(const struct share_greeting *g)
{
    switch (g->type) {
    case SHARE_GREET_COOKIE:
        return g->cookie.version == SHARE_VERSION ? SHARE_GREET_FINE : SHARE_GREET_VERSION;
    case SHARE_GREET_HELLO:
        return judge_hello(&g->hello);
    case SHARE_GREET_AREAS:
        return judge_areas(&g->areas);
    case SHARE_GREET_REGION:
    case SHARE_GREET_AREA:
        return judge_region(g);
    case SHARE_GREET_LANE:
        return g->lane.lane < SHARE_LANES_MOST ? SHARE_GREET_FINE : SHARE_GREET_SIZES;
    case SHARE_GREET_BYE:
        return g->word.value == 0 ? SHARE_GREET_FINE : SHARE_GREET_ZERO;
    case SHARE_GREET_READY:
        return g->ready.zero == 0 ? SHARE_GREET_FINE : SHARE_GREET_ZERO;
    default:
        return SHARE_GREET_FINE;
    }
}

enum share_greeting_fault share_greeting_decode(const uint8_t *bytes, size_t size, bool from_process,
                                                struct share_greeting *out)
{
    struct share_greeting g = {0};
    uint32_t type = get_type(bytes, size);
    if (type >= SHARE_GREETS || !(from_process ? kinds[type].from_process : kinds[type].from_daemon)) {
        return SHARE_GREET_TYPE;
    }
    if (size != kinds[type].size) {
        return SHARE_GREET_SIZE;
    }
    g.type = (enum share_greeting_type)type;
    memcpy(&g.hello, bytes, size);
    enum share_greeting_fault f = judge(&g);
    if (f == SHARE_GREET_FINE) {
        *out = g;
    }
    return f;
}
