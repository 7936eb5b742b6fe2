/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/loss.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int loss_program(uint32_t ppm)
{
    uint32_t most = ppm >= 1000000 ? UINT32_MAX : (uint32_t)(((uint64_t)ppm << 32) / 1000000);
    const struct bpf_insn code[] = {
        {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_prandom_u32},
        {.code = BPF_JMP32 | BPF_JGE | BPF_K, .dst_reg = BPF_REG_0, .off = 2, .imm = (int32_t)most},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = TC_ACT_STOLEN}, /* "sent" */
        {.code = BPF_JMP | BPF_EXIT},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = TC_ACT_OK},
        {.code = BPF_JMP | BPF_EXIT},
    };
    static const char license[] = "Apache-2.0";
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
    attr.insn_cnt = sizeof code / sizeof *code;
    attr.insns = (uint64_t)(uintptr_t)code;
    attr.license = (uint64_t)(uintptr_t)license;
    int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
    return fd < 0 ? -errno : fd;
}
