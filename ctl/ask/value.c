/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/value.h"

#include "base/base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint8_t *value_read(const struct call *call, const char *file, size_t most, const char *most_text, size_t *length)
{
    bool input = strcmp(file, "-") == 0;
    FILE *in = input ? stdin : fopen(file, "rb");
    uint8_t *bytes = malloc(most + 1);
    *length = in != NULL && bytes != NULL ? fread(bytes, 1, most + 1, in) : 0;
    bool failed = in == NULL || bytes == NULL || ferror(in);
    int error = errno;
    if (in != NULL && !input) {
        fclose(in);
    }
    if (!failed && *length <= most) {
        return bytes;
    }
    fprintf(call->errors, "cwctl: %s: ", input ? "standard input" : file);
    fprintf(call->errors, failed ? "%s\n" : "a value has at most %s\n", failed ? strerror(error) : most_text);
    free(bytes);
    return NULL;
}

int value_write(const struct call *call, const struct message *row)
{
    const char *text = message_get_text(row, "base64", "");
    size_t room = strlen(text) + 1;
    uint8_t *bytes = malloc(room);
    int length = bytes != NULL ? base64_decode(text, bytes, room) : -ENOMEM;
    if (length < 0) {
        fprintf(call->errors, "cwctl: the value could not be read: %s\n", strerror(-length));
        free(bytes);
        return EXIT_NO;
    }
    fwrite(bytes, 1, (size_t)length, call->out);
    if (isatty(fileno(call->out)) && (length == 0 || bytes[length - 1] != '\n')) {
        fputc('\n', call->out);
    }
    free(bytes);
    return EXIT_FINE;
}
