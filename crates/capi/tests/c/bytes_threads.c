/* Threads share an index of byte strings: no entry is lost or duplicated, and one thread at a time uses a cursor. */
#define _POSIX_C_SOURCE 200809L
#include "strings.h"
#include "threads.h"

enum { PER_THREAD = 8000, BATCH = 250, ROOM = 320 };

static latchless_bytes *tree;
static latchless_bytes_cursor *shared_cursor;
static size_t popped[THREADS], fetched[THREADS], freed_by[THREADS];

/* The i-th key of a thread; every eleventh is too long to be stored in its node. */
static size_t key_of(char *room, size_t thread, size_t i) {
    const size_t len = (size_t)sprintf(room, "https://example.org/%05u/%u", (unsigned)(i * 7919 % PER_THREAD),
                                       (unsigned)thread);
    if (i % 11) return len;
    memset(room + len, 'x', 280);
    return len + 280;
}

static void *change(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    static char rooms[THREADS][BATCH][ROOM];
    const void *keys[BATCH];
    size_t lens[BATCH];
    latchless_value values[BATCH], value;
    uint8_t found[BATCH];
    size_t i, j, total;
    for (i = 0; i < PER_THREAD; i += BATCH) {
        for (j = 0; j < BATCH; j++) {
            lens[j] = key_of(rooms[thread][j], thread, i + j);
            keys[j] = rooms[thread][j];
            values[j] = thread * 1000000 + i + j;
        }
        CHECK(latchless_bytes_insert_columns(tree, apart_by(keys, lens), words(values), BATCH, &total, NULL) == LATCHLESS_OK);
        CHECK(total == BATCH);
        memset(values, 0, sizeof values);
        CHECK(latchless_bytes_get_columns(tree, apart_by(keys, lens), BATCH, values, BATCH * sizeof(latchless_value), NULL, found, &total) == LATCHLESS_OK);
        CHECK(total == BATCH);
        /* Removes every second key by single calls. */
        for (j = 0; j < BATCH; j++) {
            CHECK(values[j] == thread * 1000000 + i + j);
            if (j % 2) continue;
            CHECK(latchless_bytes_remove(tree, keys[j], lens[j], &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == values[j]);
        }
    }
    return NULL;
}

typedef struct {
    char key[ROOM];
    size_t len, count;
} last_key;

/* Whether a key is greater than another one. */
static int is_after(const void *key, size_t len, const last_key *other) {
    const int order = memcmp(key, other->key, len < other->len ? len : other->len);
    return order > 0 || (order == 0 && len > other->len);
}

static int ascends(const void *key, size_t len, const void *bytes, size_t value_len, void *context) {
    const latchless_value value = as_word(bytes, value_len);
    last_key *last = context;
    (void)value;
    CHECK(is_after(key, len, last) && len <= ROOM);
    memcpy(last->key, key, len);
    last->len = len;
    last->count++;
    return 0;
}

static void *look(void *argument) {
    int round;
    (void)argument;
    for (round = 0; round < 20; round++) {
        last_key last = {{0}, 0, 0};
        latchless_bytes_cursor *cursor;
        const void *key;
        size_t len;
        CHECK(latchless_bytes_scan(tree, NULL, 0, NULL, LATCHLESS_NO_END, 0, ascends, &last) == LATCHLESS_OK);
        CHECK(last.count <= THREADS * PER_THREAD);
        CHECK(latchless_bytes_cursor_new(tree, &cursor) == LATCHLESS_OK);
        last.len = 0;
        while (move_word(cursor, LATCHLESS_NEXT, NULL, 0, &key, &len, NULL) == LATCHLESS_OK) ascends(key, len, word_at(0), 8, &last);
        CHECK(latchless_bytes_cursor_free(cursor) == LATCHLESS_OK);
    }
    return NULL;
}

/* No two threads that pop from one end get the same entry. */
static void *pop(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    static char rooms[THREADS][LATCHLESS_KEY_MAX];
    last_key last = {{0}, 0, 0};
    size_t len;
    while (latchless_bytes_pop_first(tree, rooms[thread], LATCHLESS_KEY_MAX, &len, NULL, 0, NULL) == LATCHLESS_OK) {
        ascends(rooms[thread], len, word_at(0), 8, &last);
        popped[thread]++;
    }
    return NULL;
}

/* A second thread that uses a cursor gets LATCHLESS_BUSY. */
static void *fetch(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    for (;;) {
        const latchless_status status = move_word(shared_cursor, LATCHLESS_NEXT, NULL, 0, NULL, NULL, NULL);
        if (status == LATCHLESS_NOT_FOUND) return NULL;
        if (status == LATCHLESS_BUSY) continue;
        CHECK(status == LATCHLESS_OK);
        fetched[thread]++;
    }
}

/* Of threads that free one handle, exactly one succeeds. */
static void *free_it(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    const latchless_status status = latchless_bytes_cursor_free(shared_cursor);
    CHECK(status == LATCHLESS_OK || status == LATCHLESS_BAD_HANDLE);
    freed_by[thread] = status == LATCHLESS_OK;
    return NULL;
}

int main(void) {
    const size_t left = THREADS * PER_THREAD / 2;
    size_t len;
    CHECK(latchless_bytes_new(NULL, &tree) == LATCHLESS_OK);
    together(change, look);
    CHECK(latchless_bytes_check_invariants(tree) == LATCHLESS_OK);
    CHECK(latchless_bytes_len(tree, &len) == LATCHLESS_OK && len == left);
    CHECK(latchless_bytes_cursor_new(tree, &shared_cursor) == LATCHLESS_OK);
    together(fetch, NULL);
    CHECK(sum(fetched) == left);
    together(free_it, NULL);
    CHECK(sum(freed_by) == 1);
    together(pop, NULL);
    CHECK(sum(popped) == left);
    CHECK(latchless_bytes_free(tree) == LATCHLESS_OK);
    puts("bytes_threads.c: all is well");
    return 0;
}
