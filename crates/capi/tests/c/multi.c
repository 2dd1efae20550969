/* Keys that have many rows: every function, compared with an array of pairs. */
#include "strings.h"

enum { KEYS = 50, ROWS = 40 };

static int there[KEYS][ROWS];

/* Keys of a few bytes, zeros included; the first is empty, and each is a prefix of later ones. */
static size_t key_of(size_t number, char key[8]) {
    size_t len = number % 7;
    memset(key, 0, 8);
    if (number > 0) key[0] = (char)(1 + number / 7);
    return number == 0 ? 0 : len + 1;
}

static size_t rows_of(size_t number) {
    size_t row, count = 0;
    for (row = 0; row < ROWS; row++) count += (size_t)there[number][row];
    return count;
}

typedef struct {
    size_t number, row, seen, stop_after;
} expected;

/* The next pair of the array has to be this one. */
static int see(const void *key, size_t key_len, uint64_t row, void *context) {
    expected *next = context;
    char own[8];
    size_t len;
    while (next->row == ROWS || !there[next->number][next->row]) {
        if (next->row < ROWS) next->row++;
        else next->number++, next->row = 0;
        CHECK(next->number < KEYS);
    }
    len = key_of(next->number, own);
    CHECK(row == next->row && key_len == len && memcmp(key, own, len) == 0);
    next->row++;
    return ++next->seen == next->stop_after;
}

/* A cursor walks over all pairs both ways, and seeks the next pair from one on, or the last one up to it. */
static void walk(const latchless_multi *index, size_t total) {
    latchless_multi_cursor *cursor;
    expected next = {0, 0, 0, 0};
    const void *key = NULL;
    size_t len = 0, back = 0, number = 17, row = 9, up, down;
    uint64_t found = 0;
    char own[8];
    CHECK(latchless_multi_cursor_new(index, &cursor) == LATCHLESS_OK);
    CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_PREV, NULL, 0, 0, &key, &len, &found) == LATCHLESS_NOT_FOUND);
    while (latchless_multi_cursor_move(cursor, LATCHLESS_NEXT, NULL, 0, 0, &key, &len, &found) == LATCHLESS_OK) {
        CHECK(see(key, len, found, &next) == 0);
    }
    CHECK(next.seen == total);
    CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_CURRENT, NULL, 0, 0, NULL, NULL, NULL) == LATCHLESS_NOT_FOUND);
    for (number = KEYS; number-- > 0;) {
        for (row = ROWS; row-- > 0;) {
            if (!there[number][row]) continue;
            CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_PREV, NULL, 0, 0, &key, &len, &found) == LATCHLESS_OK);
            CHECK(found == row && len == key_of(number, own) && memcmp(key, own, len) == 0);
            back++;
        }
    }
    CHECK(back == total);
    CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_PREV, NULL, 0, 0, NULL, NULL, NULL) == LATCHLESS_NOT_FOUND);
    for (number = 1; number < KEYS - 1; number++) {
        for (up = 17; up < ROWS && !there[number][up]; up++) {}
        for (down = 18; down > 0 && !there[number][down - 1]; down--) {}
        if (up == ROWS || down == 0) continue;
        len = key_of(number, own);
        CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_SEEK, own, len, 17, NULL, NULL, &found) == LATCHLESS_OK);
        CHECK(found == up);
        CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_SEEK_FOR_PREV, own, len, 17, &key, NULL, &found) == LATCHLESS_OK);
        CHECK(found == down - 1);
        /* The key may be the cursor's own. */
        CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_SEEK, key, len, 17, NULL, NULL, &found) == LATCHLESS_OK);
        CHECK(found == up);
    }
    CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_SEEK_FIRST, NULL, 0, 0, NULL, NULL, NULL) == (total ? LATCHLESS_OK : LATCHLESS_NOT_FOUND));
    CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_SEEK_LAST, NULL, 0, 0, NULL, NULL, NULL) == (total ? LATCHLESS_OK : LATCHLESS_NOT_FOUND));
    CHECK(latchless_multi_cursor_free(cursor) == LATCHLESS_OK);
}

static void compare(const latchless_multi *index) {
    size_t number, total = 0, len, count, keys = 0;
    char key[8];
    expected next = {0, 0, 0, 0};
    for (number = 0; number < KEYS; number++) {
        uint64_t rows[ROWS], least = 0;
        size_t filled, seen = 0, row = 0;
        const size_t key_len = key_of(number, key), own = rows_of(number);
        CHECK(latchless_multi_count_rows(index, key, key_len, &count) == LATCHLESS_OK && count == own);
        /* Pages of seven rows. */
        while (latchless_multi_rows(index, key, key_len, least, rows, 7, &filled) == LATCHLESS_OK) {
            size_t i;
            CHECK(filled > 0 && filled <= 7);
            for (i = 0; i < filled; i++, row++) {
                while (row < ROWS && !there[number][row]) row++;
                CHECK(rows[i] == row);
            }
            seen += filled;
            least = rows[filled - 1] + 1;
        }
        CHECK(seen == own && filled == 0);
        CHECK(latchless_multi_contains_key(index, key, key_len) == (own ? LATCHLESS_OK : LATCHLESS_NOT_FOUND));
        total += own;
        keys += own > 0;
    }
    CHECK(latchless_multi_distinct_keys(index, &count) == LATCHLESS_OK && count == keys);
    walk(index, total);
    CHECK(latchless_multi_len(index, &len) == LATCHLESS_OK && len == total);
    CHECK(latchless_multi_count(index, NULL, 0, NULL, LATCHLESS_NO_END, &count) == LATCHLESS_OK && count == total);
    CHECK(latchless_multi_scan(index, NULL, 0, NULL, LATCHLESS_NO_END, see, &next) == LATCHLESS_OK);
    CHECK(next.seen == total);
    CHECK(latchless_multi_check_invariants(index) == LATCHLESS_OK);
}

static void pairs(void) {
    latchless_multi *index;
    size_t round, state = 1;
    char key[8];
    CHECK(latchless_multi_new(NULL, &index) == LATCHLESS_OK);
    for (round = 0; round < 20000; round++) {
        size_t number, row, len;
        int *present;
        state = state * 1103515245 + 12345;
        number = state / 65536 % KEYS, row = state / 7 % ROWS;
        len = key_of(number, key), present = &there[number][row];
        CHECK(latchless_multi_contains(index, key, len, row) == (*present ? LATCHLESS_OK : LATCHLESS_NOT_FOUND));
        if (state / 1024 % 3) {
            CHECK(latchless_multi_insert(index, key, len, row) == (*present ? LATCHLESS_PRESENT : LATCHLESS_OK));
            *present = 1;
        } else {
            CHECK(latchless_multi_remove(index, key, len, row) == (*present ? LATCHLESS_OK : LATCHLESS_NOT_FOUND));
            *present = 0;
        }
        if (round % 2000 == 0) compare(index);
    }
    compare(index);
    {
        expected next = {0, 0, 0, 5};
        const size_t own = rows_of(20), low = key_of(30, key);
        size_t removed = 99, range;
        char end[8];
        CHECK(latchless_multi_scan(index, NULL, 0, NULL, LATCHLESS_NO_END, see, &next) == LATCHLESS_STOPPED && next.seen == 5);
        CHECK(latchless_multi_remove_range(index, key, low, end, key_of(32, end), &removed) == LATCHLESS_OK);
        range = rows_of(30) + rows_of(31);
        CHECK(removed == range && range > 0);
        memset(there[30], 0, sizeof there[30]);
        memset(there[31], 0, sizeof there[31]);
        compare(index);
        CHECK(latchless_multi_remove_all(index, key, key_of(20, key), &removed) == LATCHLESS_OK && removed == own);
        memset(there[20], 0, sizeof there[20]);
        compare(index);
        CHECK(latchless_multi_remove_all(index, key, key_of(20, key), &removed) == LATCHLESS_NOT_FOUND && removed == 0);
    }
    CHECK(latchless_multi_free(index) == LATCHLESS_OK);
}

static void columns(void) {
    const void *strings[] = {"ant", "ant", "bee"};
    const size_t lens[] = {3, 3, 3};
    const uint64_t rows[] = {1, UINT64_MAX, 0}, descending[] = {2, 1, 0};
    latchless_multi *index, *none;
    latchless_stats stats;
    size_t added = 99, filled;
    uint64_t found[2];
    CHECK(latchless_multi_bulk_load(apart_by(strings, lens), rows, 3, NULL, &index) == LATCHLESS_OK);
    CHECK(latchless_multi_rows(index, "ant", 3, 0, found, 2, &filled) == LATCHLESS_OK && filled == 2);
    CHECK(found[0] == 1 && found[1] == UINT64_MAX);
    CHECK(latchless_multi_insert_columns(index, apart_by(strings, lens), descending, 3, &added, NULL) == LATCHLESS_OK);
    CHECK(added == 1 && latchless_multi_contains(index, "ant", 3, 2) == LATCHLESS_OK);
    stats.struct_size = sizeof stats;
    CHECK(latchless_multi_stats(index, &stats) == LATCHLESS_OK && stats.entries == 4);
    REFUSED(latchless_multi_bulk_load(apart_by(strings, lens), descending, 3, NULL, &none), LATCHLESS_UNSORTED,
            "latchless_multi_bulk_load", "position 1");
    CHECK(none == NULL && latchless_multi_free(index) == LATCHLESS_OK);
}

static void files(const char *path) {
    latchless_multi *index, *again;
    latchless_bytes *other;
    latchless_multi_cursor *cursor;
    size_t pairs = 0, live = 0, held = 0, row;
    char key[8];
    const void *last;
    CHECK(latchless_multi_new(NULL, &index) == LATCHLESS_OK);
    for (row = 0; row < 1000; row++) CHECK(latchless_multi_insert(index, key, key_of(row % KEYS, key), row) == LATCHLESS_OK);
    CHECK(latchless_multi_memory_bytes(index, &held, &live) == LATCHLESS_OK && live > 0 && live <= held);
    CHECK(latchless_multi_save(index, path, &pairs) == LATCHLESS_OK && pairs == 1000);
    CHECK(latchless_multi_open(path, NULL, &again) == LATCHLESS_OK);
    CHECK(latchless_multi_shrink(again, 1.0) == LATCHLESS_OK && latchless_multi_check_invariants(again) == LATCHLESS_OK);
    CHECK(latchless_multi_cursor_new(again, &cursor) == LATCHLESS_OK);
    REFUSED(latchless_multi_shrink(again, 1.0), LATCHLESS_BUSY, "latchless_multi_shrink", "a cursor keeps the index");
    CHECK(latchless_multi_clear(index) == LATCHLESS_OK && latchless_multi_len(index, &pairs) == LATCHLESS_OK && pairs == 0);
    CHECK(latchless_multi_free(index) == LATCHLESS_OK && latchless_multi_free(again) == LATCHLESS_OK);
    /* A cursor outlives its index. */
    for (row = 0; row < 1000; row++) {
        CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_NEXT, NULL, 0, 0, &last, &pairs, NULL) == LATCHLESS_OK);
    }
    CHECK(pairs == key_of(KEYS - 1, key) && memcmp(last, key, pairs) == 0);
    CHECK(latchless_multi_cursor_move(cursor, LATCHLESS_NEXT, NULL, 0, 0, NULL, NULL, NULL) == LATCHLESS_NOT_FOUND);
    REFUSED(latchless_multi_cursor_move(cursor, 7, NULL, 0, 0, NULL, NULL, NULL), LATCHLESS_INVALID,
            "latchless_multi_cursor_move", "move is 7");
    CHECK(latchless_multi_cursor_free(cursor) == LATCHLESS_OK);
    CHECK(latchless_bytes_open(path, NULL, &other) == LATCHLESS_BAD_FILE);
}

static void misuse(void) {
    static char longest[LATCHLESS_KEY_MAX + 1];
    latchless_multi *index;
    latchless_bytes *other;
    uint64_t row;
    size_t number;
    memset(longest, 'x', sizeof longest);
    CHECK(latchless_multi_new(byte_values(), &index) == LATCHLESS_INVALID && index == NULL);
    CHECK(latchless_multi_new(NULL, &index) == LATCHLESS_OK && latchless_bytes_new(NULL, &other) == LATCHLESS_OK);
    REFUSED(latchless_multi_insert((latchless_multi *)other, "a", 1, 1), LATCHLESS_BAD_HANDLE, "latchless_multi_insert",
            "one of latchless_bytes, but must be one of latchless_multi");
    REFUSED(latchless_multi_insert(index, longest, sizeof longest, 1), LATCHLESS_KEY_TOO_LONG, "latchless_multi_insert", "");
    REFUSED(latchless_multi_insert(index, NULL, 1, 1), LATCHLESS_NULL, "latchless_multi_insert", "key is NULL");
    REFUSED(latchless_multi_rows(index, "a", 1, 0, &row, 0, &number), LATCHLESS_INVALID, "latchless_multi_rows", "room is 0");
    REFUSED(latchless_multi_rows(index, "a", 1, 0, NULL, 1, &number), LATCHLESS_NULL, "latchless_multi_rows", "rows is NULL");
    REFUSED(latchless_multi_count(index, "b", 1, "a", 1, &number), LATCHLESS_INVERTED_RANGE, "latchless_multi_count",
            "begin is after end");
    REFUSED(latchless_multi_scan(index, "a", 1, "b", 1, NULL, NULL), LATCHLESS_NULL, "latchless_multi_scan", "visitor is NULL");
    CHECK(latchless_multi_free(index) == LATCHLESS_OK && latchless_multi_free(index) == LATCHLESS_BAD_HANDLE);
    CHECK(latchless_bytes_free(other) == LATCHLESS_OK);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    pairs();
    columns();
    files(arguments[1]);
    misuse();
    puts("multi.c: all is well");
    return 0;
}
