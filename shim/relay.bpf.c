/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.bpf.c - the relay, as a program of the kernel: traffic control runs it for each frame that comes in by a link
 * (docs/relay.md). It is the judge of wire/relay.h, its counts, and the redirection of what has been passed.
 *
 * It drops nothing, and keeps nothing between two frames but what is in its two maps. One program is attached to all
 * links, because the kernel takes tens of milliseconds to verify it. It needs no type of the kernel, and runs on 5.12
 * and later.
 */
#include "wire/relay.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <linux/pkt_cls.h>

/* The value that the node publishes: one element. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct relay_state);
} states SEC(".maps");

/* An element for each processor (shim/relay.c says how many), so that counting takes no lock. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct relay_counts);
} counts SEC(".maps");

RELAY_INLINE void count(uint32_t in, const struct relay_verdict *verdict, uint32_t bytes)
{
    uint32_t processor = bpf_get_smp_processor_id();
    struct relay_counts *mine = bpf_map_lookup_elem(&counts, &processor);
    if (mine == NULL) {
        return;
    }
    mine->by_reason[relay_bound(in, RELAY_LINKS - 1)][relay_bound(verdict->reason, RELAY_REASON_SLOTS - 1)]++;
    if (verdict->reason == RELAY_PASSED) {
        struct relay_sent *sent =
            &mine->sent[relay_bound(verdict->place, RELAY_PLACES - 1)][relay_bound(verdict->out, RELAY_LINKS - 1)];
        sent->packets++;
        sent->bytes += bytes - RELAY_AT_FRAME;
    }
}

/*
 * The link whose interface it is; RELAY_LINKS - 1, by which no frame is passed: of none. Computed without a branch:
 * with one the verifier would follow all that comes behind it for each link by itself.
 */
RELAY_INLINE uint32_t link_of(const struct relay_state *state, uint32_t ifindex)
{
    uint64_t link = RELAY_LINKS - 1;
    for (uint32_t i = 0; i < RELAY_LINKS - 1; i++) {
        uint64_t other = RELAY_READ(state->port[i]) ^ ifindex;
        __asm__ volatile("" : "+r"(other)); /* else the compiler would see a comparison in it, and make a branch */
        link ^= (0 - ((other - 1) >> 63)) & (i ^ (RELAY_LINKS - 1));
    }
    return (uint32_t)link;
}

SEC("tc") int relay_tc(struct __sk_buff *skb);
SEC("tc") int relay_tc(struct __sk_buff *skb)
{
    struct relay_verdict verdict = {.reason = RELAY_OTHER};
    uint32_t first = 0, bytes = skb->len;
    struct relay_state *state = bpf_map_lookup_elem(&states, &first);
    if (state == NULL) {
        return TC_ACT_UNSPEC;
    }
    if ((void *)(long)skb->data + RELAY_HEADS_BYTES > (void *)(long)skb->data_end && bytes >= RELAY_HEADS_BYTES) {
        bpf_skb_pull_data(skb, RELAY_HEADS_BYTES); /* a device may leave the heads in pages of its own */
    }
    uint32_t in = (uint32_t)relay_bound(link_of(state, skb->ifindex), RELAY_LINKS - 1);
    if (!skb->vlan_present) {
        relay_judge(state, (void *)(long)skb->data, (void *)(long)skb->data_end, bytes, in, bpf_ktime_get_boot_ns(),
                    &verdict);
    }
    count(in, &verdict, bytes);
    return verdict.reason == RELAY_PASSED ? (int)bpf_redirect(verdict.ifindex, 0) : TC_ACT_UNSPEC;
}

/* It calls no helper that the kernel keeps for programs under its own licence. */
char relay_license[] SEC("license") = "Apache-2.0";
