// kv_index: random operations compared with std::map, batches, cursors, moves, and exceptions.

#include <iterator>
#include <map>
#include <random>
#include <type_traits>

#include "check.hpp"
#include "latchless_kv.hpp"

namespace {

using map = std::map<std::string, std::string>;
using entry = std::optional<latchless::kv_entry>;
using value = std::optional<std::string>;

// Random strings of few different bytes, 0 and 255 included; some are long, and many have a common prefix.
std::string string_of(std::mt19937_64 &random) {
    static const std::string bytes("\0a\xFF", 3);
    std::string string(random() % 40 == 0 ? 300 : 0, 'l');
    for (auto left = random() % 8; left > 0; --left) string.push_back(bytes[random() % 3]);
    return string;
}

entry at(const map &model, map::const_iterator found) {
    if (found == model.end()) return std::nullopt;
    return latchless::kv_entry{found->first, found->second};
}

entry before(const map &model, map::const_iterator found) {
    if (found == model.begin()) return std::nullopt;
    return at(model, std::prev(found));
}

void change(const latchless::kv_index &index, map &model, std::mt19937_64 &random) {
    const std::string key = string_of(random), next = string_of(random);
    const auto there = model.find(key);
    const value old = there == model.end() ? std::nullopt : value(there->second);
    switch (random() % 8) {
    case 0: CHECK(index.insert(key, next) == !old); model[key] = next; break;
    case 1: CHECK(index.exchange(key, next) == old); model[key] = next; break;
    case 2: CHECK(index.try_insert(key, next) == old); model.emplace(key, next); break;
    case 3:
        CHECK(index.replace(key, next) == old);
        if (old) there->second = next;
        break;
    case 4: CHECK(index.remove(key) == old); model.erase(key); break;
    case 5: {
        value expected = random() % 2 ? old : value("other");
        const bool same = expected == old;
        CHECK(index.compare_exchange(key, expected, next) == same);
        if (same) model[key] = next;
        else CHECK(expected == old);
        break;
    }
    case 6: {
        value expected = old ? *old : "other";
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

void compare(const latchless::kv_index &index, const map &model, std::mt19937_64 &random) {
    std::string key = string_of(random), end = string_of(random);
    const auto there = model.find(key);
    CHECK(index.get(key) == (there == model.end() ? std::nullopt : value(there->second)));
    CHECK(index.contains(key) == (there != model.end()));
    CHECK(index.ceiling(key) == at(model, model.lower_bound(key)));
    CHECK(index.higher(key) == at(model, model.upper_bound(key)));
    CHECK(index.floor(key) == before(model, model.upper_bound(key)));
    CHECK(index.lower(key) == before(model, model.lower_bound(key)));
    CHECK(index.first() == at(model, model.begin()) && index.last() == before(model, model.end()));
    CHECK(index.size() == model.size() && index.empty() == model.empty());
    auto expected = model.lower_bound(key);
    index.for_each_prefix(key, [&](std::string_view found, std::string_view its) {
        CHECK(expected != model.end() && expected->first == found && expected->second == its);
        ++expected;
    });
    CHECK(expected == model.end() || expected->first.compare(0, key.size(), key) != 0);
    if (end < key) std::swap(key, end);
    const auto from = model.lower_bound(key), to = model.lower_bound(end);
    CHECK(index.count(key, end) == static_cast<std::size_t>(std::distance(from, to)));
    expected = to;
    CHECK(index.scan(
        key, end,
        [&](std::string_view found, std::string_view its) {
            --expected;
            CHECK(expected->first == found && expected->second == its);
            return true;
        },
        latchless::direction::descending));
    CHECK(expected == from);
    auto cursor = index.cursor();
    auto on = cursor.seek(key);
    for (expected = model.lower_bound(key); on && expected != model.end(); on = cursor.next(), ++expected) {
        CHECK(on->key == expected->first && on->value == expected->second);
    }
    CHECK(!on && expected == model.end());
}

void beside_a_map() {
    const latchless::kv_index index;
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

template <class Strings>
void batches(const Strings &half, const Strings &values, const Strings &asked, const std::vector<std::string> &texts) {
    const auto index = latchless::kv_index::bulk_load(half, values);
    CHECK(index.size() == half.size() && index.stats().leaf_fill > 0.5 && index.memory_bytes() > 10000);
    auto got = index.get(asked);
    CHECK(got.hits == half.size() && got.size() == asked.size() && !got[1]);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(got[2 * i] == texts[i]);
    CHECK(index.insert(asked, asked) == asked.size() - half.size());
    got = index.get(asked);
    CHECK(got.hits == asked.size() && got[1] == std::string("https://example.org/10001"));
    CHECK(index.remove(half) == half.size());
    CHECK(index.size() == asked.size() - half.size());
    index.check_invariants();
}

void batches() {
    std::vector<std::string> texts, more;
    for (std::size_t i = 0; i < 6000; ++i) texts.push_back("https://example.org/" + std::to_string(10000 + i));
    std::vector<std::string_view> half, values, asked(texts.begin(), texts.end());
    latchless::packed_keys packed_half, packed_values, packed_asked;
    for (std::size_t i = 0; i < asked.size(); i += 2) more.push_back(std::string(i % 270, static_cast<char>(i)));
    for (std::size_t i = 0; i < asked.size(); ++i) {
        packed_asked.push_back(asked[i]);
        if (i % 2) continue;
        half.push_back(asked[i]);
        packed_half.push_back(asked[i]);
        values.push_back(more[i / 2]);
        packed_values.push_back(more[i / 2]);
    }
    batches(half, values, asked, more);
    batches(packed_half, packed_values, packed_asked, more);
    CHECK(latchless::kv_index().get(std::vector<std::string_view>()).hits == 0);
}

void moves() {
    static_assert(!std::is_copy_constructible_v<latchless::kv_index>);
    static_assert(std::is_nothrow_move_constructible_v<latchless::kv_index>);
    static_assert(std::is_nothrow_move_assignable_v<latchless::kv_cursor>);
    latchless::kv_index a, b;
    a.insert("a", "1");
    b.insert(std::string(1000, 'b'), std::string(60000, 'c'));
    swap(a, b);
    CHECK(a.first() == (latchless::kv_entry{std::string(1000, 'b'), std::string(60000, 'c')}) && b.get("a") == "1");
    latchless::kv_index c = std::move(a);
    CHECK(c.size() == 1 && a.handle() == nullptr);
    CHECK(throws<latchless::argument_error>(LATCHLESS_BAD_HANDLE, "the handle is NULL", [&] { a.insert("a", "1"); }));
    auto cursor = b.cursor();
    b.insert("b", std::string(60000, 'd'));
    iterates(b, std::map<std::string, std::string>{{"a", "1"}, {"b", std::string(60000, 'd')}});
    b.remove("b");
    b = std::move(c); // The cursor outlives the index.
    CHECK(cursor.seek_first()->value == "1" && !cursor.next() && cursor.prev()->key == "a" && !cursor.seek("b"));
}

void errors() {
    const latchless::kv_index index;
    const std::string longest(LATCHLESS_VALUE_MAX + 1, 'v');
    CHECK(throws<latchless::argument_error>(LATCHLESS_VALUE_TOO_LONG, "latchless_kv_insert: ",
                                            [&] { index.insert("a", longest); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_VALUE_TOO_LONG, "the first at position 1", [&] {
        index.insert(std::vector<std::string_view>{"a", "b", "c"}, {"1", longest, "3"});
    }));
    CHECK(index.size() == 2 && !index.get("b"));
    CHECK(throws<latchless::argument_error>(LATCHLESS_INVALID, "1 keys, but 2 values", [&] {
        index.insert(std::vector<std::string_view>{"a"}, {"1", "2"});
    }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_DUPLICATE, "position 1", [&] {
        latchless::kv_index::bulk_load(std::vector<std::string_view>{"a", "a"}, {"1", "2"});
    }));
    latchless::options options;
    options.limit_bytes = 64 * 1024;
    const latchless::kv_index small(options);
    latchless::packed_keys keys;
    for (int i = 0; i < 5000; ++i) keys.push_back(std::to_string(i * 7919 % 5000));
    try {
        small.insert(keys, keys);
        CHECK(false); // A batch that is too large is refused.
    } catch (const latchless::memory_error &error) {
        CHECK(error.status() == LATCHLESS_MEMORY_LIMIT);
        CHECK(error.refused().size() == keys.size() - small.size() && small.size() > 300);
    }
    std::string thrown;
    try {
        index.for_each("", std::nullopt, [](std::string_view key, std::string_view) { throw std::string(key); });
    } catch (const std::string &key) {
        thrown = key;
    }
    CHECK(thrown == "a");
}

void files(const std::string &path) {
    latchless::kv_index pages;
    for (int i = 0; i < 1000; i++) {
        pages.insert(std::to_string(i * 7919 % 1000), std::string(static_cast<std::size_t>(i), 'p'));
    }
    pages.insert("", std::string(LATCHLESS_VALUE_MAX, 'v'));
    CHECK(pages.save(path) == 1001);
    const auto again = latchless::kv_index::open(path);
    again.check_invariants();
    CHECK(again.size() == 1001 && again.get("") == pages.get(""));
    again.for_each("", std::nullopt, [&](std::string_view key, std::string_view page) {
        CHECK(pages.get(key) == std::string(page));
    });
    latchless::options options;
    options.limit_bytes = 64 * 1024;
    CHECK(throws<latchless::memory_error>(LATCHLESS_MEMORY_LIMIT, "latchless_kv_open: ",
                                          [&] { latchless::kv_index::open(path, options); }));
    CHECK(throws<latchless::file_error>(LATCHLESS_BAD_FILE, "the file has the value type bytes",
                                        [&] { latchless::bytes_index::open(path); }));
    latchless::bytes_index().save(path);
    CHECK(throws<latchless::file_error>(LATCHLESS_BAD_FILE, "the file has the value type uint64",
                                        [&] { latchless::kv_index::open(path); }));
    CHECK(latchless::kv_index().save(path) == 0 && latchless::kv_index::open(path).empty());
}

} // namespace

int main(int, char **arguments) {
    files(arguments[1]);
    beside_a_map();
    batches();
    moves();
    errors();
    std::puts("kv.cpp: all is well");
}
