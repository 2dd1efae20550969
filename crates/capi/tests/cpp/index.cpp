// index<Key, Value> for keys and values of each kind: random operations compared with std::map, batches, ranges,
// cursors, files, and moves.

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <map>
#include <random>
#include <type_traits>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "check.hpp"

namespace {

enum class level : std::int16_t {};
using microseconds = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

// A value of two members, one of them with a fraction.
struct point {
    float x;
    std::int16_t y;
    friend bool operator==(const point &a, const point &b) { return a.x == b.x && a.y == b.y; }
};

// The key or value of a number from 0 to 1999, on both sides of zero where there are two. Strings have few different
// bytes, zero and 255 included; some are long, and many have a common prefix.
template <class T>
T made(std::uint64_t number) {
    const auto centred = static_cast<std::int64_t>(number) - 1000;
    if constexpr (std::is_same_v<T, std::string>) {
        static const std::string bytes("\0a\xFF", 3);
        std::string string(number % 40 == 0 ? 300 : 0, 'l');
        for (auto left = number; left > 0; left /= 3) string.push_back(bytes[left % 3]);
        return string;
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(centred) / 8;
    } else if constexpr (latchless::detail::is_time<T>) {
        return T(typename T::duration(centred));
    } else if constexpr (std::is_same_v<T, point>) {
        return point{static_cast<float>(centred) / 8, static_cast<std::int16_t>(centred)};
    } else {
        return static_cast<T>(std::is_unsigned_v<T> ? static_cast<std::int64_t>(number) : centred);
    }
}

template <class Key, class Value>
struct beside_a_map {
    using index_type = latchless::index<Key, Value>;
    using map = std::map<Key, Value>;
    using entry = std::optional<latchless::entry<Key, Value>>;
    index_type index;
    map model;
    std::mt19937_64 random{7};

    Key any_key() { return made<Key>(random() % 2000); }
    Value any_value() { return made<Value>(random() % 2000); }
    entry at(typename map::const_iterator found) const {
        return found == model.end() ? std::nullopt : entry({found->first, found->second});
    }
    entry before(typename map::const_iterator found) const {
        return found == model.begin() ? std::nullopt : at(std::prev(found));
    }

    void change() {
        const Key key = any_key();
        const Value value = any_value();
        const auto there = model.find(key);
        const auto old = there == model.end() ? std::nullopt : std::optional<Value>(there->second);
        switch (random() % 8) {
        case 0: CHECK(index.insert(key, value) == !old); model[key] = value; break;
        case 1: CHECK(index.exchange(key, value) == old); model[key] = value; break;
        case 2: CHECK(index.try_insert(key, value) == old); model.emplace(key, value); break;
        case 3:
            CHECK(index.replace(key, value) == old);
            if (old) there->second = value;
            break;
        case 4: CHECK(index.remove(key) == old); model.erase(key); break;
        case 5: {
            auto expected = random() % 2 ? old : std::optional<Value>(any_value());
            const bool same = expected == old;
            CHECK(index.compare_exchange(key, expected, value) == same);
            if (same) model[key] = value;
            else CHECK(expected == old);
            break;
        }
        case 6: {
            std::optional<Value> expected = old ? *old : value;
            CHECK(index.compare_remove(key, expected) == old.has_value());
            CHECK(old || !expected);
            model.erase(key);
            break;
        }
        default:
            if (random() % 20 != 0) break;
            const auto first = at(model.cbegin());
            CHECK(index.pop_first() == first);
            if (first) model.erase(first->key);
            const auto last = before(model.cend());
            CHECK(index.pop_last() == last);
            if (last) model.erase(last->key);
        }
    }

    void compare_range(const std::optional<Key> &low, const std::optional<Key> &high) const {
        const auto from = low ? model.lower_bound(*low) : model.begin();
        const auto to = high ? model.lower_bound(*high) : model.end();
        CHECK(index.count(low, high) == static_cast<std::size_t>(std::distance(from, to)));
        auto expected = from;
        for (const auto &[key, value] : index.range(low, high)) {
            CHECK(expected != to && key == expected->first && value == expected->second);
            ++expected;
        }
        CHECK(expected == to);
        for (const auto &[key, value] : index.range(low, high, latchless::direction::descending)) {
            CHECK(expected != from);
            --expected;
            CHECK(key == expected->first && value == expected->second);
        }
        CHECK(expected == from);
    }

    void compare() {
        Key key = any_key(), end = any_key();
        const auto there = model.find(key);
        CHECK(index.get(key) == (there == model.end() ? std::nullopt : std::optional<Value>(there->second)));
        CHECK(index.contains(key) == (there != model.end()));
        const auto lower = model.lower_bound(key), upper = model.upper_bound(key);
        CHECK(index.ceiling(key) == at(lower) && index.higher(key) == at(upper));
        CHECK(index.floor(key) == before(upper) && index.lower(key) == before(lower));
        CHECK(index.first() == at(model.begin()) && index.last() == before(model.end()));
        CHECK(index.size() == model.size() && index.empty() == model.empty());
        if (end < key) std::swap(key, end);
        compare_range(key, end);
        compare_range(key, key);
        compare_range(key, std::nullopt);
        compare_range(std::nullopt, end);
        compare_range(std::nullopt, std::nullopt);
    }

    // All entries, by columns and by a file.
    void copies(const std::string &path) const {
        std::vector<Key> keys;
        std::vector<Value> values;
        for (const auto &[key, value] : model) {
            keys.push_back(key);
            values.push_back(value);
        }
        const auto loaded = index_type::bulk_load(keys, values);
        const auto got = loaded.get_many(keys);
        CHECK(got.hits == keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) CHECK(got[i] == values[i]);
        CHECK(loaded.stats().entries == keys.size() && loaded.memory_bytes() > 10000);
        CHECK(loaded.save(path) == keys.size());
        const auto opened = index_type::open(path);
        opened.check_invariants();
        iterates(opened, model);
        const index_type inserted;
        CHECK(inserted.insert_many(keys, values) == keys.size());
        iterates(inserted, model);
        CHECK(inserted.remove_range(keys[3], keys[9]) == 6 && inserted.remove_many(keys) == keys.size() - 6);
        CHECK(inserted.empty() && !inserted.first() && !inserted.pop_last());
        CHECK(loaded.get_many(std::vector<Key>()).hits == 0);
    }

    static void run(const std::string &path) {
        beside_a_map both;
        for (int round = 0; round < 15000; ++round) {
            both.change();
            if (round % 150 == 0) both.compare();
        }
        both.index.check_invariants();
        both.index.shrink();
        both.compare();
        {
            const auto kept = both.index.begin();
            bool is_refused = false;
            try {
                both.index.shrink(1.0);
            } catch (const latchless::argument_error &error) {
                is_refused = error.status() == LATCHLESS_BUSY;
            }
            CHECK(is_refused && kept != both.index.end());
        }
        both.index.shrink(1.0);
        both.index.check_invariants();
        both.compare();
        CHECK(both.model.size() > 100);
        both.copies(path);
        both.index.clear();
        CHECK(both.index.empty());
        iterates(both.index, map());
    }
};

// What only keys and values of 64 bits have.
template <class Key>
void positions() {
    std::vector<Key> keys, asked;
    std::vector<latchless::value> values;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        keys.push_back(static_cast<Key>(i) * 2 - 5000);
        values.push_back(i);
        asked.push_back(static_cast<Key>(i) - 4997);
    }
    if (std::is_unsigned_v<Key>) std::sort(asked.begin(), asked.end());
    const auto index = latchless::index<Key>::bulk_load(std::is_unsigned_v<Key> ? asked : keys, values);
    const auto &there = std::is_unsigned_v<Key> ? asked : keys;
    const auto ranks = index.rank_many(asked);
    for (const auto near : {LATCHLESS_FLOOR, LATCHLESS_CEILING, LATCHLESS_LOWER, LATCHLESS_HIGHER, LATCHLESS_NEAREST}) {
        const auto entries = index.near_many(near, asked);
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const auto one = near == LATCHLESS_FLOOR     ? index.floor(asked[i])
                             : near == LATCHLESS_CEILING ? index.ceiling(asked[i])
                             : near == LATCHLESS_LOWER   ? index.lower(asked[i])
                             : near == LATCHLESS_HIGHER  ? index.higher(asked[i])
                                                         : index.nearest(asked[i]);
            CHECK(entries[i] == one);
            CHECK(ranks[i] == index.rank(asked[i]));
            CHECK(ranks[i] == static_cast<std::size_t>(std::lower_bound(there.begin(), there.end(), asked[i]) - there.begin()));
        }
    }
    CHECK(index.nth(7)->value == 7 && !index.nth(5000));
}

void nearest() {
    const latchless::index<double> index;
    index.insert(-0.0, 7);
    index.insert(1, 1);
    CHECK(index.get(0.0) == 7 && !std::signbit(index.first()->key));
    CHECK(index.nearest(0.4)->key == 0 && index.nearest(0.6)->key == 1 && index.nearest(0.5)->key == 0);
    CHECK(index.nearest(-3)->key == 0 && index.rank(1) == 1 && index.nth(1)->key == 1);
    const double infinity = std::numeric_limits<double>::infinity();
    index.insert(infinity, 2);
    index.insert(-infinity, 3);
    CHECK(index.count({}) == 4 && index.count(-infinity, infinity) == 3 && index.count({}, -infinity) == 0);
}

// Columns: containers, pointers with lengths, packed strings, and memory of the caller's for the values.
void columns() {
    const std::uint64_t keys[] = {1, 2, 3};
    const latchless::index<std::uint64_t, double> prices;
    CHECK(prices.insert_many(keys, std::array<double, 3>{1.5, 2.5, 3.5}) == 3);
    const latchless::view<std::uint64_t> asked{keys + 1, 2};
    double values[] = {0, 0};
    std::uint8_t found[] = {7, 7};
    CHECK(prices.remove(3) == 3.5 && prices.get_many(asked, values, found) == 1);
    CHECK(values[0] == 2.5 && values[1] == 0 && found[0] == 1 && found[1] == 0);
    CHECK(prices.get_many(std::initializer_list<std::uint64_t>{1, 9}).hits == 1);
#if __cplusplus >= 202002L
    CHECK(prices.get_many(std::span(keys)).hits == 2 && prices.remove_many(std::span(keys).first(1)) == 1);
#endif

    latchless::packed names, texts;
    for (int i = 1000; i < 7000; ++i) {
        names.push_back("https://example.org/" + std::to_string(i));
        texts.push_back(std::string(static_cast<std::size_t>(i % 270), 't'));
    }
    const auto pages = latchless::index<std::string, std::string>::bulk_load(names, texts);
    const auto got = pages.get_many(names);
    CHECK(got.hits == names.size() && got.values.bytes == texts.bytes && got.values.offsets == texts.offsets);
    const std::string_view other[] = {"https://example.org/1001", "nowhere"};
    CHECK(pages.get_many(other)[0] == texts[1] && !pages.get_many(other)[1] && pages.remove_many(other) == 1);
    const latchless::index<std::string, std::int32_t> numbers;
    CHECK(numbers.insert_many(other, std::array<std::int32_t, 2>{-1, 5}) == 2 && numbers.get("nowhere") == 5);
    std::vector<std::string> strings{"nowhere"};
    CHECK(numbers.get_many(strings).values[0] == 5);
}

void prefixes() {
    const latchless::index<std::string, int> index;
    int number = 0;
    for (const auto key : {"", "a", "ab", "ab\xFF", "ab\xFF\xFFz", "ac", "\xFF", "\xFF\xFF"}) index.insert(key, number++);
    const auto count = [&](std::string_view start) {
        int seen = 0, back = 0;
        for (const auto &found : index.prefix(start)) {
            CHECK(found.key.substr(0, start.size()) == start);
            ++seen;
        }
        for (const auto &found : index.prefix(start, latchless::direction::descending)) back += found.value >= 0;
        CHECK(seen == back);
        return seen;
    };
    CHECK(count("") == 8 && count("a") == 5 && count("ab") == 3 && count("ab\xFF") == 2 && count("\xFF") == 2);
    CHECK(count("b") == 0 && count("\xFF\xFF\xFF") == 0);
}

void cursors() {
    latchless::index<std::string, char> index;
    for (const auto key : {"a", "b", "d"}) index.insert(key, key[0]);
    auto cursor = index.cursor();
    CHECK(!cursor.current() && !cursor.prev());
    CHECK(cursor.next()->key == "a" && cursor.next()->value == 'b');
    CHECK(cursor.seek("c")->key == "d" && cursor.seek_for_prev("c")->key == "b");
    CHECK(!cursor.seek("e") && !cursor.next() && cursor.prev()->key == "d" && cursor.current()->key == "d");
    CHECK(cursor.seek_first()->key == "a" && cursor.seek_last()->key == "d");
    auto entry = index.begin();
    index = latchless::index<std::string, char>(); // The cursor and the iterator outlive the index.
    CHECK(cursor.seek_first()->key == "a" && entry->key == "a" && (++entry)->key == "b");
    auto other = std::move(cursor);
    CHECK(other.next()->key == "b");
    CHECK(throws<latchless::argument_error>(LATCHLESS_BAD_HANDLE, "the handle is NULL", [&] { cursor.next(); }));

    latchless::index<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 3000; ++i) numbers.insert(i, i);
    auto back = numbers.range({}, 2900, latchless::direction::descending);
    CHECK(std::count_if(numbers.begin(), numbers.end(), [](const auto &found) { return found.value < 7; }) == 7);
    numbers = latchless::index<std::uint64_t>();
    std::uint64_t expected = 2900;
    for (const auto &found : back) CHECK(found.key == --expected);
    CHECK(expected == 0 && numbers.empty());
}

void moves() {
    using index = latchless::index<std::string, std::string>;
    static_assert(!std::is_copy_constructible_v<index> && !std::is_copy_assignable_v<index>);
    static_assert(std::is_nothrow_move_constructible_v<index> && std::is_nothrow_move_assignable_v<index>);
    static_assert(!std::is_copy_constructible_v<index::cursor_type>);
    index a, b;
    a.insert("a", "1");
    b.insert(std::string(1000, 'b'), std::string(60000, 'c'));
    std::swap(a, b);
    CHECK(a.first()->value == std::string(60000, 'c') && b.get("a") == "1");
    index c = std::move(a);
    CHECK(c.size() == 1 && a.handle() == nullptr);
    CHECK(throws<latchless::argument_error>(LATCHLESS_BAD_HANDLE, "the handle is NULL", [&] { a.insert("a", "1"); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_BAD_HANDLE, "the handle is NULL", [&] { a.first(); }));
    a = std::move(c);
    CHECK(a.size() == 1);
    latchless::index<double> d;
    d.insert(1.5, 1);
    auto &same = d;
    d = std::move(same);
    CHECK(d.get(1.5) == 1);
    const char *text = "there";
    CHECK(latchless::value_as<const char *>(latchless::bits_of(text)) == text);
}

// Files: the types of both columns are those of the index.
void files(const std::string &path) {
    using pages = latchless::index<std::string, std::string>;
    using numbers = latchless::index<std::string, std::uint64_t>;
    const latchless::index<microseconds, int> times;
    times.insert(microseconds(std::chrono::microseconds(-7)), 7);
    CHECK(times.save(path) == 1);
    CHECK((latchless::index<std::int64_t, int>::open(path).get(-7) == 7));
    CHECK(throws<latchless::file_error>(LATCHLESS_BAD_FILE, "timestamp[us]", [&] {
        latchless::index<std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>, int>::open(path);
    }));
    CHECK(throws<latchless::file_error>(LATCHLESS_BAD_FILE, "", [&] { numbers::open(path); }));
    pages full;
    full.insert("", std::string(LATCHLESS_VALUE_MAX, 'v'));
    for (int i = 0; i < 1000; i++) full.insert(std::to_string(i), std::string(static_cast<std::size_t>(i), 'p'));
    CHECK(full.save(path) == 1001 && pages::open(path).get("") == full.get(""));
    latchless::options options;
    options.limit_bytes = 64 * 1024;
    CHECK(throws<latchless::memory_error>(LATCHLESS_MEMORY_LIMIT, "latchless_bytes_open: ",
                                          [&] { pages::open(path, options); }));
    CHECK(throws<latchless::file_error>(LATCHLESS_BAD_FILE, "the file has the value type bytes",
                                        [&] { numbers::open(path); }));
    CHECK(numbers().save(path) == 0);
    CHECK(throws<latchless::file_error>(LATCHLESS_BAD_FILE, "the file has the value type uint64", [&] { pages::open(path); }));
    CHECK(std::remove(path.c_str()) == 0);
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 2);
    const std::string path = arguments[1];
    beside_a_map<std::uint64_t, std::uint64_t>::run(path);
    beside_a_map<level, double>::run(path);
    beside_a_map<double, std::int32_t>::run(path);
    beside_a_map<float, point>::run(path);
    beside_a_map<std::chrono::system_clock::time_point, std::int8_t>::run(path);
    beside_a_map<std::string, bool>::run(path);
    beside_a_map<std::string, std::string>::run(path);
    beside_a_map<std::int64_t, std::string>::run(path);
    beside_a_map<double, std::string>::run(path);
    positions<std::uint64_t>();
    positions<std::int64_t>();
    positions<double>();
    nearest();
    columns();
    prefixes();
    cursors();
    moves();
    files(path);
    std::puts("index.cpp: all is well");
}
