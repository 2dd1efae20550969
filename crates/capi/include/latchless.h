/**
 * \file
 * \brief Ordered indexes in main memory that many threads read and change at once.
 *
 * \code{.c}
 *     latchless_index *prices;
 *     if (latchless_index_new(NULL, &prices) != LATCHLESS_OK) {
 *         fprintf(stderr, "%s\n", latchless_last_error());
 *         return 1;
 *     }
 *     latchless_index_insert(prices, 99, 5, NULL);
 *     latchless_value price;
 *     if (latchless_index_get(prices, 99, &price) == LATCHLESS_OK) { ... }
 *     latchless_index_free(prices);
 * \endcode
 *
 * An index maps each key to one value. The keys of a latchless_index have 64 bits: a uint64_t, or a signed integer, a
 * double or a time that latchless_key_from_i64(), latchless_key_from_f64() or latchless_key_from_time() encodes; its
 * values have 64 bits, too. The keys of a latchless_bytes are byte strings; its values have 64 bits or are byte
 * strings, as the option `value_kind` says. A latchless_multi maps each byte string to many rows of 64 bits.
 *
 * \par Results
 * A status below zero means that the call was refused: latchless_last_error() says why and where, and nothing has
 * changed unless the function says otherwise. A status of zero or above means that the call succeeded, and is its
 * answer: LATCHLESS_NOT_FOUND where the key is absent or there is no such entry, otherwise LATCHLESS_OK or what the
 * function lists. latchless_status says what else can be wrong.
 *
 * \par Answers
 * A pointer to something that isn't const, other than a handle, is a place for an answer. It may be NULL if the answer
 * isn't needed, except `out`, `options`, `stats`, `len`, `rank`, `ranks`, `count`, `counts` and `filled`. Where there
 * is no answer, as for an absent key, the place or the element of an array of answers is unchanged; but `*out` becomes
 * NULL if the call fails.
 *
 * \par Doubles
 * NaN isn't a key: where the option `key_kind` is LATCHLESS_KEY_F64, the whole call is refused with LATCHLESS_NAN. -0.0
 * and 0.0 are one key, which is returned as 0.0. Infinities are keys.
 *
 * \par Byte strings
 * A byte string is a pointer and a length, and may contain any bytes, zeros included. NULL with the length 0 is the
 * empty string, which is a valid key; NULL with another length is LATCHLESS_NULL. The order is that of memcmp(), and a
 * proper prefix of a key is less than the key. Keys and values are copied into the index and copied out of it into the
 * caller's memory. The library can't check that a byte string has the given length. A value of an index whose values
 * are words has eight bytes, otherwise it is LATCHLESS_INVALID.
 *
 * \par Places for byte strings
 * `key`, `key_room` and `key_len` are where the bytes of a key go, how many fit there, and where its length goes; the
 * same for `value`, `before` and others. The place may overlap the arguments. The one for a length may be NULL if that
 * for the bytes is, or if the answer is a word. Bytes that don't fit are LATCHLESS_SMALL_ROOM: then only lengths are
 * written. "Room for any" value is LATCHLESS_VALUE_MAX bytes, or 8 for a word; for any key it is LATCHLESS_KEY_MAX.
 * Functions that return what they remove or replace require it, so that nothing is lost: with less room they are
 * refused, and nothing changes.
 *
 * \par Ranges
 * A range of a latchless_index includes both its ends, `low` and `high`, so 0 to UINT64_MAX contains every key of each
 * kind. A range of byte strings is from `begin` on and before `end`; the empty `begin` is before all other keys, and
 * with LATCHLESS_NO_END for `end_len` the range has no end. A low end above the high end is LATCHLESS_INVERTED_RANGE.
 *
 * \par Arrays
 * An array without elements may be NULL. Elements may be unaligned. Arrays of one call may overlap: it reads and writes
 * about a thousand elements at a time, from the first to the last. A count that memory can't hold is
 * LATCHLESS_TOO_LONG. The library can't check that an array has the given number of elements.
 *
 * \par Handles
 * NULL, a freed handle, a handle of another type, and memory that isn't a handle are LATCHLESS_BAD_HANDLE, provided that
 * the address can be read. A freed handle is recognized until a thousand others have been freed after it.
 *
 * \par Threads
 * Any number of threads may call any functions on one index at the same time, except for freeing it: no other call on
 * that index may be running then, or follow. A call for a single key, or for the nearest entry, is one atomic step. A
 * batch is a sequence of such steps. Ranges and counts may see some of the changes that other threads make meanwhile.
 * No thread may write what a running call reads from the caller's memory.
 *
 * \par Fork, exceptions
 * The child of a fork() may use an index that no other thread was changing then; otherwise a call may return
 * LATCHLESS_PANIC after a second, as after a panic, which would be a bug. No exception and no longjmp() may pass
 * through a function of this library: an exception that leaves a callback ends the process.
 */

#ifndef LATCHLESS_H
#define LATCHLESS_H

/* Generated by `cargo run -p latchless-capi --features header --example header -- --write`. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// The length of a range's end if the range has no end: it extends to the last key.
#define LATCHLESS_NO_END SIZE_MAX

/** Encodes a signed integer, or a count of seconds or parts of a second, as a key of the same order. */
static inline uint64_t latchless_key_from_i64(int64_t number) {
    uint64_t key;
    memcpy(&key, &number, sizeof key);
    return key ^ UINT64_C(1) << 63;
}

/** Decodes a key that latchless_key_from_i64() has made. */
static inline int64_t latchless_key_to_i64(uint64_t key) {
    int64_t number;
    key ^= UINT64_C(1) << 63;
    memcpy(&number, &key, sizeof number);
    return number;
}

/** Encodes a double as a key of the same order: -0.0 as 0.0 is, NaN beyond the infinity of its sign. */
static inline uint64_t latchless_key_from_f64(double number) {
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t key;
    memcpy(&key, &number, sizeof key);
    if (key == sign) key = 0;
    return key & sign ? ~key : key | sign;
}

/** Decodes a key that latchless_key_from_f64() has made. */
static inline double latchless_key_to_f64(uint64_t key) {
    const uint64_t sign = UINT64_C(1) << 63;
    double number;
    key = key & sign ? key ^ sign : ~key;
    memcpy(&number, &key, sizeof number);
    return number;
}

/**
 * Encodes a time as a key of the kind LATCHLESS_KEY_TIME_NS: seconds since 1970 and nanoseconds from 0 to 999999999.
 * Times before 1677-09-21T00:12:44 or from 2262-04-11T23:47:16 on are the earliest and the latest key.
 */
static inline uint64_t latchless_key_from_time(int64_t seconds, int64_t nanoseconds) {
    const int64_t second = 1000000000;
    if (seconds < INT64_MIN / second) return 0;
    if (seconds >= INT64_MAX / second) return UINT64_MAX;
    return latchless_key_from_i64(seconds * second + nanoseconds);
}

/** Decodes a key that latchless_key_from_time() has made. */
static inline void latchless_key_to_time(uint64_t key, int64_t *seconds, int64_t *nanoseconds) {
    const int64_t number = latchless_key_to_i64(key), second = 1000000000;
    *seconds = number / second - (number % second < 0);
    *nanoseconds = number - *seconds * second;
}

/// The version of the binary interface that this header describes. latchless_abi() is that of the library
/// that the program is linked with.
#define LATCHLESS_ABI 1

/// The largest number of bytes in a key. A longer key can be looked up, but is never present.
#define LATCHLESS_KEY_MAX 65535

/// The largest number of bytes in a value that is a byte string.
#define LATCHLESS_VALUE_MAX 65535

/// The result of a call. Zero or above: the call succeeded, and this is its answer. Below zero: the call
/// was refused, nothing changed unless the function says otherwise, and latchless_last_error() says why.
typedef enum latchless_status {
    /// The call succeeded.
    LATCHLESS_OK = 0,
    /// There is no such key or entry, or no further one.
    LATCHLESS_NOT_FOUND = 1,
    /// The key was present already.
    LATCHLESS_PRESENT = 2,
    /// The key's value isn't the expected one.
    LATCHLESS_MISMATCH = 3,
    /// The callback stopped the call.
    LATCHLESS_STOPPED = 4,
    /// The system refused memory.
    LATCHLESS_OUT_OF_MEMORY = -1,
    /// The index would exceed its `limit_bytes`.
    LATCHLESS_MEMORY_LIMIT = -2,
    /// A pointer that must not be NULL is.
    LATCHLESS_NULL = -3,
    /// The handle is NULL, was freed, is of another kind, or isn't a handle.
    LATCHLESS_BAD_HANDLE = -4,
    /// Another argument is out of range.
    LATCHLESS_INVALID = -5,
    /// A key is NaN.
    LATCHLESS_NAN = -6,
    /// Keys that must be ascending aren't.
    LATCHLESS_UNSORTED = -7,
    /// Keys that must be distinct aren't.
    LATCHLESS_DUPLICATE = -8,
    /// The low end of a range is above its high end.
    LATCHLESS_INVERTED_RANGE = -9,
    /// An array of this many elements can't exist.
    LATCHLESS_TOO_LONG = -10,
    /// Another thread is using the cursor; or a cursor keeps the index that is to be shrunk.
    LATCHLESS_BUSY = -11,
    /// The system refused to read or write a file, or the path to save to names something other than a file.
    LATCHLESS_IO = -12,
    /// The file isn't a snapshot, is damaged, or has other types.
    LATCHLESS_BAD_FILE = -13,
    /// A check found the index broken: a bug of the library.
    LATCHLESS_BROKEN = -14,
    /// The key has more bytes than LATCHLESS_KEY_MAX.
    LATCHLESS_KEY_TOO_LONG = -15,
    /// A key or a value doesn't fit into the caller's memory.
    LATCHLESS_SMALL_ROOM = -16,
    /// The value has more bytes than LATCHLESS_VALUE_MAX.
    LATCHLESS_VALUE_TOO_LONG = -17,
    /// A bug of the library, or an index that was changing at a fork(). The handle can only be freed.
    LATCHLESS_PANIC = -99,
} latchless_status;

/// The instruction set that searches in nodes use.
typedef enum latchless_kernel {
    /// The fastest one that the processor has.
    LATCHLESS_KERNEL_FASTEST = 0,
    /// No vector instructions.
    LATCHLESS_KERNEL_SCALAR = 1,
    /// AVX2, on x86-64.
    LATCHLESS_KERNEL_AVX2 = 2,
    /// AVX-512, on x86-64.
    LATCHLESS_KERNEL_AVX512 = 3,
    /// NEON, on AArch64.
    LATCHLESS_KERNEL_NEON = 4,
} latchless_kernel;

/// What the keys of a latchless_index are encoded from. It decides the type of keys in files, what is
/// nearest, and which words aren't keys; the order is that of the words in any case.
typedef enum latchless_key_kind {
    /// uint64_t, as they are.
    LATCHLESS_KEY_U64 = 0,
    /// int64_t, by latchless_key_from_i64().
    LATCHLESS_KEY_I64 = 1,
    /// double, by latchless_key_from_f64(). NaN isn't a key.
    LATCHLESS_KEY_F64 = 2,
    /// Seconds since 1970, by latchless_key_from_i64().
    LATCHLESS_KEY_TIME_S = 3,
    /// Milliseconds since 1970, by latchless_key_from_i64().
    LATCHLESS_KEY_TIME_MS = 4,
    /// Microseconds since 1970, by latchless_key_from_i64().
    LATCHLESS_KEY_TIME_US = 5,
    /// Nanoseconds since 1970, by latchless_key_from_time() or latchless_key_from_i64().
    LATCHLESS_KEY_TIME_NS = 6,
} latchless_key_kind;

/// What the values of a latchless_bytes are.
typedef enum latchless_value_kind {
    /// A latchless_value: each value has eight bytes, stored beside its key.
    LATCHLESS_VALUE_WORD = 0,
    /// Byte strings of up to LATCHLESS_VALUE_MAX bytes.
    LATCHLESS_VALUE_BYTES = 1,
} latchless_value_kind;

/// An entry near a key.
typedef enum latchless_near {
    /// The largest key that is less than or equal to it.
    LATCHLESS_FLOOR = 0,
    /// The smallest key that is greater than or equal to it.
    LATCHLESS_CEILING = 1,
    /// The largest key that is less than it.
    LATCHLESS_LOWER = 2,
    /// The smallest key that is greater than it.
    LATCHLESS_HIGHER = 3,
    /// The nearest key, of two equally near ones the smaller. Byte strings have no distance.
    LATCHLESS_NEAREST = 4,
} latchless_near;

/// How the byte strings of a batch are stored.
typedef enum latchless_layout {
    /// `data` is an array of addresses (const void *), `ends` an array of lengths (size_t).
    LATCHLESS_APART = 0,
    /// `data` has the bytes of all strings. The i-th extends from ends[i] to ends[i + 1]; `ends` has one
    /// int32_t more than there are strings, as in an Arrow column of the type Binary.
    LATCHLESS_PACKED_32 = 1,
    /// The same with an int64_t, as in an Arrow column of the type LargeBinary.
    LATCHLESS_PACKED_64 = 2,
    /// `data` is an array of words, such as a latchless_value, each a string of eight bytes. `ends` is NULL.
    LATCHLESS_WORDS = 3,
} latchless_layout;

/// Where a cursor moves.
typedef enum latchless_move {
    /// To `key` or, if it is absent, to the first key after it.
    LATCHLESS_SEEK = 0,
    /// To `key` or, if it is absent, to the last key before it.
    LATCHLESS_SEEK_FOR_PREV = 1,
    /// To the first entry.
    LATCHLESS_SEEK_FIRST = 2,
    /// To the last entry.
    LATCHLESS_SEEK_LAST = 3,
    /// To the next entry.
    LATCHLESS_NEXT = 4,
    /// To the previous entry.
    LATCHLESS_PREV = 5,
    /// It stays on its entry.
    LATCHLESS_CURRENT = 6,
} latchless_move;

/// A limit of memory that several indexes share, by the field `budget` of their options.
typedef struct latchless_budget latchless_budget;

/// An ordered index whose keys are byte strings. The option `value_kind` says what its values are: by
/// default words, each a latchless_value that is passed as its eight bytes; or byte strings. Those of up to
/// 192 bytes are stored beside their keys; each 248 bytes of a longer one cost a lookup one more cache miss.
typedef struct latchless_bytes latchless_bytes;

/// A position in a latchless_bytes: on an entry, before the first one, or after the last one. One thread at a
/// time may use it; a second one gets LATCHLESS_BUSY.
typedef struct latchless_bytes_cursor latchless_bytes_cursor;

/// An ordered index whose keys are words, and whose values are a latchless_value each. The functions
/// latchless_key_from_i64() and others encode keys as words of the same order, as `key_kind` says.
typedef struct latchless_index latchless_index;

/// A position in a range of a latchless_index, with the rules of a latchless_bytes_cursor.
typedef struct latchless_index_cursor latchless_index_cursor;

/// An ordered set of pairs of a byte string, the key, and a row, which is 64 bits: a key may have any
/// number of rows, as in a secondary index. The order is that of keys, and of the rows of a key.
typedef struct latchless_multi latchless_multi;

/// A position in a latchless_multi, with the rules of a latchless_bytes_cursor.
typedef struct latchless_multi_cursor latchless_multi_cursor;

/// Options of a new index. Call latchless_options_init() first, then change fields; NULL means the defaults.
typedef struct latchless_options {
    /// The size of this structure in the program, set by latchless_options_init(); newer ones may be longer.
    size_t struct_size;
    /// The most bytes that the index may hold, as its `memory_bytes` are. Default: SIZE_MAX, no limit.
    size_t limit_bytes;
    /// The fill of nodes that are loaded, from 0.01 to 1.0. Default: 0.8. Without later inserts choose 1.0.
    double fill;
    /// The number of threads for a bulk load. Default: 1.
    size_t threads;
    /// The requests of a batch that are processed together, at most 128. Default: 0, chosen at run time.
    size_t group;
    /// A latchless_kernel. Default: LATCHLESS_KERNEL_FASTEST.
    uint32_t kernel;
    /// 1: request huge pages from the system. 0: don't. Default: 1.
    uint8_t huge_pages;
    /// 1: a thread of the library prepares memory before inserts need it, so that inserts don't wait for
    /// page faults. Needs Linux 5.14 or later. Default: 0.
    uint8_t prefault;
    /// A latchless_key_kind, for a latchless_index. Default: LATCHLESS_KEY_U64.
    uint8_t key_kind;
    /// A latchless_value_kind, for a latchless_bytes. Default: LATCHLESS_VALUE_WORD.
    uint8_t value_kind;
    /// A budget that the index shares with others, whose limit it keeps, too. Default: NULL, none.
    const struct latchless_budget *budget;
} latchless_options;

/// A callback of latchless_budget_new(), which gets the bytes that are taken. Any thread may call it during
/// an insert. It may use and change indexes. No exception and no longjmp() may leave it.
typedef void (*latchless_high_water)(size_t taken_bytes, void *context);

/// The value of a key: 64 bits that the index doesn't interpret. An integer; a pointer by
/// (latchless_value)(uintptr_t)pointer, and back by (T *)(uintptr_t)value; a double by memcpy(). The index
/// doesn't own what a value points to.
typedef uint64_t latchless_value;

/// Statistics of an index. Set `struct_size` to sizeof(latchless_stats) before the call.
typedef struct latchless_stats {
    /// The size of this structure in the program.
    size_t struct_size;
    /// The number of keys.
    uint64_t entries;
    /// Bytes that the index holds for nodes, emptied ones included, for long strings, and for tables that
    /// shorten lookups; never more than `limit_bytes`.
    uint64_t memory_bytes;
    /// Bytes of nodes in use.
    uint64_t live_bytes;
    /// The number of levels, root and leaves included.
    uint64_t levels;
    /// The number of nodes above the leaves.
    uint64_t inner_nodes;
    /// The number of leaves.
    uint64_t leaves;
    /// The share of the leaves' capacity that is in use, from 0.0 to 1.0.
    double leaf_fill;
    /// The number of node splits so far.
    uint64_t splits;
    /// How many times operations had to retry because of concurrent changes.
    uint64_t restarts;
    /// How many times operations looked in a wrong leaf first.
    uint64_t misled;
} latchless_stats;

/// A callback of latchless_index_scan_chunks(). It receives `count` entries, which are valid until it
/// returns, and returns 0 to go on or another number to stop. It may use and change the index. No
/// exception and no longjmp() may leave it.
typedef int (*latchless_index_visitor)(const uint64_t *keys, const latchless_value *values, size_t count,
             void *context);

/// The byte strings of a batch, whose number the function has as another parameter. NULL for a string or for
/// `data` is right where there are no bytes.
typedef struct latchless_column {
    /// The bytes, or addresses of them.
    const void *data;
    /// Lengths or offsets.
    const void *ends;
    /// A latchless_layout.
    uint32_t layout;
} latchless_column;

/// A callback of latchless_bytes_scan() for one entry, with the rules of a latchless_index_visitor.
typedef int (*latchless_bytes_visitor)(const void *key, size_t key_len, const void *value, size_t value_len,
             void *context);

/// A callback of latchless_multi_scan(), with the rules of a latchless_bytes_visitor.
typedef int (*latchless_multi_visitor)(const void *key, size_t key_len, uint64_t row, void *context);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Returns the library's version, such as "0.1.0".
const char *latchless_version(void);

/// Returns the version of the library's binary interface: LATCHLESS_ABI, or that of another header.
uint32_t latchless_abi(void);

/// Returns a short description of a status, never NULL.
const char *latchless_status_text(int status);

/// Returns a message about the last call of the calling thread that failed: the function, what was wrong
/// and where; empty if no call has failed. The text has at most 511 bytes, and is valid until the next call
/// of this thread that fails. Other threads must not read it.
const char *latchless_last_error(void);

/// Sets options to their defaults; `size` is sizeof(latchless_options).
latchless_status latchless_options_init(latchless_options *options, size_t size);

/// Creates a budget: indexes that would exceed it get LATCHLESS_MEMORY_LIMIT.
/// \param high_water is called each time that the bytes rise to `mark_bytes`, or would exceed the limit: then
///   they are requested once more; may be NULL
latchless_status latchless_budget_new(size_t limit_bytes, size_t mark_bytes, latchless_high_water high_water,
                                      void *context, latchless_budget **out);

/// Gets the bytes that the indexes of a budget hold.
latchless_status latchless_budget_taken_bytes(const latchless_budget *budget, size_t *taken_bytes);

/// Frees a budget, which may be NULL. Its indexes keep its limit.
latchless_status latchless_budget_free(latchless_budget *budget);

/// Creates an empty index.
latchless_status latchless_index_new(const latchless_options *options, latchless_index **out);

/// Creates an index from columns: values[i] is stored under keys[i]. The keys must be ascending and
/// distinct; if they aren't, latchless_last_error() names the position. Much faster than inserting the
/// same entries.
latchless_status latchless_index_bulk_load(const uint64_t *keys, const latchless_value *values, size_t count,
                                           const latchless_options *options, latchless_index **out);

/// Creates an index from a file that was saved from C, C++, Rust or Python. The file's keys must be of
/// the option `key_kind`, and its values of 64 bits. LATCHLESS_KEY_I64 takes times and durations, too.
latchless_status latchless_index_open(const char *path, const latchless_options *options, latchless_index **out);

/// Writes all entries to an Arrow file with the columns `key`, whose type is that of the index's
/// `key_kind`, and `value`. The file at `path` is replaced in one step; if the call fails, it is
/// unchanged. A symbolic link is followed, and permissions are kept. Other threads may use and change
/// the index meanwhile; an entry that they change is saved in one of its states.
/// \param[out] entries the number of entries saved
latchless_status latchless_index_save(const latchless_index *index, const char *path, size_t *entries);

/// Frees an index, which may be NULL. Cursors of it stay valid and keep its memory until they are freed.
latchless_status latchless_index_free(latchless_index *index);

/// Gets the number of keys. Exact if no thread inserts or removes meanwhile.
latchless_status latchless_index_len(const latchless_index *index, size_t *len);

/// Gets the bytes that the index holds and those in use, as latchless_stats has them, but at once.
latchless_status latchless_index_memory_bytes(const latchless_index *index, size_t *memory_bytes, size_t *live_bytes);

/// Removes all keys, not atomically as a whole. The index keeps its memory for later inserts.
latchless_status latchless_index_clear(const latchless_index *index);

/// Moves all entries to new nodes, each filled to this share, from 0.01 to 1.0, and returns the memory of the
/// old ones to the system: after many removals. Both are held for a moment; if memory for that is refused,
/// nothing changes. No other thread may use the index meanwhile, and no cursor of it may be there:
/// LATCHLESS_BUSY.
latchless_status latchless_index_shrink(latchless_index *index, double fill);

/// Gets the memory use, the number of nodes and their fill. Reads every node; approximate if threads
/// change the index meanwhile.
/// \param[in,out] stats its `struct_size` must be set
latchless_status latchless_index_stats(const latchless_index *index, latchless_stats *stats);

/// Checks every node. Meant for tests. No thread may be changing the index.
latchless_status latchless_index_check_invariants(const latchless_index *index);

/// Gets the value of a key.
latchless_status latchless_index_get(const latchless_index *index, uint64_t key, latchless_value *value);

/// Tests whether a key is present.
latchless_status latchless_index_contains_key(const latchless_index *index, uint64_t key);

/// Inserts a key with a value, or replaces the value of a key that is present.
/// \param[out] before the value that was replaced
/// \retval LATCHLESS_PRESENT the key was present, and its value is replaced
latchless_status latchless_index_insert(const latchless_index *index, uint64_t key, latchless_value value,
                                        latchless_value *before);

/// Inserts a key with a value unless the key is present.
/// \param[out] present the value of a key that is present
/// \retval LATCHLESS_PRESENT the key is present, and nothing changed
latchless_status latchless_index_try_insert(const latchless_index *index, uint64_t key, latchless_value value,
                                            latchless_value *present);

/// Replaces the value of a key that is present.
/// \param[out] before the value that was replaced
latchless_status latchless_index_replace(const latchless_index *index, uint64_t key, latchless_value value,
                                         latchless_value *before);

/// Removes a key.
/// \param[out] before the value that the key had
latchless_status latchless_index_remove(const latchless_index *index, uint64_t key, latchless_value *before);

/// Replaces the value of a key if it is the expected one. Otherwise nothing changes.
/// \param[out] found the value of the key if it isn't the expected one
/// \retval LATCHLESS_MISMATCH the key has another value
latchless_status latchless_index_compare_exchange(const latchless_index *index, uint64_t key,
                                                  latchless_value expected, latchless_value value,
                                                  latchless_value *found);

/// Removes a key if its value is the expected one. Otherwise nothing changes.
/// \param[out] found the value of the key if it isn't the expected one
/// \retval LATCHLESS_MISMATCH the key has another value
latchless_status latchless_index_compare_remove(const latchless_index *index, uint64_t key, latchless_value expected,
                                                latchless_value *found);

/// Gets the entry with the smallest key.
latchless_status latchless_index_first(const latchless_index *index, uint64_t *key, latchless_value *value);

/// Gets the entry with the largest key.
latchless_status latchless_index_last(const latchless_index *index, uint64_t *key, latchless_value *value);

/// Removes the entry with the smallest key.
latchless_status latchless_index_pop_first(const latchless_index *index, uint64_t *key, latchless_value *value);

/// Removes the entry with the largest key.
latchless_status latchless_index_pop_last(const latchless_index *index, uint64_t *key, latchless_value *value);

/// Gets an entry `near` a key, a latchless_near. The answer is correct at one moment, the nearest one's, too.
latchless_status latchless_index_near(const latchless_index *index, uint32_t near, uint64_t key, uint64_t *near_key,
                                      latchless_value *value);

/// Gets the number of keys that are less than `key`, which may be absent. The first such call, or a long
/// count, counts all leaves; later calls count only the leaves that have changed since.
latchless_status latchless_index_rank(const latchless_index *index, uint64_t key, size_t *rank);

/// Gets the entry that has `position` entries before it.
latchless_status latchless_index_nth(const latchless_index *index, size_t position, uint64_t *key,
                                     latchless_value *value);

/// Gets keys that partition the index into `parts` parts of equal size, for instance one for each thread:
/// every part but the first begins with one of them. Fewer if there are fewer keys than parts.
/// \param[out] keys room for `parts` - 1 keys, which ascend
/// \param[out] count the number of keys written
latchless_status latchless_index_split_points(const latchless_index *index, size_t parts, uint64_t *keys,
                                              size_t *count);

/// Looks up `count` keys. Much faster than single calls, because memory accesses overlap.
/// \param[out] found found[i] is 1 if keys[i] is present, otherwise 0
/// \param[out] hits the number of keys present
latchless_status latchless_index_get_columns(const latchless_index *index, const uint64_t *keys, size_t count,
                                             latchless_value *values, uint8_t *found, size_t *hits);

/// Stores values[i] under keys[i] for `count` keys. Of equal keys the last one's value remains. Sorted
/// keys are faster. If memory is refused, all other entries are inserted.
/// \param[out] new_keys the number of keys that were absent, unchanged if memory is refused
/// \param[out] refused refused[i] is 1 if keys[i] wasn't inserted, otherwise 0
latchless_status latchless_index_insert_columns(const latchless_index *index, const uint64_t *keys,
                                                const latchless_value *values, size_t count, size_t *new_keys,
                                                uint8_t *refused);

/// Removes `count` keys.
/// \param[out] values values[i] is the value that keys[i] had
/// \param[out] found found[i] is 1 if keys[i] was present, otherwise 0
/// \param[out] hits the number of keys removed
latchless_status latchless_index_remove_columns(const latchless_index *index, const uint64_t *keys, size_t count,
                                                latchless_value *values, uint8_t *found, size_t *hits);

/// Gets, for each of `count` keys, the entry that latchless_index_near() gets, each at one moment.
/// \param near a latchless_near
/// \param[out] found found[i] is 1 if there is such an entry, otherwise 0
/// \param[out] hits the number of entries found
latchless_status latchless_index_near_columns(const latchless_index *index, uint32_t near, const uint64_t *keys,
                                              size_t count, uint64_t *near_keys, latchless_value *values,
                                              uint8_t *found, size_t *hits);

/// Gets the ranks of `count` keys: see latchless_index_rank().
latchless_status latchless_index_rank_columns(const latchless_index *index, const uint64_t *keys, size_t count,
                                              size_t *ranks);

/// Counts the keys of `count` ranges: counts[i] is the number of keys from low[i] to high[i].
latchless_status latchless_index_count_columns(const latchless_index *index, const uint64_t *low,
                                               const uint64_t *high, size_t count, size_t *counts);

/// Counts the keys of a range.
latchless_status latchless_index_count(const latchless_index *index, uint64_t low, uint64_t high, size_t *count);

/// Removes the keys of a range, not atomically as a whole.
latchless_status latchless_index_remove_range(const latchless_index *index, uint64_t low, uint64_t high,
                                              size_t *removed);

/// Copies the first entries of a range, in ascending order.
/// \param descending not 0: copies the last entries instead, in descending order
/// \param room the number of entries to copy at most, 1 or more
/// \param[out] filled the number of entries copied
/// \retval LATCHLESS_NOT_FOUND the range is empty
latchless_status latchless_index_page(const latchless_index *index, uint64_t low, uint64_t high, int descending,
                                      uint64_t *keys, latchless_value *values, size_t room, size_t *filled);

/// Passes the entries of a range to a function, in ascending order, some dozens at a time.
/// \param visitor returns 0 to go on; any other number ends the call with LATCHLESS_STOPPED
/// \param context is passed to `visitor`
latchless_status latchless_index_scan_chunks(const latchless_index *index, uint64_t low, uint64_t high,
                                             latchless_index_visitor visitor, void *context);

/// Creates a cursor, which copies the entries of a range, page by page, in ascending order. It sees
/// changes that threads make ahead of it, and it may outlive the index.
/// \param descending not 0: descending order
latchless_status latchless_index_cursor_new(const latchless_index *index, uint64_t low, uint64_t high, int descending,
                                            latchless_index_cursor **out);

/// Copies the next entries. The parameters are those of latchless_index_page().
/// \retval LATCHLESS_NOT_FOUND the range has no more entries
latchless_status latchless_index_cursor_next(latchless_index_cursor *cursor, uint64_t *keys, latchless_value *values,
                                             size_t room, size_t *filled);

/// Frees a cursor, which may be NULL.
latchless_status latchless_index_cursor_free(latchless_index_cursor *cursor);

/// Creates an empty index. The options `threads` and `group` are ignored.
latchless_status latchless_bytes_new(const latchless_options *options, latchless_bytes **out);

/// Creates an index of `count` keys and values, as latchless_index_bulk_load() does.
latchless_status latchless_bytes_bulk_load(const latchless_column *keys, const latchless_column *values, size_t count,
                                           const latchless_options *options, latchless_bytes **out);

/// Creates an index from a file that was saved from C, C++, Rust or Python. The file's keys must be byte
/// strings or texts. Its values must be of the option `value_kind`: numbers of 64 bits, or such strings.
latchless_status latchless_bytes_open(const char *path, const latchless_options *options, latchless_bytes **out);

/// Writes all entries to an Arrow file with the columns `key`, of the type Binary, and `value`, of the
/// type UInt64 or Binary, as latchless_index_save() does.
latchless_status latchless_bytes_save(const latchless_bytes *index, const char *path, size_t *entries);

/// Frees an index, which may be NULL. Cursors of it stay valid and keep its memory until they are freed.
latchless_status latchless_bytes_free(latchless_bytes *index);

/// Gets the number of keys. Exact if no thread inserts or removes meanwhile.
latchless_status latchless_bytes_len(const latchless_bytes *index, size_t *len);

/// Gets the bytes that the index holds: see latchless_index_memory_bytes().
latchless_status latchless_bytes_memory_bytes(const latchless_bytes *index, size_t *memory_bytes, size_t *live_bytes);

/// Removes all keys one by one, not atomically as a whole. The index keeps its memory for later inserts.
latchless_status latchless_bytes_clear(const latchless_bytes *index);

/// Returns the memory of removed keys to the system: see latchless_index_shrink().
latchless_status latchless_bytes_shrink(latchless_bytes *index, double fill);

/// Gets the memory use, the number of nodes and their fill: see latchless_index_stats(). `misled` is 0.
latchless_status latchless_bytes_stats(const latchless_bytes *index, latchless_stats *stats);

/// Checks every node. Meant for tests. No thread may be changing the index.
latchless_status latchless_bytes_check_invariants(const latchless_bytes *index);

/// Gets the value of a key.
latchless_status latchless_bytes_get(const latchless_bytes *index, const void *key, size_t key_len, void *value,
                                     size_t value_room, size_t *value_len);

/// Tests whether a key is present.
latchless_status latchless_bytes_contains_key(const latchless_bytes *index, const void *key, size_t key_len);

/// Inserts copies of a key and a value, or replaces the value of a key that is present.
/// \param[out] before the value that was replaced; unless it is NULL, there must be room for any value
/// \retval LATCHLESS_PRESENT the key was present, and its value is replaced
latchless_status latchless_bytes_insert(const latchless_bytes *index, const void *key, size_t key_len,
                                        const void *value, size_t value_len, void *before, size_t before_room,
                                        size_t *before_len);

/// Inserts copies of a key and a value unless the key is present.
/// \param[out] present the value of a key that is present
/// \retval LATCHLESS_PRESENT the key is present, and nothing changed
latchless_status latchless_bytes_try_insert(const latchless_bytes *index, const void *key, size_t key_len,
                                            const void *value, size_t value_len, void *present, size_t present_room,
                                            size_t *present_len);

/// Replaces the value of a key that is present.
/// \param[out] before the value that was replaced; unless it is NULL, there must be room for any value
latchless_status latchless_bytes_replace(const latchless_bytes *index, const void *key, size_t key_len,
                                         const void *value, size_t value_len, void *before, size_t before_room,
                                         size_t *before_len);

/// Removes a key.
/// \param[out] before the value that the key had; unless it is NULL, there must be room for any value
latchless_status latchless_bytes_remove(const latchless_bytes *index, const void *key, size_t key_len, void *before,
                                        size_t before_room, size_t *before_len);

/// Replaces the value of a key if it has the expected bytes. Otherwise nothing changes.
/// \param[out] found the value of the key if it isn't the expected one
/// \retval LATCHLESS_MISMATCH the key has another value
/// \retval LATCHLESS_SMALL_ROOM the same, and it has more than `found_room` bytes
latchless_status latchless_bytes_compare_exchange(const latchless_bytes *index, const void *key, size_t key_len,
                                                  const void *expected, size_t expected_len, const void *value,
                                                  size_t value_len, void *found, size_t found_room,
                                                  size_t *found_len);

/// Removes a key if its value has the expected bytes. Otherwise nothing changes. The answers are those
/// of latchless_bytes_compare_exchange().
latchless_status latchless_bytes_compare_remove(const latchless_bytes *index, const void *key, size_t key_len,
                                                const void *expected, size_t expected_len, void *found,
                                                size_t found_room, size_t *found_len);

/// Gets the entry with the smallest key.
latchless_status latchless_bytes_first(const latchless_bytes *index, void *key, size_t key_room, size_t *key_len,
                                       void *value, size_t value_room, size_t *value_len);

/// Gets the entry with the largest key.
latchless_status latchless_bytes_last(const latchless_bytes *index, void *key, size_t key_room, size_t *key_len,
                                      void *value, size_t value_room, size_t *value_len);

/// Removes the entry with the smallest key. What isn't NULL must have room for any key or value.
latchless_status latchless_bytes_pop_first(const latchless_bytes *index, void *key, size_t key_room, size_t *key_len,
                                           void *value, size_t value_room, size_t *value_len);

/// Removes the entry with the largest key. What isn't NULL must have room for any key or value.
latchless_status latchless_bytes_pop_last(const latchless_bytes *index, void *key, size_t key_room, size_t *key_len,
                                          void *value, size_t value_room, size_t *value_len);

/// Gets an entry near `key`.
/// \param near a latchless_near other than LATCHLESS_NEAREST
latchless_status latchless_bytes_near(const latchless_bytes *index, uint32_t near, const void *key, size_t key_len,
                                      void *near_key, size_t near_key_room, size_t *near_key_len, void *value,
                                      size_t value_room, size_t *value_len);

/// Gets the number of keys that are less than `key`, which may be absent. Reads every leaf before it.
latchless_status latchless_bytes_rank(const latchless_bytes *index, const void *key, size_t key_len, size_t *rank);

/// Gets the entry that has `position` entries before it. Reads every leaf before it.
latchless_status latchless_bytes_nth(const latchless_bytes *index, size_t position, void *key, size_t key_room,
                                     size_t *key_len, void *value, size_t value_room, size_t *value_len);

/// Passes the keys of latchless_index_split_points() to a function, with NULL as the value: keys at equal
/// distances, as a sample needs them. Reads every leaf twice.
latchless_status latchless_bytes_split_points(const latchless_bytes *index, size_t parts,
                                              latchless_bytes_visitor visitor, void *context);

/// Looks up `count` keys. Much faster than single calls, because memory accesses overlap.
///
/// Values that are words are written as an array of latchless_value. The bytes of values that are byte
/// strings are written contiguously, the i-th one from value_offsets[i] to value_offsets[i + 1], as in an
/// Arrow column of the type LargeBinary: that of an absent key is empty.
/// \param room the number of bytes that fit at `values`
/// \param[out] value_offsets `count` + 1 offsets; may be NULL if `values` is, or if values are words
/// \param[out] found found[i] is 1 if the i-th key is present, otherwise 0
/// \param[out] hits the number of keys present
/// \retval LATCHLESS_SMALL_ROOM words need 8 * `count` bytes, and nothing is written; byte strings need
///   value_offsets[count] bytes, `values` may have been written in part, and the other answers are
///   complete
latchless_status latchless_bytes_get_columns(const latchless_bytes *index, const latchless_column *keys, size_t count,
                                             void *values, size_t room, int64_t *value_offsets, uint8_t *found,
                                             size_t *hits);

/// Stores the i-th value under the i-th key for `count` keys. Of equal keys the last one's value
/// remains. Sorted keys are faster. If memory is refused or a string is too long, all other entries are
/// inserted.
/// \param[out] new_keys the number of keys that were absent, unchanged if an entry is refused
/// \param[out] refused refused[i] is 1 if the i-th entry wasn't inserted, otherwise 0
latchless_status latchless_bytes_insert_columns(const latchless_bytes *index, const latchless_column *keys,
                                                const latchless_column *values, size_t count, size_t *new_keys,
                                                uint8_t *refused);

/// Removes `count` keys.
/// \param[out] values values[i] is the word that the i-th key had; NULL if values are byte strings,
///   which latchless_bytes_remove() returns one by one
/// \param[out] found found[i] is 1 if the i-th key was present, otherwise 0
/// \param[out] hits the number of keys removed
latchless_status latchless_bytes_remove_columns(const latchless_bytes *index, const latchless_column *keys,
                                                size_t count, latchless_value *values, uint8_t *found, size_t *hits);

/// Counts the keys of a range. Reads every leaf of the range.
latchless_status latchless_bytes_count(const latchless_bytes *index, const void *begin, size_t begin_len,
                                       const void *end, size_t end_len, size_t *count);

/// Removes the keys of a range, not atomically as a whole.
latchless_status latchless_bytes_remove_range(const latchless_bytes *index, const void *begin, size_t begin_len,
                                              const void *end, size_t end_len, size_t *removed);

/// Passes the entries of a range to a function, one at a time, in ascending order.
/// \param descending not 0: descending order
/// \param visitor returns 0 to go on; any other number ends the call with LATCHLESS_STOPPED
/// \param context is passed to `visitor`
latchless_status latchless_bytes_scan(const latchless_bytes *index, const void *begin, size_t begin_len,
                                      const void *end, size_t end_len, int descending,
                                      latchless_bytes_visitor visitor, void *context);

/// Passes the entries whose keys start with a prefix to a function, as latchless_bytes_scan() does.
latchless_status latchless_bytes_scan_prefix(const latchless_bytes *index, const void *prefix, size_t prefix_len,
                                             latchless_bytes_visitor visitor, void *context);

/// Creates a cursor before the first entry. It has a copy of the entries around its position, and sees
/// changes that threads make further on. It may outlive the index.
latchless_status latchless_bytes_cursor_new(const latchless_bytes *index, latchless_bytes_cursor **out);

/// Moves a cursor and gets the entry that it is on then. The addresses of its key and value are valid
/// until the next call for the cursor.
/// \param movement a latchless_move
/// \param key what LATCHLESS_SEEK and LATCHLESS_SEEK_FOR_PREV move to; the others ignore it
/// \retval LATCHLESS_NOT_FOUND there is no such entry: the cursor is before the first one or after the
///   last one
latchless_status latchless_bytes_cursor_move(latchless_bytes_cursor *cursor, uint32_t movement, const void *key,
                                             size_t key_len, const void **near_key, size_t *near_key_len,
                                             const void **value, size_t *value_len);

/// Frees a cursor, which may be NULL.
latchless_status latchless_bytes_cursor_free(latchless_bytes_cursor *cursor);

/// Creates an empty index. Of the options, those are ignored that latchless_bytes_new() ignores.
latchless_status latchless_multi_new(const latchless_options *options, latchless_multi **out);

/// Creates an index of `count` pairs, ascending and distinct: rows[i] is one of the i-th key.
latchless_status latchless_multi_bulk_load(const latchless_column *keys, const uint64_t *rows, size_t count,
                                           const latchless_options *options, latchless_multi **out);

/// Creates an index from a file of byte strings or texts with rows, saved from any language.
latchless_status latchless_multi_open(const char *path, const latchless_options *options, latchless_multi **out);

/// Writes all pairs to an Arrow file with the columns `key` and `row`, as latchless_index_save() does.
latchless_status latchless_multi_save(const latchless_multi *index, const char *path, size_t *pairs);

/// Frees an index, which may be NULL. Cursors of it stay valid and keep its memory until they are freed.
latchless_status latchless_multi_free(latchless_multi *index);

/// Gets the number of pairs. Exact if no thread inserts or removes meanwhile.
latchless_status latchless_multi_len(const latchless_multi *index, size_t *len);

/// Gets the number of keys that have a row. Passes over most rows of keys that have many.
latchless_status latchless_multi_distinct_keys(const latchless_multi *index, size_t *count);

/// Gets the bytes that the index holds: see latchless_index_memory_bytes().
latchless_status latchless_multi_memory_bytes(const latchless_multi *index, size_t *memory_bytes, size_t *live_bytes);

/// Removes all pairs, as latchless_bytes_clear() does.
latchless_status latchless_multi_clear(const latchless_multi *index);

/// Returns the memory of removed pairs to the system: see latchless_index_shrink().
latchless_status latchless_multi_shrink(latchless_multi *index, double fill);

/// Gets what latchless_bytes_stats() gets; `entries` are pairs.
latchless_status latchless_multi_stats(const latchless_multi *index, latchless_stats *stats);

/// Checks every node. Meant for tests. No thread may be changing the index.
latchless_status latchless_multi_check_invariants(const latchless_multi *index);

/// Tests whether a key has any row.
latchless_status latchless_multi_contains_key(const latchless_multi *index, const void *key, size_t key_len);

/// Tests whether a key has this row.
latchless_status latchless_multi_contains(const latchless_multi *index, const void *key, size_t key_len,
                                          uint64_t row);

/// Adds a row to a key.
/// \retval LATCHLESS_PRESENT the key has the row already
latchless_status latchless_multi_insert(const latchless_multi *index, const void *key, size_t key_len, uint64_t row);

/// Removes a row from a key.
latchless_status latchless_multi_remove(const latchless_multi *index, const void *key, size_t key_len, uint64_t row);

/// Removes all rows of a key, not atomically as a whole.
latchless_status latchless_multi_remove_all(const latchless_multi *index, const void *key, size_t key_len,
                                            size_t *removed);

/// Copies rows of a key, in ascending order.
/// \param least the smallest row to copy: 0, or one more than the last row of the page before
/// \param room the number of rows to copy at most, 1 or more
/// \param[out] filled the number of rows copied
latchless_status latchless_multi_rows(const latchless_multi *index, const void *key, size_t key_len, uint64_t least,
                                      uint64_t *rows, size_t room, size_t *filled);

/// Counts the rows of a key. Reads every leaf that has some.
latchless_status latchless_multi_count_rows(const latchless_multi *index, const void *key, size_t key_len,
                                            size_t *count);

/// Adds rows[i] to the i-th key for `count` keys. If memory is refused or a key is too long, all other
/// pairs are inserted. The answers are those of latchless_bytes_insert_columns(), for pairs.
latchless_status latchless_multi_insert_columns(const latchless_multi *index, const latchless_column *keys,
                                                const uint64_t *rows, size_t count, size_t *new_pairs,
                                                uint8_t *refused);

/// Counts the pairs of a range of keys. Reads every leaf of the range.
latchless_status latchless_multi_count(const latchless_multi *index, const void *begin, size_t begin_len,
                                       const void *end, size_t end_len, size_t *count);

/// Removes the pairs of a range of keys, not atomically as a whole.
latchless_status latchless_multi_remove_range(const latchless_multi *index, const void *begin, size_t begin_len,
                                              const void *end, size_t end_len, size_t *removed);

/// Passes the pairs of a range of keys to a function, as latchless_bytes_scan() does in ascending order.
latchless_status latchless_multi_scan(const latchless_multi *index, const void *begin, size_t begin_len,
                                      const void *end, size_t end_len, latchless_multi_visitor visitor,
                                      void *context);

/// Creates a cursor before the first pair. It copies some pairs at a time, and may outlive the index.
latchless_status latchless_multi_cursor_new(const latchless_multi *index, latchless_multi_cursor **out);

/// Moves a cursor and gets the pair that it is on then, as latchless_bytes_cursor_move() does.
/// \param key with `row` the pair that LATCHLESS_SEEK and LATCHLESS_SEEK_FOR_PREV move to
latchless_status latchless_multi_cursor_move(latchless_multi_cursor *cursor, uint32_t movement, const void *key,
                                             size_t key_len, uint64_t row, const void **near_key,
                                             size_t *near_key_len, uint64_t *near_row);

/// Frees a cursor, which may be NULL.
latchless_status latchless_multi_cursor_free(latchless_multi_cursor *cursor);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LATCHLESS_H */
