/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tun gives: ten bytes of a virtio head, then a packet. Whatever is taken is cut into pieces that have room, are
 * right packets each, and joined again make the packet that was read.
 */
#include "services/tunnel/cut.h"
#include "services/tunnel/join.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct join join = {.udp = true};
static uint8_t piece[TUNNEL_PACKET_MOST];

static void cut_and_join(const struct ip_packet *p, const struct offload *offload, size_t room)
{
    struct cut cut;
    struct offload each, had;
    struct ip_packet q, before;
    if (cut_begin(&cut, p, offload, room) != TUNNEL_GOOD) {
        return;
    }
    unsigned count = 0, taken = 0;
    for (size_t length; (length = cut_next(&cut, piece, &each)) != 0; count++) {
        if (length > room || ip_read(piece, length, &q) != TUNNEL_GOOD || !offload_fits(&q, &each)) {
            abort();
        }
        if (!join_add(&join, &q, &each)) {
            taken += join_take(&join, &before, &had);
            if (!join_add(&join, &q, &each)) {
                abort();
            }
        }
    }
    /* Urgent data, and datagrams in greater number than Linux makes, are not joined. */
    if (!join_take(&join, &q, &each) || (taken == 0 && (q.length != p->length || each.gso_size != offload->gso_size ||
                                                        memcmp(q.bytes, p->bytes, q.length) != 0))) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ip_packet p;
    struct offload offload;
    if (size < TUNNEL_VNET_BYTES) {
        return 0;
    }
    size_t length = size - TUNNEL_VNET_BYTES;
    uint8_t *bytes = malloc(length == 0 ? 1 : length); /* exact: a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data + TUNNEL_VNET_BYTES, length);
    if (ip_read(bytes, length, &p) == TUNNEL_GOOD && vnet_read(data, bytes, &p, &offload) == TUNNEL_GOOD) {
        uint8_t head[TUNNEL_VNET_BYTES];
        struct offload again;
        vnet_write(&p, &offload, head);
        if (vnet_read(head, bytes, &p, &again) != TUNNEL_GOOD || again.partial != offload.partial ||
            again.gso_size != offload.gso_size) {
            abort();
        }
        cut_and_join(&p, &offload, p.heads + 1u + length / 3);
        cut_and_join(&p, &offload, (size_t)p.heads + offload.gso_size + 1);
    }
    free(bytes);
    return 0;
}
