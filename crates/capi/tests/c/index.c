/* Every function for keys that are words, of each kind, compared with a sorted array. */
#include "check.h"

/* The i-th key of each type, ascending; half of the signed ones are negative. */
static uint64_t key_u64(size_t i) { return 3 * (uint64_t)i + 1; }
static uint64_t key_i64(size_t i) { return latchless_key_from_i64(3 * ((int64_t)i - 2000)); }
static uint64_t key_f64(size_t i) { return latchless_key_from_f64(((double)i - 2000.0) * 0.75); }
static uint64_t key_time(size_t i) { return latchless_key_from_time((int64_t)i / 2 - 1000, i % 2 ? 300000000 : 0); }

enum { N = 4000 };

static size_t shown;

static const latchless_options *of_kind(latchless_key_kind kind) {
    static latchless_options options;
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.key_kind = (uint8_t)kind;
    return &options;
}

#define TESTS(T, KIND, LOWEST, HIGHEST)                                                           \
    static void T##_one_key(void) {                                                               \
        latchless_index *index;                                                                     \
        latchless_value value = 7;                                                                \
        size_t len = 9;                                                                           \
        CHECK(latchless_index_new(of_kind(KIND), &index) == LATCHLESS_OK);                                 \
        CHECK(latchless_index_get(index, key_##T(1), &value) == LATCHLESS_NOT_FOUND);             \
        CHECK(value == 7);                                                                        \
        CHECK(latchless_index_insert(index, key_##T(1), 10, &value) == LATCHLESS_OK);             \
        CHECK(value == 7);                                                                        \
        CHECK(latchless_index_insert(index, key_##T(1), 11, &value) == LATCHLESS_PRESENT);        \
        CHECK(value == 10);                                                                       \
        CHECK(latchless_index_try_insert(index, key_##T(1), 12, &value)                     \
              == LATCHLESS_PRESENT);                                                              \
        CHECK(value == 11);                                                                       \
        CHECK(latchless_index_try_insert(index, key_##T(2), 20, NULL) == LATCHLESS_OK);     \
        CHECK(latchless_index_replace(index, key_##T(2), 21, &value) == LATCHLESS_OK);             \
        CHECK(value == 20);                                                                       \
        CHECK(latchless_index_replace(index, key_##T(3), 30, &value) == LATCHLESS_NOT_FOUND);      \
        CHECK(latchless_index_contains_key(index, key_##T(3)) == LATCHLESS_NOT_FOUND);                \
        CHECK(latchless_index_contains_key(index, key_##T(2)) == LATCHLESS_OK);                       \
        CHECK(latchless_index_compare_exchange(index, key_##T(2), 20, 22, &value)                 \
              == LATCHLESS_MISMATCH);                                                             \
        CHECK(value == 21);                                                                       \
        CHECK(latchless_index_compare_exchange(index, key_##T(2), 21, 22, &value)                 \
              == LATCHLESS_OK);                                                                   \
        CHECK(latchless_index_compare_exchange(index, key_##T(3), 21, 22, &value)                 \
              == LATCHLESS_NOT_FOUND);                                                            \
        CHECK(latchless_index_compare_remove(index, key_##T(2), 21, &value)                       \
              == LATCHLESS_MISMATCH);                                                             \
        CHECK(value == 22);                                                                       \
        CHECK(latchless_index_compare_remove(index, key_##T(2), 22, NULL) == LATCHLESS_OK);       \
        CHECK(latchless_index_remove(index, key_##T(2), &value) == LATCHLESS_NOT_FOUND);          \
        CHECK(latchless_index_remove(index, key_##T(1), &value) == LATCHLESS_OK);                 \
        CHECK(value == 11);                                                                       \
        CHECK(latchless_index_len(index, &len) == LATCHLESS_OK && len == 0);                      \
        CHECK(latchless_index_free(index) == LATCHLESS_OK);                                       \
    }                                                                                             \
                                                                                                  \
    static void T##_order(void) {                                                                 \
        static uint64_t keys[N];                                                                         \
        static latchless_value values[N];                                                         \
        latchless_index *index;                                                                     \
        uint64_t key;                                                                                    \
        latchless_value value;                                                                    \
        size_t i, at;                                                                             \
        for (i = 0; i < N; i++) {                                                                 \
            keys[i] = key_##T(2 * i);                                                             \
            values[i] = i;                                                                        \
        }                                                                                         \
        CHECK(latchless_index_bulk_load(keys, values, N, of_kind(KIND), &index) == LATCHLESS_OK);               \
        CHECK(latchless_index_check_invariants(index) == LATCHLESS_OK);                                      \
        CHECK(latchless_index_first(index, &key, &value) == LATCHLESS_OK);                        \
        CHECK(key == keys[0] && value == 0);                                                      \
        CHECK(latchless_index_last(index, &key, &value) == LATCHLESS_OK);                         \
        CHECK(key == keys[N - 1] && value == N - 1);                                              \
        for (i = 1; i + 1 < N; i++) {                                                             \
            CHECK(latchless_index_near(index, LATCHLESS_FLOOR, keys[i], &key, &value) == LATCHLESS_OK);           \
            CHECK(key == keys[i] && value == i);                                                  \
            CHECK(latchless_index_near(index, LATCHLESS_CEILING, keys[i], &key, &value) == LATCHLESS_OK);         \
            CHECK(key == keys[i] && value == i);                                                  \
            CHECK(latchless_index_near(index, LATCHLESS_LOWER, keys[i], &key, &value) == LATCHLESS_OK);           \
            CHECK(key == keys[i - 1] && value == i - 1);                                          \
            CHECK(latchless_index_near(index, LATCHLESS_HIGHER, keys[i], &key, &value) == LATCHLESS_OK);          \
            CHECK(key == keys[i + 1] && value == i + 1);                                          \
            CHECK(latchless_index_near(index, LATCHLESS_FLOOR, key_##T(2 * i + 1), &key, NULL) == LATCHLESS_OK);  \
            CHECK(key == keys[i]);                                                                \
            CHECK(latchless_index_near(index, LATCHLESS_CEILING, key_##T(2 * i + 1), NULL, &value)                \
                  == LATCHLESS_OK);                                                               \
            CHECK(value == i + 1);                                                                \
            CHECK(latchless_index_near(index, LATCHLESS_NEAREST, keys[i], &key, &value) == LATCHLESS_OK);         \
            CHECK(key == keys[i] && value == i);                                                  \
            CHECK(latchless_index_near(index, LATCHLESS_NEAREST, key_##T(2 * i + 1), &key, NULL) == LATCHLESS_OK); \
            CHECK(key == keys[i]);                                                                \
            CHECK(latchless_index_rank(index, keys[i], &at) == LATCHLESS_OK && at == i);          \
            CHECK(latchless_index_nth(index, i, &key, &value) == LATCHLESS_OK);                   \
            CHECK(key == keys[i] && value == i);                                                  \
        }                                                                                         \
        CHECK(latchless_index_near(index, LATCHLESS_LOWER, keys[0], &key, &value) == LATCHLESS_NOT_FOUND);        \
        CHECK(latchless_index_near(index, LATCHLESS_LOWER, LOWEST, &key, &value) == LATCHLESS_NOT_FOUND);         \
        CHECK(latchless_index_near(index, LATCHLESS_HIGHER, HIGHEST, &key, &value) == LATCHLESS_NOT_FOUND);       \
        CHECK(latchless_index_near(index, LATCHLESS_NEAREST, HIGHEST, &key, &value) == LATCHLESS_OK);             \
        CHECK(key == keys[N - 1] && value == N - 1);                                              \
        CHECK(latchless_index_near(index, LATCHLESS_NEAREST, LOWEST, &key, NULL) == LATCHLESS_OK);                \
        CHECK(key == keys[0]);                                                                    \
        CHECK(latchless_index_nth(index, N, &key, &value) == LATCHLESS_NOT_FOUND);                \
        CHECK(latchless_index_rank(index, HIGHEST, &at) == LATCHLESS_OK && at == N);              \
        {                                                                                         \
            uint64_t starts[3];                                                                   \
            CHECK(latchless_index_split_points(index, 4, starts, &at) == LATCHLESS_OK && at == 3); \
            for (i = 0; i < 3; i++) CHECK(starts[i] == keys[(i + 1) * N / 4]);                    \
        }                                                                                         \
        CHECK(latchless_index_pop_first(index, &key, &value) == LATCHLESS_OK);                    \
        CHECK(key == keys[0] && value == 0);                                                      \
        CHECK(latchless_index_pop_last(index, NULL, NULL) == LATCHLESS_OK);                       \
        CHECK(latchless_index_count(index, LOWEST, HIGHEST, &at) == LATCHLESS_OK);                \
        CHECK(at == N - 2);                                                                       \
        CHECK(latchless_index_clear(index) == LATCHLESS_OK);                                      \
        CHECK(latchless_index_pop_first(index, NULL, NULL) == LATCHLESS_NOT_FOUND);               \
        CHECK(latchless_index_free(index) == LATCHLESS_OK);                                       \
    }                                                                                             \
                                                                                                  \
    static void T##_columns(void) {                                                               \
        static uint64_t keys[N], near_keys[N];                                                           \
        static latchless_value values[N];                                                         \
        static uint8_t found[N], refused[N];                                                      \
        static size_t ranks[N];                                                                   \
        latchless_index *index;                                                                     \
        size_t i, total = 0;                                                                       \
        for (i = 0; i < N; i++) {                                                                 \
            /* A permutation: 1009 and 4000 are coprime. */                                       \
            keys[i] = key_##T(2 * (1009 * i % N));                                                \
            values[i] = 1009 * i % N;                                                             \
        }                                                                                         \
        CHECK(latchless_index_new(of_kind(KIND), &index) == LATCHLESS_OK);                                 \
        memset(refused, 9, sizeof refused);                                                       \
        CHECK(latchless_index_insert_columns(index, keys, values, N, &total, refused)              \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N && memchr(refused, 9, N) == NULL && memchr(refused, 1, N) == NULL);       \
        CHECK(latchless_index_insert_columns(index, keys, values, N, &total, NULL)                 \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == 0);                                                                         \
        for (i = 0; i < N; i++) {                                                                 \
            keys[i] = key_##T(i);                                                                 \
            values[i] = 77777;                                                                    \
        }                                                                                         \
        CHECK(latchless_index_get_columns(index, keys, N, values, found, &total)                   \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N / 2);                                                                     \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(found[i] == (i % 2 == 0) && values[i] == (i % 2 == 0 ? i / 2 : 77777));         \
        }                                                                                         \
        CHECK(latchless_index_get_columns(index, keys, N, NULL, NULL, &total) == LATCHLESS_OK);    \
        CHECK(total == N / 2);                                                                     \
        CHECK(latchless_index_near_columns(index, LATCHLESS_FLOOR, keys, N, near_keys, values, found, &total)      \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N);                                                                         \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(found[i] == 1 && values[i] == i / 2 && near_keys[i] == keys[i / 2 * 2]);        \
        }                                                                                         \
        CHECK(latchless_index_near_columns(index, LATCHLESS_CEILING, keys, N, near_keys, values, NULL, &total)     \
              == LATCHLESS_OK);                                                                   \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(values[i] == (i + 1) / 2 && near_keys[i] == key_##T((i + 1) / 2 * 2));          \
        }                                                                                         \
        CHECK(latchless_index_near_columns(index, LATCHLESS_LOWER, keys, N, NULL, values, found, &total)           \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N - 1 && found[0] == 0);                                                    \
        for (i = 1; i < N; i++) CHECK(found[i] == 1 && values[i] == (i - 1) / 2);                 \
        CHECK(latchless_index_near_columns(index, LATCHLESS_HIGHER, keys, N, near_keys, NULL, NULL, &total)        \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N);                                                                         \
        for (i = 0; i < N; i++) CHECK(near_keys[i] == key_##T(i / 2 * 2 + 2));                    \
        CHECK(latchless_index_near_columns(index, LATCHLESS_NEAREST, keys, N, near_keys, NULL, NULL, &total)       \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N);                                                                         \
        for (i = 0; i < N; i++) {                                                                 \
            uint64_t key;                                                                                \
            CHECK(latchless_index_near(index, LATCHLESS_NEAREST, keys[i], &key, NULL) == LATCHLESS_OK);           \
            CHECK(near_keys[i] == key);                                                           \
        }                                                                                         \
        CHECK(latchless_index_rank_columns(index, keys, N, ranks) == LATCHLESS_OK);               \
        for (i = 0; i < N; i++) CHECK(ranks[i] == (i + 1) / 2);                                   \
        CHECK(latchless_index_count_columns(index, keys, keys, N, ranks) == LATCHLESS_OK);        \
        for (i = 0; i < N; i++) CHECK(ranks[i] == (i % 2 == 0));                                  \
        CHECK(latchless_index_remove_columns(index, keys, N, values, found, &total)                \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N / 2 && found[0] == 1 && found[1] == 0 && values[2] == 1);                 \
        CHECK(latchless_index_len(index, &total) == LATCHLESS_OK && total == N / 2);                \
        CHECK(latchless_index_free(index) == LATCHLESS_OK);                                       \
    }                                                                                             \
                                                                                                  \
    static int T##_show(const uint64_t *keys, const latchless_value *values, size_t count,               \
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
        static uint64_t keys[N];                                                                         \
        static latchless_value values[N];                                                         \
        latchless_index *index;                                                                     \
        latchless_index_cursor *cursor;                                                           \
        size_t i, total, seen, until;                                                              \
        CHECK(latchless_index_new(of_kind(KIND), &index) == LATCHLESS_OK);                                 \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(latchless_index_insert(index, key_##T(i), i, NULL) == LATCHLESS_OK);            \
        }                                                                                         \
        CHECK(latchless_index_count(index, key_##T(10), key_##T(19), &total) == LATCHLESS_OK);     \
        CHECK(total == 10);                                                                        \
        CHECK(latchless_index_page(index, key_##T(5), HIGHEST, 0, keys, values, 3000, &total)      \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == 3000);                                                                      \
        for (i = 0; i < total; i++) CHECK(keys[i] == key_##T(i + 5) && values[i] == i + 5);        \
        CHECK(latchless_index_page(index, LOWEST, key_##T(1999), 1, keys, values, N, &total)       \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == 2000);                                                                      \
        for (i = 0; i < total; i++) CHECK(keys[i] == key_##T(1999 - i) && values[i] == 1999 - i);  \
        CHECK(latchless_index_page(index, HIGHEST, HIGHEST, 0, keys, NULL, 5, &total)              \
              == LATCHLESS_NOT_FOUND);                                                            \
        CHECK(total == 0);                                                                         \
        shown = 0;                                                                                \
        until = N + 1;                                                                            \
        CHECK(latchless_index_scan_chunks(index, LOWEST, HIGHEST, T##_show, &until) == LATCHLESS_OK);   \
        CHECK(shown == N);                                                                        \
        shown = 0;                                                                                \
        until = 1000;                                                                             \
        CHECK(latchless_index_scan_chunks(index, LOWEST, HIGHEST, T##_show, &until)                     \
              == LATCHLESS_STOPPED);                                                              \
        CHECK(shown >= 1000 && shown < 1100);                                                     \
        CHECK(latchless_index_cursor_new(index, key_##T(7), HIGHEST, 0, &cursor)                  \
              == LATCHLESS_OK);                                                                   \
        for (seen = 7; latchless_index_cursor_next(cursor, keys, values, 123, &total)              \
                           == LATCHLESS_OK; ) {                                                   \
            for (i = 0; i < total; i++, seen++) {                                                  \
                CHECK(keys[i] == key_##T(seen) && values[i] == seen);                             \
            }                                                                                     \
        }                                                                                         \
        CHECK(seen == N && total == 0);                                                            \
        CHECK(latchless_index_cursor_free(cursor) == LATCHLESS_OK);                               \
        CHECK(latchless_index_cursor_new(index, LOWEST, HIGHEST, 1, &cursor) == LATCHLESS_OK);    \
        CHECK(latchless_index_cursor_next(cursor, NULL, values, 2000, &total) == LATCHLESS_OK);    \
        for (i = 0; i < total; i++) CHECK(values[i] == N - 1 - i);                                 \
        CHECK(total == 2000);                                                                      \
        CHECK(latchless_index_remove_range(index, key_##T(10), key_##T(N - 11), &total)            \
              == LATCHLESS_OK);                                                                   \
        CHECK(total == N - 20);                                                                    \
        CHECK(latchless_index_free(index) == LATCHLESS_OK);                                       \
        /* The cursor outlives the index. */                                                      \
        CHECK(latchless_index_cursor_next(cursor, keys, values, N, &total) == LATCHLESS_OK);       \
        CHECK(total >= 10 && values[total - 1] == 0);                                               \
        CHECK(latchless_index_cursor_free(cursor) == LATCHLESS_OK);                               \
    }                                                                                             \
                                                                                                  \
    static void T##_files(const char *path) {                                                     \
        latchless_index *index, *again;                                                             \
        latchless_value value;                                                                    \
        size_t i, total;                                                                           \
        CHECK(latchless_index_new(of_kind(KIND), &index) == LATCHLESS_OK);                                 \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(latchless_index_insert(index, key_##T(i), ~(uint64_t)i, NULL)                   \
                  == LATCHLESS_OK);                                                               \
        }                                                                                         \
        CHECK(latchless_index_save(index, path, &total) == LATCHLESS_OK && total == N);             \
        CHECK(latchless_index_free(index) == LATCHLESS_OK);                                       \
        CHECK(latchless_index_open(path, of_kind(KIND), &again) == LATCHLESS_OK);                          \
        CHECK(latchless_index_check_invariants(again) == LATCHLESS_OK);                                      \
        CHECK(latchless_index_len(again, &total) == LATCHLESS_OK && total == N);                    \
        for (i = 0; i < N; i++) {                                                                 \
            CHECK(latchless_index_get(again, key_##T(i), &value) == LATCHLESS_OK);                \
            CHECK(value == ~(uint64_t)i);                                                         \
        }                                                                                         \
        CHECK(latchless_index_free(again) == LATCHLESS_OK);                                       \
    }                                                                                             \
                                                                                                  \
    static void T##_all(const char *path) {                                                       \
        T##_one_key();                                                                            \
        T##_order();                                                                              \
        T##_columns();                                                                            \
        T##_ranges();                                                                             \
        T##_files(path);                                                                          \
    }

TESTS(u64, LATCHLESS_KEY_U64, 0, UINT64_MAX)
TESTS(i64, LATCHLESS_KEY_I64, latchless_key_from_i64(INT64_MIN), latchless_key_from_i64(INT64_MAX))
TESTS(f64, LATCHLESS_KEY_F64, latchless_key_from_f64(-HUGE_VAL), latchless_key_from_f64(HUGE_VAL))
TESTS(time, LATCHLESS_KEY_TIME_NS, 0, UINT64_MAX)

/* The smallest and largest values of a type are keys, and come back as they were. */
static void extremes(void) {
    static const int64_t numbers[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    static const double doubles[] = {-HUGE_VAL, -1e300, -5e-324, 0.0, 5e-324, 1e300, HUGE_VAL};
    static const int64_t times[][2] = {{-9223372036, 145224192}, {-1, 999999999}, {0, 0}, {0, 1}, {9223372035, 0}};
    int64_t seconds, nanoseconds;
    double zero;
    size_t i;
    for (i = 0; i < COUNT(numbers); i++) {
        CHECK(latchless_key_to_i64(latchless_key_from_i64(numbers[i])) == numbers[i]);
        if (i > 0) CHECK(latchless_key_from_i64(numbers[i - 1]) < latchless_key_from_i64(numbers[i]));
    }
    for (i = 0; i < COUNT(doubles); i++) {
        CHECK(latchless_key_to_f64(latchless_key_from_f64(doubles[i])) == doubles[i]);
        if (i > 0) CHECK(latchless_key_from_f64(doubles[i - 1]) < latchless_key_from_f64(doubles[i]));
    }
    CHECK(latchless_key_from_f64(-NAN) < latchless_key_from_f64(-HUGE_VAL));
    CHECK(latchless_key_from_f64(NAN) > latchless_key_from_f64(HUGE_VAL));
    /* -0.0 and 0.0 are one key. */
    zero = latchless_key_to_f64(latchless_key_from_f64(-0.0));
    CHECK(zero == 0.0 && !signbit(zero));
    for (i = 0; i < COUNT(times); i++) {
        latchless_key_to_time(latchless_key_from_time(times[i][0], times[i][1]), &seconds, &nanoseconds);
        CHECK(seconds == times[i][0] && nanoseconds == times[i][1]);
        if (i > 0) {
            CHECK(latchless_key_from_time(times[i - 1][0], times[i - 1][1])
                  < latchless_key_from_time(times[i][0], times[i][1]));
        }
    }
    CHECK(latchless_key_from_time(INT64_MIN, 0) == 0 && latchless_key_from_time(INT64_MAX, 0) == UINT64_MAX);
}

/* The memory of removed entries goes back to the system, unless a cursor keeps the index. */
static void shrinks(void) {
    enum { MANY = 100000 };
    latchless_index *index;
    latchless_index_cursor *cursor;
    uint64_t key;
    latchless_value value;
    size_t full, held, removed;
    CHECK(latchless_index_new(NULL, &index) == LATCHLESS_OK);
    for (key = 0; key < MANY; key++) CHECK(latchless_index_insert(index, key, ~key, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_memory_bytes(index, &full, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_remove_range(index, 1000, UINT64_MAX, &removed) == LATCHLESS_OK);
    CHECK(removed == MANY - 1000);
    CHECK(latchless_index_cursor_new(index, 0, 10, 0, &cursor) == LATCHLESS_OK);
    REFUSED(latchless_index_shrink(index, 1.0), LATCHLESS_BUSY, "latchless_index_shrink",
            "a cursor keeps the index of the handle of latchless_index");
    CHECK(latchless_index_memory_bytes(index, &held, NULL) == LATCHLESS_OK && held >= full);
    CHECK(latchless_index_cursor_free(cursor) == LATCHLESS_OK);
    REFUSED(latchless_index_shrink(index, 1.5), LATCHLESS_INVALID, "latchless_index_shrink", "1.5");
    REFUSED(latchless_index_shrink(NULL, 1.0), LATCHLESS_BAD_HANDLE, "latchless_index_shrink", "NULL");
    CHECK(latchless_index_shrink(index, 1.0) == LATCHLESS_OK);
    CHECK(latchless_index_memory_bytes(index, &held, NULL) == LATCHLESS_OK && held < full / 20);
    CHECK(latchless_index_check_invariants(index) == LATCHLESS_OK);
    for (key = 0; key < 1000; key++) {
        CHECK(latchless_index_get(index, key, &value) == LATCHLESS_OK && value == ~key);
    }
    CHECK(latchless_index_insert(index, MANY, 1, NULL) == LATCHLESS_OK);
    CHECK(latchless_index_last(index, &key, NULL) == LATCHLESS_OK && key == MANY);
    CHECK(latchless_index_cursor_new(index, 0, 10, 0, &cursor) == LATCHLESS_OK);
    CHECK(latchless_index_cursor_free(cursor) == LATCHLESS_OK && latchless_index_free(index) == LATCHLESS_OK);
    REFUSED(latchless_index_shrink(index, 1.0), LATCHLESS_BAD_HANDLE, "latchless_index_shrink", "was freed before");
}

static void pointers_as_values(void) {
    static const char *const names[] = {"one", "two"};
    latchless_index *index;
    latchless_value value;
    CHECK(latchless_index_new(NULL, &index) == LATCHLESS_OK);
    CHECK(latchless_index_insert(index, 2, (latchless_value)(uintptr_t)names[1], NULL) == LATCHLESS_OK);
    CHECK(latchless_index_get(index, 2, &value) == LATCHLESS_OK);
    CHECK((const char *)(uintptr_t)value == names[1]);
    CHECK(latchless_index_free(index) == LATCHLESS_OK);
}

static void options_and_stats(void) {
    latchless_options options;
    latchless_stats stats;
    latchless_index *index;
    static uint64_t keys[100000];
    static uint8_t refused[100000];
    size_t i, there, total = 12345, marked = 0;
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    CHECK(options.limit_bytes == SIZE_MAX && options.fill == 0.8 && options.threads == 1);
    options.limit_bytes = 64 * 1024;
    options.huge_pages = 0;
    options.kernel = LATCHLESS_KERNEL_SCALAR;
    options.group = 16;
    CHECK(latchless_index_new(&options, &index) == LATCHLESS_OK);
    for (i = 0; i < COUNT(keys); i++) keys[i] = i * 0x9E3779B97F4A7C15u;
    REFUSED(latchless_index_insert_columns(index, keys, keys, COUNT(keys), &total, refused),
            LATCHLESS_MEMORY_LIMIT, "latchless_index_insert_columns", "inserts were refused, the first at position ");
    CHECK(total == 12345);
    CHECK(latchless_index_len(index, &there) == LATCHLESS_OK);
    for (i = 0; i < COUNT(keys); i++) {
        marked += refused[i];
        CHECK(latchless_index_contains_key(index, keys[i]) == (refused[i] ? LATCHLESS_NOT_FOUND : LATCHLESS_OK));
    }
    CHECK(there == COUNT(keys) - marked && there > 1000);
    stats.struct_size = sizeof stats;
    CHECK(latchless_index_stats(index, &stats) == LATCHLESS_OK);
    CHECK(stats.entries == there && stats.levels >= 2 && stats.leaves > 10);
    CHECK(stats.memory_bytes <= 64 * 1024 && stats.live_bytes <= stats.memory_bytes);
    CHECK(latchless_index_free(index) == LATCHLESS_OK);

    /* A load on several threads fills leaves as the options say. */
    for (i = 0; i < COUNT(keys); i++) keys[i] = i;
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.fill = 0.5;
    options.threads = 3;
    options.prefault = 1;
    CHECK(latchless_index_bulk_load(keys, keys, COUNT(keys), &options, &index) == LATCHLESS_OK);
    stats.struct_size = sizeof stats;
    CHECK(latchless_index_stats(index, &stats) == LATCHLESS_OK);
    CHECK(stats.leaf_fill > 0.45 && stats.leaf_fill < 0.55);
    CHECK(latchless_index_free(index) == LATCHLESS_OK);
}

static size_t calls;

static void rises(size_t taken, void *context) {
    CHECK(context == &calls && taken > 0);
    calls++;
}

/* Two indexes of different types share a limit, with a call before it. */
static void budgets(void) {
    latchless_status status = LATCHLESS_OK;
    latchless_budget *budget;
    latchless_options options;
    latchless_index *words;
    latchless_bytes *strings;
    latchless_value value = 7;
    size_t taken, held, other, live;
    uint64_t key;
    CHECK(latchless_budget_new(1 << 20, 1 << 19, rises, &calls, &budget) == LATCHLESS_OK);
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK && options.budget == NULL);
    options.huge_pages = 0;
    options.budget = budget;
    CHECK(latchless_index_new(&options, &words) == LATCHLESS_OK && latchless_bytes_new(&options, &strings) == LATCHLESS_OK);
    for (key = 0; status >= 0; key++) {
        status = key % 2 ? latchless_index_insert(words, key, value, NULL)
                         : latchless_bytes_insert(strings, &key, sizeof key, &value, sizeof value, NULL, 0, NULL);
    }
    CHECK(status == LATCHLESS_MEMORY_LIMIT && key > 10000 && calls > 0);
    CHECK(latchless_index_memory_bytes(words, &held, &live) == LATCHLESS_OK && held > 1 << 16);
    CHECK(latchless_bytes_memory_bytes(strings, &other, NULL) == LATCHLESS_OK && other > 1 << 16);
    CHECK(latchless_budget_taken_bytes(budget, &taken) == LATCHLESS_OK && taken == held + other && taken <= 1 << 20);
    CHECK(latchless_index_free(words) == LATCHLESS_OK);
    CHECK(latchless_budget_taken_bytes(budget, &taken) == LATCHLESS_OK && taken == other);
    CHECK(latchless_budget_free(budget) == LATCHLESS_OK && latchless_bytes_free(strings) == LATCHLESS_OK);
    REFUSED(latchless_index_new(&options, &words), LATCHLESS_BAD_HANDLE, "latchless_index_new", "latchless_budget was freed");
    /* A program whose options end before the budget has none. */
    options.struct_size = offsetof(latchless_options, budget);
    CHECK(latchless_index_new(&options, &words) == LATCHLESS_OK && latchless_index_free(words) == LATCHLESS_OK);
    REFUSED(latchless_options_init(&options, offsetof(latchless_options, budget) - 1), LATCHLESS_INVALID,
            "latchless_options_init", "struct_size is");
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
    time_all(arguments[1]);
    extremes();
    shrinks();
    pointers_as_values();
    options_and_stats();
    budgets();
    puts("index.c: all is well");
    return 0;
}
