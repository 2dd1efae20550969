/* What the tests of byte strings pass. Each function has a few places, and returns the next one of them. */
#ifndef STRINGS_H
#define STRINGS_H

#include "check.h"

enum { PLACES = 4 };

static inline const latchless_column *column_of(const void *data, const void *ends, latchless_layout layout) {
    static __thread latchless_column columns[PLACES];
    static __thread size_t at;
    latchless_column *made = &columns[at++ % PLACES];
    made->data = data;
    made->ends = ends;
    made->layout = (uint32_t)layout;
    return made;
}

static inline const latchless_column *apart_by(const void *const *strings, const size_t *lens) {
    return column_of(strings, lens, LATCHLESS_APART);
}

static inline const latchless_column *packed_by(size_t width, const void *bytes, const void *offsets) {
    return column_of(bytes, offsets, width == 4 ? LATCHLESS_PACKED_32 : LATCHLESS_PACKED_64);
}

static inline const latchless_column *words(const latchless_value *values) {
    return column_of(values, NULL, LATCHLESS_WORDS);
}

/* A value that is a word, as a pointer and a length. */
#define WORD(value) word_at(value), sizeof(latchless_value)

static inline const void *word_at(latchless_value value) {
    static __thread latchless_value places[PLACES];
    static __thread size_t at;
    latchless_value *made = &places[at++ % PLACES];
    *made = value;
    return made;
}

static inline latchless_value as_word(const void *bytes, size_t len) {
    latchless_value value;
    CHECK(len == sizeof value);
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Moves a cursor of words. */
static inline latchless_status move_word(latchless_bytes_cursor *cursor, uint32_t way, const void *key, size_t key_len,
                                         const void **near_key, size_t *near_len, latchless_value *value) {
    const void *bytes = NULL;
    size_t len = 0;
    const latchless_status status =
        latchless_bytes_cursor_move(cursor, way, key, key_len, near_key, near_len, &bytes, &len);
    if (status != LATCHLESS_OK) return status;
    if (value != NULL) *value = as_word(bytes, len);
    return status;
}

/* Options of an index whose values are byte strings. */
static inline const latchless_options *byte_values(void) {
    static __thread latchless_options options;
    CHECK(latchless_options_init(&options, sizeof options) == LATCHLESS_OK);
    options.value_kind = LATCHLESS_VALUE_BYTES;
    return &options;
}

#endif
