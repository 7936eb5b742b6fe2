/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letters.h - what comes to this server by the transport: questions and items that fit no packet (carry.h). Whoever
 * sends one while too many bytes are in hand is told to wait, before more than its first packet has left.
 */
#ifndef SERVICES_STORE_ENTRY_LETTERS_H
#define SERVICES_STORE_ENTRY_LETTERS_H

#include "services/store/internal.h"

/* -ENOMEM. */
CW_MUST_CHECK int store_letters_open(struct store *s);
/* Ends all letters: those sent from here too. */
void store_letters_close(struct store *s);
cw_verdict store_letters_packet(struct store *s, cw_packet *p, const cw_rx *rx);

#endif
