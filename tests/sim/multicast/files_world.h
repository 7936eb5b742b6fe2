/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_world.h - a simulated 3x3x3 torus of 1 Gb/s links and 9,000-byte frames in which every server has a disk in
 * memory that outlives it, and sends and takes files. One world at a time.
 */
#ifndef SIM_FILES_WORLD_H
#define SIM_FILES_WORLD_H

#include "fake_files.h"
#include "fake_result.h"
#include "sanitized.h"
#include "simulator/world.h"

/* A sanitized world sends half as much, and what happens midway happens in half of the time. */
enum { FW_SERVERS = 27, FW_SHARE = SANITIZED ? 4 : 1, FW_BYTES_MOST = 20 * 1000 * 1000 / FW_SHARE };

extern struct world *fw_world;
extern struct fake_files fw_disk[FW_SERVERS];
/* The content of all files: a file is its first so many bytes, which follow from the world's seed. */
extern uint8_t fw_bytes[FW_BYTES_MOST];
/* What was wrong first, in a scene or a seed; SEEDS_WRONG_BYTES, shared with the child that runs the seed. */
extern char *fw_wrong;

/* What differs from world to world; zero: as usual. */
struct fw_setup {
    uint64_t seed;
    uint64_t bits_per_second; /* of each cable: 1 Gb/s */
    uint16_t mtu;             /* of each cable: 9,000 */
    const char *patience_ms;  /* that option of the multicast: NULL, its default */
    bool calm_damping;        /* links that flap are tried again after 10 ms, however often they do */
};

/* Prints and notes what is not as promised. */
void fw_must(bool good, const char *what);
/* Opens the world, and runs it until all servers agree. Exits when it cannot. */
void fw_open(const struct fw_setup *setup);
/* Also demands that no file was left open. */
void fw_close(void);
/* Exits when an invariant of the simulator breaks. */
void fw_run(cw_span span);
/* Runs it until all servers agree. */
void fw_settle(void);
/* Every wire loses so many frames of a million. */
void fw_lose(uint32_t per_million);

/* A command to the multicast of a server; its answer may come later. 0, or world_command()'s. */
int fw_command(cw_server s, const char *line, struct fake_result *r);
/*
 * Sends the first `length` bytes under the name "image". The result, valid for 31 further sendings, may also end when
 * the server dies.
 */
struct fake_result *fw_send(cw_server from, size_t length, const char *to);
void fw_wait(const struct fake_result *r, cw_span most);
/* The file is there, whole. What stands there and is not what was sent is noted. */
bool fw_has(cw_server s, size_t length);
/* Parts and maps on the disk of a server. */
unsigned fw_parts(cw_server s);
/* What the end says of a server; NULL: complete. */
const char *fw_reason(const struct fake_result *r, cw_server s);
/* Demands that the end gives this error as the reason of a server. */
void fw_told(const struct fake_result *r, cw_server s, int error);

/* A number below `below`; the same state gives the same numbers. */
uint64_t fw_draw(uint64_t *state, uint64_t below);

#endif
