package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// bytesFlag reads a size: a number with an optional B, KiB, MiB, GiB or TiB.
func bytesFlag(flag, text string) (int64, error) {
	number, scale := text, int64(1)
	for _, unit := range []struct {
		suffix string
		scale  int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}} {
		if rest, ok := strings.CutSuffix(text, unit.suffix); ok {
			number, scale = strings.TrimSpace(rest), unit.scale
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/scale {
		return 0, usageError{fmt.Errorf("%s is %q, but a size looks like 512MiB or 2GiB", flag, text)}
	}
	return n * scale, nil
}
