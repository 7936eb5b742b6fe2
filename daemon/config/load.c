/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - a configuration out of its file, and the lines of its keys. */
#include "daemon/config/internal.h"

#include "conf/conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Gives the text, which is to be freed, and its length; or -errno, and it was told. */
static int load_text(const char *file, char **out, size_t *size, config_mistake_fn *mistake, void *context)
{
    char why[CONFIG_PATH + 128];
    FILE *in = fopen(file, "re");
    if (in == NULL) {
        int rc = -errno;
        snprintf(why, sizeof why, "%s: %s", file, strerror(-rc));
        mistake(context, why);
        return rc;
    }
    char *text = malloc(CONFIG_BYTES + 1);
    errno = EIO;
    size_t length = text != NULL ? fread(text, 1, CONFIG_BYTES + 1, in) : 0;
    int rc = text == NULL ? -ENOMEM : ferror(in) ? -errno : 0;
    rc = rc == 0 && length > CONFIG_BYTES ? -EFBIG : rc;
    fclose(in);
    if (rc < 0) {
        snprintf(why, sizeof why, "%s: %s", file, strerror(-rc));
        mistake(context, why);
        free(text);
        return rc;
    }
    *out = text;
    *size = length;
    return 0;
}

int config_load(const char *file, struct daemon_config *out, config_mistake_fn *mistake, void *context)
{
    char *text;
    size_t length;
    int rc = load_text(file, &text, &length, mistake, context);
    if (rc < 0) {
        return rc;
    }
    rc = config_parse(file, text, length, out, mistake, context);
    free(text);
    return rc;
}

int config_load_most(const char *file, struct daemon_config *out, config_mistake_fn *mistake, void *context)
{
    char *text;
    size_t length;
    int rc = load_text(file, &text, &length, mistake, context);
    if (rc < 0) {
        return rc;
    }
    unsigned mistakes = config_read(file, text, length, out, mistake, context);
    free(text);
    return (int)mistakes;
}

static void tell_nobody(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static void tell_no_line(void *context, unsigned line, const char *why)
{
    (void)context;
    (void)line;
    (void)why;
}

unsigned config_line(const char *file, const char *key, bool *guessed)
{
    char *text;
    size_t length;
    struct conf tree;
    unsigned line = 1;
    *guessed = false;
    if (load_text(file, &text, &length, tell_nobody, NULL) < 0) {
        return line;
    }
    if (conf_open_most(&tree, text, length, tell_no_line, NULL) >= 0) {
        line = conf_line(&tree, key);
        *guessed = conf_guessed(&tree, key);
        conf_close(&tree);
    }
    free(text);
    return line;
}
