/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_record.c - any bytes as a record, and as one item of whatever type their first byte says. */
#include "control_codecs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)codec_try(&codec_record, data, size);
    (void)codec_try(&codec_item, data, size);
    return 0;
}
