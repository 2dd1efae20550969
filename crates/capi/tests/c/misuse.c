/* Misuse: the status and the message name what is wrong and where. */
#include "check.h"

static int visited(const uint64_t *keys, const latchless_value *values, size_t count, void *context) {
    (void)keys, (void)values, (void)count, (void)context;
    return 0;
}

static void handles(latchless_index *index) {
    latchless_index *other, *freed;
    latchless_index_cursor *cursor;
    latchless_value value = 3;
    size_t total;
    int i;
    /* Memory that isn't a handle. */
    union { double aligned; char bytes[256]; } memory;
    char *aligned = memory.bytes + (64 - (uintptr_t)memory.bytes % 64);
    memset(&memory, 0x5A, sizeof memory);

    REFUSED(latchless_index_get(NULL, 1, &value), LATCHLESS_BAD_HANDLE, "latchless_index_get", "the handle is NULL");
    REFUSED(latchless_index_get((latchless_index *)(void *)aligned, 1, &value), LATCHLESS_BAD_HANDLE,
            "latchless_index_get", "was made by no function of this library");
    REFUSED(latchless_index_get((latchless_index *)(void *)(aligned + 1), 1, &value), LATCHLESS_BAD_HANDLE,
            "latchless_index_get", "was made by no function of this library");
    REFUSED(latchless_bytes_contains_key((latchless_bytes *)(void *)index, "a", 1), LATCHLESS_BAD_HANDLE,
            "latchless_bytes_contains_key", "the handle is one of latchless_index, but must be one of latchless_bytes");
    CHECK(latchless_index_cursor_new(index, 0, 10, 0, &cursor) == LATCHLESS_OK);
    REFUSED(latchless_index_get((latchless_index *)(void *)cursor, 1, &value), LATCHLESS_BAD_HANDLE,
            "latchless_index_get", "the handle is one of latchless_index_cursor");
    REFUSED(latchless_index_free((latchless_index *)(void *)cursor), LATCHLESS_BAD_HANDLE, "latchless_index_free",
            "the handle is one of latchless_index_cursor");
    REFUSED(latchless_index_cursor_next((latchless_index_cursor *)(void *)index, NULL, NULL, 1, &total),
            LATCHLESS_BAD_HANDLE, "latchless_index_cursor_next", "but must be one of latchless_index_cursor");
    CHECK(latchless_index_cursor_free(cursor) == LATCHLESS_OK);
    REFUSED(latchless_index_cursor_free(cursor), LATCHLESS_BAD_HANDLE, "latchless_index_cursor_free",
            "the handle of latchless_index_cursor was freed before");
    REFUSED(latchless_index_cursor_next(cursor, NULL, NULL, 1, &total), LATCHLESS_BAD_HANDLE,
            "latchless_index_cursor_next", "was freed before");

    CHECK(latchless_index_free(NULL) == LATCHLESS_OK);
    CHECK(latchless_index_cursor_free(NULL) == LATCHLESS_OK);
    CHECK(latchless_index_new(NULL, &freed) == LATCHLESS_OK);
    CHECK(latchless_index_free(freed) == LATCHLESS_OK);
    for (i = 0; i < 500; i++) {
        CHECK(latchless_index_new(NULL, &other) == LATCHLESS_OK);
        REFUSED(latchless_index_free(freed), LATCHLESS_BAD_HANDLE, "latchless_index_free",
                "the handle of latchless_index was freed before");
        REFUSED(latchless_index_insert(freed, 1, 2, NULL), LATCHLESS_BAD_HANDLE, "latchless_index_insert",
                "was freed before");
        CHECK(latchless_index_free(other) == LATCHLESS_OK);
    }
    REFUSED(latchless_bytes_free((latchless_bytes *)(void *)freed), LATCHLESS_BAD_HANDLE, "latchless_bytes_free",
            "the handle of latchless_index was freed before");
    CHECK(value == 3);
}

static void pointers_and_lengths(latchless_index *index) {
    uint64_t keys[] = {1, 2, 3};
    uint64_t read[3] = {0, 0, 0};
    uint8_t found[3];
    size_t total = 42;
    latchless_index_cursor *cursor = NULL;
    latchless_index *loaded;
    /* Unaligned for every type from byte 17 on. */
    char unaligned[64];

    REFUSED(latchless_index_len(index, NULL), LATCHLESS_NULL, "latchless_index_len", "len is NULL");
    REFUSED(latchless_index_count(index, 1, 2, NULL), LATCHLESS_NULL, "latchless_index_count", "count is NULL");
    REFUSED(latchless_index_new(NULL, NULL), LATCHLESS_NULL, "latchless_index_new", "out is NULL");
    REFUSED(latchless_index_open("nowhere", NULL, NULL), LATCHLESS_NULL, "latchless_index_open", "out is NULL");
    REFUSED(latchless_index_cursor_new(index, 1, 2, 0, NULL), LATCHLESS_NULL, "latchless_index_cursor_new",
            "out is NULL");
    REFUSED(latchless_index_scan_chunks(index, 1, 2, NULL, NULL), LATCHLESS_NULL, "latchless_index_scan_chunks",
            "visitor is NULL");
    REFUSED(latchless_index_save(index, NULL, NULL), LATCHLESS_NULL, "latchless_index_save", "path is NULL");
    REFUSED(latchless_index_stats(index, NULL), LATCHLESS_NULL, "latchless_index_stats", "stats is NULL");
    REFUSED(latchless_index_get_columns(index, NULL, 3, read, found, &total), LATCHLESS_NULL,
            "latchless_index_get_columns", "keys is NULL, but there are to be 3 elements");
    REFUSED(latchless_index_insert_columns(index, keys, NULL, 3, &total, NULL), LATCHLESS_NULL,
            "latchless_index_insert_columns", "values is NULL, but there are to be 3 elements");
    REFUSED(latchless_index_rank_columns(index, keys, 3, NULL), LATCHLESS_NULL, "latchless_index_rank_columns",
            "ranks is NULL");
    REFUSED(latchless_index_count_columns(index, keys, NULL, 3, &total), LATCHLESS_NULL,
            "latchless_index_count_columns", "high is NULL");
    CHECK(total == 42);

    /* No elements: the pointers are not read. */
    CHECK(latchless_index_get_columns(index, NULL, 0, NULL, NULL, &total) == LATCHLESS_OK && total == 0);
    CHECK(latchless_index_insert_columns(index, NULL, NULL, 0, &total, NULL) == LATCHLESS_OK && total == 0);
    CHECK(latchless_index_remove_columns(index, NULL, 0, NULL, NULL, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_near_columns(index, LATCHLESS_FLOOR, NULL, 0, NULL, NULL, NULL, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_rank_columns(index, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_count_columns(index, NULL, NULL, 0, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_bulk_load(NULL, NULL, 0, NULL, &loaded) == LATCHLESS_OK);
    CHECK(latchless_index_free(loaded) == LATCHLESS_OK);

    /* More than memory can hold: by the number of bytes, and by the address of the end. */
    REFUSED(latchless_index_get_columns(index, keys, SIZE_MAX, NULL, NULL, NULL), LATCHLESS_TOO_LONG,
            "latchless_index_get_columns", "keys can't have 18446744073709551615 elements");
    REFUSED(latchless_index_get_columns(index, keys, SIZE_MAX / 16 + 1, NULL, NULL, NULL), LATCHLESS_TOO_LONG,
            "latchless_index_get_columns", "keys can't have");
    REFUSED(latchless_index_bulk_load((const uint64_t *)(UINTPTR_MAX - 63), keys, 9, NULL, &loaded), LATCHLESS_TOO_LONG,
            "latchless_index_bulk_load", "keys can't have 9 elements");
    CHECK(loaded == NULL);
    REFUSED(latchless_index_page(index, 0, 9, 0, NULL, read, SIZE_MAX / 2, &total), LATCHLESS_TOO_LONG,
            "latchless_index_page", "values can't have");

    REFUSED(latchless_index_page(index, 0, 9, 0, keys, read, 0, &total), LATCHLESS_INVALID, "latchless_index_page",
            "room is 0");
    CHECK(latchless_index_cursor_new(index, 0, 9, 0, &cursor) == LATCHLESS_OK);
    REFUSED(latchless_index_cursor_next(cursor, keys, read, 0, &total), LATCHLESS_INVALID,
            "latchless_index_cursor_next", "room is 0");
    REFUSED(latchless_index_cursor_next(cursor, keys, read, 1, NULL), LATCHLESS_NULL, "latchless_index_cursor_next",
            "filled is NULL");
    CHECK(latchless_index_cursor_free(cursor) == LATCHLESS_OK);

    /* Unaligned arrays are accepted. */
    memcpy(unaligned + 17, keys, sizeof keys);
    CHECK(latchless_index_insert_columns(index, (const uint64_t *)(void *)(unaligned + 17),
                                       (const uint64_t *)(void *)(unaligned + 17), 3, &total, NULL)
          == LATCHLESS_OK);
    CHECK(total == 3);
    CHECK(latchless_index_get_columns(index, keys, 3, (uint64_t *)(void *)(unaligned + 33), NULL, NULL)
          == LATCHLESS_OK);
    CHECK(memcmp(unaligned + 33, keys, sizeof keys) == 0);
    /* So are answers that overwrite the keys. */
    CHECK(latchless_index_insert(index, 2, 20, NULL) == LATCHLESS_PRESENT);
    CHECK(latchless_index_get_columns(index, keys, 3, keys, NULL, &total) == LATCHLESS_OK);
    CHECK(total == 3 && keys[0] == 1 && keys[1] == 20 && keys[2] == 3);
}

static void keys_and_ranges(latchless_index *index) {
    latchless_index *floats = NULL, *loaded = NULL;
    latchless_options options;
    const uint64_t unsorted[] = {1, 5, 4}, twice[] = {1, 5, 5}, low[] = {1, 9}, high[] = {2, 8};
    const uint64_t nan = latchless_key_from_f64(NAN), infinity = latchless_key_from_f64(INFINITY);
    const uint64_t some[] = {infinity - 1, infinity, nan, 7}, ends[] = {0, infinity};
    const uint64_t zeros[] = {latchless_key_from_f64(-0.0), latchless_key_from_f64(0.0)};
    const uint64_t values[] = {1, 2, 3, 4};
    size_t total, counts[2];

    REFUSED(latchless_index_near(index, 5, 1, NULL, NULL), LATCHLESS_INVALID, "latchless_index_near",
            "near is 5, but must be a latchless_near");
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.key_kind = LATCHLESS_KEY_F64;
    CHECK(latchless_index_new(&options, &floats) == LATCHLESS_OK);
    REFUSED(latchless_index_insert(floats, nan, 1, NULL), LATCHLESS_NAN, "latchless_index_insert", "key is NaN");
    REFUSED(latchless_index_get(floats, latchless_key_from_f64(-NAN), NULL), LATCHLESS_NAN, "latchless_index_get",
            "key is NaN");
    REFUSED(latchless_index_near(floats, LATCHLESS_FLOOR, nan, NULL, NULL), LATCHLESS_NAN, "latchless_index_near",
            "key is NaN");
    REFUSED(latchless_index_count(floats, infinity, nan, &total), LATCHLESS_NAN, "latchless_index_count", "high is NaN");
    REFUSED(latchless_index_count_columns(floats, ends, some + 1, 2, counts), LATCHLESS_NAN,
            "latchless_index_count_columns", "high[1] is NaN");
    REFUSED(latchless_index_insert_columns(floats, some, values, 4, NULL, NULL), LATCHLESS_NAN,
            "latchless_index_insert_columns", "keys[2] is NaN");
    REFUSED(latchless_index_get_columns(floats, some, 4, NULL, NULL, NULL), LATCHLESS_NAN,
            "latchless_index_get_columns", "keys[2] is NaN");
    /* The ends of all words are those of any range. */
    CHECK(latchless_index_count(floats, 0, UINT64_MAX, &total) == LATCHLESS_OK && total == 0);
    CHECK(latchless_index_len(floats, &total) == LATCHLESS_OK && total == 0);
    CHECK(latchless_index_free(floats) == LATCHLESS_OK);
    REFUSED(latchless_index_bulk_load(some, values, 4, &options, &floats), LATCHLESS_NAN, "latchless_index_bulk_load",
            "keys[2] is NaN");
    CHECK(floats == NULL);
    REFUSED(latchless_index_bulk_load(zeros, values, 2, &options, &floats), LATCHLESS_DUPLICATE,
            "latchless_index_bulk_load", "position 1");
    /* Other indexes have these words as keys. */
    CHECK(latchless_index_insert(index, nan, 1, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_remove(index, nan, NULL) == LATCHLESS_OK);

    REFUSED(latchless_index_bulk_load(unsorted, values, 3, NULL, &loaded), LATCHLESS_UNSORTED, "latchless_index_bulk_load",
            "position 2");
    REFUSED(latchless_index_bulk_load(twice, values, 3, NULL, &loaded), LATCHLESS_DUPLICATE, "latchless_index_bulk_load",
            "position 2");
    REFUSED(latchless_index_count(index, 2, 1, &total), LATCHLESS_INVERTED_RANGE, "latchless_index_count",
            "low is above high");
    REFUSED(latchless_index_remove_range(index, 2, 1, NULL), LATCHLESS_INVERTED_RANGE,
            "latchless_index_remove_range", "low is above high");
    REFUSED(latchless_index_scan_chunks(index, 2, 1, visited, NULL), LATCHLESS_INVERTED_RANGE,
            "latchless_index_scan_chunks",
            "low is above high");
    REFUSED(latchless_index_count_columns(index, low, high, 2, counts), LATCHLESS_INVERTED_RANGE,
            "latchless_index_count_columns", "low[1] is above high[1]");
}

static void options(void) {
    latchless_options options;
    latchless_index *index;
    latchless_stats stats;
    struct { latchless_options known; char later[16]; } newer;
    memset(&options, 0, sizeof options);
    REFUSED(latchless_index_new(&options, &index), LATCHLESS_INVALID, "latchless_index_new", "struct_size is 0");
    CHECK(index == NULL);
    REFUSED(latchless_options_init(NULL, sizeof options), LATCHLESS_NULL, "latchless_options_init", "NULL");
    REFUSED(latchless_options_init(&options, 8), LATCHLESS_INVALID, "latchless_options_init", "struct_size is 8");
#define FIELD(field, value, about)                                                                \
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);                      \
    options.field = value;                                                                        \
    REFUSED(latchless_index_new(&options, &index), LATCHLESS_INVALID, "latchless_index_new", about)
    FIELD(fill, 0.0, "a fill factor lies in 0.01..=1.0, not 0");
    FIELD(fill, NAN, "a fill factor lies in 0.01..=1.0, not NaN");
    FIELD(threads, 0, "threads is 0, but must be 1 or more");
    FIELD(group, 129, "group is 129, but must be from 0 to 128");
    FIELD(kernel, 77, "kernel is 77, but must be a latchless_kernel");
    FIELD(huge_pages, 2, "huge_pages is 2, but must be 0 or 1");
    FIELD(prefault, 255, "prefault is 255, but must be 0 or 1");
    FIELD(key_kind, 7, "key_kind is 7, but must be a latchless_key_kind");
    FIELD(value_kind, 2, "value_kind is 2, but must be a latchless_value_kind");
    FIELD(value_kind, LATCHLESS_VALUE_BYTES, "value_kind is 1, but must be LATCHLESS_VALUE_WORD");
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.limit_bytes = 0;
    REFUSED(latchless_index_new(&options, &index), LATCHLESS_MEMORY_LIMIT, "latchless_index_new", "limit of 0 bytes");
#if defined(__x86_64__)
    FIELD(kernel, LATCHLESS_KERNEL_NEON, "is not available on this processor");
#endif

    /* A structure of a newer version is accepted if its new fields are 0. */
    memset(&newer, 0xFF, sizeof newer);
    CHECK(latchless_options_init(&newer.known, sizeof newer) == LATCHLESS_OK);
    CHECK(newer.later[15] == 0);
    CHECK(latchless_index_new(&newer.known, &index) == LATCHLESS_OK);
    stats.struct_size = 0;
    REFUSED(latchless_index_stats(index, &stats), LATCHLESS_INVALID, "latchless_index_stats", "struct_size is 0");
    CHECK(latchless_index_free(index) == LATCHLESS_OK);
    newer.later[7] = 1;
    REFUSED(latchless_index_new(&newer.known, &index), LATCHLESS_INVALID, "latchless_index_new", "newer library");
}

static void files(latchless_index *index, const char *folder) {
    char path[4096];
    latchless_index *again = index;
    latchless_options options;
    FILE *file;
    snprintf(path, sizeof path, "%s/missing/index.arrow", folder);
    REFUSED(latchless_index_save(index, path, NULL), LATCHLESS_IO, "latchless_index_save", "missing/index.arrow");
    REFUSED(latchless_index_open(path, NULL, &again), LATCHLESS_IO, "latchless_index_open", "missing/index.arrow");
    CHECK(again == NULL);
    snprintf(path, sizeof path, "%s/misuse.arrow", folder);
    CHECK(latchless_index_insert(index, 1, 1, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_save(index, path, NULL) == LATCHLESS_OK);
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.key_kind = LATCHLESS_KEY_F64;
    REFUSED(latchless_index_open(path, &options, &again), LATCHLESS_BAD_FILE, "latchless_index_open",
            "the file has the key type uint64");
    file = fopen(path, "r+b");
    CHECK(file != NULL && fseek(file, 100, SEEK_SET) == 0 && fputc(0x55, file) == 0x55 && fclose(file) == 0);
    REFUSED(latchless_index_open(path, NULL, &again), LATCHLESS_BAD_FILE, "latchless_index_open", "damaged");
    CHECK(remove(path) == 0);
}

int main(int count, char **arguments) {
    latchless_index *index;
    CHECK(count == 2);
    CHECK(latchless_index_new(NULL, &index) == LATCHLESS_OK);
    handles(index);
    keys_and_ranges(index);
    options();
    files(index, arguments[1]);
    CHECK(latchless_index_free(index) == LATCHLESS_OK);
    CHECK(latchless_index_new(NULL, &index) == LATCHLESS_OK);
    pointers_and_lengths(index);
    CHECK(latchless_index_free(index) == LATCHLESS_OK);
    puts("misuse.c: all is well");
    return 0;
}
