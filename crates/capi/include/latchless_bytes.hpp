// latchless for C++17: ordered indexes whose keys are byte strings. latchless.hpp has those of numbers, the
// errors, and what values are; latchless_kv.hpp has values that are byte strings.
//
//     latchless::bytes_index pages;
//     pages.insert("https://example.org/", 1);
//     if (auto page = pages.get("https://example.org/")) std::cout << *page << '\n';
//     pages.for_each_prefix("https://", [](std::string_view key, latchless::value page) { ... });
//
// Keys are std::string_views, which may have any bytes, and are copied into the index. Everything is const
// but what ends or replaces the index, because any number of threads may call it at once. What operations
// do, cost and guarantee is said in latchless.h.

#ifndef LATCHLESS_BYTES_HPP
#define LATCHLESS_BYTES_HPP

#include <string_view>

#include "latchless.hpp"

namespace latchless {

using bytes_entry = entry<std::string>;

// An entry that a cursor is on; its key is there until the cursor goes elsewhere or is destroyed.
using bytes_view = entry<std::string_view>;

// Keys of a batch in one place, as Arrow has them: the i-th from offsets[i] to offsets[i + 1].
struct packed_keys {
    std::string bytes;
    std::vector<std::int64_t> offsets{0};

    void push_back(std::string_view key) {
        bytes.append(key);
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
};

namespace detail {

// The keys of a batch as pointers and lengths.
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

// A function of the caller's on its way through C. No exception leaves the trampoline: it is kept here.
template <class F>
struct bytes_call {
    F &function;
    std::exception_ptr thrown;

    static int trampoline(const void *key, std::size_t len, value value, void *context) noexcept {
        bytes_call &self = *static_cast<bytes_call *>(context);
        try {
            return self.function(std::string_view(static_cast<const char *>(key), len), value) ? 0 : 1;
        } catch (...) {
            self.thrown = std::current_exception();
            return 1;
        }
    }
};

} // namespace detail

// A place in an index: on an entry, before the first one (as at first), or after the last one. For one
// thread at a time. It keeps what it needs of its index, and may outlive it.
class bytes_cursor {
    using optional_view = std::optional<bytes_view>;

public:
    bytes_cursor(bytes_cursor &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    bytes_cursor &operator=(bytes_cursor &&other) noexcept {
        bytes_cursor(std::move(other)).swap(*this);
        return *this;
    }
    bytes_cursor(const bytes_cursor &) = delete;
    bytes_cursor &operator=(const bytes_cursor &) = delete;
    ~bytes_cursor() { latchless_bytes_cursor_free(handle_); }
    void swap(bytes_cursor &other) noexcept { std::swap(handle_, other.handle_); }
    friend void swap(bytes_cursor &a, bytes_cursor &b) noexcept { a.swap(b); }

    // Each goes to an entry and gives it, if there is one: to a key or the first one after it, …
    optional_view seek(std::string_view key) { return go(latchless_bytes_cursor_seek, key.data(), key.size()); }
    // … to a key or the last one before it.
    optional_view seek_for_prev(std::string_view key) {
        return go(latchless_bytes_cursor_seek_for_prev, key.data(), key.size());
    }
    optional_view seek_first() { return go(latchless_bytes_cursor_seek_first); }
    optional_view seek_last() { return go(latchless_bytes_cursor_seek_last); }
    optional_view next() { return go(latchless_bytes_cursor_next); }
    optional_view prev() { return go(latchless_bytes_cursor_prev); }
    // The entry that it is on.
    optional_view current() const { return go(latchless_bytes_cursor_current); }

private:
    friend class bytes_index;
    bytes_cursor() noexcept = default;

    template <class F, class... Arguments>
    optional_view go(F function, Arguments... arguments) const {
        const void *key = nullptr;
        std::size_t len = 0;
        latchless::value value = 0;
        const auto status = detail::check(function(handle_, arguments..., &key, &len, &value));
        if (status == LATCHLESS_NOT_FOUND) return std::nullopt;
        return bytes_view{std::string_view(static_cast<const char *>(key), len), value};
    }

    latchless_bytes_cursor *handle_ = nullptr;
};

// Move-only. An index that was moved from holds nothing: it can be assigned to or destroyed, and everything
// else throws an argument_error.
class bytes_index {
    using optional_value = std::optional<latchless::value>;
    using optional_entry = std::optional<bytes_entry>;

public:
    using key_type = std::string_view;

    explicit bytes_index(const options &how = options()) { detail::check(latchless_bytes_new(&how, &handle_)); }

    // Of ascending keys.
    static bytes_index bulk_load(const std::vector<std::string_view> &keys, const std::vector<latchless::value> &values,
                            const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        const detail::apart_keys apart(keys);
        bytes_index made{nothing()};
        detail::check(latchless_bytes_bulk_load(apart.keys.data(), apart.lens.data(), values.data(), keys.size(), &how,
                                           &made.handle_));
        return made;
    }
    static bytes_index bulk_load(const packed_keys &keys, const std::vector<latchless::value> &values,
                            const options &how = options()) {
        detail::check_lengths(keys.size(), values.size());
        bytes_index made{nothing()};
        detail::check(latchless_bytes_bulk_load_packed(keys.bytes.data(), keys.offsets.data(), sizeof(std::int64_t),
                                                  values.data(), keys.size(), &how, &made.handle_));
        return made;
    }
    static bytes_index open(const std::string &path, const options &how = options()) {
        bytes_index made{nothing()};
        detail::check(latchless_bytes_open(path.c_str(), &how, &made.handle_));
        return made;
    }
    // How many entries were saved.
    std::size_t save(const std::string &path) const {
        std::size_t entries = 0;
        detail::check(latchless_bytes_save(handle_, path.c_str(), &entries));
        return entries;
    }

    bytes_index(bytes_index &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    bytes_index &operator=(bytes_index &&other) noexcept {
        bytes_index(std::move(other)).swap(*this);
        return *this;
    }
    bytes_index(const bytes_index &) = delete;
    bytes_index &operator=(const bytes_index &) = delete;
    ~bytes_index() { latchless_bytes_free(handle_); }
    void swap(bytes_index &other) noexcept { std::swap(handle_, other.handle_); }
    friend void swap(bytes_index &a, bytes_index &b) noexcept { a.swap(b); }

    // The handle of C; it stays this index's.
    latchless_bytes *handle() const noexcept { return handle_; }

    std::size_t size() const {
        std::size_t len = 0;
        detail::check(latchless_bytes_len(handle_, &len));
        return len;
    }
    bool empty() const { return size() == 0; }
    // Bytes that the index holds.
    std::size_t memory_bytes() const {
        std::size_t held = 0;
        detail::check(latchless_bytes_memory_bytes(handle_, &held, nullptr));
        return held;
    }
    void clear() const { detail::check(latchless_bytes_clear(handle_)); }
    latchless_stats stats() const {
        latchless_stats stats{};
        stats.struct_size = sizeof stats;
        detail::check(latchless_bytes_stats(handle_, &stats));
        return stats;
    }
    // Throws a broken_error if a node isn't as it must be.
    void check_invariants() const { detail::check(latchless_bytes_check_invariants(handle_)); }

    // ---- one key; atomic ----

    optional_value get(std::string_view key) const {
        latchless::value found = 0;
        const auto status = detail::check(latchless_bytes_get(handle_, key.data(), key.size(), &found));
        return status == LATCHLESS_OK ? optional_value(found) : std::nullopt;
    }
    bool contains(std::string_view key) const {
        return detail::check(latchless_bytes_contains_key(handle_, key.data(), key.size())) == LATCHLESS_OK;
    }
    // The value before, if the key was there.
    optional_value insert(std::string_view key, latchless::value value) const {
        latchless::value before = 0;
        const auto status = detail::check(latchless_bytes_insert(handle_, key.data(), key.size(), value, &before));
        return status == LATCHLESS_PRESENT ? optional_value(before) : std::nullopt;
    }
    // The value that is there and stays, if the key was there.
    optional_value try_insert(std::string_view key, latchless::value value) const {
        latchless::value present = 0;
        const auto status =
            detail::check(latchless_bytes_try_insert(handle_, key.data(), key.size(), value, &present));
        return status == LATCHLESS_PRESENT ? optional_value(present) : std::nullopt;
    }
    // Replaces the value of a key that is there: the value before.
    optional_value replace(std::string_view key, latchless::value value) const {
        latchless::value before = 0;
        const auto status = detail::check(latchless_bytes_replace(handle_, key.data(), key.size(), value, &before));
        return status == LATCHLESS_OK ? optional_value(before) : std::nullopt;
    }
    optional_value remove(std::string_view key) const {
        latchless::value before = 0;
        const auto status = detail::check(latchless_bytes_remove(handle_, key.data(), key.size(), &before));
        return status == LATCHLESS_OK ? optional_value(before) : std::nullopt;
    }
    // Whether it was done. If not, `expected` gets the value that is there, or nothing if the key isn't.
    bool compare_exchange(std::string_view key, optional_value &expected, latchless::value value) const {
        if (!expected) {
            expected = try_insert(key, value);
            return !expected;
        }
        latchless::value found = 0;
        const auto status =
            latchless_bytes_compare_exchange(handle_, key.data(), key.size(), *expected, value, &found);
        return compared(status, found, expected);
    }
    bool compare_remove(std::string_view key, optional_value &expected) const {
        if (!expected) throw argument_error(LATCHLESS_INVALID, "latchless: nothing can't be removed");
        latchless::value found = 0;
        const auto status = latchless_bytes_compare_remove(handle_, key.data(), key.size(), *expected, &found);
        return compared(status, found, expected);
    }

    // ---- by order; atomic ----

    optional_entry first() const { return found(latchless_bytes_first); }
    optional_entry last() const { return found(latchless_bytes_last); }
    optional_entry pop_first() const { return popped(latchless_bytes_pop_first); }
    optional_entry pop_last() const { return popped(latchless_bytes_pop_last); }
    optional_entry floor(std::string_view key) const { return found(latchless_bytes_floor, key.data(), key.size()); }
    optional_entry ceiling(std::string_view key) const {
        return found(latchless_bytes_ceiling, key.data(), key.size());
    }
    optional_entry lower(std::string_view key) const { return found(latchless_bytes_lower, key.data(), key.size()); }
    optional_entry higher(std::string_view key) const {
        return found(latchless_bytes_higher, key.data(), key.size());
    }

    // ---- batches ----

    found_values get(const std::vector<std::string_view> &keys) const {
        return values_of(latchless_bytes_get_columns, keys);
    }
    found_values get(const packed_keys &keys) const { return values_of(latchless_bytes_get_packed, keys); }
    // How many keys are new. A memory_error has the positions that were refused. A key that is too long is
    // an argument_error; all others were inserted.
    std::size_t insert(const std::vector<std::string_view> &keys, const std::vector<latchless::value> &values) const {
        const detail::apart_keys apart(keys);
        return inserted(keys.size(), values, [&](std::size_t *new_keys, std::uint8_t *refused) {
            return latchless_bytes_insert_columns(handle_, apart.keys.data(), apart.lens.data(), values.data(),
                                                  keys.size(), new_keys, refused);
        });
    }
    std::size_t insert(const packed_keys &keys, const std::vector<latchless::value> &values) const {
        return inserted(keys.size(), values, [&](std::size_t *new_keys, std::uint8_t *refused) {
            return latchless_bytes_insert_packed(handle_, keys.bytes.data(), keys.offsets.data(),
                                                 sizeof(std::int64_t), values.data(), keys.size(), new_keys, refused);
        });
    }
    found_values remove(const std::vector<std::string_view> &keys) const {
        return values_of(latchless_bytes_remove_columns, keys);
    }
    found_values remove(const packed_keys &keys) const { return values_of(latchless_bytes_remove_packed, keys); }

    // ---- ranges: from `begin` on, and before `end`, if there is one ----

    std::size_t count(std::string_view begin = {}, std::optional<std::string_view> end = {}) const {
        std::size_t count = 0;
        detail::check(
            latchless_bytes_count(handle_, begin.data(), begin.size(), data_of(end), size_of(end), &count));
        return count;
    }
    std::size_t remove_range(std::string_view begin, std::optional<std::string_view> end) const {
        std::size_t removed = 0;
        detail::check(
            latchless_bytes_remove_range(handle_, begin.data(), begin.size(), data_of(end), size_of(end), &removed));
        return removed;
    }
    bytes_cursor cursor() const {
        bytes_cursor made;
        detail::check(latchless_bytes_cursor_new(handle_, &made.handle_));
        return made;
    }
    // Shows the entries to function(key, value), which returns whether to go on. Whether the range was shown
    // to its end. The key is there until the function returns.
    template <class F>
    bool scan(std::string_view begin, std::optional<std::string_view> end, F &&function,
               direction way = direction::ascending) const {
        return shown(function, [&](auto *trampoline, void *context) {
            return latchless_bytes_scan(handle_, begin.data(), begin.size(), data_of(end), size_of(end),
                                         way == direction::descending, trampoline, context);
        });
    }
    // As scan, of the keys that begin with a prefix.
    template <class F>
    bool scan_prefix(std::string_view prefix, F &&function) const {
        return shown(function, [&](auto *trampoline, void *context) {
            return latchless_bytes_scan_prefix(handle_, prefix.data(), prefix.size(), trampoline, context);
        });
    }
    // Calls function(key, value) for each entry.
    template <class F>
    void for_each(std::string_view begin, std::optional<std::string_view> end, F &&function) const {
        scan(begin, end, [&](std::string_view key, latchless::value value) {
            function(key, value);
            return true;
        });
    }
    template <class F>
    void for_each_prefix(std::string_view prefix, F &&function) const {
        scan_prefix(prefix, [&](std::string_view key, latchless::value value) {
            function(key, value);
            return true;
        });
    }

private:
    struct nothing {};
    explicit bytes_index(nothing) noexcept {}

    static const void *data_of(const std::optional<std::string_view> &end) { return end ? end->data() : nullptr; }
    static std::size_t size_of(const std::optional<std::string_view> &end) {
        return end ? end->size() : static_cast<std::size_t>(LATCHLESS_NO_END);
    }

    static bool compared(latchless_status status, latchless::value found, optional_value &expected) {
        detail::check(status);
        if (status == LATCHLESS_OK) return true;
        expected = status == LATCHLESS_MISMATCH ? optional_value(found) : std::nullopt;
        return false;
    }

    // An entry, whose key is fetched with as much room as it needs: at first a guess.
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
