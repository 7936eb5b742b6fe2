/* SPDX-License-Identifier: Apache-2.0 */
#include "core/queue/pkt.h"

#include "base/check.h"
#include "base/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DESCRIPTOR_ALIGN = 64, CHUNK = 64 };

/*
 * Small and large packets are one object: descriptor first, memory behind it, so that a packet is one take and one
 * cache miss.
 */
struct pkt_home {
    struct pool small;
    struct pool large;
    struct pool slices; /* descriptors without memory */
    struct pkt_home_config config;
    uint32_t out;
    uint32_t fail_in; /* the take that will fail: 1 is the next, 0 none */
};

static int open_pool(struct pool *pool, size_t bytes, uint32_t limit)
{
    struct pool_config config = {
        .size = bytes,
        .align = DESCRIPTOR_ALIGN,
        .chunk = CHUNK,
        .reserve = 0,
        .limit = limit,
    };
    return pool_open(pool, &config);
}

int pkt_home_open(struct pkt_home **out, const struct pkt_home_config *config)
{
    CHECK(config->small_bytes > PKT_HEADROOM && config->large_bytes > config->small_bytes);
    struct pkt_home *home = calloc(1, sizeof *home);
    if (home == NULL) {
        return -ENOMEM;
    }
    home->config = *config;
    int rc = open_pool(&home->small, sizeof(struct cw_packet) + config->small_bytes, config->packets_max);
    if (rc == 0) {
        rc = open_pool(&home->large, sizeof(struct cw_packet) + config->large_bytes, config->packets_max);
        if (rc == 0) {
            rc = open_pool(&home->slices, sizeof(struct cw_packet), config->packets_max);
            if (rc == 0) {
                *out = home;
                return 0;
            }
            pool_close(&home->large);
        }
        pool_close(&home->small);
    }
    free(home);
    return rc;
}

void pkt_home_close(struct pkt_home *home)
{
    CHECK(home->out == 0);
    pool_close(&home->slices);
    pool_close(&home->large);
    pool_close(&home->small);
    free(home);
}

uint32_t pkt_home_out(const struct pkt_home *home)
{
    return home->out;
}

size_t pkt_home_bytes(const struct pkt_home *home)
{
    return sizeof *home + pool_bytes(&home->small) + pool_bytes(&home->large) + pool_bytes(&home->slices);
}

uint32_t pkt_home_longest(const struct pkt_home *home)
{
    return home->config.large_bytes - PKT_HEADROOM;
}

void pkt_home_fail_nth(struct pkt_home *home, uint32_t nth)
{
    home->fail_in = nth;
}

/* One limit and one failure order for all three pools: callers see one home. */
static void *take_from(struct pkt_home *home, struct pool *pool)
{
    if (home->out >= home->config.packets_max || (home->fail_in != 0 && --home->fail_in == 0)) {
        return NULL;
    }
    void *object = pool_take(pool);
    home->out += object != NULL;
    return object;
}

struct cw_packet *pkt_take(struct pkt_home *home, uint32_t length)
{
    bool small = length <= home->config.small_bytes - PKT_HEADROOM;
    if (!small && length > home->config.large_bytes - PKT_HEADROOM) {
        return NULL;
    }
    struct cw_packet *p = take_from(home, small ? &home->small : &home->large);
    if (p == NULL) {
        return NULL;
    }
    uint32_t memory = small ? home->config.small_bytes : home->config.large_bytes;
    p->next = NULL;
    p->data = (uint8_t *)(p + 1) + PKT_HEADROOM;
    p->length = length;
    p->pad = 0;
    p->room = memory - PKT_HEADROOM;
    p->refs = 1;
    p->back = PKT_HEADROOM;
    p->priority = 0;
    p->speaker = 0;
    p->kind = small ? PKT_SMALL : PKT_LARGE;
    p->home = home;
    p->lender = NULL;
    return p;
}

struct cw_packet *pkt_slice(struct cw_packet *frame, uint32_t offset, uint32_t length)
{
    CHECK(offset <= frame->length && length <= frame->length - offset + frame->pad);
    struct cw_packet *p = take_from(frame->home, &frame->home->slices);
    if (p == NULL) {
        return NULL;
    }
    uint32_t stored = frame->length - offset;
    p->next = NULL;
    p->data = frame->data + offset;
    p->length = length <= stored ? length : stored;
    p->pad = length - p->length;
    p->room = p->length; /* what lies behind is another packet's */
    p->refs = 1;
    p->back = 0;
    p->priority = 0;
    p->speaker = 0;
    p->kind = PKT_SLICE;
    p->home = frame->home;
    p->lender = pkt_ref(frame);
    return p;
}

struct cw_packet *pkt_copy(const struct cw_packet *p)
{
    struct cw_packet *copy = pkt_take(p->home, p->length);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy->data, p->data, p->length);
    copy->pad = p->pad;
    copy->head = p->head;
    copy->exts = p->exts;
    copy->priority = p->priority;
    return copy;
}

struct cw_packet *pkt_ref(struct cw_packet *p)
{
    CHECK(p->refs > 0 && p->refs < UINT16_MAX);
    p->refs++;
    return p;
}

void pkt_release(struct cw_packet *p)
{
    while (p != NULL) {
        CHECK(p->refs > 0);
        if (--p->refs > 0) {
            return;
        }
        struct pkt_home *home = p->home;
        struct cw_packet *lender = p->lender;
        struct pool *const pools[] = {&home->small, &home->large, &home->slices};
        home->out--;
        pool_give(pools[p->kind], p);
        p = lender;
    }
}
