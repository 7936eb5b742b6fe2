/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_mutants.c - the world of relayed frames is built of folders that have mutants of their own, beside the relay's.
 * None of these is in.
 */
#include "core/mutant.h"
#include "linkstate/mutant.h"

uint64_t mutants_in, node_mutants_in;
