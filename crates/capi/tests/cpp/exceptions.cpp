// Errors as exceptions, and an exception that leaves a callback of C.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "check.hpp"

namespace {

using numbers = latchless::index<std::uint64_t>;
using doubles = latchless::index<double>;
using pages = latchless::index<std::string, std::string>;
using strings = std::vector<std::string>;

template <class F>
bool is_refused(latchless_status status, const char *about, F &&work) {
    return throws<latchless::argument_error>(status, about, work);
}

void errors() {
    const doubles index;
    CHECK(is_refused(LATCHLESS_NAN, "latchless_index_insert: key is NaN", [&] { index.insert(NAN, 1); }));
    CHECK(is_refused(LATCHLESS_NAN, "keys[1] is NaN", [&] { index.get_many(std::vector<double>{1.0, NAN}); }));
    CHECK(is_refused(LATCHLESS_NAN, "low is NaN", [&] { index.count(NAN, 1.0); }));
    CHECK(is_refused(LATCHLESS_INVERTED_RANGE, "low is above high", [&] { index.range(2.0, 1.0); }));
    CHECK(is_refused(LATCHLESS_INVERTED_RANGE, "low is above high", [] { numbers().count(5, 0); }));
    CHECK(is_refused(LATCHLESS_INVALID, "2 keys, but 1 values", [&] {
        index.insert_many(std::vector<double>{1, 2}, std::vector<latchless::value>{1});
    }));
    CHECK(is_refused(LATCHLESS_UNSORTED, "position 1", [&] {
        doubles::bulk_load(std::vector<double>{2, 1}, std::vector<latchless::value>{1, 2});
    }));
    CHECK(throws<latchless::file_error>(LATCHLESS_IO, "/nowhere/index.arrow", [&] { doubles::open("/nowhere/index.arrow"); }));
    latchless::options options;
    options.kernel = 99;
    CHECK(is_refused(LATCHLESS_INVALID, "kernel is 99", [&] { doubles none(options); }));
    std::optional<latchless::value> nothing;
    CHECK(is_refused(LATCHLESS_INVALID, "nothing", [&] { index.compare_remove(1, nothing); }));
    CHECK(index.empty());
}

// Two indexes share a limit.
void budgets() {
    const latchless::budget shared(1 << 20);
    latchless::options options;
    options.budget = shared.handle();
    options.huge_pages = 0;
    const numbers one(options);
    const latchless::multi_index<double> other(options);
    CHECK(throws<latchless::memory_error>(LATCHLESS_MEMORY_LIMIT, "", [&] {
        for (std::uint64_t i = 0;; ++i) one.insert(i, i), other.insert(static_cast<double>(i), i);
    }));
    CHECK(shared.taken_bytes() == one.memory_bytes() + other.memory_bytes() && one.size() > 5000);
}

void errors_of_strings() {
    const pages index;
    const std::string longest(LATCHLESS_VALUE_MAX + 1, 'v');
    CHECK(is_refused(LATCHLESS_VALUE_TOO_LONG, "latchless_bytes_insert: ", [&] { index.insert("a", longest); }));
    CHECK(is_refused(LATCHLESS_KEY_TOO_LONG, "the key has 65536 bytes", [&] { index.insert(longest, "a"); }));
    CHECK(is_refused(LATCHLESS_VALUE_TOO_LONG, "the first at position 1", [&] {
        index.insert_many(strings{"a", "b", "c"}, strings{"1", longest, "3"});
    }));
    CHECK(index.size() == 2 && !index.get("b") && !index.get(longest));
    CHECK(is_refused(LATCHLESS_INVERTED_RANGE, "begin is after end", [&] { index.count("b", "a"); }));
    CHECK(is_refused(LATCHLESS_DUPLICATE, "position 1", [&] { pages::bulk_load(strings{"a", "a"}, strings{"1", "2"}); }));
    const latchless::index<double, std::string> names;
    CHECK(is_refused(LATCHLESS_NAN, "NaN", [&] { names.insert(NAN, "a"); }));
    CHECK(is_refused(LATCHLESS_NAN, "NaN", [&] { names.insert_many(std::vector<double>{1, NAN}, strings{"a", "b"}); }));
    CHECK(names.empty());
}

// A batch that is too large: the positions that were refused, and no others, weren't inserted.
template <class Key, class Value>
void memory(const std::vector<Key> &keys, const std::vector<Value> &values) {
    latchless::options options;
    options.limit_bytes = 64 * 1024;
    const latchless::index<Key, Value> index(options);
    bool thrown = false;
    try {
        index.insert_many(keys, values);
    } catch (const std::bad_alloc &error) {
        const auto &refusal = dynamic_cast<const latchless::memory_error &>(error);
        thrown = true;
        CHECK(refusal.status() == LATCHLESS_MEMORY_LIMIT);
        CHECK(std::string(error.what()).find("inserts were refused") != std::string::npos);
        CHECK(refusal.refused().size() == keys.size() - index.size());
        for (const auto at : refusal.refused()) CHECK(!index.contains(keys[at]));
    }
    CHECK(thrown && index.size() > 300);
}

void memory() {
    std::vector<std::uint64_t> keys;
    strings texts;
    for (std::uint64_t i = 0; i < 20000; ++i) {
        keys.push_back(i * 0x9E3779B97F4A7C15u);
        texts.push_back(std::to_string(i * 7919 % 20000));
    }
    memory(keys, keys);
    memory(texts, texts);
}

struct stop {
    int at;
};
int throwing(const std::uint64_t *, const latchless_value *, std::size_t, void *) { throw stop{1}; }
int throwing_of_bytes(const void *, std::size_t, const void *, std::size_t, void *) { throw stop{1}; }

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
    const numbers index;
    index.insert(1, 1);
    ends_the_process([&] { latchless_index_scan_chunks(index.handle(), 0, 9, throwing, nullptr); });
    const pages texts;
    texts.insert("a", "b");
    ends_the_process([&] { latchless_bytes_scan_prefix(texts.handle(), "a", 1, throwing_of_bytes, nullptr); });
}

} // namespace

int main() {
    errors();
    budgets();
    errors_of_strings();
    memory();
    an_exception_ends_the_process();
    std::puts("exceptions.cpp: all is well");
}
