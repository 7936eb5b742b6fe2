/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_scenario.c - any bytes as a scenario file: refused in words, or read, written, and read as the same again. */
#include "base/check.h"
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *as_text(const struct scenario *s, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    CHECK(out != NULL);
    CHECK(scenario_write(s, out) == 0);
    CHECK(fclose(out) == 0);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario s, back;
    char error[SCENARIO_ERROR];
    if (scenario_read(&s, "fuzz", (const char *)data, size, error) < 0) {
        CHECK(strncmp(error, "fuzz:", 5) == 0 && strlen(error) < SCENARIO_ERROR);
        return 0;
    }
    size_t length, again_length;
    char *text = as_text(&s, &length);
    CHECK(scenario_read(&back, "written", text, length, error) == 0);
    char *again = as_text(&back, &again_length);
    CHECK(length == again_length && memcmp(text, again, length) == 0);
    CHECK(s.plan.count == back.plan.count && s.loads == back.loads && s.expects == back.expects);
    free(text);
    free(again);
    scenario_free(&s);
    scenario_free(&back);
    return 0;
}
