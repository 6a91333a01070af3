/* Threads that wait for passes: started when a pass first asks for them, kept for the next one.
 *
 * Threads that wait sleep; none spins, which would take the processor from those that have work where
 * a machine is busy. Whoever hands in a job works on it, too, and never waits for a thread that has
 * not begun: a job costs at most one wake-up more than without threads. Several callers may hand in
 * jobs at the same time. In a child of fork, where these threads do not exist, the pool begins anew.
 */
#ifndef RISKSLIM_POOL_H
#define RISKSLIM_POOL_H

#include <stddef.h>
#include <stdint.h>
#include "threads.h"

#if RS_HAS_THREADS

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <process.h>
typedef SRWLOCK rs_lock;
typedef CONDITION_VARIABLE rs_condition;
#define RS_LOCK_FREE SRWLOCK_INIT
#define RS_CONDITION_NEW CONDITION_VARIABLE_INIT
#define rs_take(lock) AcquireSRWLockExclusive(lock)
#define rs_release(lock) ReleaseSRWLockExclusive(lock)
#define rs_sleep(condition, lock) SleepConditionVariableSRW(condition, lock, INFINITE, 0)
#define rs_wake(condition) WakeConditionVariable(condition)
#define rs_wake_all(condition) WakeAllConditionVariable(condition)
#define rs_fetch_add(counter) (InterlockedIncrement64(counter) - 1)
typedef volatile LONG64 rs_counter;
#else
#include <pthread.h>
#include <signal.h>
typedef pthread_mutex_t rs_lock;
typedef pthread_cond_t rs_condition;
#define RS_LOCK_FREE PTHREAD_MUTEX_INITIALIZER
#define RS_CONDITION_NEW PTHREAD_COND_INITIALIZER
#define rs_take(lock) pthread_mutex_lock(lock)
#define rs_release(lock) pthread_mutex_unlock(lock)
#define rs_sleep(condition, lock) pthread_cond_wait(condition, lock)
#define rs_wake(condition) pthread_cond_signal(condition)
#define rs_wake_all(condition) pthread_cond_broadcast(condition)
#define rs_fetch_add(counter) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED)
typedef int64_t rs_counter;
#endif

/* More threads than anybody asks for on purpose. */
#define RS_MOST_THREADS 1024
#define RS_STACK (4 << 20)

typedef struct rs_job {
    rs_work work;
    void *pass;
    rs_counter next; /* first item that nobody has taken */
    int64_t n_items;
    int workers;     /* that may take part */
    int joined;      /* that have begun; the number of the next one */
    int active;      /* that have begun and not ended, but for the caller */
    rs_condition done;
    struct rs_job *below; /* the job that was handed in before it */
} rs_job;

static struct {
    rs_lock lock;
    rs_condition wanted;
    rs_job *top; /* jobs that more workers may join */
    int threads; /* started */
    int idle;    /* of these, asleep */
    int asked;   /* by all jobs that have not ended */
#if !defined(_WIN32)
    int watches_forks;
#endif
} rs_pool = {RS_LOCK_FREE, RS_CONDITION_NEW, NULL, 0, 0, 0};

static void rs_take_part(rs_job *job, int worker)
{
    for (;;) {
        const int64_t item = rs_fetch_add(&job->next);
        if (item >= job->n_items) return;
        job->work(job->pass, (ptrdiff_t)item, worker);
    }
}

/* Takes a job off the list where it is still on it; the caller holds the lock. */
static void rs_withdraw(rs_job *job)
{
    rs_job **at = &rs_pool.top;
    while (*at != NULL && *at != job) at = &(*at)->below;
    if (*at == job) *at = job->below;
}

/* What a thread does for good. */
static void rs_serve(void)
{
    rs_take(&rs_pool.lock);
    for (;;) {
        while (rs_pool.top == NULL) {
            rs_pool.idle++;
            rs_sleep(&rs_pool.wanted, &rs_pool.lock);
            rs_pool.idle--;
        }
        rs_job *job = rs_pool.top;
        const int worker = job->joined++;
        job->active++;
        if (job->joined == job->workers) rs_withdraw(job);
        rs_release(&rs_pool.lock);
        rs_take_part(job, worker);
        rs_take(&rs_pool.lock);
        rs_withdraw(job); /* nothing is left to be taken of it */
        if (--job->active == 0) rs_wake(&job->done);
    }
}

#if defined(_WIN32)

static unsigned __stdcall rs_thread(void *unused)
{
    (void)unused;
    rs_serve();
    return 0;
}

static int rs_start(void)
{
    const uintptr_t handle = _beginthreadex(NULL, RS_STACK, rs_thread, NULL, 0, NULL);
    if (handle == 0) return 0;
    CloseHandle((HANDLE)handle);
    return 1;
}

#else

static void *rs_thread(void *unused)
{
    (void)unused;
    rs_serve();
    return NULL;
}

static void rs_after_fork(void)
{
    const rs_lock lock = RS_LOCK_FREE;
    const rs_condition wanted = RS_CONDITION_NEW;
    rs_pool.lock = lock;
    rs_pool.wanted = wanted;
    rs_pool.top = NULL;
    rs_pool.threads = rs_pool.idle = rs_pool.asked = 0;
}

/* Signals go to threads of others, who wait for them. */
static int rs_start(void)
{
    pthread_t thread;
    pthread_attr_t detached;
    sigset_t all, before;
    if (!rs_pool.watches_forks) {
        if (pthread_atfork(NULL, NULL, rs_after_fork) != 0) return 0;
        rs_pool.watches_forks = 1;
    }
    if (pthread_attr_init(&detached) != 0) return 0;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, RS_STACK); /* musl's own is small */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&thread, &detached, rs_thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return !failed;
}

#endif

/* Wakes as many threads as a job wants, and starts those that are missing; the lock is held.
 * Threads that are awake look for jobs before they sleep. */
static void rs_call(int wanted)
{
    for (int k = 0; k < wanted && k < rs_pool.idle; k++) rs_wake(&rs_pool.wanted);
    while (rs_pool.threads < rs_pool.asked && rs_pool.threads < RS_MOST_THREADS && rs_start())
        rs_pool.threads++;
}

/* Calls work(pass, item, worker) for every item; worker is 0 .. n_workers - 1. */
static void rs_share(rs_work work, void *pass, ptrdiff_t n_items, int n_workers)
{
    rs_job job = {work, pass, 0, n_items, n_workers, 1, 0, RS_CONDITION_NEW, NULL};
    rs_take(&rs_pool.lock);
    job.below = rs_pool.top;
    rs_pool.top = &job;
    rs_pool.asked += n_workers - 1;
    rs_call(n_workers - 1);
    rs_release(&rs_pool.lock);
    rs_take_part(&job, 0);
    rs_take(&rs_pool.lock);
    rs_withdraw(&job);
    while (job.active > 0) rs_sleep(&job.done, &rs_pool.lock);
    rs_pool.asked -= n_workers - 1;
    rs_release(&rs_pool.lock);
#if !defined(_WIN32)
    pthread_cond_destroy(&job.done);
#endif
}

#else

static void rs_share(rs_work work, void *pass, ptrdiff_t n_items, int n_workers)
{
    (void)n_workers;
    for (ptrdiff_t item = 0; item < n_items; item++) work(pass, item, 0);
}

#endif

#endif
