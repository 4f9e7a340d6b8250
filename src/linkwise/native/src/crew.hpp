// The threads of one kernel call.
//
// They live as long as the call: nothing is left behind that a fork could break. The caller works
// too and waits only for what another thread has begun, so that on a busy machine a thread that gets
// no core holds nobody up. (With OpenMP every loop waits for all threads: measured, on two cores with
// other work, 10 to 20 times slower than one thread.)
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace linkwise {

class Crew {
   public:
    explicit Crew(int64_t threads) : size_(static_cast<int>(std::max<int64_t>(threads, 1))) {
        try {
            for (int id = 1; id < size_; ++id) others_.emplace_back([this, id] { follow(id); });
        } catch (const std::system_error&) {  // the system gives no more threads: fewer will do
        }
    }
    ~Crew() {
        {
            std::lock_guard lock(mutex_);
            dismissed_ = true;
        }
        begun_.notify_all();
        for (auto& thread : others_) thread.join();
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // Thread numbers given to the tasks are below this.
    int size() const { return size_; }

    // task(i, thread) for each i in [0, count), in any order; returns when all are done.
    template <typename Task>
    void run(int64_t count, const Task& task) {
        if (others_.empty()) {
            for (int64_t i = 0; i < count; ++i) task(i, 0);
            return;
        }
        std::unique_lock lock(mutex_);
        task_ = &task;
        call_ = [](const void* t, int64_t i, int thread) { (*static_cast<const Task*>(t))(i, thread); };
        next_ = done_ = 0;
        count_ = count;
        begun_.notify_all();
        work(lock, 0);
        ended_.wait(lock, [this] { return done_ == count_; });
    }

   private:
    void follow(int id) {
        std::unique_lock lock(mutex_);
        for (;;) {
            begun_.wait(lock, [this] { return dismissed_ || next_ < count_; });
            if (dismissed_) return;
            work(lock, id);
        }
    }

    // Takes tasks while there are any, fewer at a time towards the end.
    void work(std::unique_lock<std::mutex>& lock, int id) {
        while (next_ < count_) {
            const int64_t begin = next_;
            const int64_t end = begin + std::max<int64_t>(1, (count_ - begin) / (4 * size_));
            next_ = end;
            lock.unlock();
            for (int64_t i = begin; i < end; ++i) call_(task_, i, id);
            lock.lock();
            done_ += end - begin;
        }
        if (done_ == count_) ended_.notify_one();
    }

    const int size_;
    std::mutex mutex_;
    std::condition_variable begun_, ended_;
    const void* task_ = nullptr;
    void (*call_)(const void*, int64_t, int) = nullptr;
    int64_t next_ = 0, count_ = 0, done_ = 0;
    bool dismissed_ = false;
    std::vector<std::thread> others_;
};

}  // namespace linkwise
