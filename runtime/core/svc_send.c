/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svc_send.c - what services send: every word of theirs is checked here, then it is a packet like any other.
 */
#include "core/node_internal.h"

#include "keyspace/key.h"
#include "wire/frame.h"

#include <errno.h>
#include <string.h>

enum {
    FRONT_BYTES = 14 + FRAME_HEAD_BYTES + FRAME_TAG_BYTES, /* what the frame layer likes to find before a packet */
    ADOPT_MAX = 4096, /* bytes of the largest structure that a later API may have: more is no size but chance */
    PATH_SPARE = 6,   /* links beyond the shortest path that a recorded path has places for, at least */
};

bool node_adopt(void *out, size_t size, size_t least, const void *src)
{
    size_t theirs;
    memcpy(&theirs, src, sizeof theirs);
    if (theirs < least || theirs > ADOPT_MAX) {
        return false;
    }
    const uint8_t *bytes = src;
    for (size_t i = size; i < theirs; i++) {
        if (bytes[i] != 0) {
            return false; /* an option of a later API that this server does not know */
        }
    }
    memset(out, 0, size);
    memcpy(out, src, theirs < size ? theirs : size);
    return true;
}

/*
 * A packet that is being addressed: what its head will say and how long its extensions are. draft_begin() clears what
 * nobody may write, and no more: most packets have neither options nor way-points.
 */
struct draft {
    struct packet_head head;
    const cw_send_options *options; /* no_options, or `adopted` */
    cw_send_options adopted;
    struct ext_waypoints waypoints;
    uint16_t distance; /* links to where it goes, as long as nothing is broken */
    uint8_t path_places;
    uint8_t trace_places;
};

static const cw_send_options no_options;

static void draft_begin(struct draft *d)
{
    d->head = (struct packet_head){0};
    d->options = &no_options;
    d->waypoints.count = d->waypoints.next = 0;
    d->distance = 0;
    d->path_places = d->trace_places = 0;
}

/* Where `to` leads, as words: the head, and the server (CW_SERVER_NONE for a key). */
static int draft_place(const struct node *n, const cw_to *to, struct draft *d, cw_server *target)
{
    d->head.job = to->job;
    d->head.port = to->port;
    *target = CW_SERVER_NONE;
    switch (to->kind) {
    case CW_TO_KEY:
        d->head.kind = PACKET_KEY;
        d->head.to.key = key_route64(&to->key);
        d->distance = (uint16_t)torus_distance(&n->torus, n->self, key_home(&n->torus, d->head.to.key));
        return 0;
    case CW_TO_SERVER:
        if (!torus_holds(&n->torus, to->server)) {
            return -EINVAL;
        }
        *target = torus_id(&n->torus, to->server);
        d->head.kind = PACKET_SERVER;
        d->head.to.server = to->server;
        d->distance = (uint16_t)torus_distance(&n->torus, n->self, *target);
        break;
    case CW_TO_LINK:
        if (to->link >= CW_LINK_COUNT || !(n->cabled & cw_links_of(to->link))) {
            return -EINVAL;
        }
        d->head.to.server = n->neighbour[to->link];
        *target = torus_id(&n->torus, d->head.to.server);
        d->head.kind = PACKET_LINK;
        d->distance = 1;
        break;
    default:
        return -EINVAL;
    }
    d->head.to.process = to->process;
    return 0;
}

/*
 * May somebody of the job be there, though it has no service here? An answer may go to it: its request came from
 * servers that have it. Where processes attach, they may be of any job that is no built-in service, and reach all.
 */
static bool may_be_elsewhere(const struct cw_svc *svc, cw_job job, bool answer)
{
    return answer || svc->guest != NULL || (svc->node->guests.limit > 0 && job >= NODE_JOBS_LOADED);
}

/* Is it there? */
static int find_destination(const struct cw_svc *svc, const cw_to *to, bool answer, cw_server target)
{
    struct node *n = svc->node;
    if (node_service_of(n, to->job) == NULL && !may_be_elsewhere(svc, to->job, answer)) {
        return -ENOENT;
    }
    bool there = to->kind == CW_TO_LINK     ? (ls_live_links(n->ls) & cw_links_of(to->link)) != 0
                 : to->kind == CW_TO_SERVER ? reach_has(ls_committed(n->ls), target)
                                            : true;
    return there ? 0 : -ENETUNREACH;
}

/*
 * First what is asked, then whether it is allowed - an answer is (NMU 4.2) -, and only then whether it is there: who
 * may not, learns nothing.
 */
static int draft_destination(struct cw_svc *svc, const struct node_address *a, struct draft *d)
{
    cw_server target;
    int rc = a->to->job != 0 ? draft_place(svc->node, a->to, d, &target) : -EINVAL;
    if (rc == 0 && a->response == NULL) {
        rc = node_may_send(svc, &d->head, target);
    }
    return rc < 0 ? rc : find_destination(svc, a->to, a->response != NULL, target);
}

static int draft_options(struct cw_svc *svc, const cw_send_options *options, struct draft *d)
{
    struct node *n = svc->node;
    d->head.hop_limit = d->head.kind == PACKET_LINK ? 1 : n->config.hop_limit;
    if (options == NULL) {
        return 0;
    }
    if (!node_adopt(&d->adopted, sizeof d->adopted, sizeof d->adopted, options)) {
        return -EINVAL;
    }
    const cw_send_options *o = d->options = &d->adopted;
    if (o->waypoints > CW_WAYPOINTS_MAX || (o->waypoints > 0 && o->waypoint == NULL) ||
        (o->full_key && d->head.kind != PACKET_KEY) || (unsigned)o->place > CW_PLACE_BACKGROUND ||
        (o->place == CW_PLACE_BACKGROUND && svc->background == NULL)) {
        return -EINVAL;
    }
    if (d->head.kind == PACKET_LINK) {
        return o->waypoints > 0 || o->hop_limit > 1 ? -EINVAL : 0;
    }
    for (unsigned i = 0; i < o->waypoints; i++) {
        if (!torus_holds(&n->torus, o->waypoint[i])) {
            return -EINVAL;
        }
        d->waypoints.at[i] = o->waypoint[i];
    }
    d->waypoints.count = (uint8_t)o->waypoints;
    if (o->hop_limit != 0) {
        d->head.hop_limit = o->hop_limit;
    }
    return 0;
}

/*
 * Places for a recorded path, in tens: what the way is likely to need; one that outgrows them is answered by routing.
 */
static uint8_t path_places(const struct draft *d)
{
    unsigned want = d->waypoints.count > 0 ? EXT_PATH_LINKS_MAX : d->distance + PATH_SPARE;
    want = (want + EXT_PATH_LINKS_PER_WORD - 1) / EXT_PATH_LINKS_PER_WORD * EXT_PATH_LINKS_PER_WORD;
    return (uint8_t)(want < EXT_PATH_LINKS_MAX ? want : EXT_PATH_LINKS_MAX);
}

/* Of a guest that is somebody: what its packets say of it (EXT_GUEST). */
static bool is_attached(const struct cw_svc *svc)
{
    return svc->guest != NULL && svc->guest->life != 0;
}

/* Words of all extensions. A trace takes what the packet has left, up to one place a hop. */
static int draft_extensions(const struct cw_svc *svc, const struct node_address *a, uint32_t payload, struct draft *d)
{
    const struct node *n = svc->node;
    unsigned words = 0;
    unsigned flags = 0;
    if (d->options->full_key) {
        flags |= packet_flag(EXT_KEY);
        words += EXT_KEY_WORDS;
    }
    if (a->request != NULL) {
        flags |= packet_flag(EXT_REQUEST);
        words += EXT_REQUEST_WORDS;
    }
    if (a->response != NULL) {
        flags |= packet_flag(EXT_RESPONSE);
        words += EXT_RESPONSE_WORDS;
    }
    if (a->path != NULL) {
        flags |= packet_flag(EXT_PATH);
        words += a->path[EXT_AT_WORDS];
    } else if (d->options->record_path) {
        flags |= packet_flag(EXT_PATH);
        d->path_places = path_places(d);
        words += 1u + d->path_places / EXT_PATH_LINKS_PER_WORD;
    }
    if (d->waypoints.count > 0) {
        flags |= packet_flag(EXT_WAYPOINTS);
        words += 1u + d->waypoints.count;
    }
    if (is_attached(svc)) {
        flags |= packet_flag(EXT_GUEST);
        words += EXT_GUEST_WORDS;
    }
    uint32_t most = n->config.mtu - FRAME_HEAD_BYTES;
    uint32_t size = PACKET_HEAD_BYTES + words * EXT_WORD_BYTES + payload;
    if (d->options->trace && size + EXT_WORD_BYTES <= most) {
        unsigned room = (most - size) / EXT_WORD_BYTES - 1;
        unsigned left = PACKET_EXT_WORDS_MAX - 1 - words;
        unsigned places = (room < left ? room : left) / EXT_TRACE_ENTRY_WORDS;
        places = places < d->head.hop_limit ? places : d->head.hop_limit;
        d->trace_places = (uint8_t)(places < EXT_TRACE_ENTRIES_MAX ? places : EXT_TRACE_ENTRIES_MAX);
        if (d->trace_places > 0) {
            flags |= packet_flag(EXT_TRACE);
            words += 1u + d->trace_places * EXT_TRACE_ENTRY_WORDS;
        }
    }
    size = PACKET_HEAD_BYTES + words * EXT_WORD_BYTES + payload;
    if (size > most || (d->options->trace && d->trace_places == 0)) {
        return -EMSGSIZE;
    }
    d->head.flags = (uint8_t)flags;
    d->head.ext_words = (uint8_t)words;
    d->head.length = (uint16_t)size;
    return 0;
}

/*
 * Makes `before` bytes of room before the payload of p, by moving its payload if it must. False: its memory is too
 * small.
 */
static bool make_room(struct cw_packet *p, uint32_t before)
{
    uint32_t head = packet_head_bytes(&p->head);
    uint32_t front = p->back + head;
    uint32_t stored = p->length - head;
    uint32_t best = before + FRONT_BYTES;
    uint32_t behind = p->room - p->length;
    uint32_t move = front >= best ? 0 : best - front;
    if (move > behind) {
        move = behind;
    }
    if (front + move < before) {
        return false;
    }
    uint8_t *payload = p->data + head;
    if (move > 0) {
        memmove(payload + move, payload, stored);
    }
    uint8_t *start = payload + move - before;
    p->room = (uint32_t)(p->data + p->room - start);
    p->back = (uint16_t)(front + move - before);
    p->data = start;
    p->length = before + stored;
    return true;
}

static void write_extensions(const struct cw_svc *svc, struct cw_packet *p, const struct node_address *a,
                             const struct draft *d)
{
    uint32_t at = PACKET_HEAD_BYTES;
    p->exts = (struct packet_exts){{0}};
    if (d->head.flags & packet_flag(EXT_KEY)) {
        p->exts.at[EXT_KEY] = (uint16_t)at;
        at += ext_key_write(&a->to->key, p->data + at);
    }
    if (a->request != NULL) {
        p->exts.at[EXT_REQUEST] = (uint16_t)at;
        at += ext_request_write(a->request, p->data + at);
    }
    if (a->response != NULL) {
        p->exts.at[EXT_RESPONSE] = (uint16_t)at;
        at += ext_response_write(a->response, p->data + at);
    }
    if (a->path != NULL) {
        p->exts.at[EXT_PATH] = (uint16_t)at;
        memcpy(p->data + at, a->path, ext_bytes(a->path));
        at += ext_bytes(a->path);
    } else if (d->path_places > 0) {
        const struct ext_path empty = {.mode = EXT_PATH_RECORD, .places = d->path_places};
        p->exts.at[EXT_PATH] = (uint16_t)at;
        at += ext_path_write(&empty, p->data + at);
    }
    if (d->trace_places > 0) {
        p->exts.at[EXT_TRACE] = (uint16_t)at;
        at += ext_trace_start(d->trace_places, p->data + at);
    }
    if (d->waypoints.count > 0) {
        p->exts.at[EXT_WAYPOINTS] = (uint16_t)at;
        at += ext_waypoints_write(&d->waypoints, p->data + at);
    }
    if (d->head.flags & packet_flag(EXT_GUEST)) {
        const struct guest *guest = svc->guest;
        const struct ext_guest said = {
            .what = guest->what,
            .meant = a->response == NULL ? guest->meant : 0, /* an answer is for whoever asked */
            .life = guest->life,
        };
        p->exts.at[EXT_GUEST] = (uint16_t)at;
        ext_guest_write(&said, p->data + at);
    }
}

int node_address_packet(struct cw_svc *svc, struct cw_packet *p, const struct node_address *a, struct cw_packet **out)
{
    struct node *n = svc->node;
    struct draft d;
    if (svc->closing || (svc->guest != NULL && svc->guest->why != 0)) {
        return -ESHUTDOWN;
    }
    draft_begin(&d);
    int rc = draft_destination(svc, a, &d);
    if (rc == 0) {
        rc = draft_options(svc, a->options, &d);
    }
    if (rc == 0) {
        rc = draft_extensions(svc, a, p->length - packet_head_bytes(&p->head) + p->pad, &d);
    }
    if (rc < 0) {
        return rc;
    }
    d.head.source_job = svc->job;
    d.head.source_process = NODE_MUTANT(GUEST_STAMP) ? n->self : svc->process;
    d.head.source = n->place;
    uint32_t before = packet_head_bytes(&d.head);
    *out = p;
    if (!pkt_writable(p) || !make_room(p, before)) {
        uint32_t head = packet_head_bytes(&p->head);
        struct cw_packet *copy = pkt_take(n->env.packets, before + p->length - head);
        if (copy == NULL) {
            return -ENOMEM;
        }
        memcpy(copy->data + before, p->data + head, p->length - head);
        copy->pad = p->pad;
        copy->speaker = svc->index;
        *out = copy;
    }
    p = *out;
    p->head = d.head;
    packet_encode(&p->head, p->data);
    write_extensions(svc, p, a, &d);
    p->priority = d.options->priority;
    p->marks &= (uint8_t)~PKT_BACKGROUND;
    p->marks |= d.options->place == CW_PLACE_BACKGROUND ? PKT_BACKGROUND : 0;
    p->links = a->to->kind == CW_TO_LINK ? cw_links_of(a->to->link) : CW_LINKS_NONE;
    p->in = CW_LINK_SELF;
    return 0;
}

int cw_packet_address(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options)
{
    if (!node_must_hold(s, p, "cw_packet_address") || to == NULL) {
        return -EINVAL;
    }
    struct cw_packet *addressed;
    int rc = node_address_packet(s, p, &(struct node_address){.to = to, .options = options}, &addressed);
    if (rc < 0) {
        return rc;
    }
    if (addressed != p) {
        pkt_release(addressed); /* the service knows the packet by its address in memory: it cannot move */
        return -EMSGSIZE;
    }
    p->marks |= PKT_ADDRESSED;
    return 0;
}

/* 0, or -EAGAIN: where p would wait there is no room, and on_writable will say when there is. */
static int may_launch(struct cw_svc *svc, const struct cw_packet *p)
{
    struct node *n = svc->node;
    if (p->head.kind != PACKET_LINK && node_arrives_here(n, p)) {
        if (n->local.packets < NODE_LOCAL_MAX) {
            return svc->guest == NULL || node_guest_has_room(n, svc->guest, p, true) ? 0 : -EAGAIN;
        }
        if (svc->guest == NULL) {
            n->writable |= place_bit(svc->index); /* some are delivered before the next tick asks */
        } else if (svc->guest->life != 0) {
            guests_stir(&n->guests, svc->guest);
        }
        return -EAGAIN;
    }
    return place_has_room(n, node_place_of(n, p), svc, p) ? 0 : -EAGAIN;
}

/* Takes p, which may_launch() has just let pass. */
static void launch(struct cw_svc *svc, struct cw_packet *p)
{
    p->marks &= PKT_BACKGROUND;
    p->next = NULL;
    svc->node->sent++;
    node_decide(svc->node, p);
}

int node_launch(struct cw_svc *svc, struct cw_packet *p)
{
    int rc = may_launch(svc, p);
    if (rc == 0) {
        launch(svc, p);
    }
    return rc;
}

int node_hand_over(struct cw_svc *svc, struct cw_packet *p, struct cw_packet *addressed)
{
    int rc = may_launch(svc, addressed);
    if (rc < 0) {
        if (addressed != p) {
            pkt_release(addressed);
        }
        return rc;
    }
    node_let_go(svc, p);
    if (addressed != p) {
        pkt_release(p);
    }
    launch(svc, addressed);
    return 0;
}

int cw_send(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options)
{
    if (!node_must_hold(s, p, "cw_send") || to == NULL) {
        return -EINVAL;
    }
    struct cw_packet *addressed;
    int rc = node_address_packet(s, p, &(struct node_address){.to = to, .options = options}, &addressed);
    return rc < 0 ? rc : node_hand_over(s, p, addressed);
}

cw_drop node_drop_of(int rc)
{
    switch (-rc) {
    case EAGAIN:
        return CW_DROP_QUEUE_FULL;
    case ENETUNREACH:
        return CW_DROP_NO_ROUTE;
    case ENOENT:
        return CW_DROP_NO_SERVICE;
    case EACCES:
        return CW_DROP_DENIED;
    case ENOMEM:
        return CW_DROP_NO_MEMORY;
    case ESHUTDOWN:
        return CW_DROP_CLOSED;
    default:
        return CW_DROP_SERVICE;
    }
}

void node_drop_unsent(struct cw_svc *svc, struct cw_packet *p, cw_drop cause)
{
    if (node_in_hand(svc, p)) {
        node_let_go(svc, p);
        svc->node->sent++;
        node_drop(svc->node, p, cause);
    }
}

void cw_send_or_drop(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options)
{
    int rc = cw_send(s, p, to, options);
    if (rc < 0) {
        node_drop_unsent(s, p, node_drop_of(rc));
    }
}
