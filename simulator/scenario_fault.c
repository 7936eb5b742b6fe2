/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_fault.c - the words of scenario files for what goes wrong. faults.c writes them: fault_format(). */
#include "simulator/quantity.h"
#include "simulator/scenario.h"

#include <errno.h>
#include <string.h>

/* What follows the word: s server, l link, t time, a axis, n number, p rate of a clock. */
struct fault_word {
    const char *word;
    enum fault_kind kind;
    const char *shape;
    bool spans; /* may be said with "from .. to", and ends then */
};

static const struct fault_word fault_words[] = {
    {"kill", FAULT_KILL, "s", true},
    {"power", FAULT_POWER, "s", true},
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
    {"partition", FAULT_PARTITION, "an", false},
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
        if (word_is(word, fault_words[i].word)) {
            return &fault_words[i];
        }
    }
    return NULL;
}

bool scenario_fault_word(const struct word *word)
{
    return find(word) != NULL;
}

static int read_link(struct words *w, const struct torus *torus, cw_link *out)
{
    int rc = words_link(w, out);
    if (rc == 0 && (torus_links(torus) & cw_links_of(*out)) == 0) {
        w->at--;
        return words_unexpected(w, "a link along an axis longer than 1", NULL);
    }
    return rc;
}

/* "-300ppm", "+1%": a clock that runs off. */
static int read_clock(struct words *w, int32_t *out)
{
    uint32_t ppm;
    bool minus = false;
    if (words_more(w) && w->word[w->at].length > 1 && strchr("+-", w->word[w->at].text[0]) != NULL) {
        minus = w->word[w->at].text[0] == '-';
        w->word[w->at].text++;
        w->word[w->at].length--;
    }
    int rc = words_ppm(w, 100000, &ppm);
    if (rc == 0) {
        *out = minus ? -(int32_t)ppm : (int32_t)ppm;
    }
    return rc;
}

static int read_number(struct words *w, const struct torus *torus, uint8_t axis, int32_t *out)
{
    uint64_t value;
    int rc = words_count(w, torus->dim[axis] - 1, &value);
    if (rc == 0) {
        *out = (int32_t)value;
    }
    return rc;
}

/* [SERVER [LINK]] then any of loss= duplicate= corrupt= delayed= delay=. */
static int read_harm(struct words *w, const struct torus *torus, struct fault *f)
{
    cw_coord c;
    if (words_more(w) && torus_parse(torus, w->word[w->at].text, w->word[w->at].length, &c) == 0) {
        f->server = torus_id(torus, c);
        w->at++;
        if (words_more(w) && (w->word[w->at].text[0] == '+' || w->word[w->at].text[0] == '-')) {
            int rc = read_link(w, torus, &f->link);
            if (rc < 0) {
                return rc;
            }
        }
    } else {
        (void)words_skip(w, "all");
    }
    if (words_skip(w, "none")) {
        return 0;
    }
    struct {
        const char *key;
        uint32_t *ppm;
    } const shares[] = {{"loss", &f->harm.loss},
                        {"duplicate", &f->harm.duplicate},
                        {"corrupt", &f->harm.corrupt},
                        {"delayed", &f->harm.delayed}};
    bool some = false;
    while (words_more(w)) {
        bool known = false;
        for (size_t i = 0; i < sizeof shares / sizeof *shares && !known; i++) {
            known = words_key(w, shares[i].key) == 1;
            if (known && words_ppm(w, WIRE_MILLION, shares[i].ppm) < 0) {
                return -EINVAL;
            }
        }
        if (!known && words_key(w, "delay") == 1) {
            known = true;
            if (words_span(w, &f->harm.delay_most) < 0) {
                return -EINVAL;
            }
        }
        if (!known) {
            return words_unexpected(w, "loss=, duplicate=, corrupt=, delayed= (shares), delay= (a time) or none", NULL);
        }
        some = true;
    }
    if (!some) {
        return words_unexpected(w, "loss=, duplicate=, corrupt=, delayed= (shares), delay= (a time) or none", NULL);
    }
    if (f->harm.delay_most.ns > 0 && f->harm.delayed == 0) {
        f->harm.delayed = WIRE_MILLION;
    }
    return 0;
}

static int read_one(struct words *w, const struct torus *torus, char shape, struct fault *f)
{
    switch (shape) {
    case 's':
        return words_server(w, torus, &f->server);
    case 'l':
        return read_link(w, torus, &f->link);
    case 't':
        return words_span(w, &f->span);
    case 'a':
        return words_axis(w, &f->axis);
    case 'n':
        return read_number(w, torus, f->axis, &f->number);
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
    case FAULT_CLOCK:
        end.number = 0;
        break;
    default:
        end.harm = (struct wire_harm){0};
        break;
    }
    return end;
}

int scenario_fault_read(struct words *w, const struct torus *torus, cw_time from, cw_time to, struct fault_plan *plan)
{
    const struct fault_word *word = words_more(w) ? find(&w->word[w->at]) : NULL;
    if (word == NULL) {
        return words_unexpected(w, "a fault", NULL);
    }
    bool ends = cw_time_before(to, CW_NEVER);
    if (ends && !word->spans) {
        return words_wrong(w, "%s happens at one instant: say 'at TIME %s', not 'from TIME to TIME'", word->word,
                           word->word);
    }
    w->at++;
    struct fault f = {.at = from, .kind = word->kind, .server = CW_SERVER_NONE, .link = CW_LINK_SELF};
    if (word->shape[0] == '%') {
        uint32_t *share = word->word[0] == 'l'   ? &f.harm.loss
                          : word->word[0] == 'd' ? &f.harm.duplicate
                                                 : &f.harm.corrupt;
        if (words_ppm(w, WIRE_MILLION, share) < 0) {
            return -EINVAL;
        }
    } else {
        for (const char *shape = word->shape; *shape != '\0'; shape++) {
            if (read_one(w, torus, *shape, &f) < 0) {
                return -EINVAL;
            }
        }
    }
    if (f.kind == FAULT_CUT && (words_skip(w, "oneway") || words_skip(w, "out"))) {
        f.kind = FAULT_CUT_OUT;
    }
    int rc = words_done(w);
    if (rc == 0) {
        rc = fault_plan_add(plan, &f);
    }
    if (rc == 0 && ends) {
        struct fault end = ending(&f, to);
        rc = fault_plan_add(plan, &end);
    }
    return rc;
}
