/* Every function for each type of keys, compared with a sorted array. */
#include "check.h"

/* The i-th key of each type, ascending; half of the signed ones are negative. */
static uint64_t key_u64(size_t i) { return 3 * (uint64_t)i + 1; }
static int64_t key_i64(size_t i) { return 3 * ((int64_t)i - 2000); }
static double key_f64(size_t i) { return ((double)i - 2000.0) * 0.75; }

enum { N = 4000 };

static size_t shown;

#define TESTS(T, K, LOWEST, HIGHEST)                                                              \
    static void T##_one_key(void) {                                                               \
        latchless_##T *index;                                                                     \
        latchless_value value = 7;                                                                \
        size_t len = 9;                                                                           \
        CHECK(latchless_##T##_new(NULL, &index) == LATCHLESS_OK);                                 \
        CHECK(latchless_##T##_get(index, key_##T(1), &value) == LATCHLESS_NOT_FOUND);             \
        CHECK(value == 7);                                                                        \
        CHECK(latchless_##T##_insert(index, key_##T(1), 10, &value) == LATCHLESS_OK);             \
        CHECK(value == 7);                                                                        \
        CHECK(latchless_##T##_insert(index, key_##T(1), 11, &value) == LATCHLESS_PRESENT);        \
        CHECK(value == 10);                                                                       \
        CHECK(latchless_##T##_try_insert(index, key_##T(1), 12, &value)                     \
              == LATCHLESS_PRESENT);                                                              \
        CHECK(value == 11);                                                                       \
        CHECK(latchless_##T##_try_insert(index, key_##T(2), 20, NULL) == LATCHLESS_OK);     \
        CHECK(latchless_##T##_replace(index, key_##T(2), 21, &value) == LATCHLESS_OK);             \
        CHECK(value == 20);                                                                       \
        CHECK(latchless_##T##_replace(index, key_##T(3), 30, &value) == LATCHLESS_NOT_FOUND);      \
        CHECK(latchless_##T##_contains_key(index, key_##T(3)) == LATCHLESS_NOT_FOUND);                \
        CHECK(latchless_##T##_contains_key(index, key_##T(2)) == LATCHLESS_OK);                       \
        CHECK(latchless_##T##_compare_exchange(index, key_##T(2), 20, 22, &value)                 \
              == LATCHLESS_MISMATCH);                                                             \
        CHECK(value == 21);                                                                       \
        CHECK(latchless_##T##_compare_exchange(index, key_##T(2), 21, 22, &value)                 \
              == LATCHLESS_OK);                                                                   \
        CHECK(latchless_##T##_compare_exchange(index, key_##T(3), 21, 22, &value)                 \
              == LATCHLESS_NOT_FOUND);                                                            \
        CHECK(latchless_##T##_compare_remove(index, key_##T(2), 21, &value)                       \
              == LATCHLESS_MISMATCH);                                                             \
        CHECK(value == 22);                                                                       \
        CHECK(latchless_##T##_compare_remove(index, key_##T(2), 22, NULL) == LATCHLESS_OK);       \
        CHECK(latchless_##T##_remove(index, key_##T(2), &value) == LATCHLESS_NOT_FOUND);          \
        CHECK(latchless_##T##_remove(index, key_##T(1), &value) == LATCHLESS_OK);                 \
        CHECK(value == 11);                                                                       \
        CHECK(latchless_##T##_len(index, &len) == LATCHLESS_OK && len == 0);                      \
        CHECK(latchless_##T##_free(index) == LATCHLESS_OK);                                       \
    }                                                                                             \
                                                                                                  \
    static void T##_order(void) {                                                                 \
        static K keys[N];                                                                         \
        static latchless_value values[N];                                                         \
        latchless_##T *index;                                                                     \
        K key;                                                                                    \
        latchless_value value;                                                                    \
        size_t i, at;                                                                             \
        for (i = 0; i < N; i++) {                                                                 \
            keys[i] = key_##T(2 * i);                                                             \
            values[i] = i;                                                                        \
        }                                                                                         \
        CHECK(latchless_##T##_bulk_load(keys, values, N, NULL, &index) == LATCHLESS_OK);               \
        CHECK(latchless_##T##_check_invariants(index) == LATCHLESS_OK);                                      \
        CHECK(latchless_##T##_first(index, &key, &value) == LATCHLESS_OK);                        \
        CHECK(key == keys[0] && value == 0);                                                      \
        CHECK(latchless_##T##_last(index, &key, &value) == LATCHLESS_OK);                         \
        CHECK(key == keys[N - 1] && value == N - 1);                                              \
        for (i = 1; i + 1 < N; i++) {                                                             \
            CHECK(latchless_##T##_floor(index, keys[i], &key, &value) == LATCHLESS_OK);           \
            CHECK(key == keys[i] && value == i);                                                  \
            CHECK(latchless_##T##_ceiling(index, keys[i], &key, &value) == LATCHLESS_OK);         \
            CHECK(key == keys[i] && value == i);                                                  \
            CHECK(latchless_##T##_lower(index, keys[i], &key, &value) == LATCHLESS_OK);           \
            CHECK(key == keys[i - 1] && value == i - 1);                                          \
            CHECK(latchless_##T##_higher(index, keys[i], &key, &value) == LATCHLESS_OK);          \
            CHECK(key == keys[i + 1] && value == i + 1);                                          \
            CHECK(latchless_##T##_floor(index, key_##T(2 * i + 1), &key, NULL) == LATCHLESS_OK);  \
            CHECK(key == keys[i]);                                                                \
            CHECK(latchless_##T##_ceiling(index, key_##T(2 * i + 1), NULL, &value)                \
                  == LATCHLESS_OK);                                                               \
            CHECK(value == i + 1);                                                                \
            CHECK(latchless_##T##_nearest(index, keys[i], &key, &value) == LATCHLESS_OK);         \
            CHECK(key == keys[i] && value == i);                                                  \
            CHECK(latchless_##T##_nearest(index, key_##T(2 * i + 1), &key, NULL) == LATCHLESS_OK); \
            CHECK(key == keys[i]);                                                                \
            CHECK(latchless_##T##_rank(index, keys[i], &at) == LATCHLESS_OK && at == i);          \
            CHECK(latchless_##T##_nth(index, i, &key, &value) == LATCHLESS_OK);                   \
            CHECK(key == keys[i] && value == i);                                                  \
        }                                                                                         \
        CHECK(latchless_##T##_lower(index, keys[0], &key, &value) == LATCHLESS_NOT_FOUND);        \
        CHECK(latchless_##T##_lower(index, LOWEST, &key, &value) == LATCHLESS_NOT_FOUND);         \
        CHECK(latchless_##T##_higher(index, HIGHEST, &key, &value) == LATCHLESS_NOT_FOUND);       \
        CHECK(latchless_##T##_nearest(index, HIGHEST, &key, &value) == LATCHLESS_OK);             \
        CHECK(key == keys[N - 1] && value == N - 1);                                              \
        CHECK(latchless_##T##_nearest(index, LOWEST, &key, NULL) == LATCHLESS_OK);                \
        CHECK(key == keys[0]);                                                                    \
        CHECK(latchless_##T##_nth(index, N, &key, &value) == LATCHLESS_NOT_FOUND);                \
        CHECK(latchless_##T##_rank(index, HIGHEST, &at) == LATCHLESS_OK && at == N);              \
        CHECK(latchless_##T##_pop_first(index, &key, &value) == LATCHLESS_OK);                    \
        CHECK(key == keys[0] && value == 0);                                                      \
        CHECK(latchless_##T##_pop_last(index, NULL, NULL) == LATCHLESS_OK);                       \
        CHECK(latchless_##T##_count(index, LOWEST, HIGHEST, &at) == LATCHLESS_OK);                \
        CHECK(at == N - 2);                                                                       \
        CHECK(latchless_##T##_clear(index) == LATCHLESS_OK);                                      \
        CHECK(latchless_##T##_pop_first(index, NULL, NULL) == LATCHLESS_NOT_FOUND);               \
        CHECK(latchless_##T##_free(index) == LATCHLESS_OK);                                       \
    }                                                                                             \
                                                                                                  \
    static void T##_columns(void) {                                                               \
        static K keys[N], near_keys[N];                                                           \
        static latchless_value values[N];                                                         \
        static uint8_t found[N], refused[N];                                                      \
        static size_t ranks[N];                                                                   \
        latchless_##T *index;                                                                     \
        size_t i, total = 0;                                                                       \
        for (i = 0; i < N; i++) {                                                                 \
            /* A permutation: 1009 and 4000 are coprime. */                                       \
            keys[i] = key_##T(2 * (1009 * i % N));                                                \
            values[i] = 1009 * i % N;                                                             \
        }                                                                                         \
        CHECK(latchless_##T##_new(NULL, &index) == LATCHLESS_OK);                                 \
        memset(refused, 9, sizeof refused);                                                       \
        CHECK(latchless_##T##_insert_columns(index, keys, values, N, &total, refused)              \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N && memchr(refused, 9, N) == NULL && memchr(refused, 1, N) == NULL);       \
        CHECK(latchless_##T##_insert_columns(index, keys, values, N, &total, NULL)                 \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == 0);                                                                         \
        for (i = 0; i < N; i++) {                                                                 \
            keys[i] = key_##T(i);                                                                 \
            values[i] = 77777;                                                                    \
        }                                                                                         \
        CHECK(latchless_##T##_get_columns(index, keys, N, values, found, &total)                   \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N / 2);                                                                     \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(found[i] == (i % 2 == 0) && values[i] == (i % 2 == 0 ? i / 2 : 77777));         \
        }                                                                                         \
        CHECK(latchless_##T##_get_columns(index, keys, N, NULL, NULL, &total) == LATCHLESS_OK);    \
        CHECK(total == N / 2);                                                                     \
        CHECK(latchless_##T##_floor_columns(index, keys, N, near_keys, values, found, &total)      \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N);                                                                         \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(found[i] == 1 && values[i] == i / 2 && near_keys[i] == keys[i / 2 * 2]);        \
        }                                                                                         \
        CHECK(latchless_##T##_ceiling_columns(index, keys, N, near_keys, values, NULL, &total)     \
              == LATCHLESS_OK);                                                                   \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(values[i] == (i + 1) / 2 && near_keys[i] == key_##T((i + 1) / 2 * 2));          \
        }                                                                                         \
        CHECK(latchless_##T##_lower_columns(index, keys, N, NULL, values, found, &total)           \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N - 1 && found[0] == 0);                                                    \
        for (i = 1; i < N; i++) CHECK(found[i] == 1 && values[i] == (i - 1) / 2);                 \
        CHECK(latchless_##T##_higher_columns(index, keys, N, near_keys, NULL, NULL, &total)        \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N);                                                                         \
        for (i = 0; i < N; i++) CHECK(near_keys[i] == key_##T(i / 2 * 2 + 2));                    \
        CHECK(latchless_##T##_nearest_columns(index, keys, N, near_keys, NULL, NULL, &total)       \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N);                                                                         \
        for (i = 0; i < N; i++) {                                                                 \
            K key;                                                                                \
            CHECK(latchless_##T##_nearest(index, keys[i], &key, NULL) == LATCHLESS_OK);           \
            CHECK(near_keys[i] == key);                                                           \
        }                                                                                         \
        CHECK(latchless_##T##_rank_columns(index, keys, N, ranks) == LATCHLESS_OK);               \
        for (i = 0; i < N; i++) CHECK(ranks[i] == (i + 1) / 2);                                   \
        CHECK(latchless_##T##_count_columns(index, keys, keys, N, ranks) == LATCHLESS_OK);        \
        for (i = 0; i < N; i++) CHECK(ranks[i] == (i % 2 == 0));                                  \
        CHECK(latchless_##T##_remove_columns(index, keys, N, values, found, &total)                \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N / 2 && found[0] == 1 && found[1] == 0 && values[2] == 1);                 \
        CHECK(latchless_##T##_len(index, &total) == LATCHLESS_OK && total == N / 2);                \
        CHECK(latchless_##T##_free(index) == LATCHLESS_OK);                                       \
    }                                                                                             \
                                                                                                  \
    static int T##_show(const K *keys, const latchless_value *values, size_t count,               \
                        void *context) {                                                          \
        size_t i;                                                                                 \
        CHECK(count > 0);                                                                         \
        for (i = 0; i < count; i++, shown++) {                                                    \
            CHECK(keys[i] == key_##T(shown) && values[i] == shown);                               \
        }                                                                                         \
        return shown >= *(size_t *)context;                                                       \
    }                                                                                             \
                                                                                                  \
    static void T##_ranges(void) {                                                                \
        static K keys[N];                                                                         \
        static latchless_value values[N];                                                         \
        latchless_##T *index;                                                                     \
        latchless_##T##_cursor *cursor;                                                           \
        size_t i, total, seen, until;                                                              \
        CHECK(latchless_##T##_new(NULL, &index) == LATCHLESS_OK);                                 \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(latchless_##T##_insert(index, key_##T(i), i, NULL) == LATCHLESS_OK);            \
        }                                                                                         \
        CHECK(latchless_##T##_count(index, key_##T(10), key_##T(19), &total) == LATCHLESS_OK);     \
        CHECK(total == 10);                                                                        \
        CHECK(latchless_##T##_page(index, key_##T(5), HIGHEST, 0, keys, values, 3000, &total)      \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == 3000);                                                                      \
        for (i = 0; i < total; i++) CHECK(keys[i] == key_##T(i + 5) && values[i] == i + 5);        \
        CHECK(latchless_##T##_page(index, LOWEST, key_##T(1999), 1, keys, values, N, &total)       \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == 2000);                                                                      \
        for (i = 0; i < total; i++) CHECK(keys[i] == key_##T(1999 - i) && values[i] == 1999 - i);  \
        CHECK(latchless_##T##_page(index, HIGHEST, HIGHEST, 0, keys, NULL, 5, &total)              \
              == LATCHLESS_NOT_FOUND);                                                            \
        CHECK(total == 0);                                                                         \
        shown = 0;                                                                                \
        until = N + 1;                                                                            \
        CHECK(latchless_##T##_scan_chunks(index, LOWEST, HIGHEST, T##_show, &until) == LATCHLESS_OK);   \
        CHECK(shown == N);                                                                        \
        shown = 0;                                                                                \
        until = 1000;                                                                             \
        CHECK(latchless_##T##_scan_chunks(index, LOWEST, HIGHEST, T##_show, &until)                     \
              == LATCHLESS_STOPPED);                                                              \
        CHECK(shown >= 1000 && shown < 1100);                                                     \
        CHECK(latchless_##T##_cursor_new(index, key_##T(7), HIGHEST, 0, &cursor)                  \
              == LATCHLESS_OK);                                                                   \
        for (seen = 7; latchless_##T##_cursor_next(cursor, keys, values, 123, &total)              \
                           == LATCHLESS_OK; ) {                                                   \
            for (i = 0; i < total; i++, seen++) {                                                  \
                CHECK(keys[i] == key_##T(seen) && values[i] == seen);                             \
            }                                                                                     \
        }                                                                                         \
        CHECK(seen == N && total == 0);                                                            \
        CHECK(latchless_##T##_cursor_free(cursor) == LATCHLESS_OK);                               \
        CHECK(latchless_##T##_cursor_new(index, LOWEST, HIGHEST, 1, &cursor) == LATCHLESS_OK);    \
        CHECK(latchless_##T##_cursor_next(cursor, NULL, values, 2000, &total) == LATCHLESS_OK);    \
        for (i = 0; i < total; i++) CHECK(values[i] == N - 1 - i);                                 \
        CHECK(total == 2000);                                                                      \
        CHECK(latchless_##T##_remove_range(index, key_##T(10), key_##T(N - 11), &total)            \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N - 20);                                                                    \
        CHECK(latchless_##T##_free(index) == LATCHLESS_OK);                                       \
        /* The cursor outlives the index. */                                                      \
        CHECK(latchless_##T##_cursor_next(cursor, keys, values, N, &total) == LATCHLESS_OK);       \
        CHECK(total >= 10 && values[total - 1] == 0);                                               \
        CHECK(latchless_##T##_cursor_free(cursor) == LATCHLESS_OK);                               \
    }                                                                                             \
                                                                                                  \
    static void T##_files(const char *path) {                                                     \
        latchless_##T *index, *again;                                                             \
        latchless_value value;                                                                    \
        size_t i, total;                                                                           \
        CHECK(latchless_##T##_new(NULL, &index) == LATCHLESS_OK);                                 \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(latchless_##T##_insert(index, key_##T(i), ~(uint64_t)i, NULL)                   \
                  == LATCHLESS_OK);                                                               \
        }                                                                                         \
        CHECK(latchless_##T##_save(index, path, &total) == LATCHLESS_OK && total == N);             \
        CHECK(latchless_##T##_free(index) == LATCHLESS_OK);                                       \
        CHECK(latchless_##T##_open(path, NULL, &again) == LATCHLESS_OK);                          \
        CHECK(latchless_##T##_check_invariants(again) == LATCHLESS_OK);                                      \
        CHECK(latchless_##T##_len(again, &total) == LATCHLESS_OK && total == N);                    \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(latchless_##T##_get(again, key_##T(i), &value) == LATCHLESS_OK);                \
            CHECK(value == ~(uint64_t)i);                                                         \
        }                                                                                         \
        CHECK(latchless_##T##_free(again) == LATCHLESS_OK);                                       \
    }                                                                                             \
                                                                                                  \
    static void T##_all(const char *path) {                                                       \
        T##_one_key();                                                                            \
        T##_order();                                                                              \
        T##_columns();                                                                            \
        T##_ranges();                                                                             \
        T##_files(path);                                                                          \
    }

TESTS(u64, uint64_t, 0, UINT64_MAX)
TESTS(i64, int64_t, INT64_MIN, INT64_MAX)
TESTS(f64, double, -HUGE_VAL, HUGE_VAL)

/* The smallest and largest values of a type are keys. */
static void extremes(void) {
    static const int64_t signed_keys[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    static const double float_keys[] = {-HUGE_VAL, -1e300, -5e-324, 0.0, 5e-324, 1e300, HUGE_VAL};
    static const latchless_value values[] = {0, 1, 2, 3, 4, 5, 6};
    latchless_i64 *signed_index;
    latchless_f64 *float_index;
    int64_t signed_key;
    double float_key = 1;
    size_t i;
    CHECK(latchless_i64_bulk_load(signed_keys, values, COUNT(signed_keys), NULL, &signed_index) == LATCHLESS_OK);
    CHECK(latchless_f64_bulk_load(float_keys, values, COUNT(float_keys), NULL, &float_index) == LATCHLESS_OK);
    for (i = 0; i < COUNT(signed_keys); i++) {
        CHECK(latchless_i64_nth(signed_index, i, &signed_key, NULL) == LATCHLESS_OK);
        CHECK(signed_key == signed_keys[i]);
    }
    for (i = 0; i < COUNT(float_keys); i++) {
        CHECK(latchless_f64_nth(float_index, i, &float_key, NULL) == LATCHLESS_OK);
        CHECK(float_key == float_keys[i]);
    }
    /* -0.0 and 0.0 are one key. */
    CHECK(latchless_f64_insert(float_index, -0.0, 9, NULL) == LATCHLESS_PRESENT);
    CHECK(latchless_f64_floor(float_index, -0.0, &float_key, NULL) == LATCHLESS_OK);
    CHECK(float_key == 0.0 && !signbit(float_key));
    CHECK(latchless_i64_free(signed_index) == LATCHLESS_OK);
    CHECK(latchless_f64_free(float_index) == LATCHLESS_OK);
}

static void pointers_as_values(void) {
    static const char *const names[] = {"one", "two"};
    latchless_u64 *index;
    latchless_value value;
    CHECK(latchless_u64_new(NULL, &index) == LATCHLESS_OK);
    CHECK(latchless_u64_insert(index, 2, (latchless_value)(uintptr_t)names[1], NULL) == LATCHLESS_OK);
    CHECK(latchless_u64_get(index, 2, &value) == LATCHLESS_OK);
    CHECK((const char *)(uintptr_t)value == names[1]);
    CHECK(latchless_u64_free(index) == LATCHLESS_OK);
}

static void options_and_stats(void) {
    latchless_options options;
    latchless_stats stats;
    latchless_u64 *index;
    static uint64_t keys[100000];
    static uint8_t refused[100000];
    size_t i, there, total = 12345, marked = 0;
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    CHECK(options.limit_bytes == SIZE_MAX && options.fill == 0.8 && options.threads == 1);
    options.limit_bytes = 64 * 1024;
    options.huge_pages = 0;
    options.kernel = LATCHLESS_KERNEL_SCALAR;
    options.group = 16;
    CHECK(latchless_u64_new(&options, &index) == LATCHLESS_OK);
    for (i = 0; i < COUNT(keys); i++) keys[i] = i * 0x9E3779B97F4A7C15u;
    REFUSED(latchless_u64_insert_columns(index, keys, keys, COUNT(keys), &total, refused),
            LATCHLESS_MEMORY_LIMIT, "latchless_u64_insert_columns", "inserts were refused, the first at position ");
    CHECK(total == 12345);
    CHECK(latchless_u64_len(index, &there) == LATCHLESS_OK);
    for (i = 0; i < COUNT(keys); i++) {
        marked += refused[i];
        CHECK(latchless_u64_contains_key(index, keys[i]) == (refused[i] ? LATCHLESS_NOT_FOUND : LATCHLESS_OK));
    }
    CHECK(there == COUNT(keys) - marked && there > 1000);
    stats.struct_size = sizeof stats;
    CHECK(latchless_u64_stats(index, &stats) == LATCHLESS_OK);
    CHECK(stats.entries == there && stats.levels >= 2 && stats.leaves > 10);
    CHECK(stats.memory_bytes <= 64 * 1024 && stats.live_bytes <= stats.memory_bytes);
    CHECK(latchless_u64_free(index) == LATCHLESS_OK);

    /* A load on several threads fills leaves as the options say. */
    for (i = 0; i < COUNT(keys); i++) keys[i] = i;
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.fill = 0.5;
    options.threads = 3;
    options.prefault = 1;
    CHECK(latchless_u64_bulk_load(keys, keys, COUNT(keys), &options, &index) == LATCHLESS_OK);
    stats.struct_size = sizeof stats;
    CHECK(latchless_u64_stats(index, &stats) == LATCHLESS_OK);
    CHECK(stats.leaf_fill > 0.45 && stats.leaf_fill < 0.55);
    CHECK(latchless_u64_free(index) == LATCHLESS_OK);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    CHECK(latchless_abi() == LATCHLESS_ABI);
    CHECK(strcmp(latchless_last_error(), "") == 0);
    CHECK(strchr(latchless_version(), '.') != NULL);
    CHECK(strcmp(latchless_status_text(LATCHLESS_OK), "done") == 0);
    CHECK(strcmp(latchless_status_text(12345), "no status of latchless") == 0);
    u64_all(arguments[1]);
    i64_all(arguments[1]);
    f64_all(arguments[1]);
    extremes();
    pointers_as_values();
    options_and_stats();
    puts("index.c: all is well");
    return 0;
}
