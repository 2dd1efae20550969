// Threads share an index: each increments counters, and batches run beside writers.

#include <atomic>
#include <thread>

#include "check.hpp"

namespace {

constexpr std::size_t THREADS = 4;
constexpr std::uint64_t COUNTERS = 97, ROUNDS = 5000;

// Increments a value by compare_exchange().
void add(const latchless::index<std::uint64_t> &index, std::uint64_t key) {
    std::optional<latchless::value> seen = index.get(key);
    while (!index.compare_exchange(key, seen, seen.value_or(0) + 1)) {
    }
}

void counters() {
    const latchless::index<std::uint64_t> index;
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < THREADS; ++thread) {
        threads.emplace_back([&index] {
            for (std::uint64_t round = 0; round < ROUNDS; ++round) add(index, round % COUNTERS);
        });
    }
    for (auto &thread : threads) thread.join();
    latchless::value total = 0;
    index.for_each(0, COUNTERS, [&](std::uint64_t, latchless::value value) { total += value; });
    CHECK(total == THREADS * ROUNDS && index.size() == COUNTERS);
}

// Readers find every key that a writer has inserted, in batches and by single calls, beside other writers.
void readers_and_writers() {
    const latchless::index<double> index;
    std::atomic<std::size_t> written{0};
    std::atomic<bool> done{false};
    std::thread writer([&] {
        std::vector<double> keys(100);
        std::vector<latchless::value> values(100);
        for (std::size_t start = 0; start < 50000; start += keys.size()) {
            for (std::size_t i = 0; i < keys.size(); ++i) {
                keys[i] = static_cast<double>((start + i) * 7919 % 50000) - 25000.0;
                values[i] = latchless::bits_of(keys[i]);
            }
            CHECK(index.insert(keys, values) == keys.size());
            written.store(start + keys.size(), std::memory_order_release);
        }
        done.store(true);
    });
    std::vector<std::thread> readers;
    for (std::size_t thread = 0; thread < THREADS; ++thread) {
        readers.emplace_back([&] {
            while (!done.load()) {
                const std::size_t there = written.load(std::memory_order_acquire);
                std::vector<double> keys;
                for (std::size_t i = there < 300 ? 0 : there - 300; i < there; ++i) {
                    keys.push_back(static_cast<double>(i * 7919 % 50000) - 25000.0);
                }
                const auto found = index.get(keys);
                CHECK(found.hits == keys.size());
                for (std::size_t i = 0; i < keys.size(); ++i) {
                    CHECK(latchless::value_as<double>(found.values[i]) == keys[i]);
                    CHECK(index.floor(keys[i]) == (latchless::entry<double>{keys[i], found.values[i]}));
                }
            }
        });
    }
    writer.join();
    for (auto &reader : readers) reader.join();
    index.check_invariants();
    CHECK(index.size() == 50000);
}

} // namespace

int main() {
    counters();
    readers_and_writers();
    std::puts("threads.cpp: all is well");
}
