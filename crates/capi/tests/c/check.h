/* What the tests in C share: a check that says where it failed. */
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

/* A call that comes to a status; a failure's message must name the function, and say `about`. */
#define REFUSED(call, status, function, about)                                                    \
    do {                                                                                          \
        CHECK((call) == (status));                                                                \
        CHECK(strncmp(latchless_last_error(), function ": ", strlen(function ": ")) == 0);        \
        CHECK(strstr(latchless_last_error(), about) != NULL);                                     \
    } while (0)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
