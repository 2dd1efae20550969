/// \file
/// \brief Ordered indexes for C++17: in main memory, read and changed by many threads at once.
///
/// \code{.cpp}
///     latchless::index<std::uint64_t> prices;
///     prices.insert(99, 5);
///     if (auto price = prices.get(99)) std::cout << *price << '\n';
///     for (const auto &[item, price] : prices) std::cout << item << ": " << price << '\n';
/// \endcode
///
/// Keys are std::uint64_t, std::int64_t or double; latchless_bytes.hpp has byte strings as keys,
/// latchless_kv.hpp byte strings as keys and values. Values have 64 bits: see latchless::bits_of() and
/// latchless::value_as(). Any number of threads may call const members of one index at once; all members
/// are const except those that replace or end the index. latchless.h has the details of operations: cost,
/// atomicity, and what they see of concurrent changes.
///
/// \par Errors
/// Errors are exceptions with the library's message and status: latchless::memory_error (a std::bad_alloc)
/// for refused memory, latchless::argument_error (a std::invalid_argument) for an invalid argument,
/// latchless::file_error and latchless::broken_error (std::runtime_error) for the others. No exception
/// passes through the library: an exception of a callback is kept, ends the call, and is thrown again from
/// it.

#ifndef LATCHLESS_HPP
#define LATCHLESS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "latchless.h"

/// Ordered indexes in main memory.
namespace latchless {

/// A value: 64 bits that the index doesn't interpret.
using value = latchless_value;

/// Converts an object of at most 64 bits to a value: a number, an enumerator, a pointer.
template <class T>
value bits_of(const T &thing) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(value), "a value has 64 bits");
    value bits = 0;
    std::memcpy(&bits, &thing, sizeof(T));
    return bits;
}

/// Converts a value back to the object that bits_of() got.
template <class T>
T value_as(value bits) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(value), "a value has 64 bits");
    T thing;
    std::memcpy(&thing, &bits, sizeof(T));
    return thing;
}

// ---- errors ----------------------------------------------------------------------------------

/// Memory was refused, by the system or by the index's limit.
class memory_error : public std::bad_alloc {
public:
    /// An error with its status, its message, and the positions of a batch that were refused.
    memory_error(latchless_status status, std::string message, std::vector<std::size_t> refused = {})
        : status_(status), message_(std::move(message)), refused_(std::move(refused)) {}
    /// The library's message.
    const char *what() const noexcept override { return message_.c_str(); }
    /// LATCHLESS_OUT_OF_MEMORY or LATCHLESS_MEMORY_LIMIT.
    latchless_status status() const noexcept { return status_; }
    /// The positions of a batch that weren't inserted; all others were.
    const std::vector<std::size_t> &refused() const noexcept { return refused_; }

private:
    latchless_status status_;
    std::string message_;
    std::vector<std::size_t> refused_;
};

namespace detail {

/// A standard exception with a status.
template <class Base>
class error : public Base {
public:
    /// An error with its status and its message.
    error(latchless_status status, const std::string &message) : Base(message), status_(status) {}
    /// The status of the call that failed.
    latchless_status status() const noexcept { return status_; }

private:
    latchless_status status_;
};

} // namespace detail

/// An invalid argument.
class argument_error : public detail::error<std::invalid_argument> {
    using error::error;
};

/// A file that can't be read or written.
class file_error : public detail::error<std::runtime_error> {
    using error::error;
};

/// A bug of the library, or an index that a thread was changing at a fork().
class broken_error : public detail::error<std::runtime_error> {
    using error::error;
};

namespace detail {

/// Throws the exception of a status.
[[noreturn]] inline void fail(latchless_status status) {
    std::string message = latchless_last_error();
    switch (status) {
    case LATCHLESS_OUT_OF_MEMORY:
    case LATCHLESS_MEMORY_LIMIT: throw memory_error(status, std::move(message));
    case LATCHLESS_IO:
    case LATCHLESS_BAD_FILE: throw file_error(status, message);
    case LATCHLESS_BROKEN:
    case LATCHLESS_PANIC: throw broken_error(status, message);
    default: throw argument_error(status, message);
    }
}

/// Throws if a call was refused, otherwise returns its status.
inline latchless_status check(latchless_status status) {
    if (status < 0) fail(status);
    return status;
}

/// Throws if inserts of a batch were refused; refused[i] is 1 for those.
inline void check_inserts(latchless_status status, const std::vector<std::uint8_t> &refused) {
    if (status == LATCHLESS_OUT_OF_MEMORY || status == LATCHLESS_MEMORY_LIMIT) {
        std::string message = latchless_last_error();
        std::vector<std::size_t> positions;
        for (std::size_t at = 0; at < refused.size(); ++at) {
            if (refused[at] != 0) positions.push_back(at);
        }
        throw memory_error(status, std::move(message), std::move(positions));
    }
    check(status);
}

/// Throws if two columns have different lengths.
inline void check_lengths(std::size_t keys, std::size_t values) {
    if (keys == values) return;
    throw argument_error(LATCHLESS_INVALID, "latchless: " + std::to_string(keys) + " keys, but " +
                                                std::to_string(values) + " values");
}

/// The functions of C for a type of keys.
template <class Key>
struct api;

#define LATCHLESS_DETAIL_API(name, key)                                                                      \
    template <>                                                                                              \
    struct api<key> {                                                                                        \
        using handle = latchless_##name;                                                                     \
        using cursor_handle = latchless_##name##_cursor;                                                     \
        static constexpr auto make = latchless_##name##_new;                                                 \
        static constexpr auto bulk_load = latchless_##name##_bulk_load;                                      \
        static constexpr auto open = latchless_##name##_open;                                                \
        static constexpr auto save = latchless_##name##_save;                                                \
        static constexpr auto free = latchless_##name##_free;                                                \
        static constexpr auto len = latchless_##name##_len;                                                  \
        static constexpr auto clear = latchless_##name##_clear;                                              \
        static constexpr auto stats = latchless_##name##_stats;                                              \
        static constexpr auto check_invariants = latchless_##name##_check_invariants;                        \
        static constexpr auto get = latchless_##name##_get;                                                  \
        static constexpr auto contains_key = latchless_##name##_contains_key;                                \
        static constexpr auto insert = latchless_##name##_insert;                                            \
        static constexpr auto try_insert = latchless_##name##_try_insert;                                    \
        static constexpr auto replace = latchless_##name##_replace;                                          \
        static constexpr auto remove = latchless_##name##_remove;                                            \
        static constexpr auto compare_exchange = latchless_##name##_compare_exchange;                        \
        static constexpr auto compare_remove = latchless_##name##_compare_remove;                            \
        static constexpr auto first = latchless_##name##_first;                                              \
        static constexpr auto last = latchless_##name##_last;                                                \
        static constexpr auto pop_first = latchless_##name##_pop_first;                                      \
        static constexpr auto pop_last = latchless_##name##_pop_last;                                        \
        static constexpr auto floor = latchless_##name##_floor;                                              \
        static constexpr auto ceiling = latchless_##name##_ceiling;                                          \
        static constexpr auto lower = latchless_##name##_lower;                                              \
        static constexpr auto higher = latchless_##name##_higher;                                            \
        static constexpr auto nearest = latchless_##name##_nearest;                                          \
        static constexpr auto rank = latchless_##name##_rank;                                                \
        static constexpr auto nth = latchless_##name##_nth;                                                  \
        static constexpr auto get_columns = latchless_##name##_get_columns;                                  \
        static constexpr auto insert_columns = latchless_##name##_insert_columns;                            \
        static constexpr auto remove_columns = latchless_##name##_remove_columns;                            \
        static constexpr auto floor_columns = latchless_##name##_floor_columns;                              \
        static constexpr auto ceiling_columns = latchless_##name##_ceiling_columns;                          \
        static constexpr auto lower_columns = latchless_##name##_lower_columns;                              \
        static constexpr auto higher_columns = latchless_##name##_higher_columns;                            \
        static constexpr auto nearest_columns = latchless_##name##_nearest_columns;                          \
        static constexpr auto rank_columns = latchless_##name##_rank_columns;                                \
        static constexpr auto count_columns = latchless_##name##_count_columns;                              \
        static constexpr auto count = latchless_##name##_count;                                              \
        static constexpr auto remove_range = latchless_##name##_remove_range;                                \
        static constexpr auto page = latchless_##name##_page;                                                \
        static constexpr auto scan_chunks = latchless_##name##_scan_chunks;                                  \
        static constexpr auto cursor_new = latchless_##name##_cursor_new;                                    \
        static constexpr auto cursor_next = latchless_##name##_cursor_next;                                  \
        static constexpr auto cursor_free = latchless_##name##_cursor_free;                                  \
    }

LATCHLESS_DETAIL_API(u64, std::uint64_t);
LATCHLESS_DETAIL_API(i64, std::int64_t);
LATCHLESS_DETAIL_API(f64, double);
#undef LATCHLESS_DETAIL_API

/// The context of a callback: the caller's function, and the exception that it threw.
template <class Key, class F>
struct call {
    F &function;
    std::exception_ptr thrown;

    static int trampoline(const Key *keys, const value *values, std::size_t count, void *context) noexcept {
        call &self = *static_cast<call *>(context);
        try {
            return self.function(keys, values, count) ? 0 : 1;
        } catch (...) {
            self.thrown = std::current_exception();
            return 1;
        }
    }
};

} // namespace detail

// ---- arguments and results -----------------------------------------------------------------------

/// Options of a new index, at first the defaults: see latchless_options.
struct options : latchless_options {
    /// The defaults.
    options() { detail::check(latchless_options_init(this, sizeof(latchless_options))); }
};

/// A key and its value.
template <class Key>
struct entry {
    Key key;                ///< The key.
    latchless::value value; ///< Its value.

    /// Whether both keys and both values are equal.
    friend bool operator==(const entry &a, const entry &b) { return a.key == b.key && a.value == b.value; }
    /// Whether the keys or the values differ.
    friend bool operator!=(const entry &a, const entry &b) { return !(a == b); }
};

/// The values that a batch found.
struct found_values {
    std::vector<latchless::value> values; ///< The value of the i-th key, or 0 if it wasn't found.
    std::vector<std::uint8_t> found;      ///< 1 if the i-th key was found, otherwise 0.
    std::size_t hits = 0;                 ///< How many keys were found.
};

/// The entries that a batch found.
template <class Key>
struct found_entries {
    std::vector<Key> keys;                ///< The key of the i-th entry, or 0 if it wasn't found.
    std::vector<latchless::value> values; ///< The value of the i-th entry, or 0 if it wasn't found.
    std::vector<std::uint8_t> found;      ///< 1 if the i-th entry was found, otherwise 0.
    std::size_t hits = 0;                 ///< How many entries were found.
};

/// Entries as two columns.
template <class Key>
struct columns {
    std::vector<Key> keys;                ///< The keys.
    std::vector<latchless::value> values; ///< The value of the i-th key.
};

/// The order in which the entries of a range come.
enum class direction {
    ascending, ///< The smallest key first.
    descending ///< The largest key first.
};

/// The smallest and the largest key of a type.
template <class Key>
struct ends {
    /// The smallest key.
    static constexpr Key lowest() { return std::numeric_limits<Key>::lowest(); }
    /// The largest key.
    static constexpr Key highest() { return std::numeric_limits<Key>::max(); }
};
/// The smallest and the largest double, which are infinite.
template <>
struct ends<double> {
    /// The smallest key.
    static constexpr double lowest() { return -std::numeric_limits<double>::infinity(); }
    /// The largest key.
    static constexpr double highest() { return std::numeric_limits<double>::infinity(); }
};

/// A position in a range, whose entries it copies page by page. One thread at a time may use it. It may
/// outlive its index.
template <class Key>
class cursor {
    using api = detail::api<Key>;

public:
    /// Takes over a cursor.
    cursor(cursor &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /// Takes over a cursor, and frees the one before.
    cursor &operator=(cursor &&other) noexcept {
        cursor(std::move(other)).swap(*this);
        return *this;
    }
    cursor(const cursor &) = delete;
    cursor &operator=(const cursor &) = delete;
    ~cursor() { api::cursor_free(handle_); }
    /// Exchanges two cursors.
    void swap(cursor &other) noexcept { std::swap(handle_, other.handle_); }

    /// Copies the next entries to arrays of `room` elements, either of which may be NULL. Returns how many;
    /// 0 at the end of the range.
    std::size_t next(Key *keys, latchless::value *values, std::size_t room) {
        std::size_t filled = 0;
        detail::check(api::cursor_next(handle_, keys, values, room, &filled));
        return filled;
    }

    /// Returns the next entries, at most `room`; none at the end of the range.
    columns<Key> next(std::size_t room) {
        columns<Key> page{std::vector<Key>(room), std::vector<latchless::value>(room)};
        const std::size_t filled = next(page.keys.data(), page.values.data(), room);
        page.keys.resize(filled);
        page.values.resize(filled);
        return page;
    }

private:
    template <class>
    friend class index;
    cursor() noexcept = default;
    typename api::cursor_handle *handle_ = nullptr;
};

/// An input iterator over the entries of an index, in ascending order. One thread at a time may use it and
/// its copies, which share one position. It sees changes that threads make ahead of it, and may outlive the
/// index.
template <class Source>
class iterator {
public:
    using source_type = Source;                        ///< Where the entries come from.
    using iterator_category = std::input_iterator_tag; ///< Entries are read in one pass.
    using value_type = typename Source::entry;         ///< A key and its value.
    using difference_type = std::ptrdiff_t;            ///< The type of distances.
    using pointer = const value_type *;                ///< Valid until the iterator moves.
    using reference = const value_type &;              ///< Valid until the iterator moves.

    /// The end.
    iterator() noexcept = default;
    /// The first entry of a source.
    explicit iterator(std::shared_ptr<Source> source) : source_(std::move(source)) { ++*this; }
    /// The entry.
    reference operator*() const { return *source_->at; }
    /// The entry.
    pointer operator->() const { return &*source_->at; }
    /// Moves to the next entry.
    iterator &operator++() {
        source_->next();
        if (!source_->at) source_.reset();
        return *this;
    }
    /// Moves to the next entry.
    void operator++(int) { ++*this; }
    /// Whether both are the end, or share one position.
    friend bool operator==(const iterator &a, const iterator &b) noexcept { return a.source_ == b.source_; }
    /// Whether they aren't equal.
    friend bool operator!=(const iterator &a, const iterator &b) noexcept { return !(a == b); }

private:
    std::shared_ptr<Source> source_;
};

namespace detail {

/// The entries that a cursor copies, one by one.
template <class Key>
struct paged {
    using entry = latchless::entry<Key>;
    latchless::cursor<Key> cursor;
    std::optional<entry> at;
    std::size_t next_one = 0, filled = 0;
    Key keys[64];
    latchless::value values[64];

    explicit paged(latchless::cursor<Key> from) : cursor(std::move(from)) {}
    void next() {
        if (next_one == filled) {
            filled = cursor.next(keys, values, 64);
            next_one = 0;
        }
        at = next_one < filled ? std::optional<entry>(entry{keys[next_one], values[next_one]}) : std::nullopt;
        ++next_one;
    }
};

} // namespace detail

// ---- the index -----------------------------------------------------------------------------------

/// An ordered index whose keys are std::uint64_t, std::int64_t or double. It can be moved, not copied. An
/// index that was moved from can be assigned to or destroyed; every other call throws an argument_error.
template <class Key>
class index {
    using api = detail::api<Key>;
    using optional_value = std::optional<latchless::value>;
    using optional_entry = std::optional<entry<Key>>;

public:
    using key_type = Key;                                           ///< The type of keys.
    using mapped_type = latchless::value;                           ///< The type of values.
    using value_type = entry<Key>;                                  ///< A key and its value.
    using const_iterator = latchless::iterator<detail::paged<Key>>; ///< Entries in ascending order.

    /// An empty index.
    explicit index(const options &how = options()) { detail::check(api::make(&how, &handle_)); }

    /// An index of `count` entries, whose keys are ascending and distinct. Much faster than inserts.
    static index bulk_load(const Key *keys, const latchless::value *values, std::size_t count,
                      const options &how = options()) {
        index made{nothing()};
        detail::check(api::bulk_load(keys, values, count, &how, &made.handle_));
        return made;
    }
    /// An index of entries whose keys are ascending and distinct. Much faster than inserts.
    static index bulk_load(const std::vector<Key> &keys, const std::vector<latchless::value> &values,
                      const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        return bulk_load(keys.data(), values.data(), keys.size(), how);
    }
    /// An index of the entries in a file that was saved from C, C++, Rust or Python.
    static index open(const std::string &path, const options &how = options()) {
        index made{nothing()};
        detail::check(api::open(path.c_str(), &how, &made.handle_));
        return made;
    }
    /// Writes all entries to an Arrow file, which replaces the file at `path` in one step. Returns how many.
    std::size_t save(const std::string &path) const {
        std::size_t entries = 0;
        detail::check(api::save(handle_, path.c_str(), &entries));
        return entries;
    }

    /// Takes over an index.
    index(index &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /// Takes over an index, and frees the one before.
    index &operator=(index &&other) noexcept {
        index(std::move(other)).swap(*this);
        return *this;
    }
    index(const index &) = delete;
    index &operator=(const index &) = delete;
    ~index() { api::free(handle_); }
    /// Exchanges two indexes.
    void swap(index &other) noexcept { std::swap(handle_, other.handle_); }
    /// Exchanges two indexes.
    friend void swap(index &a, index &b) noexcept { a.swap(b); }

    /// The handle for functions of C. The index still owns it.
    typename api::handle *handle() const noexcept { return handle_; }

    /// The number of keys. Exact if no thread inserts or removes meanwhile.
    std::size_t size() const {
        std::size_t len = 0;
        detail::check(api::len(handle_, &len));
        return len;
    }
    /// Whether there are no keys.
    bool empty() const { return size() == 0; }
    /// Removes all keys, not atomically as a whole.
    void clear() const { detail::check(api::clear(handle_)); }
    /// Memory use, the number of nodes and their fill. Reads every node.
    latchless_stats stats() const {
        latchless_stats found{};
        found.struct_size = sizeof found;
        detail::check(api::stats(handle_, &found));
        return found;
    }
    /// Checks every node, and throws a broken_error if an invariant doesn't hold. Meant for tests.
    void check_invariants() const { detail::check(api::check_invariants(handle_)); }

    /// The first entry. A page of entries is copied at a time.
    const_iterator begin() const { return const_iterator(std::make_shared<detail::paged<Key>>(cursor())); }
    /// The end of the entries.
    const_iterator end() const noexcept { return {}; }

    // ---- one key; atomic ----

    /// The value of a key, if it is present.
    optional_value get(Key key) const {
        latchless::value found = 0;
        return detail::check(api::get(handle_, key, &found)) == LATCHLESS_OK ? optional_value(found) : std::nullopt;
    }
    /// Whether a key is present.
    bool contains(Key key) const { return detail::check(api::contains_key(handle_, key)) == LATCHLESS_OK; }
    /// Inserts a key, or replaces its value. Returns the value that was replaced.
    optional_value insert(Key key, latchless::value new_value) const {
        latchless::value before = 0;
        const auto status = detail::check(api::insert(handle_, key, new_value, &before));
        return status == LATCHLESS_PRESENT ? optional_value(before) : std::nullopt;
    }
    /// Inserts a key unless it is present. Returns the value of a key that is present, which is kept.
    optional_value try_insert(Key key, latchless::value new_value) const {
        latchless::value present = 0;
        const auto status = detail::check(api::try_insert(handle_, key, new_value, &present));
        return status == LATCHLESS_PRESENT ? optional_value(present) : std::nullopt;
    }
    /// Replaces the value of a key that is present. Returns the value that was replaced.
    optional_value replace(Key key, latchless::value new_value) const {
        latchless::value before = 0;
        const auto status = detail::check(api::replace(handle_, key, new_value, &before));
        return status == LATCHLESS_OK ? optional_value(before) : std::nullopt;
    }
    /// Removes a key. Returns the value that it had.
    optional_value remove(Key key) const {
        latchless::value before = 0;
        const auto status = detail::check(api::remove(handle_, key, &before));
        return status == LATCHLESS_OK ? optional_value(before) : std::nullopt;
    }
    /// Replaces the value of a key if it is `expected`; with an empty `expected`, inserts a key that is
    /// absent. Returns whether that was done. If not, `expected` becomes the value that the key has, or
    /// empty if it is absent.
    bool compare_exchange(Key key, optional_value &expected, latchless::value new_value) const {
        if (!expected) {
            expected = try_insert(key, new_value);
            return !expected;
        }
        latchless::value found = 0;
        const auto status = api::compare_exchange(handle_, key, *expected, new_value, &found);
        return compared(status, found, expected);
    }
    /// Removes a key if its value is `expected`. Returns whether that was done. If not, `expected` becomes
    /// the value that the key has, or empty if it is absent.
    bool compare_remove(Key key, optional_value &expected) const {
        if (!expected) throw argument_error(LATCHLESS_INVALID, "latchless: nothing can't be removed");
        latchless::value found = 0;
        const auto status = api::compare_remove(handle_, key, *expected, &found);
        return compared(status, found, expected);
    }

    // ---- by order; atomic ----

    /// The entry with the smallest key.
    optional_entry first() const { return outermost(api::first); }
    /// The entry with the largest key.
    optional_entry last() const { return outermost(api::last); }
    /// Removes the entry with the smallest key, and returns it.
    optional_entry pop_first() const { return outermost(api::pop_first); }
    /// Removes the entry with the largest key, and returns it.
    optional_entry pop_last() const { return outermost(api::pop_last); }
    /// The entry with the largest key that is less than or equal to `key`.
    optional_entry floor(Key key) const { return near(api::floor, key); }
    /// The entry with the smallest key that is greater than or equal to `key`.
    optional_entry ceiling(Key key) const { return near(api::ceiling, key); }
    /// The entry with the largest key that is less than `key`.
    optional_entry lower(Key key) const { return near(api::lower, key); }
    /// The entry with the smallest key that is greater than `key`.
    optional_entry higher(Key key) const { return near(api::higher, key); }
    /// The entry whose key is nearest to `key`, on either side; of two equally near ones, the smaller.
    optional_entry nearest(Key key) const { return near(api::nearest, key); }
    /// The number of keys that are less than `key`.
    std::size_t rank(Key key) const {
        std::size_t below = 0;
        detail::check(api::rank(handle_, key, &below));
        return below;
    }
    /// The entry that has `position` entries before it.
    optional_entry nth(std::size_t position) const {
        entry<Key> found{};
        const auto status = detail::check(api::nth(handle_, position, &found.key, &found.value));
        return status == LATCHLESS_OK ? optional_entry(found) : std::nullopt;
    }

    // ---- batches ----

    /// Looks up `count` keys; values[i] is unchanged if keys[i] is absent. `values` and `found` may be
    /// NULL. Returns how many are present.
    std::size_t get(const Key *keys, std::size_t count, latchless::value *values, std::uint8_t *found) const {
        std::size_t hits = 0;
        detail::check(api::get_columns(handle_, keys, count, values, found, &hits));
        return hits;
    }
    /// Looks up keys.
    found_values get(const std::vector<Key> &keys) const { return values_of(api::get_columns, keys); }
    /// Stores values[i] under keys[i]. Returns how many keys were absent. A memory_error has the positions
    /// that were refused; all others were inserted.
    std::size_t insert(const Key *keys, const latchless::value *values, std::size_t count) const {
        std::size_t new_keys = 0;
        std::vector<std::uint8_t> refused(count);
        const auto status = api::insert_columns(handle_, keys, values, count, &new_keys, refused.data());
        detail::check_inserts(status, refused);
        return new_keys;
    }
    /// Stores values[i] under keys[i]. Returns how many keys were absent. A memory_error has the positions
    /// that were refused; all others were inserted.
    std::size_t insert(const std::vector<Key> &keys, const std::vector<latchless::value> &values) const {
        detail::check_lengths(keys.size(), values.size());
        return insert(keys.data(), values.data(), keys.size());
    }
    /// Removes keys. Returns the values that they had.
    found_values remove(const std::vector<Key> &keys) const { return values_of(api::remove_columns, keys); }
    /// For each key, the entry that floor() of that key returns.
    found_entries<Key> floor(const std::vector<Key> &keys) const { return entries_of(api::floor_columns, keys); }
    /// For each key, the entry that ceiling() of that key returns.
    found_entries<Key> ceiling(const std::vector<Key> &keys) const { return entries_of(api::ceiling_columns, keys); }
    /// For each key, the entry that lower() of that key returns.
    found_entries<Key> lower(const std::vector<Key> &keys) const { return entries_of(api::lower_columns, keys); }
    /// For each key, the entry that higher() of that key returns.
    found_entries<Key> higher(const std::vector<Key> &keys) const { return entries_of(api::higher_columns, keys); }
    /// For each key, the entry that nearest() of that key returns.
    found_entries<Key> nearest(const std::vector<Key> &keys) const { return entries_of(api::nearest_columns, keys); }
    /// For each key, the number of keys that are less.
    std::vector<std::size_t> rank(const std::vector<Key> &keys) const {
        std::vector<std::size_t> ranks(keys.size());
        detail::check(api::rank_columns(handle_, keys.data(), keys.size(), ranks.data()));
        return ranks;
    }
    /// For each i, the number of keys from low[i] to high[i], both included.
    std::vector<std::size_t> count(const std::vector<Key> &low, const std::vector<Key> &high) const {
        detail::check_lengths(low.size(), high.size());
        std::vector<std::size_t> counts(low.size());
        detail::check(api::count_columns(handle_, low.data(), high.data(), low.size(), counts.data()));
        return counts;
    }

    // ---- ranges, both ends included ----

    /// The number of keys of a range.
    std::size_t count(Key low, Key high) const {
        std::size_t counted = 0;
        detail::check(api::count(handle_, low, high, &counted));
        return counted;
    }
    /// Removes the keys of a range, not atomically as a whole. Returns how many.
    std::size_t remove_range(Key low, Key high) const {
        std::size_t removed = 0;
        detail::check(api::remove_range(handle_, low, high, &removed));
        return removed;
    }
    /// The first entries of a range in a direction, at most `limit`.
    columns<Key> page(Key low, Key high, std::size_t limit, direction way = direction::ascending) const {
        columns<Key> copied{std::vector<Key>(limit), std::vector<latchless::value>(limit)};
        std::size_t filled = 0;
        if (limit > 0) {
            detail::check(api::page(handle_, low, high, way == direction::descending, copied.keys.data(),
                                    copied.values.data(), limit, &filled));
        }
        copied.keys.resize(filled);
        copied.values.resize(filled);
        return copied;
    }
    /// A cursor at the start of a range.
    latchless::cursor<Key> cursor(Key low = ends<Key>::lowest(), Key high = ends<Key>::highest(),
                                  direction way = direction::ascending) const {
        latchless::cursor<Key> made;
        detail::check(api::cursor_new(handle_, low, high, way == direction::descending, &made.handle_));
        return made;
    }
    /// Calls function(keys, values, count) for the entries of a range, some dozens at a time, until it
    /// returns false. Returns whether the whole range was passed.
    template <class F>
    bool scan_chunks(Key low, Key high, F &&function) const {
        detail::call<Key, F> call{function, nullptr};
        const auto status = api::scan_chunks(handle_, low, high, call.trampoline, &call);
        if (call.thrown) std::rethrow_exception(call.thrown);
        return detail::check(status) == LATCHLESS_OK;
    }
    /// Calls function(key, value) for each entry of a range.
    template <class F>
    void for_each(Key low, Key high, F &&function) const {
        scan_chunks(low, high, [&](const Key *keys, const latchless::value *values, std::size_t number) {
            for (std::size_t at = 0; at < number; ++at) function(keys[at], values[at]);
            return true;
        });
    }

private:
    struct nothing {};
    explicit index(nothing) noexcept {}

    static bool compared(latchless_status status, latchless::value found, optional_value &expected) {
        detail::check(status);
        if (status == LATCHLESS_OK) return true;
        expected = status == LATCHLESS_MISMATCH ? optional_value(found) : std::nullopt;
        return false;
    }

    template <class F>
    optional_entry outermost(F function) const {
        entry<Key> found{};
        const auto status = detail::check(function(handle_, &found.key, &found.value));
        return status == LATCHLESS_OK ? optional_entry(found) : std::nullopt;
    }

    template <class F>
    optional_entry near(F function, Key key) const {
        entry<Key> found{};
        const auto status = detail::check(function(handle_, key, &found.key, &found.value));
        return status == LATCHLESS_OK ? optional_entry(found) : std::nullopt;
    }

    template <class F>
    found_values values_of(F function, const std::vector<Key> &keys) const {
        found_values answers{std::vector<latchless::value>(keys.size()), std::vector<std::uint8_t>(keys.size())};
        detail::check(function(handle_, keys.data(), keys.size(), answers.values.data(), answers.found.data(),
                               &answers.hits));
        return answers;
    }

    template <class F>
    found_entries<Key> entries_of(F function, const std::vector<Key> &keys) const {
        const std::size_t count = keys.size();
        found_entries<Key> answers{std::vector<Key>(count), std::vector<latchless::value>(count),
                                   std::vector<std::uint8_t>(count)};
        detail::check(function(handle_, keys.data(), count, answers.keys.data(), answers.values.data(),
                               answers.found.data(), &answers.hits));
        return answers;
    }

    typename api::handle *handle_ = nullptr;
};

} // namespace latchless

#endif
