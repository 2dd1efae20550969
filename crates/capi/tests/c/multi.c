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

static void compare(const latchless_multi *index) {
    size_t number, total = 0, len, count;
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
        total += own;
    }
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

int main(void) {
    pairs();
    columns();
    misuse();
    puts("multi.c: all is well");
    return 0;
}
