// bytes_index: random operations compared with std::map, batches, ranges, cursors, moves, and exceptions.

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <type_traits>

#include "check.hpp"
#include "latchless_bytes.hpp"

namespace {

using map = std::map<std::string, latchless::value>;
using entry = std::optional<latchless::bytes_entry>;

// Random keys of few different bytes, 0 and 255 included; some are long, and many have a common prefix.
std::string key_of(std::mt19937_64 &random) {
    static const std::string bytes("\0a\xFF", 3);
    std::string key(random() % 40 == 0 ? 300 : 0, 'l');
    for (auto left = random() % 8; left > 0; --left) key.push_back(bytes[random() % 3]);
    return key;
}

entry at(const map &model, map::const_iterator found) {
    if (found == model.end()) return std::nullopt;
    return latchless::bytes_entry{found->first, found->second};
}

entry before(const map &model, map::const_iterator found) {
    if (found == model.begin()) return std::nullopt;
    return at(model, std::prev(found));
}

void change(const latchless::bytes_index &index, map &model, std::mt19937_64 &random) {
    const std::string key = key_of(random);
    const latchless::value value = random();
    const auto there = model.find(key);
    const auto old = there == model.end() ? std::nullopt : std::optional<latchless::value>(there->second);
    switch (random() % 8) {
    case 0:
    case 1: CHECK(index.insert(key, value) == old); model[key] = value; break;
    case 2: CHECK(index.try_insert(key, value) == old); model.emplace(key, value); break;
    case 3:
        CHECK(index.replace(key, value) == old);
        if (old) there->second = value;
        break;
    case 4: CHECK(index.remove(key) == old); model.erase(key); break;
    case 5: {
        std::optional<latchless::value> expected = random() % 2 ? old : std::optional<latchless::value>(1);
        const bool same = expected == old;
        CHECK(index.compare_exchange(key, expected, value) == same);
        if (same) model[key] = value;
        else CHECK(expected == old);
        break;
    }
    case 6: {
        std::optional<latchless::value> expected = old ? *old : 1;
        CHECK(index.compare_remove(key, expected) == old.has_value());
        CHECK(old || !expected);
        model.erase(key);
        break;
    }
    default:
        if (random() % 20 == 0) {
            const auto first = at(model, model.cbegin());
            CHECK(index.pop_first() == first);
            if (first) model.erase(first->key);
            const auto last = before(model, model.cend());
            CHECK(index.pop_last() == last);
            if (last) model.erase(last->key);
        }
    }
}

// The keys from `begin` on and before `end`.
void compare_range(const latchless::bytes_index &index, const map &model, const std::string &begin,
                   const std::optional<std::string> &end) {
    const std::optional<std::string_view> end_view = end ? std::optional<std::string_view>(*end) : std::nullopt;
    const auto from = model.lower_bound(begin), to = end ? model.lower_bound(*end) : model.end();
    CHECK(index.count(begin, end_view) == static_cast<std::size_t>(std::distance(from, to)));
    auto expected = from;
    index.for_each(begin, end_view, [&](std::string_view key, latchless::value value) {
        CHECK(expected != to && expected->first == key && expected->second == value);
        ++expected;
    });
    CHECK(expected == to);
    CHECK(index.scan(
        begin, end_view,
        [&](std::string_view key, latchless::value value) {
            --expected;
            CHECK(expected->first == key && expected->second == value);
            return true;
        },
        latchless::direction::descending));
    CHECK(expected == from);
}

void compare(const latchless::bytes_index &index, const map &model, std::mt19937_64 &random) {
    const std::string key = key_of(random);
    CHECK(index.contains(key) == (model.count(key) == 1));
    CHECK(index.ceiling(key) == at(model, model.lower_bound(key)));
    CHECK(index.higher(key) == at(model, model.upper_bound(key)));
    CHECK(index.floor(key) == before(model, model.upper_bound(key)));
    CHECK(index.lower(key) == before(model, model.lower_bound(key)));
    CHECK(index.first() == at(model, model.begin()) && index.last() == before(model, model.end()));
    CHECK(index.size() == model.size() && index.empty() == model.empty());
    std::string begin = key, end = key_of(random);
    if (end < begin) std::swap(begin, end);
    compare_range(index, model, begin, end);
    compare_range(index, model, begin, std::nullopt);
    auto expected = model.lower_bound(key);
    index.for_each_prefix(key, [&](std::string_view found, latchless::value value) {
        CHECK(expected != model.end() && expected->first == found && expected->second == value);
        ++expected;
    });
    CHECK(expected == model.end() || expected->first.compare(0, key.size(), key) != 0);
}

void beside_a_map() {
    const latchless::bytes_index index;
    map model;
    std::mt19937_64 random(7);
    for (int round = 0; round < 20000; ++round) {
        change(index, model, random);
        if (round % 50 == 0) compare(index, model, random);
    }
    index.check_invariants();
    CHECK(model.size() > 100);
    CHECK(index.remove_range("a", "b") + index.size() == model.size());
    index.clear();
    CHECK(index.empty() && !index.first() && !index.pop_first());
}

template <class Keys>
void batches(const Keys &half, const Keys &asked, const std::vector<latchless::value> &values) {
    const auto index = latchless::bytes_index::bulk_load(half, values);
    CHECK(index.size() == half.size() && index.stats().leaf_fill > 0.5 && index.memory_bytes() > 10000);
    const auto got = index.get(asked);
    CHECK(got.hits == half.size() && got.found[0] == 1 && got.found[1] == 0);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(got.values[2 * i] == values[i]);
    CHECK(index.insert(asked, got.values) == asked.size() - half.size());
    CHECK(index.remove(half).hits == half.size());
    CHECK(index.size() == asked.size() - half.size());
    index.check_invariants();
}

void batches() {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < 6000; ++i) texts.push_back("https://example.org/" + std::to_string(10000 + i));
    std::vector<std::string_view> half, asked(texts.begin(), texts.end());
    latchless::packed_keys packed_half, packed_asked;
    std::vector<latchless::value> values;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        packed_asked.push_back(asked[i]);
        if (i % 2) continue;
        half.push_back(asked[i]);
        packed_half.push_back(asked[i]);
        values.push_back(3 * i);
    }
    batches(half, asked, values);
    batches(packed_half, packed_asked, values);
}

void cursors() {
    latchless::bytes_index index;
    for (const auto key : {"a", "b", "d"}) index.insert(key, latchless::bits_of(key[0]));
    iterates(index, std::map<std::string, latchless::value>{{"a", 'a'}, {"b", 'b'}, {"d", 'd'}});
    iterates(latchless::bytes_index(), std::map<std::string, latchless::value>());
    auto cursor = index.cursor();
    CHECK(!cursor.current() && !cursor.prev());
    CHECK(cursor.next()->key == "a" && cursor.next()->value == 'b');
    CHECK(cursor.seek("c")->key == "d" && cursor.seek_for_prev("c")->key == "b");
    CHECK(!cursor.seek("e") && !cursor.next() && cursor.prev()->key == "d" && cursor.current()->key == "d");
    CHECK(cursor.seek_first()->key == "a" && cursor.seek_last()->key == "d");
    index = latchless::bytes_index(); // The cursor outlives the index.
    CHECK(cursor.seek_first()->key == "a");
    auto other = std::move(cursor);
    CHECK(other.next()->key == "b");
    CHECK(throws<latchless::argument_error>(LATCHLESS_BAD_HANDLE, "the handle is NULL", [&] { cursor.next(); }));
}

void moves() {
    static_assert(!std::is_copy_constructible_v<latchless::bytes_index>);
    static_assert(!std::is_copy_assignable_v<latchless::bytes_index>);
    static_assert(std::is_nothrow_move_constructible_v<latchless::bytes_index>);
    static_assert(std::is_nothrow_move_assignable_v<latchless::bytes_index>);
    static_assert(!std::is_copy_constructible_v<latchless::bytes_cursor>);
    latchless::bytes_index a, b;
    a.insert("a", 1);
    b.insert(std::string(1000, 'b'), 2);
    swap(a, b);
    CHECK(a.first() == (latchless::bytes_entry{std::string(1000, 'b'), 2}) && b.get("a") == 1);
    latchless::bytes_index c = std::move(a);
    CHECK(c.size() == 1 && a.handle() == nullptr);
    CHECK(throws<latchless::argument_error>(LATCHLESS_BAD_HANDLE, "the handle is NULL", [&] { a.insert("a", 1); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_BAD_HANDLE, "the handle is NULL", [&] { a.first(); }));
    a = std::move(c);
    CHECK(a.size() == 1);
}

void errors() {
    const latchless::bytes_index index;
    const std::string longest(LATCHLESS_KEY_MAX + 1, 'k');
    CHECK(throws<latchless::argument_error>(LATCHLESS_KEY_TOO_LONG, "latchless_bytes_insert: the key has 65536 bytes",
                                            [&] { index.insert(longest, 1); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_KEY_TOO_LONG, "the first at position 1", [&] {
        index.insert(std::vector<std::string_view>{"a", longest, "b"}, {1, 2, 3});
    }));
    CHECK(index.size() == 2 && !index.get(longest));
    CHECK(throws<latchless::argument_error>(LATCHLESS_INVERTED_RANGE, "begin is after end",
                                            [&] { index.count("b", "a"); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_INVALID, "1 keys, but 2 values", [&] {
        index.insert(std::vector<std::string_view>{"a"}, {1, 2});
    }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_DUPLICATE, "position 1", [&] {
        latchless::bytes_index::bulk_load(std::vector<std::string_view>{"a", "a"}, {1, 2});
    }));
    latchless::options options;
    options.limit_bytes = 32 * 1024;
    const latchless::bytes_index small(options);
    latchless::packed_keys keys;
    for (int i = 0; i < 5000; ++i) keys.push_back(std::to_string(i * 7919 % 5000));
    try {
        small.insert(keys, std::vector<latchless::value>(keys.size()));
        CHECK(false); // A batch that is too large is refused.
    } catch (const latchless::memory_error &error) {
        CHECK(error.status() == LATCHLESS_MEMORY_LIMIT);
        CHECK(error.refused().size() == keys.size() - small.size() && small.size() > 300);
    }
}

// The call throws the exception of its callback, and callbacks may use and change the index.
void callbacks() {
    const latchless::bytes_index index;
    for (int i = 1000; i < 2000; ++i) index.insert(std::to_string(i), 0);
    std::string thrown;
    try {
        index.for_each_prefix("13", [](std::string_view key, latchless::value) {
            if (key == "1321") throw std::string(key);
        });
    } catch (const std::string &key) {
        thrown = key;
    }
    CHECK(thrown == "1321");
    thrown.clear();
    try {
        index.scan("1", "2", [](std::string_view key, latchless::value) -> bool { throw std::string(key); },
                    latchless::direction::descending);
    } catch (const std::string &key) {
        thrown = key;
    }
    CHECK(thrown == "1999");
    int shown = 0;
    CHECK(!index.scan("1", std::nullopt, [&](std::string_view, latchless::value) { return ++shown < 500; }));
    CHECK(shown == 500);
    index.for_each("1", "11", [&](std::string_view key, latchless::value) {
        index.replace(key, 1);
        index.for_each_prefix(key, [&](std::string_view same, latchless::value value) {
            CHECK(same == key && value == 1);
        });
    });
    index.check_invariants();
}

} // namespace

static void files(const std::string &path) {
    latchless::bytes_index pages;
    for (int i = 0; i < 1000; i++) pages.insert(std::to_string(i * 7919 % 1000), static_cast<latchless::value>(i));
    CHECK(pages.save(path) == 1000);
    const auto again = latchless::bytes_index::open(path);
    CHECK(again.size() == 1000 && again.get("919") == pages.get("919"));
}

int main(int, char **arguments) {
    files(arguments[1]);
    beside_a_map();
    batches();
    cursors();
    moves();
    errors();
    callbacks();
    std::puts("bytes.cpp: all is well");
}
