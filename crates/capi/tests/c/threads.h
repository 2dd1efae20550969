/* Threads for tests. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>

#include "check.h"

enum { THREADS = 4 };

/* Runs `work` in every thread, with the thread's number, and `beside`, unless it is NULL, in one more. */
static void together(void *(*work)(void *), void *(*beside)(void *)) {
    pthread_t threads[THREADS + 1];
    size_t i;
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) == 0);
    }
    if (beside) CHECK(pthread_create(&threads[THREADS], NULL, beside, NULL) == 0);
    for (i = 0; i < THREADS + (beside ? 1u : 0u); i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

/* The sum of one number per thread. */
static size_t sum(const size_t *counts) {
    size_t i, all = 0;
    for (i = 0; i < THREADS; i++) all += counts[i];
    return all;
}

#endif
