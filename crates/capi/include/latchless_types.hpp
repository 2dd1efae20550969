/// \file
/// \brief What the indexes of latchless.hpp take and return, and how it is passed to C.

#ifndef LATCHLESS_TYPES_HPP
#define LATCHLESS_TYPES_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "latchless.h"

/// Ordered indexes in main memory.
namespace latchless {

using value = latchless_value; ///< A value: 64 bits that the index doesn't interpret.

/// Converts an object of at most 64 bits to a value: a number, an enumerator, a pointer.
template <class T> value bits_of(const T &thing) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(value), "a value has 64 bits");
    value bits = 0;
    std::memcpy(&bits, &thing, sizeof(T));
    return bits;
}

/// Converts a value back to the object that bits_of() got.
template <class T> T value_as(value bits) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(value), "a value has 64 bits");
    T thing;
    std::memcpy(&thing, &bits, sizeof(T));
    return thing;
}

// ---- errors ----------------------------------------------------------------------------------------

/// A standard exception with the library's message and a status.
template <class Base> class error : public Base {
public:
    /// An error with its status, its message, and the positions of a batch that were refused.
    error(latchless_status status, const std::string &message, std::vector<std::size_t> refused = {})
        : Base(base(message)), status_(status), message_(message), refused_(std::move(refused)) {}
    const char *what() const noexcept override { return message_.c_str(); } ///< The library's message.
    latchless_status status() const noexcept { return status_; } ///< The status of the call that failed.
    /// The positions of a batch that weren't inserted for lack of memory; all others were.
    const std::vector<std::size_t> &refused() const noexcept { return refused_; }

private:
    static Base base(const std::string &message) {
        if constexpr (std::is_constructible_v<Base, const std::string &>) return Base(message);
        else return (void)message, Base();
    }
    latchless_status status_;
    std::string message_;
    std::vector<std::size_t> refused_;
};

/// Memory was refused, by the system or by the index's limit.
class memory_error : public error<std::bad_alloc> { using error::error; };
class argument_error : public error<std::invalid_argument> { using error::error; }; ///< An invalid argument.
/// A file that can't be read or written.
class file_error : public error<std::runtime_error> { using error::error; };
/// A bug of the library, or an index that a thread was changing at a fork().
class broken_error : public error<std::runtime_error> { using error::error; };

namespace detail {

/// Throws if a call was refused, otherwise returns its status. `refused` has a 1 for each refused insert of a batch.
inline latchless_status check(latchless_status status, const std::vector<std::uint8_t> &refused = {}) {
    if (status >= 0) return status;
    const std::string message = latchless_last_error();
    std::vector<std::size_t> positions;
    switch (status) {
    case LATCHLESS_OUT_OF_MEMORY:
    case LATCHLESS_MEMORY_LIMIT:
        for (std::size_t at = 0; at < refused.size(); ++at) {
            if (refused[at] != 0) positions.push_back(at);
        }
        throw memory_error(status, message, std::move(positions));
    case LATCHLESS_IO:
    case LATCHLESS_BAD_FILE: throw file_error(status, message);
    case LATCHLESS_BROKEN:
    case LATCHLESS_PANIC: throw broken_error(status, message);
    default: throw argument_error(status, message);
    }
}

template <class T> inline constexpr bool is_time = false;
template <class Duration>
inline constexpr bool is_time<std::chrono::time_point<std::chrono::system_clock, Duration>> = true;
template <class T> inline constexpr bool is_string = std::is_same_v<T, std::string>;
template <class T> inline constexpr bool is_word_key =
    (std::is_arithmetic_v<T> || std::is_enum_v<T> || is_time<T>) && sizeof(T) <= sizeof(std::uint64_t);
template <class T>
inline constexpr bool is_word_value = std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(value);

/// How a key or a value is passed.
template <class T> using argument = std::conditional_t<is_string<T>, std::string_view, T>;

/// The word of a key.
template <class Key> std::uint64_t word_of(Key key) noexcept {
    if constexpr (is_time<Key>) return word_of(static_cast<std::int64_t>(key.time_since_epoch().count()));
    else if constexpr (std::is_enum_v<Key>) return word_of(static_cast<std::underlying_type_t<Key>>(key));
    else if constexpr (std::is_floating_point_v<Key>) return latchless_key_from_f64(static_cast<double>(key));
    else if constexpr (std::is_signed_v<Key>) return latchless_key_from_i64(static_cast<std::int64_t>(key));
    else return static_cast<std::uint64_t>(key);
}

/// The key of a word.
template <class Key> Key key_of(std::uint64_t word) noexcept {
    if constexpr (is_time<Key>) return Key(typename Key::duration(key_of<typename Key::rep>(word)));
    else if constexpr (std::is_enum_v<Key>) return static_cast<Key>(key_of<std::underlying_type_t<Key>>(word));
    else if constexpr (std::is_floating_point_v<Key>) return static_cast<Key>(latchless_key_to_f64(word));
    else if constexpr (std::is_signed_v<Key>) return static_cast<Key>(latchless_key_to_i64(word));
    else return static_cast<Key>(word);
}

/// The kind of keys of a type.
template <class Key> constexpr latchless_key_kind kind_of() {
    if constexpr (is_time<Key>) {
        static_assert(std::is_integral_v<typename Key::rep>, "times are counted in integers");
        using period = typename Key::period;
        return std::is_same_v<period, std::nano>       ? LATCHLESS_KEY_TIME_NS
               : std::is_same_v<period, std::micro>    ? LATCHLESS_KEY_TIME_US
               : std::is_same_v<period, std::milli>    ? LATCHLESS_KEY_TIME_MS
               : std::is_same_v<period, std::ratio<1>> ? LATCHLESS_KEY_TIME_S
                                                       : LATCHLESS_KEY_I64;
    } else if constexpr (std::is_enum_v<Key>) {
        return kind_of<std::underlying_type_t<Key>>();
    } else {
        return std::is_floating_point_v<Key> ? LATCHLESS_KEY_F64
               : std::is_signed_v<Key>       ? LATCHLESS_KEY_I64
                                             : LATCHLESS_KEY_U64;
    }
}

/// A word whose bytes memcmp() compares as numbers, and back.
inline std::uint64_t big_endian(std::uint64_t word) noexcept {
    unsigned char bytes[sizeof word];
    for (std::size_t at = 0; at < sizeof word; ++at) bytes[at] = static_cast<unsigned char>(word >> (56 - 8 * at));
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

} // namespace detail

// ---- arguments and results ---------------------------------------------------------------------------

/// Options of a new index, at first the defaults: see latchless_options. An index itself sets `key_kind` and
/// `value_kind`.
struct options : latchless_options {
    options() { detail::check(latchless_options_init(this, sizeof(latchless_options))); } ///< The defaults.
};

/// A key and its value.
template <class Key, class Value = value> struct entry {
    Key key;     ///< The key.
    Value value; ///< Its value.

    /// Whether both keys and both values are equal.
    friend bool operator==(const entry &a, const entry &b) { return a.key == b.key && a.value == b.value; }
};

/// The order of the entries of a range.
enum class direction {
    ascending, ///< The smallest key first.
    descending ///< The largest key first.
};

/// A column at a pointer, of a length: what std::span is from C++20 on.
template <class T> struct view {
    const T *at;     ///< The first element.
    std::size_t len; ///< The number of elements.
    const T *data() const noexcept { return at; } ///< The first element.
    std::size_t size() const noexcept { return len; } ///< The number of elements.
    const T *begin() const noexcept { return at; } ///< The first element.
    const T *end() const noexcept { return at + len; } ///< The end of the elements.
};

/// Byte strings of a batch, packed as in an Arrow column: the i-th extends from offsets[i] to offsets[i + 1].
struct packed {
    std::string bytes;                    ///< The bytes of all strings.
    std::vector<std::int64_t> offsets{0}; ///< One offset more than strings.

    /// Appends a string.
    void push_back(std::string_view string) {
        bytes.append(string);
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; } ///< The number of strings.
    /// A string.
    std::string_view operator[](std::size_t at) const {
        const auto start = static_cast<std::size_t>(offsets[at]);
        return std::string_view(bytes).substr(start, static_cast<std::size_t>(offsets[at + 1]) - start);
    }
};

/// The values that a batch found: packed if they are byte strings.
template <class Value> struct found_values {
    std::conditional_t<detail::is_string<Value>, packed, std::vector<Value>> values; ///< Empty or 0 if not found.
    std::vector<std::uint8_t> found; ///< 1 if the i-th key was found, otherwise 0.
    std::size_t hits = 0;            ///< How many keys were found.

    /// The value of the i-th key, if it was found.
    std::optional<detail::argument<Value>> operator[](std::size_t at) const {
        return found[at] ? std::optional<detail::argument<Value>>(values[at]) : std::nullopt;
    }
};

namespace detail {

/// A place for any key or any value, kept for the thread's next call.
template <bool IsKey> std::string &any_room() {
    thread_local std::string room(IsKey ? LATCHLESS_KEY_MAX : LATCHLESS_VALUE_MAX, '\0');
    return room;
}

/// Frees a handle.
struct deleter {
    void operator()(latchless_budget *of) const noexcept { latchless_budget_free(of); }
    void operator()(latchless_index *of) const noexcept { latchless_index_free(of); }
    void operator()(latchless_bytes *of) const noexcept { latchless_bytes_free(of); }
    void operator()(latchless_multi *of) const noexcept { latchless_multi_free(of); }
    void operator()(latchless_index_cursor *of) const noexcept { latchless_index_cursor_free(of); }
    void operator()(latchless_bytes_cursor *of) const noexcept { latchless_bytes_cursor_free(of); }
    void operator()(latchless_multi_cursor *of) const noexcept { latchless_multi_cursor_free(of); }
};
template <class Handle> using owner = std::unique_ptr<Handle, deleter>;

struct parameters {}; ///< One or more parameters of a function of C.
using bytes_arg = std::tuple<const void *, std::size_t>;

template <class Parameter> auto parts_of(Parameter &&parameter) {
    if constexpr (std::is_base_of_v<parameters, std::decay_t<Parameter>>) return parameter.parts();
    else return std::make_tuple(parameter);
}

/// Calls the function of C for this type of handles, of those for a latchless_index, _bytes and _multi.
template <class Handle, class Functions, class... Parameters>
latchless_status pass(const Functions &functions, Parameters &&...given) {
    constexpr std::size_t which = std::is_same_v<Handle, latchless_index> ? 0 : std::is_same_v<Handle, latchless_bytes> ? 1 : 2;
    const auto all = std::tuple_cat(parts_of(given)...);
    if constexpr (std::is_pointer_v<Functions>) return std::apply(functions, all);
    else return std::apply(std::get<which>(functions), all);
}

/// A key or a value that is passed: its word, or a pointer and a length. The bytes of a key are in the order of
/// memcmp().
template <class T, bool IsKey, bool IsWord> struct in : parameters {
    std::conditional_t<is_string<T>, std::string_view, std::uint64_t> stored;
    explicit in(argument<T> from) {
        if constexpr (std::is_floating_point_v<T> && IsKey && !IsWord) {
            if (from != from) throw argument_error(LATCHLESS_NAN, "latchless: the key is NaN, which can't be a key");
        }
        if constexpr (is_string<T>) stored = from;
        else if constexpr (!IsKey) stored = bits_of(from);
        else stored = IsWord ? word_of(from) : big_endian(word_of(from));
    }
    auto parts() const noexcept {
        if constexpr (IsWord) return std::make_tuple(stored);
        else if constexpr (is_string<T>) return bytes_arg(stored.data(), stored.size());
        else return bytes_arg(&stored, sizeof stored);
    }
    static T of(std::uint64_t stored) noexcept {
        if constexpr (!IsKey) return value_as<T>(stored);
        else return key_of<T>(IsWord ? stored : big_endian(stored));
    }
    static argument<T> of(const void *bytes, std::size_t len) noexcept {
        if constexpr (is_string<T>) {
            return {static_cast<const char *>(bytes), len};
        } else {
            std::uint64_t stored = 0;
            std::memcpy(&stored, bytes, sizeof stored);
            return of(stored);
        }
    }
};

/// A place for a key or a value: for its word, or for any bytes and their number.
template <class T, bool IsKey, bool IsWord> struct out : parameters {
    std::uint64_t word = 0;
    std::size_t len = 0;
    auto parts() noexcept {
        if constexpr (IsWord) return std::make_tuple(&word);
        else return std::make_tuple(any_room<IsKey>().data(), any_room<IsKey>().size(), &len);
    }
    T get() const {
        if constexpr (IsWord) return in<T, IsKey, IsWord>::of(word);
        else return T(in<T, IsKey, IsWord>::of(any_room<IsKey>().data(), len));
    }
};

/// No place for a value.
template <bool IsWord> struct no_place : parameters {
    static auto parts() noexcept {
        if constexpr (IsWord) return std::make_tuple(nullptr);
        else return std::tuple<std::nullptr_t, std::size_t, std::nullptr_t>();
    }
};

/// The ends of a range of byte strings, without the second one.
template <class Key, bool IsWord> struct bounds : parameters {
    std::optional<in<Key, true, false>> from, to;
    bounds(const std::optional<argument<Key>> &low, const std::optional<argument<Key>> &high) {
        if (low) from.emplace(*low);
        if (high) to.emplace(*high);
    }
    static bool is_empty() noexcept { return false; }
    auto parts() const noexcept {
        return std::tuple_cat(from ? from->parts() : bytes_arg(nullptr, 0),
                              to ? to->parts() : bytes_arg(nullptr, LATCHLESS_NO_END));
    }
};

/// Those of words, which C includes both. The least word of a key is that of minus infinity, or 0.
template <class Key> struct bounds<Key, true> : parameters {
    std::uint64_t low = std::is_floating_point_v<Key> ? ~UINT64_C(0xFFF0000000000000) : 0, high = UINT64_MAX;
    bool has_none = false;
    bounds(const std::optional<Key> &from, const std::optional<Key> &to) {
        if (from) low = word_of(*from);
        if (!to) return;
        high = word_of(*to);
        has_none = high == low;
        if (high > 0) --high;
    }
    bool is_empty() const noexcept { return has_none; }
    auto parts() const noexcept { return std::make_tuple(low, high); }
};

/// A column. What is in the caller's memory as C takes it isn't copied.
template <class T, bool IsKey, bool IsWord> class column : public parameters {
public:
    const std::size_t count;
    template <class Column> explicit column(const Column &from) : count(std::size(from)) {
        if constexpr (std::is_same_v<Column, packed>) {
            static_assert(is_string<T>, "packed are byte strings");
            column_ = {from.bytes.data(), from.offsets.data(), LATCHLESS_PACKED_64};
        } else if constexpr (is_string<T>) {
            static_assert(!std::is_same_v<decltype(*std::begin(from)), std::string>, "the strings have to outlive the call");
            for (const std::string_view string : from) {
                addresses_.push_back(string.data());
                lens_.push_back(string.size());
            }
            column_ = {addresses_.data(), lens_.data(), LATCHLESS_APART};
        } else if constexpr (has_words<Column>()) {
            column_ = {std::data(from), nullptr, LATCHLESS_WORDS};
        } else {
            words_.reserve(count);
            for (const T one : from) words_.push_back(in<T, IsKey, IsWord>(one).stored);
            column_ = {words_.data(), nullptr, LATCHLESS_WORDS};
        }
    }
    column(const column &) = delete;
    template <class Column> static constexpr bool has_words() {
        if constexpr (!std::is_same_v<T, std::uint64_t> || (IsKey && !IsWord)) return false;
        else return std::is_same_v<decltype(std::data(std::declval<const Column &>())), const std::uint64_t *>;
    }
    const latchless_column *get() const noexcept { return &column_; }
    auto parts() const noexcept {
        if constexpr (IsWord) return std::make_tuple(static_cast<const std::uint64_t *>(column_.data));
        else return std::make_tuple(get());
    }

private:
    latchless_column column_{};
    std::vector<const void *> addresses_;
    std::vector<std::size_t> lens_;
    std::vector<std::uint64_t> words_;
};

template <class Keys, class Values> void check_lengths(const Keys &keys, const Values &values) {
    if (keys.count == values.count) return;
    throw argument_error(LATCHLESS_INVALID, "latchless: " + std::to_string(keys.count) + " keys, but " +
                                                std::to_string(values.count) + " values");
}

/// The entries of a range of words, of which a cursor copies some dozens at a time.
template <class Key, class Value> struct word_source {
    using value_type = entry<Key, Value>;
    owner<latchless_index_cursor> cursor;
    std::optional<value_type> at;
    std::size_t next_one = 0, filled = 0;
    std::uint64_t keys[64];
    latchless::value values[64];
    explicit word_source(latchless_index_cursor *of) : cursor(of) {}
    void next() {
        if (next_one == filled) {
            check(latchless_index_cursor_next(cursor.get(), keys, values, 64, &filled));
            next_one = 0;
        }
        at.reset();
        if (next_one < filled) at.emplace(value_type{key_of<Key>(keys[next_one]), value_as<Value>(values[next_one])});
        ++next_one;
    }
};

/// The entries of a range by a cursor both ways, or those of its first key.
template <class Key, class Cursor> struct cursor_source {
    using value_type = typename Cursor::view::value_type;
    Cursor cursor;
    std::optional<Key> from, to;
    direction way;
    bool is_one_key, is_started = false;
    typename Cursor::view at;
    template <class End> cursor_source(Cursor of, const End &low, const End &high, direction order, bool is_one)
        : cursor(std::move(of)), from(low), to(high), way(order), is_one_key(is_one) {}
    void next() {
        if (way == direction::ascending) {
            at = is_started ? cursor.next() : from ? cursor.seek(*from) : cursor.seek_first();
            if (at && ((to && !(at->key < *to)) || (is_one_key && *from < at->key))) at.reset();
        } else {
            at = is_started ? cursor.prev() : to ? cursor.seek_for_prev(*to) : cursor.seek_last();
            if (at && to && !(at->key < *to)) at = cursor.prev();
            if (at && from && at->key < *from) at.reset();
        }
        is_started = true;
    }
};

/// The least string that is greater than all with this prefix, if there is one.
inline std::optional<std::string> after_prefix(std::string start) {
    while (!start.empty() && start.back() == '\xFF') start.pop_back();
    if (start.empty()) return std::nullopt;
    start.back() = static_cast<char>(static_cast<unsigned char>(start.back()) + 1);
    return start;
}

} // namespace detail

} // namespace latchless

#endif
