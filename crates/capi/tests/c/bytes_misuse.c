/* Misuse of the functions for byte strings: the status and the message name what is wrong and where. */
#include "strings.h"

static int visited(const void *key, size_t key_len, const void *value, size_t value_len, void *context) {
    (void)key, (void)key_len, (void)value, (void)value_len, (void)context;
    return 0;
}

static void handles(latchless_bytes *index) {
    latchless_bytes *freed, *other;
    latchless_index *numbers;
    latchless_bytes_cursor *cursor;
    latchless_value value = 3;
    int i;

    REFUSED(latchless_bytes_get(NULL, "a", 1, &value, sizeof(latchless_value), NULL), LATCHLESS_BAD_HANDLE, "latchless_bytes_get",
            "the handle is NULL");
    REFUSED(move_word(NULL, LATCHLESS_NEXT, NULL, 0, NULL, NULL, NULL), LATCHLESS_BAD_HANDLE,
            "latchless_bytes_cursor_move", "the handle is NULL");
    CHECK(latchless_index_new(NULL, &numbers) == LATCHLESS_OK);
    REFUSED(latchless_bytes_get((latchless_bytes *)(void *)numbers, "a", 1, &value, sizeof(latchless_value), NULL), LATCHLESS_BAD_HANDLE,
            "latchless_bytes_get", "the handle is one of latchless_index, but must be one of latchless_bytes");
    REFUSED(latchless_index_get((latchless_index *)(void *)index, 1, &value), LATCHLESS_BAD_HANDLE,
            "latchless_index_get", "the handle is one of latchless_bytes, but must be one of latchless_index");
    REFUSED(latchless_index_free((latchless_index *)(void *)index), LATCHLESS_BAD_HANDLE, "latchless_index_free",
            "the handle is one of latchless_bytes");
    CHECK(latchless_index_free(numbers) == LATCHLESS_OK);
    CHECK(latchless_bytes_cursor_new(index, &cursor) == LATCHLESS_OK);
    REFUSED(latchless_bytes_free((latchless_bytes *)(void *)cursor), LATCHLESS_BAD_HANDLE, "latchless_bytes_free",
            "the handle is one of latchless_bytes_cursor");
    REFUSED(latchless_bytes_cursor_move((latchless_bytes_cursor *)(void *)index, LATCHLESS_NEXT, NULL, 0, NULL, NULL, NULL,
                                        NULL),
            LATCHLESS_BAD_HANDLE, "latchless_bytes_cursor_move", "but must be one of latchless_bytes_cursor");
    CHECK(latchless_bytes_cursor_free(cursor) == LATCHLESS_OK);
    REFUSED(latchless_bytes_cursor_free(cursor), LATCHLESS_BAD_HANDLE, "latchless_bytes_cursor_free",
            "the handle of latchless_bytes_cursor was freed before");
    REFUSED(move_word(cursor, LATCHLESS_SEEK, "a", 1, NULL, NULL, NULL), LATCHLESS_BAD_HANDLE,
            "latchless_bytes_cursor_move", "was freed before");

    CHECK(latchless_bytes_free(NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_cursor_free(NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_new(NULL, &freed) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(freed) == LATCHLESS_OK);
    for (i = 0; i < 100; i++) {
        CHECK(latchless_bytes_new(NULL, &other) == LATCHLESS_OK);
        REFUSED(latchless_bytes_free(freed), LATCHLESS_BAD_HANDLE, "latchless_bytes_free",
                "the handle of latchless_bytes was freed before");
        REFUSED(latchless_bytes_insert(freed, "a", 1, WORD(2), NULL, 0, NULL), LATCHLESS_BAD_HANDLE, "latchless_bytes_insert",
                "was freed before");
        CHECK(latchless_bytes_free(other) == LATCHLESS_OK);
    }
    CHECK(value == 3);
}

static void keys(latchless_bytes *index) {
    static char longest[LATCHLESS_KEY_MAX + 1];
    latchless_bytes_cursor *cursor;
    latchless_value value = 3;
    size_t total = 42, len = 0;
    const void *key = NULL;
    memset(longest, 'k', sizeof longest);

    REFUSED(latchless_bytes_get(index, NULL, 3, &value, sizeof(latchless_value), NULL), LATCHLESS_NULL, "latchless_bytes_get",
            "key is NULL, but has a length of 3");
    REFUSED(latchless_bytes_insert(index, NULL, 3, WORD(1), &value, sizeof(latchless_value), NULL), LATCHLESS_NULL, "latchless_bytes_insert",
            "key is NULL, but has a length of 3");
    REFUSED(latchless_bytes_count(index, NULL, 1, NULL, LATCHLESS_NO_END, &total), LATCHLESS_NULL,
            "latchless_bytes_count", "begin is NULL, but has a length of 1");
    REFUSED(latchless_bytes_remove_range(index, NULL, 0, NULL, 2, &total), LATCHLESS_NULL,
            "latchless_bytes_remove_range", "end is NULL, but has a length of 2");
    REFUSED(latchless_bytes_scan_prefix(index, NULL, 2, visited, NULL), LATCHLESS_NULL,
            "latchless_bytes_scan_prefix", "prefix is NULL, but has a length of 2");
    /* More than memory can hold: by the length, and by the address of the end. */
    REFUSED(latchless_bytes_get(index, "a", SIZE_MAX, &value, sizeof(latchless_value), NULL), LATCHLESS_TOO_LONG, "latchless_bytes_get",
            "key can't have 18446744073709551615 elements");
    REFUSED(latchless_bytes_insert(index, "a", SIZE_MAX / 2 + 1, WORD(1), &value, sizeof(latchless_value), NULL), LATCHLESS_TOO_LONG,
            "latchless_bytes_insert", "key can't have");
    REFUSED(latchless_bytes_remove(index, (const void *)(UINTPTR_MAX - 3), 5, &value, sizeof(latchless_value), NULL), LATCHLESS_TOO_LONG,
            "latchless_bytes_remove", "key can't have 5 elements");
    /* Only a range's end may have the length LATCHLESS_NO_END. */
    REFUSED(latchless_bytes_count(index, "a", LATCHLESS_NO_END, "b", 1, &total), LATCHLESS_TOO_LONG,
            "latchless_bytes_count", "begin can't have");

    /* A key that is too long is absent and refused; one of the largest length is accepted. */
    REFUSED(latchless_bytes_insert(index, longest, sizeof longest, WORD(1), NULL, 0, NULL), LATCHLESS_KEY_TOO_LONG,
            "latchless_bytes_insert", "the key has 65536 bytes, more than the 65535");
    REFUSED(latchless_bytes_try_insert(index, longest, sizeof longest, WORD(1), NULL, 0, NULL), LATCHLESS_KEY_TOO_LONG,
            "latchless_bytes_try_insert", "the key has 65536 bytes");
    CHECK(latchless_bytes_get(index, longest, sizeof longest, &value, sizeof(latchless_value), NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_contains_key(index, longest, sizeof longest) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_replace(index, longest, sizeof longest, WORD(1), NULL, 0, NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_remove(index, longest, sizeof longest, NULL, 0, NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_compare_exchange(index, longest, sizeof longest, WORD(1), WORD(2), NULL, 0, NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_insert(index, longest, LATCHLESS_KEY_MAX, WORD(5), NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_near(index, LATCHLESS_FLOOR, longest, sizeof longest, NULL, 0, &total, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK);
    CHECK(total == LATCHLESS_KEY_MAX && value == 5);
    CHECK(latchless_bytes_near(index, LATCHLESS_CEILING, longest, sizeof longest, NULL, 0, &total, NULL, 0, NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_count(index, longest, sizeof longest, NULL, LATCHLESS_NO_END, &total) == LATCHLESS_OK);
    CHECK(total == 0);
    CHECK(latchless_bytes_cursor_new(index, &cursor) == LATCHLESS_OK);
    CHECK(move_word(cursor, LATCHLESS_SEEK, longest, sizeof longest, NULL, NULL, NULL) == LATCHLESS_NOT_FOUND);
    CHECK(move_word(cursor, LATCHLESS_SEEK_FOR_PREV, longest, sizeof longest, &key, &len, NULL) == LATCHLESS_OK);
    CHECK(len == LATCHLESS_KEY_MAX && memcmp(key, longest, len) == 0);
    REFUSED(move_word(cursor, LATCHLESS_SEEK, NULL, 1, &key, &len, NULL), LATCHLESS_NULL,
            "latchless_bytes_cursor_move", "key is NULL, but has a length of 1");
    /* A refused seek leaves the cursor where it was. */
    CHECK(move_word(cursor, LATCHLESS_CURRENT, NULL, 0, NULL, &len, &value) == LATCHLESS_OK && value == 5);
    CHECK(latchless_bytes_cursor_free(cursor) == LATCHLESS_OK);
    CHECK(latchless_bytes_clear(index) == LATCHLESS_OK);
}

/* A key that does not fit: only its length is written. */
static void rooms(latchless_bytes *index) {
    char room[8] = "_______";
    static char any[LATCHLESS_KEY_MAX];
    latchless_value value = 3;
    size_t len = 0;
    CHECK(latchless_bytes_insert(index, "abcde", 5, WORD(1), NULL, 0, NULL) == LATCHLESS_OK);
    REFUSED(latchless_bytes_first(index, room, 4, &len, &value, sizeof(latchless_value), NULL), LATCHLESS_SMALL_ROOM, "latchless_bytes_first",
            "key has room for 4 bytes, but needs 5");
    CHECK(len == 5 && value == 3 && room[0] == '_');
    REFUSED(latchless_bytes_near(index, LATCHLESS_CEILING, "a", 1, room, 0, &len, &value, sizeof(latchless_value), NULL), LATCHLESS_SMALL_ROOM,
            "latchless_bytes_near", "near_key has room for 0 bytes, but needs 5");
    CHECK(latchless_bytes_last(index, room, 5, &len, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && len == 5 && value == 1);
    CHECK(memcmp(room, "abcde__", 8) == 0);
    REFUSED(latchless_bytes_first(index, room, 8, NULL, &value, sizeof(latchless_value), NULL), LATCHLESS_NULL, "latchless_bytes_first",
            "key_len is NULL");
    REFUSED(latchless_bytes_first(index, room, SIZE_MAX, &len, &value, sizeof(latchless_value), NULL), LATCHLESS_TOO_LONG, "latchless_bytes_first",
            "key can't have");
    /* Any key must fit before one is removed. */
    REFUSED(latchless_bytes_pop_first(index, room, 8, &len, &value, sizeof(latchless_value), NULL), LATCHLESS_SMALL_ROOM,
            "latchless_bytes_pop_first", "key has room for 8 bytes, but needs 65535");
    CHECK(len == LATCHLESS_KEY_MAX);
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == 1);
    CHECK(latchless_bytes_pop_first(index, any, sizeof any, &len, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && len == 5);
}

static void batches(latchless_bytes *index) {
    const char *apart[3] = {"a", "bb", "ccc"};
    const void *const *keys = (const void *const *)(const void *)apart;
    const void *holes[3] = {"a", NULL, "c"};
    const size_t lens[3] = {1, 2, 3}, none[3] = {1, 0, 1}, huge[3] = {1, SIZE_MAX, 1};
    const int32_t offsets[4] = {0, 1, 3, 6}, falling[4] = {0, 3, 1, 6}, below[4] = {-1, 1, 3, 6};
    const latchless_value values[3] = {1, 2, 3};
    static char longest[LATCHLESS_KEY_MAX + 1];
    uint8_t marks[3] = {9, 9, 9};
    size_t total = 42, long_lens[3] = {1, sizeof longest, 3};
    latchless_bytes *loaded = index;

    REFUSED(latchless_bytes_get_columns(index, apart_by(NULL, lens), 3, NULL, 0, NULL, NULL, &total), LATCHLESS_NULL,
            "latchless_bytes_get_columns", "keys.data is NULL, but there are to be 3 elements");
    REFUSED(latchless_bytes_get_columns(index, apart_by(keys, NULL), 3, NULL, 0, NULL, NULL, &total), LATCHLESS_NULL,
            "latchless_bytes_get_columns", "keys.ends is NULL, but there are to be 3 elements");
    REFUSED(latchless_bytes_insert_columns(index, apart_by(keys, lens), words(NULL), 3, &total, NULL), LATCHLESS_NULL,
            "latchless_bytes_insert_columns", "values.data is NULL");
    REFUSED(latchless_bytes_insert_columns(index, apart_by(holes, lens), words(values), 3, &total, NULL), LATCHLESS_NULL,
            "latchless_bytes_insert_columns", "keys[1] is NULL, but has a length of 2");
    REFUSED(latchless_bytes_get_columns(index, apart_by(keys, huge), 3, NULL, 0, NULL, NULL, &total), LATCHLESS_TOO_LONG,
            "latchless_bytes_get_columns", "keys[1] can't have 18446744073709551615 bytes");
    REFUSED(latchless_bytes_get_columns(index, apart_by(keys, lens), SIZE_MAX / 4, NULL, 0, NULL, NULL, &total), LATCHLESS_TOO_LONG,
            "latchless_bytes_get_columns", "can't have");
    REFUSED(latchless_bytes_get_columns(index, packed_by(4, NULL, offsets), 3, NULL, 0, NULL, NULL, &total), LATCHLESS_NULL,
            "latchless_bytes_get_columns", "keys.data is NULL, but has a length of 1");
    REFUSED(latchless_bytes_get_columns(index, packed_by(4, "abbccc", NULL), 3, NULL, 0, NULL, NULL, &total), LATCHLESS_NULL,
            "latchless_bytes_get_columns", "keys.ends is NULL, but there are to be 4 elements");
    REFUSED(latchless_bytes_get_columns(index, column_of("abbccc", offsets, (latchless_layout)9), 3, NULL, 0, NULL, NULL, &total), LATCHLESS_INVALID,
            "latchless_bytes_get_columns", "keys.layout is 9, but must be a latchless_layout");
    REFUSED(latchless_bytes_insert_columns(index, packed_by(4, "abbccc", falling), words(values), 3, &total, NULL), LATCHLESS_INVALID,
            "latchless_bytes_insert_columns", "keys.ends[2] is 1, below the one before or zero");
    REFUSED(latchless_bytes_remove_columns(index, packed_by(4, "abbccc", below), 3, NULL, NULL, &total), LATCHLESS_INVALID,
            "latchless_bytes_remove_columns", "keys.ends[0] is -1, below the one before or zero");
    REFUSED(latchless_bytes_get_columns(index, packed_by(4, (const void *)(UINTPTR_MAX - 3), offsets), 3, NULL, 0, NULL, NULL, &total),
            LATCHLESS_TOO_LONG, "latchless_bytes_get_columns", "keys[2] can't have 6 bytes");
    REFUSED(latchless_bytes_get_columns(index, packed_by(4, "abbccc", offsets), SIZE_MAX, NULL, 0, NULL, NULL, &total), LATCHLESS_TOO_LONG,
            "latchless_bytes_get_columns", "can't have");
    CHECK(total == 42);
    CHECK(latchless_bytes_len(index, &total) == LATCHLESS_OK && total == 0);

    /* No elements: the pointers are not read. */
    CHECK(latchless_bytes_get_columns(index, apart_by(NULL, NULL), 0, NULL, 0, NULL, NULL, &total) == LATCHLESS_OK && total == 0);
    CHECK(latchless_bytes_insert_columns(index, apart_by(NULL, NULL), words(NULL), 0, &total, NULL) == LATCHLESS_OK && total == 0);
    CHECK(latchless_bytes_remove_columns(index, packed_by(4, NULL, NULL), 0, NULL, NULL, &total) == LATCHLESS_OK && total == 0);
    CHECK(latchless_bytes_bulk_load(apart_by(NULL, NULL), words(NULL), 0, NULL, &loaded) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(loaded) == LATCHLESS_OK);

    /* NULL is the empty key here, too. A batch may have equal keys, a load may not. */
    CHECK(latchless_bytes_insert_columns(index, apart_by(holes, none), words(values), 3, &total, NULL) == LATCHLESS_OK && total == 3);
    CHECK(latchless_bytes_insert_columns(index, apart_by(holes, none), words(values), 3, &total, NULL) == LATCHLESS_OK && total == 0);
    CHECK(latchless_bytes_contains_key(index, NULL, 0) == LATCHLESS_OK);
    REFUSED(latchless_bytes_bulk_load(apart_by(holes, none), words(values), 3, NULL, &loaded), LATCHLESS_UNSORTED, "latchless_bytes_bulk_load",
            "position 1");
    CHECK(loaded == NULL);

    /* A key that is too long: all others are inserted, and the message names it. */
    apart[1] = longest;
    REFUSED(latchless_bytes_insert_columns(index, apart_by(keys, long_lens), words(values), 3, &total, marks), LATCHLESS_KEY_TOO_LONG,
            "latchless_bytes_insert_columns", "1 of 3 inserts were refused, the first at position 1: the key has 65536");
    CHECK(total == 0 && marks[0] == 0 && marks[1] == 1 && marks[2] == 0);
    CHECK(latchless_bytes_contains_key(index, "ccc", 3) == LATCHLESS_OK);
    CHECK(latchless_bytes_get_columns(index, apart_by(keys, long_lens), 3, NULL, 0, NULL, marks, &total) == LATCHLESS_OK && total == 2);
    CHECK(marks[0] == 1 && marks[1] == 0 && marks[2] == 1);
    CHECK(latchless_bytes_remove_columns(index, apart_by(keys, long_lens), 3, NULL, marks, &total) == LATCHLESS_OK && total == 2);
    CHECK(latchless_bytes_clear(index) == LATCHLESS_OK);
}

static void places(latchless_bytes *index) {
    latchless_stats stats;
    latchless_options options;
    latchless_bytes *other = index;
    size_t total;
    REFUSED(latchless_bytes_len(index, NULL), LATCHLESS_NULL, "latchless_bytes_len", "len is NULL");
    REFUSED(latchless_bytes_new(NULL, NULL), LATCHLESS_NULL, "latchless_bytes_new", "out is NULL");
    REFUSED(latchless_bytes_cursor_new(index, NULL), LATCHLESS_NULL, "latchless_bytes_cursor_new", "out is NULL");
    REFUSED(latchless_bytes_count(index, NULL, 0, NULL, 0, NULL), LATCHLESS_NULL, "latchless_bytes_count",
            "count is NULL");
    REFUSED(latchless_bytes_scan(index, NULL, 0, NULL, LATCHLESS_NO_END, 0, NULL, NULL), LATCHLESS_NULL,
            "latchless_bytes_scan", "visitor is NULL");
    REFUSED(latchless_bytes_scan_prefix(index, NULL, 0, NULL, NULL), LATCHLESS_NULL, "latchless_bytes_scan_prefix",
            "visitor is NULL");
    REFUSED(latchless_bytes_count(index, "b", 1, "a", 1, &total), LATCHLESS_INVERTED_RANGE, "latchless_bytes_count",
            "begin is after end");
    REFUSED(latchless_bytes_remove_range(index, "ab", 2, "a", 1, NULL), LATCHLESS_INVERTED_RANGE,
            "latchless_bytes_remove_range", "begin is after end");
    REFUSED(latchless_bytes_scan(index, "b", 1, NULL, 0, 1, visited, NULL), LATCHLESS_INVERTED_RANGE,
            "latchless_bytes_scan", "begin is after end");
    stats.struct_size = 8;
    REFUSED(latchless_bytes_stats(index, &stats), LATCHLESS_INVALID, "latchless_bytes_stats", "struct_size is 8");
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.limit_bytes = 0;
    REFUSED(latchless_bytes_new(&options, &other), LATCHLESS_MEMORY_LIMIT, "latchless_bytes_new", "limit of 0 bytes");
    CHECK(other == NULL);
}

/* A value is of the kind of its index. */
static void kinds(latchless_bytes *index) {
    static const char bytes[] = "7 bytes and more";
    const int64_t offsets[] = {0, 8, 15}, ends[] = {0, 1, 2};
    const latchless_column *keys = packed_by(8, "ab", ends);
    latchless_options options;
    latchless_bytes *strings, *other;
    latchless_value value = 3;
    uint32_t near = LATCHLESS_NEAREST;
    size_t total = 42;
    CHECK(latchless_bytes_insert(index, "w", 1, WORD(1), NULL, 0, NULL) == LATCHLESS_OK);
    REFUSED(latchless_bytes_insert(index, "a", 1, bytes, 7, NULL, 0, NULL), LATCHLESS_INVALID, "latchless_bytes_insert",
            "value has 7 bytes, but must have 8");
    REFUSED(latchless_bytes_try_insert(index, "a", 1, bytes, 9, NULL, 0, NULL), LATCHLESS_INVALID,
            "latchless_bytes_try_insert", "value has 9 bytes");
    REFUSED(latchless_bytes_replace(index, "w", 1, bytes, 0, NULL, 0, NULL), LATCHLESS_INVALID,
            "latchless_bytes_replace", "value has 0 bytes");
    REFUSED(latchless_bytes_compare_exchange(index, "w", 1, bytes, 7, bytes, 8, NULL, 0, NULL), LATCHLESS_INVALID,
            "latchless_bytes_compare_exchange", "expected has 7 bytes");
    REFUSED(latchless_bytes_compare_remove(index, "w", 1, bytes, 16, NULL, 0, NULL), LATCHLESS_INVALID,
            "latchless_bytes_compare_remove", "expected has 16 bytes");
    REFUSED(latchless_bytes_insert_columns(index, keys, packed_by(8, bytes, offsets), 2, &total, NULL), LATCHLESS_INVALID,
            "latchless_bytes_insert_columns", "values[1] has 7 bytes");
    REFUSED(latchless_bytes_bulk_load(keys, packed_by(8, bytes, offsets), 2, NULL, &other), LATCHLESS_INVALID,
            "latchless_bytes_bulk_load", "values[1] has 7 bytes");
    REFUSED(latchless_bytes_near(index, near, "w", 1, NULL, 0, NULL, NULL, 0, NULL), LATCHLESS_INVALID,
            "latchless_bytes_near", "byte strings have no distance");
    REFUSED(latchless_bytes_near(index, near + 1, "w", 1, NULL, 0, NULL, NULL, 0, NULL), LATCHLESS_INVALID,
            "latchless_bytes_near", "near is 5");
    CHECK(latchless_bytes_get(index, "w", 1, &value, 8, NULL) == LATCHLESS_OK && value == 1);
    CHECK(latchless_bytes_contains_key(index, "a", 1) == LATCHLESS_NOT_FOUND && total == 42);
    CHECK(latchless_bytes_new(byte_values(), &strings) == LATCHLESS_OK);
    CHECK(latchless_bytes_insert(strings, "a", 1, bytes, 7, NULL, 0, NULL) == LATCHLESS_OK);
    REFUSED(latchless_bytes_remove_columns(strings, keys, 2, &value, NULL, &total), LATCHLESS_INVALID,
            "latchless_bytes_remove_columns", "values of this index are byte strings");
    CHECK(latchless_bytes_contains_key(strings, "a", 1) == LATCHLESS_OK && latchless_bytes_free(strings) == LATCHLESS_OK);
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.key_kind = LATCHLESS_KEY_I64;
    REFUSED(latchless_bytes_new(&options, &other), LATCHLESS_INVALID, "latchless_bytes_new", "key_kind is 1");
}

int main(void) {
    latchless_bytes *index;
    CHECK(latchless_bytes_new(NULL, &index) == LATCHLESS_OK);
    handles(index);
    keys(index);
    rooms(index);
    batches(index);
    places(index);
    kinds(index);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    puts("bytes_misuse.c: all is well");
    return 0;
}
