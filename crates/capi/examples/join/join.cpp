// An index join over columns: each row of `orders` looks up its customer, and reads a column of the customer's row.
// Compares latchless with other maps: loading customers, joining, and inserting new customers.
//
//     join [CUSTOMERS [ORDERS [ROUNDS]]]     4000000 1000000 3
//
// Prints nanoseconds of processor time per row: the least of the rounds, which are interleaved.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include <latchless.hpp>

#if __has_include(<absl/container/btree_map.h>) && !defined(WITHOUT_ABSEIL)
#include <absl/container/btree_map.h>
#define WITH_ABSEIL 1
#else
#define WITH_ABSEIL 0
#endif

namespace {

using id = std::uint64_t;
using row = std::uint64_t;

double processor_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct tables {
    std::vector<id> customers;           // the id of each row
    std::vector<std::uint32_t> discount; // another column of the table
    std::vector<id> orders;              // the customer of each order; one in ten is unknown
    std::vector<id> late;                // customers to insert later
};

tables make_tables(std::size_t customers, std::size_t orders) {
    std::mt19937_64 random(1);
    tables made;
    for (std::size_t at = 0; at < customers + customers / 100; ++at) {
        (at < customers ? made.customers : made.late).push_back(random());
    }
    for (std::size_t at = 0; at < customers; ++at) made.discount.push_back(static_cast<std::uint32_t>(random() % 100));
    for (std::size_t at = 0; at < orders; ++at) {
        made.orders.push_back(at % 10 == 9 ? random() : made.customers[random() % customers]);
    }
    return made;
}

// The entries of a table, by id.
std::vector<std::pair<id, row>> sorted(const std::vector<id> &ids) {
    std::vector<std::pair<id, row>> entries;
    entries.reserve(ids.size());
    for (row at = 0; at < ids.size(); ++at) entries.emplace_back(ids[at], at);
    std::sort(entries.begin(), entries.end());
    return entries;
}

// ---- the maps: each is built from the sorted entries, joins, and inserts entries -----------------

struct by_latchless {
    static constexpr const char *name = "latchless::index";
    latchless::index<id> index;

    explicit by_latchless(const std::vector<std::pair<id, row>> &entries) {
        std::vector<id> ids;
        std::vector<latchless::value> rows;
        ids.reserve(entries.size());
        rows.reserve(entries.size());
        for (const auto &[customer, at] : entries) {
            ids.push_back(customer);
            rows.push_back(at);
        }
        index = latchless::index<id>::bulk_load(ids, rows);
    }
    // The join: columns in, columns out.
    std::uint64_t join(const tables &from) const {
        constexpr std::size_t BATCH = 4096;
        std::vector<latchless::value> rows(BATCH);
        std::vector<std::uint8_t> found(BATCH);
        std::uint64_t sum = 0;
        for (std::size_t start = 0; start < from.orders.size(); start += BATCH) {
            const std::size_t count = std::min(BATCH, from.orders.size() - start);
            index.get_many(latchless::view<id>{&from.orders[start], count}, rows.data(), found.data());
            for (std::size_t at = 0; at < count; ++at) {
                if (found[at]) sum += from.discount[rows[at]];
            }
        }
        return sum;
    }
    void insert(const std::vector<id> &ids) {
        const std::vector<latchless::value> rows(ids.size(), 0);
        index.insert_many(ids, rows);
    }
};

template <class Map>
struct by_map {
    Map map;

    std::uint64_t join(const tables &from) const {
        std::uint64_t sum = 0;
        for (const id customer : from.orders) {
            const auto found = map.find(customer);
            if (found != map.end()) sum += from.discount[found->second];
        }
        return sum;
    }
    void insert(const std::vector<id> &ids) {
        for (const id customer : ids) map.emplace(customer, 0);
    }
};

struct by_std_map : by_map<std::map<id, row>> {
    static constexpr const char *name = "std::map";
    explicit by_std_map(const std::vector<std::pair<id, row>> &entries) {
        map.insert(entries.begin(), entries.end());
    }
};

struct by_hash : by_map<std::unordered_map<id, row>> {
    static constexpr const char *name = "std::unordered_map";
    explicit by_hash(const std::vector<std::pair<id, row>> &entries) {
        map.reserve(entries.size());
        map.insert(entries.begin(), entries.end());
    }
};

#if WITH_ABSEIL
struct by_btree : by_map<absl::btree_map<id, row>> {
    static constexpr const char *name = "absl::btree_map";
    explicit by_btree(const std::vector<std::pair<id, row>> &entries) {
        map.insert(entries.begin(), entries.end());
    }
};
#endif

struct by_sorted_vector {
    static constexpr const char *name = "sorted std::vector";
    std::vector<std::pair<id, row>> entries;

    explicit by_sorted_vector(const std::vector<std::pair<id, row>> &sorted) : entries(sorted) {}
    std::uint64_t join(const tables &from) const {
        std::uint64_t sum = 0;
        for (const id customer : from.orders) {
            const auto found = std::lower_bound(entries.begin(), entries.end(), std::make_pair(customer, row{0}));
            if (found != entries.end() && found->first == customer) sum += from.discount[found->second];
        }
        return sum;
    }
    void insert(const std::vector<id> &ids) {
        const auto middle = static_cast<std::ptrdiff_t>(entries.size());
        for (const id customer : ids) entries.emplace_back(customer, 0);
        std::sort(entries.begin() + middle, entries.end());
        std::inplace_merge(entries.begin(), entries.begin() + middle, entries.end());
    }
};

// ---- the comparison ------------------------------------------------------------------------------

struct times {
    double build, join, insert;
};

template <class Contestant>
void run(const tables &from, const std::vector<std::pair<id, row>> &entries, times &best, std::uint64_t &sum) {
    const auto least = [](double &so_far, double seconds, std::size_t rows) {
        so_far = std::min(so_far, seconds * 1e9 / static_cast<double>(rows));
    };
    double start = processor_seconds();
    Contestant contestant(entries);
    least(best.build, processor_seconds() - start, entries.size());
    start = processor_seconds();
    const std::uint64_t its_sum = contestant.join(from);
    least(best.join, processor_seconds() - start, from.orders.size());
    start = processor_seconds();
    contestant.insert(from.late);
    least(best.insert, processor_seconds() - start, from.late.size());
    if (sum != 0 && sum != its_sum) {
        std::fprintf(stderr, "%s joins otherwise: %llu\n", Contestant::name, static_cast<unsigned long long>(its_sum));
        std::exit(1);
    }
    sum = its_sum;
}

template <class... Contestants>
void race(const tables &from, int rounds) {
    const auto entries = sorted(from.customers);
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<times> best(sizeof...(Contestants), times{never, never, never});
    std::uint64_t sum = 0;
    for (int round = 0; round < rounds; ++round) {
        std::size_t at = 0;
        (run<Contestants>(from, entries, best[at++], sum), ...);
    }
    std::printf("%-20s %10s %10s %10s\n", "ns per row", "build", "join", "insert");
    std::size_t at = 0;
    (..., (std::printf("%-20s %10.1f %10.1f %10.1f\n", Contestants::name, best[at].build, best[at].join,
                       best[at].insert),
           ++at));
}

} // namespace

int main(int count, char **arguments) {
    const auto number = [&](int at, long otherwise) {
        const long given = count > at ? std::strtol(arguments[at], nullptr, 10) : otherwise;
        if (given < 1) {
            std::fprintf(stderr, "usage: join [CUSTOMERS [ORDERS [ROUNDS]]], each at least 1\n");
            std::exit(2);
        }
        return given;
    };
    const auto customers = static_cast<std::size_t>(number(1, 4000000));
    const auto orders = static_cast<std::size_t>(number(2, 1000000));
    const tables from = make_tables(customers, orders);
    std::printf("%zu customers, %zu orders, %zu late customers\n", customers, orders, from.late.size());
    race<by_latchless, by_std_map,
#if WITH_ABSEIL
         by_btree,
#endif
         by_sorted_vector, by_hash>(from, static_cast<int>(number(3, 3)));
}
