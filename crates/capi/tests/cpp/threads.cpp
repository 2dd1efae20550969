// Threads share an index: each increments counters, and readers run beside a writer.

#include <atomic>
#include <thread>

#include "check.hpp"

namespace {

constexpr std::size_t THREADS = 4, COUNTERS = 97, ROUNDS = 5000, KEYS = 20000;

// The i-th key, in an order that isn't ascending.
template <class Key>
Key key_of(std::size_t i) {
    if constexpr (std::is_same_v<Key, std::string>) return "user/" + std::to_string(i * 7919 % KEYS) + "/name";
    else return static_cast<Key>(i * 7919 % KEYS) - 1000;
}

template <class Key>
void counters() {
    const latchless::index<Key> index;
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < THREADS; ++thread) {
        threads.emplace_back([&index] {
            for (std::size_t round = 0; round < ROUNDS; ++round) {
                const Key key = key_of<Key>(round % COUNTERS);
                auto seen = index.get(key);
                while (!index.compare_exchange(key, seen, seen.value_or(0) + 1)) {
                }
            }
        });
    }
    for (auto &thread : threads) thread.join();
    latchless::value total = 0;
    for (const auto &counter : index) total += counter.value;
    CHECK(total == THREADS * ROUNDS && index.size() == COUNTERS);
}

// Readers find every key that the writer has inserted: in batches, by single calls, as neighbours, and in ranges.
template <class Key>
void readers_and_a_writer() {
    const latchless::index<Key> index;
    std::atomic<std::size_t> written{0};
    std::thread writer([&] {
        for (std::size_t start = 0; start < KEYS; start += 100) {
            std::vector<Key> keys;
            std::vector<latchless::value> values;
            for (std::size_t i = start; i < start + 100; ++i) {
                keys.push_back(key_of<Key>(i));
                values.push_back(i);
            }
            CHECK(index.insert_many(keys, values) == 100);
            written.store(start + 100, std::memory_order_release);
        }
    });
    std::vector<std::thread> readers;
    for (std::size_t thread = 0; thread < THREADS; ++thread) {
        readers.emplace_back([&] {
            for (std::size_t there = 0; there < KEYS;) {
                there = written.load(std::memory_order_acquire);
                std::vector<Key> keys;
                const std::size_t first = there < 300 ? 0 : there - 300;
                for (std::size_t i = first; i < there; ++i) keys.push_back(key_of<Key>(i));
                const auto found = index.get_many(keys);
                CHECK(found.hits == keys.size());
                for (std::size_t i = first; i < there; i += 7) {
                    const Key &key = keys[i - first];
                    CHECK(found.values[i - first] == i && index.get(key) == i);
                    CHECK(index.floor(key) == (latchless::entry<Key>{key, i}));
                    const auto seen = index.range(key);
                    CHECK(seen->key == key && seen->value == i);
                }
            }
        });
    }
    writer.join();
    for (auto &reader : readers) reader.join();
    index.check_invariants();
    CHECK(index.size() == KEYS);
}

} // namespace

int main() {
    counters<std::uint64_t>();
    counters<std::string>();
    readers_and_a_writer<double>();
    readers_and_a_writer<std::string>();
    std::puts("threads.cpp: all is well");
}
