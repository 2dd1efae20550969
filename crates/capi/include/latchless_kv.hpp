// latchless for C++17: ordered indexes from byte strings to byte strings. latchless.hpp has those of numbers and the
// errors, latchless_bytes.hpp those of byte strings with values of 64 bits.
//
//     latchless::kv_index pages;
//     pages.insert("https://example.org/", "<title>Example Domain</title>");
//     if (auto page = pages.get("https://example.org/")) std::cout << *page << '\n';
//     pages.for_each_prefix("https://", [](std::string_view key, std::string_view page) { ... });
//
// Keys and values are std::string_views, which may have any bytes, and are copied into the index; what it gives are
// std::strings. Everything is const but what ends or replaces the index, because any number of threads may call it at
// once. What operations do, cost and guarantee is said in latchless.h.

#ifndef LATCHLESS_KV_HPP
#define LATCHLESS_KV_HPP

#include "latchless_bytes.hpp"

namespace latchless {

struct kv_entry {
    std::string key;
    std::string value;
    friend bool operator==(const kv_entry &a, const kv_entry &b) { return a.key == b.key && a.value == b.value; }
    friend bool operator!=(const kv_entry &a, const kv_entry &b) { return !(a == b); }
};

// An entry that a cursor is on; it is there until the next call for the cursor.
struct kv_view {
    std::string_view key;
    std::string_view value;
};

// The values of a batch in one place, as Arrow has them, and which keys are there: nothing for one that isn't.
struct found_strings {
    std::string bytes;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> found;
    std::size_t hits = 0;

    std::optional<std::string_view> operator[](std::size_t i) const {
        if (!found[i]) return std::nullopt;
        const auto start = static_cast<std::size_t>(offsets[i]);
        return std::string_view(bytes).substr(start, static_cast<std::size_t>(offsets[i + 1]) - start);
    }
    std::size_t size() const noexcept { return found.size(); }
};

namespace detail {

// Room for any key or value. It is kept for the thread's next call.
inline std::string &any_room(int which) {
    thread_local std::string rooms[2];
    if (rooms[which].empty()) rooms[which].resize(LATCHLESS_VALUE_MAX);
    return rooms[which];
}
static_assert(LATCHLESS_VALUE_MAX == LATCHLESS_KEY_MAX, "there is one room for both");

template <class F>
struct kv_call {
    F &function;
    std::exception_ptr thrown;

    static int trampoline(const void *key, std::size_t key_len, const void *value, std::size_t value_len,
                          void *context) noexcept {
        kv_call &self = *static_cast<kv_call *>(context);
        try {
            return self.function(std::string_view(static_cast<const char *>(key), key_len),
                                 std::string_view(static_cast<const char *>(value), value_len))
                       ? 0
                       : 1;
        } catch (...) {
            self.thrown = std::current_exception();
            return 1;
        }
    }
};

} // namespace detail

// A place in an index: on an entry, before the first one (as at first), or after the last one. For one
// thread at a time. It keeps what it needs of its index, and may outlive it.
class kv_cursor {
    using optional_view = std::optional<kv_view>;

public:
    kv_cursor(kv_cursor &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    kv_cursor &operator=(kv_cursor &&other) noexcept {
        kv_cursor(std::move(other)).swap(*this);
        return *this;
    }
    kv_cursor(const kv_cursor &) = delete;
    kv_cursor &operator=(const kv_cursor &) = delete;
    ~kv_cursor() { latchless_kv_cursor_free(handle_); }
    void swap(kv_cursor &other) noexcept { std::swap(handle_, other.handle_); }
    friend void swap(kv_cursor &a, kv_cursor &b) noexcept { a.swap(b); }

    // Each goes to an entry and gives it, if there is one: to a key or the first one after it, …
    optional_view seek(std::string_view key) { return go(latchless_kv_cursor_seek, key.data(), key.size()); }
    // … to a key or the last one before it.
    optional_view seek_for_prev(std::string_view key) {
        return go(latchless_kv_cursor_seek_for_prev, key.data(), key.size());
    }
    optional_view seek_first() { return go(latchless_kv_cursor_seek_first); }
    optional_view seek_last() { return go(latchless_kv_cursor_seek_last); }
    optional_view next() { return go(latchless_kv_cursor_next); }
    optional_view prev() { return go(latchless_kv_cursor_prev); }
    // The entry that it is on.
    optional_view current() const { return go(latchless_kv_cursor_current); }

private:
    friend class kv_index;
    kv_cursor() noexcept = default;

    template <class F, class... Arguments>
    optional_view go(F function, Arguments... arguments) const {
        const void *key = nullptr, *value = nullptr;
        std::size_t key_len = 0, value_len = 0;
        const auto status = detail::check(function(handle_, arguments..., &key, &key_len, &value, &value_len));
        if (status == LATCHLESS_NOT_FOUND) return std::nullopt;
        return kv_view{std::string_view(static_cast<const char *>(key), key_len),
                       std::string_view(static_cast<const char *>(value), value_len)};
    }

    latchless_kv_cursor *handle_ = nullptr;
};

// Move-only. An index that was moved from holds nothing: it can be assigned to or destroyed, and everything
// else throws an argument_error.
class kv_index {
    using optional_value = std::optional<std::string>;
    using optional_entry = std::optional<kv_entry>;
    using views = std::vector<std::string_view>;

public:
    using key_type = std::string_view;

    explicit kv_index(const options &how = options()) { detail::check(latchless_kv_new(&how, &handle_)); }

    // Of ascending keys.
    static kv_index bulk_load(const views &keys, const views &values, const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        const detail::apart_keys apart(keys), beside(values);
        kv_index made{nothing()};
        detail::check(latchless_kv_bulk_load(apart.keys.data(), apart.lens.data(), beside.keys.data(), beside.lens.data(),
                                        keys.size(), &how, &made.handle_));
        return made;
    }
    static kv_index bulk_load(const packed_keys &keys, const packed_keys &values, const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        kv_index made{nothing()};
        detail::check(latchless_kv_bulk_load_packed(keys.bytes.data(), keys.offsets.data(), values.bytes.data(),
                                               values.offsets.data(), sizeof(std::int64_t), keys.size(), &how,
                                               &made.handle_));
        return made;
    }

    static kv_index open(const std::string &path, const options &how = options()) {
        kv_index made{nothing()};
        detail::check(latchless_kv_open(path.c_str(), &how, &made.handle_));
        return made;
    }
    // How many entries were saved.
    std::size_t save(const std::string &path) const {
        std::size_t entries = 0;
        detail::check(latchless_kv_save(handle_, path.c_str(), &entries));
        return entries;
    }

    kv_index(kv_index &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    kv_index &operator=(kv_index &&other) noexcept {
        kv_index(std::move(other)).swap(*this);
        return *this;
    }
    kv_index(const kv_index &) = delete;
    kv_index &operator=(const kv_index &) = delete;
    ~kv_index() { latchless_kv_free(handle_); }
    void swap(kv_index &other) noexcept { std::swap(handle_, other.handle_); }
    friend void swap(kv_index &a, kv_index &b) noexcept { a.swap(b); }

    // The handle of C; it stays this index's.
    latchless_kv *handle() const noexcept { return handle_; }

    std::size_t size() const {
        std::size_t len = 0;
        detail::check(latchless_kv_len(handle_, &len));
        return len;
    }
    bool empty() const { return size() == 0; }
    // Bytes that the index holds.
    std::size_t memory_bytes() const {
        std::size_t held = 0;
        detail::check(latchless_kv_memory_bytes(handle_, &held, nullptr));
        return held;
    }
    void clear() const { detail::check(latchless_kv_clear(handle_)); }
    latchless_stats stats() const {
        latchless_stats stats{};
        stats.struct_size = sizeof stats;
        detail::check(latchless_kv_stats(handle_, &stats));
        return stats;
    }
    // Throws a broken_error if a node isn't as it must be.
    void check_invariants() const { detail::check(latchless_kv_check_invariants(handle_)); }

    // ---- one key; atomic ----

    optional_value get(std::string_view key) const {
        return told(LATCHLESS_OK, [&](void *value, std::size_t room, std::size_t *len) {
            return latchless_kv_get(handle_, key.data(), key.size(), value, room, len);
        });
    }
    bool contains(std::string_view key) const {
        return detail::check(latchless_kv_contains_key(handle_, key.data(), key.size())) == LATCHLESS_OK;
    }
    // Whether the key was new. `exchange` also gives the value before.
    bool insert(std::string_view key, std::string_view value) const {
        return detail::check(latchless_kv_insert(handle_, key.data(), key.size(), value.data(), value.size(), nullptr,
                                                 0, nullptr)) == LATCHLESS_OK;
    }
    // The value before, if the key was there.
    optional_value exchange(std::string_view key, std::string_view value) const {
        return told(LATCHLESS_PRESENT, [&](void *before, std::size_t room, std::size_t *len) {
            return latchless_kv_insert(handle_, key.data(), key.size(), value.data(), value.size(), before, room, len);
        });
    }
    // The value that is there and stays, if the key was there.
    optional_value try_insert(std::string_view key, std::string_view value) const {
        return told(LATCHLESS_PRESENT, [&](void *present, std::size_t room, std::size_t *len) {
            return latchless_kv_try_insert(handle_, key.data(), key.size(), value.data(), value.size(), present,
                                                 room, len);
        });
    }
    // Replaces the value of a key that is there: the value before.
    optional_value replace(std::string_view key, std::string_view value) const {
        return told(LATCHLESS_OK, [&](void *before, std::size_t room, std::size_t *len) {
            return latchless_kv_replace(handle_, key.data(), key.size(), value.data(), value.size(), before, room, len);
        });
    }
    // The value that it had.
    optional_value remove(std::string_view key) const {
        return told(LATCHLESS_OK, [&](void *before, std::size_t room, std::size_t *len) {
            return latchless_kv_remove(handle_, key.data(), key.size(), before, room, len);
        });
    }
    // Whether it was done. If not, `expected` gets the value that is there, or nothing if the key isn't.
    bool compare_exchange(std::string_view key, optional_value &expected, std::string_view value) const {
        if (!expected) {
            expected = try_insert(key, value);
            return !expected;
        }
        return compared(expected, [&](void *found, std::size_t room, std::size_t *len) {
            return latchless_kv_compare_exchange(handle_, key.data(), key.size(), expected->data(), expected->size(),
                                                 value.data(), value.size(), found, room, len);
        });
    }
    bool compare_remove(std::string_view key, optional_value &expected) const {
        if (!expected) throw argument_error(LATCHLESS_INVALID, "latchless: nothing can't be removed");
        return compared(expected, [&](void *found, std::size_t room, std::size_t *len) {
            return latchless_kv_compare_remove(handle_, key.data(), key.size(), expected->data(), expected->size(),
                                               found, room, len);
        });
    }

    // ---- by order; atomic ----

    optional_entry first() const { return found(latchless_kv_first); }
    optional_entry last() const { return found(latchless_kv_last); }
    optional_entry pop_first() const { return found(latchless_kv_pop_first); }
    optional_entry pop_last() const { return found(latchless_kv_pop_last); }
    optional_entry floor(std::string_view key) const { return found(latchless_kv_floor, key.data(), key.size()); }
    optional_entry ceiling(std::string_view key) const { return found(latchless_kv_ceiling, key.data(), key.size()); }
    optional_entry lower(std::string_view key) const { return found(latchless_kv_lower, key.data(), key.size()); }
    optional_entry higher(std::string_view key) const { return found(latchless_kv_higher, key.data(), key.size()); }

    // ---- batches ----

    found_strings get(const views &keys) const {
        const detail::apart_keys apart(keys);
        return strings_of(keys.size(), [&](auto... to) {
            return latchless_kv_get_columns(handle_, apart.keys.data(), apart.lens.data(), keys.size(), to...);
        });
    }
    found_strings get(const packed_keys &keys) const {
        return strings_of(keys.size(), [&](auto... to) {
            return latchless_kv_get_packed(handle_, keys.bytes.data(), keys.offsets.data(), sizeof(std::int64_t),
                                           keys.size(), to...);
        });
    }
    // How many keys are new. A memory_error has the positions that were refused. A key or a value that is too long
    // is an argument_error; all others were inserted.
    std::size_t insert(const views &keys, const views &values) const {
        detail::check_lengths(keys.size(), values.size());
        const detail::apart_keys apart(keys), beside(values);
        return inserted(keys.size(), [&](std::size_t *new_keys, std::uint8_t *refused) {
            return latchless_kv_insert_columns(handle_, apart.keys.data(), apart.lens.data(), beside.keys.data(),
                                               beside.lens.data(), keys.size(), new_keys, refused);
        });
    }
    std::size_t insert(const packed_keys &keys, const packed_keys &values) const {
        detail::check_lengths(keys.size(), values.size());
        return inserted(keys.size(), [&](std::size_t *new_keys, std::uint8_t *refused) {
            return latchless_kv_insert_packed(handle_, keys.bytes.data(), keys.offsets.data(), values.bytes.data(),
                                              values.offsets.data(), sizeof(std::int64_t), keys.size(), new_keys,
                                              refused);
        });
    }
    // How many were there.
    std::size_t remove(const views &keys) const {
        const detail::apart_keys apart(keys);
        std::size_t hits = 0;
        detail::check(latchless_kv_remove_columns(handle_, apart.keys.data(), apart.lens.data(), keys.size(), nullptr,
                                                  &hits));
        return hits;
    }
    std::size_t remove(const packed_keys &keys) const {
        std::size_t hits = 0;
        detail::check(latchless_kv_remove_packed(handle_, keys.bytes.data(), keys.offsets.data(),
                                                 sizeof(std::int64_t), keys.size(), nullptr, &hits));
        return hits;
    }

    // ---- ranges: from `begin` on, and before `end`, if there is one ----

    std::size_t count(std::string_view begin = {}, std::optional<std::string_view> end = {}) const {
        std::size_t count = 0;
        detail::check(latchless_kv_count(handle_, begin.data(), begin.size(), data_of(end), size_of(end), &count));
        return count;
    }
    std::size_t remove_range(std::string_view begin, std::optional<std::string_view> end) const {
        std::size_t removed = 0;
        detail::check(
            latchless_kv_remove_range(handle_, begin.data(), begin.size(), data_of(end), size_of(end), &removed));
        return removed;
    }
    kv_cursor cursor() const {
        kv_cursor made;
        detail::check(latchless_kv_cursor_new(handle_, &made.handle_));
        return made;
    }
    // Shows the entries to function(key, value), which returns whether to go on. Whether the range was shown
    // to its end. Both are there until the function returns.
    template <class F>
    bool scan(std::string_view begin, std::optional<std::string_view> end, F &&function,
               direction way = direction::ascending) const {
        return shown(function, [&](auto *trampoline, void *context) {
            return latchless_kv_scan(handle_, begin.data(), begin.size(), data_of(end), size_of(end),
                                      way == direction::descending, trampoline, context);
        });
    }
    // As scan, of the keys that begin with a prefix.
    template <class F>
    bool scan_prefix(std::string_view prefix, F &&function) const {
        return shown(function, [&](auto *trampoline, void *context) {
            return latchless_kv_scan_prefix(handle_, prefix.data(), prefix.size(), trampoline, context);
        });
    }
    // Shows all entries to function(key, value).
    template <class F>
    void for_each(std::string_view begin, std::optional<std::string_view> end, F &&function) const {
        scan(begin, end, [&](std::string_view key, std::string_view value) {
            function(key, value);
            return true;
        });
    }
    template <class F>
    void for_each_prefix(std::string_view prefix, F &&function) const {
        scan_prefix(prefix, [&](std::string_view key, std::string_view value) {
            function(key, value);
            return true;
        });
    }

private:
    struct nothing {};
    explicit kv_index(nothing) noexcept {}

    static const char *data_of(const std::optional<std::string_view> &end) { return end ? end->data() : nullptr; }
    static std::size_t size_of(const std::optional<std::string_view> &end) {
        return end ? end->size() : static_cast<std::size_t>(LATCHLESS_NO_END);
    }

    // A value that a call tells when it comes to this status.
    template <class F>
    static optional_value told(latchless_status there, F &&call) {
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
        std::string &key = detail::any_room(0), &value = detail::any_room(1);
        std::size_t key_len = 0, value_len = 0;
        const auto status = detail::check(function(handle_, arguments..., key.data(), key.size(), &key_len,
                                                   value.data(), value.size(), &value_len));
        if (status == LATCHLESS_NOT_FOUND) return std::nullopt;
        return kv_entry{key.substr(0, key_len), value.substr(0, value_len)};
    }
    // Asks until there is room for the values: others may put in longer ones meanwhile.
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
