// Agglomerative clustering of a matrix of distances: the two nearest clusters become one, again and again.
//
// The distance of a new cluster follows from those of its parts (Lance and Williams 1967). Two clusters that may
// never be one are infinitely far apart, and so is whatever holds them. For these linkages a new cluster is never
// nearer to another than the nearer of its parts was, with such distances too; so whatever two are each other's
// nearest may be merged at once, and a chain of nearest neighbours finds them (Murtagh 1983). In the order of
// their heights these are the merges of the nearest two.
#include <limits>
#include <vector>

#include "kernels.hpp"
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

class Clusters {
   public:
    Clusters(double* distances, const int64_t* size, int64_t m, int linkage)
        : m_(m), linkage_(linkage), far_(distances), size_(size, size + m), gone_(m), there_(m), height_(m) {
        for (int64_t i = 0; i < m; ++i) there_[i] = i, far_[i * m + i] = kNever;
    }

    bool any() const { return !there_.empty(); }
    int64_t first() const { return there_.front(); }

    // How far the nearest one is, and which; `liked` before others as near.
    double nearest(int64_t i, int64_t liked, int64_t& which) const {
        const double* row = &far_[i * m_];
        const double best = smallest(row, gone_.data(), m_);
        which = liked;
        if (liked < 0 || row[liked] > best) which = first_of(row, gone_.data(), m_, best);
        return best;
    }

    void remove(int64_t i) {
        there_.erase(std::lower_bound(there_.begin(), there_.end(), i));
        gone_[i] = kNever;
    }

    // Put b into a; returns how far apart they were, not less than what they are made of.
    double join(int64_t a, int64_t b) {
        remove(b);
        double* row = &far_[a * m_];
        const double apart = row[b];
        join_rows(Joining{row, &far_[b * m_], size_.data(), m_, size_[a], size_[b], apart, linkage_});
        row[a] = kNever;
        size_[a] += size_[b];
        for (int64_t k : there_) far_[k * m_ + a] = row[k];
        return height_[a] = std::max({apart, height_[a], height_[b]});
    }

   private:
    int64_t m_;
    int linkage_;
    double* far_;  // m x m
    std::vector<double> size_;
    std::vector<double> gone_;  // infinite for those that are no more, else 0
    std::vector<int64_t> there_;
    std::vector<double> height_;
};

struct Merge {
    int64_t a, b;
    double height;
};

// Every merge there can be, by height.
std::vector<Merge> merges_of(Clusters& clusters) {
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

// Clusters are known by the number of their first one; returns who joined whom, and how far apart they were.
nb::tuple agglomerate(nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> distances,
                      Vector<int64_t> size, int linkage, int64_t n_clusters, double most) {
    const int64_t m = distances.shape(0);
    std::vector<Merge> merges;
    {
        nb::gil_scoped_release release;
        Clusters clusters(distances.data(), size.data(), m, linkage);
        merges = merges_of(clusters);
        while (!merges.empty() && (static_cast<int64_t>(merges.size()) > m - n_clusters || merges.back().height > most))
            merges.pop_back();
    }
    const size_t made = merges.size();
    Result<int64_t> pairs(2 * made);
    Result<double> heights(made);
    for (size_t i = 0; i < made; ++i) {
        pairs.get()[2 * i] = merges[i].a, pairs.get()[2 * i + 1] = merges[i].b;
        heights.get()[i] = merges[i].height;
    }
    return nb::make_tuple(pairs.release({made, 2}), heights.release({made}));
}

}  // namespace

void register_agglomerate(nb::module_& m) {
    m.def("agglomerate", &agglomerate, nb::arg("distances").noconvert(), nb::arg("size").noconvert(),
          nb::arg("linkage"), nb::arg("n_clusters"), nb::arg("most"));
}

}  // namespace linkwise
