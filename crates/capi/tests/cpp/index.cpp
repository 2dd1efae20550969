// index<Key>: random operations compared with std::map, batches, ranges, and moves.

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <type_traits>

#include "check.hpp"

namespace {

template <class Key>
Key key_of(std::uint64_t number) {
    if constexpr (std::is_same_v<Key, double>) {
        return (static_cast<double>(number) - 1000.0) / 8.0;
    } else if constexpr (std::is_same_v<Key, std::int64_t>) {
        return static_cast<std::int64_t>(number) - 1000;
    } else {
        return number;
    }
}

template <class Key>
using map = std::map<Key, latchless::value>;

template <class Key>
std::optional<latchless::entry<Key>> at(const map<Key> &model, typename map<Key>::const_iterator found) {
    if (found == model.end()) return std::nullopt;
    return latchless::entry<Key>{found->first, found->second};
}

template <class Key>
std::optional<latchless::entry<Key>> before(const map<Key> &model, typename map<Key>::const_iterator found) {
    if (found == model.begin()) return std::nullopt;
    return at(model, std::prev(found));
}

template <class Key>
void change(const latchless::index<Key> &index, map<Key> &model, std::mt19937_64 &random) {
    const Key key = key_of<Key>(random() % 2000);
    const latchless::value value = random();
    const auto there = model.find(key);
    const std::optional<latchless::value> old =
        there == model.end() ? std::nullopt : std::optional<latchless::value>(there->second);
    switch (random() % 7) {
    case 0: CHECK(index.insert(key, value) == old); model[key] = value; break;
    case 1: CHECK(index.try_insert(key, value) == old); model.emplace(key, value); break;
    case 2:
        CHECK(index.replace(key, value) == old);
        if (old) there->second = value;
        break;
    case 3: CHECK(index.remove(key) == old); model.erase(key); break;
    case 4: {
        std::optional<latchless::value> expected = random() % 2 ? old : std::optional<latchless::value>(1);
        const bool same = expected == old;
        CHECK(index.compare_exchange(key, expected, value) == same);
        if (same) model[key] = value;
        else CHECK(expected == old);
        break;
    }
    case 5: {
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

template <class Key>
void compare(const latchless::index<Key> &index, const map<Key> &model, std::mt19937_64 &random) {
    const Key key = key_of<Key>(random() % 2000);
    CHECK(index.contains(key) == (model.count(key) == 1));
    CHECK(index.ceiling(key) == at(model, model.lower_bound(key)));
    CHECK(index.higher(key) == at(model, model.upper_bound(key)));
    CHECK(index.floor(key) == before(model, model.upper_bound(key)));
    CHECK(index.lower(key) == before(model, model.lower_bound(key)));
    const auto below = index.floor(key), above = index.ceiling(key);
    const bool is_above = above && (!below || above->key - key < key - below->key);
    CHECK(index.nearest(key) == (is_above ? above : below));
    CHECK(index.size() == model.size() && index.empty() == model.empty());
    const auto rank = static_cast<std::size_t>(std::distance(model.begin(), model.lower_bound(key)));
    CHECK(index.rank(key) == rank);
    CHECK(index.nth(rank) == at(model, model.lower_bound(key)));
    Key low = key, high = key_of<Key>(random() % 2000);
    if (high < low) std::swap(low, high);
    const auto from = model.lower_bound(low), to = model.upper_bound(high);
    CHECK(index.count(low, high) == static_cast<std::size_t>(std::distance(from, to)));
    auto expected = from;
    index.for_each(low, high, [&](Key found, latchless::value value) {
        CHECK(expected != to && expected->first == found && expected->second == value);
        ++expected;
    });
    CHECK(expected == to);
}

template <class Key>
void beside_a_map() {
    const latchless::index<Key> index;
    map<Key> model;
    std::mt19937_64 random(7);
    for (int round = 0; round < 20000; ++round) {
        change(index, model, random);
        if (round % 20 == 0) compare(index, model, random);
    }
    index.check_invariants();
    CHECK(model.size() > 100);
}

template <class Key>
void batches() {
    std::vector<Key> keys, asked;
    std::vector<latchless::value> values;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        keys.push_back(key_of<Key>(2 * i));
        values.push_back(i);
        asked.push_back(key_of<Key>(i + 1));
    }
    const auto index = latchless::index<Key>::bulk_load(keys, values);
    const auto got = index.get(asked);
    CHECK(got.hits == 2500 && got.found[1] == 1 && got.values[1] == 1 && got.found[0] == 0);
    const auto floors = index.floor(asked);
    const auto ceilings = index.ceiling(asked);
    const auto lowers = index.lower(asked);
    const auto highers = index.higher(asked);
    const auto nearest = index.nearest(asked);
    const auto ranks = index.rank(asked);
    const auto counts = index.count(keys, keys);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        CHECK((latchless::entry<Key>{floors.keys[i], floors.values[i]} == index.floor(asked[i])));
        CHECK((latchless::entry<Key>{ceilings.keys[i], ceilings.values[i]} == index.ceiling(asked[i])));
        CHECK((latchless::entry<Key>{lowers.keys[i], lowers.values[i]} == index.lower(asked[i])));
        CHECK((latchless::entry<Key>{highers.keys[i], highers.values[i]} == index.higher(asked[i])));
        CHECK((latchless::entry<Key>{nearest.keys[i], nearest.values[i]} == index.nearest(asked[i])));
        CHECK(ranks[i] == index.rank(asked[i]) && counts[i] == 1);
    }
    CHECK(index.insert(asked, values) == 2500);
    CHECK(index.remove(keys).hits == 5000);
    CHECK(index.size() == 2500);
}

template <class Key>
void ranges() {
    latchless::index<Key> index;
    for (std::uint64_t i = 0; i < 3000; ++i) index.insert(key_of<Key>(i), i);
    const auto page = index.page(key_of<Key>(10), latchless::ends<Key>::highest(), 5);
    CHECK((page.values == std::vector<latchless::value>{10, 11, 12, 13, 14}));
    const auto back =
        index.page(latchless::ends<Key>::lowest(), key_of<Key>(10), 3, latchless::direction::descending);
    CHECK((back.keys == std::vector<Key>{key_of<Key>(10), key_of<Key>(9), key_of<Key>(8)}));
    CHECK(index.page(key_of<Key>(1), key_of<Key>(2), 0).keys.empty());
    std::map<Key, latchless::value> model;
    for (std::uint64_t i = 0; i < 3000; ++i) model.emplace(key_of<Key>(i), i);
    iterates(index, model);
    iterates(latchless::index<Key>(), std::map<Key, latchless::value>());
    CHECK(std::count_if(index.begin(), index.end(), [](const auto &entry) { return entry.value < 7; }) == 7);

    auto entry = index.begin();
    auto cursor = index.cursor(latchless::ends<Key>::lowest(), latchless::ends<Key>::highest(),
                               latchless::direction::descending);
    std::vector<latchless::value> seen;
    index = latchless::index<Key>(); // The cursor and the iterator outlive the index.
    CHECK(entry->value == 0 && (++entry)->value == 1);
    for (auto next = cursor.next(700); !next.keys.empty(); next = cursor.next(700)) {
        seen.insert(seen.end(), next.values.begin(), next.values.end());
    }
    CHECK(seen.size() == 3000 && std::is_sorted(seen.rbegin(), seen.rend()));
    CHECK(index.empty());
}

void moves() {
    static_assert(!std::is_copy_constructible_v<latchless::index<double>>);
    static_assert(!std::is_copy_assignable_v<latchless::index<double>>);
    static_assert(std::is_nothrow_move_constructible_v<latchless::index<double>>);
    static_assert(std::is_nothrow_move_assignable_v<latchless::index<double>>);
    static_assert(!std::is_copy_constructible_v<latchless::cursor<double>>);
    latchless::index<double> a, b;
    a.insert(1.5, 1);
    b.insert(2.5, 2);
    swap(a, b);
    CHECK(a.get(2.5) == 2 && b.get(1.5) == 1);
    latchless::index<double> c = std::move(a);
    CHECK(c.get(2.5) == 2 && a.handle() == nullptr);
    CHECK(throws<latchless::argument_error>(LATCHLESS_BAD_HANDLE, "the handle is NULL", [&] { a.insert(1, 1); }));
    a = std::move(c);
    CHECK(a.get(2.5) == 2);
    auto &same = a;
    a = std::move(same);
    CHECK(a.get(2.5) == 2);
}

void values() {
    struct small {
        float x;
        std::int16_t y;
    };
    CHECK(latchless::value_as<double>(latchless::bits_of(-1.25)) == -1.25);
    CHECK(latchless::value_as<std::int8_t>(latchless::bits_of(std::int8_t{-3})) == -3);
    const auto back = latchless::value_as<small>(latchless::bits_of(small{1.5f, -7}));
    CHECK(back.x == 1.5f && back.y == -7);
    const char *text = "there";
    CHECK(latchless::value_as<const char *>(latchless::bits_of(text)) == text);
}

void files(const std::string &path) {
    latchless::index<std::int64_t> index;
    for (std::int64_t key = -500; key < 500; ++key) index.insert(key, latchless::bits_of(2 * key));
    CHECK(index.save(path) == 1000);
    const auto again = latchless::index<std::int64_t>::open(path);
    CHECK(again.size() == 1000 && again.get(-7) == latchless::bits_of(std::int64_t{-14}));
    latchless::options options;
    options.fill = 1.0;
    options.threads = 2;
    const auto full = latchless::index<std::int64_t>::open(path, options);
    CHECK(full.stats().leaf_fill > 0.9);
    CHECK(std::remove(path.c_str()) == 0);
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 2);
    beside_a_map<std::uint64_t>();
    beside_a_map<std::int64_t>();
    beside_a_map<double>();
    batches<std::uint64_t>();
    batches<std::int64_t>();
    batches<double>();
    ranges<std::uint64_t>();
    ranges<std::int64_t>();
    ranges<double>();
    moves();
    values();
    files(arguments[1]);
    std::puts("index.cpp: all is well");
}
