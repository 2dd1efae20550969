// multi_index<Key, Value> compared with a std::map of sets, and the names of std::map that index has.

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "check.hpp"

namespace {

template <class T>
T made(std::uint64_t number) {
    if constexpr (std::is_same_v<T, std::string>) {
        std::string text;
        for (auto left = number; left > 0; left /= 3) text.push_back("\0a\xFF"[left % 3]);
        return text;
    } else if constexpr (std::is_unsigned_v<T>) {
        return static_cast<T>(number);
    } else {
        return static_cast<T>(number) - T(20);
    }
}

template <class Key, class Value>
struct beside_a_map {
    using index_type = latchless::multi_index<Key, Value>;
    using map = std::map<Key, std::set<Value>>;
    index_type index;
    map model;
    std::size_t pairs = 0;

    void change(std::mt19937_64 &random) {
        const Key key = made<Key>(random() % 60);
        const Value value = made<Value>(random() % 40);
        const auto there = model.find(key);
        const bool has = there != model.end() && there->second.count(value) > 0;
        CHECK(index.contains(key, value) == has && index.contains(key) == (there != model.end()));
        switch (random() % 8) {
        case 0: case 1: case 2: case 3:
            CHECK(index.insert(key, value) == !has);
            pairs += model[key].insert(value).second;
            break;
        case 4: {
            if (random() % 10 != 0) break;
            const std::size_t values = there == model.end() ? 0 : there->second.size();
            CHECK(index.erase(key) == values);
            model.erase(key);
            pairs -= values;
            break;
        }
        default:
            CHECK(index.erase(key, value) == (has ? 1 : 0));
            if (!has) break;
            --pairs;
            there->second.erase(value);
            if (there->second.empty()) model.erase(key);
        }
    }

    void compare() const {
        CHECK(index.size() == pairs && index.empty() == model.empty() && index.distinct_keys() == model.size());
        auto found = index.begin();
        for (const auto &[key, values] : model) {
            CHECK(index.count(key) == values.size());
            const auto all = index.values(key);
            CHECK(std::equal(all.begin(), all.end(), values.begin(), values.end()));
            auto own = index.equal_range(key);
            for (const auto value : values) {
                CHECK(found != index.end() && found->key == key && found->value == value);
                CHECK(own != own.end() && own->key == key && own->value == value);
                ++found;
                ++own;
            }
            CHECK(own == own.end());
        }
        CHECK(found == index.end());
        auto back = index.rbegin();
        for (auto at = model.rbegin(); at != model.rend(); ++at) {
            for (auto value = at->second.rbegin(); value != at->second.rend(); ++value, ++back) {
                CHECK(back != index.rend() && back->key == at->first && back->value == *value);
            }
        }
        CHECK(back == index.rend());
        const Key low = made<Key>(7), high = made<Key>(50);
        std::size_t within = 0, seen = 0, reversed = 0;
        for (auto at = model.lower_bound(std::min(low, high)); at != model.lower_bound(std::max(low, high)); ++at) within += at->second.size();
        for (const auto &pair : index.range(std::min(low, high), std::max(low, high))) seen += pair.key < std::max(low, high);
        for (const auto &pair : index.range(std::min(low, high), std::max(low, high), latchless::direction::descending)) {
            reversed += !(pair.key < std::min(low, high));
        }
        CHECK(seen == within && reversed == within && index.count(std::min(low, high), std::max(low, high)) == within);
        index.check_invariants();
    }

    static void run(const std::string &path) {
        beside_a_map both;
        std::mt19937_64 random(7);
        for (int round = 0; round < 6000; ++round) {
            both.change(random);
            if (round % 600 == 0) both.compare();
        }
        both.compare();
        CHECK(both.pairs > 200 && both.index.stats().entries == both.pairs && both.index.memory_bytes() > 1000);
        std::vector<Key> keys;
        std::vector<Value> values;
        for (const auto &[key, own] : both.model) {
            for (const auto value : own) {
                keys.push_back(key);
                values.push_back(value);
            }
        }
        beside_a_map loaded{index_type::bulk_load(keys, values), both.model, both.pairs};
        loaded.compare();
        CHECK(both.index.save(path) == both.pairs);
        loaded.index = index_type::open(path);
        loaded.compare();
        const index_type inserted;
        CHECK(inserted.insert_many(keys, values) == both.pairs && inserted.insert_many(keys, values) == 0);
        auto cursor = inserted.cursor();
        CHECK(cursor.seek_last()->key == keys.back() && cursor.seek(keys[0])->value == values[0] && !cursor.prev());
        CHECK(inserted.remove_range(keys[0], {}) == both.pairs && !inserted.contains(keys[0]));
        both.index.clear();
        CHECK(both.index.empty() && both.index.begin() == both.index.end());
    }
};

void prefixes_and_moves() {
    latchless::multi_index<std::string> by_city;
    for (const auto city : {"Ulm", "Bonn", "Ulm", "Bochum"}) by_city.insert(city, by_city.size());
    CHECK(by_city.values("Ulm") == (std::vector<std::uint64_t>{0, 2}));
    std::size_t seen = 0;
    for (const auto &[city, row] : by_city.prefix("Bo")) seen += row + city.size();
    CHECK(seen == 1 + 4 + 3 + 6);
    auto moved = std::move(by_city);
    CHECK(moved.size() == 4 && by_city.handle() == nullptr);
    static_assert(!std::is_copy_constructible_v<latchless::multi_index<double>>);
    CHECK(throws<latchless::argument_error>(LATCHLESS_BAD_HANDLE, "latchless_multi_insert: the handle is NULL", [&] { by_city.insert("a", 1); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_KEY_TOO_LONG, "65536 bytes", [&] {
        moved.insert(std::string(LATCHLESS_KEY_MAX + 1, 'k'), 1);
    }));
    const latchless::multi_index<double, double> doubles;
    CHECK(doubles.insert(-1.5, 0.5) && doubles.insert(-1.5, -0.5) && doubles.insert(-2, 7) && !doubles.insert(-2, 7));
    CHECK(doubles.begin()->key == -2 && doubles.values(-1.5) == (std::vector<double>{-0.5, 0.5}));
}

// The names that std::map has, too.
template <class Key, class Value>
void names_of_map() {
    const latchless::index<Key, Value> index;
    std::map<Key, Value> model;
    for (std::uint64_t i = 20; i < 60; i += 2) {
        const Key key = made<Key>(i);
        const Value value = made<Value>(i);
        CHECK(index.try_emplace(key, value) && !index.try_emplace(key, made<Value>(1)));
        model.emplace(key, value);
    }
    for (std::uint64_t i = 0; i < 70; ++i) {
        const Key key = made<Key>(i);
        const auto found = model.find(key), lower = model.lower_bound(key), upper = model.upper_bound(key);
        CHECK((index.find(key) == index.end()) == (found == model.end()));
        CHECK((index.lower_bound(key) == index.end()) == (lower == model.end()));
        CHECK((index.upper_bound(key) == index.end()) == (upper == model.end()));
        if (found != model.end()) CHECK(index.find(key)->value == found->second && index.at(key) == found->second);
        if (lower != model.end()) CHECK(index.lower_bound(key)->key == lower->first);
        if (upper != model.end()) CHECK(index.upper_bound(key)->key == upper->first);
        CHECK(index.rank(key) == static_cast<std::size_t>(std::distance(model.begin(), lower)));
    }
    CHECK(index.nth(3)->key == std::next(model.begin(), 3)->first && !index.nth(20));
    CHECK(std::equal(index.rbegin(), index.rend(), model.rbegin(), [](const auto &a, const auto &b) { return a.key == b.first; }));
    const Key key = made<Key>(20);
    CHECK(!index.insert_or_assign(key, made<Value>(3)) && index.at(key) == made<Value>(3));
    CHECK(index.erase(key) == 1 && index.erase(key) == 0 && index.count(made<Key>(21)) <= index.size());
    bool thrown = false;
    try {
        index.at(key);
    } catch (const std::out_of_range &) {
        thrown = true;
    }
    CHECK(thrown);
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 2);
    beside_a_map<std::string, std::uint64_t>::run(arguments[1]);
    beside_a_map<std::int32_t, std::int16_t>::run(arguments[1]);
    beside_a_map<double, float>::run(arguments[1]);
    prefixes_and_moves();
    names_of_map<std::uint64_t, double>();
    names_of_map<std::string, std::string>();
    names_of_map<std::int64_t, std::string>();
    std::puts("multi.cpp: all is well");
}
