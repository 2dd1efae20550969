// A memtable of RocksDB whose entries are in an index of latchless.
//
//     options.memtable_factory.reset(new latchless::MemTableFactory());
//
// For BytewiseComparator() alone: the index orders keys by their bytes. A user key may have some 65,000 bytes, of which
// zeros count twice; a longer one ends the process, because a memtable has no way to refuse it.

#pragma once

#include <rocksdb/memtablerep.h>

namespace latchless {

/// Makes memtables over latchless. Inserts may be concurrent.
class MemTableFactory : public rocksdb::MemTableRepFactory {
  public:
    using rocksdb::MemTableRepFactory::CreateMemTableRep;

    rocksdb::MemTableRep* CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator& comparator,
                                            rocksdb::Allocator* allocator, const rocksdb::SliceTransform* prefixes,
                                            rocksdb::Logger* logger) override;

    const char* Name() const override { return "latchless::MemTableFactory"; }
    bool IsInsertConcurrentlySupported() const override { return true; }
    bool CanHandleDuplicatedKey() const override { return true; }
};

} // namespace latchless
