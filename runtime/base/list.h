/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - an intrusive doubly linked list: no allocation, every operation O(1) whatever the length.
 *
 *   struct job { int id; struct list_node link; };
 *   list_push_back(&jobs, &job->link);
 *   for (struct list_node *n = list_first(&jobs); n != NULL; n = list_next(&jobs, n)) {
 *       struct job *job = container_of(n, struct job, link);
 *   }
 *
 * A list does not own its nodes. A node is in at most one list and knows whether it is in one; linking it twice, or
 * removing it when it is in none, stops the program. A zeroed node is in no list. A list that is in use must not be
 * moved in memory, for its ends point at it, nor may a node that is linked. To remove nodes while walking, ask for
 * list_next() first.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include "base/check.h"
#include "base/container.h"

#include <stdbool.h>
#include <stddef.h>

struct list_node {
    struct list_node *next, *prev; /* both NULL when in no list */
};

/* A ring that begins and ends at a head, which is no element. */
struct list {
    struct list_node head;
};

static inline void list_init(struct list *list)
{
    list->head.next = &list->head;
    list->head.prev = &list->head;
}

static inline bool list_is_empty(const struct list *list)
{
    return list->head.next == &list->head;
}

static inline bool list_is_linked(const struct list_node *node)
{
    return node->next != NULL;
}

/* The first and the last node; NULL when the list is empty. */
static inline struct list_node *list_first(const struct list *list)
{
    return list_is_empty(list) ? NULL : list->head.next;
}

static inline struct list_node *list_last(const struct list *list)
{
    return list_is_empty(list) ? NULL : list->head.prev;
}

/* The next and the previous node of a node of this very list; NULL at its end. */
static inline struct list_node *list_next(const struct list *list, const struct list_node *node)
{
    return node->next == &list->head ? NULL : node->next;
}

static inline struct list_node *list_prev(const struct list *list, const struct list_node *node)
{
    return node->prev == &list->head ? NULL : node->prev;
}

/* Links node behind or before `place`, which is linked. */
static inline void list_insert_after(struct list_node *place, struct list_node *node)
{
    CHECK(!list_is_linked(node));
    node->prev = place;
    node->next = place->next;
    place->next->prev = node;
    place->next = node;
}

static inline void list_insert_before(struct list_node *place, struct list_node *node)
{
    list_insert_after(place->prev, node);
}

static inline void list_push_front(struct list *list, struct list_node *node)
{
    list_insert_after(&list->head, node);
}

static inline void list_push_back(struct list *list, struct list_node *node)
{
    list_insert_after(list->head.prev, node);
}

/* Takes node out of the list that it is in. */
static inline void list_remove(struct list_node *node)
{
    CHECK(list_is_linked(node));
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->next = NULL;
    node->prev = NULL;
}

/* Takes the first or the last node out and gives it; NULL when the list is empty. */
static inline struct list_node *list_pop_front(struct list *list)
{
    struct list_node *node = list_first(list);
    if (node != NULL) {
        list_remove(node);
    }
    return node;
}

static inline struct list_node *list_pop_back(struct list *list)
{
    struct list_node *node = list_last(list);
    if (node != NULL) {
        list_remove(node);
    }
    return node;
}

/* Takes node out of the list that it is in and puts it at the back or the front of this one, which may be the same. */
static inline void list_move_back(struct list *list, struct list_node *node)
{
    list_remove(node);
    list_push_back(list, node);
}

static inline void list_move_front(struct list *list, struct list_node *node)
{
    list_remove(node);
    list_push_front(list, node);
}

/* Moves all nodes of `from`, in order, to the back of `to`; `from` is then empty. They must be two lists. */
static inline void list_splice_back(struct list *to, struct list *from)
{
    CHECK(to != from);
    if (list_is_empty(from)) {
        return;
    }
    from->head.next->prev = to->head.prev;
    to->head.prev->next = from->head.next;
    from->head.prev->next = &to->head;
    to->head.prev = from->head.prev;
    list_init(from);
}

/* For tests and CHECK_SLOW: walks the whole ring; true when for every node the one behind it points back at it. */
static inline bool list_valid(const struct list *list)
{
    const struct list_node *node = &list->head;
    do {
        if (node->next == NULL || node->next->prev != node) {
            return false;
        }
        node = node->next;
    } while (node != &list->head);
    return true;
}

#endif
