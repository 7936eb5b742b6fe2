/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_fault.c - the words of scenario files for what goes wrong. faults.c writes them: fault_format(). */
#include "base/quantity.h"
#include "scenario/scenario.h"

#include <errno.h>
#include <string.h>

/* What follows the word: s server, l link, t time, a axis, n plane, N plane but the first, p rate of a clock. */
struct fault_word {
    const char *word;
    enum fault_kind kind;
    const char *shape;
    bool spans; /* may be said with "from .. to", and ends then */
};

static const struct fault_word fault_words[] = {
    {"kill", FAULT_KILL, "s", true},
    {"power-off", FAULT_POWER, "s", true},
    {"start", FAULT_START, "s", false},
    {"restart", FAULT_START, "s", false},
    {"leave", FAULT_LEAVE, "s", true},
    {"pause", FAULT_PAUSE, "st", false},
    {"cut", FAULT_CUT, "sl", true},
    {"cut-out", FAULT_CUT_OUT, "sl", true},
    {"mend", FAULT_MEND, "sl", false},
    {"harm", FAULT_HARM, "h", true},
    {"loss", FAULT_HARM, "%", true},
    {"duplicate", FAULT_HARM, "%", true},
    {"corrupt", FAULT_HARM, "%", true},
    {"clock", FAULT_CLOCK, "sp", true},
    {"kill-plane", FAULT_KILL_SLAB, "an", false},
    {"kill-row", FAULT_KILL_ROW, "sa", false},
    {"partition", FAULT_PARTITION, "aN", true},
    {"rejoin", FAULT_REJOIN, "aN", false},
    {"heal", FAULT_HEAL, "", false},
};
enum { FAULT_WORDS = sizeof fault_words / sizeof *fault_words };

const char *scenario_fault_nth(const void *context, size_t i)
{
    (void)context;
    return fault_words[i].word;
}

size_t scenario_fault_count(void)
{
    return FAULT_WORDS;
}

static const struct fault_word *find(const struct word *word)
{
    for (size_t i = 0; i < FAULT_WORDS; i++) {
        if (lines_word_is(word, fault_words[i].word)) {
            return &fault_words[i];
        }
    }
    return NULL;
}

bool scenario_fault_word(const struct word *word)
{
    return find(word) != NULL;
}

/* "-300ppm", "+1%": a clock that runs off. */
static int read_clock(struct lines *w, int32_t *out)
{
    uint32_t ppm;
    bool minus = false;
    if (lines_more(w) && w->word[w->at].length > 1 && strchr("+-", w->word[w->at].text[0]) != NULL) {
        minus = w->word[w->at].text[0] == '-';
        w->word[w->at].text++;
        w->word[w->at].length--;
    }
    int rc = lines_ppm(w, 100000, &ppm);
    if (rc == 0) {
        *out = minus ? -(int32_t)ppm : (int32_t)ppm;
    }
    return rc;
}

static int read_number(struct lines *w, const struct torus *torus, uint8_t axis, uint32_t least, int32_t *out)
{
    uint64_t value;
    int rc = lines_count(w, torus->dim[axis] - 1, &value);
    if (rc == 0 && value < least) {
        w->at--;
        return lines_unexpected(w, "a plane from 1 on, which is cut off from the one before it", NULL);
    }
    if (rc == 0) {
        *out = (int32_t)value;
    }
    return rc;
}

#define OF(word, what, field, limit)                                                      \
    {                                                                                     \
        .name = word, .kind = what, SETTING_FIELD(struct wire_harm, field), .most = limit \
    }
static const struct setting harms[] = {
    OF("loss", SETTING_PPM, loss, WIRE_MILLION),        OF("duplicate", SETTING_PPM, duplicate, WIRE_MILLION),
    OF("corrupt", SETTING_PPM, corrupt, WIRE_MILLION),  OF("delayed", SETTING_PPM, delayed, WIRE_MILLION),
    OF("delay", SETTING_SPAN, delay_most, SETTING_ANY), {.name = NULL},
};
static const char harm_expected[] = "loss=, duplicate=, corrupt=, delayed= (shares), delay= (a time) or none";

/* [SERVER|all [LINK|all]] then any of loss= duplicate= corrupt= delayed= delay=. */
static int read_harm(struct lines *w, const struct torus *torus, struct fault *f)
{
    cw_coord c;
    if (lines_more(w) && torus_parse(torus, w->word[w->at].text, w->word[w->at].length, &c) == 0) {
        f->server = torus_id(torus, c);
        w->at++;
    } else {
        (void)lines_skip(w, "all");
    }
    if (lines_more(w) && (w->word[w->at].text[0] == '+' || w->word[w->at].text[0] == '-')) {
        if (lines_link(w, &f->link) < 0) {
            return -EINVAL;
        }
    } else {
        (void)lines_skip(w, "all");
    }
    if (lines_skip(w, "none")) {
        return 0;
    }
    for (bool some = false; lines_more(w) || !some; some = true) {
        int rc = lines_assigned(w, harms, &f->harm);
        if (rc != 1) {
            return rc < 0 ? rc : lines_unexpected(w, harm_expected, NULL);
        }
    }
    if (f->harm.delay_most.ns > 0 && f->harm.delayed == 0) {
        f->harm.delayed = WIRE_MILLION;
    }
    return 0;
}

static int read_one(struct lines *w, const struct torus *torus, char shape, struct fault *f)
{
    switch (shape) {
    case 's':
        return lines_server(w, torus, &f->server);
    case 'l':
        return lines_link(w, &f->link);
    case 't':
        return lines_span(w, &f->span);
    case 'a':
        return lines_axis(w, &f->axis);
    case 'n':
        return read_number(w, torus, f->axis, 0, &f->number);
    case 'N':
        return read_number(w, torus, f->axis, 1, &f->number);
    case 'p':
        return read_clock(w, &f->number);
    default:
        return read_harm(w, torus, f);
    }
}

/* What "to" means: the opposite of what "from" did. */
static struct fault ending(const struct fault *f, cw_time to)
{
    struct fault end = *f;
    end.at = to;
    switch (f->kind) {
    case FAULT_KILL:
    case FAULT_POWER:
    case FAULT_LEAVE:
        end.kind = FAULT_START;
        break;
    case FAULT_CUT:
    case FAULT_CUT_OUT:
        end.kind = FAULT_MEND;
        break;
    case FAULT_PARTITION:
        end.kind = FAULT_REJOIN;
        break;
    case FAULT_CLOCK:
        end.number = 0;
        break;
    default:
        end.harm = (struct wire_harm){0};
        break;
    }
    return end;
}

int scenario_fault_read(struct lines *w, const struct torus *torus, cw_time from, cw_time to, struct fault_plan *plan)
{
    const struct fault_word *word = lines_more(w) ? find(&w->word[w->at]) : NULL;
    if (word == NULL) {
        return lines_unexpected(w, "a fault", NULL);
    }
    bool ends = cw_time_before(to, CW_NEVER);
    if (ends && !word->spans) {
        return lines_wrong(w, "%s happens at one instant: say 'at TIME %s', not 'from TIME to TIME'", word->word,
                           word->word);
    }
    w->at++;
    struct fault f = {.at = from, .kind = word->kind, .server = CW_SERVER_NONE, .link = CW_LINK_SELF};
    if (word->shape[0] == '%') {
        uint32_t *share = word->word[0] == 'l'   ? &f.harm.loss
                          : word->word[0] == 'd' ? &f.harm.duplicate
                                                 : &f.harm.corrupt;
        if (lines_ppm(w, WIRE_MILLION, share) < 0) {
            return -EINVAL;
        }
    } else {
        for (const char *shape = word->shape; *shape != '\0'; shape++) {
            if (read_one(w, torus, *shape, &f) < 0) {
                return -EINVAL;
            }
        }
    }
    if (f.kind == FAULT_CUT && (lines_skip(w, "oneway") || lines_skip(w, "out"))) {
        f.kind = FAULT_CUT_OUT;
    }
    int rc = lines_done(w);
    if (rc == 0) {
        rc = fault_plan_add(plan, &f);
    }
    if (rc == 0 && ends) {
        struct fault end = ending(&f, to);
        rc = fault_plan_add(plan, &end);
    }
    return rc;
}
