//go:build !amd64 && !arm64

package vector

// Other processors have only the portable definitions.

func vectorExp64(form, []float64, []float64, *parameters[float64]) bool { return false }
func vectorExp32(form, []float32, []float32, *parameters[float32]) bool { return false }

func vectorSum64(term, *float64, *float64, int, *float64, *float64) (float64, bool) { return 0, false }
func vectorSum32(term, *float32, *float32, int, *float32, *float32) (float32, bool) { return 0, false }

func vectorPairs64(Metric, int, *float64, int, *float64, *float64, int) bool { return false }
func vectorPairs32(Metric, int, *float32, int, *float32, *float32, int) bool { return false }

func vectorScal64([]float64, []float64, float64) bool { return false }
func vectorScal32([]float32, []float32, float32) bool { return false }

func vectorNorms64([]float64, []float64, float64, float64) (hit, done bool) { return false, false }
func vectorNorms32([]float32, []float32, float32, float32) (hit, done bool) { return false, false }

func vectorMax64(*float64, int, *float64) (float64, bool) { return 0, false }
func vectorMax32(*float32, int, *float32) (float32, bool) { return 0, false }

func vectorRotate([]float64, []float64, float64, float64) bool { return false }
func vectorAxpy(float64, []float64, []float64) bool            { return false }

func vectorCombine64(operator, []float64, []float64, []float64) bool { return false }
func vectorCombine32(operator, []float32, []float32, []float32) bool { return false }
