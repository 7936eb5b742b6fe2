/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/memcached/binary.h"

#include "base/bytes.h"

#include <string.h>

/*
 *  0       1        2            4        5       6        8            12       16
 *  | magic | opcode | key length | extras | type  | status | body bytes | opaque | cas (8)       network order
 *
 * A request has a virtual bucket where an answer has its status. memcached's doc/protocol-binary.xml.
 */
enum { AT_MAGIC = 0, AT_OPCODE = 1, AT_STATUS = 6, AT_BODY = 8, AT_OPAQUE = 12, OPAQUE_BYTES = 4 };
enum { ANSWER = 0x81, UNKNOWN_COMMAND = 0x81 };

static const char why[] = "the binary protocol is not spoken here: use memcached's text protocol";
_Static_assert(MC_BINARY_HEAD + sizeof why - 1 <= MC_BINARY_MOST, "the answer fits");

size_t mc_binary_refuse(const uint8_t head[static MC_BINARY_HEAD], uint8_t out[static MC_BINARY_MOST])
{
    memset(out, 0, MC_BINARY_HEAD);
    out[AT_MAGIC] = ANSWER;
    out[AT_OPCODE] = head[AT_OPCODE];
    put_be16(out + AT_STATUS, UNKNOWN_COMMAND);
    put_be32(out + AT_BODY, sizeof why - 1);
    memcpy(out + AT_OPAQUE, head + AT_OPAQUE, OPAQUE_BYTES);
    memcpy(out + MC_BINARY_HEAD, why, sizeof why - 1);
    return MC_BINARY_HEAD + sizeof why - 1;
}
