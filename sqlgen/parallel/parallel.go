// Package parallel spreads independent work over the processors.
//
// A panic in the work is raised in the caller, as if it had done the work itself: the
// language server, for example, survives a mistake of the compiler.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Do runs functions at the same time and returns when all have ended.
func Do(functions ...func()) {
	Each(functions, func(f func()) { f() })
}

// Each calls a function with each item, in any order and on several goroutines, and
// returns when all calls have ended.
func Each[T any](items []T, do func(T)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	var raised atomic.Pointer[any]
	for range min(len(items), max(2, runtime.GOMAXPROCS(0))) {
		wait.Go(func() {
			defer func() {
				if bug := recover(); bug != nil {
					raised.CompareAndSwap(nil, &bug)
				}
			}()
			for i := next.Add(1) - 1; i < int64(len(items)) && raised.Load() == nil; i = next.Add(1) - 1 {
				do(items[i])
			}
		})
	}
	wait.Wait()
	if bug := raised.Load(); bug != nil {
		panic(*bug)
	}
}
