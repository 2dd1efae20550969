/* Threads replace values by longer and shorter ones: reads see whole values, and no update is lost. */
#define _POSIX_C_SOURCE 200809L
#include "strings.h"
#include "threads.h"

enum { KEYS = 300, ROUNDS = 6000, LONGEST = 700, ADDS = 3000 };

static latchless_bytes *tree;
static size_t popped[THREADS];

/* A value of any length up to LONGEST, whose bytes all depend on its number. */
static size_t value_of(char *room, size_t number) {
    const size_t len = number * 37 % LONGEST;
    memset(room, (int)(len % 251), len);
    return len;
}

static void is_whole(const char *value, size_t len) {
    size_t i;
    CHECK(len < LONGEST);
    for (i = 0; i < len; i++) CHECK(value[i] == (char)(len % 251));
}

static size_t key_of(char *room, size_t number) { return (size_t)sprintf(room, "key/%04u", (unsigned)(number % KEYS)); }

static void *change(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    char key[32], value[LONGEST];
    size_t i, len, key_len, value_len;
    for (i = 0; i < ROUNDS; i++) {
        const size_t number = (i * 7919 + thread * 131) % 100003;
        key_len = key_of(key, number);
        value_len = value_of(value, number + i);
        if (i % 5 == 4) CHECK(latchless_bytes_remove(tree, key, key_len, NULL, 0, NULL) >= 0);
        else CHECK(latchless_bytes_insert(tree, key, key_len, value, value_len, NULL, 0, NULL) >= 0);
        switch (latchless_bytes_get(tree, key, key_len, value, sizeof value, &len)) {
        case LATCHLESS_OK: is_whole(value, len); break;
        case LATCHLESS_NOT_FOUND: break;
        default: CHECK(0); /* any value fits */
        }
    }
    /* A counter in decimal digits, which each thread increments. */
    for (i = 0; i < ADDS;) {
        char now[LONGEST], next[LONGEST];
        size_t now_len;
        CHECK(latchless_bytes_get(tree, "counter", 7, now, sizeof now, &now_len) == LATCHLESS_OK);
        memset(next, 'x', sizeof next);
        now[now_len] = '\0';
        value_len = (size_t)sprintf(next, "%u", (unsigned)(strtoul(now, NULL, 10) + 1));
        next[value_len] = '/';
        if (value_len % 2) value_len = 400;
        i += latchless_bytes_compare_exchange(tree, "counter", 7, now, now_len, next, value_len, NULL, 0, NULL)
             == LATCHLESS_OK;
    }
    return NULL;
}

static int whole(const void *key, size_t key_len, const void *value, size_t value_len, void *context) {
    (void)context;
    if (key_len == 8 && memcmp(key, "key/", 4) == 0) is_whole(value, value_len);
    return 0;
}

static void *look(void *argument) {
    int round;
    (void)argument;
    for (round = 0; round < 60; round++) {
        latchless_bytes_cursor *cursor;
        const void *key, *value;
        size_t key_len, value_len;
        CHECK(latchless_bytes_scan_prefix(tree, "key/", 4, whole, NULL) == LATCHLESS_OK);
        CHECK(latchless_bytes_cursor_new(tree, &cursor) == LATCHLESS_OK);
        while (latchless_bytes_cursor_move(cursor, LATCHLESS_NEXT, NULL, 0, &key, &key_len, &value, &value_len) == LATCHLESS_OK) {
            whole(key, key_len, value, value_len, NULL);
        }
        CHECK(latchless_bytes_cursor_free(cursor) == LATCHLESS_OK);
    }
    return NULL;
}

static void *pop(void *argument) {
    const size_t thread = (size_t)(uintptr_t)argument;
    static char rooms[THREADS][LATCHLESS_VALUE_MAX];
    size_t len;
    while (latchless_bytes_pop_last(tree, NULL, 0, NULL, rooms[thread], LATCHLESS_VALUE_MAX, &len) == LATCHLESS_OK) {
        is_whole(rooms[thread], len);
        popped[thread]++;
    }
    return NULL;
}

int main(void) {
    size_t len;
    char counter[LATCHLESS_VALUE_MAX + 1];
    CHECK(latchless_bytes_new(byte_values(), &tree) == LATCHLESS_OK);
    CHECK(latchless_bytes_insert(tree, "counter", 7, "0", 1, NULL, 0, NULL) == LATCHLESS_OK);
    together(change, look);
    CHECK(latchless_bytes_check_invariants(tree) == LATCHLESS_OK);
    CHECK(latchless_bytes_remove(tree, "counter", 7, counter, LATCHLESS_VALUE_MAX, &len) == LATCHLESS_OK);
    counter[len] = '\0';
    CHECK(strtoul(counter, NULL, 10) == THREADS * ADDS);
    CHECK(latchless_bytes_len(tree, &len) == LATCHLESS_OK && len > KEYS / 2 && len <= KEYS);
    together(pop, NULL);
    CHECK(sum(popped) == len);
    CHECK(latchless_bytes_free(tree) == LATCHLESS_OK);
    puts("byte_values_threads.c: all is well");
    return 0;
}
