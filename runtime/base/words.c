/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

#include <errno.h>
#include <string.h>

static uint64_t unit_of(char c)
{
    switch (c) {
    case '\0':
        return 1;
    case 'k':
        return UINT64_C(1000);
    case 'M':
        return UINT64_C(1000) * 1000;
    case 'G':
        return UINT64_C(1000) * 1000 * 1000;
    case 'T':
        return UINT64_C(1000) * 1000 * 1000 * 1000;
    default:
        return 0;
    }
}

int words_number(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    const char *at = text;
    uint64_t value = 0;
    bool fits = true;
    for (; *at >= '0' && *at <= '9'; at++) {
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(*at - '0'), &value);
    }
    uint64_t unit = unit_of(*at);
    if (at == text || unit == 0 || (*at != '\0' && at[1] != '\0')) {
        return -EINVAL;
    }
    if (!fits || __builtin_mul_overflow(value, unit, &value) || value < least || value > most) {
        return -ERANGE;
    }
    *out = value;
    return 0;
}

const char *words_value(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

int words_options(int count, const char *const *words, const struct words_option *options, size_t n)
{
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (size_t k = 0; k < n && !known; k++) {
            const char *value = words_value(words[i], options[k].name);
            known = value != NULL && words_number(value, options[k].least, options[k].most, options[k].value) == 0;
        }
        if (!known) {
            return i;
        }
    }
    return count;
}

/* ---- What was wrong ---------------------------------------------------------------------------------------------- */

struct sentence {
    char *out;
    size_t room, used;
};

static void say(struct sentence *s, const char *text)
{
    while (*text != '\0' && s->used + 1 < s->room) {
        s->out[s->used++] = *text++;
    }
    s->out[s->used] = '\0';
}

static void say_number(struct sentence *s, uint64_t number)
{
    char text[24];
    size_t at = sizeof text - 1;
    text[at] = '\0';
    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    say(s, text + at);
}

void words_explain(const char *word, const struct words_option *options, size_t n, char *out, size_t room)
{
    struct sentence s = {out, room, 0};
    say(&s, word);
    for (size_t k = 0; k < n; k++) {
        if (words_value(word, options[k].name) != NULL) {
            say(&s, ": ");
            say(&s, options[k].name);
            say(&s, " is a whole number from ");
            say_number(&s, options[k].least);
            say(&s, " to ");
            say_number(&s, options[k].most);
            return;
        }
    }
    say(&s, ": no such option; there are");
    for (size_t k = 0; k < n; k++) {
        say(&s, " ");
        say(&s, options[k].name);
        say(&s, "=N");
    }
}
