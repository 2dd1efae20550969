// Memtables in one program, through RocksDB's public interface: the skip list, the vector, and the index of latchless.
//
//     race ENTRIES ROUNDS      the workloads of db_bench, all in memory, the memtables alternately: medians
//     race --model             the index against the skip list: random changes, reads and iterators both ways
#include "latchless_memtable.h"

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using rocksdb::DB;
using rocksdb::Slice;

const size_t VALUE_BYTES = 100;

void check(const rocksdb::Status& status) {
    if (!status.ok()) {
        std::fprintf(stderr, "%s\n", status.ToString().c_str());
        std::exit(1);
    }
}

void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "the index and the skip list differ: %s\n", what);
        std::exit(1);
    }
}

/// A database of one memtable, in a folder that is removed with it.
class Database {
  public:
    explicit Database(const std::string& memtable) {
        static int number = 0;
        folder_ = std::filesystem::temp_directory_path() /
                  ("latchless-rocksdb-" + std::to_string(std::random_device()()) + "-" + std::to_string(number++));
        rocksdb::Options options;
        options.create_if_missing = true;
        options.write_buffer_size = size_t(4) << 30;
        options.compression = rocksdb::kNoCompression;
        if (memtable == "skip_list") options.memtable_factory.reset(new rocksdb::SkipListFactory());
        if (memtable == "vector") options.memtable_factory.reset(new rocksdb::VectorRepFactory());
        if (memtable == "latchless") options.memtable_factory.reset(new latchless::MemTableFactory());
        options.allow_concurrent_memtable_write = options.memtable_factory->IsInsertConcurrentlySupported();
        DB* db;
        check(DB::Open(options, folder_.string(), &db));
        db_.reset(db);
        write_.disableWAL = true;
    }
    ~Database() {
        db_.reset();
        std::filesystem::remove_all(folder_);
    }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    DB* operator->() const { return db_.get(); }
    const rocksdb::WriteOptions& write() const { return write_; }

    /// Bytes of the memtable.
    double bytes() const {
        std::uint64_t bytes = 0;
        db_->GetIntProperty("rocksdb.cur-size-active-mem-table", &bytes);
        return static_cast<double>(bytes);
    }

  private:
    std::filesystem::path folder_;
    std::unique_ptr<DB> db_;
    rocksdb::WriteOptions write_;
};

/// Keys of 16 bytes, as db_bench has them.
std::string key_of(std::uint64_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(number));
    return std::string(text, 16);
}

/// Runs `work(thread)` on threads, and returns nanoseconds per operation.
double timed(size_t threads, size_t operations, const std::function<void(size_t)>& work) {
    const auto begun = std::chrono::steady_clock::now();
    std::vector<std::thread> running;
    for (size_t thread = 1; thread < threads; ++thread) running.emplace_back(work, thread);
    work(0);
    for (std::thread& thread : running) thread.join();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begun;
    return time.count() / static_cast<double>(operations);
}

using Rows = std::vector<std::pair<std::string, double>>;

/// All workloads with one memtable.
Rows measure(const std::string& memtable, const std::vector<std::string>& keys) {
    Rows rows;
    const std::string value(VALUE_BYTES, 'v');
    const size_t count = keys.size(), reads = count / 2;
    for (size_t threads : {1, 2}) {
        const std::string suffix = threads == 1 ? "" : ", two threads";
        Database db(memtable);
        rows.emplace_back("fillrandom" + suffix, timed(threads, count, [&](size_t thread) {
            for (size_t at = thread; at < count; at += threads) check(db->Put(db.write(), keys[at], value));
        }));
        if (threads == 1) rows.emplace_back("bytes per entry", db.bytes() / static_cast<double>(count));
        if (memtable == "vector") continue; // It sorts all entries for a read.
        rows.emplace_back("readrandom" + suffix, timed(threads, reads, [&](size_t thread) {
            std::mt19937_64 random(7 + thread);
            rocksdb::PinnableSlice found;
            for (size_t done = thread; done < reads; done += threads) {
                check(db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), keys[random() % count], &found));
                found.Reset();
            }
        }));
        rows.emplace_back("readwhilewriting" + suffix, timed(threads, reads, [&](size_t thread) {
            std::mt19937_64 random(9 + thread);
            std::string found;
            for (size_t done = thread; done < reads; done += threads) {
                const std::string& key = keys[random() % count];
                if (random() % 10 == 0) {
                    check(db->Put(db.write(), key, value));
                } else {
                    check(db->Get(rocksdb::ReadOptions(), key, &found));
                }
            }
        }));
        if (threads == 2) continue;
        rows.emplace_back("multireadrandom, batches of 64", timed(1, reads, [&](size_t) {
            std::mt19937_64 random(11);
            std::vector<Slice> asked(64);
            std::vector<rocksdb::PinnableSlice> found(64);
            std::vector<rocksdb::Status> statuses(64);
            for (size_t done = 0; done < reads; done += 64) {
                for (Slice& key : asked) key = keys[random() % count];
                db->MultiGet(rocksdb::ReadOptions(), db->DefaultColumnFamily(), 64, asked.data(), found.data(),
                             statuses.data());
                for (size_t at = 0; at < 64; ++at) check(statuses[at]), found[at].Reset();
            }
        }));
        rows.emplace_back("seekrandom, ten entries", timed(1, reads / 10, [&](size_t) {
            std::mt19937_64 random(13);
            for (size_t done = 0; done < reads / 10; ++done) {
                std::unique_ptr<rocksdb::Iterator> range(db->NewIterator(rocksdb::ReadOptions()));
                range->Seek(keys[random() % count]);
                for (int step = 0; step < 10 && range->Valid(); ++step) range->Next();
            }
        }));
        rows.emplace_back("readseq, per entry", timed(1, count, [&](size_t) {
            std::unique_ptr<rocksdb::Iterator> all(db->NewIterator(rocksdb::ReadOptions()));
            for (all->SeekToFirst(); all->Valid(); all->Next()) {}
        }));
        rows.emplace_back("readreverse, per entry", timed(1, count, [&](size_t) {
            std::unique_ptr<rocksdb::Iterator> all(db->NewIterator(rocksdb::ReadOptions()));
            for (all->SeekToLast(); all->Valid(); all->Prev()) {}
        }));
    }
    return rows;
}

double median(std::vector<double> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return numbers[numbers.size() / 2];
}

void race(size_t count, size_t rounds) {
    std::vector<std::string> keys;
    for (size_t number = 0; number < count; ++number) keys.push_back(key_of(number));
    std::shuffle(keys.begin(), keys.end(), std::mt19937_64(1));
    const std::vector<std::string> memtables = {"skip_list", "vector", "latchless"};
    std::vector<std::string> names;
    std::map<std::string, std::map<std::string, std::vector<double>>> figures;
    for (size_t round = 0; round < rounds; ++round) {
        for (const std::string& memtable : memtables) {
            for (const auto& [name, figure] : measure(memtable, keys)) {
                if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
                figures[name][memtable].push_back(figure);
            }
        }
    }
    std::printf("%zu entries of 16 and %zu bytes, nanoseconds, medians of %zu\n", count, VALUE_BYTES, rounds);
    std::printf("%-32s %10s %10s %10s %8s\n", "", "skip_list", "vector", "latchless", "ratio");
    for (const std::string& name : names) {
        std::map<std::string, std::vector<double>>& row = figures[name];
        const double theirs = median(row["skip_list"]), ours = median(row["latchless"]);
        const double vector = row.count("vector") != 0 ? median(row["vector"]) : 0;
        std::printf("%-32s %10.0f %10.0f %10.0f %8.2f\n", name.c_str(), theirs, vector, ours, theirs / ours);
    }
}

/// Keys that differ in zero bytes, or of which one begins with another.
std::string any_key(std::mt19937_64& random) {
    std::string key(random() % 6, '\0');
    for (char& byte : key) byte = "\0\0a\1\xff"[random() % 5];
    if (random() % 50 == 0) key.append(30'000 + random() % 3, random() % 2 == 0 ? '\0' : 'k');
    return key;
}

/// Whether two iterators are on the same entry.
void same(const rocksdb::Iterator& one, const rocksdb::Iterator& other) {
    require(one.Valid() == other.Valid(), "the end of an iterator");
    require(!one.Valid() || (one.key() == other.key() && one.value() == other.value()), "an entry of an iterator");
}

void walk(Database& ours, Database& theirs, const rocksdb::ReadOptions options[2], std::mt19937_64& random) {
    std::unique_ptr<rocksdb::Iterator> one(ours->NewIterator(options[0])), other(theirs->NewIterator(options[1]));
    one->SeekToFirst(), other->SeekToFirst();
    same(*one, *other);
    for (int step = 0; step < 200; ++step) {
        const std::string key = any_key(random);
        switch (random() % 8) {
        case 0: one->Seek(key), other->Seek(key); break;
        case 1: one->SeekForPrev(key), other->SeekForPrev(key); break;
        case 2: one->SeekToLast(), other->SeekToLast(); break;
        case 3: one->SeekToFirst(), other->SeekToFirst(); break;
        case 4: case 5: if (one->Valid()) one->Prev(), other->Prev(); break;
        default: if (one->Valid()) one->Next(), other->Next(); break;
        }
        same(*one, *other);
    }
}

void model() {
    std::mt19937_64 random(5);
    Database ours("latchless"), theirs("skip_list");
    for (int round = 0; round < 300; ++round) {
        const rocksdb::Snapshot* const snapshots[] = {ours->GetSnapshot(), theirs->GetSnapshot()};
        rocksdb::ReadOptions then[2], now[2];
        for (int side : {0, 1}) then[side].snapshot = snapshots[side];
        for (int change = 0; change < 30; ++change) {
            const std::string key = any_key(random), other = any_key(random), value = std::to_string(random() % 1000);
            const std::uint64_t kind = random() % 10;
            for (Database* db : {&ours, &theirs}) {
                rocksdb::WriteBatch batch;
                if (kind < 6) check(batch.Put(key, value));
                if (kind >= 4 && kind < 8) check(batch.Delete(other));
                if (kind == 8) check(batch.DeleteRange(std::min(key, other), std::max(key, other)));
                if (kind == 9) check(batch.SingleDelete("none"));
                check((*db)->Write(db->write(), &batch));
            }
        }
        for (const auto& options : {then, now}) {
            for (int read = 0; read < 60; ++read) {
                const std::string key = any_key(random);
                std::string found[2];
                const bool is_there = ours->Get(options[0], key, &found[0]).ok();
                require(is_there == theirs->Get(options[1], key, &found[1]).ok() && found[0] == found[1], "a value");
            }
            walk(ours, theirs, options, random);
        }
        ours->ReleaseSnapshot(snapshots[0]);
        theirs->ReleaseSnapshot(snapshots[1]);
        if (round % 100 == 99) {
            for (Database* db : {&ours, &theirs}) check((*db)->Flush(rocksdb::FlushOptions()));
        }
    }
    std::puts("the index and the skip list agree");

    // Writers side by side, and what they wrote.
    Database db("latchless");
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 3; ++writer) {
        writers.emplace_back([&db, writer] {
            for (std::uint64_t number = 0; number < 20'000; ++number) {
                check(db->Put(db.write(), key_of(number * 3 + static_cast<unsigned>(writer)), std::to_string(number)));
            }
        });
    }
    for (std::thread& writer : writers) writer.join();
    std::unique_ptr<rocksdb::Iterator> all(db->NewIterator(rocksdb::ReadOptions()));
    std::uint64_t next = 0;
    for (all->SeekToFirst(); all->Valid(); all->Next(), ++next) require(all->key() == key_of(next), "a key");
    require(next == 60'000, "the number of entries");
    std::uint64_t counted, bytes;
    const std::string from = key_of(1'000), to = key_of(1'500);
    db->GetApproximateMemTableStats(rocksdb::Range(from, to), &counted, &bytes);
    require(counted == 500, "the number of entries of a range");
    std::puts("concurrent writers lose nothing");
}

} // namespace

int main(int count, char** words) {
    if (count == 2 && std::strcmp(words[1], "--model") == 0) {
        model();
    } else if (count == 3) {
        race(std::strtoull(words[1], nullptr, 10), std::strtoull(words[2], nullptr, 10));
    } else {
        std::fputs("race ENTRIES ROUNDS, or race --model\n", stderr);
        return 2;
    }
}
