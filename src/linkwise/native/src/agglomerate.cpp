// Agglomerative clustering of a matrix of distances: the two nearest clusters become one, again and again.
//
// The distance of a new cluster follows from those of its parts (Lance and Williams 1967). Two clusters that may
// never be one are infinitely far apart, and so is whatever holds them. For these linkages a new cluster is never
// nearer to another than the nearer of its parts was, with such distances too; so whatever two are each other's
// nearest may be merged at once, and a chain of nearest neighbours finds them (Murtagh 1983). In the order of
// their heights these are the merges of the nearest two.
#include <limits>
#include <vector>

#include "checks.hpp"
#include "tile.hpp"

namespace linkwise {

namespace {

enum Linkage : int { kSingle, kComplete, kAverage, kWard };

constexpr double kNever = std::numeric_limits<double>::infinity();

// Distances of the cluster made of a and b, over a row: first those to a, then what they become.
struct Joining {
    double* to_a;
    const double* to_b;
    const double* size;
    int64_t m;
    double size_a, size_b, apart;
    int linkage;
};

LINKWISE_SIMD void join_rows(const Joining& t) {
    switch (t.linkage) {
        case kSingle:
            for (int64_t k = 0; k < t.m; ++k) {
                const bool never = t.to_a[k] == kNever || t.to_b[k] == kNever;
                t.to_a[k] = never ? kNever : std::min(t.to_a[k], t.to_b[k]);
            }
            break;
        case kComplete:
            for (int64_t k = 0; k < t.m; ++k) t.to_a[k] = std::max(t.to_a[k], t.to_b[k]);
            break;
        case kAverage:
            for (int64_t k = 0; k < t.m; ++k)
                t.to_a[k] = (t.size_a * t.to_a[k] + t.size_b * t.to_b[k]) / (t.size_a + t.size_b);
            break;
        default:
            for (int64_t k = 0; k < t.m; ++k)
                t.to_a[k] = ((t.size_a + t.size[k]) * t.to_a[k] + (t.size_b + t.size[k]) * t.to_b[k] -
                             t.size[k] * t.apart) /
                            (t.size_a + t.size_b + t.size[k]);
    }
}

// The least distance of a row to what is not gone, and the first place where it is.
LINKWISE_SIMD double smallest(const double* row, const double* gone, int64_t m) {
    Lanes least = Lanes{} + kNever;
    int64_t k = 0;
    for (; k + 8 <= m; k += 8) {
        Lanes here, there;
        std::memcpy(&here, row + k, sizeof here);
        std::memcpy(&there, gone + k, sizeof there);
        least = smaller(here + there, least);
    }
    double found = kNever;
    for (int64_t j = 0; j < 8; ++j) found = std::min(found, least[j]);
    for (; k < m; ++k) found = std::min(found, row[k] + gone[k]);
    return found;
}

LINKWISE_SIMD int64_t first_of(const double* row, const double* gone, int64_t m, double value) {
    int64_t k = 0;
    while (k < m && row[k] + gone[k] != value) ++k;
    return k < m ? k : 0;
}

// Clusters are known by the number of their first one. A row takes up what other clusters have become when it is read,
// and rows move up when half of them are gone.
class Clusters {
   public:
    Clusters(double* distances, const int64_t* size, int64_t m, int linkage)
        : m_(m), linkage_(linkage), far_(distances), size_(size, size + m), gone_(m), height_(m), there_(m),
          number_(m), place_(m), seen_(m), last_(m) {
        for (int64_t i = 0; i < m; ++i) there_[i] = number_[i] = place_[i] = i, far_[i * m + i] = kNever;
    }

    bool any() const { return !there_.empty(); }
    int64_t first() const { return number_[there_.front()]; }

    // How far the nearest one is, and which; `liked` before others as near.
    double nearest(int64_t i, int64_t liked, int64_t& which) {
        const double* row = take_up(place_[i]);
        const double best = smallest(row, gone_.data(), m_);
        which = liked;
        if (liked < 0 || row[place_[liked]] > best) which = number_[first_of(row, gone_.data(), m_, best)];
        return best;
    }

    void remove(int64_t i) {
        there_.erase(std::lower_bound(there_.begin(), there_.end(), place_[i]));
        gone_[place_[i]] = kNever;
        if (2 * static_cast<int64_t>(there_.size()) < m_) move_up();
    }

    // Put b into a; returns how far apart they were, not less than what they are made of.
    double join(int64_t a, int64_t b) {
        const int64_t one = place_[a], other = place_[b];
        double *row = take_up(one), *beside = take_up(other);
        const double apart = row[other], height = std::max({apart, height_[one], height_[other]});
        join_rows(Joining{row, beside, size_.data(), m_, size_[one], size_[other], apart, linkage_});
        row[one] = kNever;
        size_[one] += size_[other];
        height_[one] = height;
        last_[one] = changed_.size();
        changed_.push_back(one);
        seen_[one] = changed_.size();
        remove(b);
        return height;
    }

   private:
    // The row of a place with the distances of now.
    double* take_up(int64_t place) {
        double* row = far_ + place * m_;
        for (size_t at = seen_[place]; at < changed_.size(); ++at)
            if (const int64_t other = changed_[at]; last_[other] == at) row[other] = far_[other * m_ + place];
        seen_[place] = changed_.size();
        return row;
    }

    void move_up() {
        const auto m = static_cast<int64_t>(there_.size());
        for (const int64_t place : there_) take_up(place);
        for (int64_t i = 0; i < m; ++i) {
            const int64_t from = there_[i];
            for (int64_t j = 0; j < m; ++j) far_[i * m + j] = far_[from * m_ + there_[j]];
            size_[i] = size_[from], height_[i] = height_[from], number_[i] = number_[from], place_[number_[i]] = i;
        }
        for (int64_t i = 0; i < m; ++i) there_[i] = i, gone_[i] = 0, seen_[i] = 0;
        changed_.clear();
        m_ = m;
    }

    int64_t m_;
    int linkage_;
    double* far_;  // m x m
    std::vector<double> size_;
    std::vector<double> gone_;  // infinite for those that are no more, else 0
    std::vector<double> height_;
    std::vector<int64_t> there_;           // places of the others
    std::vector<int64_t> number_, place_;  // of the cluster at a place, and where it is
    std::vector<int64_t> changed_;         // places of new clusters, in the order in which they were made
    std::vector<size_t> seen_, last_;      // of each place: how many of these its row has, and its own last one
};

// The same for average linkage where most distances are 1 and the others are less: those of each cluster, by the
// number of the other one. What is missing is 1, and so is the mean of such distances, to the last bit.
class NearClusters {
   public:
    NearClusters(const double* data, const int32_t* column, const int32_t* start, int64_t m)
        : size_(m, 1.0), near_(m), there_(m), height_(m) {
        for (int64_t i = 0; i < m; ++i) {
            there_[i] = i;
            for (int32_t e = start[i]; e < start[i + 1]; ++e)
                if (column[e] != i) near_[i].push_back({column[e], data[e]});
        }
    }

    bool any() const { return !there_.empty(); }
    int64_t first() const { return there_.front(); }

    double nearest(int64_t i, int64_t liked, int64_t& which) const {
        double best = 1, to_liked = 1;
        which = -1;
        for (const Near& other : near_[i]) {
            if (other.distance < best) best = other.distance, which = other.cluster;
            if (other.cluster == liked) to_liked = other.distance;
        }
        if (which < 0) {  // all are as far away: the first of them
            if (there_.size() == 1) return kNever;
            which = there_[there_[0] == i];
        }
        if (liked >= 0 && to_liked <= best) which = liked;
        return best;
    }

    void remove(int64_t i) { there_.erase(std::lower_bound(there_.begin(), there_.end(), i)); }

    double join(int64_t a, int64_t b) {
        remove(b);
        const double size_a = size_[a], size_b = size_[b], both = size_a + size_b;
        const std::vector<Near> of_a = std::move(near_[a]), of_b = std::move(near_[b]);
        std::vector<Near>& of_both = near_[a];
        of_both.clear();
        near_[b].clear();
        double apart = 1;
        auto one = of_a.begin(), other = of_b.begin();
        while (one != of_a.end() || other != of_b.end()) {
            const bool has_one = one != of_a.end() && (other == of_b.end() || one->cluster <= other->cluster);
            const bool has_other = other != of_b.end() && (one == of_a.end() || other->cluster <= one->cluster);
            const int64_t k = has_one ? one->cluster : other->cluster;
            const double to_a = has_one ? one->distance : 1.0, to_b = has_other ? other->distance : 1.0;
            one += has_one, other += has_other;
            if (k == b) apart = to_a;
            if (k == a || k == b) continue;
            const double distance = (size_a * to_a + size_b * to_b) / both;
            of_both.push_back({k, distance});
            replace(near_[k], a, b, distance);
        }
        size_[a] = both;
        return height_[a] = std::max({apart, height_[a], height_[b]});
    }

   private:
    struct Near {
        int64_t cluster;
        double distance;
    };

    static std::vector<Near>::iterator find(std::vector<Near>& near, int64_t cluster) {
        return std::lower_bound(near.begin(), near.end(), cluster,
                                [](const Near& each, int64_t wanted) { return each.cluster < wanted; });
    }

    // Where b is near, too, or alone, a takes its place.
    static void replace(std::vector<Near>& near, int64_t a, int64_t b, double distance) {
        if (const auto old = find(near, b); old != near.end() && old->cluster == b) near.erase(old);
        const auto at = find(near, a);
        if (at != near.end() && at->cluster == a)
            at->distance = distance;
        else
            near.insert(at, {a, distance});
    }

    std::vector<double> size_;
    std::vector<std::vector<Near>> near_;  // of each cluster, in the order of their numbers
    std::vector<int64_t> there_;
    std::vector<double> height_;
};

struct Merge {
    int64_t a, b;
    double height;
};

// Every merge there can be, by height.
template <typename AnyClusters>
std::vector<Merge> merges_of(AnyClusters& clusters) {
    std::vector<Merge> merges;
    std::vector<int64_t> chain;
    while (clusters.any()) {
        if (chain.empty()) chain.push_back(clusters.first());
        const int64_t last = chain.back(), before = chain.size() > 1 ? chain[chain.size() - 2] : -1;
        int64_t next;
        if (clusters.nearest(last, before, next) == kNever) {  // apart from all that is left
            clusters.remove(last);
            chain.pop_back();
        } else if (next == before) {
            const int64_t a = std::min(last, before), b = std::max(last, before);
            chain.resize(chain.size() - 2);
            merges.push_back({a, b, clusters.join(a, b)});
        } else {
            chain.push_back(next);
        }
    }
    std::stable_sort(merges.begin(), merges.end(),
                     [](const Merge& one, const Merge& other) { return one.height < other.height; });
    return merges;
}

auto release_merges(const std::vector<Merge>& merges) {
    const size_t made = merges.size();
    Result<int64_t> pairs(2 * made);
    Result<double> heights(made);
    for (size_t i = 0; i < made; ++i) {
        pairs.get()[2 * i] = merges[i].a, pairs.get()[2 * i + 1] = merges[i].b;
        heights.get()[i] = merges[i].height;
    }
    return std::make_tuple(pairs.release({made, 2}), heights.release({made}));
}

// Clusters are known by the number of their first one; returns who joined whom, and how far apart they were.
auto agglomerate(Changed<double> distances, Vector<int64_t> size, int linkage, int64_t n_clusters, double most) {
    const int64_t m = distances.shape(0);
    check_rows("distances", distances);
    check_square("distances", distances);
    check_shape("size", size, m);
    check_between("linkage", linkage, 0, 3);
    std::vector<Merge> merges;
    {
        GilRelease release;
        Clusters clusters(distances.data(), size.data(), m, linkage);
        merges = merges_of(clusters);
        while (!merges.empty() && (static_cast<int64_t>(merges.size()) > m - n_clusters || merges.back().height > most))
            merges.pop_back();
    }
    return release_merges(merges);
}

// Each row names others in their order, and is named by them.
void check_near(const Vector<int32_t>& column, const Vector<int32_t>& start, int64_t m) {
    const int32_t *other = column.data(), *first = start.data();
    std::vector<int32_t> next(first, first + m);  // the place where the next row that names it must be found
    for (int64_t i = 0; i < m; ++i)
        for (int32_t e = first[i]; e < first[i + 1]; ++e)
            if (e > first[i] && other[e] <= other[e - 1]) refuse("column must be ascending for each row.");
    for (int64_t i = 0; i < m; ++i)
        for (int32_t e = first[i]; e < first[i + 1]; ++e) {
            const int32_t j = other[e];
            if (next[j] == first[j + 1] || other[next[j]++] != i)
                refuse("A row names another one that does not name it.");
        }
}

auto agglomerate_near(Vector<double> data, Vector<int32_t> column, Vector<int32_t> start) {
    std::vector<Merge> merges;
    const int64_t m = static_cast<int64_t>(start.shape(0)) - 1, size = column.shape(0);
    if (m < 1) refuse("start must begin with 0 and never fall, and name one row at least.");
    check_shape("distances", data, size);
    check_starts("start", start, size);
    check_range("column", column, 0, m - 1);
    check_near(column, start, m);
    {
        GilRelease release;
        NearClusters clusters(data.data(), column.data(), start.data(), m);
        merges = merges_of(clusters);
    }
    return release_merges(merges);
}

}  // namespace

void register_agglomerate(nb::module_& m) {
    define(m, "agglomerate_near", agglomerate_near,
           R"(Merge the two nearest of single rows by average linkage until all are one, where most are 1 apart.

distances, (q,), are those of at most 1, row by row; all others are 1, and those of a row to itself do not count.
column, (q,), is the other row of each, ascending for each row; if row i names j, row j names i. start, (m + 1,),
says where the distances of each row begin. Returns what agglomerate returns, to the last bit.)",
           nb::arg("distances"), nb::arg("column"), nb::arg("start"));
    define(m, "agglomerate", agglomerate,
           R"(Merge the two nearest clusters until n_clusters are left, or no pair may be merged.

distances, (m, m), are symmetric, infinite for two that may never be in one cluster, and written over; for Ward
2 s t / (s + t) times the squared distance of the means of s and t rows. size, (m,), are the rows of each cluster;
linkage 0 is single, 1 complete, 2 average, 3 Ward. Clusters farther apart than most are not joined. Returns pairs
(q, 2), in order: the cluster that stays, and the one that is put into it; and heights (q,). A cluster keeps the
number of its first one, the lower of the two.

Lance and Williams (1967), A general theory of classificatory sorting strategies. Murtagh (1983), A survey of recent
advances in hierarchical clustering algorithms.)",
           nb::arg("distances"), nb::arg("size"), nb::arg("linkage"), count("n_clusters"), nb::arg("most"));
}

}  // namespace linkwise
