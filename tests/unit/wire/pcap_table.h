/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap_table.h - a pcap file and, on standard output, what a dissector must say of each of its frames: a line of field
 * names, then one line a frame in the form of `tshark -T fields`, several values of one field joined by ';'.
 *
 * One table a program. Any failure ends the program.
 */
#ifndef PCAP_TABLE_H
#define PCAP_TABLE_H

#include "cubeway/types.h"

/* Creates the pcap. `only` names the single column to print, without the "cubeway." before it; NULL: all columns. */
void table_open(const char *path, const char *only);

/* One more value of that field in the frame to come. */
__attribute__((format(printf, 2, 3))) void expect(const char *name, const char *format, ...);
void expect_server(const char *name, cw_coord c);
void expect_bytes(const char *name, const uint8_t *bytes, size_t size);

/* Saves the frame behind an Ethernet head and prints what has been expected of it. */
void table_frame(const uint8_t *frame, size_t size);

void table_close(void);

#endif
