/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/bound.h"

static struct bound reduced(uint64_t numerator, uint64_t denominator)
{
    uint64_t a = numerator, b = denominator;
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (struct bound){numerator / a, denominator / a};
}

struct bound bound_all_to_all(const struct torus *t)
{
    /* h(a) = q / a with q = floor(a^2 / 4) grows with a: the longest axis is the least bound. */
    uint64_t longest = 1;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        longest = t->dim[axis] > longest ? t->dim[axis] : longest;
    }
    if (longest == 1) {
        return (struct bound){0, 1};
    }
    uint64_t q = longest * longest / 4;
    return reduced(2 * (uint64_t)(t->servers - 1) * longest, (uint64_t)t->servers * q);
}

struct bound bound_mean_hops(const struct torus *t)
{
    if (t->servers == 1) {
        return (struct bound){0, 1};
    }
    /* From one server to all: along an axis of a, floor(a^2 / 4) over the ring, for each of the N / a rings. */
    uint64_t sum = 0;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        uint64_t a = t->dim[axis];
        sum += a * a / 4 * (t->servers / a);
    }
    return reduced(sum, t->servers - 1);
}

double bound_value(struct bound b)
{
    return (double)b.numerator / (double)b.denominator;
}
