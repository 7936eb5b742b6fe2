/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_goodbye.c - any bytes as a goodbye. */
#include "control_codecs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)codec_try(&codec_goodbye, data, size);
    return 0;
}
