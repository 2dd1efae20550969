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
/// bits. Keys and values of up to 64 bits are in a latchless_index, all others in a latchless_bytes. A multi_index has
/// any number of values for a key. Any number of threads may call const members of one index at once; all members are
/// const except those that replace or end the index. latchless.h has the details of operations: cost, atomicity, and
/// what they see of concurrent changes. Where the names of std::map mean the same, they are there, too.
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

#include "latchless_types.hpp"

namespace latchless {

/// The functions of C that have this name: of all types, and of those with one value for a key.
#define LATCHLESS_DETAIL_ALL(name) std::make_tuple(latchless_index_##name, latchless_bytes_##name, latchless_multi_##name)
#define LATCHLESS_DETAIL(name) std::make_tuple(latchless_index_##name, latchless_bytes_##name, nullptr)

template <class Key, class Value = value> class index;
template <class Key, class Value = std::uint64_t> class multi_index;

/// A limit of memory that several indexes share: options::budget is its handle().
class budget {
public:
    /// A budget of this many bytes.
    explicit budget(std::size_t limit_bytes) {
        latchless_budget *to = nullptr;
        detail::check(latchless_budget_new(limit_bytes, SIZE_MAX, nullptr, nullptr, &to));
        owner_.reset(to);
    }
    const latchless_budget *handle() const noexcept { return owner_.get(); } ///< The budget in C.
    /// The bytes that its indexes hold.
    std::size_t taken_bytes() const {
        std::size_t taken = 0;
        detail::check(latchless_budget_taken_bytes(handle(), &taken));
        return taken;
    }

private:
    detail::owner<latchless_budget> owner_;
};

// ---- what all indexes have -----------------------------------------------------------------------------

/// An input iterator over entries, which are valid until it moves, and the range from it on, for one loop. One thread
/// at a time may use it and its copies, which share one position. It sees changes that threads make ahead of it, and
/// may outlive the index.
template <class Source> class iterator {
public:
    using iterator_category = std::input_iterator_tag;  ///< Entries are read in one pass.
    using value_type = typename Source::value_type;     ///< A key and its value.
    using difference_type = std::ptrdiff_t;             ///< The type of distances.
    using pointer = const value_type *;                 ///< An entry.
    using reference = const value_type &;               ///< An entry.

    iterator() noexcept = default; ///< The end.
    /// The entries that a source reads.
    explicit iterator(std::shared_ptr<Source> of) : source_(std::move(of)) { ++*this; }
    iterator begin() const { return *this; } ///< Itself.
    iterator end() const noexcept { return {}; } ///< The end.
    reference operator*() const { return *source_->at; } ///< The entry.
    pointer operator->() const { return &*source_->at; } ///< The entry.
    /// Moves to the next entry.
    iterator &operator++() {
        source_->next();
        if (!source_->at) source_.reset();
        return *this;
    }
    void operator++(int) { ++*this; } ///< Moves to the next entry.
    /// Whether both are the end, or share one position.
    friend bool operator==(const iterator &a, const iterator &b) noexcept { return a.source_ == b.source_; }
    /// Whether they aren't equal.
    friend bool operator!=(const iterator &a, const iterator &b) noexcept { return !(a == b); }

private:
    std::shared_ptr<Source> source_;
};

/// A position in an index of byte strings; it moves both ways. The strings of an entry are valid until the next call
/// for the cursor. One thread at a time may use it, and it may outlive its index.
template <class Key, class Value, class Handle> class cursor {
public:
    using key_arg = detail::argument<Key>; ///< How a key is passed.
    using view = std::optional<entry<key_arg, detail::argument<Value>>>; ///< The entry that it is on, if it is on one.
    explicit cursor(Handle *of = nullptr) noexcept : owner_(of) {} ///< A cursor with this handle of C's.
    /// Moves to the first entry of a key or, if it is absent, of the first key after it.
    view seek(key_arg key) { return move(LATCHLESS_SEEK, key); }
    /// Moves to a key or, if it is absent, to the last key before it; in a multi_index to the last entry before the key.
    view seek_for_prev(key_arg key) { return move(LATCHLESS_SEEK_FOR_PREV, key); }
    view seek_first() { return move(LATCHLESS_SEEK_FIRST, {}); } ///< Moves to the first entry.
    view seek_last() { return move(LATCHLESS_SEEK_LAST, {}); } ///< Moves to the last entry.
    view next() { return move(LATCHLESS_NEXT, {}); } ///< Moves to the next entry.
    view prev() { return move(LATCHLESS_PREV, {}); } ///< Moves to the previous entry.
    view current() const { return move(LATCHLESS_CURRENT, {}); } ///< The entry that the cursor is on.

private:
    detail::owner<Handle> owner_;
    view move(latchless_move way, key_arg to) const {
        using key_in = detail::in<Key, true, false>;
        const key_in passed(to);
        const auto [key, len] = passed.parts();
        const void *near_key = nullptr, *its = nullptr;
        std::size_t near_len = 0, its_len = 0;
        std::uint64_t row = 0;
        if constexpr (std::is_same_v<Handle, latchless_multi_cursor>) {
            const auto status = latchless_multi_cursor_move(owner_.get(), way, key, len, 0, &near_key, &near_len, &row);
            if (detail::check(status) == LATCHLESS_NOT_FOUND) return std::nullopt;
            return {{key_in::of(near_key, near_len), detail::key_of<Value>(row)}};
        } else {
            const auto status =
                latchless_bytes_cursor_move(owner_.get(), way, key, len, &near_key, &near_len, &its, &its_len);
            if (detail::check(status) == LATCHLESS_NOT_FOUND) return std::nullopt;
            return {{key_in::of(near_key, near_len), detail::in<Value, false, false>::of(its, its_len)}};
        }
    }
};

/// What every index has. It can be moved, not copied. An index that was moved from can be assigned to or destroyed;
/// every other call throws an argument_error. Ranges are from a key on and before another one, each if there is one.
template <class Index, class Key, class Iterator, class Handle> class whole {
public:
    using key_type = Key;                                    ///< The type of keys.
    using size_type = std::size_t;                           ///< The type of counts.
    using const_iterator = Iterator;                         ///< Entries of a range.
    using value_type = typename Iterator::value_type;        ///< What iterators are on.
    using handle_type = Handle;                              ///< The index in C.
    using end_arg = std::optional<detail::argument<Key>>;    ///< An end of a range.

    /// The handle for functions of C. The index still owns it.
    handle_type *handle() const noexcept { return owner_.get(); }
    /// The number of keys, or of keys and values of a multi_index. Exact if no thread inserts or removes meanwhile.
    std::size_t size() const { return counted(LATCHLESS_DETAIL_ALL(len)); }
    bool empty() const { return size() == 0; } ///< Whether there are no keys.
    void clear() const { call(LATCHLESS_DETAIL_ALL(clear)); } ///< Removes all keys, not atomically as a whole.
    /// Returns the memory of removed entries to the system: moves the others to new nodes, each filled to this share. No
    /// other thread may use the index meanwhile. Throws, and changes nothing, while an iterator or a cursor of it is there.
    void shrink(double fill = 0.8) { call(LATCHLESS_DETAIL_ALL(shrink), fill); }
    /// Bytes that the index holds, without reading its nodes.
    std::size_t memory_bytes() const {
        std::size_t held = 0;
        call(LATCHLESS_DETAIL_ALL(memory_bytes), &held, nullptr);
        return held;
    }
    /// Memory use, the number of nodes and their fill. Reads every node.
    latchless_stats stats() const {
        latchless_stats found{};
        found.struct_size = sizeof found;
        call(LATCHLESS_DETAIL_ALL(stats), &found);
        return found;
    }
    /// Checks every node, and throws a broken_error if an invariant doesn't hold. Meant for tests.
    void check_invariants() const { call(LATCHLESS_DETAIL_ALL(check_invariants)); }
    /// Writes all entries to an Arrow file, which replaces the file at `path` in one step. Returns how many.
    std::size_t save(const std::string &path) const { return counted(LATCHLESS_DETAIL_ALL(save), path.c_str()); }
    /// An index of the entries in a file that was saved from C, C++, Rust or Python; they must fit into its types.
    static Index open(const std::string &path, const options &how = options()) {
        return Index(made(how, LATCHLESS_DETAIL_ALL(open), path.c_str()));
    }

    const_iterator begin() const { return index().range({}); } ///< The first entry, in ascending order.
    /// The last entry, in descending order.
    const_iterator rbegin() const { return index().range({}, {}, direction::descending); }
    const_iterator end() const noexcept { return {}; } ///< The end of the entries.
    const_iterator rend() const noexcept { return {}; } ///< The end of the entries.
    /// The entries whose keys start with a prefix, in a direction. For keys that are strings.
    const_iterator prefix(std::string_view start, direction way = direction::ascending) const {
        static_assert(detail::is_string<Key>, "numbers have no prefixes");
        const auto after = detail::after_prefix(std::string(start));
        return index().range(start, after ? end_arg(*after) : end_arg(), way);
    }
    /// The number of entries of a range.
    std::size_t count(end_arg from, end_arg to) const { return within(LATCHLESS_DETAIL_ALL(count), {from, to}); }
    /// Removes the entries of a range, not atomically as a whole. Returns how many.
    std::size_t remove_range(end_arg from, end_arg to) const { return within(LATCHLESS_DETAIL_ALL(remove_range), {from, to}); }

protected:
    explicit whole(detail::owner<Handle> of) noexcept : owner_(std::move(of)) {} ///< An index with this handle.
    /// A handle that a function of C makes.
    template <class Functions, class... Parameters>
    static detail::owner<Handle> made(const options &how, Functions functions, const Parameters &...given) {
        const options typed = Index::typed(how);
        Handle *to = nullptr;
        detail::check(detail::pass<Handle>(functions, given..., &typed, &to));
        return detail::owner<Handle>(to);
    }
    /// Calls the function of this index's type in C.
    template <class Functions, class... Parameters>
    latchless_status call(Functions functions, Parameters &&...given) const {
        return detail::check(detail::pass<Handle>(functions, handle(), given...));
    }
    /// The number that is a call's last answer.
    template <class Functions, class... Parameters>
    std::size_t counted(Functions functions, const Parameters &...given) const {
        std::size_t number = 0;
        call(functions, given..., &number);
        return number;
    }
    /// Inserts a batch.
    template <class Functions, class Keys, class Values>
    std::size_t inserted(Functions functions, const Keys &keys, const Values &values) const {
        detail::check_lengths(keys, values);
        std::size_t added = 0;
        std::vector<std::uint8_t> refused(keys.count);
        detail::check(detail::pass<Handle>(functions, handle(), keys, values, keys.count, &added, refused.data()), refused);
        return added;
    }

private:
    const Index &index() const noexcept { return static_cast<const Index &>(*this); }
    template <class Functions>
    std::size_t within(Functions functions, const detail::bounds<Key, std::is_same_v<Handle, latchless_index>> &ends) const {
        return ends.is_empty() ? 0 : counted(functions, ends);
    }
    detail::owner<Handle> owner_;
};

// ---- the index -----------------------------------------------------------------------------------------

namespace detail {

/// How an index stores these types.
template <class Key, class Value> struct stored {
    static_assert(is_word_key<Key> || is_string<Key>, "a key is a number, an enumerator, a time or a string");
    static_assert(is_word_value<Value> || is_string<Value>,
                  "a value is a string, or a trivially copyable object of at most 64 bits");
    static constexpr bool are_words = is_word_key<Key> && is_word_value<Value>;
    using cursor_type = cursor<Key, Value, latchless_bytes_cursor>;
    using source = std::conditional_t<are_words, word_source<Key, Value>, cursor_source<Key, cursor_type>>;
    using handle = std::conditional_t<are_words, latchless_index, latchless_bytes>;
    using base = whole<index<Key, Value>, Key, iterator<source>, handle>;
};

} // namespace detail

/// An ordered index with one value for a key.
template <class Key, class Value> class index : public detail::stored<Key, Value>::base {
    using stored = detail::stored<Key, Value>;
    using base = typename stored::base;
    friend base;
    using base::call, base::counted, base::made;
    static constexpr bool are_words = stored::are_words;
    using key_arg = detail::argument<Key>;
    using value_arg = detail::argument<Value>;
    using end_arg = std::optional<key_arg>;
    using key_in = detail::in<Key, true, are_words>;
    using value_in = detail::in<Value, false, are_words>;
    using value_out = detail::out<Value, false, are_words>;
    using no_place = detail::no_place<are_words>;
    using key_column = detail::column<Key, true, are_words>;
    using value_column = detail::column<Value, false, are_words>;

public:
    using mapped_type = Value;                              ///< The type of values.
    using entry_type = entry<Key, Value>;                   ///< A copy of a key and its value.
    using cursor_type = typename stored::cursor_type;       ///< A position that moves both ways.
    using const_iterator = typename base::const_iterator;   ///< Entries of a range.

    /// An empty index.
    explicit index(const options &how = options()) : base(made(how, LATCHLESS_DETAIL_ALL(new))) {}
    /// An index of entries whose keys are ascending and distinct. Much faster than inserts.
    template <class Keys, class Values>
    static index bulk_load(const Keys &keys, const Values &values, const options &how = options()) {
        const key_column names(keys);
        const value_column its(values);
        detail::check_lengths(names, its);
        return index(made(how, LATCHLESS_DETAIL_ALL(bulk_load), names, its, names.count));
    }

    // ---- one key; atomic ----
    /// The value of a key, if it is present.
    std::optional<Value> get(key_arg key) const { return value_if(LATCHLESS_OK, LATCHLESS_DETAIL(get), key_in(key)); }
    /// The value of a key. Throws a std::out_of_range if it is absent.
    Value at(key_arg key) const {
        if (auto its = get(key)) return *std::move(its);
        throw std::out_of_range("latchless: the key is absent");
    }
    /// Whether a key is present.
    bool contains(key_arg key) const { return call(LATCHLESS_DETAIL(contains_key), key_in(key)) == LATCHLESS_OK; }
    /// Inserts a key, or replaces its value. Returns whether the key was absent.
    bool insert(key_arg key, value_arg its) const {
        return call(LATCHLESS_DETAIL(insert), key_in(key), value_in(its), no_place()) == LATCHLESS_OK;
    }
    bool insert_or_assign(key_arg key, value_arg its) const { return insert(key, its); } ///< The same.
    /// Inserts a key, or replaces its value. Returns the value that was replaced.
    std::optional<Value> exchange(key_arg key, value_arg its) const {
        return value_if(LATCHLESS_PRESENT, LATCHLESS_DETAIL(insert), key_in(key), value_in(its));
    }
    /// Inserts a key unless it is present. Returns whether it was absent.
    bool try_emplace(key_arg key, value_arg its) const {
        return call(LATCHLESS_DETAIL(try_insert), key_in(key), value_in(its), no_place()) == LATCHLESS_OK;
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
    /// Removes a key. Returns how many were removed, 0 or 1.
    std::size_t erase(key_arg key) const { return call(LATCHLESS_DETAIL(remove), key_in(key), no_place()) == LATCHLESS_OK; }
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
        static_assert(are_words, "an index of these keys and values doesn't have this operation");
        return near(LATCHLESS_NEAREST, key);
    }
    /// The number of keys that are less than `key`.
    std::size_t rank(key_arg key) const { return counted(LATCHLESS_DETAIL(rank), key_in(key)); }
    /// The entry that has `position` entries before it.
    std::optional<entry_type> nth(std::size_t position) const { return entry_of(LATCHLESS_DETAIL(nth), position); }

    // ---- batches ----
    /// Looks up keys.
    template <class Keys> found_values<Value> get_many(const Keys &keys) const {
        const key_column names(keys);
        found_values<Value> got;
        got.found.resize(names.count);
        if constexpr (detail::is_string<Value>) {
            auto &[bytes, offsets] = got.values;
            offsets.resize(names.count + 1);
            bytes.resize(32 * names.count + 1);
            // Repeats the call until the values fit: other threads may store longer ones meanwhile.
            for (auto status = LATCHLESS_SMALL_ROOM; status == LATCHLESS_SMALL_ROOM;) {
                status = latchless_bytes_get_columns(this->handle(), names.get(), names.count, bytes.data(), bytes.size(),
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
    template <class Keys> std::size_t get_many(const Keys &keys, Value *values, std::uint8_t *found) const {
        static_assert(!detail::is_string<Value> && sizeof(Value) == sizeof(latchless::value), "values have 64 bits");
        return look_up(key_column(keys), reinterpret_cast<latchless::value *>(values), found);
    }
    /// Stores the i-th value under the i-th key. Returns how many keys were absent. A memory_error has the positions
    /// that were refused; a key or value that is too long is an argument_error; all others were inserted.
    template <class Keys, class Values> std::size_t insert_many(const Keys &keys, const Values &values) const {
        return this->inserted(LATCHLESS_DETAIL(insert_columns), key_column(keys), value_column(values));
    }
    /// Removes keys. Returns how many were present.
    template <class Keys> std::size_t remove_many(const Keys &keys) const {
        const key_column names(keys);
        return counted(LATCHLESS_DETAIL(remove_columns), names, names.count, nullptr, nullptr);
    }
    /// For each key, the entry near it. For keys and values of 64 bits.
    template <class Keys>
    std::vector<std::optional<entry_type>> near_many(latchless_near near, const Keys &keys) const {
        static_assert(are_words, "an index of these keys and values doesn't have this operation");
        const key_column names(keys);
        std::vector<std::uint64_t> near_keys(names.count), bits(names.count);
        std::vector<std::uint8_t> found(names.count);
        call(latchless_index_near_columns, near, names, names.count, near_keys.data(), bits.data(), found.data(), nullptr);
        std::vector<std::optional<entry_type>> got(names.count);
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (found[i]) got[i] = entry_type{detail::key_of<Key>(near_keys[i]), value_as<Value>(bits[i])};
        }
        return got;
    }
    /// For each key, how many keys are less. For keys and values of 64 bits.
    template <class Keys> std::vector<std::size_t> rank_many(const Keys &keys) const {
        static_assert(are_words, "an index of these keys and values doesn't have this operation");
        const key_column names(keys);
        std::vector<std::size_t> ranks(names.count);
        call(latchless_index_rank_columns, names, names.count, ranks.data());
        return ranks;
    }

    // ---- ranges: from `from` on, and before `to`, each if there is one ----
    /// The entries from a key on; the end if it is absent.
    const_iterator find(key_arg key) const {
        auto from = range(key);
        return from != const_iterator() && from->key == key ? from : const_iterator();
    }
    /// The entries from a key on, or from the next one if it is absent.
    const_iterator lower_bound(key_arg key) const { return range(key); }
    /// The entries after a key.
    const_iterator upper_bound(key_arg key) const {
        auto from = find(key);
        return from == const_iterator() ? range(key) : ++from;
    }
    /// The entries of a range, in a direction.
    const_iterator range(end_arg from, end_arg to = {}, direction way = direction::ascending) const {
        using source = typename stored::source;
        if constexpr (are_words) {
            const detail::bounds<Key, true> ends(from, to);
            if (ends.is_empty()) return {};
            latchless_index_cursor *to_c = nullptr;
            call(latchless_index_cursor_new, ends, way == direction::descending, &to_c);
            return const_iterator(std::make_shared<source>(to_c));
        } else {
            return const_iterator(std::make_shared<source>(cursor(), from, to, way, false));
        }
    }
    using base::count;
    std::size_t count(end_arg from) const { return count(from, {}); } ///< The number of entries from a key on.
    /// A cursor before the first entry. For byte strings as keys or values.
    cursor_type cursor() const {
        latchless_bytes_cursor *to = nullptr;
        call(latchless_bytes_cursor_new, &to);
        return cursor_type(to);
    }

private:
    using base::base;
    static options typed(options how) {
        if constexpr (are_words) how.key_kind = detail::kind_of<Key>();
        else how.value_kind = detail::is_string<Value> ? LATCHLESS_VALUE_BYTES : LATCHLESS_VALUE_WORD;
        return how;
    }
    /// The value that is a call's last answer, if its status is `there`.
    template <class Functions, class... Parameters>
    std::optional<Value> value_if(latchless_status there, Functions functions, const Parameters &...given) const {
        value_out to;
        return call(functions, given..., to) == there ? std::optional<Value>(to.get()) : std::nullopt;
    }
    template <class Functions, class... Parameters>
    bool compared(std::optional<Value> &expected, Functions functions, const Parameters &...given) const {
        value_out to;
        const auto status = call(functions, given..., to);
        if (status != LATCHLESS_OK) expected = status == LATCHLESS_MISMATCH ? std::optional<Value>(to.get()) : std::nullopt;
        return status == LATCHLESS_OK;
    }
    template <class Functions, class... Parameters>
    std::optional<entry_type> entry_of(Functions functions, const Parameters &...given) const {
        detail::out<Key, true, are_words> key;
        value_out its;
        if (call(functions, given..., key, its) == LATCHLESS_NOT_FOUND) return std::nullopt;
        return entry_type{key.get(), its.get()};
    }
    std::optional<entry_type> near(latchless_near near, key_arg key) const {
        return entry_of(LATCHLESS_DETAIL(near), near, key_in(key));
    }
    std::size_t look_up(const key_column &names, latchless::value *values, std::uint8_t *found) const {
        if constexpr (are_words) return counted(latchless_index_get_columns, names, names.count, values, found);
        else return counted(latchless_bytes_get_columns, names, names.count, values, 8 * names.count, nullptr, found);
    }
};

// ---- many values for a key -----------------------------------------------------------------------------

namespace detail {
template <class Key, class Value> using rows_source = cursor_source<Key, cursor<Key, Value, latchless_multi_cursor>>;
template <class Key, class Value>
using rows = whole<multi_index<Key, Value>, Key, iterator<rows_source<Key, Value>>, latchless_multi>;
} // namespace detail

/// An ordered index with any number of values for a key, each once, in ascending order: a secondary index. Values are
/// integers, enumerators, floating-point numbers or times.
template <class Key, class Value> class multi_index : public detail::rows<Key, Value> {
    static_assert(detail::is_word_key<Key> || detail::is_string<Key>, "a key is a number, an enumerator, a time or a string");
    static_assert(detail::is_word_key<Value>, "a value is a number, an enumerator or a time");
    using base = detail::rows<Key, Value>;
    friend base;
    using base::call, base::counted, base::made;
    using key_arg = detail::argument<Key>;
    using end_arg = std::optional<key_arg>;
    using source = detail::rows_source<Key, Value>;
    using key_in = detail::in<Key, true, false>;
    using row_in = detail::in<Value, true, true>;
    using key_column = detail::column<Key, true, false>;
    using row_column = detail::column<Value, true, true>;

public:
    using mapped_type = Value;                                                 ///< The type of values.
    using cursor_type = latchless::cursor<Key, Value, latchless_multi_cursor>; ///< A position that moves both ways.
    using const_iterator = typename base::const_iterator;                      ///< Pairs of a range.

    /// An empty index.
    explicit multi_index(const options &how = options()) : base(made(how, LATCHLESS_DETAIL_ALL(new))) {}
    /// An index of ascending and distinct pairs of the i-th key and the i-th value. Much faster than inserts.
    template <class Keys, class Values>
    static multi_index bulk_load(const Keys &keys, const Values &values, const options &how = options()) {
        const key_column names(keys);
        const row_column rows(values);
        detail::check_lengths(names, rows);
        return multi_index(made(how, LATCHLESS_DETAIL_ALL(bulk_load), names, rows, names.count));
    }
    /// Adds a value to a key. Returns whether it is new.
    bool insert(key_arg key, Value its) const {
        return call(latchless_multi_insert, key_in(key), row_in(its)) == LATCHLESS_OK;
    }
    /// Adds the i-th value to the i-th key. Returns how many are new; errors are those of index::insert_many().
    template <class Keys, class Values> std::size_t insert_many(const Keys &keys, const Values &values) const {
        return this->inserted(latchless_multi_insert_columns, key_column(keys), row_column(values));
    }
    /// Removes a value from a key. Returns how many were removed, 0 or 1.
    std::size_t erase(key_arg key, Value its) const {
        return call(latchless_multi_remove, key_in(key), row_in(its)) == LATCHLESS_OK;
    }
    /// Removes all values of a key, not atomically as a whole. Returns how many.
    std::size_t erase(key_arg key) const { return counted(latchless_multi_remove_all, key_in(key)); }
    /// Whether a key has any value.
    bool contains(key_arg key) const { return call(latchless_multi_contains_key, key_in(key)) == LATCHLESS_OK; }
    /// Whether a key has this value.
    bool contains(key_arg key, Value its) const {
        return call(latchless_multi_contains, key_in(key), row_in(its)) == LATCHLESS_OK;
    }
    /// The number of a key's values.
    std::size_t count(key_arg key) const { return counted(latchless_multi_count_rows, key_in(key)); }
    using base::count;
    /// The number of keys that have a value.
    std::size_t distinct_keys() const { return counted(latchless_multi_distinct_keys); }
    /// A copy of a key's values, in ascending order.
    std::vector<Value> values(key_arg key) const {
        std::vector<Value> all;
        for (const auto &found : equal_range(key)) all.push_back(found.value);
        return all;
    }

    /// The pairs of a key.
    const_iterator equal_range(key_arg key) const {
        return const_iterator(std::make_shared<source>(cursor(), end_arg(key), end_arg(), direction::ascending, true));
    }
    /// The pairs of a range of keys, in a direction.
    const_iterator range(end_arg from, end_arg to = {}, direction way = direction::ascending) const {
        return const_iterator(std::make_shared<source>(cursor(), from, to, way, false));
    }
    /// A cursor before the first pair.
    cursor_type cursor() const {
        latchless_multi_cursor *to = nullptr;
        call(latchless_multi_cursor_new, &to);
        return cursor_type(to);
    }

private:
    using base::base;
    static const options &typed(const options &how) { return how; }
};
#undef LATCHLESS_DETAIL_ALL
#undef LATCHLESS_DETAIL

} // namespace latchless

#endif
