// A library whose goroutines compute from its loading on, near the ends of their small stacks.
package main

import "C"

var sum uint64

//go:noinline
func compute(x uint64) uint64 {
	for i := 0; i < 5000; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

//go:noinline
func deep(depth int, x uint64) uint64 {
	if depth == 0 {
		return compute(x)
	}
	return deep(depth-1, x) + 1
}

func init() {
	for i := 1; i <= 4; i++ {
		go func(seed int) {
			for depth := 0; ; depth = (depth + 1) % 60 {
				sum += deep(depth, uint64(seed))
			}
		}(i)
	}
}

func main() {}
