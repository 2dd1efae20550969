/// \file
/// \brief Ordered indexes for C++17: in main memory, read and changed by many threads at once.
///
/// \code{.cpp}
///     latchless::index<std::uint64_t, double> prices;
///     prices.insert(99, 4.95);
///     if (auto price = prices.get(99)) std::cout << *price << '\n';
///     for (const auto &[item, price] : prices) std::cout << item << ": " << price << '\n';
///
///     latchless::index<std::string, std::string> pages;
///     pages.insert("https://example.org/", "<title>Example Domain</title>");
///     for (const auto &[url, page] : pages.prefix("https://")) std::cout << url << '\n';
/// \endcode
///
/// Keys are integers, enumerators, floating-point numbers, std::chrono::time_points of the system's clock, or
/// std::strings, which any std::string_view names. Values are std::strings or trivially copyable objects of up to 64
/// bits. Keys and values of up to 64 bits are in a latchless_index, all others in a latchless_bytes. Any number of
/// threads may call const members of one index at once; all members are const except those that replace or end the
/// index. latchless.h has the details of operations: cost, atomicity, and what they see of concurrent changes.
///
/// \par Batches
/// A column of keys or values is a range of known size: a std::vector, a std::span, an array, a latchless::view of a
/// pointer and a length, or latchless::packed byte strings. Contiguous std::uint64_ts and packed ones aren't copied.
///
/// \par Errors
/// Errors are exceptions with the library's message and status: latchless::memory_error (a std::bad_alloc) for refused
/// memory, latchless::argument_error (a std::invalid_argument) for an invalid argument, latchless::file_error and
/// latchless::broken_error (std::runtime_error) for the others.

#ifndef LATCHLESS_HPP
#define LATCHLESS_HPP

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

// ---- errors ----------------------------------------------------------------------------------------

/// A standard exception with the library's message and a status.
template <class Base>
class error : public Base {
public:
    /// An error with its status, its message, and the positions of a batch that were refused.
    error(latchless_status status, const std::string &message, std::vector<std::size_t> refused = {})
        : Base(base(message)), status_(status), message_(message), refused_(std::move(refused)) {}
    /// The library's message.
    const char *what() const noexcept override { return message_.c_str(); }
    /// The status of the call that failed.
    latchless_status status() const noexcept { return status_; }
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
/// An invalid argument.
class argument_error : public error<std::invalid_argument> { using error::error; };
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

template <class T>
inline constexpr bool is_time = false;
template <class Duration>
inline constexpr bool is_time<std::chrono::time_point<std::chrono::system_clock, Duration>> = true;
template <class T>
inline constexpr bool is_string = std::is_same_v<T, std::string>;
template <class T>
inline constexpr bool is_word_key =
    (std::is_arithmetic_v<T> || std::is_enum_v<T> || is_time<T>) && sizeof(T) <= sizeof(std::uint64_t);
template <class T>
inline constexpr bool is_word_value = std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(value);

/// How a key or a value is passed.
template <class T>
using argument = std::conditional_t<is_string<T>, std::string_view, T>;

/// The word of a key.
template <class Key>
std::uint64_t word_of(Key key) noexcept {
    if constexpr (is_time<Key>) return word_of(static_cast<std::int64_t>(key.time_since_epoch().count()));
    else if constexpr (std::is_enum_v<Key>) return word_of(static_cast<std::underlying_type_t<Key>>(key));
    else if constexpr (std::is_floating_point_v<Key>) return latchless_key_from_f64(static_cast<double>(key));
    else if constexpr (std::is_signed_v<Key>) return latchless_key_from_i64(static_cast<std::int64_t>(key));
    else return static_cast<std::uint64_t>(key);
}

/// The key of a word.
template <class Key>
Key key_of(std::uint64_t word) noexcept {
    if constexpr (is_time<Key>) return Key(typename Key::duration(key_of<typename Key::rep>(word)));
    else if constexpr (std::is_enum_v<Key>) return static_cast<Key>(key_of<std::underlying_type_t<Key>>(word));
    else if constexpr (std::is_floating_point_v<Key>) return static_cast<Key>(latchless_key_to_f64(word));
    else if constexpr (std::is_signed_v<Key>) return static_cast<Key>(latchless_key_to_i64(word));
    else return static_cast<Key>(word);
}

/// The kind of keys of a type.
template <class Key>
constexpr latchless_key_kind kind_of() {
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

/// A place for any key or any value, kept for the thread's next call.
template <bool IsKey>
std::string &any_room() {
    thread_local std::string room(IsKey ? LATCHLESS_KEY_MAX : LATCHLESS_VALUE_MAX, '\0');
    return room;
}

/// Frees a handle.
struct deleter {
    void operator()(latchless_index *of) const noexcept { latchless_index_free(of); }
    void operator()(latchless_bytes *of) const noexcept { latchless_bytes_free(of); }
    void operator()(latchless_index_cursor *of) const noexcept { latchless_index_cursor_free(of); }
    void operator()(latchless_bytes_cursor *of) const noexcept { latchless_bytes_cursor_free(of); }
};

/// One or more parameters of a function of C.
struct parameters {};

} // namespace detail

// ---- arguments and results ---------------------------------------------------------------------------

/// Options of a new index, at first the defaults: see latchless_options. An index itself sets `key_kind` and
/// `value_kind`.
struct options : latchless_options {
    /// The defaults.
    options() { detail::check(latchless_options_init(this, sizeof(latchless_options))); }
};

/// A key and its value.
template <class Key, class Value = value>
struct entry {
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
template <class T>
struct view {
    const T *at;     ///< The first element.
    std::size_t len; ///< The number of elements.
    /// The first element.
    const T *data() const noexcept { return at; }
    /// The number of elements.
    std::size_t size() const noexcept { return len; }
    /// The first element.
    const T *begin() const noexcept { return at; }
    /// The end of the elements.
    const T *end() const noexcept { return at + len; }
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
    /// The number of strings.
    std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
    /// A string.
    std::string_view operator[](std::size_t at) const {
        const auto start = static_cast<std::size_t>(offsets[at]);
        return std::string_view(bytes).substr(start, static_cast<std::size_t>(offsets[at + 1]) - start);
    }
};

/// The values that a batch found: packed if they are byte strings.
template <class Value>
struct found_values {
    std::conditional_t<detail::is_string<Value>, packed, std::vector<Value>> values; ///< Empty or 0 if not found.
    std::vector<std::uint8_t> found; ///< 1 if the i-th key was found, otherwise 0.
    std::size_t hits = 0;            ///< How many keys were found.

    /// The value of the i-th key, if it was found.
    std::optional<detail::argument<Value>> operator[](std::size_t at) const {
        return found[at] ? std::optional<detail::argument<Value>>(values[at]) : std::nullopt;
    }
};

// ---- the index -----------------------------------------------------------------------------------------

/// The functions of both types of C that have this name.
#define LATCHLESS_DETAIL(name) latchless_index_##name, latchless_bytes_##name

/// An ordered index. It can be moved, not copied. An index that was moved from can be assigned to or destroyed; every
/// other call throws an argument_error. Ranges are from a key on and before another one, each if there is one.
template <class Key, class Value = value>
class index {
    static_assert(detail::is_word_key<Key> || detail::is_string<Key>, "a key is a number, an enumerator, a time or a string");
    static_assert(detail::is_word_value<Value> || detail::is_string<Value>,
                  "a value is a string, or a trivially copyable object of at most 64 bits");
    static constexpr bool are_words = detail::is_word_key<Key> && detail::is_word_value<Value>;
    template <class Handle>
    using owner = std::unique_ptr<Handle, detail::deleter>;
    template <class T, bool IsKey>
    struct in;
    template <class T, bool IsKey>
    class column;
    struct word_source;
    struct string_source;
    using source = std::conditional_t<are_words, word_source, string_source>;
    using key_arg = detail::argument<Key>;
    using value_arg = detail::argument<Value>;
    using end_arg = std::optional<key_arg>;
    using key_in = in<Key, true>;
    using value_in = in<Value, false>;
    using key_column = column<Key, true>;
    using value_column = column<Value, false>;
    using bytes_arg = std::tuple<const void *, std::size_t>;
    using no_bytes = std::tuple<std::nullptr_t, std::size_t, std::nullptr_t>;

public:
    using key_type = Key;                                        ///< The type of keys.
    using mapped_type = Value;                                   ///< The type of values.
    using entry_type = entry<Key, Value>;                        ///< A copy of a key and its value.
    using value_type = std::conditional_t<are_words, entry_type, entry<key_arg, value_arg>>; ///< What iterators are on.
    using handle_type = std::conditional_t<are_words, latchless_index, latchless_bytes>; ///< The index in C.

    /// An input iterator over entries, which are valid until it moves, and the range from it on, for one loop. One
    /// thread at a time may use it and its copies, which share one position. It sees changes that threads make ahead of
    /// it, and may outlive the index.
    class const_iterator {
    public:
        using iterator_category = std::input_iterator_tag;   ///< Entries are read in one pass.
        using value_type = typename index::value_type;       ///< A key and its value.
        using difference_type = std::ptrdiff_t;              ///< The type of distances.
        using pointer = const value_type *;                  ///< An entry.
        using reference = const value_type &;                ///< An entry.

        /// The end.
        const_iterator() noexcept = default;
        /// Itself.
        const_iterator begin() const { return *this; }
        /// The end.
        const_iterator end() const noexcept { return {}; }
        /// The entry.
        reference operator*() const { return *source_->at; }
        /// The entry.
        pointer operator->() const { return &*source_->at; }
        /// Moves to the next entry.
        const_iterator &operator++() {
            source_->next();
            if (!source_->at) source_.reset();
            return *this;
        }
        /// Moves to the next entry.
        void operator++(int) { ++*this; }
        /// Whether both are the end, or share one position.
        friend bool operator==(const const_iterator &a, const const_iterator &b) noexcept { return a.source_ == b.source_; }
        /// Whether they aren't equal.
        friend bool operator!=(const const_iterator &a, const const_iterator &b) noexcept { return !(a == b); }

    private:
        friend class index;
        explicit const_iterator(std::shared_ptr<source> of) : source_(std::move(of)) { ++*this; }
        std::shared_ptr<source> source_;
    };

    /// A position in an index that is a latchless_bytes; it moves both ways. The strings of an entry are valid until
    /// the next call for the cursor. One thread at a time may use it, and it may outlive its index.
    class cursor_type {
    public:
        using view = std::optional<entry<key_arg, value_arg>>; ///< The entry that a cursor is on, if it is on one.
        /// Moves to a key or, if it is absent, to the first key after it.
        view seek(key_arg key) { return move(LATCHLESS_SEEK, key); }
        /// Moves to a key or, if it is absent, to the last key before it.
        view seek_for_prev(key_arg key) { return move(LATCHLESS_SEEK_FOR_PREV, key); }
        /// Moves to the first entry.
        view seek_first() { return move(LATCHLESS_SEEK_FIRST, {}); }
        /// Moves to the last entry.
        view seek_last() { return move(LATCHLESS_SEEK_LAST, {}); }
        /// Moves to the next entry.
        view next() { return move(LATCHLESS_NEXT, {}); }
        /// Moves to the previous entry.
        view prev() { return move(LATCHLESS_PREV, {}); }
        /// The entry that the cursor is on.
        view current() const { return move(LATCHLESS_CURRENT, {}); }

    private:
        friend class index;
        owner<latchless_bytes_cursor> owner_;
        explicit cursor_type(latchless_bytes_cursor *of) noexcept : owner_(of) {}
        view move(latchless_move way, key_arg to) const {
            const key_in passed(to);
            const auto [key, len] = passed.parts();
            const void *near_key = nullptr, *its = nullptr;
            std::size_t near_len = 0, its_len = 0;
            const auto status =
                latchless_bytes_cursor_move(owner_.get(), way, key, len, &near_key, &near_len, &its, &its_len);
            if (detail::check(status) == LATCHLESS_NOT_FOUND) return std::nullopt;
            return {{key_in::of(near_key, near_len), value_in::of(its, its_len)}};
        }
    };

    /// An empty index.
    explicit index(options how = options()) { make(how, LATCHLESS_DETAIL(new)); }
    /// An index of entries whose keys are ascending and distinct. Much faster than inserts.
    template <class Keys, class Values>
    static index bulk_load(const Keys &keys, const Values &values, options how = options()) {
        const key_column names(keys);
        const value_column its(values);
        check_lengths(names, its);
        index made{nothing()};
        made.make(how, LATCHLESS_DETAIL(bulk_load), names, its, names.count);
        return made;
    }
    /// An index of the entries in a file that was saved from C, C++, Rust or Python; they must fit into Key and Value.
    static index open(const std::string &path, options how = options()) {
        index made{nothing()};
        made.make(how, LATCHLESS_DETAIL(open), path.c_str());
        return made;
    }
    /// Writes all entries to an Arrow file, which replaces the file at `path` in one step. Returns how many.
    std::size_t save(const std::string &path) const { return counted(LATCHLESS_DETAIL(save), path.c_str()); }
    /// The handle for functions of C. The index still owns it.
    handle_type *handle() const noexcept { return owner_.get(); }

    /// The number of keys. Exact if no thread inserts or removes meanwhile.
    std::size_t size() const { return counted(LATCHLESS_DETAIL(len)); }
    /// Whether there are no keys.
    bool empty() const { return size() == 0; }
    /// Removes all keys, not atomically as a whole.
    void clear() const { call(LATCHLESS_DETAIL(clear)); }
    /// Bytes that the index holds, without reading its nodes.
    std::size_t memory_bytes() const {
        std::size_t held = 0;
        call(LATCHLESS_DETAIL(memory_bytes), &held, nullptr);
        return held;
    }
    /// Memory use, the number of nodes and their fill. Reads every node.
    latchless_stats stats() const {
        latchless_stats found{};
        found.struct_size = sizeof found;
        call(LATCHLESS_DETAIL(stats), &found);
        return found;
    }
    /// Checks every node, and throws a broken_error if an invariant doesn't hold. Meant for tests.
    void check_invariants() const { call(LATCHLESS_DETAIL(check_invariants)); }

    // ---- one key; atomic ----
    /// The value of a key, if it is present.
    std::optional<Value> get(key_arg key) const { return value_if(LATCHLESS_OK, LATCHLESS_DETAIL(get), key_in(key)); }
    /// Whether a key is present.
    bool contains(key_arg key) const { return call(LATCHLESS_DETAIL(contains_key), key_in(key)) == LATCHLESS_OK; }
    /// Inserts a key, or replaces its value. Returns whether the key was absent.
    bool insert(key_arg key, value_arg its) const {
        constexpr auto none = std::conditional_t<are_words, std::tuple<std::nullptr_t>, no_bytes>();
        return call(LATCHLESS_DETAIL(insert), key_in(key), value_in(its), none) == LATCHLESS_OK;
    }
    /// Inserts a key, or replaces its value. Returns the value that was replaced.
    std::optional<Value> exchange(key_arg key, value_arg its) const {
        return value_if(LATCHLESS_PRESENT, LATCHLESS_DETAIL(insert), key_in(key), value_in(its));
    }
    /// Inserts a key unless it is present. Returns the value of a key that is present, which is kept.
    std::optional<Value> try_insert(key_arg key, value_arg its) const {
        return value_if(LATCHLESS_PRESENT, LATCHLESS_DETAIL(try_insert), key_in(key), value_in(its));
    }
    /// Replaces the value of a key that is present. Returns the value that was replaced.
    std::optional<Value> replace(key_arg key, value_arg its) const {
        return value_if(LATCHLESS_OK, LATCHLESS_DETAIL(replace), key_in(key), value_in(its));
    }
    /// Removes a key. Returns the value that it had.
    std::optional<Value> remove(key_arg key) const { return value_if(LATCHLESS_OK, LATCHLESS_DETAIL(remove), key_in(key)); }
    /// Replaces the value of a key if it is `expected`; with an empty `expected`, inserts a key that is absent. Returns
    /// whether that was done. If not, `expected` becomes the value that the key has, or empty if it is absent.
    bool compare_exchange(key_arg key, std::optional<Value> &expected, value_arg its) const {
        if (!expected) return !(expected = try_insert(key, its));
        return compared(expected, LATCHLESS_DETAIL(compare_exchange), key_in(key), value_in(*expected), value_in(its));
    }
    /// Removes a key if its value is `expected`. Returns whether that was done. If not, `expected` becomes the value
    /// that the key has, or empty if it is absent.
    bool compare_remove(key_arg key, std::optional<Value> &expected) const {
        if (!expected) throw argument_error(LATCHLESS_INVALID, "latchless: nothing can't be removed");
        return compared(expected, LATCHLESS_DETAIL(compare_remove), key_in(key), value_in(*expected));
    }

    // ---- by order; atomic ----
    /// The entry with the smallest key.
    std::optional<entry_type> first() const { return entry_of(LATCHLESS_DETAIL(first)); }
    /// The entry with the largest key.
    std::optional<entry_type> last() const { return entry_of(LATCHLESS_DETAIL(last)); }
    /// Removes the entry with the smallest key, and returns it.
    std::optional<entry_type> pop_first() const { return entry_of(LATCHLESS_DETAIL(pop_first)); }
    /// Removes the entry with the largest key, and returns it.
    std::optional<entry_type> pop_last() const { return entry_of(LATCHLESS_DETAIL(pop_last)); }
    /// The entry with the largest key that is less than or equal to `key`.
    std::optional<entry_type> floor(key_arg key) const { return near(LATCHLESS_FLOOR, key); }
    /// The entry with the smallest key that is greater than or equal to `key`.
    std::optional<entry_type> ceiling(key_arg key) const { return near(LATCHLESS_CEILING, key); }
    /// The entry with the largest key that is less than `key`.
    std::optional<entry_type> lower(key_arg key) const { return near(LATCHLESS_LOWER, key); }
    /// The entry with the smallest key that is greater than `key`.
    std::optional<entry_type> higher(key_arg key) const { return near(LATCHLESS_HIGHER, key); }
    /// The entry whose key is nearest to `key`; of two equally near ones, the smaller. For keys and values of 64 bits.
    std::optional<entry_type> nearest(key_arg key) const {
        return entry_of(latchless_index_near, nullptr, LATCHLESS_NEAREST, key_in(key));
    }
    /// The number of keys that are less than `key`. For keys and values of 64 bits.
    std::size_t rank(key_arg key) const { return counted(latchless_index_rank, nullptr, key_in(key)); }
    /// The entry that has `position` entries before it. For keys and values of 64 bits.
    std::optional<entry_type> nth(std::size_t position) const { return entry_of(latchless_index_nth, nullptr, position); }

    // ---- batches ----
    /// Looks up keys.
    template <class Keys>
    found_values<Value> get_many(const Keys &keys) const {
        const key_column names(keys);
        found_values<Value> got;
        got.found.resize(names.count);
        if constexpr (detail::is_string<Value>) {
            auto &[bytes, offsets] = got.values;
            offsets.resize(names.count + 1);
            bytes.resize(32 * names.count + 1);
            // Repeats the call until the values fit: other threads may store longer ones meanwhile.
            for (auto status = LATCHLESS_SMALL_ROOM; status == LATCHLESS_SMALL_ROOM;) {
                status = latchless_bytes_get_columns(handle(), names.get(), names.count, bytes.data(), bytes.size(),
                                                     offsets.data(), got.found.data(), &got.hits);
                if (status != LATCHLESS_SMALL_ROOM) detail::check(status);
                bytes.resize(static_cast<std::size_t>(offsets.back()));
            }
        } else {
            std::vector<latchless::value> bits(names.count);
            got.hits = look_up(names, bits.data(), got.found.data());
            for (const auto one : bits) got.values.push_back(value_as<Value>(one));
        }
        return got;
    }
    /// Looks up keys, for values of 64 bits in the caller's memory: values[i] is unchanged if the i-th key is absent,
    /// and found[i] is 1 if it is present, otherwise 0. Returns how many are.
    template <class Keys>
    std::size_t get_many(const Keys &keys, Value *values, std::uint8_t *found) const {
        static_assert(!detail::is_string<Value> && sizeof(Value) == sizeof(latchless::value), "values have 64 bits");
        return look_up(key_column(keys), reinterpret_cast<latchless::value *>(values), found);
    }
    /// Stores the i-th value under the i-th key. Returns how many keys were absent. A memory_error has the positions
    /// that were refused; a key or value that is too long is an argument_error; all others were inserted.
    template <class Keys, class Values>
    std::size_t insert_many(const Keys &keys, const Values &values) const {
        const key_column names(keys);
        const value_column its(values);
        check_lengths(names, its);
        std::size_t added = 0;
        std::vector<std::uint8_t> refused(names.count);
        detail::check(pass(LATCHLESS_DETAIL(insert_columns), handle(), names, its, names.count, &added, refused.data()), refused);
        return added;
    }
    /// Removes keys. Returns how many were present.
    template <class Keys>
    std::size_t remove_many(const Keys &keys) const {
        const key_column names(keys);
        return counted(LATCHLESS_DETAIL(remove_columns), names, names.count, nullptr, nullptr);
    }
    /// For each key, the entry near it. For keys and values of 64 bits.
    template <class Keys>
    std::vector<std::optional<entry_type>> near_many(latchless_near near, const Keys &keys) const {
        const key_column names(keys);
        std::vector<std::uint64_t> found_keys(names.count), bits(names.count);
        std::vector<std::uint8_t> found(names.count);
        call(latchless_index_near_columns, nullptr, near, names, names.count, found_keys.data(), bits.data(), found.data(), nullptr);
        std::vector<std::optional<entry_type>> got(names.count);
        for (std::size_t at = 0; at < got.size(); ++at) {
            if (found[at]) got[at] = entry_type{detail::key_of<Key>(found_keys[at]), value_as<Value>(bits[at])};
        }
        return got;
    }
    /// For each key, how many keys are less. For keys and values of 64 bits.
    template <class Keys>
    std::vector<std::size_t> rank_many(const Keys &keys) const {
        const key_column names(keys);
        std::vector<std::size_t> ranks(names.count);
        call(latchless_index_rank_columns, nullptr, names, names.count, ranks.data());
        return ranks;
    }

    // ---- ranges: from `from` on, and before `to`, each if there is one ----
    /// The first entry, in ascending order.
    const_iterator begin() const { return range({}); }
    /// The end of the entries.
    const_iterator end() const noexcept { return {}; }
    /// The entries of a range, in a direction.
    const_iterator range(end_arg from, end_arg to = {}, direction way = direction::ascending) const {
        auto made = std::make_shared<source>();
        if constexpr (are_words) {
            const bounds ends(from, to);
            if (ends.is_empty()) return {};
            latchless_index_cursor *cursor = nullptr;
            call(latchless_index_cursor_new, nullptr, ends, way == direction::descending, &cursor);
            made->cursor.reset(cursor);
        } else {
            made->cursor = cursor();
            made->way = way;
            if (from) made->from.emplace(*from);
            if (to) made->to.emplace(*to);
        }
        return const_iterator(std::move(made));
    }
    /// The entries whose keys start with a prefix, in a direction. For keys that are strings.
    const_iterator prefix(std::string_view start, direction way = direction::ascending) const {
        static_assert(detail::is_string<Key>, "numbers have no prefixes");
        std::string after(start); // The least string that is greater than all with this prefix, if there is one.
        while (!after.empty() && after.back() == '\xFF') after.pop_back();
        if (after.empty()) return range(start, {}, way);
        after.back() = static_cast<char>(static_cast<unsigned char>(after.back()) + 1);
        return range(start, after, way);
    }
    /// The number of keys of a range.
    std::size_t count(end_arg from, end_arg to = {}) const { return within(LATCHLESS_DETAIL(count), {from, to}); }
    /// Removes the keys of a range, not atomically as a whole. Returns how many.
    std::size_t remove_range(end_arg from, end_arg to) const { return within(LATCHLESS_DETAIL(remove_range), {from, to}); }
    /// A cursor before the first entry. For byte strings as keys or values.
    cursor_type cursor() const {
        latchless_bytes_cursor *made = nullptr;
        call(nullptr, latchless_bytes_cursor_new, &made);
        return cursor_type(made);
    }

private:
    /// A key or a value that is passed: its word, or a pointer and a length. The bytes of a key are in the order of
    /// memcmp().
    template <class T, bool IsKey>
    struct in : detail::parameters {
        std::conditional_t<detail::is_string<T>, std::string_view, std::uint64_t> stored;
        explicit in(detail::argument<T> from) {
            if constexpr (std::is_floating_point_v<T> && IsKey && !are_words) {
                if (from != from) throw argument_error(LATCHLESS_NAN, "latchless: the key is NaN, which can't be a key");
            }
            if constexpr (detail::is_string<T>) stored = from;
            else if constexpr (!IsKey) stored = bits_of(from);
            else stored = are_words ? detail::word_of(from) : detail::big_endian(detail::word_of(from));
        }
        auto parts() const noexcept {
            if constexpr (are_words) return std::make_tuple(stored);
            else if constexpr (detail::is_string<T>) return bytes_arg(stored.data(), stored.size());
            else return bytes_arg(&stored, sizeof stored);
        }
        static T of(std::uint64_t stored) noexcept {
            if constexpr (!IsKey) return value_as<T>(stored);
            else return detail::key_of<T>(are_words ? stored : detail::big_endian(stored));
        }
        static detail::argument<T> of(const void *bytes, std::size_t len) noexcept {
            if constexpr (detail::is_string<T>) {
                return {static_cast<const char *>(bytes), len};
            } else {
                std::uint64_t stored = 0;
                std::memcpy(&stored, bytes, sizeof stored);
                return of(stored);
            }
        }
    };
    /// A place for a key or a value: for its word, or for any bytes and their number.
    template <class T, bool IsKey>
    struct out : detail::parameters {
        std::uint64_t word = 0;
        std::size_t len = 0;
        auto parts() noexcept {
            if constexpr (are_words) return std::make_tuple(&word);
            else return std::make_tuple(detail::any_room<IsKey>().data(), detail::any_room<IsKey>().size(), &len);
        }
        T get() const {
            if constexpr (are_words) return in<T, IsKey>::of(word);
            else return T(in<T, IsKey>::of(detail::any_room<IsKey>().data(), len));
        }
    };
    /// The ends of a range: of words both included, of byte strings without the second one.
    struct bounds : detail::parameters {
        std::optional<key_in> from, to;
        bounds(const end_arg &low, const end_arg &high) {
            if (low) from.emplace(*low);
            if (high) to.emplace(*high);
        }
        /// The least word of a key: that of minus infinity, or 0.
        std::uint64_t low() const noexcept {
            return from ? from->stored : std::is_floating_point_v<Key> ? ~UINT64_C(0xFFF0000000000000) : 0;
        }
        bool is_empty() const noexcept {
            if constexpr (are_words) return to && to->stored == low();
            else return false;
        }
        auto parts() const noexcept {
            if constexpr (are_words) return std::make_tuple(low(), to ? to->stored - 1 : UINT64_MAX);
            else return std::tuple_cat(from ? from->parts() : bytes_arg(nullptr, 0), to ? to->parts() : bytes_arg(nullptr, LATCHLESS_NO_END));
        }
    };
    /// A column. What is in the caller's memory as C takes it isn't copied.
    template <class T, bool IsKey>
    class column : public detail::parameters {
    public:
        const std::size_t count;
        template <class Column>
        explicit column(const Column &from) : count(std::size(from)) {
            if constexpr (std::is_same_v<Column, packed>) {
                static_assert(detail::is_string<T>, "packed are byte strings");
                column_ = {from.bytes.data(), from.offsets.data(), LATCHLESS_PACKED_64};
            } else if constexpr (detail::is_string<T>) {
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
                for (const T one : from) words_.push_back(in<T, IsKey>(one).stored);
                column_ = {words_.data(), nullptr, LATCHLESS_WORDS};
            }
        }
        column(const column &) = delete;
        template <class Column>
        static constexpr bool has_words() {
            if constexpr (!std::is_same_v<T, std::uint64_t> || (IsKey && !are_words)) return false;
            else return std::is_same_v<decltype(std::data(std::declval<const Column &>())), const std::uint64_t *>;
        }
        const latchless_column *get() const noexcept { return &column_; }
        auto parts() const noexcept {
            if constexpr (are_words) return std::make_tuple(static_cast<const std::uint64_t *>(column_.data));
            else return std::make_tuple(get());
        }

    private:
        latchless_column column_{};
        std::vector<const void *> addresses_;
        std::vector<std::size_t> lens_;
        std::vector<std::uint64_t> words_;
    };
    static void check_lengths(const key_column &keys, const value_column &values) {
        if (keys.count == values.count) return;
        throw argument_error(LATCHLESS_INVALID, "latchless: " + std::to_string(keys.count) + " keys, but " +
                                                    std::to_string(values.count) + " values");
    }

    /// The entries of a range of words, of which a cursor copies some dozens at a time.
    struct word_source {
        owner<latchless_index_cursor> cursor;
        std::optional<entry_type> at;
        std::size_t next_one = 0, filled = 0;
        std::uint64_t keys[64];
        latchless::value values[64];
        void next() {
            if (next_one == filled) {
                detail::check(latchless_index_cursor_next(cursor.get(), keys, values, 64, &filled));
                next_one = 0;
            }
            at.reset();
            if (next_one < filled) at.emplace(entry_type{key_in::of(keys[next_one]), value_in::of(values[next_one])});
            ++next_one;
        }
    };
    /// The entries of a range of byte strings.
    struct string_source {
        cursor_type cursor{nullptr};
        std::optional<Key> from, to;
        direction way{};
        bool is_started = false;
        typename cursor_type::view at;
        void next() {
            if (way == direction::ascending) {
                at = is_started ? cursor.next() : from ? cursor.seek(*from) : cursor.seek_first();
                if (at && to && !(at->key < *to)) at.reset();
            } else {
                at = is_started ? cursor.prev() : to ? cursor.seek_for_prev(*to) : cursor.seek_last();
                if (at && to && !(at->key < *to)) at = cursor.prev();
                if (at && from && at->key < *from) at.reset();
            }
            is_started = true;
        }
    };

    struct nothing {};
    explicit index(nothing) noexcept {}

    template <class... Parts>
    static auto parts_of(const std::tuple<Parts...> &parts) { return parts; }
    template <class Parameter>
    static auto parts_of(Parameter &&parameter) {
        if constexpr (std::is_base_of_v<detail::parameters, std::decay_t<Parameter>>) return parameter.parts();
        else return std::make_tuple(parameter);
    }
    /// Calls the function of this index's type in C.
    template <class Words, class Strings, class... Parameters>
    static latchless_status pass(Words words, Strings strings, Parameters &&...parameters) {
        constexpr bool is_there = !std::is_null_pointer_v<std::conditional_t<are_words, Words, Strings>>;
        static_assert(is_there, "an index of these keys and values doesn't have this operation");
        const auto all = std::tuple_cat(parts_of(parameters)...);
        if constexpr (are_words && is_there) return (void)strings, std::apply(words, all);
        else if constexpr (is_there) return (void)words, std::apply(strings, all);
    }
    template <class Words, class Strings, class... Parameters>
    latchless_status call(Words words, Strings strings, Parameters &&...parameters) const {
        return detail::check(pass(words, strings, handle(), parameters...));
    }
    template <class Words, class Strings, class... Parameters>
    void make(options &how, Words words, Strings strings, const Parameters &...parameters) {
        if constexpr (are_words) how.key_kind = detail::kind_of<Key>();
        else how.value_kind = detail::is_string<Value> ? LATCHLESS_VALUE_BYTES : LATCHLESS_VALUE_WORD;
        handle_type *made = nullptr;
        detail::check(pass(words, strings, parameters..., &how, &made));
        owner_.reset(made);
    }
    /// The number that is a call's last answer.
    template <class Words, class Strings, class... Parameters>
    std::size_t counted(Words words, Strings strings, const Parameters &...parameters) const {
        std::size_t number = 0;
        call(words, strings, parameters..., &number);
        return number;
    }
    template <class Words, class Strings>
    std::size_t within(Words words, Strings strings, const bounds &ends) const {
        return ends.is_empty() ? 0 : counted(words, strings, ends);
    }
    /// The value that is a call's last answer, if its status is `there`.
    template <class Words, class Strings, class... Parameters>
    std::optional<Value> value_if(latchless_status there, Words words, Strings strings, const Parameters &...parameters) const {
        out<Value, false> to;
        const auto status = call(words, strings, parameters..., to);
        return status == there ? std::optional<Value>(to.get()) : std::nullopt;
    }
    template <class Words, class Strings, class... Parameters>
    bool compared(std::optional<Value> &expected, Words words, Strings strings, const Parameters &...parameters) const {
        out<Value, false> to;
        const auto status = call(words, strings, parameters..., to);
        if (status == LATCHLESS_OK) return true;
        expected = status == LATCHLESS_MISMATCH ? std::optional<Value>(to.get()) : std::nullopt;
        return false;
    }
    template <class Words, class Strings, class... Parameters>
    std::optional<entry_type> entry_of(Words words, Strings strings, const Parameters &...parameters) const {
        out<Key, true> key;
        out<Value, false> its;
        if (call(words, strings, parameters..., key, its) == LATCHLESS_NOT_FOUND) return std::nullopt;
        return entry_type{key.get(), its.get()};
    }
    std::optional<entry_type> near(latchless_near near, key_arg key) const {
        return entry_of(LATCHLESS_DETAIL(near), near, key_in(key));
    }
    std::size_t look_up(const key_column &names, latchless::value *values, std::uint8_t *found) const {
        if constexpr (are_words) return counted(latchless_index_get_columns, nullptr, names, names.count, values, found);
        else return counted(nullptr, latchless_bytes_get_columns, names, names.count, values, 8 * names.count, nullptr, found);
    }

    owner<handle_type> owner_;
};
#undef LATCHLESS_DETAIL

} // namespace latchless

#endif
