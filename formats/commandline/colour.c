/* SPDX-License-Identifier: Apache-2.0 */
#include "commandline/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_wanted(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    bool dumb = term != NULL && strcmp(term, "dumb") == 0;
    return isatty(fileno(out)) && !dumb && (no == NULL || no[0] == '\0');
}
