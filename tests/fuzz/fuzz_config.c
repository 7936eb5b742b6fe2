/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_config.c - any bytes are a configuration or are refused with a word; one that is good survives being written and
 * read again.
 */
#include "daemon/config/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *context, const char *text)
{
    if (text[0] == '\0') {
        abort();
    }
    ++*(unsigned *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct daemon_config first, second;
    unsigned mistakes = 0;
    int rc = config_parse("f", (const char *)data, size, &first, count, &mistakes);
    if ((rc == 0) != (mistakes == 0)) {
        abort();
    }
    if (rc < 0) {
        return 0;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        abort();
    }
    config_write(&first, out);
    fclose(out);
    if (config_parse("f", text, length, &second, count, &mistakes) != 0 || memcmp(&first, &second, sizeof first) != 0) {
        abort();
    }
    free(text);
    return 0;
}
