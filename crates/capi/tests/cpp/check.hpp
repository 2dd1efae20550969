// What the tests in C++ share: checks that say where they failed.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <string>

#include "latchless.hpp"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                     \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

// Whether `work` throws an Error with this status, whose message says `about`.
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

#endif
