/* SPDX-License-Identifier: Apache-2.0 */
#include "relay_orders.h"

#include "base/bytes.h"
#include "seeds.h"
#include "wire/relay.h"
#include "wire/relay_publish.h"

#include <string.h>

enum {
    IN = 5, /* frames come by this link, and leave by one of the others */
    OUTS = 5,
    PEER = 4711,
    SIDE = 4,
    SERVERS = SIDE * SIDE * SIDE,
    JOB = 7,  /* comes and goes */
    PATH = 8, /* wants to see its transit, and always finds an entry or sets others_up */
    CROWD = 6,
};

static struct scene {
    struct dice *d;
    char *wrong;
    struct relay_state state;
    struct relay_writer writer;
    uint8_t way[SERVERS];
    uint32_t crowd[CROWD]; /* jobs that want the same entries of the table; PATH's kind */
    bool job_here;
    bool publishing, judging;
    unsigned steps;                  /* of the publication that runs */
    cw_links gone;                   /* links that the publication takes out, from its third step on */
    cw_links cut;                    /* links that have failed, */
    uint32_t cut_gen[CW_LINK_COUNT]; /* and the generation that held then */
    uint32_t job_gone_gen;           /* the first generation without JOB; 0: it is here */
    unsigned passed;
} s;

static void fail(const char *rule, const char *what, uint32_t a, uint32_t b)
{
    seeds_fail(s.wrong, rule, "%s (%u, %u)", what, a, b);
}

/* What generation g publishes. */
static uint16_t session_of(uint32_t gen)
{
    return (uint16_t)(gen * 7);
}

static struct relay_draft draft_of(uint32_t gen)
{
    struct relay_draft draft = {
        .dims = {SIDE, SIDE, SIDE}, .in = CW_LINKS_ALL, .out = CW_LINKS_ALL, .way = s.way, .way_epoch = gen};
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        draft.link[i] = (struct relay_link){.ifindex = gen + 1000,
                                            .session = session_of(gen),
                                            .peer = PEER,
                                            .top = (uint16_t)(session_of(gen) + 1),
                                            .received = 100,
                                            .mtu = 9000,
                                            .mac = {gen, gen * 3, gen * 5}};
    }
    memset(s.way, RELAY_WAY_HOME | 1 << gen % OUTS, sizeof s.way);
    return draft;
}

static void make_frame(uint8_t frame[static RELAY_HEADS_BYTES], uint32_t job)
{
    uint8_t *head = frame + RELAY_AT_FRAME, *packet = frame + RELAY_AT_PACKET;
    memset(frame, 0, RELAY_HEADS_BYTES);
    put_be16(frame + RELAY_AT_ETHERTYPE, WIRE_ETHERTYPE);
    head[FRAME_AT_VERSION] = WIRE_VERSION_NOW << 4;
    head[FRAME_AT_PACKETS] = 1;
    put_be16(head + FRAME_AT_SESSION, PEER);
    packet[PACKET_AT_KIND] = WIRE_VERSION_NOW << 4 | PACKET_SERVER;
    put_be16(packet + PACKET_AT_LENGTH, PACKET_HEAD_BYTES);
    packet[PACKET_AT_HOP_LIMIT] = 64;
    put_be32(packet + PACKET_AT_JOB, job);
    put_be32(packet + PACKET_AT_DESTINATION, dice_below(s.d, SIDE) << 24 | dice_below(s.d, SIDE) << 16);
}

/* The frame was relayed: by which generation, and by that one alone? */
static uint32_t generation_of(const uint8_t *frame, const struct relay_verdict *verdict)
{
    const uint8_t *head = frame + RELAY_AT_FRAME;
    uint32_t gen = verdict->ifindex - 1000, mac[3];
    memcpy(mac, frame, sizeof mac);
    if (verdict->out != gen % OUTS) {
        fail("torn", "the route is of another generation", verdict->out, gen);
    }
    if (get_be16(head + FRAME_AT_SESSION) != session_of(gen) ||
        get_be16(head + FRAME_AT_POSITION) != (uint16_t)(session_of(gen) + 1)) {
        fail("torn", "the session or the position is of another generation", get_be16(head + FRAME_AT_SESSION), gen);
    }
    if (mac[0] != gen || mac[1] != gen * 3 || mac[2] != gen * 5) {
        fail("torn", "the addresses are of another generation", mac[0], gen);
    }
    return gen;
}

static void judge_one(void)
{
    uint8_t frame[RELAY_HEADS_BYTES];
    struct relay_verdict verdict;
    uint32_t kinds[] = {JOB, PATH, 5000, s.crowd[dice_below(s.d, CROWD)]}, kind = dice_below(s.d, 4);
    cw_links cut = s.cut; /* links that had failed when the judge began */
    uint32_t cut_gen[CW_LINK_COUNT];
    memcpy(cut_gen, s.cut_gen, sizeof cut_gen);
    bool quiet = !s.publishing;
    make_frame(frame, kinds[kind]);
    s.judging = true;
    relay_judge(&s.state, frame, frame + sizeof frame, sizeof frame, IN, 1, &verdict);
    s.judging = false;
    if (verdict.reason != RELAY_PASSED) {
        return;
    }
    s.passed++;
    uint32_t gen = generation_of(frame, &verdict);
    for (unsigned link = 0; link < CW_LINK_COUNT; link++) {
        if ((link == IN || link == verdict.out) && (cut >> link & 1) != 0 && gen <= cut_gen[link]) {
            fail("cut", "a link that had failed was relayed from or to", link, gen);
        }
    }
    if (kind == 0 && s.job_gone_gen != 0 && gen >= s.job_gone_gen) {
        fail("job", "a job that has gone was relayed by a generation without it", gen, s.job_gone_gen);
    }
    if (quiet && (kind == 1 || kind == 3)) {
        fail("job", "a job that wants to see its transit was relayed", kinds[kind], gen);
    }
}

static void cut_link(cw_link link)
{
    s.cut |= (cw_links)(1u << link);
    s.cut_gen[link] = s.state.gen;
}

static void publish_one(void)
{
    uint32_t gen = s.state.gen + 1;
    struct relay_draft draft = draft_of(gen);
    struct relay_job jobs[2 + CROWD];
    struct relay_jobs all = {.job = jobs};
    bool job_here = dice_below(s.d, 2) != 0;
    cw_links live = dice_below(s.d, 3) == 0 ? (cw_links)(dice_word(s.d) & CW_LINKS_ALL) : CW_LINKS_ALL;
    jobs[all.count++] = (struct relay_job){PATH, RELAY_UP};
    for (unsigned i = 0; i < CROWD; i++) {
        jobs[all.count++] = (struct relay_job){s.crowd[i], RELAY_UP};
    }
    if (job_here) {
        jobs[all.count++] = (struct relay_job){JOB, 3};
    }
    s.job_gone_gen = job_here ? 0 : s.job_gone_gen != 0 ? s.job_gone_gen : gen;
    s.gone = (cw_links)(s.state.live & ~live);
    s.steps = 0;
    s.publishing = true;
    relay_publish(&s.writer, &(struct relay_news){.lease = 100, .live = live, .view = &draft, .jobs = &all});
    s.publishing = false;
    s.cut &= (cw_links)~live;
}

/* A link fails, a generation comes, or both. */
static void node_does(void)
{
    if (dice_below(s.d, 2) == 0) {
        cw_link link = (cw_link)dice_below(s.d, CW_LINK_COUNT);
        s.publishing = true;
        relay_cut(&s.state, (cw_links)(1u << link));
        s.publishing = false;
        cut_link(link);
    }
    publish_one();
}

void relay_step(void)
{
    if (s.publishing && !s.judging) {
        s.steps++;
        for (cw_link link = 0; link < CW_LINK_COUNT && s.steps == 3; link++) {
            if ((s.gone >> link & 1) != 0) {
                cut_link(link);
            }
        }
        if (dice_below(s.d, 8) == 0) {
            judge_one();
        }
    } else if (s.judging && !s.publishing) {
        if (dice_below(s.d, 12) == 0) {
            s.judging = false;
            node_does();
            s.judging = true;
        }
    }
}

unsigned relay_orders(struct dice *d, unsigned rounds, char *wrong)
{
    memset(&s, 0, sizeof s);
    s.d = d;
    s.wrong = wrong;
    for (uint32_t job = 2000, found = 0; found < CROWD; job++) {
        if (relay_job_at(job) == RELAY_JOBS - 2) {
            s.crowd[found++] = job;
        }
    }
    relay_writer_open(&s.writer, &s.state, WIRE_ETHERTYPE);
    publish_one();
    for (unsigned i = 0; i < rounds; i++) {
        node_does();
        for (unsigned k = dice_below(d, 4); k > 0; k--) {
            judge_one();
        }
    }
    return s.passed;
}
