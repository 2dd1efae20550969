/* Threads share an index: no entry is lost or duplicated, and each thread has its own last error. */
#define _POSIX_C_SOURCE 200809L
#include "threads.h"

enum { PER_THREAD = 20000, BATCH = 500 };

static latchless_index *tree;
static latchless_index_cursor *shared_cursor;
static size_t popped[THREADS], fetched[THREADS], freed_by[THREADS];

/* The keys of a thread: 4 i + t, less half of all, so that some are negative. */
static uint64_t key_of(size_t thread, size_t i) {
    return latchless_key_from_i64((int64_t)(THREADS * i + thread) - THREADS * PER_THREAD / 2);
}

static void *change(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    static uint64_t keys[THREADS][BATCH];
    static latchless_value values[THREADS][BATCH];
    static uint8_t found[THREADS][BATCH];
    latchless_value value;
    size_t i, j, total;
    char mine[64];
    for (i = 0; i < PER_THREAD; i += BATCH) {
        for (j = 0; j < BATCH; j++) {
            keys[thread][j] = key_of(thread, i + j);
            values[thread][j] = thread * 1000000 + i + j;
        }
        CHECK(latchless_index_insert_columns(tree, keys[thread], values[thread], BATCH, &total, NULL)
              == LATCHLESS_OK);
        CHECK(total == BATCH);
        /* No other thread overwrites the message of this failure. */
        CHECK(latchless_index_get_columns(tree, keys[thread], SIZE_MAX - thread, NULL, NULL, NULL)
              == LATCHLESS_TOO_LONG);
        snprintf(mine, sizeof mine, "%zu elements", (size_t)(SIZE_MAX - thread));
        CHECK(latchless_index_get_columns(tree, keys[thread], BATCH, values[thread], found[thread], &total)
              == LATCHLESS_OK);
        CHECK(total == BATCH);
        CHECK(strstr(latchless_last_error(), mine) != NULL);
        /* Removes every third key by single calls. */
        for (j = i - i % 3; j < i + BATCH; j += 3) {
            if (j < i) continue;
            CHECK(latchless_index_remove(tree, key_of(thread, j), &value) == LATCHLESS_OK);
            CHECK(value == thread * 1000000 + j);
        }
    }
    return NULL;
}

static int ascends(const uint64_t *keys, const latchless_value *values, size_t count, void *context) {
    uint64_t *last = context;
    size_t i;
    (void)values;
    for (i = 0; i < count; i++) {
        CHECK(keys[i] > *last);
        *last = keys[i];
    }
    return 0;
}

static void *look(void *argument) {
    int round;
    (void)argument;
    for (round = 0; round < 20; round++) {
        uint64_t last = 0;
        size_t count;
        CHECK(latchless_index_scan_chunks(tree, 0, UINT64_MAX, ascends, &last) == LATCHLESS_OK);
        CHECK(latchless_index_count(tree, 0, UINT64_MAX, &count) == LATCHLESS_OK);
        CHECK(count <= THREADS * PER_THREAD);
    }
    return NULL;
}

/* No two threads that pop from one end get the same entry. */
static void *pop(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    uint64_t last = 0, key;
    while (latchless_index_pop_first(tree, &key, NULL) == LATCHLESS_OK) {
        CHECK(key > last);
        last = key;
        popped[thread]++;
    }
    return NULL;
}

/* A second thread that uses a cursor gets LATCHLESS_BUSY. */
static void *fetch(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    static uint64_t keys[THREADS][64];
    size_t total;
    for (;;) {
        const latchless_status status =
            latchless_index_cursor_next(shared_cursor, keys[thread], NULL, 64, &total);
        if (status == LATCHLESS_NOT_FOUND) return NULL;
        if (status == LATCHLESS_BUSY) continue;
        CHECK(status == LATCHLESS_OK);
        fetched[thread] += total;
    }
}

/* Of threads that free one handle, exactly one succeeds. */
static void *free_it(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    const latchless_status status = latchless_index_cursor_free(shared_cursor);
    CHECK(status == LATCHLESS_OK || status == LATCHLESS_BAD_HANDLE);
    freed_by[thread] = status == LATCHLESS_OK;
    return NULL;
}

int main(void) {
    const size_t left = THREADS * (size_t)(PER_THREAD - (PER_THREAD + 2) / 3);
    size_t len;
    CHECK(latchless_index_new(NULL, &tree) == LATCHLESS_OK);
    together(change, look);
    CHECK(latchless_index_check_invariants(tree) == LATCHLESS_OK);
    CHECK(latchless_index_len(tree, &len) == LATCHLESS_OK);
    CHECK(len == left);
    CHECK(latchless_index_cursor_new(tree, 0, UINT64_MAX, 0, &shared_cursor) == LATCHLESS_OK);
    together(fetch, NULL);
    CHECK(sum(fetched) == left);
    together(free_it, NULL);
    CHECK(sum(freed_by) == 1);
    together(pop, NULL);
    CHECK(sum(popped) == left);
    CHECK(latchless_index_free(tree) == LATCHLESS_OK);
    puts("threads.c: all is well");
    return 0;
}
