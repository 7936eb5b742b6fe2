/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/fault.h"
#include "boot/text.h"

#include <string.h>

static const char *const names[BOOT_FAULT_KINDS] = {
    [0] = "none",
    [BOOT_FAULT_SILENT] = "silent",
    [BOOT_FAULT_ONE_WAY] = "one-way",
    [BOOT_FAULT_LOOP] = "loop",
    [BOOT_FAULT_SPARE] = "spare",
    [BOOT_FAULT_SAME_SIGN] = "same-sign",
    [BOOT_FAULT_CROSSED] = "crossed",
    [BOOT_FAULT_WRONG_END] = "wrong-end",
    [BOOT_FAULT_WRONG_PLACE] = "wrong-place",
    [BOOT_FAULT_CLUSTER] = "cluster",
    [BOOT_FAULT_SAME_ID] = "same-id",
    [BOOT_FAULT_TWISTED] = "twisted",
    [BOOT_FAULT_JOINED] = "joined",
    [BOOT_FAULT_SAME_PLACE] = "same-place",
    [BOOT_FAULT_EMPTY_PLACE] = "empty-place",
    [BOOT_FAULT_COUNT] = "count",
    [BOOT_FAULT_DIMS] = "dims",
    [BOOT_FAULT_TAKEN] = "taken",
    [BOOT_FAULT_SHAPE] = "shape",
};

const char *boot_fault_name(uint8_t kind)
{
    return kind < BOOT_FAULT_KINDS ? names[kind] : "unknown";
}

static void put_here(struct text *t, const struct boot_fault *f)
{
    text_put_port(t, f->port, f->direction);
    text_put(t, " of ");
    text_put_who(t, &f->who);
}

static void put_expected(struct text *t, const struct boot_fault *f)
{
    if (f->expected.id == 0 && !f->expected.placed) {
        return;
    }
    text_put(t, "; expected ");
    if (f->direction < CW_LINK_COUNT) {
        text_put_port(t, 0, cw_link_opposite(f->direction));
        text_put(t, " of ");
    }
    text_put_who(t, &f->expected);
}

/* The sentence about a cable that goes where it should not. */
static void put_cable(struct text *t, const struct boot_fault *f, const char *why)
{
    put_here(t, f);
    text_put(t, why);
    text_put_port(t, f->far_port, f->far_direction);
    text_put(t, " of ");
    text_put_who(t, &f->far);
    put_expected(t, f);
    if (f->swapped) {
        text_put(t, "; swapped with the cable at ");
        text_put_port(t, f->other_port,
                      f->far_direction < CW_LINK_COUNT ? cw_link_opposite(f->far_direction) : BOOT_UNLABELLED);
        text_put(t, " of ");
        text_put_who(t, &f->other);
    }
}

static void put_ports(struct text *t, const struct boot_fault *f)
{
    switch (f->kind) {
    case BOOT_FAULT_SILENT:
        put_here(t, f);
        text_put(t, " hears nothing: no cable, or nobody at its other end");
        put_expected(t, f);
        break;
    case BOOT_FAULT_ONE_WAY:
        put_here(t, f);
        text_put(t, " hears ");
        text_put_who(t, &f->far);
        text_put(t, ", which does not hear it: half of the cable is broken");
        break;
    case BOOT_FAULT_LOOP:
        put_cable(t, f, " is cabled to its own server, to ");
        break;
    case BOOT_FAULT_SPARE:
        put_cable(t, f, " is on an axis of one server, but is cabled to ");
        break;
    case BOOT_FAULT_SAME_SIGN:
        put_cable(t, f, " is cabled to the same sign, to ");
        break;
    case BOOT_FAULT_CROSSED:
        put_cable(t, f, " is cabled across axes, to ");
        break;
    case BOOT_FAULT_WRONG_END:
        put_cable(t, f, " is cabled to the wrong server, to ");
        break;
    case BOOT_FAULT_WRONG_PLACE:
        put_here(t, f);
        text_put(t, " leads to ");
        text_put_port(t, f->far_port, f->far_direction);
        text_put(t, " of ");
        text_put_who(t, &f->far);
        if (f->dims.x != 0) {
            text_put(t, ", which is in a torus of ");
            text_put_dims(t, f->dims);
            text_put(t, ": give both servers the same dims");
        }
        put_expected(t, f);
        break;
    case BOOT_FAULT_SAME_ID:
        put_here(t, f);
        text_put(t, " leads to another server with the same id: ids must differ, as coordinates are given by them");
        break;
    default:
        put_here(t, f);
        text_put(t, " leads to another cluster, to ");
        text_put_who(t, &f->far);
        break;
    }
}

static void put_shift(struct text *t, const struct boot_fault *f)
{
    text_put(t, "the rows of ");
    text_put_port(t, 0, f->direction);
    text_put(t, " of the ");
    text_put_dims(t, f->dims);
    text_put(t, " torus close shifted by ");
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        text_put(t, axis > 0 ? "," : "");
        text_put_number(t, f->shift[axis]);
    }
    text_put(t, ": ");
    text_put_number(t, f->count);
    text_put(t, " cables, all those from one plane to the next, are off by that");
}

static void put_whole(struct text *t, const struct boot_fault *f)
{
    switch (f->kind) {
    case BOOT_FAULT_TWISTED:
        put_shift(t, f);
        break;
    case BOOT_FAULT_JOINED:
        text_put_number(t, f->count);
        text_put(t, " tori of ");
        text_put_dims(t, f->dims);
        text_put(t, " are joined by cables");
        break;
    case BOOT_FAULT_SAME_PLACE:
        text_put_who(t, &f->who);
        text_put(t, " and ");
        text_put_who(t, &f->far);
        text_put(t, " have the same place");
        break;
    case BOOT_FAULT_EMPTY_PLACE:
        text_put(t, "nobody is heard at ");
        text_put_coord(t, f->expected.at);
        text_put(t, ": the server is off, or has no cable");
        break;
    case BOOT_FAULT_COUNT:
        text_put_number(t, f->count);
        text_put(t, " servers are known, a torus of ");
        text_put_dims(t, f->dims);
        text_put(t, " has ");
        text_put_number(t, (int64_t)f->dims.x * f->dims.y * f->dims.z);
        break;
    default:
        text_put_who(t, &f->who);
        text_put(t, " was told a torus of ");
        text_put_dims(t, f->dims);
        text_put(t, ", the cables are those of ");
        text_put_dims(t, f->found);
        break;
    }
}

size_t boot_fault_text(const struct boot_fault *f, char out[static BOOT_FAULT_TEXT])
{
    struct text t = text_of(out, BOOT_FAULT_TEXT);
    switch (f->kind) {
    case BOOT_FAULT_TAKEN:
        text_put(&t, "the place ");
        text_put_coord(&t, f->expected.at);
        text_put(&t, " of ");
        text_put_who(&t, &f->who);
        text_put(&t, " is held by a server that lives, says ");
        text_put_who(&t, &f->far);
        break;
    case BOOT_FAULT_SHAPE:
        text_put_number(&t, f->count);
        text_put(&t, " servers are known, and no torus can be made out of their cables");
        break;
    case BOOT_FAULT_TWISTED:
    case BOOT_FAULT_JOINED:
    case BOOT_FAULT_SAME_PLACE:
    case BOOT_FAULT_EMPTY_PLACE:
    case BOOT_FAULT_COUNT:
    case BOOT_FAULT_DIMS:
        put_whole(&t, f);
        break;
    default:
        put_ports(&t, f);
        break;
    }
    return t.length;
}

/* ---- Two plugs that are exchanged -------------------------------------------------------------------------------- */

static bool is_before(const struct boot_swap *swap, unsigned a, unsigned b)
{
    uint64_t first = swap->plug[a].who.id, second = swap->plug[b].who.id;
    return first != second ? first < second : swap->plug[a].direction < swap->plug[b].direction;
}

static bool at_one_server(const struct boot_swap *swap)
{
    return swap->plug[0].who.id == swap->plug[1].who.id;
}

static struct boot_swap swap_of(const struct boot_who *a, unsigned direction_a, const struct boot_who *b,
                                unsigned direction_b)
{
    struct boot_swap swap = {{{*a, (uint8_t)direction_a}, {*b, (uint8_t)direction_b}}};
    return is_before(&swap, 1, 0) ? (struct boot_swap){{swap.plug[1], swap.plug[0]}} : swap;
}

/* Of the two ways to say it. */
static bool is_better(const struct boot_swap *a, const struct boot_swap *b)
{
    if (at_one_server(a) != at_one_server(b)) {
        return at_one_server(a);
    }
    struct boot_swap firsts = {{a->plug[0], b->plug[0]}};
    return is_before(&firsts, 0, 1);
}

/*
 * The other cable leads from `other` to where this one should: after an exchange of the near ends, or of the far ends,
 * both are right.
 */
bool boot_fault_swap(const struct boot_fault *f, struct boot_swap *out)
{
    if (!f->swapped || f->direction >= CW_LINK_COUNT || f->far_direction >= CW_LINK_COUNT || f->expected.id == 0) {
        return false;
    }
    struct boot_swap near = swap_of(&f->who, f->direction, &f->other, cw_link_opposite(f->far_direction));
    struct boot_swap far = swap_of(&f->far, f->far_direction, &f->expected, cw_link_opposite(f->direction));
    *out = is_better(&near, &far) ? near : far;
    return true;
}

bool boot_swap_equal(const struct boot_swap *a, const struct boot_swap *b)
{
    bool equal = true;
    for (unsigned i = 0; i < 2; i++) {
        equal = equal && a->plug[i].who.id == b->plug[i].who.id && a->plug[i].direction == b->plug[i].direction;
    }
    return equal;
}

static void put_name(struct text *t, const struct boot_who *who)
{
    struct boot_who plain = {.id = who->id};
    size_t length = strnlen(who->name, sizeof who->name);
    if (length > 0) {
        text_put_bytes(t, who->name, length);
    } else {
        text_put_who(t, &plain);
    }
}

/* "+x and -y of a", or "+x of a and +x of b". */
static void put_plugs(struct text *t, const struct boot_swap *swap)
{
    text_put_port(t, 0, swap->plug[0].direction);
    if (!at_one_server(swap)) {
        text_put(t, " of ");
        put_name(t, &swap->plug[0].who);
    }
    text_put(t, " and ");
    text_put_port(t, 0, swap->plug[1].direction);
    text_put(t, " of ");
    put_name(t, &swap->plug[1].who);
}

size_t boot_swap_text(const struct boot_swap *swap, char out[static BOOT_FAULT_TEXT])
{
    struct text t = text_of(out, BOOT_FAULT_TEXT);
    text_put(&t, "the cables in ");
    put_plugs(&t, swap);
    text_put(&t, " are exchanged");
    return t.length;
}

size_t boot_swap_remedy(const struct boot_swap *swap, char out[static BOOT_FAULT_TEXT])
{
    struct text t = text_of(out, BOOT_FAULT_TEXT);
    text_put(&t, "exchange the plugs in ");
    put_plugs(&t, swap);
    return t.length;
}
