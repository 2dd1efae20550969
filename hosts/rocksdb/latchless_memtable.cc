#include "latchless_memtable.h"

#include <latchless.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace rocksdb {

// As in RocksDB's memory/allocator.h, which isn't installed: the interface of Arena.
class Allocator {
  public:
    virtual ~Allocator() {}
    virtual char* Allocate(size_t bytes) = 0;
    virtual char* AllocateAligned(size_t bytes, size_t huge_page_size = 0, Logger* logger = nullptr) = 0;
    virtual size_t BlockSize() const = 0;
};

} // namespace rocksdb

namespace latchless {
namespace {

using rocksdb::Slice;

/// Ends the call of RocksDB: nothing but memory that is refused, or a bug, comes here.
void check(latchless_status status) {
    if (status < 0) throw std::runtime_error(latchless_last_error());
}

/// An entry's key as the index has it: the user key, of which a zero byte is followed by 0xFF, two zero bytes, and the
/// sequence number with the type, of which the larger comes first. So bytes order entries as RocksDB does.
class IndexKey {
  public:
    /// Of a user key with its sequence number and type after it.
    explicit IndexKey(const Slice& internal) {
        const size_t len = internal.size() - 8;
        char* to = room(2 * len + 2 + 8);
        const char* from = internal.data();
        const char* const end = from + len;
        while (from < end) {
            const void* zero = std::memchr(from, 0, static_cast<size_t>(end - from));
            const size_t plain = static_cast<size_t>((zero ? static_cast<const char*>(zero) : end) - from);
            std::memcpy(to, from, plain);
            to += plain;
            from += plain;
            if (zero) {
                *to++ = 0;
                *to++ = static_cast<char>(0xFF);
                ++from;
            }
        }
        *to++ = 0;
        *to++ = 0;
        std::uint64_t packed;
        std::memcpy(&packed, end, 8);
        for (int byte = 7; byte >= 0; --byte) *to++ = static_cast<char>(~(packed >> (8 * byte)));
        size_ = static_cast<size_t>(to - data_);
    }

    IndexKey(const IndexKey&) = delete;
    IndexKey& operator=(const IndexKey&) = delete;

    const char* data() const { return data_; }
    size_t size() const { return size_; }

  private:
    char* room(size_t bytes) {
        if (bytes > sizeof few_) {
            many_.resize(bytes);
            data_ = &many_[0];
        }
        return data_;
    }

    char few_[128];
    std::string many_;
    char* data_ = few_;
    size_t size_ = 0;
};

/// The key of an entry in RocksDB's memory: its length, by seven bits a byte, and its bytes.
Slice key_of(const char* entry) {
    std::uint32_t len = 0;
    for (int shift = 0;; shift += 7) {
        const unsigned char byte = static_cast<unsigned char>(*entry++);
        len |= static_cast<std::uint32_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return Slice(entry, len);
    }
}

/// The address of an entry is its value in the index.
std::uint64_t word_of(const char* entry) { return reinterpret_cast<std::uintptr_t>(entry); }

const char* entry_of(const void* value) {
    std::uint64_t word;
    std::memcpy(&word, value, sizeof word);
    return reinterpret_cast<const char*>(static_cast<std::uintptr_t>(word));
}

/// A position. A lookup of RocksDB is a seek, so that is one descent; a cursor, which reads several entries at a time,
/// is only made for the first step after it.
class Position : public rocksdb::MemTableRep::Iterator {
  public:
    explicit Position(const latchless_bytes* index) : index_(index) {}
    ~Position() override {
        if (cursor_ != nullptr) latchless_bytes_cursor_free(cursor_);
    }

    bool Valid() const override { return entry_ != nullptr; }
    const char* key() const override { return entry_; }
    void Next() override { step(LATCHLESS_NEXT); }
    void Prev() override { step(LATCHLESS_PREV); }
    void SeekToFirst() override { move(LATCHLESS_SEEK_FIRST, nullptr, 0); }
    void SeekToLast() override { move(LATCHLESS_SEEK_LAST, nullptr, 0); }
    void Seek(const Slice& key, const char* entry) override { near(LATCHLESS_CEILING, key, entry); }
    void SeekForPrev(const Slice& key, const char* entry) override { near(LATCHLESS_FLOOR, key, entry); }

  private:
    void near(std::uint32_t near, const Slice& internal, const char* entry) {
        const IndexKey key(entry != nullptr ? key_of(entry) : internal);
        char value[8];
        const latchless_status status = latchless_bytes_near(index_, near, key.data(), key.size(), nullptr, 0, nullptr,
                                                             value, sizeof value, nullptr);
        check(status);
        entry_ = status == LATCHLESS_OK ? entry_of(value) : nullptr;
        is_at_cursor_ = false;
    }

    void step(std::uint32_t movement) {
        if (!is_at_cursor_) {
            const IndexKey key(key_of(entry_));
            move(LATCHLESS_SEEK, key.data(), key.size());
        }
        move(movement, nullptr, 0);
    }

    void move(std::uint32_t movement, const char* key, size_t len) {
        if (cursor_ == nullptr) check(latchless_bytes_cursor_new(index_, &cursor_));
        const void* value;
        const latchless_status status =
            latchless_bytes_cursor_move(cursor_, movement, key, len, nullptr, nullptr, &value, nullptr);
        check(status);
        entry_ = status == LATCHLESS_OK ? entry_of(value) : nullptr;
        is_at_cursor_ = true;
    }

    const latchless_bytes* index_;
    latchless_bytes_cursor* cursor_ = nullptr;
    const char* entry_ = nullptr;
    bool is_at_cursor_ = false;
};

class MemTable : public rocksdb::MemTableRep {
  public:
    explicit MemTable(rocksdb::Allocator* allocator) : MemTableRep(allocator) {
        check(latchless_bytes_new(nullptr, &index_));
        empty_bytes_ = bytes();
    }
    ~MemTable() override { latchless_bytes_free(index_); }

    // The entry is in RocksDB's memory, where Allocate() has put it.
    void Insert(rocksdb::KeyHandle handle) override { InsertKey(handle); }
    void InsertConcurrently(rocksdb::KeyHandle handle) override { InsertKey(handle); }
    bool InsertKeyConcurrently(rocksdb::KeyHandle handle) override { return InsertKey(handle); }
    bool InsertKeyWithHint(rocksdb::KeyHandle handle, void**) override { return InsertKey(handle); }
    bool InsertKeyWithHintConcurrently(rocksdb::KeyHandle handle, void**) override { return InsertKey(handle); }

    bool InsertKey(rocksdb::KeyHandle handle) override {
        const char* const entry = static_cast<const char*>(handle);
        const IndexKey key(key_of(entry));
        const std::uint64_t value = word_of(entry);
        const latchless_status status =
            latchless_bytes_try_insert(index_, key.data(), key.size(), &value, sizeof value, nullptr, 0, nullptr);
        check(status);
        return status == LATCHLESS_OK;
    }

    bool Contains(const char* entry) const override {
        const IndexKey key(key_of(entry));
        const latchless_status status = latchless_bytes_contains_key(index_, key.data(), key.size());
        check(status);
        return status == LATCHLESS_OK;
    }

    std::uint64_t ApproximateNumEntries(const Slice& begin, const Slice& end) override {
        const IndexKey from(begin), to(end);
        size_t count = 0;
        latchless_bytes_count(index_, from.data(), from.size(), to.data(), to.size(), &count);
        return count;
    }

    void UniqueRandomSample(const std::uint64_t, const std::uint64_t wanted,
                            std::unordered_set<const char*>* sample) override {
        struct Context {
            const latchless_bytes* index;
            std::unordered_set<const char*>* sample;
        } context = {index_, sample};
        const auto take = [](const void* key, size_t len, const void*, size_t, void* passed) {
            const Context* const to = static_cast<Context*>(passed);
            char value[8];
            if (latchless_bytes_get(to->index, key, len, value, sizeof value, nullptr) == LATCHLESS_OK) {
                to->sample->insert(entry_of(value));
            }
            return 0;
        };
        check(latchless_bytes_split_points(index_, static_cast<size_t>(wanted) + 1, take, &context));
    }

    // RocksDB counts the entries by itself.
    size_t ApproximateMemoryUsage() override { return bytes() - empty_bytes_; }

    rocksdb::MemTableRep::Iterator* GetIterator(rocksdb::Arena* arena) override {
        if (arena == nullptr) return new Position(index_);
        void* const at = reinterpret_cast<rocksdb::Allocator*>(arena)->AllocateAligned(sizeof(Position));
        return new (at) Position(index_);
    }

  private:
    size_t bytes() const {
        size_t held = 0;
        check(latchless_bytes_memory_bytes(index_, nullptr, &held));
        return held;
    }

    latchless_bytes* index_;
    size_t empty_bytes_;
};

} // namespace

rocksdb::MemTableRep* MemTableFactory::CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator&,
                                                         rocksdb::Allocator* allocator, const rocksdb::SliceTransform*,
                                                         rocksdb::Logger*) {
    return new MemTable(allocator);
}

} // namespace latchless
