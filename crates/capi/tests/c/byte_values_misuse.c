/* Misuse of the functions for values that are byte strings: the status and the message name what is wrong and where, and
   nothing changes. bytes_misuse.c has what is the same for all values. */
#include "strings.h"

static char longest[LATCHLESS_VALUE_MAX + 1], any[LATCHLESS_VALUE_MAX], any_key[LATCHLESS_KEY_MAX];

static void handles(latchless_bytes *index) {
    latchless_bytes_cursor *cursor;
    size_t len = 3;
    REFUSED(latchless_bytes_get(NULL, "a", 1, any, 1, &len), LATCHLESS_BAD_HANDLE, "latchless_bytes_get", "the handle is NULL");
    CHECK(latchless_bytes_cursor_new(index, &cursor) == LATCHLESS_OK);
    REFUSED(latchless_bytes_free((latchless_bytes *)(void *)cursor), LATCHLESS_BAD_HANDLE, "latchless_bytes_free",
            "the handle is one of latchless_bytes_cursor");
    CHECK(latchless_bytes_cursor_free(cursor) == LATCHLESS_OK);
    REFUSED(latchless_bytes_cursor_move(cursor, LATCHLESS_NEXT, NULL, 0, NULL, NULL, NULL, NULL), LATCHLESS_BAD_HANDLE, "latchless_bytes_cursor_move",
            "the handle of latchless_bytes_cursor was freed before");
    CHECK(latchless_bytes_free(NULL) == LATCHLESS_OK && latchless_bytes_cursor_free(NULL) == LATCHLESS_OK);
    CHECK(len == 3);
}

static void values(latchless_bytes *index) {
    size_t len = 3;
    REFUSED(latchless_bytes_insert(index, "a", 1, NULL, 2, NULL, 0, NULL), LATCHLESS_NULL, "latchless_bytes_insert",
            "value is NULL, but has a length of 2");
    REFUSED(latchless_bytes_insert(index, "a", 1, "b", SIZE_MAX, NULL, 0, NULL), LATCHLESS_TOO_LONG, "latchless_bytes_insert",
            "value can't have 18446744073709551615 elements");
    REFUSED(latchless_bytes_insert(index, NULL, 1, "b", 1, NULL, 0, NULL), LATCHLESS_NULL, "latchless_bytes_insert",
            "key is NULL, but has a length of 1");
    /* A value that is too long is refused by every function; one of the largest length is accepted. */
    REFUSED(latchless_bytes_insert(index, "a", 1, longest, sizeof longest, NULL, 0, NULL), LATCHLESS_VALUE_TOO_LONG,
            "latchless_bytes_insert", "65536 bytes");
    REFUSED(latchless_bytes_try_insert(index, "a", 1, longest, sizeof longest, NULL, 0, NULL),
            LATCHLESS_VALUE_TOO_LONG, "latchless_bytes_try_insert", "65536 bytes");
    CHECK(latchless_bytes_contains_key(index, "a", 1) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_insert(index, "a", 1, longest, LATCHLESS_VALUE_MAX, NULL, 0, NULL) == LATCHLESS_OK);
    REFUSED(latchless_bytes_replace(index, "a", 1, longest, sizeof longest, NULL, 0, NULL), LATCHLESS_VALUE_TOO_LONG,
            "latchless_bytes_replace", "65536 bytes");
    REFUSED(latchless_bytes_compare_exchange(index, "a", 1, longest, LATCHLESS_VALUE_MAX, longest, sizeof longest, NULL, 0, NULL),
            LATCHLESS_VALUE_TOO_LONG, "latchless_bytes_compare_exchange", "65536 bytes");
    CHECK(latchless_bytes_compare_remove(index, "a", 1, longest, sizeof longest, NULL, 0, NULL) == LATCHLESS_MISMATCH);
    CHECK(latchless_bytes_get(index, "a", 1, NULL, 0, &len) == LATCHLESS_OK && len == LATCHLESS_VALUE_MAX);
    CHECK(latchless_bytes_insert(index, longest, LATCHLESS_KEY_MAX, "b", 1, NULL, 0, NULL) == LATCHLESS_OK);
    REFUSED(latchless_bytes_insert(index, longest, sizeof longest, "b", 1, NULL, 0, NULL), LATCHLESS_KEY_TOO_LONG,
            "latchless_bytes_insert", "65536 bytes");
    CHECK(latchless_bytes_clear(index) == LATCHLESS_OK);
}

/* A value that does not fit: only its length is written, and nothing changes. */
static void rooms(latchless_bytes *index) {
    char room[8] = "_______";
    size_t key_len = 0, len = 0;
    CHECK(latchless_bytes_insert(index, "key", 3, "value", 5, NULL, 0, NULL) == LATCHLESS_OK);
    REFUSED(latchless_bytes_get(index, "key", 3, room, 4, &len), LATCHLESS_SMALL_ROOM, "latchless_bytes_get",
            "value has room for 4 bytes, but needs 5");
    CHECK(len == 5 && room[0] == '_');
    CHECK(latchless_bytes_get(index, "key", 3, room, 5, &len) == LATCHLESS_OK && memcmp(room, "value__", 8) == 0);
    REFUSED(latchless_bytes_get(index, "key", 3, room, 8, NULL), LATCHLESS_NULL, "latchless_bytes_get", "value_len is NULL");
    REFUSED(latchless_bytes_get(index, "key", 3, room, SIZE_MAX, &len), LATCHLESS_TOO_LONG, "latchless_bytes_get",
            "value can't have");
    /* Both lengths of an entry are written, whichever part does not fit. */
    room[0] = '_';
    REFUSED(latchless_bytes_first(index, room, 2, &key_len, any, 9, &len), LATCHLESS_SMALL_ROOM, "latchless_bytes_first",
            "key has room for 2 bytes, but needs 3");
    CHECK(key_len == 3 && len == 5 && room[0] == '_');
    key_len = len = 0;
    REFUSED(latchless_bytes_near(index, LATCHLESS_CEILING, "a", 1, room, 8, &key_len, any, 4, &len), LATCHLESS_SMALL_ROOM,
            "latchless_bytes_near", "value has room for 4 bytes, but needs 5");
    CHECK(key_len == 3 && len == 5 && room[0] == '_');
    REFUSED(latchless_bytes_near(index, LATCHLESS_FLOOR, "x", 1, room, 8, NULL, NULL, 0, NULL), LATCHLESS_NULL, "latchless_bytes_near",
            "near_key_len is NULL");
    /* An entry that stays can be read again. */
    REFUSED(latchless_bytes_try_insert(index, "key", 3, "v", 1, room, 4, &len), LATCHLESS_SMALL_ROOM,
            "latchless_bytes_try_insert", "present has room for 4 bytes, but needs 5");
    REFUSED(latchless_bytes_compare_exchange(index, "key", 3, "v", 1, "w", 1, room, 4, &len), LATCHLESS_SMALL_ROOM,
            "latchless_bytes_compare_exchange", "found has room for 4 bytes, but needs 5");
    REFUSED(latchless_bytes_compare_remove(index, "key", 3, "v", 1, room, 4, &len), LATCHLESS_SMALL_ROOM,
            "latchless_bytes_compare_remove", "found has room for 4 bytes, but needs 5");
    /* Any value must fit before one is removed. */
    REFUSED(latchless_bytes_insert(index, "key", 3, "v", 1, room, 8, &len), LATCHLESS_SMALL_ROOM, "latchless_bytes_insert",
            "before has room for 8 bytes, but needs 65535");
    REFUSED(latchless_bytes_insert(index, "new", 3, "v", 1, room, 8, &len), LATCHLESS_SMALL_ROOM, "latchless_bytes_insert",
            "before has room for 8 bytes, but needs 65535");
    REFUSED(latchless_bytes_replace(index, "key", 3, "v", 1, room, 8, &len), LATCHLESS_SMALL_ROOM, "latchless_bytes_replace",
            "before has room for 8 bytes, but needs 65535");
    REFUSED(latchless_bytes_remove(index, "key", 3, room, 8, &len), LATCHLESS_SMALL_ROOM, "latchless_bytes_remove",
            "before has room for 8 bytes, but needs 65535");
    REFUSED(latchless_bytes_pop_first(index, any_key, sizeof any_key, &key_len, room, 8, &len), LATCHLESS_SMALL_ROOM,
            "latchless_bytes_pop_first", "value has room for 8 bytes, but needs 65535");
    REFUSED(latchless_bytes_pop_last(index, room, 8, &key_len, any, sizeof any, &len), LATCHLESS_SMALL_ROOM,
            "latchless_bytes_pop_last", "key has room for 8 bytes, but needs 65535");
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == 1);
    CHECK(latchless_bytes_get(index, "key", 3, room, 8, &len) == LATCHLESS_OK && memcmp(room, "value__", 8) == 0);
    CHECK(latchless_bytes_clear(index) == LATCHLESS_OK);
}

static void batches(latchless_bytes *index) {
    const char *apart[3] = {"a", "bb", "ccc"}, *under[3] = {"x", longest, "z"};
    const void *const *keys = (const void *const *)(const void *)apart;
    const void *const *values = (const void *const *)(const void *)under;
    const void *holes[3] = {"x", NULL, "z"};
    const size_t lens[3] = {1, 2, 3}, too_long[3] = {1, sizeof longest, 1}, huge[3] = {1, SIZE_MAX, 1};
    const int32_t offsets[4] = {0, 1, 3, 6}, falling[4] = {0, 3, 1, 6};
    int64_t value_offsets[4] = {7, 7, 7, 7};
    uint8_t marks[3] = {9, 9, 9};
    size_t total = 42;
    latchless_bytes *loaded = index;

    REFUSED(latchless_bytes_insert_columns(index, apart_by(keys, lens), apart_by(NULL, lens), 3, &total, NULL), LATCHLESS_NULL,
            "latchless_bytes_insert_columns", "values.data is NULL, but there are to be 3 elements");
    REFUSED(latchless_bytes_insert_columns(index, apart_by(keys, lens), apart_by(values, NULL), 3, &total, NULL), LATCHLESS_NULL,
            "latchless_bytes_insert_columns", "values.ends is NULL, but there are to be 3 elements");
    REFUSED(latchless_bytes_insert_columns(index, apart_by(keys, lens), apart_by(holes, lens), 3, &total, NULL), LATCHLESS_NULL,
            "latchless_bytes_insert_columns", "values[1] is NULL, but has a length of 2");
    REFUSED(latchless_bytes_insert_columns(index, apart_by(keys, lens), apart_by(values, huge), 3, &total, NULL), LATCHLESS_TOO_LONG,
            "latchless_bytes_insert_columns", "values[1] can't have 18446744073709551615 bytes");
    REFUSED(latchless_bytes_insert_columns(index, packed_by(4, "abbccc", offsets), packed_by(4, "xyyzzz", falling), 3, &total, NULL),
            LATCHLESS_INVALID, "latchless_bytes_insert_columns", "values.ends[2] is 1, below the one before or zero");
    REFUSED(latchless_bytes_insert_columns(index, packed_by(4, "abbccc", falling), packed_by(4, "xyyzzz", offsets), 3, &total, NULL),
            LATCHLESS_INVALID, "latchless_bytes_insert_columns", "keys.ends[2] is 1, below the one before or zero");
    REFUSED(latchless_bytes_insert_columns(index, packed_by(4, "abbccc", offsets), packed_by(4, NULL, offsets), 3, &total, NULL), LATCHLESS_NULL,
            "latchless_bytes_insert_columns", "values.data is NULL, but has a length of 1");
    REFUSED(latchless_bytes_insert_columns(index, column_of("abbccc", offsets, (latchless_layout)9), column_of("xyyzzz", offsets, (latchless_layout)9), 3, &total, NULL),
            LATCHLESS_INVALID, "latchless_bytes_insert_columns", "keys.layout is 9, but must be a latchless_layout");
    REFUSED(latchless_bytes_get_columns(index, apart_by(keys, lens), 3, any, 9, NULL, NULL, &total), LATCHLESS_NULL,
            "latchless_bytes_get_columns", "value_offsets is NULL");
    REFUSED(latchless_bytes_get_columns(index, apart_by(keys, lens), 3, any, SIZE_MAX, value_offsets, NULL, &total),
            LATCHLESS_TOO_LONG, "latchless_bytes_get_columns", "values can't have");
    REFUSED(latchless_bytes_remove_columns(index, apart_by(NULL, lens), 3, NULL, NULL, &total), LATCHLESS_NULL,
            "latchless_bytes_remove_columns", "keys.data is NULL, but there are to be 3 elements");
    CHECK(total == 42 && value_offsets[0] == 7);
    CHECK(latchless_bytes_len(index, &total) == LATCHLESS_OK && total == 0);

    /* No elements: the pointers are not read, and the first offset is written. */
    CHECK(latchless_bytes_get_columns(index, apart_by(NULL, NULL), 0, NULL, 0, value_offsets, NULL, &total) == LATCHLESS_OK);
    CHECK(total == 0 && value_offsets[0] == 0 && value_offsets[1] == 7);
    CHECK(latchless_bytes_insert_columns(index, packed_by(4, NULL, NULL), packed_by(4, NULL, NULL), 0, &total, NULL) == LATCHLESS_OK && total == 0);
    CHECK(latchless_bytes_bulk_load(apart_by(NULL, NULL), apart_by(NULL, NULL), 0, byte_values(), &loaded) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(loaded) == LATCHLESS_OK);

    /* A value that is too long: all others are inserted, and the message names it. A load is refused. */
    REFUSED(latchless_bytes_insert_columns(index, apart_by(keys, lens), apart_by(values, too_long), 3, &total, marks), LATCHLESS_VALUE_TOO_LONG,
            "latchless_bytes_insert_columns", "1 of 3 inserts were refused, the first at position 1");
    CHECK(total == 0 && marks[0] == 0 && marks[1] == 1 && marks[2] == 0);
    CHECK(latchless_bytes_contains_key(index, "bb", 2) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_contains_key(index, "ccc", 3) == LATCHLESS_OK);
    REFUSED(latchless_bytes_bulk_load(apart_by(keys, lens), apart_by(values, too_long), 3, byte_values(), &loaded), LATCHLESS_VALUE_TOO_LONG,
            "latchless_bytes_bulk_load", "65536 bytes");
    CHECK(loaded == NULL);
    REFUSED(latchless_bytes_bulk_load(apart_by(values, lens), apart_by(keys, lens), 2, byte_values(), &loaded), LATCHLESS_UNSORTED, "latchless_bytes_bulk_load",
            "position 1");
    CHECK(latchless_bytes_clear(index) == LATCHLESS_OK);
}

static void places(latchless_bytes *index) {
    size_t total;
    REFUSED(latchless_bytes_new(byte_values(), NULL), LATCHLESS_NULL, "latchless_bytes_new", "out is NULL");
    REFUSED(latchless_bytes_cursor_new(index, NULL), LATCHLESS_NULL, "latchless_bytes_cursor_new", "out is NULL");
    REFUSED(latchless_bytes_len(index, NULL), LATCHLESS_NULL, "latchless_bytes_len", "len is NULL");
    REFUSED(latchless_bytes_scan(index, NULL, 0, NULL, LATCHLESS_NO_END, 0, NULL, NULL), LATCHLESS_NULL,
            "latchless_bytes_scan", "visitor is NULL");
    REFUSED(latchless_bytes_scan_prefix(index, NULL, 0, NULL, NULL), LATCHLESS_NULL, "latchless_bytes_scan_prefix",
            "visitor is NULL");
    REFUSED(latchless_bytes_count(index, "b", 1, "a", 1, &total), LATCHLESS_INVERTED_RANGE, "latchless_bytes_count",
            "begin is after end");
    CHECK(strcmp(latchless_status_text(LATCHLESS_VALUE_TOO_LONG), "the value is too long") == 0);
}

int main(void) {
    latchless_bytes *index;
    memset(longest, 'v', sizeof longest);
    CHECK(latchless_bytes_new(byte_values(), &index) == LATCHLESS_OK);
    handles(index);
    values(index);
    rooms(index);
    batches(index);
    places(index);
    CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    puts("byte_values_misuse.c: all is well");
    return 0;
}
