/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/capture.h"

#include "base/quantity.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct capture {
    struct pcapng *file;
    struct world *world;
    int32_t *interface; /* [server * 6 + link]; -1: not captured */
    uint64_t frames;
};

int capture_open(struct capture **out, struct world *w, const char *path)
{
    size_t directions = (size_t)world_torus(w)->servers * CW_LINK_COUNT;
    struct capture *c = calloc(1, sizeof *c);
    int32_t *interface = malloc(directions * sizeof *interface);
    int rc = c == NULL || interface == NULL ? -ENOMEM : pcapng_open(&c->file, path, "cwsim");
    if (rc < 0) {
        free(interface);
        free(c);
        return rc;
    }
    for (size_t i = 0; i < directions; i++) {
        interface[i] = -1;
    }
    c->world = w;
    c->interface = interface;
    *out = c;
    return 0;
}

static int capture_direction(struct capture *c, cw_server s, cw_link link)
{
    int32_t *interface = &c->interface[(size_t)s * CW_LINK_COUNT + link];
    char server[TORUS_TEXT], name[TORUS_TEXT + 4];
    if (*interface >= 0) {
        return 0;
    }
    torus_format(torus_coord(world_torus(c->world), s), server);
    snprintf(name, sizeof name, "%s %s", server, quantity_link_name(link));
    int rc = pcapng_interface(c->file, name, world_config(c->world)->wire.bits_per_second);
    if (rc >= 0) {
        *interface = rc;
    }
    return rc;
}

int capture_links(struct capture *c, cw_server s, cw_links links)
{
    const struct torus *torus = world_torus(c->world);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if ((links & torus_links(torus) & cw_links_of(link)) == 0) {
            continue;
        }
        int rc = capture_direction(c, s, link);
        if (rc >= 0) {
            rc = capture_direction(c, torus_neighbour(torus, s, link), cw_link_opposite(link));
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static void address(uint8_t out[6], cw_server s, cw_link link)
{
    out[0] = 0x02;
    out[1] = link;
    for (unsigned i = 0; i < 4; i++) {
        out[2 + i] = (uint8_t)(s >> (24 - 8 * i));
    }
}

void capture_frame(void *context, cw_server s, cw_link link, const struct cw_packet *frame, cw_time now,
                   const struct wire_flight *flight)
{
    struct capture *c = context;
    int32_t interface = c->interface[(size_t)s * CW_LINK_COUNT + link];
    if (interface < 0) {
        return;
    }
    struct pcapng_frame f = {
        .at = now,
        .type = frame_lane(frame->data, frame->length) == FRAME_CONTROL ? WIRE_ETHERTYPE_CONTROL : WIRE_ETHERTYPE,
        .bytes = frame->data,
        .length = frame->length,
        .zeros = frame->pad,
        .comment = flight->fate == WIRE_ARRIVES ? NULL : wire_fate_name(flight->fate),
    };
    address(f.to, world_neighbours(c->world)[(size_t)s * CW_LINK_COUNT + link], cw_link_opposite(link));
    address(f.from, s, link);
    pcapng_frame(c->file, (unsigned)interface, &f);
    c->frames++;
}

uint64_t capture_frames(const struct capture *c)
{
    return c->frames;
}

int capture_close(struct capture *c)
{
    if (c == NULL) {
        return 0;
    }
    int rc = pcapng_close(c->file);
    free(c->interface);
    free(c);
    return rc;
}
