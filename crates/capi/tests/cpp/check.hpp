// Checks for the tests in C++, which print where they failed.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <string>
#if __cplusplus >= 202002L
#include <ranges>
#endif

#include "latchless.hpp"

#define CHECK(...)                                                                                           \
    do {                                                                                                     \
        if (!(__VA_ARGS__)) {                                                                                \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__);                   \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

// Whether `work` throws an Error with this status, whose message contains `about`.
template <class Error, class F>
bool throws(latchless_status status, const char *about, F &&work) {
    try {
        work();
    } catch (const Error &error) {
        const bool right = error.status() == status && std::string(error.what()).find(about) != std::string::npos;
        if (!right) std::fprintf(stderr, "thrown: %d, %s\n", static_cast<int>(error.status()), error.what());
        return right;
    }
    return false;
}

// Checks that a loop over an index passes the entries of a std::map, in their order.
template <class Index, class Model>
void iterates(const Index &index, const Model &model) {
#if __cplusplus >= 202002L
    static_assert(std::ranges::input_range<const Index &>);
#endif
    auto expected = model.begin();
    for (const auto &[key, value] : index) {
        CHECK(expected != model.end() && key == expected->first && value == expected->second);
        ++expected;
    }
    CHECK(expected == model.end());
}

#endif
