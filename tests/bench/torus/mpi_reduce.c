/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_reduce.c - what torus_reduce.py measures the aggregation against: a reduction of float32 vectors by MPI.
 *
 *   mpirun .. mpi_reduce reduce|allreduce BYTES ROUNDS
 *
 * Rank 0 prints a line for each round: the seconds from a barrier until the last rank is done. Every element of the
 * result is compared. Exit code 1: one was wrong; 2: the command line makes no sense.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small numbers, whose sum a float32 holds exactly. */
static float part(int rank, size_t i)
{
    return (float)((i + (size_t)rank) % 1000);
}

static bool right(const float *sum, size_t n, int ranks)
{
    for (size_t i = 0; i < n; i++) {
        float must = 0;
        for (int rank = 0; rank < ranks; rank++) {
            must += part(rank, i);
        }
        if (sum[i] != must) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bool all = argc == 4 && strcmp(argv[1], "allreduce") == 0;
    if (argc != 4 || (!all && strcmp(argv[1], "reduce") != 0)) {
        fprintf(stderr, "usage: mpi_reduce reduce|allreduce BYTES ROUNDS\n");
        MPI_Finalize();
        return 2;
    }
    size_t n = strtoull(argv[2], NULL, 10) / sizeof(float);
    int rounds = atoi(argv[3]), wrong = 0;
    float *own = malloc(n * sizeof *own + 1), *sum = calloc(n + 1, sizeof *sum);
    if (own == NULL || sum == NULL || n > 1u << 30) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (size_t i = 0; i < n; i++) {
        own[i] = part(rank, i);
    }
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime(), took, longest;
        if (all) {
            MPI_Allreduce(own, sum, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        } else {
            MPI_Reduce(own, sum, (int)n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
        }
        took = MPI_Wtime() - began;
        MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        wrong += (all || rank == 0) && !right(sum, n, ranks);
        if (rank == 0) {
            printf("%.6f\n", longest);
            fflush(stdout);
        }
    }
    free(own);
    free(sum);
    MPI_Finalize();
    return wrong > 0;
}
