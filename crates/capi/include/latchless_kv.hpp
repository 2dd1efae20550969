/// \file
/// \brief Ordered indexes for C++17 from byte strings to byte strings.
///
/// \code{.cpp}
///     latchless::kv_index pages;
///     pages.insert("https://example.org/", "<title>Example Domain</title>");
///     if (auto page = pages.get("https://example.org/")) std::cout << *page << '\n';
///     pages.for_each_prefix("https://", [](std::string_view key, std::string_view page) { ... });
/// \endcode
///
/// Keys and values are std::string_views, which may contain any bytes; the index copies them, and returns
/// std::strings. latchless.hpp has indexes of numbers and the errors, latchless_bytes.hpp byte strings with
/// values of 64 bits. Any number of threads may call const members of one index at once; all members are
/// const except those that replace or end the index. latchless.h has the details of operations: cost,
/// atomicity, and what they see of concurrent changes.

#ifndef LATCHLESS_KV_HPP
#define LATCHLESS_KV_HPP

#include "latchless_bytes.hpp"

namespace latchless {

/// Copies of a key and its value.
struct kv_entry {
    std::string key;   ///< The key.
    std::string value; ///< Its value.
    /// Whether both keys and both values are equal.
    friend bool operator==(const kv_entry &a, const kv_entry &b) { return a.key == b.key && a.value == b.value; }
    /// Whether the keys or the values differ.
    friend bool operator!=(const kv_entry &a, const kv_entry &b) { return !(a == b); }
};

/// An entry that a cursor is on. It is valid until the next call for the cursor.
struct kv_view {
    std::string_view key;   ///< The key.
    std::string_view value; ///< Its value.
};

/// The values that a batch found, packed as in an Arrow column; a key that wasn't found has an empty value.
struct found_strings {
    std::string bytes;                 ///< The bytes of all values.
    std::vector<std::int64_t> offsets; ///< The i-th value extends from offsets[i] to offsets[i + 1].
    std::vector<std::uint8_t> found;   ///< 1 if the i-th key was found, otherwise 0.
    std::size_t hits = 0;              ///< How many keys were found.

    /// The value of the i-th key, if it was found.
    std::optional<std::string_view> operator[](std::size_t i) const {
        if (!found[i]) return std::nullopt;
        const auto start = static_cast<std::size_t>(offsets[i]);
        return std::string_view(bytes).substr(start, static_cast<std::size_t>(offsets[i + 1]) - start);
    }
    /// The number of keys.
    std::size_t size() const noexcept { return found.size(); }
};

namespace detail {

/// A buffer for any key or value, kept for the thread's next call.
inline std::string &any_room(int which) {
    thread_local std::string rooms[2];
    if (rooms[which].empty()) rooms[which].resize(LATCHLESS_VALUE_MAX);
    return rooms[which];
}
static_assert(LATCHLESS_VALUE_MAX == LATCHLESS_KEY_MAX, "there is one room for both");

/// The context of a callback: the caller's function, and the exception that it threw.
template <class F>
struct kv_call {
    F &function;
    std::exception_ptr thrown;

    static int trampoline(const void *key, std::size_t key_len, const void *its_value, std::size_t value_len,
                          void *context) noexcept {
        kv_call &self = *static_cast<kv_call *>(context);
        try {
            return self.function(std::string_view(static_cast<const char *>(key), key_len),
                                 std::string_view(static_cast<const char *>(its_value), value_len))
                       ? 0
                       : 1;
        } catch (...) {
            self.thrown = std::current_exception();
            return 1;
        }
    }
};

} // namespace detail

/// A position in an index: on an entry, before the first one (as a new cursor is), or after the last one.
/// One thread at a time may use it. It may outlive its index.
class kv_cursor {
    using optional_view = std::optional<kv_view>;

public:
    /// Takes over a cursor.
    kv_cursor(kv_cursor &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /// Takes over a cursor, and frees the one before.
    kv_cursor &operator=(kv_cursor &&other) noexcept {
        kv_cursor(std::move(other)).swap(*this);
        return *this;
    }
    kv_cursor(const kv_cursor &) = delete;
    kv_cursor &operator=(const kv_cursor &) = delete;
    ~kv_cursor() { latchless_kv_cursor_free(handle_); }
    /// Exchanges two cursors.
    void swap(kv_cursor &other) noexcept { std::swap(handle_, other.handle_); }
    /// Exchanges two cursors.
    friend void swap(kv_cursor &a, kv_cursor &b) noexcept { a.swap(b); }

    /// Moves to a key or, if it is absent, to the first key after it. Returns the entry, if there is one.
    optional_view seek(std::string_view key) { return go(latchless_kv_cursor_seek, key.data(), key.size()); }
    /// Moves to a key or, if it is absent, to the last key before it. Returns the entry, if there is one.
    optional_view seek_for_prev(std::string_view key) {
        return go(latchless_kv_cursor_seek_for_prev, key.data(), key.size());
    }
    /// Moves to the first entry. Returns it, if there is one.
    optional_view seek_first() { return go(latchless_kv_cursor_seek_first); }
    /// Moves to the last entry. Returns it, if there is one.
    optional_view seek_last() { return go(latchless_kv_cursor_seek_last); }
    /// Moves to the next entry. Returns it, if there is one.
    optional_view next() { return go(latchless_kv_cursor_next); }
    /// Moves to the previous entry. Returns it, if there is one.
    optional_view prev() { return go(latchless_kv_cursor_prev); }
    /// The entry that the cursor is on, if it is on one.
    optional_view current() const { return go(latchless_kv_cursor_current); }

private:
    friend class kv_index;
    kv_cursor() noexcept = default;

    template <class F, class... Arguments>
    optional_view go(F function, Arguments... arguments) const {
        const void *key = nullptr, *its_value = nullptr;
        std::size_t key_len = 0, value_len = 0;
        const auto status = detail::check(function(handle_, arguments..., &key, &key_len, &its_value, &value_len));
        if (status == LATCHLESS_NOT_FOUND) return std::nullopt;
        return kv_view{std::string_view(static_cast<const char *>(key), key_len),
                       std::string_view(static_cast<const char *>(its_value), value_len)};
    }

    latchless_kv_cursor *handle_ = nullptr;
};

/// An ordered index from byte strings to byte strings. It can be moved, not copied. An index that was moved
/// from can be assigned to or destroyed; every other call throws an argument_error.
class kv_index {
    using optional_value = std::optional<std::string>;
    using optional_entry = std::optional<kv_entry>;
    using views = std::vector<std::string_view>;

public:
    using key_type = std::string_view; ///< The type of keys.
    using mapped_type = std::string_view; ///< The type of values.
    using value_type = kv_view; ///< A key and its value.
    using const_iterator = iterator<detail::walked<kv_cursor, kv_view>>; ///< Entries in ascending order.

    /// An empty index.
    explicit kv_index(const options &how = options()) { detail::check(latchless_kv_new(&how, &handle_)); }

    /// An index of entries whose keys are ascending and distinct. Much faster than inserts.
    static kv_index bulk_load(const views &keys, const views &values, const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        const detail::apart_keys apart(keys), beside(values);
        kv_index made{nothing()};
        detail::check(latchless_kv_bulk_load(apart.keys.data(), apart.lens.data(), beside.keys.data(),
                                             beside.lens.data(), keys.size(), &how, &made.handle_));
        return made;
    }
    /// An index of entries whose keys are ascending and distinct. Much faster than inserts.
    static kv_index bulk_load(const packed_keys &keys, const packed_keys &values, const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        kv_index made{nothing()};
        detail::check(latchless_kv_bulk_load_packed(keys.bytes.data(), keys.offsets.data(), values.bytes.data(),
                                               values.offsets.data(), sizeof(std::int64_t), keys.size(), &how,
                                               &made.handle_));
        return made;
    }

    /// An index of the entries in a file that was saved from C, C++, Rust or Python.
    static kv_index open(const std::string &path, const options &how = options()) {
        kv_index made{nothing()};
        detail::check(latchless_kv_open(path.c_str(), &how, &made.handle_));
        return made;
    }
    /// Writes all entries to an Arrow file, which replaces the file at `path` in one step. Returns how many.
    std::size_t save(const std::string &path) const {
        std::size_t entries = 0;
        detail::check(latchless_kv_save(handle_, path.c_str(), &entries));
        return entries;
    }

    /// Takes over an index.
    kv_index(kv_index &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /// Takes over an index, and frees the one before.
    kv_index &operator=(kv_index &&other) noexcept {
        kv_index(std::move(other)).swap(*this);
        return *this;
    }
    kv_index(const kv_index &) = delete;
    kv_index &operator=(const kv_index &) = delete;
    ~kv_index() { latchless_kv_free(handle_); }
    /// Exchanges two indexes.
    void swap(kv_index &other) noexcept { std::swap(handle_, other.handle_); }
    /// Exchanges two indexes.
    friend void swap(kv_index &a, kv_index &b) noexcept { a.swap(b); }

    /// The handle for functions of C. The index still owns it.
    latchless_kv *handle() const noexcept { return handle_; }

    /// The number of keys. Exact if no thread inserts or removes meanwhile.
    std::size_t size() const {
        std::size_t len = 0;
        detail::check(latchless_kv_len(handle_, &len));
        return len;
    }
    /// Whether there are no keys.
    bool empty() const { return size() == 0; }
    /// The bytes that the index holds for keys, values and nodes. Takes constant time.
    std::size_t memory_bytes() const {
        std::size_t held = 0;
        detail::check(latchless_kv_memory_bytes(handle_, &held, nullptr));
        return held;
    }
    /// Removes all keys one by one, not atomically as a whole.
    void clear() const { detail::check(latchless_kv_clear(handle_)); }
    /// Memory use, the number of nodes and their fill. Reads every node.
    latchless_stats stats() const {
        latchless_stats found{};
        found.struct_size = sizeof found;
        detail::check(latchless_kv_stats(handle_, &found));
        return found;
    }
    /// Checks every node, and throws a broken_error if an invariant doesn't hold. Meant for tests.
    void check_invariants() const { detail::check(latchless_kv_check_invariants(handle_)); }

    /// The first entry.
    const_iterator begin() const { return const_iterator(std::make_shared<const_iterator::source_type>(cursor())); }
    /// The end of the entries.
    const_iterator end() const noexcept { return {}; }

    // ---- one key; atomic ----

    /// The value of a key, if it is present.
    optional_value get(std::string_view key) const {
        return value_of(LATCHLESS_OK, [&](void *to, std::size_t room, std::size_t *len) {
            return latchless_kv_get(handle_, key.data(), key.size(), to, room, len);
        });
    }
    /// Whether a key is present.
    bool contains(std::string_view key) const {
        return detail::check(latchless_kv_contains_key(handle_, key.data(), key.size())) == LATCHLESS_OK;
    }
    /// Inserts a key, or replaces its value. Returns whether the key was absent; exchange() returns the
    /// value instead.
    bool insert(std::string_view key, std::string_view new_value) const {
        return detail::check(latchless_kv_insert(handle_, key.data(), key.size(), new_value.data(),
                                                 new_value.size(), nullptr, 0, nullptr)) == LATCHLESS_OK;
    }
    /// Inserts a key, or replaces its value. Returns the value that was replaced.
    optional_value exchange(std::string_view key, std::string_view new_value) const {
        return value_of(LATCHLESS_PRESENT, [&](void *before, std::size_t room, std::size_t *len) {
            return latchless_kv_insert(handle_, key.data(), key.size(), new_value.data(),
                                       new_value.size(), before, room, len);
        });
    }
    /// Inserts a key unless it is present. Returns the value of a key that is present, which is kept.
    optional_value try_insert(std::string_view key, std::string_view new_value) const {
        return value_of(LATCHLESS_PRESENT, [&](void *present, std::size_t room, std::size_t *len) {
            return latchless_kv_try_insert(handle_, key.data(), key.size(), new_value.data(),
                                           new_value.size(), present, room, len);
        });
    }
    /// Replaces the value of a key that is present. Returns the value that was replaced.
    optional_value replace(std::string_view key, std::string_view new_value) const {
        return value_of(LATCHLESS_OK, [&](void *before, std::size_t room, std::size_t *len) {
            return latchless_kv_replace(handle_, key.data(), key.size(), new_value.data(),
                                        new_value.size(), before, room, len);
        });
    }
    /// Removes a key. Returns the value that it had.
    optional_value remove(std::string_view key) const {
        return value_of(LATCHLESS_OK, [&](void *before, std::size_t room, std::size_t *len) {
            return latchless_kv_remove(handle_, key.data(), key.size(), before, room, len);
        });
    }
    /// Replaces the value of a key if it is `expected`; with an empty `expected`, inserts a key that is
    /// absent. Returns whether that was done. If not, `expected` becomes the value that the key has, or
    /// empty if it is absent.
    bool compare_exchange(std::string_view key, optional_value &expected, std::string_view new_value) const {
        if (!expected) {
            expected = try_insert(key, new_value);
            return !expected;
        }
        return compared(expected, [&](void *found, std::size_t room, std::size_t *len) {
            return latchless_kv_compare_exchange(handle_, key.data(), key.size(), expected->data(), expected->size(),
                                                 new_value.data(), new_value.size(), found, room, len);
        });
    }
    /// Removes a key if its value is `expected`. Returns whether that was done. If not, `expected` becomes
    /// the value that the key has, or empty if it is absent.
    bool compare_remove(std::string_view key, optional_value &expected) const {
        if (!expected) throw argument_error(LATCHLESS_INVALID, "latchless: nothing can't be removed");
        return compared(expected, [&](void *found, std::size_t room, std::size_t *len) {
            return latchless_kv_compare_remove(handle_, key.data(), key.size(), expected->data(), expected->size(),
                                               found, room, len);
        });
    }

    // ---- by order; atomic ----

    /// The entry with the smallest key.
    optional_entry first() const { return found(latchless_kv_first); }
    /// The entry with the largest key.
    optional_entry last() const { return found(latchless_kv_last); }
    /// Removes the entry with the smallest key, and returns it.
    optional_entry pop_first() const { return found(latchless_kv_pop_first); }
    /// Removes the entry with the largest key, and returns it.
    optional_entry pop_last() const { return found(latchless_kv_pop_last); }
    /// The entry with the largest key that is less than or equal to `key`.
    optional_entry floor(std::string_view key) const { return found(latchless_kv_floor, key.data(), key.size()); }
    /// The entry with the smallest key that is greater than or equal to `key`.
    optional_entry ceiling(std::string_view key) const { return found(latchless_kv_ceiling, key.data(), key.size()); }
    /// The entry with the largest key that is less than `key`.
    optional_entry lower(std::string_view key) const { return found(latchless_kv_lower, key.data(), key.size()); }
    /// The entry with the smallest key that is greater than `key`.
    optional_entry higher(std::string_view key) const { return found(latchless_kv_higher, key.data(), key.size()); }

    // ---- batches ----

    /// Looks up keys.
    found_strings get(const views &keys) const {
        const detail::apart_keys apart(keys);
        return strings_of(keys.size(), [&](auto... to) {
            return latchless_kv_get_columns(handle_, apart.keys.data(), apart.lens.data(), keys.size(), to...);
        });
    }
    /// Looks up keys.
    found_strings get(const packed_keys &keys) const {
        return strings_of(keys.size(), [&](auto... to) {
            return latchless_kv_get_packed(handle_, keys.bytes.data(), keys.offsets.data(), sizeof(std::int64_t),
                                           keys.size(), to...);
        });
    }
    /// Stores values[i] under keys[i]. Returns how many keys were absent. A memory_error has the positions
    /// that were refused; a key or value that is too long is an argument_error; all others were inserted.
    std::size_t insert(const views &keys, const views &values) const {
        detail::check_lengths(keys.size(), values.size());
        const detail::apart_keys apart(keys), beside(values);
        return inserted(keys.size(), [&](std::size_t *new_keys, std::uint8_t *refused) {
            return latchless_kv_insert_columns(handle_, apart.keys.data(), apart.lens.data(), beside.keys.data(),
                                               beside.lens.data(), keys.size(), new_keys, refused);
        });
    }
    /// Stores values[i] under keys[i]. Returns how many keys were absent. A memory_error has the positions
    /// that were refused; a key or value that is too long is an argument_error; all others were inserted.
    std::size_t insert(const packed_keys &keys, const packed_keys &values) const {
        detail::check_lengths(keys.size(), values.size());
        return inserted(keys.size(), [&](std::size_t *new_keys, std::uint8_t *refused) {
            return latchless_kv_insert_packed(handle_, keys.bytes.data(), keys.offsets.data(), values.bytes.data(),
                                              values.offsets.data(), sizeof(std::int64_t), keys.size(), new_keys,
                                              refused);
        });
    }
    /// Removes keys. Returns how many were present.
    std::size_t remove(const views &keys) const {
        const detail::apart_keys apart(keys);
        std::size_t hits = 0;
        detail::check(latchless_kv_remove_columns(handle_, apart.keys.data(), apart.lens.data(), keys.size(), nullptr,
                                                  &hits));
        return hits;
    }
    /// Removes keys. Returns how many were present.
    std::size_t remove(const packed_keys &keys) const {
        std::size_t hits = 0;
        detail::check(latchless_kv_remove_packed(handle_, keys.bytes.data(), keys.offsets.data(),
                                                 sizeof(std::int64_t), keys.size(), nullptr, &hits));
        return hits;
    }

    // ---- ranges: from `from` on, and before `to`, if there is one ----

    /// The number of keys of a range. Reads every leaf of it.
    std::size_t count(std::string_view from = {}, std::optional<std::string_view> to = {}) const {
        std::size_t counted = 0;
        detail::check(latchless_kv_count(handle_, from.data(), from.size(), data_of(to), size_of(to), &counted));
        return counted;
    }
    /// Removes the keys of a range, not atomically as a whole. Returns how many.
    std::size_t remove_range(std::string_view from, std::optional<std::string_view> to) const {
        std::size_t removed = 0;
        detail::check(
            latchless_kv_remove_range(handle_, from.data(), from.size(), data_of(to), size_of(to), &removed));
        return removed;
    }
    /// A cursor before the first entry.
    kv_cursor cursor() const {
        kv_cursor made;
        detail::check(latchless_kv_cursor_new(handle_, &made.handle_));
        return made;
    }
    /// Calls function(key, value) for each entry of a range until it returns false; key and value are valid
    /// until then. Returns whether the whole range was passed.
    template <class F>
    bool scan(std::string_view from, std::optional<std::string_view> to, F &&function,
               direction way = direction::ascending) const {
        return shown(function, [&](auto *trampoline, void *context) {
            return latchless_kv_scan(handle_, from.data(), from.size(), data_of(to), size_of(to),
                                      way == direction::descending, trampoline, context);
        });
    }
    /// Calls function(key, value) for each entry whose key starts with a prefix, until it returns false.
    /// Returns whether all of them were passed.
    template <class F>
    bool scan_prefix(std::string_view prefix, F &&function) const {
        return shown(function, [&](auto *trampoline, void *context) {
            return latchless_kv_scan_prefix(handle_, prefix.data(), prefix.size(), trampoline, context);
        });
    }
    /// Calls function(key, value) for each entry of a range.
    template <class F>
    void for_each(std::string_view from, std::optional<std::string_view> to, F &&function) const {
        scan(from, to, [&](std::string_view key, std::string_view its_value) {
            function(key, its_value);
            return true;
        });
    }
    /// Calls function(key, value) for each entry whose key starts with a prefix.
    template <class F>
    void for_each_prefix(std::string_view prefix, F &&function) const {
        scan_prefix(prefix, [&](std::string_view key, std::string_view its_value) {
            function(key, its_value);
            return true;
        });
    }

private:
    struct nothing {};
    explicit kv_index(nothing) noexcept {}

    static const char *data_of(const std::optional<std::string_view> &to) { return to ? to->data() : nullptr; }
    static std::size_t size_of(const std::optional<std::string_view> &to) {
        return to ? to->size() : static_cast<std::size_t>(LATCHLESS_NO_END);
    }

    // The value that a call returns with this status.
    template <class F>
    static optional_value value_of(latchless_status there, F &&call) {
        std::string &room = detail::any_room(0);
        std::size_t len = 0;
        const auto status = detail::check(call(room.data(), room.size(), &len));
        return status == there ? optional_value(room.substr(0, len)) : std::nullopt;
    }
    template <class F>
    static bool compared(optional_value &expected, F &&call) {
        std::string &room = detail::any_room(0);
        std::size_t len = 0;
        const auto status = detail::check(call(room.data(), room.size(), &len));
        if (status == LATCHLESS_OK) return true;
        expected = status == LATCHLESS_MISMATCH ? optional_value(room.substr(0, len)) : std::nullopt;
        return false;
    }
    template <class F, class... Arguments>
    optional_entry found(F function, Arguments... arguments) const {
        std::string &key = detail::any_room(0), &its_value = detail::any_room(1);
        std::size_t key_len = 0, value_len = 0;
        const auto status = detail::check(function(handle_, arguments..., key.data(), key.size(), &key_len,
                                                   its_value.data(), its_value.size(), &value_len));
        if (status == LATCHLESS_NOT_FOUND) return std::nullopt;
        return kv_entry{key.substr(0, key_len), its_value.substr(0, value_len)};
    }
    // Repeats the call until the values fit: other threads may store longer ones meanwhile.
    template <class F>
    static found_strings strings_of(std::size_t count, F &&call) {
        found_strings got;
        got.offsets.resize(count + 1);
        got.found.resize(count);
        got.bytes.resize(32 * count + 1);
        for (;;) {
            const auto status =
                call(got.bytes.data(), got.bytes.size(), got.offsets.data(), got.found.data(), &got.hits);
            if (status != LATCHLESS_SMALL_ROOM) detail::check(status);
            got.bytes.resize(static_cast<std::size_t>(got.offsets[count]));
            if (status != LATCHLESS_SMALL_ROOM) return got;
        }
    }
    template <class F>
    static std::size_t inserted(std::size_t count, F &&call) {
        std::size_t new_keys = 0;
        std::vector<std::uint8_t> refused(count);
        detail::check_inserts(call(&new_keys, refused.data()), refused);
        return new_keys;
    }
    template <class F, class Visit>
    static bool shown(F &function, Visit &&visit) {
        detail::kv_call<F> call{function, nullptr};
        const auto status = detail::check(visit(&detail::kv_call<F>::trampoline, &call));
        if (call.thrown) std::rethrow_exception(call.thrown);
        return status == LATCHLESS_OK;
    }

    latchless_kv *handle_ = nullptr;
};

} // namespace latchless

#endif
