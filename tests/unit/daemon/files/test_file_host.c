/* SPDX-License-Identifier: Apache-2.0 */
/* test_file_host.c - real files: passed, read, made, finished, refused; and what others could do to them. */
#define _GNU_SOURCE /* O_PATH */
#include "daemon/files/file_host.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define PART ".n.00112233445566778899aabbccddeeff.part"
#define MAP ".n.00112233445566778899aabbccddeeff.map"
static char top[64], folder[96];
static struct daemon_config config;
static struct file_host *files;
static const struct files_host *h;
static const uint8_t digest[FILES_DIGEST_BYTES] = {7, 8, 9};

/* What a disk does, and what the files asks it for: its own fsync() is this one. */
static struct {
    bool fails;       /* for folders */
    unsigned folders; /* that were synced */
    mode_t mode;      /* of the file that was synced last, */
    bool marked;      /* and had it a mark? */
} disk;

int fsync(int fd)
{
    char mark[64];
    struct stat st;
    ck_assert_int_eq(fstat(fd, &st), 0);
    if (S_ISDIR(st.st_mode)) {
        disk.folders++;
        if (disk.fails) {
            errno = EIO;
            return -1;
        }
    } else {
        disk.mode = st.st_mode & 07777;
        disk.marked = fgetxattr(fd, "user.cubeway.sha256", mark, sizeof mark) > 0;
    }
    return (int)syscall(SYS_fsync, fd);
}

/* What the configuration says of the folder and the user. */
static void configure(const char *in, const char *user)
{
    memset(&config, 0, sizeof config);
    snprintf(config.user, sizeof config.user, "%s", user);
    config.service_count = 1;
    strcpy(config.service[0].name, "multicast");
    config.service[0].options = 1;
    strcpy(config.service[0].option[0].name, "folder");
    snprintf(config.service[0].option[0].value, sizeof config.service[0].option[0].value, "%s", in);
}

static void begin(void)
{
    memset(&config, 0, sizeof config);
    strcpy(top, "/tmp/cubeway-files-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    snprintf(folder, sizeof folder, "%s/in", top);
    ck_assert_int_eq(file_host_open(&files, &config, NULL), 0);
    h = file_host_interface(files);
}

static const char *path_of(const char *name)
{
    static char path[4][200];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void end(void)
{
    static const char *const names[] = {PART, MAP, PART "~", MAP "~", "n", "other", "plain"};
    file_host_close(files);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(path_of(names[i]));
    }
    rmdir(path_of("n"));
    rmdir(folder);
    ck_assert_int_eq(rmdir(top), 0);
}

static int file_with(const char *text, int flags)
{
    char name[] = "/tmp/cubeway-file-XXXXXX";
    int fd = mkstemp(name);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    fd = open(name, flags);
    ck_assert_int_ge(fd, 0);
    unlink(name);
    return fd;
}

static struct files_file *open_part(uint64_t bytes)
{
    struct files_file *f = NULL;
    int rc = h->open(h->context, folder, PART, bytes, &f);
    ck_assert(rc == 0 || rc == 1);
    return f;
}

static int finish(struct files_file *f, bool replace)
{
    struct files_end e = {.part = PART, .name = "n", .mode = 0640, .replace = replace};
    memcpy(e.digest, digest, sizeof digest);
    return h->finish(h->context, folder, f, &e);
}

static void check_is(const char *name, const char *text)
{
    char got[64] = "";
    int fd = open(path_of(name), O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(read(fd, got, sizeof got - 1), 0);
    close(fd);
    ck_assert_str_eq(got, text);
}

START_TEST(what_is_passed)
{
    uint64_t ticket = 0, other;
    struct files_file *f;
    struct files_facts facts;
    uint8_t bytes[8];
    begin();
    ck_assert_int_eq(file_host_pass(files, open("/tmp", O_RDONLY), &ticket), -EISDIR);
    ck_assert_int_eq(file_host_pass(files, open("/dev/null", O_RDONLY), &ticket), -EINVAL);
    ck_assert_int_eq(file_host_pass(files, file_with("x", O_WRONLY), &ticket), -EACCES);
    ck_assert_int_eq(file_host_pass(files, file_with("x", O_PATH), &ticket), -EACCES);
    ck_assert_int_eq(h->claim(h->context, 0, &f), -ENOENT);
    ck_assert_int_eq(file_host_pass(files, file_with("hello", O_RDONLY), &ticket), 0);
    ck_assert_int_eq(file_host_pass(files, file_with("late", O_RDONLY), &other), -EBUSY);
    ck_assert_int_eq(h->claim(h->context, ticket + 1, &f), -ENOENT);
    ck_assert_int_eq(h->claim(h->context, ticket, &f), 0);
    ck_assert_int_eq(h->claim(h->context, ticket, &(struct files_file *){NULL}), -ENOENT);
    file_host_drop(files, ticket); /* it has been claimed: nothing happens */
    ck_assert_int_eq(h->look(h->context, f, &facts), 0);
    ck_assert_uint_eq(facts.bytes, 5);
    ck_assert_uint_eq(facts.mode, 0600);
    ck_assert_int_eq(h->read(h->context, f, 1, bytes, 4), 0);
    ck_assert_mem_eq(bytes, "ello", 4);
    ck_assert_int_eq(h->read(h->context, f, 1, bytes, 5), -ENODATA);
    h->close(h->context, f);
    ck_assert_int_eq(file_host_pass(files, file_with("again", O_RDONLY), &ticket), 0);
    file_host_drop(files, ticket);
    ck_assert_int_eq(h->claim(h->context, ticket, &f), -ENOENT);
    ck_assert_int_eq(file_host_pass(files, file_with("open at the end", O_RDONLY), &ticket), 0);
    end();
}
END_TEST

START_TEST(a_file_appears_at_once)
{
    struct stat st;
    uint8_t bytes[8];
    begin();
    struct files_file *f = open_part(6);
    ck_assert_int_eq(stat(path_of(PART), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert_int_eq(h->write(h->context, f, 3, (const uint8_t *)"def", 3), 0);
    ck_assert_int_eq(h->write(h->context, f, 0, (const uint8_t *)"abc", 3), 0);
    ck_assert_int_eq(h->read(h->context, f, 0, bytes, 6), 0);
    ck_assert_mem_eq(bytes, "abcdef", 6);
    ck_assert_int_eq(h->sync(h->context, f), 0);
    ck_assert_int_eq(access(path_of("n"), F_OK), -1);
    ck_assert_int_eq(finish(f, false), 0);
    h->close(h->context, f);
    check_is("n", "abcdef");
    ck_assert_int_eq(stat(path_of("n"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0640);
    ck_assert_int_eq(access(path_of(PART), F_OK), -1);
    /* One that is there: kept, or replaced. */
    f = open_part(1);
    ck_assert_int_eq(h->write(h->context, f, 0, (const uint8_t *)"z", 1), 0);
    ck_assert_int_eq(finish(f, false), -EEXIST);
    check_is("n", "abcdef");
    ck_assert_int_eq(finish(f, true), 0);
    h->close(h->context, f);
    check_is("n", "z");
    /* A folder is in the way. */
    unlink(path_of("n"));
    mkdir(path_of("n"), 0700);
    f = open_part(1);
    ck_assert_int_lt(finish(f, true), 0);
    h->close(h->context, f);
    ck_assert_int_eq(stat(path_of(PART), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600); /* as it was */
    end();
}
END_TEST

START_TEST(what_is_there_already)
{
    static const uint8_t other[FILES_DIGEST_BYTES] = {1};
    begin();
    ck_assert_int_eq(h->have(h->context, folder, "n", 3, digest), FILES_NONE);
    struct files_file *f = open_part(3);
    ck_assert_int_eq(h->write(h->context, f, 0, (const uint8_t *)"abc", 3), 0);
    ck_assert_int_eq(finish(f, false), 0);
    h->close(h->context, f);
    char mark[64];
    if (getxattr(path_of("n"), "user.cubeway.sha256", mark, sizeof mark) > 0) { /* else the file system has no marks */
        ck_assert_int_eq(h->have(h->context, folder, "n", 3, digest), FILES_SAME);
    }
    ck_assert_int_eq(h->have(h->context, folder, "n", 3, other), FILES_OTHER);
    ck_assert_int_eq(h->have(h->context, folder, "n", 4, digest), FILES_OTHER);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path_of("n"), times, 0), 0);
    ck_assert_int_eq(h->have(h->context, folder, "n", 3, digest), FILES_OTHER);
    end();
}
END_TEST

/* A mark is believed where nobody else can have made it. */
START_TEST(marks_of_others)
{
    begin();
    struct files_file *f = open_part(3);
    ck_assert_int_eq(h->write(h->context, f, 0, (const uint8_t *)"abc", 3), 0);
    ck_assert_int_eq(finish(f, false), 0);
    h->close(h->context, f);
    int same = h->have(h->context, folder, "n", 3, digest); /* FILES_OTHER: the file system has no marks */
    static const mode_t modes[] = {0664, 0646, 0666};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        ck_assert_int_eq(chmod(path_of("n"), modes[i]), 0);
        ck_assert_int_eq(h->have(h->context, folder, "n", 3, digest), FILES_OTHER);
    }
    ck_assert_int_eq(chmod(path_of("n"), 0644), 0);
    ck_assert_int_eq(h->have(h->context, folder, "n", 3, digest), same);
    ck_assert_int_eq(link(path_of("n"), path_of("other")), 0);
    ck_assert_int_eq(h->have(h->context, folder, "n", 3, digest), FILES_OTHER);
    ck_assert_int_eq(unlink(path_of("other")), 0);
    ck_assert_int_eq(h->have(h->context, folder, "n", 3, digest), same);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path_of("n"), 65534, 65534), 0);
        ck_assert_int_eq(h->have(h->context, folder, "n", 3, digest), FILES_OTHER);
    }
    end();
}
END_TEST

/* What is synced has its mark and its mode already; a folder that is not synced takes nothing back. */
START_TEST(what_is_synced)
{
    for (int fails = 0; fails < 2; fails++) {
        begin();
        struct files_file *f = open_part(3);
        ck_assert_int_eq(h->write(h->context, f, 0, (const uint8_t *)"abc", 3), 0);
        memset(&disk, 0, sizeof disk);
        disk.fails = fails == 1;
        ck_assert_int_eq(finish(f, false), fails);
        disk.fails = false;
        h->close(h->context, f);
        char mark[64];
        ck_assert_uint_eq(disk.mode, 0640);
        ck_assert(disk.marked == (getxattr(path_of("n"), "user.cubeway.sha256", mark, sizeof mark) > 0));
        ck_assert_uint_eq(disk.folders, 1);
        check_is("n", "abc");
        ck_assert_int_eq(access(path_of(PART), F_OK), -1);
        end();
    }
}
END_TEST

/* One that is new is told from one that was there: a file that says what is in it may be older. */
START_TEST(parts_that_are_new)
{
    struct files_file *f;
    begin();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(h->open(h->context, folder, PART, 10, &f), 1 - i);
        h->close(h->context, f);
    }
    ck_assert_int_eq(truncate(path_of(PART), 0), 0);
    ck_assert_int_eq(h->open(h->context, folder, PART, 10, &f), 1);
    h->close(h->context, f);
    end();
}
END_TEST

/* Parts are locked, of one owner, and no way to anything else. */
START_TEST(parts_of_others)
{
    struct files_file *f, *second;
    begin();
    f = open_part(10);
    ck_assert_int_eq(h->open(h->context, folder, PART, 10, &second), -EBUSY);
    ck_assert_int_eq(h->sweep(h->context, folder, CW_NS(0)), 0); /* somebody has it open */
    ck_assert_int_eq(h->write(h->context, f, 0, (const uint8_t *)"kept", 4), 0);
    h->close(h->context, f);
    f = open_part(10);
    uint8_t bytes[4];
    ck_assert_int_eq(h->read(h->context, f, 0, bytes, 4), 0);
    ck_assert_mem_eq(bytes, "kept", 4);
    h->close(h->context, f);
    unlink(path_of(PART));
    ck_assert_int_eq(symlink("/etc/passwd", path_of(PART)), 0);
    ck_assert_int_eq(h->open(h->context, folder, PART, 10, &second), -ELOOP);
    unlink(path_of(PART));
    close(open(path_of("other"), O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(link(path_of("other"), path_of(PART)), 0);
    ck_assert_int_eq(h->open(h->context, folder, PART, 10, &second), -EPERM);
    unlink(path_of(PART));
    ck_assert_int_eq(mkfifo(path_of(PART), 0600), 0);
    ck_assert_int_lt(h->open(h->context, folder, PART, 10, &second), 0);
    end();
}
END_TEST

START_TEST(folders_that_are_refused)
{
    struct files_file *f;
    begin();
    mkdir(folder, 0700);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    ck_assert_int_eq(h->open(h->context, folder, PART, 1, &f), -EPERM);
    ck_assert_int_eq(h->have(h->context, folder, "n", 1, digest), -EPERM);
    ck_assert_int_eq(chmod(folder, 01777), 0);
    ck_assert_int_eq(h->open(h->context, folder, PART, 1, &f), 1);
    h->close(h->context, f);
    ck_assert_int_eq(chmod(folder, 0700), 0);
    ck_assert_int_eq(h->open(h->context, "/nonexistent/below", PART, 1, &f), -ENOENT);
    ck_assert_int_eq(h->open(h->context, "/etc/passwd", PART, 1, &f), -ENOTDIR);
    if (geteuid() != 0) {
        ck_assert_int_eq(chmod(folder, 0500), 0);
        unlink(path_of(PART));
        ck_assert_int_eq(h->open(h->context, folder, PART ".", 1, &f), -EACCES);
        ck_assert_int_eq(chmod(folder, 0700), 0);
    }
    end();
}
END_TEST

/* A daemon with that configuration begins, and ends. */
static void pass_by(const char *in, const char *user)
{
    struct file_host *other;
    configure(in, user);
    ck_assert_int_eq(file_host_open(&other, &config, NULL), 0);
    file_host_close(other);
}

START_TEST(a_folder_for_a_user)
{
    struct stat st;
    char relative[] = "in", above[120];
    begin();
    snprintf(above, sizeof above, "%s/none/in", top);
    pass_by(above, "");
    pass_by(relative, "");
    ck_assert_int_eq(access(above, F_OK), -1);
    ck_assert_int_eq(access(relative, F_OK), -1);
    pass_by(folder, geteuid() == 0 ? "nobody" : "");
    ck_assert_int_eq(stat(folder, &st), 0);
    ck_assert_uint_eq(st.st_mode & 022, 0);
    ck_assert(geteuid() != 0 || st.st_uid != 0);
    pass_by(folder, ""); /* it stays as it is */
    uid_t before = st.st_uid;
    ck_assert_int_eq(stat(folder, &st), 0);
    ck_assert_uint_eq(st.st_uid, before);
    end();
}
END_TEST

START_TEST(no_room)
{
    struct files_file *f;
    begin();
    struct rlimit limit = {1 << 20, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(h->open(h->context, folder, PART, 2 << 20, &f), -EFBIG);
    ck_assert_int_eq(access(path_of(PART), F_OK), -1); /* it takes no room */
    ck_assert_int_eq(h->open(h->context, folder, PART, 1000, &f), 1);
    ck_assert_int_eq(h->write(h->context, f, 1 << 20, (const uint8_t *)"x", 1), -EFBIG);
    h->close(h->context, f);
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    end();
}
END_TEST

START_TEST(small_files_and_sweeping)
{
    uint8_t bytes[16];
    begin();
    ck_assert_int_eq(h->load(h->context, folder, MAP, bytes, sizeof bytes), -ENOENT);
    ck_assert_int_eq(h->store(h->context, folder, MAP, (const uint8_t *)"first", 5), 0);
    ck_assert_int_eq(h->store(h->context, folder, MAP, (const uint8_t *)"second", 6), 0);
    ck_assert_int_eq(h->load(h->context, folder, MAP, bytes, sizeof bytes), 6);
    ck_assert_mem_eq(bytes, "second", 6);
    ck_assert_int_eq(h->load(h->context, folder, MAP, bytes, 5), -EFBIG);
    close(open(path_of(MAP "~"), O_CREAT | O_WRONLY, 0600)); /* of a store that died */
    close(open(path_of("plain"), O_CREAT | O_WRONLY, 0600));
    h->close(h->context, open_part(1));
    ck_assert_int_eq(h->sweep(h->context, folder, CW_SEC(3600)), 0);
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    static const char *const names[] = {PART, MAP, MAP "~", "plain"};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(utimensat(AT_FDCWD, path_of(names[i]), times, 0), 0);
    }
    ck_assert_int_eq(h->sweep(h->context, folder, CW_SEC(3600)), 3);
    ck_assert_int_eq(access(path_of("plain"), F_OK), 0);
    ck_assert_int_eq(h->drop(h->context, folder, "plain"), 0);
    ck_assert_int_eq(h->drop(h->context, folder, "plain"), -ENOENT);
    end();
}
END_TEST

START_TEST(digests)
{
    uint8_t out[FILES_DIGEST_BYTES];
    begin();
    struct files_digest *d = h->digest_open(h->context);
    ck_assert_ptr_nonnull(d);
    ck_assert_int_eq(h->digest_add(d, (const uint8_t *)"abc", 3), 0);
    ck_assert_int_eq(h->digest_end(d, out), 0);
    h->digest_close(d);
    ck_assert_uint_eq(out[0], 0xba);
    ck_assert_uint_eq(out[31], 0xad);
    end();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_passed),      SUITE_TEST(a_file_appears_at_once),   SUITE_TEST(what_is_there_already),
    SUITE_TEST(parts_of_others),     SUITE_TEST(folders_that_are_refused), SUITE_TEST(no_room),
    SUITE_TEST(a_folder_for_a_user), SUITE_TEST(small_files_and_sweeping), SUITE_TEST(digests),
    SUITE_TEST(marks_of_others),     SUITE_TEST(what_is_synced),           SUITE_TEST(parts_that_are_new),
};
SUITE_MAIN("file_host", tests)
