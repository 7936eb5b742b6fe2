/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* gettid, pipe2 */
#include "services/crash.h"

#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_BYTES = 1 << 16, /* of the handler: the unwinder alone takes some 10 KB */
    FRAMES = 28,           /* with the sentence they fit what `cwsim swarm` keeps of a run */
    FRAME_BYTES = 8192,    /* of a backtrace: a path, and then a function and two numbers */
    NAME_SHOWN = 64,       /* of a service, whose memory may be what is broken */
};

/* A handler has no argument: what it needs is here. */
static struct crash_report told;
static cw_time (*clock_of_marks)(void);

/* ---- Text, without the library's formatting ---------------------------------------------------------------------- */

struct text {
    char *out;
    size_t length, room;
};

static void put(struct text *t, const char *words)
{
    for (; *words != '\0' && t->length + 1 < t->room; words++) {
        t->out[t->length++] = *words;
    }
    t->out[t->length] = '\0';
}

static void put_number(struct text *t, uint64_t value, unsigned base, unsigned digits)
{
    char text[24];
    size_t at = sizeof text - 1;
    text[at] = '\0';
    do {
        text[--at] = "0123456789abcdef"[value % base];
        value /= base;
        digits -= digits > 0;
    } while (at > 0 && (value > 0 || digits > 0));
    put(t, text + at);
}

/* A name out of memory that may be broken: as much of it as is printable. */
static void put_name(struct text *t, const char *name)
{
    for (unsigned i = 0; i < NAME_SHOWN && name[i] > ' ' && name[i] < 0x7f; i++) {
        put(t, (char[2]){name[i], '\0'});
    }
}

static void put_seconds(struct text *t, int64_t ns, unsigned digits)
{
    static const uint32_t parts[] = {1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    put_number(t, (uint64_t)ns / CW_NS_PER_SEC, 10, 1);
    put(t, ".");
    put_number(t, (uint64_t)ns % CW_NS_PER_SEC / parts[digits], 10, digits);
    put(t, " s");
}

static const char *signal_name(int signal)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
        {SIGILL, "SIGILL"},   {SIGFPE, "SIGFPE"},   {SIGSYS, "SIGSYS"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].number == signal) {
            return names[i].name;
        }
    }
    return "a signal";
}

static void put_server(struct text *t, cw_coord c)
{
    put_number(t, c.x, 10, 1);
    put(t, ",");
    put_number(t, c.y, 10, 1);
    put(t, ",");
    put_number(t, c.z, 10, 1);
}

static void put_place(struct text *t, const struct upcall_mark *mark)
{
    put(t, "service ");
    put_name(t, mark->service);
    put(t, ", in ");
    put(t, upcall_name(mark->upcall));
    put(t, ", on server ");
    put_server(t, mark->server);
}

size_t crash_sentence(int signal, const uintptr_t *address, const struct upcall_mark *mark, char out[static CRASH_TEXT])
{
    struct text t = {out, 0, CRASH_TEXT};
    if (signal == SIGABRT && mark != NULL && mark->service != NULL && mark->watchdog_ns > 0) {
        put(&t, "ended by the watchdog: ");
        put_place(&t, mark);
        put(&t, ", has held the thread for ");
        put_seconds(&t, mark->watchdog_ns, 1);
        return t.length;
    }
    put(&t, "crashed: ");
    put(&t, signal_name(signal));
    if (address != NULL) {
        put(&t, " at address 0x");
        put_number(&t, *address, 16, 1);
    }
    if (mark == NULL || mark->service == NULL) {
        put(&t, " outside of any service");
        return t.length;
    }
    put(&t, " in ");
    put_place(&t, mark);
    put(&t, ", at ");
    put_seconds(&t, mark->now.ns, 9);
    return t.length;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* The civil date of a number of days since 1970-01-01 (Gregorian calendar; years are counted from March). */
static void put_date(struct text *t, int64_t days)
{
    int64_t z = days + 719468, era = z / 146097, of_era = z - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * of_year + 2) / 153;
    int64_t day = of_year - (153 * month + 2) / 5 + 1;
    month += month < 10 ? 3 : -9;
    put_number(t, (uint64_t)(year_of_era + era * 400 + (month <= 2)), 10, 4);
    put(t, "-");
    put_number(t, (uint64_t)month, 10, 2);
    put(t, "-");
    put_number(t, (uint64_t)day, 10, 2);
}

static void put_wall_clock(struct text *t)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t second = now.tv_sec % 86400;
    put_date(t, now.tv_sec / 86400);
    put(t, "T");
    put_number(t, (uint64_t)(second / 3600), 10, 2);
    put(t, ":");
    put_number(t, (uint64_t)(second / 60 % 60), 10, 2);
    put(t, ":");
    put_number(t, (uint64_t)(second % 60), 10, 2);
    put(t, ".");
    put_number(t, (uint64_t)now.tv_nsec / 1000, 10, 6);
    put(t, "Z");
}

static void begin_line(struct text *t, const char *level)
{
    if (!told.logfmt) {
        return;
    }
    put(t, "time=");
    put_wall_clock(t);
    put(t, " level=");
    put(t, level);
    put(t, " msg=\"");
}

static void end_line(struct text *t)
{
    put(t, told.logfmt ? "\"\n" : "\n");
}

/* A pipe that nobody reads must not keep a dying server: what does not go at once is left out. */
static bool may_write(void)
{
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&room, 1, 0) == 1 && (room.revents & POLLOUT);
}

static void send_line(const struct text *t)
{
    if (may_write()) {
        ssize_t rc = write(STDERR_FILENO, t->out, t->length);
        (void)rc;
    }
}

size_t crash_plain_path(char *line, size_t length)
{
    size_t end = length, kept = 0;
    while (end > 0 && line[end - 1] != '(') {
        end--; /* only the path, which stands before the last bracket */
    }
    for (size_t i = 0; i < length; i++) {
        bool behind = i < end && kept > 0 && line[kept - 1] == '/';
        if (behind && line[i] == '.' && i + 1 < end && line[i + 1] == '/') {
            i++;
        } else if (!behind || line[i] != '/') {
            line[kept++] = line[i];
        }
    }
    return kept;
}

/* The C library writes a frame into the pipe, from where it is read and written on as it should be. */
static void send_frame(const int ends[2], void *frame)
{
    char line[FRAME_BYTES];
    backtrace_symbols_fd(&frame, 1, ends[1]);
    ssize_t got = read(ends[0], line, sizeof line);
    if (got > 0 && may_write()) {
        ssize_t rc = write(STDERR_FILENO, line, crash_plain_path(line, (size_t)got));
        (void)rc;
    }
}

static void send_backtrace(void)
{
    void *frame[FRAMES];
    int ends[2], count = backtrace(frame, FRAMES);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
        if (may_write()) { /* no descriptor is left, or no memory */
            backtrace_symbols_fd(frame, count, STDERR_FILENO);
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        send_frame(ends, frame[i]);
    }
    close(ends[0]);
    close(ends[1]);
}

static void send_repeat(void)
{
    char out[CRASH_TEXT];
    struct text t = {out, 0, sizeof out};
    put(&t, "this makes it happen again: ");
    put(&t, told.repeat);
    put(&t, "\n");
    send_line(&t);
}

/* ---- Handlers ---------------------------------------------------------------------------------------------------- */

/* The action has been reset by now, and the signal is blocked: raised again, it kills us once this has returned. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    char sentence[CRASH_TEXT], out[CRASH_TEXT];
    struct text t = {out, 0, sizeof out};
    /* Only the kernel says an address, and for these signals. */
    bool addressed =
        info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
    uintptr_t address = (uintptr_t)info->si_addr;
    bool ours = gettid() == getpid(); /* else the mark says what the first thread does meanwhile */
    (void)context;
    (void)crash_sentence(number, addressed ? &address : NULL, ours ? told.mark : NULL, sentence);
    begin_line(&t, "error");
    put(&t, sentence);
    if (ours && told.repeat != NULL && told.mark != NULL && told.mark->watchdog_ns > 0) {
        put(&t, ", at ");
        put_seconds(&t, told.mark->now.ns, 9); /* of the run that is to be repeated */
    }
    put(&t, ours ? "" : ", in a thread beside the server's: offloaded work, or a link's");
    end_line(&t);
    send_line(&t);
    send_backtrace();
    if (told.repeat != NULL) {
        send_repeat();
    }
    if (told.then != NULL) {
        told.then(number);
    }
    raise(number);
}

void crash_watch(const struct crash_report *report)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSYS};
    static char stack[STACK_BYTES];
    void *frame[1];
    told = *report;
    (void)backtrace(frame, 1); /* loads the unwinder, which allocates: not for a handler */
    (void)sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now, ours = {.sa_sigaction = on_crash, .sa_flags = SA_RESETHAND | SA_ONSTACK | SA_SIGINFO};
        if (sigaction(signals[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) {
            (void)sigaction(signals[i], &ours, NULL);
        }
    }
}

static void on_ask(int number)
{
    char out[CRASH_TEXT];
    struct text t = {out, 0, sizeof out};
    (void)number;
    if (told.mark == NULL || told.mark->service == NULL || gettid() != getpid()) {
        return;
    }
    begin_line(&t, "error");
    put_place(&t, told.mark);
    put(&t, ": has held the thread for ");
    put_seconds(&t, cw_time_since(clock_of_marks(), told.mark->now).ns, 1);
    put(&t, ", and still does");
    end_line(&t);
    send_line(&t);
    send_backtrace();
}

void crash_say_on(int signal, cw_time (*read)(void))
{
    struct sigaction ours = {.sa_handler = on_ask, .sa_flags = SA_RESTART | SA_ONSTACK};
    clock_of_marks = read;
    (void)sigaction(signal, &ours, NULL);
}
