/*
 * latchless: ordered indexes in main memory, which many threads read and change at once.
 *
 *     latchless_u64 *prices;
 *     if (latchless_u64_new(NULL, &prices) != LATCHLESS_OK) {
 *         fprintf(stderr, "%s\n", latchless_last_error());
 *         return 1;
 *     }
 *     latchless_u64_insert(prices, 99, 5, NULL);
 *     latchless_value price;
 *     if (latchless_u64_get(prices, 99, &price) == LATCHLESS_OK) { ... }
 *     latchless_u64_free(prices);
 *
 * Functions are there for four types of keys: latchless_u64_... for uint64_t, latchless_i64_... for int64_t,
 * latchless_f64_... for double, latchless_bytes_... for byte strings. Values are 64 bits of the caller's: see
 * latchless_value. latchless_kv_... are those for byte strings under byte strings. An index has one value under a
 * key.
 *
 * What a call returns. Below zero: it was refused, and latchless_last_error() says why and where; unless the
 * function says otherwise, nothing has changed. Zero or above: it was done, and the status is an answer.
 *
 * Doubles. NaN is no key: LATCHLESS_NAN, and nothing of the call is done. -0.0 and 0.0 are one key, which
 * comes back as 0.0. Infinities are keys like any other.
 *
 * Byte strings are a pointer and a length, and may have any bytes, zeros among them. NULL with the length 0 is the
 * empty string, which is a key like any other; NULL with another length is LATCHLESS_NULL. They are ordered as memcmp()
 * orders them, and one that others begin with comes before those. Keys, and values that are byte strings, are copied
 * into the index, and copied out of it into the caller's room. That a byte string has as many bytes as the call was
 * told, the library can't check.
 *
 * Ranges of numbers include both of their ends, `low` and `high`, so 0 to UINT64_MAX, INT64_MIN to INT64_MAX and
 * -INFINITY to INFINITY are all keys. Ranges of byte strings include `begin`, but not `end`: see
 * latchless_bytes_count(). A low end above the high end is LATCHLESS_INVERTED_RANGE.
 *
 * Arrays. Where there are no elements, a pointer may be NULL. Elements needn't be aligned. Arrays may
 * overlap: a call works through them from the first element to the last, about a thousand at a time. A count
 * that memory can't hold is LATCHLESS_TOO_LONG. That an array has as many elements as the call was told, the
 * library can't check.
 *
 * Handles. NULL, a handle that was freed, one of another kind, and memory that isn't a handle are
 * LATCHLESS_BAD_HANDLE, as long as the address can be read: freed handles are known as such until a thousand
 * others have been freed after them.
 *
 * Threads. Any number of threads may call any function on one index at once, but for its free: no other
 * call on that index may run then, or come later. A single call on one key, or for the nearest entry, takes
 * effect in one atomic step. A batch is many such steps. Ranges and counts see what other threads change
 * meanwhile in part. What a call is given to read, nothing may write while it runs.
 *
 * A child of fork() may use an index that no other thread was changing at that moment. Otherwise a call in the child
 * may return LATCHLESS_PANIC after a second.
 *
 * No exception and no longjmp may pass through a function of this library. An exception that leaves a
 * callback ends the process; the headers for C++ take care of that. A panic of the library, which would be a bug,
 * comes back as LATCHLESS_PANIC.
 */

#ifndef LATCHLESS_H
#define LATCHLESS_H

/* Made by `cargo run -p latchless-capi --features header --example header -- --write`. */

#include <stddef.h>
#include <stdint.h>

// As the length of a range's end: there is none, so the range goes on to the last key.
#define LATCHLESS_NO_END SIZE_MAX

// The number of the binary interface that this header is of. latchless_abi() is that of the library which
// the program has found.
#define LATCHLESS_ABI 1

// The most bytes that a key of an index has. A longer one can be asked for, but isn't there.
#define LATCHLESS_KEY_MAX 65535

// The most bytes that a value of a latchless_kv has.
#define LATCHLESS_VALUE_MAX 65535

// What a call came to. Zero and above: it was done, and this is the answer. Below zero: it was refused, the
// index is as before unless the function says otherwise, and latchless_last_error() says why.
typedef enum latchless_status {
    // Done.
    LATCHLESS_OK = 0,
    // There is no such key, no such entry, or no further one.
    LATCHLESS_NOT_FOUND = 1,
    // The key was there already.
    LATCHLESS_PRESENT = 2,
    // The key's value isn't the expected one.
    LATCHLESS_MISMATCH = 3,
    // The callback ended the call.
    LATCHLESS_STOPPED = 4,
    // The system refused memory.
    LATCHLESS_OUT_OF_MEMORY = -1,
    // The index would outgrow its limit.
    LATCHLESS_MEMORY_LIMIT = -2,
    // A pointer is NULL that must not be.
    LATCHLESS_NULL = -3,
    // The handle is NULL, freed, of another kind, or none.
    LATCHLESS_BAD_HANDLE = -4,
    // Another argument is outside of what is allowed.
    LATCHLESS_INVALID = -5,
    // A key is NaN.
    LATCHLESS_NAN = -6,
    // Keys that must ascend don't.
    LATCHLESS_UNSORTED = -7,
    // Keys that must differ don't.
    LATCHLESS_DUPLICATE = -8,
    // A range whose low end is above its high end.
    LATCHLESS_INVERTED_RANGE = -9,
    // An array of so many elements can't exist.
    LATCHLESS_TOO_LONG = -10,
    // Another thread is using the cursor.
    LATCHLESS_BUSY = -11,
    // The system refused to read or write a file, or what is to be replaced is no file.
    LATCHLESS_IO = -12,
    // The file is no snapshot, or is damaged, or has other types.
    LATCHLESS_BAD_FILE = -13,
    // A check has found the index broken: a bug of the library.
    LATCHLESS_BROKEN = -14,
    // The key has more bytes than LATCHLESS_KEY_MAX.
    LATCHLESS_KEY_TOO_LONG = -15,
    // The room for a key or a value is too small; the call says how much it needs.
    LATCHLESS_SMALL_ROOM = -16,
    // The value has more bytes than LATCHLESS_VALUE_MAX.
    LATCHLESS_VALUE_TOO_LONG = -17,
    // A bug of the library, or an index that a fork has left amid a change. The handle can only be freed.
    LATCHLESS_PANIC = -99,
} latchless_status;

// The code that searches in nodes.
typedef enum latchless_kernel {
    // The fastest that the processor has.
    LATCHLESS_KERNEL_FASTEST = 0,
    // Without vector instructions.
    LATCHLESS_KERNEL_SCALAR = 1,
    // For x86-64 with AVX2.
    LATCHLESS_KERNEL_AVX2 = 2,
    // For x86-64 with AVX-512.
    LATCHLESS_KERNEL_AVX512 = 3,
    // For AArch64.
    LATCHLESS_KERNEL_NEON = 4,
} latchless_kernel;

// An ordered index from byte strings to values.
typedef struct latchless_bytes latchless_bytes;

// A place in an index of byte strings: on an entry, before the first one, or after the last one. One thread
// at a time may use it; another one meanwhile gets LATCHLESS_BUSY.
typedef struct latchless_bytes_cursor latchless_bytes_cursor;

// An ordered index from keys of the type f64 to values.
typedef struct latchless_f64 latchless_f64;

// A place in a range of such an index.
typedef struct latchless_f64_cursor latchless_f64_cursor;

// An ordered index from keys of the type i64 to values.
typedef struct latchless_i64 latchless_i64;

// A place in a range of such an index.
typedef struct latchless_i64_cursor latchless_i64_cursor;

// An ordered index from byte strings to byte strings, which are copied into it and out of it. Values of
// up to 192 bytes lie beside their keys; of longer ones a lookup costs one miss more for each 248 bytes.
typedef struct latchless_kv latchless_kv;

// A place in an index from byte strings to byte strings: on an entry, before the first one, or after the
// last one. One thread at a time may use it; another one meanwhile gets LATCHLESS_BUSY.
typedef struct latchless_kv_cursor latchless_kv_cursor;

// An ordered index from keys of the type u64 to values.
typedef struct latchless_u64 latchless_u64;

// A place in a range of such an index.
typedef struct latchless_u64_cursor latchless_u64_cursor;

// What an index is told when it is made. latchless_options_init() fills it in; then change what you like.
// Where a function takes options, NULL stands for these.
typedef struct latchless_options {
    // The size of this structure, as the program was compiled with it: so that a newer library, in which it
    // is longer, knows what the program doesn't.
    size_t struct_size;
    // The most bytes that the index may take, as memory_bytes in latchless_stats counts them; SIZE_MAX,
    // unless changed: no limit.
    size_t limit_bytes;
    // How full a load or an opened file leaves the nodes: from 0.01 to 1.0, unless changed 0.8. 1.0 takes
    // the least memory, and is for keys that won't change.
    double fill;
    // How many threads load; 1 unless changed.
    size_t threads;
    // How many requests of a batch are served together, at most 128; 0 unless changed: found out at run
    // time.
    size_t group;
    // A latchless_kernel.
    uint32_t kernel;
    // 1 unless changed: ask the system for huge pages. 0: don't.
    uint8_t huge_pages;
    // 0 unless changed. 1: a thread of the library makes memory ready before an insert needs it, so that no
    // insert waits for the system. On Linux from 5.14 on.
    uint8_t prefault;
    // Zero.
    uint8_t reserved[2];
} latchless_options;

// What an index has under a key: 64 bits, which are the caller's own. An integer; a pointer by
// (latchless_value)(uintptr_t)pointer, and back by (T *)(uintptr_t)value; a double by memcpy. The index
// never looks at them, and frees nothing that they point to.
typedef uint64_t latchless_value;

// What an index says about itself. Set struct_size to sizeof(latchless_stats) before the call.
typedef struct latchless_stats {
    // The size of this structure, as the program was compiled with it.
    size_t struct_size;
    // How many keys there are.
    uint64_t entries;
    // Bytes that the index holds for nodes, those that were emptied included, for long strings, and for
    // tables that shorten lookups; never more than limit_bytes.
    uint64_t memory_bytes;
    // Bytes of the nodes in use.
    uint64_t live_bytes;
    // Levels from the root to the leaves, both counted.
    uint64_t levels;
    // Nodes above the leaves.
    uint64_t inner_nodes;
    // Leaves.
    uint64_t leaves;
    // Share of the leaves' places that hold a key, 0.0 to 1.0.
    double leaf_fill;
    // Splits of any node since the index was made.
    uint64_t splits;
    // How often an operation found others in its way and looked again.
    uint64_t restarts;
    // How often an operation came to a wrong leaf first.
    uint64_t misled;
} latchless_stats;

// What latchless_u64_scan() calls: with `count` keys and their values, which are there until it returns.
// Not zero: no more. It may use and change the index. No exception may leave it, and no longjmp.
typedef int (*latchless_u64_visitor)(const uint64_t *keys,
                                     const latchless_value *values,
                                     size_t count,
                                     void *context);

// What latchless_i64_scan() calls: with `count` keys and their values, which are there until it returns.
// Not zero: no more. It may use and change the index. No exception may leave it, and no longjmp.
typedef int (*latchless_i64_visitor)(const int64_t *keys,
                                     const latchless_value *values,
                                     size_t count,
                                     void *context);

// What latchless_f64_scan() calls: with `count` keys and their values, which are there until it returns.
// Not zero: no more. It may use and change the index. No exception may leave it, and no longjmp.
typedef int (*latchless_f64_visitor)(const double *keys,
                                     const latchless_value *values,
                                     size_t count,
                                     void *context);

// What latchless_bytes_scan() calls: with a key and its value. The key is there until it returns. Not
// zero: no more. It may use and change the index. No exception may leave it, and no longjmp.
typedef int (*latchless_bytes_visitor)(const void *key,
                                       size_t key_len,
                                       latchless_value value,
                                       void *context);

// What latchless_kv_scan() calls: with a key and its value. Both are there until it returns. Not
// zero: no more. It may use and change the index. No exception may leave it, and no longjmp.
typedef int (*latchless_kv_visitor)(const void *key,
                                    size_t key_len,
                                    const void *value,
                                    size_t value_len,
                                    void *context);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The library's version, such as "0.1.0".
const char *latchless_version(void);

// The number of the library's binary interface: LATCHLESS_ABI, unless the program found another library
// than it was compiled for.
uint32_t latchless_abi(void);

// A few words about a status; of a number that is none, that it is none.
const char *latchless_status_text(int status);

// Why the calling thread's last call that failed did: which function, what was wrong, and where. Empty if
// none has failed. The text is there until the thread's next call that fails, and in no other thread. What
// is over 511 bytes is cut.
const char *latchless_last_error(void);

// Fills in options. `size` is sizeof(latchless_options).
enum latchless_status latchless_options_init(struct latchless_options *options, size_t size);

// Makes an empty index. `options` may be NULL. `*out` is NULL if that fails.
enum latchless_status latchless_u64_new(const struct latchless_options *options,
                                        struct latchless_u64 **out);

// Makes an index of columns: each value goes under the key at its place. Keys must ascend and differ.
// Takes a fraction of the time of inserts. `options` may be NULL. `*out` is NULL if that fails; the
// message names the position at fault.
enum latchless_status latchless_u64_bulk_load(const uint64_t *keys,
                                              const latchless_value *values,
                                              size_t count,
                                              const struct latchless_options *options,
                                              struct latchless_u64 **out);

// Makes an index of a file that a save has written, here or by the library for Rust or Python, if its keys
// are of this type and its values have 64 bits. `options` may be NULL. `*out` is NULL if that fails.
enum latchless_status latchless_u64_open(const char *path,
                                         const struct latchless_options *options,
                                         struct latchless_u64 **out);

// Writes all entries to an Arrow file with the columns `key` and `value`. What is at `path` is replaced in
// one step, or left as it was if the call fails. The file that a symbolic link leads to is replaced; the
// permissions stay. What is there and no file is refused with `LATCHLESS_IO`. Other threads may use and
// change the index meanwhile; entries that they change are saved in one of their states. `entries`, which
// may be NULL, gets how many were saved.
enum latchless_status latchless_u64_save(const struct latchless_u64 *index,
                                         const char *path,
                                         size_t *entries);

// Frees an index, unless `index` is NULL. No other thread may be using it. Cursors of it go on, and keep
// its memory until they are freed.
enum latchless_status latchless_u64_free(struct latchless_u64 *index);

// How many keys there are. Exact when no thread is changing that.
enum latchless_status latchless_u64_len(const struct latchless_u64 *index, size_t *len);

// Removes all keys. Not atomic as a whole. Memory is kept for what comes next.
enum latchless_status latchless_u64_clear(const struct latchless_u64 *index);

// Memory, nodes, fill. Set stats->struct_size first. Looks at every node; about right while other threads
// change the index.
enum latchless_status latchless_u64_stats(const struct latchless_u64 *index,
                                          struct latchless_stats *stats);

// Looks at every node and says what is broken, if anything is: a bug of the library. For an index that no
// thread is changing.
enum latchless_status latchless_u64_check_invariants(const struct latchless_u64 *index);

// The key's value. LATCHLESS_NOT_FOUND: the key isn't there, and `*value` is as before. `value` may be NULL.
enum latchless_status latchless_u64_get(const struct latchless_u64 *index,
                                        uint64_t key,
                                        latchless_value *value);

// LATCHLESS_OK if the key is there, otherwise LATCHLESS_NOT_FOUND.
enum latchless_status latchless_u64_contains_key(const struct latchless_u64 *index, uint64_t key);

// Puts a value under a key. LATCHLESS_PRESENT: the key was there, its value is replaced, and `*before` gets
// the one before. LATCHLESS_OK: it wasn't. `before` may be NULL.
enum latchless_status latchless_u64_insert(const struct latchless_u64 *index,
                                           uint64_t key,
                                           latchless_value value,
                                           latchless_value *before);

// Puts a value under a key that isn't there. LATCHLESS_PRESENT: it was, nothing is changed, and `*present`
// gets its value. `present` may be NULL.
enum latchless_status latchless_u64_try_insert(const struct latchless_u64 *index,
                                               uint64_t key,
                                               latchless_value value,
                                               latchless_value *present);

// Replaces the value of a key that is there; `*before` gets the one before. LATCHLESS_NOT_FOUND: it isn't,
// and nothing is changed. `before` may be NULL.
enum latchless_status latchless_u64_replace(const struct latchless_u64 *index,
                                            uint64_t key,
                                            latchless_value value,
                                            latchless_value *before);

// Removes a key; `*before` gets its value. LATCHLESS_NOT_FOUND: it isn't there. `before` may be NULL.
enum latchless_status latchless_u64_remove(const struct latchless_u64 *index,
                                           uint64_t key,
                                           latchless_value *before);

// Replaces the value of a key if it is the expected one. LATCHLESS_MISMATCH: it is another one, which
// `*found` gets. LATCHLESS_NOT_FOUND: the key isn't there. In both cases nothing is changed. `found` may
// be NULL.
enum latchless_status latchless_u64_compare_exchange(const struct latchless_u64 *index,
                                                     uint64_t key,
                                                     latchless_value expected,
                                                     latchless_value value,
                                                     latchless_value *found);

// Removes a key if its value is the expected one; otherwise as latchless_u64_compare_exchange().
enum latchless_status latchless_u64_compare_remove(const struct latchless_u64 *index,
                                                   uint64_t key,
                                                   latchless_value expected,
                                                   latchless_value *found);

// The entry with the smallest key. LATCHLESS_NOT_FOUND: the index is empty. Here and below `key` and `value`
// may be NULL, and get nothing if nothing is found.
enum latchless_status latchless_u64_first(const struct latchless_u64 *index,
                                          uint64_t *key,
                                          latchless_value *value);

// The entry with the largest key.
enum latchless_status latchless_u64_last(const struct latchless_u64 *index,
                                         uint64_t *key,
                                         latchless_value *value);

// Removes the entry with the smallest key, atomically.
enum latchless_status latchless_u64_pop_first(const struct latchless_u64 *index,
                                              uint64_t *key,
                                              latchless_value *value);

// Removes the entry with the largest key, atomically.
enum latchless_status latchless_u64_pop_last(const struct latchless_u64 *index,
                                             uint64_t *key,
                                             latchless_value *value);

// The entry with the largest key that is equal or smaller.
enum latchless_status latchless_u64_floor(const struct latchless_u64 *index,
                                          uint64_t key,
                                          uint64_t *near_key,
                                          latchless_value *value);

// The entry with the smallest key that is equal or larger.
enum latchless_status latchless_u64_ceiling(const struct latchless_u64 *index,
                                            uint64_t key,
                                            uint64_t *near_key,
                                            latchless_value *value);

// The entry with the largest smaller key.
enum latchless_status latchless_u64_lower(const struct latchless_u64 *index,
                                          uint64_t key,
                                          uint64_t *near_key,
                                          latchless_value *value);

// The entry with the smallest larger key.
enum latchless_status latchless_u64_higher(const struct latchless_u64 *index,
                                           uint64_t key,
                                           uint64_t *near_key,
                                           latchless_value *value);

// The entry whose key is nearest, on whichever side; of two that are equally near the one with the smaller
// key. At one moment no entry was nearer, on either side; what latchless_u64_floor and latchless_u64_ceiling
// find, called one after the other, may be of different moments.
enum latchless_status latchless_u64_nearest(const struct latchless_u64 *index,
                                            uint64_t key,
                                            uint64_t *near_key,
                                            latchless_value *value);

// How many keys are smaller than `key`, which needn't be there. The first such call, or a long count, counts
// everything; later ones count what has changed since.
enum latchless_status latchless_u64_rank(const struct latchless_u64 *index,
                                         uint64_t key,
                                         size_t *rank);

// The entry before which there are `position` others. LATCHLESS_NOT_FOUND: there are no more than that.
enum latchless_status latchless_u64_nth(const struct latchless_u64 *index,
                                        size_t position,
                                        uint64_t *key,
                                        latchless_value *value);

// Looks `count` keys up. found[i] gets 1 if keys[i] is there, and values[i] its value; otherwise found[i]
// gets 0, and values[i] is as before. `*hits` gets how many are there. `values`, `found` and `hits` may be
// NULL.
enum latchless_status latchless_u64_get_columns(const struct latchless_u64 *index,
                                                const uint64_t *keys,
                                                size_t count,
                                                latchless_value *values,
                                                uint8_t *found,
                                                size_t *hits);

// Puts values[i] under keys[i]; of equal keys the last one's stays. Ascending keys go in faster. `*new_keys`
// gets how many weren't there before. If memory is refused, all others are done, refused[i] gets 1 for
// those that aren't, and `*new_keys` is as before; otherwise refused[i] gets 0. `new_keys` and `refused` may
// be NULL.
enum latchless_status latchless_u64_insert_columns(const struct latchless_u64 *index,
                                                   const uint64_t *keys,
                                                   const latchless_value *values,
                                                   size_t count,
                                                   size_t *new_keys,
                                                   uint8_t *refused);

// Removes keys; otherwise as latchless_u64_get_columns().
enum latchless_status latchless_u64_remove_columns(const struct latchless_u64 *index,
                                                   const uint64_t *keys,
                                                   size_t count,
                                                   latchless_value *values,
                                                   uint8_t *found,
                                                   size_t *hits);

// For each key the entry with the largest key that is equal or smaller; near_keys[i] and values[i] get it,
// and are as before where there is none. Otherwise as latchless_u64_get_columns(); `near_keys` may be
// NULL, too.
enum latchless_status latchless_u64_floor_columns(const struct latchless_u64 *index,
                                                  const uint64_t *keys,
                                                  size_t count,
                                                  uint64_t *near_keys,
                                                  latchless_value *values,
                                                  uint8_t *found,
                                                  size_t *hits);

// For each key the entry with the smallest key that is equal or larger; near_keys[i] and values[i] get it,
// and are as before where there is none. Otherwise as latchless_u64_get_columns(); `near_keys` may be
// NULL, too.
enum latchless_status latchless_u64_ceiling_columns(const struct latchless_u64 *index,
                                                    const uint64_t *keys,
                                                    size_t count,
                                                    uint64_t *near_keys,
                                                    latchless_value *values,
                                                    uint8_t *found,
                                                    size_t *hits);

// For each key the entry with the largest smaller key; near_keys[i] and values[i] get it, and are as before
// where there is none. Otherwise as latchless_u64_get_columns(); `near_keys` may be NULL, too.
enum latchless_status latchless_u64_lower_columns(const struct latchless_u64 *index,
                                                  const uint64_t *keys,
                                                  size_t count,
                                                  uint64_t *near_keys,
                                                  latchless_value *values,
                                                  uint8_t *found,
                                                  size_t *hits);

// For each key the entry with the smallest larger key; near_keys[i] and values[i] get it, and are as before
// where there is none. Otherwise as latchless_u64_get_columns(); `near_keys` may be NULL, too.
enum latchless_status latchless_u64_higher_columns(const struct latchless_u64 *index,
                                                   const uint64_t *keys,
                                                   size_t count,
                                                   uint64_t *near_keys,
                                                   latchless_value *values,
                                                   uint8_t *found,
                                                   size_t *hits);

// Of each key the nearest entry, on whichever side, as latchless_u64_nearest; otherwise as
// latchless_u64_floor_columns. Each answer is of one moment.
enum latchless_status latchless_u64_nearest_columns(const struct latchless_u64 *index,
                                                    const uint64_t *keys,
                                                    size_t count,
                                                    uint64_t *near_keys,
                                                    latchless_value *values,
                                                    uint8_t *found,
                                                    size_t *hits);

// ranks[i] gets how many keys are smaller than keys[i].
enum latchless_status latchless_u64_rank_columns(const struct latchless_u64 *index,
                                                 const uint64_t *keys,
                                                 size_t count,
                                                 size_t *ranks);

// counts[i] gets how many keys there are from low[i] to high[i], both included.
enum latchless_status latchless_u64_count_columns(const struct latchless_u64 *index,
                                                  const uint64_t *low,
                                                  const uint64_t *high,
                                                  size_t count,
                                                  size_t *counts);

// How many keys there are from `low` to `high`, both included.
enum latchless_status latchless_u64_count(const struct latchless_u64 *index,
                                          uint64_t low,
                                          uint64_t high,
                                          size_t *count);

// Removes the keys from `low` to `high`, both included; `*removed`, which may be NULL, gets how many they
// were. Not atomic as a whole.
enum latchless_status latchless_u64_remove_range(const struct latchless_u64 *index,
                                                 uint64_t low,
                                                 uint64_t high,
                                                 size_t *removed);

// Copies the first entries from `low` to `high`, both included, or if `descending` isn't 0 the last ones,
// backwards: at most `room`. `*filled` gets how many. LATCHLESS_NOT_FOUND: there is none. `keys` and
// `values` may be NULL.
enum latchless_status latchless_u64_page(const struct latchless_u64 *index,
                                         uint64_t low,
                                         uint64_t high,
                                         int descending,
                                         uint64_t *keys,
                                         latchless_value *values,
                                         size_t room,
                                         size_t *filled);

// Shows the entries from `low` to `high`, both included, ascending, to a function, some dozens at a time.
// LATCHLESS_STOPPED: it returned something else than 0.
enum latchless_status latchless_u64_scan(const struct latchless_u64 *index,
                                         uint64_t low,
                                         uint64_t high,
                                         latchless_u64_visitor visitor,
                                         void *context);

// Makes a cursor, which copies the entries from `low` to `high`, both included, page by page, ascending
// or, if `descending` isn't 0, descending. It sees what other threads change ahead of it. It may outlive
// the index. `*out` is NULL if that fails.
enum latchless_status latchless_u64_cursor_new(const struct latchless_u64 *index,
                                               uint64_t low,
                                               uint64_t high,
                                               int descending,
                                               struct latchless_u64_cursor **out);

// Copies the next entries, at most `room`, which is 1 or more; `*filled` gets how many. LATCHLESS_NOT_FOUND:
// there are no more. `keys` and `values` may be NULL. One thread at a time may use a cursor; another one
// meanwhile gets LATCHLESS_BUSY.
enum latchless_status latchless_u64_cursor_next(struct latchless_u64_cursor *cursor,
                                                uint64_t *keys,
                                                latchless_value *values,
                                                size_t room,
                                                size_t *filled);

// Frees a cursor, unless `cursor` is NULL.
enum latchless_status latchless_u64_cursor_free(struct latchless_u64_cursor *cursor);

// Makes an empty index. `options` may be NULL. `*out` is NULL if that fails.
enum latchless_status latchless_i64_new(const struct latchless_options *options,
                                        struct latchless_i64 **out);

// Makes an index of columns: each value goes under the key at its place. Keys must ascend and differ.
// Takes a fraction of the time of inserts. `options` may be NULL. `*out` is NULL if that fails; the
// message names the position at fault.
enum latchless_status latchless_i64_bulk_load(const int64_t *keys,
                                              const latchless_value *values,
                                              size_t count,
                                              const struct latchless_options *options,
                                              struct latchless_i64 **out);

// Makes an index of a file that a save has written, here or by the library for Rust or Python, if its keys
// are of this type and its values have 64 bits. `options` may be NULL. `*out` is NULL if that fails.
enum latchless_status latchless_i64_open(const char *path,
                                         const struct latchless_options *options,
                                         struct latchless_i64 **out);

// Writes all entries to an Arrow file with the columns `key` and `value`. What is at `path` is replaced in
// one step, or left as it was if the call fails. The file that a symbolic link leads to is replaced; the
// permissions stay. What is there and no file is refused with `LATCHLESS_IO`. Other threads may use and
// change the index meanwhile; entries that they change are saved in one of their states. `entries`, which
// may be NULL, gets how many were saved.
enum latchless_status latchless_i64_save(const struct latchless_i64 *index,
                                         const char *path,
                                         size_t *entries);

// Frees an index, unless `index` is NULL. No other thread may be using it. Cursors of it go on, and keep
// its memory until they are freed.
enum latchless_status latchless_i64_free(struct latchless_i64 *index);

// How many keys there are. Exact when no thread is changing that.
enum latchless_status latchless_i64_len(const struct latchless_i64 *index, size_t *len);

// Removes all keys. Not atomic as a whole. Memory is kept for what comes next.
enum latchless_status latchless_i64_clear(const struct latchless_i64 *index);

// Memory, nodes, fill. Set stats->struct_size first. Looks at every node; about right while other threads
// change the index.
enum latchless_status latchless_i64_stats(const struct latchless_i64 *index,
                                          struct latchless_stats *stats);

// Looks at every node and says what is broken, if anything is: a bug of the library. For an index that no
// thread is changing.
enum latchless_status latchless_i64_check_invariants(const struct latchless_i64 *index);

// The key's value. LATCHLESS_NOT_FOUND: the key isn't there, and `*value` is as before. `value` may be NULL.
enum latchless_status latchless_i64_get(const struct latchless_i64 *index,
                                        int64_t key,
                                        latchless_value *value);

// LATCHLESS_OK if the key is there, otherwise LATCHLESS_NOT_FOUND.
enum latchless_status latchless_i64_contains_key(const struct latchless_i64 *index, int64_t key);

// Puts a value under a key. LATCHLESS_PRESENT: the key was there, its value is replaced, and `*before` gets
// the one before. LATCHLESS_OK: it wasn't. `before` may be NULL.
enum latchless_status latchless_i64_insert(const struct latchless_i64 *index,
                                           int64_t key,
                                           latchless_value value,
                                           latchless_value *before);

// Puts a value under a key that isn't there. LATCHLESS_PRESENT: it was, nothing is changed, and `*present`
// gets its value. `present` may be NULL.
enum latchless_status latchless_i64_try_insert(const struct latchless_i64 *index,
                                               int64_t key,
                                               latchless_value value,
                                               latchless_value *present);

// Replaces the value of a key that is there; `*before` gets the one before. LATCHLESS_NOT_FOUND: it isn't,
// and nothing is changed. `before` may be NULL.
enum latchless_status latchless_i64_replace(const struct latchless_i64 *index,
                                            int64_t key,
                                            latchless_value value,
                                            latchless_value *before);

// Removes a key; `*before` gets its value. LATCHLESS_NOT_FOUND: it isn't there. `before` may be NULL.
enum latchless_status latchless_i64_remove(const struct latchless_i64 *index,
                                           int64_t key,
                                           latchless_value *before);

// Replaces the value of a key if it is the expected one. LATCHLESS_MISMATCH: it is another one, which
// `*found` gets. LATCHLESS_NOT_FOUND: the key isn't there. In both cases nothing is changed. `found` may
// be NULL.
enum latchless_status latchless_i64_compare_exchange(const struct latchless_i64 *index,
                                                     int64_t key,
                                                     latchless_value expected,
                                                     latchless_value value,
                                                     latchless_value *found);

// Removes a key if its value is the expected one; otherwise as latchless_i64_compare_exchange().
enum latchless_status latchless_i64_compare_remove(const struct latchless_i64 *index,
                                                   int64_t key,
                                                   latchless_value expected,
                                                   latchless_value *found);

// The entry with the smallest key. LATCHLESS_NOT_FOUND: the index is empty. Here and below `key` and `value`
// may be NULL, and get nothing if nothing is found.
enum latchless_status latchless_i64_first(const struct latchless_i64 *index,
                                          int64_t *key,
                                          latchless_value *value);

// The entry with the largest key.
enum latchless_status latchless_i64_last(const struct latchless_i64 *index,
                                         int64_t *key,
                                         latchless_value *value);

// Removes the entry with the smallest key, atomically.
enum latchless_status latchless_i64_pop_first(const struct latchless_i64 *index,
                                              int64_t *key,
                                              latchless_value *value);

// Removes the entry with the largest key, atomically.
enum latchless_status latchless_i64_pop_last(const struct latchless_i64 *index,
                                             int64_t *key,
                                             latchless_value *value);

// The entry with the largest key that is equal or smaller.
enum latchless_status latchless_i64_floor(const struct latchless_i64 *index,
                                          int64_t key,
                                          int64_t *near_key,
                                          latchless_value *value);

// The entry with the smallest key that is equal or larger.
enum latchless_status latchless_i64_ceiling(const struct latchless_i64 *index,
                                            int64_t key,
                                            int64_t *near_key,
                                            latchless_value *value);

// The entry with the largest smaller key.
enum latchless_status latchless_i64_lower(const struct latchless_i64 *index,
                                          int64_t key,
                                          int64_t *near_key,
                                          latchless_value *value);

// The entry with the smallest larger key.
enum latchless_status latchless_i64_higher(const struct latchless_i64 *index,
                                           int64_t key,
                                           int64_t *near_key,
                                           latchless_value *value);

// The entry whose key is nearest, on whichever side; of two that are equally near the one with the smaller
// key. At one moment no entry was nearer, on either side; what latchless_i64_floor and latchless_i64_ceiling
// find, called one after the other, may be of different moments.
enum latchless_status latchless_i64_nearest(const struct latchless_i64 *index,
                                            int64_t key,
                                            int64_t *near_key,
                                            latchless_value *value);

// How many keys are smaller than `key`, which needn't be there. The first such call, or a long count, counts
// everything; later ones count what has changed since.
enum latchless_status latchless_i64_rank(const struct latchless_i64 *index,
                                         int64_t key,
                                         size_t *rank);

// The entry before which there are `position` others. LATCHLESS_NOT_FOUND: there are no more than that.
enum latchless_status latchless_i64_nth(const struct latchless_i64 *index,
                                        size_t position,
                                        int64_t *key,
                                        latchless_value *value);

// Looks `count` keys up. found[i] gets 1 if keys[i] is there, and values[i] its value; otherwise found[i]
// gets 0, and values[i] is as before. `*hits` gets how many are there. `values`, `found` and `hits` may be
// NULL.
enum latchless_status latchless_i64_get_columns(const struct latchless_i64 *index,
                                                const int64_t *keys,
                                                size_t count,
                                                latchless_value *values,
                                                uint8_t *found,
                                                size_t *hits);

// Puts values[i] under keys[i]; of equal keys the last one's stays. Ascending keys go in faster. `*new_keys`
// gets how many weren't there before. If memory is refused, all others are done, refused[i] gets 1 for
// those that aren't, and `*new_keys` is as before; otherwise refused[i] gets 0. `new_keys` and `refused` may
// be NULL.
enum latchless_status latchless_i64_insert_columns(const struct latchless_i64 *index,
                                                   const int64_t *keys,
                                                   const latchless_value *values,
                                                   size_t count,
                                                   size_t *new_keys,
                                                   uint8_t *refused);

// Removes keys; otherwise as latchless_i64_get_columns().
enum latchless_status latchless_i64_remove_columns(const struct latchless_i64 *index,
                                                   const int64_t *keys,
                                                   size_t count,
                                                   latchless_value *values,
                                                   uint8_t *found,
                                                   size_t *hits);

// For each key the entry with the largest key that is equal or smaller; near_keys[i] and values[i] get it,
// and are as before where there is none. Otherwise as latchless_i64_get_columns(); `near_keys` may be
// NULL, too.
enum latchless_status latchless_i64_floor_columns(const struct latchless_i64 *index,
                                                  const int64_t *keys,
                                                  size_t count,
                                                  int64_t *near_keys,
                                                  latchless_value *values,
                                                  uint8_t *found,
                                                  size_t *hits);

// For each key the entry with the smallest key that is equal or larger; near_keys[i] and values[i] get it,
// and are as before where there is none. Otherwise as latchless_i64_get_columns(); `near_keys` may be
// NULL, too.
enum latchless_status latchless_i64_ceiling_columns(const struct latchless_i64 *index,
                                                    const int64_t *keys,
                                                    size_t count,
                                                    int64_t *near_keys,
                                                    latchless_value *values,
                                                    uint8_t *found,
                                                    size_t *hits);

// For each key the entry with the largest smaller key; near_keys[i] and values[i] get it, and are as before
// where there is none. Otherwise as latchless_i64_get_columns(); `near_keys` may be NULL, too.
enum latchless_status latchless_i64_lower_columns(const struct latchless_i64 *index,
                                                  const int64_t *keys,
                                                  size_t count,
                                                  int64_t *near_keys,
                                                  latchless_value *values,
                                                  uint8_t *found,
                                                  size_t *hits);

// For each key the entry with the smallest larger key; near_keys[i] and values[i] get it, and are as before
// where there is none. Otherwise as latchless_i64_get_columns(); `near_keys` may be NULL, too.
enum latchless_status latchless_i64_higher_columns(const struct latchless_i64 *index,
                                                   const int64_t *keys,
                                                   size_t count,
                                                   int64_t *near_keys,
                                                   latchless_value *values,
                                                   uint8_t *found,
                                                   size_t *hits);

// Of each key the nearest entry, on whichever side, as latchless_i64_nearest; otherwise as
// latchless_i64_floor_columns. Each answer is of one moment.
enum latchless_status latchless_i64_nearest_columns(const struct latchless_i64 *index,
                                                    const int64_t *keys,
                                                    size_t count,
                                                    int64_t *near_keys,
                                                    latchless_value *values,
                                                    uint8_t *found,
                                                    size_t *hits);

// ranks[i] gets how many keys are smaller than keys[i].
enum latchless_status latchless_i64_rank_columns(const struct latchless_i64 *index,
                                                 const int64_t *keys,
                                                 size_t count,
                                                 size_t *ranks);

// counts[i] gets how many keys there are from low[i] to high[i], both included.
enum latchless_status latchless_i64_count_columns(const struct latchless_i64 *index,
                                                  const int64_t *low,
                                                  const int64_t *high,
                                                  size_t count,
                                                  size_t *counts);

// How many keys there are from `low` to `high`, both included.
enum latchless_status latchless_i64_count(const struct latchless_i64 *index,
                                          int64_t low,
                                          int64_t high,
                                          size_t *count);

// Removes the keys from `low` to `high`, both included; `*removed`, which may be NULL, gets how many they
// were. Not atomic as a whole.
enum latchless_status latchless_i64_remove_range(const struct latchless_i64 *index,
                                                 int64_t low,
                                                 int64_t high,
                                                 size_t *removed);

// Copies the first entries from `low` to `high`, both included, or if `descending` isn't 0 the last ones,
// backwards: at most `room`. `*filled` gets how many. LATCHLESS_NOT_FOUND: there is none. `keys` and
// `values` may be NULL.
enum latchless_status latchless_i64_page(const struct latchless_i64 *index,
                                         int64_t low,
                                         int64_t high,
                                         int descending,
                                         int64_t *keys,
                                         latchless_value *values,
                                         size_t room,
                                         size_t *filled);

// Shows the entries from `low` to `high`, both included, ascending, to a function, some dozens at a time.
// LATCHLESS_STOPPED: it returned something else than 0.
enum latchless_status latchless_i64_scan(const struct latchless_i64 *index,
                                         int64_t low,
                                         int64_t high,
                                         latchless_i64_visitor visitor,
                                         void *context);

// Makes a cursor, which copies the entries from `low` to `high`, both included, page by page, ascending
// or, if `descending` isn't 0, descending. It sees what other threads change ahead of it. It may outlive
// the index. `*out` is NULL if that fails.
enum latchless_status latchless_i64_cursor_new(const struct latchless_i64 *index,
                                               int64_t low,
                                               int64_t high,
                                               int descending,
                                               struct latchless_i64_cursor **out);

// Copies the next entries, at most `room`, which is 1 or more; `*filled` gets how many. LATCHLESS_NOT_FOUND:
// there are no more. `keys` and `values` may be NULL. One thread at a time may use a cursor; another one
// meanwhile gets LATCHLESS_BUSY.
enum latchless_status latchless_i64_cursor_next(struct latchless_i64_cursor *cursor,
                                                int64_t *keys,
                                                latchless_value *values,
                                                size_t room,
                                                size_t *filled);

// Frees a cursor, unless `cursor` is NULL.
enum latchless_status latchless_i64_cursor_free(struct latchless_i64_cursor *cursor);

// Makes an empty index. `options` may be NULL. `*out` is NULL if that fails.
enum latchless_status latchless_f64_new(const struct latchless_options *options,
                                        struct latchless_f64 **out);

// Makes an index of columns: each value goes under the key at its place. Keys must ascend and differ.
// Takes a fraction of the time of inserts. `options` may be NULL. `*out` is NULL if that fails; the
// message names the position at fault.
enum latchless_status latchless_f64_bulk_load(const double *keys,
                                              const latchless_value *values,
                                              size_t count,
                                              const struct latchless_options *options,
                                              struct latchless_f64 **out);

// Makes an index of a file that a save has written, here or by the library for Rust or Python, if its keys
// are of this type and its values have 64 bits. `options` may be NULL. `*out` is NULL if that fails.
enum latchless_status latchless_f64_open(const char *path,
                                         const struct latchless_options *options,
                                         struct latchless_f64 **out);

// Writes all entries to an Arrow file with the columns `key` and `value`. What is at `path` is replaced in
// one step, or left as it was if the call fails. The file that a symbolic link leads to is replaced; the
// permissions stay. What is there and no file is refused with `LATCHLESS_IO`. Other threads may use and
// change the index meanwhile; entries that they change are saved in one of their states. `entries`, which
// may be NULL, gets how many were saved.
enum latchless_status latchless_f64_save(const struct latchless_f64 *index,
                                         const char *path,
                                         size_t *entries);

// Frees an index, unless `index` is NULL. No other thread may be using it. Cursors of it go on, and keep
// its memory until they are freed.
enum latchless_status latchless_f64_free(struct latchless_f64 *index);

// How many keys there are. Exact when no thread is changing that.
enum latchless_status latchless_f64_len(const struct latchless_f64 *index, size_t *len);

// Removes all keys. Not atomic as a whole. Memory is kept for what comes next.
enum latchless_status latchless_f64_clear(const struct latchless_f64 *index);

// Memory, nodes, fill. Set stats->struct_size first. Looks at every node; about right while other threads
// change the index.
enum latchless_status latchless_f64_stats(const struct latchless_f64 *index,
                                          struct latchless_stats *stats);

// Looks at every node and says what is broken, if anything is: a bug of the library. For an index that no
// thread is changing.
enum latchless_status latchless_f64_check_invariants(const struct latchless_f64 *index);

// The key's value. LATCHLESS_NOT_FOUND: the key isn't there, and `*value` is as before. `value` may be NULL.
enum latchless_status latchless_f64_get(const struct latchless_f64 *index,
                                        double key,
                                        latchless_value *value);

// LATCHLESS_OK if the key is there, otherwise LATCHLESS_NOT_FOUND.
enum latchless_status latchless_f64_contains_key(const struct latchless_f64 *index, double key);

// Puts a value under a key. LATCHLESS_PRESENT: the key was there, its value is replaced, and `*before` gets
// the one before. LATCHLESS_OK: it wasn't. `before` may be NULL.
enum latchless_status latchless_f64_insert(const struct latchless_f64 *index,
                                           double key,
                                           latchless_value value,
                                           latchless_value *before);

// Puts a value under a key that isn't there. LATCHLESS_PRESENT: it was, nothing is changed, and `*present`
// gets its value. `present` may be NULL.
enum latchless_status latchless_f64_try_insert(const struct latchless_f64 *index,
                                               double key,
                                               latchless_value value,
                                               latchless_value *present);

// Replaces the value of a key that is there; `*before` gets the one before. LATCHLESS_NOT_FOUND: it isn't,
// and nothing is changed. `before` may be NULL.
enum latchless_status latchless_f64_replace(const struct latchless_f64 *index,
                                            double key,
                                            latchless_value value,
                                            latchless_value *before);

// Removes a key; `*before` gets its value. LATCHLESS_NOT_FOUND: it isn't there. `before` may be NULL.
enum latchless_status latchless_f64_remove(const struct latchless_f64 *index,
                                           double key,
                                           latchless_value *before);

// Replaces the value of a key if it is the expected one. LATCHLESS_MISMATCH: it is another one, which
// `*found` gets. LATCHLESS_NOT_FOUND: the key isn't there. In both cases nothing is changed. `found` may
// be NULL.
enum latchless_status latchless_f64_compare_exchange(const struct latchless_f64 *index,
                                                     double key,
                                                     latchless_value expected,
                                                     latchless_value value,
                                                     latchless_value *found);

// Removes a key if its value is the expected one; otherwise as latchless_f64_compare_exchange().
enum latchless_status latchless_f64_compare_remove(const struct latchless_f64 *index,
                                                   double key,
                                                   latchless_value expected,
                                                   latchless_value *found);

// The entry with the smallest key. LATCHLESS_NOT_FOUND: the index is empty. Here and below `key` and `value`
// may be NULL, and get nothing if nothing is found.
enum latchless_status latchless_f64_first(const struct latchless_f64 *index,
                                          double *key,
                                          latchless_value *value);

// The entry with the largest key.
enum latchless_status latchless_f64_last(const struct latchless_f64 *index,
                                         double *key,
                                         latchless_value *value);

// Removes the entry with the smallest key, atomically.
enum latchless_status latchless_f64_pop_first(const struct latchless_f64 *index,
                                              double *key,
                                              latchless_value *value);

// Removes the entry with the largest key, atomically.
enum latchless_status latchless_f64_pop_last(const struct latchless_f64 *index,
                                             double *key,
                                             latchless_value *value);

// The entry with the largest key that is equal or smaller.
enum latchless_status latchless_f64_floor(const struct latchless_f64 *index,
                                          double key,
                                          double *near_key,
                                          latchless_value *value);

// The entry with the smallest key that is equal or larger.
enum latchless_status latchless_f64_ceiling(const struct latchless_f64 *index,
                                            double key,
                                            double *near_key,
                                            latchless_value *value);

// The entry with the largest smaller key.
enum latchless_status latchless_f64_lower(const struct latchless_f64 *index,
                                          double key,
                                          double *near_key,
                                          latchless_value *value);

// The entry with the smallest larger key.
enum latchless_status latchless_f64_higher(const struct latchless_f64 *index,
                                           double key,
                                           double *near_key,
                                           latchless_value *value);

// The entry whose key is nearest, on whichever side; of two that are equally near the one with the smaller
// key. At one moment no entry was nearer, on either side; what latchless_f64_floor and latchless_f64_ceiling
// find, called one after the other, may be of different moments.
enum latchless_status latchless_f64_nearest(const struct latchless_f64 *index,
                                            double key,
                                            double *near_key,
                                            latchless_value *value);

// How many keys are smaller than `key`, which needn't be there. The first such call, or a long count, counts
// everything; later ones count what has changed since.
enum latchless_status latchless_f64_rank(const struct latchless_f64 *index,
                                         double key,
                                         size_t *rank);

// The entry before which there are `position` others. LATCHLESS_NOT_FOUND: there are no more than that.
enum latchless_status latchless_f64_nth(const struct latchless_f64 *index,
                                        size_t position,
                                        double *key,
                                        latchless_value *value);

// Looks `count` keys up. found[i] gets 1 if keys[i] is there, and values[i] its value; otherwise found[i]
// gets 0, and values[i] is as before. `*hits` gets how many are there. `values`, `found` and `hits` may be
// NULL.
enum latchless_status latchless_f64_get_columns(const struct latchless_f64 *index,
                                                const double *keys,
                                                size_t count,
                                                latchless_value *values,
                                                uint8_t *found,
                                                size_t *hits);

// Puts values[i] under keys[i]; of equal keys the last one's stays. Ascending keys go in faster. `*new_keys`
// gets how many weren't there before. If memory is refused, all others are done, refused[i] gets 1 for
// those that aren't, and `*new_keys` is as before; otherwise refused[i] gets 0. `new_keys` and `refused` may
// be NULL.
enum latchless_status latchless_f64_insert_columns(const struct latchless_f64 *index,
                                                   const double *keys,
                                                   const latchless_value *values,
                                                   size_t count,
                                                   size_t *new_keys,
                                                   uint8_t *refused);

// Removes keys; otherwise as latchless_f64_get_columns().
enum latchless_status latchless_f64_remove_columns(const struct latchless_f64 *index,
                                                   const double *keys,
                                                   size_t count,
                                                   latchless_value *values,
                                                   uint8_t *found,
                                                   size_t *hits);

// For each key the entry with the largest key that is equal or smaller; near_keys[i] and values[i] get it,
// and are as before where there is none. Otherwise as latchless_f64_get_columns(); `near_keys` may be
// NULL, too.
enum latchless_status latchless_f64_floor_columns(const struct latchless_f64 *index,
                                                  const double *keys,
                                                  size_t count,
                                                  double *near_keys,
                                                  latchless_value *values,
                                                  uint8_t *found,
                                                  size_t *hits);

// For each key the entry with the smallest key that is equal or larger; near_keys[i] and values[i] get it,
// and are as before where there is none. Otherwise as latchless_f64_get_columns(); `near_keys` may be
// NULL, too.
enum latchless_status latchless_f64_ceiling_columns(const struct latchless_f64 *index,
                                                    const double *keys,
                                                    size_t count,
                                                    double *near_keys,
                                                    latchless_value *values,
                                                    uint8_t *found,
                                                    size_t *hits);

// For each key the entry with the largest smaller key; near_keys[i] and values[i] get it, and are as before
// where there is none. Otherwise as latchless_f64_get_columns(); `near_keys` may be NULL, too.
enum latchless_status latchless_f64_lower_columns(const struct latchless_f64 *index,
                                                  const double *keys,
                                                  size_t count,
                                                  double *near_keys,
                                                  latchless_value *values,
                                                  uint8_t *found,
                                                  size_t *hits);

// For each key the entry with the smallest larger key; near_keys[i] and values[i] get it, and are as before
// where there is none. Otherwise as latchless_f64_get_columns(); `near_keys` may be NULL, too.
enum latchless_status latchless_f64_higher_columns(const struct latchless_f64 *index,
                                                   const double *keys,
                                                   size_t count,
                                                   double *near_keys,
                                                   latchless_value *values,
                                                   uint8_t *found,
                                                   size_t *hits);

// Of each key the nearest entry, on whichever side, as latchless_f64_nearest; otherwise as
// latchless_f64_floor_columns. Each answer is of one moment.
enum latchless_status latchless_f64_nearest_columns(const struct latchless_f64 *index,
                                                    const double *keys,
                                                    size_t count,
                                                    double *near_keys,
                                                    latchless_value *values,
                                                    uint8_t *found,
                                                    size_t *hits);

// ranks[i] gets how many keys are smaller than keys[i].
enum latchless_status latchless_f64_rank_columns(const struct latchless_f64 *index,
                                                 const double *keys,
                                                 size_t count,
                                                 size_t *ranks);

// counts[i] gets how many keys there are from low[i] to high[i], both included.
enum latchless_status latchless_f64_count_columns(const struct latchless_f64 *index,
                                                  const double *low,
                                                  const double *high,
                                                  size_t count,
                                                  size_t *counts);

// How many keys there are from `low` to `high`, both included.
enum latchless_status latchless_f64_count(const struct latchless_f64 *index,
                                          double low,
                                          double high,
                                          size_t *count);

// Removes the keys from `low` to `high`, both included; `*removed`, which may be NULL, gets how many they
// were. Not atomic as a whole.
enum latchless_status latchless_f64_remove_range(const struct latchless_f64 *index,
                                                 double low,
                                                 double high,
                                                 size_t *removed);

// Copies the first entries from `low` to `high`, both included, or if `descending` isn't 0 the last ones,
// backwards: at most `room`. `*filled` gets how many. LATCHLESS_NOT_FOUND: there is none. `keys` and
// `values` may be NULL.
enum latchless_status latchless_f64_page(const struct latchless_f64 *index,
                                         double low,
                                         double high,
                                         int descending,
                                         double *keys,
                                         latchless_value *values,
                                         size_t room,
                                         size_t *filled);

// Shows the entries from `low` to `high`, both included, ascending, to a function, some dozens at a time.
// LATCHLESS_STOPPED: it returned something else than 0.
enum latchless_status latchless_f64_scan(const struct latchless_f64 *index,
                                         double low,
                                         double high,
                                         latchless_f64_visitor visitor,
                                         void *context);

// Makes a cursor, which copies the entries from `low` to `high`, both included, page by page, ascending
// or, if `descending` isn't 0, descending. It sees what other threads change ahead of it. It may outlive
// the index. `*out` is NULL if that fails.
enum latchless_status latchless_f64_cursor_new(const struct latchless_f64 *index,
                                               double low,
                                               double high,
                                               int descending,
                                               struct latchless_f64_cursor **out);

// Copies the next entries, at most `room`, which is 1 or more; `*filled` gets how many. LATCHLESS_NOT_FOUND:
// there are no more. `keys` and `values` may be NULL. One thread at a time may use a cursor; another one
// meanwhile gets LATCHLESS_BUSY.
enum latchless_status latchless_f64_cursor_next(struct latchless_f64_cursor *cursor,
                                                double *keys,
                                                latchless_value *values,
                                                size_t room,
                                                size_t *filled);

// Frees a cursor, unless `cursor` is NULL.
enum latchless_status latchless_f64_cursor_free(struct latchless_f64_cursor *cursor);

// Makes an empty index. `options` may be NULL; `threads` and `group` make no difference. `*out` is NULL if
// that fails.
enum latchless_status latchless_bytes_new(const struct latchless_options *options,
                                          struct latchless_bytes **out);

// Makes an index: values[i] goes under the key of lens[i] bytes at keys[i]. Keys must ascend and differ.
// Takes a fraction of the time of inserts. `options` may be NULL. `*out` is NULL if that fails.
enum latchless_status latchless_bytes_bulk_load(const void *const *keys,
                                                const size_t *lens,
                                                const latchless_value *values,
                                                size_t count,
                                                const struct latchless_options *options,
                                                struct latchless_bytes **out);

// As latchless_bytes_bulk_load(), of packed keys: see latchless_bytes_get_packed().
enum latchless_status latchless_bytes_bulk_load_packed(const void *bytes,
                                                       const void *offsets,
                                                       size_t offset_size,
                                                       const latchless_value *values,
                                                       size_t count,
                                                       const struct latchless_options *options,
                                                       struct latchless_bytes **out);

// Makes an index of a file that a save has written, here or by the library for Rust or Python, if its keys
// are byte strings or texts and its values are numbers of 64 bits. `options` may be NULL. `*out` is NULL if
// that fails.
enum latchless_status latchless_bytes_open(const char *path,
                                           const struct latchless_options *options,
                                           struct latchless_bytes **out);

// Writes all entries to an Arrow file with the columns `key`, of type Binary, and `value`. What is at
// `path` is replaced in one step, or left as it was if the call fails. The file that a symbolic link leads
// to is replaced; the permissions stay. What is there and no file is refused with `LATCHLESS_IO`. Other
// threads may use and change the index meanwhile; entries that they change are saved in one of their
// states. `entries`, which may be NULL, gets how many were saved.
enum latchless_status latchless_bytes_save(const struct latchless_bytes *index,
                                           const char *path,
                                           size_t *entries);

// Frees an index, unless `index` is NULL. No other thread may be using it. Cursors of it go on, and keep
// its memory until they are freed.
enum latchless_status latchless_bytes_free(struct latchless_bytes *index);

// How many keys there are. Exact when no thread is changing that.
enum latchless_status latchless_bytes_len(const struct latchless_bytes *index, size_t *len);

// Bytes that the index holds, and those of them that are in use, for keys and values. Takes no longer for a
// large index. `held` and `live` may be NULL.
enum latchless_status latchless_bytes_memory_bytes(const struct latchless_bytes *index,
                                                   size_t *held,
                                                   size_t *live);

// Removes all keys, one after the other. Not atomic as a whole. Memory is kept for what comes next.
enum latchless_status latchless_bytes_clear(const struct latchless_bytes *index);

// Memory, nodes, fill. Set stats->struct_size first. Looks at every node; about right while other threads
// change the index. `misled` is 0.
enum latchless_status latchless_bytes_stats(const struct latchless_bytes *index,
                                            struct latchless_stats *stats);

// Looks at every node and says what is broken, if anything is: a bug of the library. For an index that no
// thread is changing.
enum latchless_status latchless_bytes_check_invariants(const struct latchless_bytes *index);

// The value under the key of `key_len` bytes at `key`. LATCHLESS_NOT_FOUND: the key isn't there, and
// `*value` is as before. `value` may be NULL.
enum latchless_status latchless_bytes_get(const struct latchless_bytes *index,
                                          const void *key,
                                          size_t key_len,
                                          latchless_value *value);

// LATCHLESS_OK if the key is there, otherwise LATCHLESS_NOT_FOUND.
enum latchless_status latchless_bytes_contains_key(const struct latchless_bytes *index,
                                                   const void *key,
                                                   size_t key_len);

// Puts a value under a key, which is copied. LATCHLESS_PRESENT: the key was there, its value is replaced,
// and `*before` gets the one before. LATCHLESS_OK: it wasn't. LATCHLESS_KEY_TOO_LONG: it has more than
// LATCHLESS_KEY_MAX bytes. `before` may be NULL.
enum latchless_status latchless_bytes_insert(const struct latchless_bytes *index,
                                             const void *key,
                                             size_t key_len,
                                             latchless_value value,
                                             latchless_value *before);

// Puts a value under a key that isn't there. LATCHLESS_PRESENT: it was, nothing is changed, and `*present`
// gets its value. Otherwise as latchless_bytes_insert(). `present` may be NULL.
enum latchless_status latchless_bytes_try_insert(const struct latchless_bytes *index,
                                                 const void *key,
                                                 size_t key_len,
                                                 latchless_value value,
                                                 latchless_value *present);

// Replaces the value of a key that is there; `*before` gets the one before. LATCHLESS_NOT_FOUND: it isn't,
// and nothing is changed. `before` may be NULL.
enum latchless_status latchless_bytes_replace(const struct latchless_bytes *index,
                                              const void *key,
                                              size_t key_len,
                                              latchless_value value,
                                              latchless_value *before);

// Removes a key; `*before` gets its value. LATCHLESS_NOT_FOUND: it isn't there. `before` may be NULL.
enum latchless_status latchless_bytes_remove(const struct latchless_bytes *index,
                                             const void *key,
                                             size_t key_len,
                                             latchless_value *before);

// Replaces the value of a key if it is the expected one. LATCHLESS_MISMATCH: it is another one, which
// `*found` gets. LATCHLESS_NOT_FOUND: the key isn't there. In both cases nothing is changed. `found` may
// be NULL.
enum latchless_status latchless_bytes_compare_exchange(const struct latchless_bytes *index,
                                                       const void *key,
                                                       size_t key_len,
                                                       latchless_value expected,
                                                       latchless_value value,
                                                       latchless_value *found);

// Removes a key if its value is the expected one; otherwise as latchless_bytes_compare_exchange().
enum latchless_status latchless_bytes_compare_remove(const struct latchless_bytes *index,
                                                     const void *key,
                                                     size_t key_len,
                                                     latchless_value expected,
                                                     latchless_value *found);

// The entry with the smallest key. LATCHLESS_NOT_FOUND: the index is empty. Here and below the entry's key
// goes to `key`, where there is room for `room` bytes, and its length to `*key_len`. LATCHLESS_SMALL_ROOM:
// the key is longer, `*key_len` says how long, and nothing else is written. Where `key` is NULL, no key is
// asked for, and `key_len` may be NULL, too. `value` may be NULL. What isn't found writes nothing.
enum latchless_status latchless_bytes_first(const struct latchless_bytes *index,
                                            void *key,
                                            size_t room,
                                            size_t *key_len,
                                            latchless_value *value);

// The entry with the largest key.
enum latchless_status latchless_bytes_last(const struct latchless_bytes *index,
                                           void *key,
                                           size_t room,
                                           size_t *key_len,
                                           latchless_value *value);

// Removes the entry with the smallest key, atomically. Unless `key` is NULL, there must be room for
// LATCHLESS_KEY_MAX bytes, so that no key is lost; otherwise it is LATCHLESS_SMALL_ROOM, and nothing is
// removed.
enum latchless_status latchless_bytes_pop_first(const struct latchless_bytes *index,
                                                void *key,
                                                size_t room,
                                                size_t *key_len,
                                                latchless_value *value);

// Removes the entry with the largest key, atomically; otherwise as latchless_bytes_pop_first().
enum latchless_status latchless_bytes_pop_last(const struct latchless_bytes *index,
                                               void *key,
                                               size_t room,
                                               size_t *key_len,
                                               latchless_value *value);

// The entry with the largest key that is equal or smaller. Its key goes to `near_key`, as that of
// latchless_bytes_first() does; `near_key` may be where `key` is.
enum latchless_status latchless_bytes_floor(const struct latchless_bytes *index,
                                            const void *key,
                                            size_t key_len,
                                            void *near_key,
                                            size_t room,
                                            size_t *near_key_len,
                                            latchless_value *value);

// The entry with the smallest key that is equal or larger; otherwise as latchless_bytes_floor().
enum latchless_status latchless_bytes_ceiling(const struct latchless_bytes *index,
                                              const void *key,
                                              size_t key_len,
                                              void *near_key,
                                              size_t room,
                                              size_t *near_key_len,
                                              latchless_value *value);

// The entry with the largest smaller key; otherwise as latchless_bytes_floor().
enum latchless_status latchless_bytes_lower(const struct latchless_bytes *index,
                                            const void *key,
                                            size_t key_len,
                                            void *near_key,
                                            size_t room,
                                            size_t *near_key_len,
                                            latchless_value *value);

// The entry with the smallest larger key; otherwise as latchless_bytes_floor().
enum latchless_status latchless_bytes_higher(const struct latchless_bytes *index,
                                             const void *key,
                                             size_t key_len,
                                             void *near_key,
                                             size_t room,
                                             size_t *near_key_len,
                                             latchless_value *value);

// Looks `count` keys up: the i-th has lens[i] bytes at keys[i]. found[i] gets 1 if it is there, and
// values[i] its value; otherwise found[i] gets 0, and values[i] is as before. `*hits` gets how many are
// there. `values`, `found` and `hits` may be NULL.
enum latchless_status latchless_bytes_get_columns(const struct latchless_bytes *index,
                                                  const void *const *keys,
                                                  const size_t *lens,
                                                  size_t count,
                                                  latchless_value *values,
                                                  uint8_t *found,
                                                  size_t *hits);

// As latchless_bytes_get_columns(), of packed keys: all their bytes are in one place, the i-th key from
// offset i to offset i + 1. So there is one offset more than keys. The offsets are int32_t or int64_t, as
// `offset_size` says, 4 or 8: the columns of Arrow's types Binary and Utf8, or LargeBinary and LargeUtf8,
// are like that. LATCHLESS_INVALID: an offset is below zero, or below the one before.
enum latchless_status latchless_bytes_get_packed(const struct latchless_bytes *index,
                                                 const void *bytes,
                                                 const void *offsets,
                                                 size_t offset_size,
                                                 size_t count,
                                                 latchless_value *values,
                                                 uint8_t *found,
                                                 size_t *hits);

// Puts values[i] under the key of lens[i] bytes at keys[i]; of equal keys the last one's stays. Ascending
// keys go in faster. `*new_keys` gets how many weren't there before. If memory is refused or a key is too
// long, all others are done, refused[i] gets 1 for those that aren't, and `*new_keys` is as before;
// otherwise refused[i] gets 0. `new_keys` and `refused` may be NULL.
enum latchless_status latchless_bytes_insert_columns(const struct latchless_bytes *index,
                                                     const void *const *keys,
                                                     const size_t *lens,
                                                     const latchless_value *values,
                                                     size_t count,
                                                     size_t *new_keys,
                                                     uint8_t *refused);

// As latchless_bytes_insert_columns(), of packed keys: see latchless_bytes_get_packed().
enum latchless_status latchless_bytes_insert_packed(const struct latchless_bytes *index,
                                                    const void *bytes,
                                                    const void *offsets,
                                                    size_t offset_size,
                                                    const latchless_value *values,
                                                    size_t count,
                                                    size_t *new_keys,
                                                    uint8_t *refused);

// Removes keys; otherwise as latchless_bytes_get_columns().
enum latchless_status latchless_bytes_remove_columns(const struct latchless_bytes *index,
                                                     const void *const *keys,
                                                     const size_t *lens,
                                                     size_t count,
                                                     latchless_value *values,
                                                     uint8_t *found,
                                                     size_t *hits);

// Removes keys; otherwise as latchless_bytes_get_packed().
enum latchless_status latchless_bytes_remove_packed(const struct latchless_bytes *index,
                                                    const void *bytes,
                                                    const void *offsets,
                                                    size_t offset_size,
                                                    size_t count,
                                                    latchless_value *values,
                                                    uint8_t *found,
                                                    size_t *hits);

// How many keys there are from `begin` on and before `end`. An empty `begin` is the first key that can be;
// for an `end_len` of LATCHLESS_NO_END there is no end. LATCHLESS_INVERTED_RANGE: `begin` is after `end`.
// Looks at all leaves of the range.
enum latchless_status latchless_bytes_count(const struct latchless_bytes *index,
                                            const void *begin,
                                            size_t begin_len,
                                            const void *end,
                                            size_t end_len,
                                            size_t *count);

// Removes the keys of a range, which is as that of latchless_bytes_count(); `*removed`, which may be NULL,
// gets how many they were. Not atomic as a whole.
enum latchless_status latchless_bytes_remove_range(const struct latchless_bytes *index,
                                                   const void *begin,
                                                   size_t begin_len,
                                                   const void *end,
                                                   size_t end_len,
                                                   size_t *removed);

// Shows the entries of a range, which is as that of latchless_bytes_count(), to a function: ascending or,
// if `descending` isn't 0, descending. LATCHLESS_STOPPED: it returned something else than 0.
enum latchless_status latchless_bytes_scan(const struct latchless_bytes *index,
                                           const void *begin,
                                           size_t begin_len,
                                           const void *end,
                                           size_t end_len,
                                           int descending,
                                           latchless_bytes_visitor visitor,
                                           void *context);

// Shows the entries whose keys begin with a prefix, ascending, to a function. LATCHLESS_STOPPED: it
// returned something else than 0.
enum latchless_status latchless_bytes_scan_prefix(const struct latchless_bytes *index,
                                                  const void *prefix,
                                                  size_t prefix_len,
                                                  latchless_bytes_visitor visitor,
                                                  void *context);

// Makes a cursor, which is before the first entry. It has a copy of the entries around it, and sees what
// other threads change further on. It may outlive the index. `*out` is NULL if that fails.
enum latchless_status latchless_bytes_cursor_new(const struct latchless_bytes *index,
                                                 struct latchless_bytes_cursor **out);

// Goes to a key, or to the first one after it. LATCHLESS_NOT_FOUND: there is none, and the cursor is after
// the last entry. Here and below the entry that the cursor comes to is told: the address and the length of
// its key, and its value; each of the three may be NULL. The key is there until the cursor goes elsewhere
// or is freed. What isn't found writes nothing.
enum latchless_status latchless_bytes_cursor_seek(struct latchless_bytes_cursor *cursor,
                                                  const void *key,
                                                  size_t key_len,
                                                  const void **near_key,
                                                  size_t *near_key_len,
                                                  latchless_value *value);

// Goes to a key, or to the last one before it. LATCHLESS_NOT_FOUND: there is none, and the cursor is before
// the first entry.
enum latchless_status latchless_bytes_cursor_seek_for_prev(struct latchless_bytes_cursor *cursor,
                                                           const void *key,
                                                           size_t key_len,
                                                           const void **near_key,
                                                           size_t *near_key_len,
                                                           latchless_value *value);

// Goes to the first entry.
enum latchless_status latchless_bytes_cursor_seek_first(struct latchless_bytes_cursor *cursor,
                                                        const void **key,
                                                        size_t *key_len,
                                                        latchless_value *value);

// Goes to the last entry.
enum latchless_status latchless_bytes_cursor_seek_last(struct latchless_bytes_cursor *cursor,
                                                       const void **key,
                                                       size_t *key_len,
                                                       latchless_value *value);

// Goes to the next entry. LATCHLESS_NOT_FOUND: there is none, and the cursor is after the last entry, where
// it stays.
enum latchless_status latchless_bytes_cursor_next(struct latchless_bytes_cursor *cursor,
                                                  const void **key,
                                                  size_t *key_len,
                                                  latchless_value *value);

// Goes to the entry before. LATCHLESS_NOT_FOUND: there is none, and the cursor is before the first entry,
// where it stays.
enum latchless_status latchless_bytes_cursor_prev(struct latchless_bytes_cursor *cursor,
                                                  const void **key,
                                                  size_t *key_len,
                                                  latchless_value *value);

// Tells the entry that the cursor is on, and stays there. LATCHLESS_NOT_FOUND: it is on none.
enum latchless_status latchless_bytes_cursor_current(struct latchless_bytes_cursor *cursor,
                                                     const void **key,
                                                     size_t *key_len,
                                                     latchless_value *value);

// Frees a cursor, unless `cursor` is NULL.
enum latchless_status latchless_bytes_cursor_free(struct latchless_bytes_cursor *cursor);

// Makes an empty index. `options` may be NULL; `threads` and `group` make no difference. `*out` is NULL if
// that fails.
enum latchless_status latchless_kv_new(const struct latchless_options *options,
                                       struct latchless_kv **out);

// Makes an index: the value of value_lens[i] bytes at values[i] goes under the key of lens[i] bytes at
// keys[i]. Keys must ascend and differ. Takes a fraction of the time of inserts. `options` may be NULL.
// `*out` is NULL if that fails.
enum latchless_status latchless_kv_bulk_load(const void *const *keys,
                                             const size_t *lens,
                                             const void *const *values,
                                             const size_t *value_lens,
                                             size_t count,
                                             const struct latchless_options *options,
                                             struct latchless_kv **out);

// As latchless_kv_bulk_load(), of packed keys and values, whose offsets have one width: see
// latchless_bytes_get_packed().
enum latchless_status latchless_kv_bulk_load_packed(const void *bytes,
                                                    const void *offsets,
                                                    const void *value_bytes,
                                                    const void *value_offsets,
                                                    size_t offset_size,
                                                    size_t count,
                                                    const struct latchless_options *options,
                                                    struct latchless_kv **out);

// Makes an index of a file that a save has written, here or by the library for Rust or Python, if its keys
// are byte strings or texts and its values, too. `options` may be NULL. `*out` is NULL if that fails.
enum latchless_status latchless_kv_open(const char *path,
                                        const struct latchless_options *options,
                                        struct latchless_kv **out);

// Writes all entries to an Arrow file with the columns `key` and `value`, both of type Binary. What is at
// `path` is replaced in one step, or left as it was if the call fails. The file that a symbolic link leads
// to is replaced; the permissions stay. What is there and no file is refused with `LATCHLESS_IO`. Other
// threads may use and change the index meanwhile; entries that they change are saved in one of their
// states. `entries`, which may be NULL, gets how many were saved.
enum latchless_status latchless_kv_save(const struct latchless_kv *index,
                                        const char *path,
                                        size_t *entries);

// Frees an index, unless `index` is NULL. No other thread may be using it. Cursors of it go on, and keep
// its memory until they are freed.
enum latchless_status latchless_kv_free(struct latchless_kv *index);

// How many keys there are. Exact when no thread is changing that.
enum latchless_status latchless_kv_len(const struct latchless_kv *index, size_t *len);

// Bytes that the index holds, and those of them that are in use, for keys and values. Takes no longer for a
// large index. `held` and `live` may be NULL.
enum latchless_status latchless_kv_memory_bytes(const struct latchless_kv *index,
                                                size_t *held,
                                                size_t *live);

// Removes all keys, one after the other. Not atomic as a whole. Memory is kept for what comes next.
enum latchless_status latchless_kv_clear(const struct latchless_kv *index);

// Memory, nodes, fill. Set stats->struct_size first. Looks at every node; about right while other threads
// change the index. `misled` is 0.
enum latchless_status latchless_kv_stats(const struct latchless_kv *index,
                                         struct latchless_stats *stats);

// Looks at every node and says what is broken, if anything is: a bug of the library. For an index that no
// thread is changing.
enum latchless_status latchless_kv_check_invariants(const struct latchless_kv *index);

// The value under the key of `key_len` bytes at `key`. It goes to `value`, where there is room for
// `value_room` bytes, and its length to `*value_len`. LATCHLESS_SMALL_ROOM: the value is longer,
// `*value_len` says how long, and nothing else is written. Where `value` is NULL, no value is asked for,
// and `value_len` may be NULL, too. LATCHLESS_NOT_FOUND: the key isn't there, and nothing is written.
// `value` may be where `key` is.
enum latchless_status latchless_kv_get(const struct latchless_kv *index,
                                       const void *key,
                                       size_t key_len,
                                       void *value,
                                       size_t value_room,
                                       size_t *value_len);

// LATCHLESS_OK if the key is there, otherwise LATCHLESS_NOT_FOUND.
enum latchless_status latchless_kv_contains_key(const struct latchless_kv *index,
                                                const void *key,
                                                size_t key_len);

// Puts a value under a key; both are copied. LATCHLESS_PRESENT: the key was there, its value is replaced,
// and the one before goes to `before` as latchless_kv_get() tells one. LATCHLESS_OK: it wasn't. Unless
// `before` is NULL, there must be room for LATCHLESS_VALUE_MAX bytes, so that no value is lost; otherwise
// it is LATCHLESS_SMALL_ROOM, and nothing is done. LATCHLESS_KEY_TOO_LONG, LATCHLESS_VALUE_TOO_LONG: the
// key or the value has more bytes than LATCHLESS_KEY_MAX or LATCHLESS_VALUE_MAX.
enum latchless_status latchless_kv_insert(const struct latchless_kv *index,
                                          const void *key,
                                          size_t key_len,
                                          const void *value,
                                          size_t value_len,
                                          void *before,
                                          size_t before_room,
                                          size_t *before_len);

// Puts a value under a key that isn't there. LATCHLESS_PRESENT: it was, nothing is changed, and its value
// goes to `present`. LATCHLESS_SMALL_ROOM: the same, but that value is longer than `present_room`; see
// latchless_kv_get(). Otherwise as latchless_kv_insert().
enum latchless_status latchless_kv_try_insert(const struct latchless_kv *index,
                                              const void *key,
                                              size_t key_len,
                                              const void *value,
                                              size_t value_len,
                                              void *present,
                                              size_t present_room,
                                              size_t *present_len);

// Replaces the value of a key that is there; the one before goes to `before`, as in latchless_kv_insert().
// LATCHLESS_NOT_FOUND: it isn't, and nothing is changed.
enum latchless_status latchless_kv_replace(const struct latchless_kv *index,
                                           const void *key,
                                           size_t key_len,
                                           const void *value,
                                           size_t value_len,
                                           void *before,
                                           size_t before_room,
                                           size_t *before_len);

// Removes a key; its value goes to `before`, as in latchless_kv_insert(). LATCHLESS_NOT_FOUND: it isn't
// there.
enum latchless_status latchless_kv_remove(const struct latchless_kv *index,
                                          const void *key,
                                          size_t key_len,
                                          void *before,
                                          size_t before_room,
                                          size_t *before_len);

// Replaces the value of a key if it has the expected bytes. LATCHLESS_MISMATCH: it has others, and goes to
// `found`. LATCHLESS_SMALL_ROOM: the same, but it is longer than `found_room`; see latchless_kv_get().
// LATCHLESS_NOT_FOUND: the key isn't there. In these cases nothing is changed.
enum latchless_status latchless_kv_compare_exchange(const struct latchless_kv *index,
                                                    const void *key,
                                                    size_t key_len,
                                                    const void *expected,
                                                    size_t expected_len,
                                                    const void *value,
                                                    size_t value_len,
                                                    void *found,
                                                    size_t found_room,
                                                    size_t *found_len);

// Removes a key if its value has the expected bytes; otherwise as latchless_kv_compare_exchange().
enum latchless_status latchless_kv_compare_remove(const struct latchless_kv *index,
                                                  const void *key,
                                                  size_t key_len,
                                                  const void *expected,
                                                  size_t expected_len,
                                                  void *found,
                                                  size_t found_room,
                                                  size_t *found_len);

// The entry with the smallest key. LATCHLESS_NOT_FOUND: the index is empty. Here and below the entry's
// key and its value go to `key` and `value`, where there is room for `key_room` and `value_room` bytes,
// and their lengths to `*key_len` and `*value_len`. LATCHLESS_SMALL_ROOM: one of them is longer, both
// lengths are told, and nothing else is written. Where `key` is NULL, no key is asked for, and `key_len`
// may be NULL, too; so with `value`. What isn't found writes nothing.
enum latchless_status latchless_kv_first(const struct latchless_kv *index,
                                         void *key,
                                         size_t key_room,
                                         size_t *key_len,
                                         void *value,
                                         size_t value_room,
                                         size_t *value_len);

// The entry with the largest key.
enum latchless_status latchless_kv_last(const struct latchless_kv *index,
                                        void *key,
                                        size_t key_room,
                                        size_t *key_len,
                                        void *value,
                                        size_t value_room,
                                        size_t *value_len);

// Removes the entry with the smallest key, atomically. Unless they are NULL, `key` must have room for
// LATCHLESS_KEY_MAX bytes and `value` for LATCHLESS_VALUE_MAX, so that nothing is lost; otherwise it is
// LATCHLESS_SMALL_ROOM, and nothing is removed.
enum latchless_status latchless_kv_pop_first(const struct latchless_kv *index,
                                             void *key,
                                             size_t key_room,
                                             size_t *key_len,
                                             void *value,
                                             size_t value_room,
                                             size_t *value_len);

// Removes the entry with the largest key, atomically; otherwise as latchless_kv_pop_first().
enum latchless_status latchless_kv_pop_last(const struct latchless_kv *index,
                                            void *key,
                                            size_t key_room,
                                            size_t *key_len,
                                            void *value,
                                            size_t value_room,
                                            size_t *value_len);

// The entry with the largest key that is equal or smaller. Its key goes to `near_key` and its value to
// `value`, as those of latchless_kv_first() do; `near_key` may be where `key` is.
enum latchless_status latchless_kv_floor(const struct latchless_kv *index,
                                         const void *key,
                                         size_t key_len,
                                         void *near_key,
                                         size_t near_key_room,
                                         size_t *near_key_len,
                                         void *value,
                                         size_t value_room,
                                         size_t *value_len);

// The entry with the smallest key that is equal or larger; otherwise as latchless_kv_floor().
enum latchless_status latchless_kv_ceiling(const struct latchless_kv *index,
                                           const void *key,
                                           size_t key_len,
                                           void *near_key,
                                           size_t near_key_room,
                                           size_t *near_key_len,
                                           void *value,
                                           size_t value_room,
                                           size_t *value_len);

// The entry with the largest smaller key; otherwise as latchless_kv_floor().
enum latchless_status latchless_kv_lower(const struct latchless_kv *index,
                                         const void *key,
                                         size_t key_len,
                                         void *near_key,
                                         size_t near_key_room,
                                         size_t *near_key_len,
                                         void *value,
                                         size_t value_room,
                                         size_t *value_len);

// The entry with the smallest larger key; otherwise as latchless_kv_floor().
enum latchless_status latchless_kv_higher(const struct latchless_kv *index,
                                          const void *key,
                                          size_t key_len,
                                          void *near_key,
                                          size_t near_key_room,
                                          size_t *near_key_len,
                                          void *value,
                                          size_t value_room,
                                          size_t *value_len);

// Looks `count` keys up: the i-th has lens[i] bytes at keys[i]. Their values go to `values` one after the
// other, where there is room for `room` bytes: the i-th from value_offsets[i] to value_offsets[i + 1],
// and nothing for a key that isn't there. So there is one offset more than keys, as in a column of
// Arrow's type LargeBinary. found[i] gets 1 if the key is there, otherwise 0, and `*hits` how many are.
// LATCHLESS_SMALL_ROOM: the values need value_offsets[count] bytes; all but `values`, which may have been
// written in part, is as if there were room. Where `values` is NULL, no values are asked for.
// `value_offsets`, if `values` is NULL, `found` and `hits` may be NULL.
enum latchless_status latchless_kv_get_columns(const struct latchless_kv *index,
                                               const void *const *keys,
                                               const size_t *lens,
                                               size_t count,
                                               void *values,
                                               size_t room,
                                               int64_t *value_offsets,
                                               uint8_t *found,
                                               size_t *hits);

// As latchless_kv_get_columns(), of packed keys: see latchless_bytes_get_packed().
enum latchless_status latchless_kv_get_packed(const struct latchless_kv *index,
                                              const void *bytes,
                                              const void *offsets,
                                              size_t offset_size,
                                              size_t count,
                                              void *values,
                                              size_t room,
                                              int64_t *value_offsets,
                                              uint8_t *found,
                                              size_t *hits);

// Puts the value of value_lens[i] bytes at values[i] under the key of lens[i] bytes at keys[i]; of equal
// keys the last one's stays. Ascending keys go in faster. `*new_keys` gets how many weren't there before.
// If memory is refused, or a key or a value is too long, all others are done, refused[i] gets 1 for those
// that aren't, and `*new_keys` is as before; otherwise refused[i] gets 0. `new_keys` and `refused` may be
// NULL.
enum latchless_status latchless_kv_insert_columns(const struct latchless_kv *index,
                                                  const void *const *keys,
                                                  const size_t *lens,
                                                  const void *const *values,
                                                  const size_t *value_lens,
                                                  size_t count,
                                                  size_t *new_keys,
                                                  uint8_t *refused);

// As latchless_kv_insert_columns(), of packed keys and values, whose offsets have one width: see
// latchless_bytes_get_packed().
enum latchless_status latchless_kv_insert_packed(const struct latchless_kv *index,
                                                 const void *bytes,
                                                 const void *offsets,
                                                 const void *value_bytes,
                                                 const void *value_offsets,
                                                 size_t offset_size,
                                                 size_t count,
                                                 size_t *new_keys,
                                                 uint8_t *refused);

// Removes `count` keys: the i-th has lens[i] bytes at keys[i]. found[i] gets 1 if it was there, otherwise
// 0, and `*hits` how many were. Their values aren't told: see latchless_kv_remove(). `found` and `hits`
// may be NULL.
enum latchless_status latchless_kv_remove_columns(const struct latchless_kv *index,
                                                  const void *const *keys,
                                                  const size_t *lens,
                                                  size_t count,
                                                  uint8_t *found,
                                                  size_t *hits);

// As latchless_kv_remove_columns(), of packed keys: see latchless_bytes_get_packed().
enum latchless_status latchless_kv_remove_packed(const struct latchless_kv *index,
                                                 const void *bytes,
                                                 const void *offsets,
                                                 size_t offset_size,
                                                 size_t count,
                                                 uint8_t *found,
                                                 size_t *hits);

// How many keys there are from `begin` on and before `end`. An empty `begin` is the first key that can be;
// for an `end_len` of LATCHLESS_NO_END there is no end. LATCHLESS_INVERTED_RANGE: `begin` is after `end`.
// Looks at all leaves of the range.
enum latchless_status latchless_kv_count(const struct latchless_kv *index,
                                         const void *begin,
                                         size_t begin_len,
                                         const void *end,
                                         size_t end_len,
                                         size_t *count);

// Removes the keys of a range, which is as that of latchless_kv_count(); `*removed`, which may be NULL,
// gets how many they were. Not atomic as a whole.
enum latchless_status latchless_kv_remove_range(const struct latchless_kv *index,
                                                const void *begin,
                                                size_t begin_len,
                                                const void *end,
                                                size_t end_len,
                                                size_t *removed);

// Shows the entries of a range, which is as that of latchless_kv_count(), to a function: ascending or,
// if `descending` isn't 0, descending. LATCHLESS_STOPPED: it returned something else than 0.
enum latchless_status latchless_kv_scan(const struct latchless_kv *index,
                                        const void *begin,
                                        size_t begin_len,
                                        const void *end,
                                        size_t end_len,
                                        int descending,
                                        latchless_kv_visitor visitor,
                                        void *context);

// Shows the entries whose keys begin with a prefix, ascending, to a function. LATCHLESS_STOPPED: it
// returned something else than 0.
enum latchless_status latchless_kv_scan_prefix(const struct latchless_kv *index,
                                               const void *prefix,
                                               size_t prefix_len,
                                               latchless_kv_visitor visitor,
                                               void *context);

// Makes a cursor, which is before the first entry. It has a copy of the entries around it, and sees what
// other threads change further on. It may outlive the index. `*out` is NULL if that fails.
enum latchless_status latchless_kv_cursor_new(const struct latchless_kv *index,
                                              struct latchless_kv_cursor **out);

// Goes to a key, or to the first one after it. LATCHLESS_NOT_FOUND: there is none, and the cursor is
// after the last entry. Here and below the entry that the cursor comes to is told: the addresses and the
// lengths of its key and its value, each of which may be NULL. They are there until the next call for the
// cursor. What isn't found writes nothing.
enum latchless_status latchless_kv_cursor_seek(struct latchless_kv_cursor *cursor,
                                               const void *key,
                                               size_t key_len,
                                               const void **near_key,
                                               size_t *near_key_len,
                                               const void **value,
                                               size_t *value_len);

// Goes to a key, or to the last one before it. LATCHLESS_NOT_FOUND: there is none, and the cursor is before
// the first entry.
enum latchless_status latchless_kv_cursor_seek_for_prev(struct latchless_kv_cursor *cursor,
                                                        const void *key,
                                                        size_t key_len,
                                                        const void **near_key,
                                                        size_t *near_key_len,
                                                        const void **value,
                                                        size_t *value_len);

// Goes to the first entry.
enum latchless_status latchless_kv_cursor_seek_first(struct latchless_kv_cursor *cursor,
                                                     const void **key,
                                                     size_t *key_len,
                                                     const void **value,
                                                     size_t *value_len);

// Goes to the last entry.
enum latchless_status latchless_kv_cursor_seek_last(struct latchless_kv_cursor *cursor,
                                                    const void **key,
                                                    size_t *key_len,
                                                    const void **value,
                                                    size_t *value_len);

// Goes to the next entry. LATCHLESS_NOT_FOUND: there is none, and the cursor is after the last entry, where
// it stays.
enum latchless_status latchless_kv_cursor_next(struct latchless_kv_cursor *cursor,
                                               const void **key,
                                               size_t *key_len,
                                               const void **value,
                                               size_t *value_len);

// Goes to the entry before. LATCHLESS_NOT_FOUND: there is none, and the cursor is before the first entry,
// where it stays.
enum latchless_status latchless_kv_cursor_prev(struct latchless_kv_cursor *cursor,
                                               const void **key,
                                               size_t *key_len,
                                               const void **value,
                                               size_t *value_len);

// Tells the entry that the cursor is on, and stays there. LATCHLESS_NOT_FOUND: it is on none.
enum latchless_status latchless_kv_cursor_current(struct latchless_kv_cursor *cursor,
                                                  const void **key,
                                                  size_t *key_len,
                                                  const void **value,
                                                  size_t *value_len);

// Frees a cursor, unless `cursor` is NULL.
enum latchless_status latchless_kv_cursor_free(struct latchless_kv_cursor *cursor);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LATCHLESS_H */
