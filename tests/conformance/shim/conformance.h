/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conformance.h - what shim.h promises, tried on a kind of shim. Each kind's unit test brings the cable; the properties
 * are the same for all of them.
 */
#ifndef CONFORMANCE_SHIM_CONFORMANCE_H
#define CONFORMANCE_SHIM_CONFORMANCE_H

#include "cable.h"

/* main() of a kind's test: the conformance suite, then the tests of its own. */
int conformance_run(const struct conformance_kind *kind, const struct suite_test *more, size_t count);

#endif
