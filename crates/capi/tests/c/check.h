/* Checks for the tests in C, which print where they failed. */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latchless.h"

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: not so: %s\n  last error: %s\n", __FILE__, __LINE__,          \
                    #condition, latchless_last_error());                                          \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* Checks the status of a call that fails, and that its message names the function and contains `about`. */
#define REFUSED(call, status, function, about)                                                    \
    do {                                                                                          \
        CHECK((call) == (status));                                                                \
        CHECK(strncmp(latchless_last_error(), function ": ", strlen(function ": ")) == 0);        \
        CHECK(strstr(latchless_last_error(), about) != NULL);                                     \
    } while (0)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
