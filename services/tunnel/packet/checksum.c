/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/packet/checksum.h"

#include "base/bytes.h"

enum { IPV4_ADDRESSES = 12, IPV6_ADDRESSES = 8, CHECKSUM_FIELD = 10 };

uint64_t checksum_sum(const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    uint64_t sum = 0;
    for (; size >= 4; size -= 4, p += 4) {
        sum += get_be32(p);
    }
    if (size >= 2) {
        sum += get_be16(p);
        p += 2;
        size -= 2;
    }
    return size == 0 ? sum : sum + ((uint64_t)*p << 8);
}

uint16_t checksum_fold(uint64_t sum)
{
    while (sum >> 16 != 0) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint16_t)sum;
}

uint16_t checksum_ipv4_head(const uint8_t *ip, size_t head)
{
    uint64_t sum = checksum_sum(ip, CHECKSUM_FIELD) + checksum_sum(ip + CHECKSUM_FIELD + 2, head - CHECKSUM_FIELD - 2);
    return (uint16_t)~checksum_fold(sum);
}

uint16_t checksum_pseudo(const uint8_t *ip, uint8_t protocol, uint32_t length)
{
    uint64_t sum = ip[0] >> 4 == 4 ? checksum_sum(ip + IPV4_ADDRESSES, 8) : checksum_sum(ip + IPV6_ADDRESSES, 32);
    return checksum_fold(sum + protocol + length);
}

void checksum_complete(uint8_t *bytes, size_t size, size_t start, size_t offset)
{
    CHECK(start + offset + 2 <= size);
    uint16_t sum = (uint16_t)~checksum_fold(checksum_sum(bytes + start, size - start));
    put_be16(bytes + start + offset, sum == 0 ? 0xffff : sum);
}
