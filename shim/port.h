/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - the Ethernet interface of a raw or pcap shim: it is found, watched and claimed here, and has the header of
 * all its frames.
 */
#ifndef SHIM_PORT_H
#define SHIM_PORT_H

#include "shim/carrier.h"
#include "shim/lane.h"
#include "shim/shim.h"

#include <string.h>

enum {
    PORT_ETHERTYPE = WIRE_ETHERTYPE,
    PORT_HEADER = 14,   /* bytes: two addresses and the EtherType */
    PORT_OVERHEAD = 38, /* bytes that each frame costs beyond its own: header 14, check 4, preamble 8, gap 12 */
};

struct port_options {
    const char *interface;
    uint32_t mtu; /* 0: the interface's; at most that */
    /* Of data frames and of control frames, which must differ. 0: PORT_ETHERTYPE; the one behind that of data. */
    uint16_t ethertype, ethertype_control;
    /*
     * All 0: broadcast; a cable has only one other end, so no address needs to be found out, and every frame that comes
     * by it is ours. Another address: frames to others may be on the cable, and are not given.
     */
    uint8_t destination[6];
    uint64_t bits_per_second; /* of the medium, where it is shaped; 0: as the driver says */
    /* An interface that is not there yet is waited for, and must then carry frames of `mtu`, which is not 0. */
    bool await;
};

struct port {
    struct carrier carrier;
    uint32_t generation; /* of the device that we hold; 0: none */
    uint32_t mtu;
    uint16_t ethertype[LANES];
    uint64_t bits_per_second;
    uint8_t header[LANES][PORT_HEADER];
    bool alone; /* every frame on the cable is ours: the destination is broadcast */
};

/*
 * Finds the interface; it may be down. 0, or -ENODEV, -ENAMETOOLONG, -EPROTOTYPE (it is not Ethernet), -EMSGSIZE (its
 * mtu is smaller than the one asked for), -EINVAL (data and control would have one EtherType), or another -errno.
 * port_close() is due in any case. With options->await an interface that is missing is no error: there is no carrier
 * until it has come and can carry our frames.
 */
CW_MUST_CHECK int port_open(struct port *p, const struct port_options *options);
void port_close(struct port *p);
/* Is there an interface to bind to now? False: it is waited for. */
static inline bool port_present(const struct port *p)
{
    return p->carrier.index != 0;
}
/*
 * Would port_open() find the interface and be content with it? Takes no rights, and holds nothing. 0; or the -errno of
 * port_open() and its sentence.
 */
CW_MUST_CHECK int port_check(const struct port_options *options, char why[static SHIM_WHY_BYTES]);

/* The sentence for an error of port_open() or of what was built on it. Returns rc. */
int port_explain(const struct port *p, const struct port_options *options, int rc, char why[static SHIM_WHY_BYTES]);

/* Is there a carrier, and is it for frames of our mtu, on the device that we hold? */
static inline bool port_carrier(const struct port *p)
{
    return p->carrier.state == CARRIER_UP && p->carrier.mtu >= p->mtu && p->generation == p->carrier.generation &&
           p->carrier.ethernet;
}

/*
 * Reads what netlink says. True when another device has taken the place of ours: bind the sockets to it and claim it.
 */
bool port_service(struct port *p);

/* Writes the header of a frame into the PORT_HEADER bytes before it; gives their start. */
static inline uint8_t *port_frame(const struct port *p, uint8_t *bytes, uint32_t length)
{
    return memcpy(bytes - PORT_HEADER, p->header[frame_lane(bytes, length)], PORT_HEADER);
}

/* Binds a packet socket, perhaps again, to the device that we hold and to the lane's EtherType. 0 or -errno. */
CW_MUST_CHECK int port_bind(const struct port *p, int fd, enum frame_lane lane);

/*
 * Is the interface ours alone, now that the packet sockets fds[count] (all of this port's) are bound to it? 0: yes.
 * -EADDRINUSE: another process's packet socket is bound to it and to one of our EtherTypes (claim.h). Ours then hear
 * nothing, and stand in nobody's way, until they are bound again.
 */
CW_MUST_CHECK int port_claim(const struct port *p, const int *fds, unsigned count);

/* Gives the device up: it could not be bound to, or it is another process's. The next port_service() tries again. */
void port_release(struct port *p);

/*
 * A device that dropped a frame for want of room, and no writability will tell when it has some. The pause before the
 * next try doubles with each that fails: a queue that is full for a moment is tried again at once, and one that takes
 * nothing at all costs some 150 tries a second, and not a processor. All zero: it is not full.
 */
struct port_full {
    cw_time until; /* 0: now */
    uint64_t row;  /* refusals since it took a frame */
};
enum { PORT_PAUSE_US = 50, PORT_PAUSE_DOUBLES = 7 };

static inline void port_full_note(struct port_full *f, cw_time now)
{
    uint64_t doubles = f->row < PORT_PAUSE_DOUBLES ? f->row : PORT_PAUSE_DOUBLES;
    f->until = cw_time_add(now, CW_US((int64_t)PORT_PAUSE_US << doubles));
    f->row++;
}

/* May it be tried (again)? */
static inline bool port_full_passed(struct port_full *f, cw_time (*now)(void))
{
    if (f->until.ns != 0 && cw_time_due(f->until, now())) {
        f->until.ns = 0;
    }
    return f->until.ns == 0;
}

/* Fills in the name, the state and what is known of the medium. */
void port_info(const struct port *p, struct shim_info *out);

#endif
