// Threads share a bytes_index: each increments counters, and readers run beside a writer.

#include <atomic>
#include <thread>

#include "check.hpp"
#include "latchless_bytes.hpp"

namespace {

constexpr std::size_t THREADS = 4, COUNTERS = 97, ROUNDS = 5000, KEYS = 20000;

// Increments a value by compare_exchange().
void add(const latchless::bytes_index &index, const std::string &key) {
    std::optional<latchless::value> seen = index.get(key);
    while (!index.compare_exchange(key, seen, seen.value_or(0) + 1)) {
    }
}

void counters() {
    const latchless::bytes_index index;
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < THREADS; ++thread) {
        threads.emplace_back([&index] {
            for (std::size_t round = 0; round < ROUNDS; ++round) {
                add(index, "counter " + std::to_string(round % COUNTERS));
            }
        });
    }
    for (auto &thread : threads) thread.join();
    latchless::value total = 0;
    index.for_each_prefix("counter ", [&](std::string_view, latchless::value value) { total += value; });
    CHECK(total == THREADS * ROUNDS && index.size() == COUNTERS);
}

std::string key_of(std::size_t i) { return "user/" + std::to_string(i * 7919 % KEYS) + "/name"; }

// Readers find every key that the writer has inserted: in batches, by single calls, as neighbours, and by cursors.
void readers_and_a_writer() {
    const latchless::bytes_index index;
    std::atomic<std::size_t> written{0};
    std::thread writer([&] {
        for (std::size_t start = 0; start < KEYS; start += 100) {
            latchless::packed_keys keys;
            std::vector<latchless::value> values;
            for (std::size_t i = start; i < start + 100; ++i) {
                keys.push_back(key_of(i));
                values.push_back(i);
            }
            CHECK(index.insert(keys, values) == 100);
            written.store(start + 100, std::memory_order_release);
        }
    });
    std::vector<std::thread> readers;
    for (std::size_t thread = 0; thread < THREADS; ++thread) {
        readers.emplace_back([&] {
            for (std::size_t there = 0; there < KEYS;) {
                there = written.load(std::memory_order_acquire);
                latchless::packed_keys keys;
                const std::size_t first = there < 300 ? 0 : there - 300;
                for (std::size_t i = first; i < there; ++i) keys.push_back(key_of(i));
                const auto found = index.get(keys);
                CHECK(found.hits == keys.size());
                auto cursor = index.cursor();
                for (std::size_t i = first; i < there; i += 7) {
                    const std::string key = key_of(i);
                    CHECK(found.values[i - first] == i && index.get(key) == i);
                    CHECK(index.floor(key) == (latchless::bytes_entry{key, i}));
                    const auto seen = cursor.seek(key);
                    CHECK(seen && seen->key == key && seen->value == i);
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
    counters();
    readers_and_a_writer();
    std::puts("bytes_threads.cpp: all is well");
}
