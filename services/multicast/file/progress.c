/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/file/progress.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>

enum { PROGRESS = 1, CONTESTED = 2 };

void file_progress_encode(const struct file_progress *n, uint8_t out[static FILE_PROGRESS_BYTES])
{
    out[0] = n->contested ? CONTESTED : PROGRESS;
    out[1] = n->contested ? 0 : (uint8_t)n->state;
    put_be16(out + 2, 0);
    put_be32(out + 4, n->contested ? n->rival : (uint32_t)n->status);
    put_be64(out + 8, n->contested ? 0 : n->there);
    memcpy(out + 16, n->id, sizeof n->id);
}

int file_progress_decode(const uint8_t *bytes, size_t length, struct file_progress *out)
{
    if (length != FILE_PROGRESS_BYTES || bytes[0] < PROGRESS || bytes[0] > CONTESTED || bytes[1] > FILE_PART_OVER ||
        get_be16(bytes + 2) != 0) {
        return -EBADMSG;
    }
    *out = (struct file_progress){.contested = bytes[0] == CONTESTED};
    memcpy(out->id, bytes + 16, sizeof out->id);
    if (out->contested) {
        out->rival = get_be32(bytes + 4);
        return bytes[1] == 0 && get_be64(bytes + 8) == 0 ? 0 : -EBADMSG;
    }
    out->state = (enum file_part_state)bytes[1];
    out->status = (int32_t)get_be32(bytes + 4);
    out->there = get_be64(bytes + 8);
    return 0;
}

const char *file_state_word(enum file_part_state state)
{
    static const char *const words[] = {[FILE_PART_OPENING] = "opening",
                                        [FILE_PART_TAKING] = "taking",
                                        [FILE_PART_FINISHING] = "finishing",
                                        [FILE_PART_OVER] = "over"};
    return words[state];
}

const char *file_reason(int status)
{
    static const struct {
        int error;
        const char *text;
    } reasons[] = {
        {ENOSPC, "its disk is full (cwctl events there names the folder)"},
        {EDQUOT, "the daemon's quota there is used up"},
        {EFBIG, "the file is larger than the daemon may write there"},
        {EACCES, "the daemon may not write into its folder"},
        {EPERM,
         "its folder, or what is in it under this name, is not the daemon's or root's alone (chown it, chmod 755 it)"},
        {EROFS, "its folder is on a file system that is read-only"},
        {ENOENT, "its folder is not there, nor the one above it (option folder of service multicast)"},
        {ENXIO, "nobody is in that group"},
        {ENOTDIR, "its folder is no folder (option folder of service multicast)"},
        {EOPNOTSUPP, "it takes no files: service multicast { options { folder = \"...\" } } is not set there"},
        {EPROTONOSUPPORT, "its daemon knows no files"},
        {EEXIST, "a file of that name is there, and --keep was said"},
        {EISDIR, "a folder of that name is there"},
        {EIO, "its disk failed"},
        {EBADMSG, "what arrived has another digest: did the file change while it was sent?"},
        {ENETUNREACH, "it cannot be reached"},
        {EHOSTDOWN, "it cannot be reached"},
        {ETIMEDOUT, "it made no progress for 30 s"},
        {ESTALE, "another sending of the same file took its place"},
        {EBUSY, "too many files or messages are under way there"},
        {ECANCELED, "stopped"},
        {ESHUTDOWN, "its daemon ended"},
        {ENODATA, "the file became shorter while it was sent"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].error == -status) {
            return reasons[i].text;
        }
    }
    return strerror(-status);
}
