package schema

import "math"

// HalfBits is the IEEE 754 binary16 nearest to f, ties to even: what float16 vectors store. Past the largest half it is an
// infinity. (arrow-go's own conversion truncates and loses the numbers below 2^-14.)
func HalfBits(f float64) uint16 {
	bits := math.Float64bits(f)
	sign := uint16(bits >> 48 & 0x8000)
	exponent := int(bits>>52&0x7ff) - 1023
	fraction := bits & (1<<52 - 1)
	if exponent == 1024 {
		if fraction != 0 {
			return sign | 0x7e00
		}
		return sign | 0x7c00
	}
	drop := uint(42) // bits of the fraction that a half does not keep
	switch {
	case exponent < -25:
		return sign
	case exponent < -14:
		fraction |= 1 << 52
		drop += uint(-14 - exponent)
		exponent = -15
	}
	half := uint64(exponent+15)<<10 + fraction>>drop
	if rest, tie := fraction&(1<<drop-1), uint64(1)<<(drop-1); rest > tie || rest == tie && half&1 == 1 {
		half++ // carries into the exponent where the fraction overflows
	}
	return sign | uint16(min(half, 0x7c00))
}

// HalfValue is the number that the binary16 bits stand for, exactly.
func HalfValue(bits uint16) float32 {
	sign := uint32(bits&0x8000) << 16
	exponent, fraction := uint32(bits>>10&0x1f), uint32(bits&0x3ff)
	switch exponent {
	case 0:
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
