// latchless for C++17: ordered indexes in main memory, which many threads read and change at once.
//
//     latchless::index<std::uint64_t> prices;
//     prices.insert(99, 5);
//     if (auto price = prices.get(99)) std::cout << *price << '\n';
//     prices.for_each(0, 100, [](std::uint64_t item, latchless::value price) { ... });
//
// Keys are std::uint64_t, std::int64_t or double (latchless_bytes.hpp has those that are byte strings), values 64
// bits of yours: see bits_of and value_as (latchless_kv.hpp has values that are byte strings). Everything is const but what ends or replaces the index, because any
// number of threads may call it at once. What operations do, cost and guarantee is said in latchless.h.
//
// Errors are exceptions, each with the library's message and its status: memory_error (a std::bad_alloc) for
// memory that was refused, argument_error (a std::invalid_argument) for what the caller passed, file_error and
// broken_error (std::runtime_error) for the rest. No exception passes through the library: what a callback throws is
// kept, the call is ended, and it is thrown again here.

#ifndef LATCHLESS_HPP
#define LATCHLESS_HPP

#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "latchless.h"

namespace latchless {

using value = latchless_value;

// The 64 bits of something small: a number, an enumerator, a pointer.
template <class T>
value bits_of(const T &thing) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(value), "a value has 64 bits");
    value bits = 0;
    std::memcpy(&bits, &thing, sizeof(T));
    return bits;
}

// What bits_of was given.
template <class T>
T value_as(value bits) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(value), "a value has 64 bits");
    T thing;
    std::memcpy(&thing, &bits, sizeof(T));
    return thing;
}

// ---- errors ----------------------------------------------------------------------------------

class memory_error : public std::bad_alloc {
public:
    memory_error(latchless_status status, std::string message, std::vector<std::size_t> refused = {})
        : status_(status), message_(std::move(message)), refused_(std::move(refused)) {}
    const char *what() const noexcept override { return message_.c_str(); }
    latchless_status status() const noexcept { return status_; }
    // Of a batch: the positions that weren't inserted. All others were.
    const std::vector<std::size_t> &refused() const noexcept { return refused_; }

private:
    latchless_status status_;
    std::string message_;
    std::vector<std::size_t> refused_;
};

namespace detail {

template <class Base>
class error : public Base {
public:
    error(latchless_status status, const std::string &message) : Base(message), status_(status) {}
    latchless_status status() const noexcept { return status_; }

private:
    latchless_status status_;
};

} // namespace detail

class argument_error : public detail::error<std::invalid_argument> {
    using error::error;
};

class file_error : public detail::error<std::runtime_error> {
    using error::error;
};

// A bug of the library, or an index that a fork has left amid a change.
class broken_error : public detail::error<std::runtime_error> {
    using error::error;
};

namespace detail {

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

inline latchless_status check(latchless_status status) {
    if (status < 0) fail(status);
    return status;
}

// As check, of a batch of inserts; refused[i] is 1 if the i-th wasn't done.
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

inline void check_lengths(std::size_t keys, std::size_t values) {
    if (keys == values) return;
    throw argument_error(LATCHLESS_INVALID, "latchless: " + std::to_string(keys) + " keys, but " +
                                                std::to_string(values) + " values");
}

// The functions of C for a type of keys.
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
        static constexpr auto scan = latchless_##name##_scan;                                                \
        static constexpr auto cursor_new = latchless_##name##_cursor_new;                                    \
        static constexpr auto cursor_next = latchless_##name##_cursor_next;                                  \
        static constexpr auto cursor_free = latchless_##name##_cursor_free;                                  \
    }

LATCHLESS_DETAIL_API(u64, std::uint64_t);
LATCHLESS_DETAIL_API(i64, std::int64_t);
LATCHLESS_DETAIL_API(f64, double);
#undef LATCHLESS_DETAIL_API

// A function of the caller's on its way through C. No exception leaves the trampoline: it is kept here.
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

// ---- what calls take and give ------------------------------------------------------------------

struct options : latchless_options {
    options() { detail::check(latchless_options_init(this, sizeof(latchless_options))); }
};

template <class Key>
struct entry {
    Key key;
    latchless::value value;

    friend bool operator==(const entry &a, const entry &b) { return a.key == b.key && a.value == b.value; }
    friend bool operator!=(const entry &a, const entry &b) { return !(a == b); }
};

// Answers to a batch: values[i] is the value of the i-th key if found[i] is 1, otherwise 0.
struct found_values {
    std::vector<latchless::value> values;
    std::vector<std::uint8_t> found;
    std::size_t hits = 0;
};

// Answers to a batch of nearest entries.
template <class Key>
struct found_entries {
    std::vector<Key> keys;
    std::vector<latchless::value> values;
    std::vector<std::uint8_t> found;
    std::size_t hits = 0;
};

template <class Key>
struct columns {
    std::vector<Key> keys;
    std::vector<latchless::value> values;
};

enum class direction { ascending, descending };

// The keys that are all keys' ends.
template <class Key>
struct ends {
    static constexpr Key lowest() { return std::numeric_limits<Key>::lowest(); }
    static constexpr Key highest() { return std::numeric_limits<Key>::max(); }
};
template <>
struct ends<double> {
    static constexpr double lowest() { return -std::numeric_limits<double>::infinity(); }
    static constexpr double highest() { return std::numeric_limits<double>::infinity(); }
};

// A place in a range: copies its entries page by page. For one thread at a time. It keeps what it needs of
// its index, and may outlive it.
template <class Key>
class cursor {
    using api = detail::api<Key>;

public:
    cursor(cursor &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    cursor &operator=(cursor &&other) noexcept {
        cursor(std::move(other)).swap(*this);
        return *this;
    }
    cursor(const cursor &) = delete;
    cursor &operator=(const cursor &) = delete;
    ~cursor() { api::cursor_free(handle_); }
    void swap(cursor &other) noexcept { std::swap(handle_, other.handle_); }

    // Copies the next entries and says how many; 0: there are no more. Either array may be NULL.
    std::size_t next(Key *keys, latchless::value *values, std::size_t room) {
        std::size_t filled = 0;
        detail::check(api::cursor_next(handle_, keys, values, room, &filled));
        return filled;
    }

    // The next entries, at most `room`.
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

// ---- the index -----------------------------------------------------------------------------------

// Move-only. An index that was moved from holds nothing: it can be assigned to or destroyed, and everything
// else throws an argument_error.
template <class Key>
class index {
    using api = detail::api<Key>;
    using optional_value = std::optional<latchless::value>;
    using optional_entry = std::optional<entry<Key>>;

public:
    using key_type = Key;

    explicit index(const options &how = options()) { detail::check(api::make(&how, &handle_)); }

    // Of ascending keys.
    static index bulk_load(const Key *keys, const latchless::value *values, std::size_t count,
                      const options &how = options()) {
        index made{nothing()};
        detail::check(api::bulk_load(keys, values, count, &how, &made.handle_));
        return made;
    }
    static index bulk_load(const std::vector<Key> &keys, const std::vector<latchless::value> &values,
                      const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        return bulk_load(keys.data(), values.data(), keys.size(), how);
    }
    static index open(const std::string &path, const options &how = options()) {
        index made{nothing()};
        detail::check(api::open(path.c_str(), &how, &made.handle_));
        return made;
    }
    // How many entries were saved.
    std::size_t save(const std::string &path) const {
        std::size_t entries = 0;
        detail::check(api::save(handle_, path.c_str(), &entries));
        return entries;
    }

    index(index &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    index &operator=(index &&other) noexcept {
        index(std::move(other)).swap(*this);
        return *this;
    }
    index(const index &) = delete;
    index &operator=(const index &) = delete;
    ~index() { api::free(handle_); }
    void swap(index &other) noexcept { std::swap(handle_, other.handle_); }
    friend void swap(index &a, index &b) noexcept { a.swap(b); }

    // The handle of C; it stays this index's.
    typename api::handle *handle() const noexcept { return handle_; }

    std::size_t size() const {
        std::size_t len = 0;
        detail::check(api::len(handle_, &len));
        return len;
    }
    bool empty() const { return size() == 0; }
    void clear() const { detail::check(api::clear(handle_)); }
    latchless_stats stats() const {
        latchless_stats stats{};
        stats.struct_size = sizeof stats;
        detail::check(api::stats(handle_, &stats));
        return stats;
    }
    // Throws a broken_error if a node isn't as it must be.
    void check_invariants() const { detail::check(api::check_invariants(handle_)); }

    // ---- one key; atomic ----

    optional_value get(Key key) const {
        latchless::value found = 0;
        return detail::check(api::get(handle_, key, &found)) == LATCHLESS_OK ? optional_value(found) : std::nullopt;
    }
    bool contains(Key key) const { return detail::check(api::contains_key(handle_, key)) == LATCHLESS_OK; }
    // The value before, if the key was there.
    optional_value insert(Key key, latchless::value value) const {
        latchless::value before = 0;
        const auto status = detail::check(api::insert(handle_, key, value, &before));
        return status == LATCHLESS_PRESENT ? optional_value(before) : std::nullopt;
    }
    // The value that is there and stays, if the key was there.
    optional_value try_insert(Key key, latchless::value value) const {
        latchless::value present = 0;
        const auto status = detail::check(api::try_insert(handle_, key, value, &present));
        return status == LATCHLESS_PRESENT ? optional_value(present) : std::nullopt;
    }
    // Replaces the value of a key that is there: the value before.
    optional_value replace(Key key, latchless::value value) const {
        latchless::value before = 0;
        const auto status = detail::check(api::replace(handle_, key, value, &before));
        return status == LATCHLESS_OK ? optional_value(before) : std::nullopt;
    }
    optional_value remove(Key key) const {
        latchless::value before = 0;
        return detail::check(api::remove(handle_, key, &before)) == LATCHLESS_OK ? optional_value(before) : std::nullopt;
    }
    // Whether it was done. If not, `expected` gets the value that is there, or nothing if the key isn't.
    bool compare_exchange(Key key, optional_value &expected, latchless::value value) const {
        if (!expected) {
            expected = try_insert(key, value);
            return !expected;
        }
        latchless::value found = 0;
        const auto status = api::compare_exchange(handle_, key, *expected, value, &found);
        return compared(status, found, expected);
    }
    bool compare_remove(Key key, optional_value &expected) const {
        if (!expected) throw argument_error(LATCHLESS_INVALID, "latchless: nothing can't be removed");
        latchless::value found = 0;
        const auto status = api::compare_remove(handle_, key, *expected, &found);
        return compared(status, found, expected);
    }

    // ---- by order; atomic ----

    optional_entry first() const { return end(api::first); }
    optional_entry last() const { return end(api::last); }
    optional_entry pop_first() const { return end(api::pop_first); }
    optional_entry pop_last() const { return end(api::pop_last); }
    optional_entry floor(Key key) const { return near(api::floor, key); }
    optional_entry ceiling(Key key) const { return near(api::ceiling, key); }
    optional_entry lower(Key key) const { return near(api::lower, key); }
    optional_entry higher(Key key) const { return near(api::higher, key); }
    // On whichever side; of two that are equally near the one with the smaller key.
    optional_entry nearest(Key key) const { return near(api::nearest, key); }
    // How many keys are smaller.
    std::size_t rank(Key key) const {
        std::size_t rank = 0;
        detail::check(api::rank(handle_, key, &rank));
        return rank;
    }
    optional_entry nth(std::size_t position) const {
        entry<Key> found{};
        const auto status = detail::check(api::nth(handle_, position, &found.key, &found.value));
        return status == LATCHLESS_OK ? optional_entry(found) : std::nullopt;
    }

    // ---- batches ----

    // Where a key isn't found, its place in `values` is as before. `values` and `found` may be NULL. How many
    // are there.
    std::size_t get(const Key *keys, std::size_t count, latchless::value *values, std::uint8_t *found) const {
        std::size_t hits = 0;
        detail::check(api::get_columns(handle_, keys, count, values, found, &hits));
        return hits;
    }
    found_values get(const std::vector<Key> &keys) const { return values_of(api::get_columns, keys); }
    // How many keys are new. A memory_error has the positions that were refused.
    std::size_t insert(const Key *keys, const latchless::value *values, std::size_t count) const {
        std::size_t new_keys = 0;
        std::vector<std::uint8_t> refused(count);
        const auto status = api::insert_columns(handle_, keys, values, count, &new_keys, refused.data());
        detail::check_inserts(status, refused);
        return new_keys;
    }
    std::size_t insert(const std::vector<Key> &keys, const std::vector<latchless::value> &values) const {
        detail::check_lengths(keys.size(), values.size());
        return insert(keys.data(), values.data(), keys.size());
    }
    found_values remove(const std::vector<Key> &keys) const { return values_of(api::remove_columns, keys); }
    found_entries<Key> floor(const std::vector<Key> &keys) const { return entries_of(api::floor_columns, keys); }
    found_entries<Key> ceiling(const std::vector<Key> &keys) const { return entries_of(api::ceiling_columns, keys); }
    found_entries<Key> lower(const std::vector<Key> &keys) const { return entries_of(api::lower_columns, keys); }
    found_entries<Key> higher(const std::vector<Key> &keys) const { return entries_of(api::higher_columns, keys); }
    found_entries<Key> nearest(const std::vector<Key> &keys) const { return entries_of(api::nearest_columns, keys); }
    std::vector<std::size_t> rank(const std::vector<Key> &keys) const {
        std::vector<std::size_t> ranks(keys.size());
        detail::check(api::rank_columns(handle_, keys.data(), keys.size(), ranks.data()));
        return ranks;
    }
    std::vector<std::size_t> count(const std::vector<Key> &low, const std::vector<Key> &high) const {
        detail::check_lengths(low.size(), high.size());
        std::vector<std::size_t> counts(low.size());
        detail::check(api::count_columns(handle_, low.data(), high.data(), low.size(), counts.data()));
        return counts;
    }

    // ---- ranges, both ends included ----

    std::size_t count(Key low, Key high) const {
        std::size_t count = 0;
        detail::check(api::count(handle_, low, high, &count));
        return count;
    }
    std::size_t remove_range(Key low, Key high) const {
        std::size_t removed = 0;
        detail::check(api::remove_range(handle_, low, high, &removed));
        return removed;
    }
    // The first entries of a range, or the last ones, backwards: at most `limit`.
    columns<Key> page(Key low, Key high, std::size_t limit, direction way = direction::ascending) const {
        columns<Key> page{std::vector<Key>(limit), std::vector<latchless::value>(limit)};
        std::size_t filled = 0;
        if (limit > 0) {
            detail::check(api::page(handle_, low, high, way == direction::descending, page.keys.data(),
                                    page.values.data(), limit, &filled));
        }
        page.keys.resize(filled);
        page.values.resize(filled);
        return page;
    }
    latchless::cursor<Key> cursor(Key low = ends<Key>::lowest(), Key high = ends<Key>::highest(),
                                  direction way = direction::ascending) const {
        latchless::cursor<Key> made;
        detail::check(api::cursor_new(handle_, low, high, way == direction::descending, &made.handle_));
        return made;
    }
    // Shows the entries, some dozens at a time, to function(keys, values, count), which returns whether to go
    // on. Whether the range was shown to its end.
    template <class F>
    bool scan(Key low, Key high, F &&function) const {
        detail::call<Key, F> call{function, nullptr};
        const auto status = api::scan(handle_, low, high, call.trampoline, &call);
        if (call.thrown) std::rethrow_exception(call.thrown);
        return detail::check(status) == LATCHLESS_OK;
    }
    // Calls function(key, value) for each entry.
    template <class F>
    void for_each(Key low, Key high, F &&function) const {
        scan(low, high, [&](const Key *keys, const latchless::value *values, std::size_t count) {
            for (std::size_t at = 0; at < count; ++at) function(keys[at], values[at]);
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
    optional_entry end(F function) const {
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
