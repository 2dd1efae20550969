/* Every function for byte strings as keys, compared with a sorted array. */
#include "strings.h"

enum { N = 4000, ROOM = 32 };

/* Ascending keys: five digits and up to six more bytes, zeros included. */
typedef struct {
    char bytes[ROOM];
    size_t len;
} string;

static string keys[N];
static latchless_value values[N];

/* Keys of even numbers are in the array. The key of an odd number isn't; it follows the one before it. */
static string key_of(size_t number) {
    string key;
    const size_t i = number / 2;
    memset(&key, 0, sizeof key);
    key.len = (size_t)sprintf(key.bytes, "%05u", (unsigned)i) + i % 7;
    if (i % 2) memset(key.bytes + 5, 'x', i % 7);
    if (number % 2) key.bytes[key.len++] = '\0';
    return key;
}

static int equals(const void *bytes, size_t len, string key) {
    return len == key.len && memcmp(bytes, key.bytes, len) == 0;
}

static latchless_bytes *full(void) {
    latchless_bytes *index;
    size_t i;
    CHECK(latchless_bytes_new(NULL, &index) == LATCHLESS_OK);
    for (i = 0; i < N; i++) {
        const size_t at = i * 7919 % N;
        keys[at] = key_of(2 * at);
        values[at] = 10 * at;
        CHECK(latchless_bytes_insert(index, keys[at].bytes, keys[at].len, WORD(values[at]), NULL, 0, NULL) == LATCHLESS_OK);
    }
    return index;
}

static void one_key(void) {
    latchless_bytes *index;
    latchless_value value = 7;
    size_t len = 9;
    CHECK(latchless_bytes_new(NULL, &index) == LATCHLESS_OK);
    CHECK(latchless_bytes_get(index, "one", 3, &value, sizeof(latchless_value), NULL) == LATCHLESS_NOT_FOUND && value == 7);
    CHECK(latchless_bytes_insert(index, "one", 3, WORD(10), &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == 7);
    CHECK(latchless_bytes_insert(index, "one", 3, WORD(11), &value, sizeof(latchless_value), NULL) == LATCHLESS_PRESENT && value == 10);
    CHECK(latchless_bytes_try_insert(index, "one", 3, WORD(12), &value, sizeof(latchless_value), NULL) == LATCHLESS_PRESENT && value == 11);
    CHECK(latchless_bytes_try_insert(index, "two", 3, WORD(20), NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_replace(index, "two", 3, WORD(21), &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == 20);
    CHECK(latchless_bytes_replace(index, "three", 5, WORD(30), &value, sizeof(latchless_value), NULL) == LATCHLESS_NOT_FOUND && value == 20);
    CHECK(latchless_bytes_contains_key(index, "three", 5) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_contains_key(index, "two", 3) == LATCHLESS_OK);
    CHECK(latchless_bytes_compare_exchange(index, "two", 3, WORD(20), WORD(22), &value, sizeof(latchless_value), NULL) == LATCHLESS_MISMATCH && value == 21);
    CHECK(latchless_bytes_compare_exchange(index, "two", 3, WORD(21), WORD(22), &value, sizeof(latchless_value), NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_compare_exchange(index, "three", 5, WORD(21), WORD(22), &value, sizeof(latchless_value), NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_compare_remove(index, "two", 3, WORD(21), &value, sizeof(latchless_value), NULL) == LATCHLESS_MISMATCH && value == 22);
    CHECK(latchless_bytes_compare_remove(index, "two", 3, WORD(22), NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_remove(index, "two", 3, &value, sizeof(latchless_value), NULL) == LATCHLESS_NOT_FOUND);
    /* The length ends a key, a zero byte does not: these are five keys. */
    CHECK(latchless_bytes_insert(index, NULL, 0, WORD(1), NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_insert(index, "", 0, WORD(1), &value, sizeof(latchless_value), NULL) == LATCHLESS_PRESENT && value == 1);
    CHECK(latchless_bytes_insert(index, "", 1, WORD(2), NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_insert(index, "one\0", 4, WORD(3), NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_insert(index, "on", 2, WORD(4), NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == 5);
    CHECK(latchless_bytes_get(index, "one", 3, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == 11);
    CHECK(latchless_bytes_remove(index, "one", 3, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == 11);
    CHECK(latchless_bytes_get(index, "one\0", 4, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == 3);
    CHECK(latchless_bytes_get(index, NULL, 0, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == 1);
    CHECK(latchless_bytes_clear(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == 0);
    CHECK(latchless_bytes_insert(index, "one", 3, WORD(11), NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_shrink(index, 1.0) == LATCHLESS_OK);
    CHECK(latchless_bytes_get(index, "one", 3, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == 11);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
}

/* Checks the answer of a search: the entry of the array at `at`, or nothing. */
#define NEAR(search, key, is_there, at)                                                        \
    do {                                                                                          \
        char near_key[ROOM];                                                                      \
        size_t near_len = 99;                                                                     \
        latchless_value near_value = 7;                                                           \
        if (is_there) {                                                                           \
            CHECK(latchless_bytes_near(index, search, key.bytes, key.len, near_key, ROOM, &near_len, &near_value, sizeof(latchless_value), NULL) == LATCHLESS_OK); \
            CHECK(equals(near_key, near_len, keys[at]) && near_value == values[at]);              \
        } else {                                                                                  \
            CHECK(latchless_bytes_near(index, search, key.bytes, key.len, near_key, ROOM, &near_len, &near_value, sizeof(latchless_value), NULL)       \
                  == LATCHLESS_NOT_FOUND);                                                        \
            CHECK(near_len == 99 && near_value == 7);                                             \
        }                                                                                         \
    } while (0)

/* The first keys of four parts, by their numbers. */
static int starts(const void *key, size_t len, const void *value, size_t value_len, void *context) {
    size_t *part = context;
    CHECK(value == NULL && value_len == 0 && ++*part < 4);
    CHECK(equals(key, len, keys[*part * N / 4]));
    return *part == 3;
}

static void order(void) {
    size_t part = 0;
    latchless_bytes *index = full();
    static char any[LATCHLESS_KEY_MAX];
    char key[ROOM];
    string same;
    size_t i, len;
    latchless_value value;
    for (i = 0; i < N; i += 3) {
        const string there = key_of(2 * i), after = key_of(2 * i + 1);
        NEAR(LATCHLESS_FLOOR, there, 1, i);
        NEAR(LATCHLESS_CEILING, there, 1, i);
        NEAR(LATCHLESS_LOWER, there, i > 0, i - 1);
        NEAR(LATCHLESS_HIGHER, there, i + 1 < N, i + 1);
        NEAR(LATCHLESS_FLOOR, after, 1, i);
        NEAR(LATCHLESS_CEILING, after, i + 1 < N, i + 1);
        NEAR(LATCHLESS_LOWER, after, 1, i);
        NEAR(LATCHLESS_HIGHER, after, i + 1 < N, i + 1);
    }
    CHECK(latchless_bytes_first(index, key, ROOM, &len, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK);
    CHECK(equals(key, len, keys[0]) && value == values[0]);
    CHECK(latchless_bytes_last(index, key, ROOM, &len, NULL, 0, NULL) == LATCHLESS_OK && equals(key, len, keys[N - 1]));
    for (i = 0; i < N; i += 97) {
        const string there = key_of(2 * i), after = key_of(2 * i + 1);
        CHECK(latchless_bytes_rank(index, there.bytes, there.len, &len) == LATCHLESS_OK && len == i);
        CHECK(latchless_bytes_rank(index, after.bytes, after.len, &len) == LATCHLESS_OK && len == i + 1);
        CHECK(latchless_bytes_nth(index, i, key, ROOM, &len, &value, sizeof value, NULL) == LATCHLESS_OK);
        CHECK(equals(key, len, keys[i]) && value == values[i]);
    }
    CHECK(latchless_bytes_nth(index, N, key, ROOM, &len, NULL, 0, NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_split_points(index, 4, starts, &part) == LATCHLESS_STOPPED && part == 3);
    /* Only the length, only the value, neither. */
    CHECK(latchless_bytes_last(index, NULL, 0, &len, NULL, 0, NULL) == LATCHLESS_OK && len == keys[N - 1].len);
    CHECK(latchless_bytes_last(index, NULL, 0, NULL, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == values[N - 1]);
    CHECK(latchless_bytes_last(index, NULL, 0, NULL, NULL, 0, NULL) == LATCHLESS_OK);
    /* The answer may overwrite the key. */
    same = key_of(101);
    CHECK(latchless_bytes_near(index, LATCHLESS_FLOOR, same.bytes, same.len, same.bytes, ROOM, &same.len, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(equals(same.bytes, same.len, keys[50]));
    for (i = 0; i < 100; i++) {
        CHECK(latchless_bytes_pop_first(index, any, sizeof any, &len, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK);
        CHECK(equals(any, len, keys[i]) && value == values[i]);
        CHECK(latchless_bytes_pop_last(index, NULL, 0, NULL, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK);
        CHECK(value == values[N - 1 - i]);
    }
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == N - 200);
    CHECK(latchless_bytes_clear(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_first(index, key, ROOM, &len, &value, sizeof(latchless_value), NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_pop_last(index, any, sizeof any, &len, &value, sizeof(latchless_value), NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
}

/* Packed keys with offsets of both widths. */
static char packed[N * ROOM];
static int32_t narrow[N + 1];
static int64_t wide[N + 1];
static const void *pointers[N];
static size_t lens[N];

/* Every `step`th key from number `first` on. */
static void pack(size_t first, size_t step, string *room) {
    size_t i, end = 3;
    memset(packed, 0xEE, 3);
    for (i = 0; i < N; i++) {
        room[i] = key_of(first + step * i);
        pointers[i] = room[i].bytes;
        lens[i] = room[i].len;
        narrow[i] = (int32_t)end;
        wide[i] = (int64_t)end;
        memcpy(packed + end, room[i].bytes, room[i].len);
        end += room[i].len;
    }
    /* The first offset isn't zero, as in a slice of an Arrow column. */
    narrow[N] = (int32_t)end;
    wide[N] = (int64_t)end;
}

static void got_alternate(const latchless_value *got, const uint8_t *found, size_t hits, latchless_value before) {
    size_t i;
    CHECK(hits == N / 2);
    for (i = 0; i < N; i++) {
        CHECK(found[i] == (i % 2 == 0));
        CHECK(got[i] == (i % 2 == 0 ? 10 * (i / 2) : before));
    }
}

static void batches(void) {
    static string room[N];
    static latchless_value got[N];
    static uint8_t found[N];
    latchless_bytes *index = NULL;
    size_t total, i;
    /* Loads and lookups in both layouts. */
    for (i = 0; i < 3; i++) {
        pack(0, 2, room);
        if (i == 0) CHECK(latchless_bytes_bulk_load(apart_by(pointers, lens), words(values), N, NULL, &index) == LATCHLESS_OK);
        if (i == 1) CHECK(latchless_bytes_bulk_load(packed_by(4, packed, narrow), words(values), N, NULL, &index) == LATCHLESS_OK);
        if (i == 2) CHECK(latchless_bytes_bulk_load(packed_by(8, packed, wide), words(values), N, NULL, &index) == LATCHLESS_OK);
        CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
        /* Every second key is present. */
        pack(0, 1, room);
        memset(got, 0x11, sizeof got);
        CHECK(latchless_bytes_get_columns(index, apart_by(pointers, lens), N, got, N * sizeof(latchless_value), NULL, found, &total) == LATCHLESS_OK);
        got_alternate(got, found, total, 0x1111111111111111u);
        memset(got, 0x22, sizeof got);
        CHECK(latchless_bytes_get_columns(index, packed_by(4, packed, narrow), N, got, N * sizeof(latchless_value), NULL, found, &total) == LATCHLESS_OK);
        got_alternate(got, found, total, 0x2222222222222222u);
        CHECK(latchless_bytes_get_columns(index, packed_by(8, packed, wide), N, NULL, 0, NULL, NULL, NULL) == LATCHLESS_OK);
        /* Inserts the others, then removes all. */
        if (i == 0) CHECK(latchless_bytes_insert_columns(index, apart_by(pointers, lens), words(got), N, &total, found) == LATCHLESS_OK);
        else CHECK(latchless_bytes_insert_columns(index, packed_by(8, packed, wide), words(got), N, &total, found) == LATCHLESS_OK);
        CHECK(total == N / 2 && found[0] == 0 && found[N - 1] == 0);
        CHECK(latchless_bytes_len(index, &total) == LATCHLESS_OK && total == N + N / 2);
        memset(got, 0x33, sizeof got);
        if (i == 0) CHECK(latchless_bytes_remove_columns(index, apart_by(pointers, lens), N, got, found, &total) == LATCHLESS_OK);
        else CHECK(latchless_bytes_remove_columns(index, packed_by(4, packed, narrow), N, got, found, &total) == LATCHLESS_OK);
        CHECK(total == N && got[0] == 0 && got[1] == 0x2222222222222222u && found[N - 1] == 1);
        CHECK(latchless_bytes_len(index, &total) == LATCHLESS_OK && total == N / 2);
        CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
        CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    }
}

typedef struct {
    size_t next, step, limit;
} expected_walk;

/* Checks the order of entries; stops after `limit` of them. */
static int ascends(const void *key, size_t key_len, const void *bytes, size_t len, void *context) {
    const latchless_value value = as_word(bytes, len);
    expected_walk *course = context;
    CHECK(equals(key, key_len, keys[course->next]) && value == values[course->next]);
    course->next += course->step;
    return --course->limit == 0;
}

static void ranges(void) {
    latchless_bytes *index = full();
    const string from = key_of(200), to = key_of(1000), between = key_of(1001);
    expected_walk course = {0, 1, N + 1};
    size_t total;
    CHECK(latchless_bytes_count(index, NULL, 0, NULL, LATCHLESS_NO_END, &total) == LATCHLESS_OK && total == N);
    /* The end is excluded. */
    CHECK(latchless_bytes_count(index, from.bytes, from.len, to.bytes, to.len, &total) == LATCHLESS_OK);
    CHECK(total == 400);
    CHECK(latchless_bytes_count(index, from.bytes, from.len, between.bytes, between.len, &total) == LATCHLESS_OK);
    CHECK(total == 401);
    CHECK(latchless_bytes_count(index, to.bytes, to.len, to.bytes, to.len, &total) == LATCHLESS_OK && total == 0);
    CHECK(latchless_bytes_count(index, NULL, 0, NULL, 0, &total) == LATCHLESS_OK && total == 0);

    CHECK(latchless_bytes_scan(index, NULL, 0, NULL, LATCHLESS_NO_END, 0, ascends, &course) == LATCHLESS_OK);
    CHECK(course.next == N);
    course.next = 499, course.step = (size_t)-1, course.limit = N;
    CHECK(latchless_bytes_scan(index, from.bytes, from.len, to.bytes, to.len, 1, ascends, &course) == LATCHLESS_OK);
    CHECK(course.next == 99);
    course.next = 100, course.step = 1, course.limit = 7;
    CHECK(latchless_bytes_scan(index, from.bytes, from.len, to.bytes, to.len, 0, ascends, &course)
          == LATCHLESS_STOPPED);
    CHECK(course.next == 107);
    /* 02000 to 02099. */
    course.next = 2000, course.limit = N;
    CHECK(latchless_bytes_scan_prefix(index, "020", 3, ascends, &course) == LATCHLESS_OK && course.next == 2100);
    course.next = 2000, course.limit = 1;
    CHECK(latchless_bytes_scan_prefix(index, "020", 3, ascends, &course) == LATCHLESS_STOPPED);
    course.next = 0, course.limit = N + 1;
    CHECK(latchless_bytes_scan_prefix(index, NULL, 0, ascends, &course) == LATCHLESS_OK && course.next == N);
    CHECK(latchless_bytes_scan_prefix(index, "\xFF\xFF", 2, ascends, &course) == LATCHLESS_OK);

    CHECK(latchless_bytes_remove_range(index, from.bytes, from.len, to.bytes, to.len, &total) == LATCHLESS_OK);
    CHECK(total == 400);
    CHECK(latchless_bytes_contains_key(index, from.bytes, from.len) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_contains_key(index, to.bytes, to.len) == LATCHLESS_OK);
    CHECK(latchless_bytes_remove_range(index, to.bytes, to.len, NULL, LATCHLESS_NO_END, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_len(index, &total) == LATCHLESS_OK && total == 100);
    CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
}

/* Checks that a cursor is on the entry at `at`. */
#define AT(call, at)                                                                              \
    do {                                                                                          \
        CHECK((call) == LATCHLESS_OK);                                                            \
        CHECK(equals(key, len, keys[at]) && value == values[at]);                                 \
    } while (0)

static void cursors(void) {
    latchless_bytes *index = full();
    latchless_bytes_cursor *cursor;
    const string there = key_of(500), after = key_of(501);
    const void *key = NULL;
    size_t len = 0, i;
    latchless_value value = 0;
    CHECK(latchless_bytes_cursor_new(index, &cursor) == LATCHLESS_OK);
    CHECK(move_word(cursor, LATCHLESS_CURRENT, NULL, 0, &key, &len, &value) == LATCHLESS_NOT_FOUND);
    CHECK(move_word(cursor, LATCHLESS_PREV, NULL, 0, &key, &len, &value) == LATCHLESS_NOT_FOUND);
    CHECK(key == NULL && len == 0 && value == 0);
    AT(move_word(cursor, LATCHLESS_SEEK, there.bytes, there.len, &key, &len, &value), 250);
    AT(move_word(cursor, LATCHLESS_SEEK, after.bytes, after.len, &key, &len, &value), 251);
    AT(move_word(cursor, LATCHLESS_PREV, NULL, 0, &key, &len, &value), 250);
    AT(move_word(cursor, LATCHLESS_CURRENT, NULL, 0, &key, &len, &value), 250);
    AT(move_word(cursor, LATCHLESS_SEEK_FOR_PREV, there.bytes, there.len, &key, &len, &value), 250);
    AT(move_word(cursor, LATCHLESS_SEEK_FOR_PREV, after.bytes, after.len, &key, &len, &value), 250);
    /* Seeks a prefix of the cursor's own key, whose bytes change during the call. */
    AT(move_word(cursor, LATCHLESS_SEEK, key, 3, &key, &len, &value), 200);
    CHECK(move_word(cursor, LATCHLESS_SEEK, "9", 1, &key, &len, &value) == LATCHLESS_NOT_FOUND);
    CHECK(move_word(cursor, LATCHLESS_NEXT, NULL, 0, &key, &len, &value) == LATCHLESS_NOT_FOUND);
    AT(move_word(cursor, LATCHLESS_PREV, NULL, 0, &key, &len, &value), N - 1);
    CHECK(move_word(cursor, LATCHLESS_SEEK_FOR_PREV, NULL, 0, &key, &len, &value) == LATCHLESS_NOT_FOUND);
    for (i = 0; i < N; i++) AT(move_word(cursor, LATCHLESS_NEXT, NULL, 0, &key, &len, &value), i);
    CHECK(move_word(cursor, LATCHLESS_NEXT, NULL, 0, NULL, NULL, NULL) == LATCHLESS_NOT_FOUND);
    for (i = N; i-- > 0;) AT(move_word(cursor, LATCHLESS_PREV, NULL, 0, &key, &len, &value), i);
    AT(move_word(cursor, LATCHLESS_SEEK_LAST, NULL, 0, &key, &len, &value), N - 1);
    AT(move_word(cursor, LATCHLESS_SEEK_FIRST, NULL, 0, &key, &len, &value), 0);
    CHECK(move_word(cursor, LATCHLESS_NEXT, NULL, 0, NULL, NULL, NULL) == LATCHLESS_OK);
    AT(move_word(cursor, LATCHLESS_CURRENT, NULL, 0, &key, &len, &value), 1);
    /* The cursor outlives the index. */
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    AT(move_word(cursor, LATCHLESS_SEEK_LAST, NULL, 0, &key, &len, &value), N - 1);
    CHECK(latchless_bytes_cursor_free(cursor) == LATCHLESS_OK);
}

static void memory(void) {
    latchless_options options;
    latchless_bytes *index;
    latchless_stats stats;
    static uint8_t refused[N];
    size_t i, held, live, count = 0, len;
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.limit_bytes = 64 * 1024;
    CHECK(latchless_bytes_new(&options, &index) == LATCHLESS_OK);
    pack(0, 2, keys);
    REFUSED(latchless_bytes_insert_columns(index, apart_by(pointers, lens), words(values), N, &len, refused), LATCHLESS_MEMORY_LIMIT,
            "latchless_bytes_insert_columns", "inserts were refused, the first at position ");
    for (i = 0; i < N; i++) {
        count += refused[i] == 0;
        CHECK(latchless_bytes_contains_key(index, pointers[i], lens[i])
              == (refused[i] ? LATCHLESS_NOT_FOUND : LATCHLESS_OK));
    }
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == count && count > 500 && count < N);
    CHECK(latchless_bytes_memory_bytes(index, &held, &live) == LATCHLESS_OK);
    CHECK(live <= held && live <= options.limit_bytes && live > 32 * 1024);
    CHECK(latchless_bytes_memory_bytes(index, NULL, NULL) == LATCHLESS_OK);
    stats.struct_size = sizeof stats;
    CHECK(latchless_bytes_stats(index, &stats) == LATCHLESS_OK);
    CHECK(stats.entries == len && stats.memory_bytes == held && stats.live_bytes == live && stats.levels == 2);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
}

static void files(const char *path) {
    latchless_bytes *index = full(), *again;
    latchless_index *numbers;
    latchless_value value;
    size_t i, total = 0;
    CHECK(latchless_bytes_save(index, path, &total) == LATCHLESS_OK && total == N);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_open(path, NULL, &again) == LATCHLESS_OK);
    CHECK(latchless_bytes_check_invariants(again) == LATCHLESS_OK);
    CHECK(latchless_bytes_len(again, &total) == LATCHLESS_OK && total == N);
    for (i = 0; i < N; i++) {
        CHECK(latchless_bytes_get(again, keys[i].bytes, keys[i].len, &value, sizeof(latchless_value), NULL) == LATCHLESS_OK && value == values[i]);
    }
    CHECK(latchless_bytes_free(again) == LATCHLESS_OK);
    /* Files of other types, and paths without a file. */
    REFUSED(latchless_index_open(path, NULL, &numbers), LATCHLESS_BAD_FILE, "latchless_index_open", "holds binary");
    CHECK(latchless_index_new(NULL, &numbers) == LATCHLESS_OK);
    CHECK(latchless_index_insert(numbers, 1, 2, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_save(numbers, path, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_free(numbers) == LATCHLESS_OK);
    REFUSED(latchless_bytes_open(path, NULL, &again), LATCHLESS_BAD_FILE, "latchless_bytes_open", "holds uint64");
    CHECK(again == NULL);
    REFUSED(latchless_bytes_open("/nowhere/index.arrow", NULL, &again), LATCHLESS_IO, "latchless_bytes_open",
            "/nowhere/index.arrow");
    REFUSED(latchless_bytes_open(NULL, NULL, &again), LATCHLESS_NULL, "latchless_bytes_open", "path is NULL");
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    one_key();
    order();
    batches();
    ranges();
    cursors();
    memory();
    files(arguments[1]);
    puts("bytes.c: all is well");
    return 0;
}
