/// \file
/// \brief Ordered indexes for C++17 whose keys are byte strings.
///
/// \code{.cpp}
///     latchless::bytes_index pages;
///     pages.insert("https://example.org/", 1);
///     if (auto page = pages.get("https://example.org/")) std::cout << *page << '\n';
///     pages.for_each_prefix("https://", [](std::string_view key, latchless::value page) { ... });
/// \endcode
///
/// Keys are std::string_views, which may contain any bytes; the index copies them. Values have 64 bits, as
/// in latchless.hpp, which also has the errors; latchless_kv.hpp has values that are byte strings. Any
/// number of threads may call const members of one index at once; all members are const except those that
/// replace or end the index. latchless.h has the details of operations: cost, atomicity, and what they see
/// of concurrent changes.

#ifndef LATCHLESS_BYTES_HPP
#define LATCHLESS_BYTES_HPP

#include <string_view>

#include "latchless.hpp"

namespace latchless {

/// An entry with a copy of its key.
using bytes_entry = entry<std::string>;

/// An entry that a cursor is on. Its key is valid until the cursor moves or is destroyed.
using bytes_view = entry<std::string_view>;

/// Strings of a batch, packed as in an Arrow column: the i-th extends from offsets[i] to offsets[i + 1].
struct packed_keys {
    std::string bytes;                    ///< The bytes of all strings.
    std::vector<std::int64_t> offsets{0}; ///< One offset more than strings.

    /// Appends a string.
    void push_back(std::string_view key) {
        bytes.append(key);
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    /// The number of strings.
    std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
};

namespace detail {

/// The strings of a batch as pointers and lengths.
struct apart_keys {
    std::vector<const void *> keys;
    std::vector<std::size_t> lens;

    explicit apart_keys(const std::vector<std::string_view> &views) {
        keys.reserve(views.size());
        lens.reserve(views.size());
        for (const auto view : views) {
            keys.push_back(view.data());
            lens.push_back(view.size());
        }
    }
};

/// The entries that a cursor moves to, one by one.
template <class Cursor, class Entry>
struct walked {
    using entry = Entry;
    Cursor cursor;
    std::optional<Entry> at;

    explicit walked(Cursor from) : cursor(std::move(from)) {}
    void next() { at = cursor.next(); }
};

/// The context of a callback: the caller's function, and the exception that it threw.
template <class F>
struct bytes_call {
    F &function;
    std::exception_ptr thrown;

    static int trampoline(const void *key, std::size_t len, value its_value, void *context) noexcept {
        bytes_call &self = *static_cast<bytes_call *>(context);
        try {
            return self.function(std::string_view(static_cast<const char *>(key), len), its_value) ? 0 : 1;
        } catch (...) {
            self.thrown = std::current_exception();
            return 1;
        }
    }
};

} // namespace detail

/// A position in an index: on an entry, before the first one (as a new cursor is), or after the last one.
/// One thread at a time may use it. It may outlive its index.
class bytes_cursor {
    using optional_view = std::optional<bytes_view>;

public:
    /// Takes over a cursor.
    bytes_cursor(bytes_cursor &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /// Takes over a cursor, and frees the one before.
    bytes_cursor &operator=(bytes_cursor &&other) noexcept {
        bytes_cursor(std::move(other)).swap(*this);
        return *this;
    }
    bytes_cursor(const bytes_cursor &) = delete;
    bytes_cursor &operator=(const bytes_cursor &) = delete;
    ~bytes_cursor() { latchless_bytes_cursor_free(handle_); }
    /// Exchanges two cursors.
    void swap(bytes_cursor &other) noexcept { std::swap(handle_, other.handle_); }
    /// Exchanges two cursors.
    friend void swap(bytes_cursor &a, bytes_cursor &b) noexcept { a.swap(b); }

    /// Moves to a key or, if it is absent, to the first key after it. Returns the entry, if there is one.
    optional_view seek(std::string_view key) { return go(latchless_bytes_cursor_seek, key.data(), key.size()); }
    /// Moves to a key or, if it is absent, to the last key before it. Returns the entry, if there is one.
    optional_view seek_for_prev(std::string_view key) {
        return go(latchless_bytes_cursor_seek_for_prev, key.data(), key.size());
    }
    /// Moves to the first entry. Returns it, if there is one.
    optional_view seek_first() { return go(latchless_bytes_cursor_seek_first); }
    /// Moves to the last entry. Returns it, if there is one.
    optional_view seek_last() { return go(latchless_bytes_cursor_seek_last); }
    /// Moves to the next entry. Returns it, if there is one.
    optional_view next() { return go(latchless_bytes_cursor_next); }
    /// Moves to the previous entry. Returns it, if there is one.
    optional_view prev() { return go(latchless_bytes_cursor_prev); }
    /// The entry that the cursor is on, if it is on one.
    optional_view current() const { return go(latchless_bytes_cursor_current); }

private:
    friend class bytes_index;
    bytes_cursor() noexcept = default;

    template <class F, class... Arguments>
    optional_view go(F function, Arguments... arguments) const {
        const void *key = nullptr;
        std::size_t len = 0;
        latchless::value its_value = 0;
        const auto status = detail::check(function(handle_, arguments..., &key, &len, &its_value));
        if (status == LATCHLESS_NOT_FOUND) return std::nullopt;
        return bytes_view{std::string_view(static_cast<const char *>(key), len), its_value};
    }

    latchless_bytes_cursor *handle_ = nullptr;
};

/// An ordered index whose keys are byte strings. It can be moved, not copied. An index that was moved from
/// can be assigned to or destroyed; every other call throws an argument_error.
class bytes_index {
    using optional_value = std::optional<latchless::value>;
    using optional_entry = std::optional<bytes_entry>;

public:
    using key_type = std::string_view; ///< The type of keys.
    using mapped_type = latchless::value; ///< The type of values.
    using value_type = bytes_view; ///< A key and its value.
    using const_iterator = iterator<detail::walked<bytes_cursor, bytes_view>>; ///< Entries in ascending order.

    /// An empty index.
    explicit bytes_index(const options &how = options()) { detail::check(latchless_bytes_new(&how, &handle_)); }

    /// An index of entries whose keys are ascending and distinct. Much faster than inserts.
    static bytes_index bulk_load(const std::vector<std::string_view> &keys,
                                 const std::vector<latchless::value> &values, const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        const detail::apart_keys apart(keys);
        bytes_index made{nothing()};
        detail::check(latchless_bytes_bulk_load(apart.keys.data(), apart.lens.data(), values.data(), keys.size(),
                                                &how, &made.handle_));
        return made;
    }
    /// An index of entries whose keys are ascending and distinct. Much faster than inserts.
    static bytes_index bulk_load(const packed_keys &keys, const std::vector<latchless::value> &values,
                                 const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        bytes_index made{nothing()};
        detail::check(latchless_bytes_bulk_load_packed(keys.bytes.data(), keys.offsets.data(), sizeof(std::int64_t),
                                                  values.data(), keys.size(), &how, &made.handle_));
        return made;
    }
    /// An index of the entries in a file that was saved from C, C++, Rust or Python.
    static bytes_index open(const std::string &path, const options &how = options()) {
        bytes_index made{nothing()};
        detail::check(latchless_bytes_open(path.c_str(), &how, &made.handle_));
        return made;
    }
    /// Writes all entries to an Arrow file, which replaces the file at `path` in one step. Returns how many.
    std::size_t save(const std::string &path) const {
        std::size_t entries = 0;
        detail::check(latchless_bytes_save(handle_, path.c_str(), &entries));
        return entries;
    }

    /// Takes over an index.
    bytes_index(bytes_index &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /// Takes over an index, and frees the one before.
    bytes_index &operator=(bytes_index &&other) noexcept {
        bytes_index(std::move(other)).swap(*this);
        return *this;
    }
    bytes_index(const bytes_index &) = delete;
    bytes_index &operator=(const bytes_index &) = delete;
    ~bytes_index() { latchless_bytes_free(handle_); }
    /// Exchanges two indexes.
    void swap(bytes_index &other) noexcept { std::swap(handle_, other.handle_); }
    /// Exchanges two indexes.
    friend void swap(bytes_index &a, bytes_index &b) noexcept { a.swap(b); }

    /// The handle for functions of C. The index still owns it.
    latchless_bytes *handle() const noexcept { return handle_; }

    /// The number of keys. Exact if no thread inserts or removes meanwhile.
    std::size_t size() const {
        std::size_t len = 0;
        detail::check(latchless_bytes_len(handle_, &len));
        return len;
    }
    /// Whether there are no keys.
    bool empty() const { return size() == 0; }
    /// The bytes that the index holds for keys, values and nodes. Takes constant time.
    std::size_t memory_bytes() const {
        std::size_t held = 0;
        detail::check(latchless_bytes_memory_bytes(handle_, &held, nullptr));
        return held;
    }
    /// Removes all keys one by one, not atomically as a whole.
    void clear() const { detail::check(latchless_bytes_clear(handle_)); }
    /// Memory use, the number of nodes and their fill. Reads every node.
    latchless_stats stats() const {
        latchless_stats found{};
        found.struct_size = sizeof found;
        detail::check(latchless_bytes_stats(handle_, &found));
        return found;
    }
    /// Checks every node, and throws a broken_error if an invariant doesn't hold. Meant for tests.
    void check_invariants() const { detail::check(latchless_bytes_check_invariants(handle_)); }

    /// The first entry.
    const_iterator begin() const { return const_iterator(std::make_shared<const_iterator::source_type>(cursor())); }
    /// The end of the entries.
    const_iterator end() const noexcept { return {}; }

    // ---- one key; atomic ----

    /// The value of a key, if it is present.
    optional_value get(std::string_view key) const {
        latchless::value found = 0;
        const auto status = detail::check(latchless_bytes_get(handle_, key.data(), key.size(), &found));
        return status == LATCHLESS_OK ? optional_value(found) : std::nullopt;
    }
    /// Whether a key is present.
    bool contains(std::string_view key) const {
        return detail::check(latchless_bytes_contains_key(handle_, key.data(), key.size())) == LATCHLESS_OK;
    }
    /// Inserts a key, or replaces its value. Returns the value that was replaced.
    optional_value insert(std::string_view key, latchless::value new_value) const {
        latchless::value before = 0;
        const auto status =
            detail::check(latchless_bytes_insert(handle_, key.data(), key.size(), new_value, &before));
        return status == LATCHLESS_PRESENT ? optional_value(before) : std::nullopt;
    }
    /// Inserts a key unless it is present. Returns the value of a key that is present, which is kept.
    optional_value try_insert(std::string_view key, latchless::value new_value) const {
        latchless::value present = 0;
        const auto status =
            detail::check(latchless_bytes_try_insert(handle_, key.data(), key.size(), new_value, &present));
        return status == LATCHLESS_PRESENT ? optional_value(present) : std::nullopt;
    }
    /// Replaces the value of a key that is present. Returns the value that was replaced.
    optional_value replace(std::string_view key, latchless::value new_value) const {
        latchless::value before = 0;
        const auto status =
            detail::check(latchless_bytes_replace(handle_, key.data(), key.size(), new_value, &before));
        return status == LATCHLESS_OK ? optional_value(before) : std::nullopt;
    }
    /// Removes a key. Returns the value that it had.
    optional_value remove(std::string_view key) const {
        latchless::value before = 0;
        const auto status = detail::check(latchless_bytes_remove(handle_, key.data(), key.size(), &before));
        return status == LATCHLESS_OK ? optional_value(before) : std::nullopt;
    }
    /// Replaces the value of a key if it is `expected`; with an empty `expected`, inserts a key that is
    /// absent. Returns whether that was done. If not, `expected` becomes the value that the key has, or
    /// empty if it is absent.
    bool compare_exchange(std::string_view key, optional_value &expected, latchless::value new_value) const {
        if (!expected) {
            expected = try_insert(key, new_value);
            return !expected;
        }
        latchless::value found = 0;
        const auto status =
            latchless_bytes_compare_exchange(handle_, key.data(), key.size(), *expected, new_value, &found);
        return compared(status, found, expected);
    }
    /// Removes a key if its value is `expected`. Returns whether that was done. If not, `expected` becomes
    /// the value that the key has, or empty if it is absent.
    bool compare_remove(std::string_view key, optional_value &expected) const {
        if (!expected) throw argument_error(LATCHLESS_INVALID, "latchless: nothing can't be removed");
        latchless::value found = 0;
        const auto status = latchless_bytes_compare_remove(handle_, key.data(), key.size(), *expected, &found);
        return compared(status, found, expected);
    }

    // ---- by order; atomic ----

    /// The entry with the smallest key.
    optional_entry first() const { return found(latchless_bytes_first); }
    /// The entry with the largest key.
    optional_entry last() const { return found(latchless_bytes_last); }
    /// Removes the entry with the smallest key, and returns it.
    optional_entry pop_first() const { return popped(latchless_bytes_pop_first); }
    /// Removes the entry with the largest key, and returns it.
    optional_entry pop_last() const { return popped(latchless_bytes_pop_last); }
    /// The entry with the largest key that is less than or equal to `key`.
    optional_entry floor(std::string_view key) const { return found(latchless_bytes_floor, key.data(), key.size()); }
    /// The entry with the smallest key that is greater than or equal to `key`.
    optional_entry ceiling(std::string_view key) const {
        return found(latchless_bytes_ceiling, key.data(), key.size());
    }
    /// The entry with the largest key that is less than `key`.
    optional_entry lower(std::string_view key) const { return found(latchless_bytes_lower, key.data(), key.size()); }
    /// The entry with the smallest key that is greater than `key`.
    optional_entry higher(std::string_view key) const {
        return found(latchless_bytes_higher, key.data(), key.size());
    }

    // ---- batches ----

    /// Looks up keys.
    found_values get(const std::vector<std::string_view> &keys) const {
        return values_of(latchless_bytes_get_columns, keys);
    }
    /// Looks up keys.
    found_values get(const packed_keys &keys) const { return values_of(latchless_bytes_get_packed, keys); }
    /// Stores values[i] under keys[i]. Returns how many keys were absent. A memory_error has the positions
    /// that were refused; a key that is too long is an argument_error; all others were inserted.
    std::size_t insert(const std::vector<std::string_view> &keys, const std::vector<latchless::value> &values) const {
        const detail::apart_keys apart(keys);
        return inserted(keys.size(), values, [&](std::size_t *new_keys, std::uint8_t *refused) {
            return latchless_bytes_insert_columns(handle_, apart.keys.data(), apart.lens.data(), values.data(),
                                                  keys.size(), new_keys, refused);
        });
    }
    /// Stores values[i] under keys[i]. Returns how many keys were absent. A memory_error has the positions
    /// that were refused; a key that is too long is an argument_error; all others were inserted.
    std::size_t insert(const packed_keys &keys, const std::vector<latchless::value> &values) const {
        return inserted(keys.size(), values, [&](std::size_t *new_keys, std::uint8_t *refused) {
            return latchless_bytes_insert_packed(handle_, keys.bytes.data(), keys.offsets.data(),
                                                 sizeof(std::int64_t), values.data(), keys.size(), new_keys, refused);
        });
    }
    /// Removes keys. Returns the values that they had.
    found_values remove(const std::vector<std::string_view> &keys) const {
        return values_of(latchless_bytes_remove_columns, keys);
    }
    /// Removes keys. Returns the values that they had.
    found_values remove(const packed_keys &keys) const { return values_of(latchless_bytes_remove_packed, keys); }

    // ---- ranges: from `from` on, and before `to`, if there is one ----

    /// The number of keys of a range. Reads every leaf of it.
    std::size_t count(std::string_view from = {}, std::optional<std::string_view> to = {}) const {
        std::size_t counted = 0;
        detail::check(
            latchless_bytes_count(handle_, from.data(), from.size(), data_of(to), size_of(to), &counted));
        return counted;
    }
    /// Removes the keys of a range, not atomically as a whole. Returns how many.
    std::size_t remove_range(std::string_view from, std::optional<std::string_view> to) const {
        std::size_t removed = 0;
        detail::check(
            latchless_bytes_remove_range(handle_, from.data(), from.size(), data_of(to), size_of(to), &removed));
        return removed;
    }
    /// A cursor before the first entry.
    bytes_cursor cursor() const {
        bytes_cursor made;
        detail::check(latchless_bytes_cursor_new(handle_, &made.handle_));
        return made;
    }
    /// Calls function(key, value) for each entry of a range until it returns false; key and value are valid
    /// until then. Returns whether the whole range was passed.
    template <class F>
    bool scan(std::string_view from, std::optional<std::string_view> to, F &&function,
               direction way = direction::ascending) const {
        return shown(function, [&](auto *trampoline, void *context) {
            return latchless_bytes_scan(handle_, from.data(), from.size(), data_of(to), size_of(to),
                                         way == direction::descending, trampoline, context);
        });
    }
    /// Calls function(key, value) for each entry whose key starts with a prefix, until it returns false.
    /// Returns whether all of them were passed.
    template <class F>
    bool scan_prefix(std::string_view prefix, F &&function) const {
        return shown(function, [&](auto *trampoline, void *context) {
            return latchless_bytes_scan_prefix(handle_, prefix.data(), prefix.size(), trampoline, context);
        });
    }
    /// Calls function(key, value) for each entry of a range.
    template <class F>
    void for_each(std::string_view from, std::optional<std::string_view> to, F &&function) const {
        scan(from, to, [&](std::string_view key, latchless::value its_value) {
            function(key, its_value);
            return true;
        });
    }
    /// Calls function(key, value) for each entry whose key starts with a prefix.
    template <class F>
    void for_each_prefix(std::string_view prefix, F &&function) const {
        scan_prefix(prefix, [&](std::string_view key, latchless::value its_value) {
            function(key, its_value);
            return true;
        });
    }

private:
    struct nothing {};
    explicit bytes_index(nothing) noexcept {}

    static const void *data_of(const std::optional<std::string_view> &to) { return to ? to->data() : nullptr; }
    static std::size_t size_of(const std::optional<std::string_view> &to) {
        return to ? to->size() : static_cast<std::size_t>(LATCHLESS_NO_END);
    }

    static bool compared(latchless_status status, latchless::value found, optional_value &expected) {
        detail::check(status);
        if (status == LATCHLESS_OK) return true;
        expected = status == LATCHLESS_MISMATCH ? optional_value(found) : std::nullopt;
        return false;
    }

    // An entry. The memory for its key grows until the key fits, which another thread may make longer meanwhile.
    template <class F, class... Arguments>
    optional_entry found(F function, Arguments... arguments) const {
        bytes_entry entry{std::string(64, '\0'), 0};
        for (;;) {
            std::size_t len = 0;
            const auto status =
                function(handle_, arguments..., entry.key.data(), entry.key.size(), &len, &entry.value);
            if (status == LATCHLESS_NOT_FOUND) return std::nullopt;
            if (status != LATCHLESS_SMALL_ROOM) detail::check(status);
            entry.key.resize(len);
            if (status == LATCHLESS_OK) return entry;
        }
    }

    template <class F>
    optional_entry popped(F function) const {
        bytes_entry entry{std::string(LATCHLESS_KEY_MAX, '\0'), 0};
        std::size_t len = 0;
        const auto status =
            detail::check(function(handle_, entry.key.data(), entry.key.size(), &len, &entry.value));
        if (status == LATCHLESS_NOT_FOUND) return std::nullopt;
        entry.key.resize(len);
        entry.key.shrink_to_fit();
        return entry;
    }

    template <class F>
    found_values values_of(F function, const std::vector<std::string_view> &keys) const {
        const detail::apart_keys apart(keys);
        return answered(keys.size(), function, apart.keys.data(), apart.lens.data());
    }
    template <class F>
    found_values values_of(F function, const packed_keys &keys) const {
        return answered(keys.size(), function, keys.bytes.data(), keys.offsets.data(), sizeof(std::int64_t));
    }
    template <class F, class... Arguments>
    found_values answered(std::size_t count, F function, Arguments... keys) const {
        found_values answers{std::vector<latchless::value>(count), std::vector<std::uint8_t>(count)};
        detail::check(
            function(handle_, keys..., count, answers.values.data(), answers.found.data(), &answers.hits));
        return answers;
    }

    template <class F>
    static std::size_t inserted(std::size_t count, const std::vector<latchless::value> &values, F insert) {
        detail::check_lengths(count, values.size());
        std::size_t new_keys = 0;
        std::vector<std::uint8_t> refused(count);
        detail::check_inserts(insert(&new_keys, refused.data()), refused);
        return new_keys;
    }

    template <class F, class Visit>
    static bool shown(F &function, Visit visit) {
        detail::bytes_call<F> call{function, nullptr};
        const auto status = visit(call.trampoline, &call);
        if (call.thrown) std::rethrow_exception(call.thrown);
        return detail::check(status) == LATCHLESS_OK;
    }

    latchless_bytes *handle_ = nullptr;
};

} // namespace latchless

#endif
