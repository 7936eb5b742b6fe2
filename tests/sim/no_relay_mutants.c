/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_relay_mutants.c - core and linkstate have places for the relay's mutants beside their own. In worlds that try
 * their own mutants, none of the relay's is in.
 */
#include "wire/mutant.h"

uint64_t relay_mutants_in;
