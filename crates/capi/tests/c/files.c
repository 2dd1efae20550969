/* Saves keep permissions, follow symbolic links, and refuse FIFOs and folders, for any user. */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char path[4096];

/* A path in this test's folder. */
static const char *at(const char *folder, const char *name) {
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    return path;
}

static void empty_folder(const char *folder) {
    static const char *const names[] = {"index.arrow", "target", "link", "fifo", "folder"};
    size_t i;
    for (i = 0; i < COUNT(names); i++) remove(at(folder, names[i]));
}

static mode_t mode_of(const char *name) {
    struct stat there;
    CHECK(lstat(name, &there) == 0);
    return there.st_mode;
}

static void new_file(const char *name, mode_t mode) {
    FILE *file = fopen(name, "wb");
    CHECK(file != NULL && fclose(file) == 0 && chmod(name, mode) == 0);
}

#define FILES(T)                                                                                  \
    static void files_##T(const char *folder) {                                                   \
        latchless_##T *index, *again;                                                             \
        size_t total = 7;                                                                          \
        empty_folder(folder);                                                                     \
        CHECK(latchless_##T##_new(NULL, &index) == LATCHLESS_OK);                                 \
        /* The permissions are kept. */                                                           \
        new_file(at(folder, "target"), 0600);                                                     \
        CHECK(latchless_##T##_save(index, path, NULL) == LATCHLESS_OK);                           \
        CHECK(S_ISREG(mode_of(path)) && (mode_of(path) & 0777) == 0600);                          \
        /* A link is followed and kept. */                                                        \
        new_file(path, 0640);                                                                     \
        CHECK(symlink("target", at(folder, "link")) == 0);                                        \
        CHECK(latchless_##T##_save(index, path, NULL) == LATCHLESS_OK);                           \
        CHECK(S_ISLNK(mode_of(path)));                                                            \
        CHECK(S_ISREG(mode_of(at(folder, "target"))) && (mode_of(path) & 0777) == 0640);          \
        CHECK(latchless_##T##_open(path, NULL, &again) == LATCHLESS_OK);                          \
        CHECK(latchless_##T##_free(again) == LATCHLESS_OK);                                       \
        /* Anything but a file is refused. */                                                     \
        CHECK(mkfifo(at(folder, "fifo"), 0600) == 0);                                             \
        REFUSED(latchless_##T##_save(index, path, &total), LATCHLESS_IO, "latchless_" #T "_save",  \
                "fifo is a FIFO");                                                                \
        CHECK(S_ISFIFO(mode_of(path)));                                                           \
        CHECK(mkdir(at(folder, "folder"), 0700) == 0);                                            \
        REFUSED(latchless_##T##_save(index, path, &total), LATCHLESS_IO, "latchless_" #T "_save",  \
                "folder is a folder");                                                            \
        CHECK(total == 7);                                                                         \
        CHECK(latchless_##T##_free(index) == LATCHLESS_OK);                                       \
        empty_folder(folder);                                                                     \
    }

FILES(index)
FILES(bytes)

int main(int count, char **arguments) {
    CHECK(count == 2);
    /* An earlier run may have left it. */
    mkdir(arguments[1], 0700);
    files_index(arguments[1]);
    files_bytes(arguments[1]);
    CHECK(rmdir(arguments[1]) == 0);
    return 0;
}
