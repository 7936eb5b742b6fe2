/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cabling.c - any bytes as a packet of the bootstrap. */
#include "control_codecs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)codec_try(&codec_probe, data, size);
    (void)codec_try(&codec_cabling, data, size);
    (void)codec_try(&codec_cabling_ack, data, size);
    return 0;
}
