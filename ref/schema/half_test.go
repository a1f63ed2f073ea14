package schema

import (
	"math"
	"testing"
)

func TestEveryHalfSurvives(t *testing.T) {
	for bits := range 1 << 16 {
		f := HalfValue(uint16(bits))
		back := HalfBits(float64(f))
		if math.IsNaN(float64(f)) {
			if back&0x7c00 != 0x7c00 || back&0x3ff == 0 {
				t.Fatalf("%04x: %04x", bits, back)
			}
			continue
		}
		if back != uint16(bits) {
			t.Fatalf("%04x is %v and comes back as %04x", bits, f, back)
		}
	}
}

func TestHalfRounding(t *testing.T) {
	for f, want := range map[float64]float32{
		1.0004:                  1,                     // below half a step
		1 + 1.0/2048:            1,                     // a tie, to the even neighbour
		1 + 3.0/2048:            1 + 2.0/1024,          // a tie, upwards
		1 + 1.0/2048 + 1e-12:    1 + 1.0/1024,          // past float32's digits
		65519.99:                65504,                 //
		65520:                   float32(math.Inf(1)),  // past the largest
		-1e300:                  float32(math.Inf(-1)), //
		math.Ldexp(1, -25):      0,                     // a tie with zero
		math.Ldexp(1.0001, -25): float32(math.Ldexp(1, -24)),
		math.Ldexp(1023.6, -24): float32(math.Ldexp(1, -14)), // from below the normal numbers into them
		0.1:                     0.0999755859375,
		5e-324:                  0,
	} {
		if got := HalfValue(HalfBits(f)); got != want {
			t.Errorf("%v: %v, not %v", f, got, want)
		}
	}
	if !math.Signbit(float64(HalfValue(HalfBits(math.Copysign(0, -1))))) {
		t.Error("negative zero lost its sign")
	}
}
