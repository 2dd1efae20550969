// Errors as exceptions, exceptions of callbacks, and an exception that leaves a callback of C.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "check.hpp"
#include "latchless_bytes.hpp"

namespace {

struct stop {
    int at;
};

void errors() {
    latchless::index<double> index;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(throws<latchless::argument_error>(LATCHLESS_NAN, "latchless_f64_insert: key is NaN",
                                            [&] { index.insert(nan, 1); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_NAN, "keys[1] is NaN",
                                            [&] { index.get(std::vector<double>{1.0, nan}); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_INVERTED_RANGE, "low is above high",
                                            [&] { index.count(2.0, 1.0); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_INVALID, "2 keys, but 1 values",
                                            [&] { index.insert({1.0, 2.0}, {1}); }));
    CHECK(throws<latchless::argument_error>(LATCHLESS_UNSORTED, "position 1", [&] {
        latchless::index<double>::bulk_load({2.0, 1.0}, {1, 2});
    }));
    CHECK(throws<latchless::file_error>(LATCHLESS_IO, "/nowhere/index.arrow", [&] {
        latchless::index<double>::open("/nowhere/index.arrow");
    }));
    latchless::options options;
    options.kernel = 99;
    CHECK(throws<latchless::argument_error>(LATCHLESS_INVALID, "kernel is 99",
                                            [&] { latchless::index<double> none(options); }));
}

void memory() {
    latchless::options options;
    options.limit_bytes = 64 * 1024;
    const latchless::index<std::uint64_t> index(options);
    std::vector<std::uint64_t> keys(100000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i * 0x9E3779B97F4A7C15u;
    bool thrown = false;
    try {
        index.insert(keys, keys);
    } catch (const std::bad_alloc &error) {
        const auto &refusal = dynamic_cast<const latchless::memory_error &>(error);
        thrown = true;
        CHECK(refusal.status() == LATCHLESS_MEMORY_LIMIT);
        CHECK(std::string(error.what()).find("inserts were refused") != std::string::npos);
        CHECK(refusal.refused().size() == keys.size() - index.size());
        for (const auto at : refusal.refused()) CHECK(!index.contains(keys[at]));
    }
    CHECK(thrown && index.size() > 1000);
}

// The call throws the exception of its callback, and the index is unchanged.
void callbacks() {
    const latchless::index<std::int64_t> index;
    for (std::int64_t key = 0; key < 1000; ++key) index.insert(key, 0);
    int thrown = 0;
    try {
        index.for_each(0, 999, [](std::int64_t key, latchless::value) {
            if (key == 321) throw stop{static_cast<int>(key)};
        });
    } catch (const stop &stop) {
        thrown = stop.at;
    }
    CHECK(thrown == 321);
    std::size_t shown = 0;
    const bool to_the_end =
        index.scan_chunks(0, 999, [&](const std::int64_t *, const latchless::value *, std::size_t count) {
        shown += count;
        return shown < 500;
    });
    CHECK(!to_the_end && shown >= 500 && shown < 600);
    // A callback may use, change and scan the index.
    index.for_each(0, 99, [&](std::int64_t key, latchless::value) {
        index.replace(key, 1);
        index.for_each(key, key, [&](std::int64_t, latchless::value value) { CHECK(value == 1); });
    });
    index.check_invariants();
}

int throwing(const std::uint64_t *, const latchless_value *, std::size_t, void *) { throw stop{1}; }
int throwing_of_bytes(const void *, std::size_t, latchless_value, void *) { throw stop{1}; }

// An exception that leaves a callback of C ends the process; it doesn't unwind the library.
template <class F>
void ends_the_process(F call) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        std::signal(SIGABRT, SIG_DFL);
        if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
        try {
            call();
        } catch (...) {
            _exit(3);
        }
        _exit(4);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

void an_exception_ends_the_process() {
    const latchless::index<std::uint64_t> numbers;
    numbers.insert(1, 1);
    ends_the_process([&] { latchless_u64_scan_chunks(numbers.handle(), 0, 9, throwing, nullptr); });
    const latchless::bytes_index texts;
    texts.insert("a", 1);
    ends_the_process([&] { latchless_bytes_scan_prefix(texts.handle(), "a", 1, throwing_of_bytes, nullptr); });
}

} // namespace

int main() {
    errors();
    memory();
    callbacks();
    an_exception_ends_the_process();
    std::puts("exceptions.cpp: all is well");
}
