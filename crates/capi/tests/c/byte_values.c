/* Every function for byte strings as keys and values, compared with a sorted array. */
#include "strings.h"

enum { N = 3000, ROOM = 32, LONGEST = 3000 };

typedef struct {
    char bytes[ROOM];
    size_t len;
} string;

static string keys[N];
static const void *pointers[N], *value_pointers[N];
static size_t lens[N], value_lens[N];
static char values[N][LONGEST];
static char any_key[LATCHLESS_KEY_MAX], any[LATCHLESS_VALUE_MAX];

/* Keys of even numbers are in the array. The key of an odd number isn't; it follows the one before it. */
static string key_of(size_t number) {
    string key;
    memset(&key, 0, sizeof key);
    key.len = (size_t)sprintf(key.bytes, "%05u", (unsigned)(number / 2));
    if (number % 2) key.bytes[key.len++] = '\0';
    return key;
}

/* Values of each way of storage: empty, within a word, beside the key, outside of the node. */
static void fill_in(void) {
    static const size_t lengths[] = {0, 1, 7, 8, 60, 191, 192, 193, 300, LONGEST};
    size_t i;
    for (i = 0; i < N; i++) {
        keys[i] = key_of(2 * i);
        pointers[i] = keys[i].bytes;
        lens[i] = keys[i].len;
        value_lens[i] = lengths[i % COUNT(lengths)];
        memset(values[i], (int)(i % 251), value_lens[i]);
        value_pointers[i] = values[i];
    }
}

static int is(const void *bytes, size_t len, const void *other, size_t other_len) {
    return len == other_len && memcmp(bytes, other, len) == 0;
}

static int is_value(const void *bytes, size_t len, size_t at) { return is(bytes, len, values[at], value_lens[at]); }

static int is_key(const void *bytes, size_t len, size_t at) { return is(bytes, len, keys[at].bytes, keys[at].len); }

static latchless_bytes *full(void) {
    latchless_bytes *index;
    size_t i;
    CHECK(latchless_bytes_new(byte_values(), &index) == LATCHLESS_OK);
    for (i = 0; i < N; i++) {
        const size_t at = i * 7919 % N;
        CHECK(latchless_bytes_insert(index, pointers[at], lens[at], values[at], value_lens[at], NULL, 0, NULL)
              == LATCHLESS_OK);
    }
    return index;
}

static void one_key(void) {
    latchless_bytes *index;
    size_t len = 9;
    CHECK(latchless_bytes_new(byte_values(), &index) == LATCHLESS_OK);
    CHECK(latchless_bytes_get(index, "one", 3, any, sizeof any, &len) == LATCHLESS_NOT_FOUND && len == 9);
    CHECK(latchless_bytes_insert(index, "one", 3, "uno", 3, any, sizeof any, &len) == LATCHLESS_OK && len == 9);
    CHECK(latchless_bytes_insert(index, "one", 3, "eins", 4, any, sizeof any, &len) == LATCHLESS_PRESENT);
    CHECK(is(any, len, "uno", 3));
    CHECK(latchless_bytes_try_insert(index, "one", 3, "un", 2, any, 4, &len) == LATCHLESS_PRESENT);
    CHECK(is(any, len, "eins", 4));
    CHECK(latchless_bytes_try_insert(index, "two", 3, "zwei", 4, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_replace(index, "two", 3, "due", 3, any, sizeof any, &len) == LATCHLESS_OK);
    CHECK(is(any, len, "zwei", 4));
    CHECK(latchless_bytes_replace(index, "six", 3, "sei", 3, any, sizeof any, &len) == LATCHLESS_NOT_FOUND && len == 4);
    CHECK(latchless_bytes_contains_key(index, "six", 3) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_contains_key(index, "two", 3) == LATCHLESS_OK);
    CHECK(latchless_bytes_compare_exchange(index, "two", 3, "du", 2, "2", 1, any, 3, &len) == LATCHLESS_MISMATCH);
    CHECK(is(any, len, "due", 3));
    CHECK(latchless_bytes_compare_exchange(index, "two", 3, "due", 3, values[9], LONGEST, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_compare_exchange(index, "six", 3, "due", 3, "2", 1, any, 3, &len) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_compare_remove(index, "two", 3, "due", 3, NULL, 0, &len) == LATCHLESS_MISMATCH);
    CHECK(len == LONGEST);
    CHECK(latchless_bytes_compare_remove(index, "two", 3, values[9], LONGEST, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_remove(index, "two", 3, any, sizeof any, &len) == LATCHLESS_NOT_FOUND);
    /* Only the length, nothing, and an empty value. */
    CHECK(latchless_bytes_get(index, "one", 3, NULL, 0, &len) == LATCHLESS_OK && len == 4);
    CHECK(latchless_bytes_get(index, "one", 3, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_insert(index, NULL, 0, NULL, 0, NULL, 0, &len) == LATCHLESS_OK);
    CHECK(latchless_bytes_get(index, "", 0, any, 0, &len) == LATCHLESS_OK && len == 0);
    CHECK(latchless_bytes_insert(index, "", 0, "\0x", 2, NULL, 0, &len) == LATCHLESS_PRESENT && len == 0);
    CHECK(latchless_bytes_remove(index, "", 0, any, sizeof any, &len) == LATCHLESS_OK && is(any, len, "\0x", 2));
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == 1);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
}

/* Checks the answer of a search: the entry of the array at `at`, or nothing. */
#define NEAR(search, key, is_there, at)                                                        \
    do {                                                                                          \
        size_t near_key_len = 99, near_len = 98;                                                  \
        const latchless_status status =                                                           \
            latchless_bytes_near(index, search, key.bytes, key.len, any_key, ROOM, &near_key_len, any, LONGEST, &near_len); \
        CHECK(status == ((is_there) ? LATCHLESS_OK : LATCHLESS_NOT_FOUND));                       \
        if (is_there) CHECK(is_key(any_key, near_key_len, at) && is_value(any, near_len, at));    \
        else CHECK(near_key_len == 99 && near_len == 98);                                         \
    } while (0)

static void order(void) {
    latchless_bytes *index = full();
    size_t i, key_len, len;
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
    CHECK(latchless_bytes_first(index, any_key, ROOM, &key_len, any, 0, &len) == LATCHLESS_OK && len == 0);
    CHECK(is_key(any_key, key_len, 0));
    CHECK(latchless_bytes_last(index, NULL, 0, NULL, any, LONGEST, &len) == LATCHLESS_OK && is_value(any, len, N - 1));
    CHECK(latchless_bytes_last(index, NULL, 0, &key_len, NULL, 0, &len) == LATCHLESS_OK && key_len == 5 && len == LONGEST);
    for (i = 0; i < 100; i++) {
        CHECK(latchless_bytes_pop_first(index, any_key, sizeof any_key, &key_len, any, sizeof any, &len) == LATCHLESS_OK);
        CHECK(is_key(any_key, key_len, i) && is_value(any, len, i));
        CHECK(latchless_bytes_pop_last(index, NULL, 0, NULL, any, sizeof any, &len) == LATCHLESS_OK);
        CHECK(is_value(any, len, N - 1 - i));
    }
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == N - 200);
    CHECK(latchless_bytes_clear(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_first(index, NULL, 0, NULL, NULL, 0, NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_pop_last(index, NULL, 0, NULL, NULL, 0, NULL) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
}

/* Packed strings with offsets of both widths; the first isn't zero, as in a slice of an Arrow column. */
typedef struct {
    char *bytes;
    int32_t narrow[N + 1];
    int64_t wide[N + 1];
} packed;

static void pack(packed *to, const void *const *strings, const size_t *string_lens) {
    size_t i, end = 3;
    for (i = 0; i < N; i++) end += string_lens[i];
    to->bytes = malloc(end);
    CHECK(to->bytes != NULL);
    memset(to->bytes, 0xEE, 3);
    for (i = 0, end = 3; i <= N; i++) {
        to->narrow[i] = (int32_t)end;
        to->wide[i] = (int64_t)end;
        if (i == N) break;
        memcpy(to->bytes + end, strings[i], string_lens[i]);
        end += string_lens[i];
    }
}

static void batches(void) {
    static packed packed_keys, packed_values, asked;
    static string room[N];
    static const void *asked_pointers[N];
    static size_t asked_lens[N];
    static int64_t offsets[N + 1];
    static uint8_t found[N];
    static char got[N / 2 * LONGEST];
    latchless_bytes *index = NULL;
    size_t i, form, total, needed = 0;
    pack(&packed_keys, pointers, lens);
    pack(&packed_values, value_pointers, value_lens);
    for (i = 0; i < N; i++) {
        room[i] = key_of(i);
        asked_pointers[i] = room[i].bytes;
        asked_lens[i] = room[i].len;
        if (i % 2 == 0) needed += value_lens[i / 2];
    }
    pack(&asked, asked_pointers, asked_lens);
    for (form = 0; form < 3; form++) {
        const packed *k = &packed_keys, *v = &packed_values;
        if (form == 0)
            CHECK(latchless_bytes_bulk_load(apart_by(pointers, lens), apart_by(value_pointers, value_lens), N, byte_values(), &index) == LATCHLESS_OK);
        if (form == 1)
            CHECK(latchless_bytes_bulk_load(packed_by(4, k->bytes, k->narrow), packed_by(4, v->bytes, v->narrow), N, byte_values(), &index) == LATCHLESS_OK);
        if (form == 2)
            CHECK(latchless_bytes_bulk_load(packed_by(8, k->bytes, k->wide), packed_by(8, v->bytes, v->wide), N, byte_values(), &index) == LATCHLESS_OK);
        CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
        /* Every second key is present. Only offsets, then memory that is too small, then enough. */
        memset(offsets, 0xFF, sizeof offsets);
        CHECK(latchless_bytes_get_columns(index, apart_by(asked_pointers, asked_lens), N, NULL, 0, offsets, NULL, NULL)
              == LATCHLESS_OK);
        CHECK(offsets[0] == 0 && offsets[N] == (int64_t)needed && needed <= sizeof got);
        memset(offsets, 0xFF, sizeof offsets);
        memset(got, 0x55, sizeof got);
        REFUSED(latchless_bytes_get_columns(index, packed_by(4, asked.bytes, asked.narrow), N, got, needed - 1, offsets, found, &total),
                LATCHLESS_SMALL_ROOM, "latchless_bytes_get_columns", "values has room for ");
        CHECK(offsets[N] == (int64_t)needed && total == N / 2 && found[N - 2] == 1 && found[N - 1] == 0);
        CHECK(got[needed - 1] == 0x55);
        memset(found, 9, sizeof found);
        if (form == 0)
            CHECK(latchless_bytes_get_columns(index, apart_by(asked_pointers, asked_lens), N, got, needed, offsets, found, &total)
                  == LATCHLESS_OK);
        else
            CHECK(latchless_bytes_get_columns(index, packed_by(8, asked.bytes, asked.wide), N, got, sizeof got, offsets, found, &total)
                  == LATCHLESS_OK);
        CHECK(total == N / 2);
        for (i = 0; i < N; i++) {
            CHECK(found[i] == (i % 2 == 0));
            if (i % 2 == 0) CHECK(is_value(got + offsets[i], (size_t)(offsets[i + 1] - offsets[i]), i / 2));
            else CHECK(offsets[i] == offsets[i + 1]);
        }
        CHECK(latchless_bytes_get_columns(index, apart_by(asked_pointers, asked_lens), N, NULL, 0, NULL, NULL, &total) == LATCHLESS_OK);
        /* Inserts the others, then removes all. */
        if (form == 0)
            CHECK(latchless_bytes_insert_columns(index, apart_by(asked_pointers, asked_lens), apart_by(value_pointers, value_lens), N, &total, found) == LATCHLESS_OK);
        else
            CHECK(latchless_bytes_insert_columns(index, packed_by(8, asked.bytes, asked.wide), packed_by(8, v->bytes, v->wide), N, &total, found)
                  == LATCHLESS_OK);
        CHECK(total == N / 2 && found[0] == 0 && found[N - 1] == 0);
        CHECK(latchless_bytes_get(index, asked_pointers[9], asked_lens[9], any, LONGEST, &total) == LATCHLESS_OK);
        CHECK(is_value(any, total, 9));
        if (form == 0)
            CHECK(latchless_bytes_remove_columns(index, apart_by(asked_pointers, asked_lens), N, NULL, found, &total) == LATCHLESS_OK);
        else CHECK(latchless_bytes_remove_columns(index, packed_by(4, asked.bytes, asked.narrow), N, NULL, found, &total) == LATCHLESS_OK);
        CHECK(total == N && found[0] == 1 && found[N - 1] == 1);
        CHECK(latchless_bytes_remove_columns(index, apart_by(asked_pointers, asked_lens), N, NULL, found, &total) == LATCHLESS_OK);
        CHECK(total == 0 && found[0] == 0);
        CHECK(latchless_bytes_len(index, &total) == LATCHLESS_OK && total == N / 2);
        CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
        CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    }
    free(packed_keys.bytes), free(packed_values.bytes), free(asked.bytes);
}

typedef struct {
    size_t next, step, limit;
} expected_walk;

/* Checks the order of entries; stops after `limit` of them. */
static int ascends(const void *key, size_t key_len, const void *value, size_t value_len, void *context) {
    expected_walk *course = context;
    CHECK(is_key(key, key_len, course->next) && is_value(value, value_len, course->next));
    course->next += course->step;
    return --course->limit == 0;
}

static void ranges(void) {
    latchless_bytes *index = full();
    const string from = key_of(200), to = key_of(1000);
    expected_walk course = {0, 1, N + 1};
    size_t total;
    CHECK(latchless_bytes_count(index, NULL, 0, NULL, LATCHLESS_NO_END, &total) == LATCHLESS_OK && total == N);
    CHECK(latchless_bytes_count(index, from.bytes, from.len, to.bytes, to.len, &total) == LATCHLESS_OK && total == 400);
    CHECK(latchless_bytes_scan(index, NULL, 0, NULL, LATCHLESS_NO_END, 0, ascends, &course) == LATCHLESS_OK);
    CHECK(course.next == N);
    course.next = 499, course.step = (size_t)-1, course.limit = N;
    CHECK(latchless_bytes_scan(index, from.bytes, from.len, to.bytes, to.len, 1, ascends, &course) == LATCHLESS_OK);
    CHECK(course.next == 99);
    course.next = 100, course.step = 1, course.limit = 7;
    CHECK(latchless_bytes_scan(index, from.bytes, from.len, to.bytes, to.len, 0, ascends, &course) == LATCHLESS_STOPPED);
    CHECK(course.next == 107);
    course.next = 2000, course.limit = N;
    CHECK(latchless_bytes_scan_prefix(index, "020", 3, ascends, &course) == LATCHLESS_OK && course.next == 2100);
    CHECK(latchless_bytes_remove_range(index, from.bytes, from.len, to.bytes, to.len, &total) == LATCHLESS_OK);
    CHECK(total == 400);
    CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
}

/* Checks that a cursor is on the entry at `at`. */
#define AT(call, at)                                                                              \
    do {                                                                                          \
        CHECK((call) == LATCHLESS_OK);                                                            \
        CHECK(is_key(key, len, at) && is_value(value, value_len, at));                            \
    } while (0)

static void cursors(void) {
    latchless_bytes *index = full();
    latchless_bytes_cursor *cursor;
    const string there = key_of(500), after = key_of(501);
    const void *key = NULL, *value = NULL;
    size_t len = 0, value_len = 0, i;
    CHECK(latchless_bytes_cursor_new(index, &cursor) == LATCHLESS_OK);
    CHECK(latchless_bytes_cursor_move(cursor, LATCHLESS_CURRENT, NULL, 0, &key, &len, &value, &value_len) == LATCHLESS_NOT_FOUND);
    CHECK(latchless_bytes_cursor_move(cursor, LATCHLESS_PREV, NULL, 0, &key, &len, &value, &value_len) == LATCHLESS_NOT_FOUND);
    CHECK(key == NULL && len == 0 && value == NULL && value_len == 0);
    AT(latchless_bytes_cursor_move(cursor, LATCHLESS_SEEK, there.bytes, there.len, &key, &len, &value, &value_len), 250);
    AT(latchless_bytes_cursor_move(cursor, LATCHLESS_SEEK, after.bytes, after.len, &key, &len, &value, &value_len), 251);
    AT(latchless_bytes_cursor_move(cursor, LATCHLESS_SEEK_FOR_PREV, after.bytes, after.len, &key, &len, &value, &value_len), 250);
    AT(latchless_bytes_cursor_move(cursor, LATCHLESS_CURRENT, NULL, 0, &key, &len, &value, &value_len), 250);
    for (i = 251; i < N; i++) AT(latchless_bytes_cursor_move(cursor, LATCHLESS_NEXT, NULL, 0, &key, &len, &value, &value_len), i);
    CHECK(latchless_bytes_cursor_move(cursor, LATCHLESS_NEXT, NULL, 0, NULL, NULL, NULL, NULL) == LATCHLESS_NOT_FOUND);
    for (i = N; i-- > 0;) AT(latchless_bytes_cursor_move(cursor, LATCHLESS_PREV, NULL, 0, &key, &len, &value, &value_len), i);
    AT(latchless_bytes_cursor_move(cursor, LATCHLESS_SEEK_LAST, NULL, 0, &key, &len, &value, &value_len), N - 1);
    AT(latchless_bytes_cursor_move(cursor, LATCHLESS_SEEK_FIRST, NULL, 0, &key, &len, &value, &value_len), 0);
    CHECK(latchless_bytes_cursor_move(cursor, LATCHLESS_NEXT, NULL, 0, NULL, NULL, NULL, NULL) == LATCHLESS_OK);
    /* The cursor outlives the index, and seeks a key within its own value. */
    CHECK(latchless_bytes_insert(index, "99999", 5, "00700", 5, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_cursor_move(cursor, LATCHLESS_SEEK_LAST, NULL, 0, &key, &len, &value, &value_len) == LATCHLESS_OK && value_len == 5);
    AT(latchless_bytes_cursor_move(cursor, LATCHLESS_SEEK, value, value_len, &key, &len, &value, &value_len), 700);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    AT(latchless_bytes_cursor_move(cursor, LATCHLESS_SEEK_FIRST, NULL, 0, &key, &len, &value, &value_len), 0);
    CHECK(latchless_bytes_cursor_free(cursor) == LATCHLESS_OK);
}

static void memory(void) {
    latchless_options options;
    latchless_bytes *index;
    latchless_stats stats;
    static uint8_t refused[N];
    size_t i, held, live, count = 0, len = 42;
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.limit_bytes = 512 * 1024;
    options.value_kind = LATCHLESS_VALUE_BYTES;
    CHECK(latchless_bytes_new(&options, &index) == LATCHLESS_OK);
    REFUSED(latchless_bytes_insert_columns(index, apart_by(pointers, lens), apart_by(value_pointers, value_lens), N, &len, refused),
            LATCHLESS_MEMORY_LIMIT, "latchless_bytes_insert_columns", "inserts were refused, the first at position ");
    CHECK(len == 42);
    for (i = 0; i < N; i++) {
        count += refused[i] == 0;
        CHECK(latchless_bytes_contains_key(index, pointers[i], lens[i]) == (refused[i] ? LATCHLESS_NOT_FOUND : LATCHLESS_OK));
    }
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == count && count > 500 && count < N);
    CHECK(latchless_bytes_memory_bytes(index, &held, &live) == LATCHLESS_OK && live <= held && live <= options.limit_bytes);
    stats.struct_size = sizeof stats;
    CHECK(latchless_bytes_stats(index, &stats) == LATCHLESS_OK && stats.entries == len && stats.memory_bytes == held);
    CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
}

static void same_in(latchless_bytes *index) {
    size_t i, len;
    CHECK(latchless_bytes_check_invariants(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_len(index, &len) == LATCHLESS_OK && len == N);
    for (i = 0; i < N; i++) {
        CHECK(latchless_bytes_get(index, pointers[i], lens[i], any, sizeof any, &len) == LATCHLESS_OK);
        CHECK(is_value(any, len, i));
    }
}

/* Overwrites the first `len` bytes of a file. */
static void cut(const char *path, size_t len) {
    char *bytes = malloc(len);
    FILE *file = fopen(path, "rb");
    CHECK(bytes != NULL && file != NULL && fread(bytes, 1, len, file) == len && fclose(file) == 0);
    file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
    free(bytes);
}

static void files(const char *path) {
    static char longest[LATCHLESS_VALUE_MAX];
    latchless_bytes *index = full(), *again;
    latchless_options options;
    size_t total = 0, len;
    CHECK(latchless_bytes_save(index, path, &total) == LATCHLESS_OK && total == N);
    CHECK(latchless_bytes_open(path, byte_values(), &again) == LATCHLESS_OK);
    same_in(again);
    CHECK(latchless_bytes_free(again) == LATCHLESS_OK);
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.value_kind = LATCHLESS_VALUE_BYTES;
    options.limit_bytes = 512 * 1024;
    REFUSED(latchless_bytes_open(path, &options, &again), LATCHLESS_MEMORY_LIMIT, "latchless_bytes_open", "");
    CHECK(again == NULL);
    /* A refused save changes neither the file nor the count. */
    total = 7;
    REFUSED(latchless_bytes_save(index, "/nowhere/index.arrow", &total), LATCHLESS_IO, "latchless_bytes_save",
            "/nowhere/index.arrow");
    REFUSED(latchless_bytes_save(index, NULL, &total), LATCHLESS_NULL, "latchless_bytes_save", "path is NULL");
    CHECK(total == 7);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    REFUSED(latchless_bytes_open("/nowhere/index.arrow", NULL, &again), LATCHLESS_IO, "latchless_bytes_open",
            "/nowhere/index.arrow");
    REFUSED(latchless_bytes_open(NULL, NULL, &again), LATCHLESS_NULL, "latchless_bytes_open", "path is NULL");
    REFUSED(latchless_bytes_open(path, byte_values(), NULL), LATCHLESS_NULL, "latchless_bytes_open", "out is NULL");
    cut(path, 5000);
    REFUSED(latchless_bytes_open(path, byte_values(), &again), LATCHLESS_BAD_FILE, "latchless_bytes_open", "the file was cut short");
    CHECK(again == NULL);
    /* An empty index; then the longest value under the shortest key, and the shortest value. */
    CHECK(latchless_bytes_new(byte_values(), &index) == LATCHLESS_OK);
    CHECK(latchless_bytes_save(index, path, &total) == LATCHLESS_OK && total == 0);
    CHECK(latchless_bytes_open(path, byte_values(), &again) == LATCHLESS_OK);
    CHECK(latchless_bytes_len(again, &len) == LATCHLESS_OK && len == 0);
    CHECK(latchless_bytes_free(again) == LATCHLESS_OK);
    memset(longest, 'v', sizeof longest);
    longest[sizeof longest - 1] = 'w';
    CHECK(latchless_bytes_insert(index, NULL, 0, longest, sizeof longest, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_insert(index, "\0", 1, NULL, 0, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_save(index, path, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    CHECK(latchless_bytes_open(path, byte_values(), &again) == LATCHLESS_OK);
    CHECK(latchless_bytes_get(again, NULL, 0, any, sizeof any, &len) == LATCHLESS_OK);
    CHECK(is(any, len, longest, sizeof longest));
    CHECK(latchless_bytes_get(again, "\0", 1, NULL, 0, &len) == LATCHLESS_OK && len == 0);
    CHECK(latchless_bytes_free(again) == LATCHLESS_OK);
}

/* Files with values of another type are refused. */
static void files_of_others(const char *path) {
    latchless_bytes *index;
    latchless_bytes *numbers;
    latchless_index *words;
    CHECK(latchless_bytes_new(byte_values(), &index) == LATCHLESS_OK);
    CHECK(latchless_bytes_insert(index, "one", 3, "12345678", 8, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_save(index, path, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(index) == LATCHLESS_OK);
    REFUSED(latchless_bytes_open(path, NULL, &numbers), LATCHLESS_BAD_FILE, "latchless_bytes_open",
            "the file has the value type bytes");
    CHECK(numbers == NULL);
    REFUSED(latchless_index_open(path, NULL, &words), LATCHLESS_BAD_FILE, "latchless_index_open", "holds binary");
    CHECK(latchless_bytes_new(NULL, &numbers) == LATCHLESS_OK);
    CHECK(latchless_bytes_insert(numbers, "one", 3, WORD(1), NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_save(numbers, path, NULL) == LATCHLESS_OK);
    CHECK(latchless_bytes_free(numbers) == LATCHLESS_OK);
    REFUSED(latchless_bytes_open(path, byte_values(), &index), LATCHLESS_BAD_FILE, "latchless_bytes_open",
            "the file has the value type uint64");
    CHECK(index == NULL);
    CHECK(latchless_index_new(NULL, &words) == LATCHLESS_OK);
    CHECK(latchless_index_save(words, path, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_free(words) == LATCHLESS_OK);
    REFUSED(latchless_bytes_open(path, byte_values(), &index), LATCHLESS_BAD_FILE, "latchless_bytes_open", "holds uint64");
    CHECK(remove(path) == 0);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    fill_in();
    one_key();
    order();
    batches();
    ranges();
    cursors();
    memory();
    files(arguments[1]);
    files_of_others(arguments[1]);
    puts("byte_values.c: all is well");
    return 0;
}
