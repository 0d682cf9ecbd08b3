package kernels

// The parameters of the kernels in convolution.cu.

// Columns holds the windows of H×W elements on a batch of images.
type Columns struct {
	Batch, Channels, Height, Width, OutHeight, OutWidth, H, W int
	PadH, PadW, StrideH, StrideW, DilationH, DilationW        int
}

// ImageColumns is image_columns: the elements of each window in a row.
type ImageColumns struct {
	In, Out Matrix
	Columns
}

// Grid implements [Kernel].
func (k ImageColumns) Grid() Grid {
	return Each(k.Batch * k.OutHeight * k.OutWidth * k.Channels * k.H * k.W)
}

// ColumnsImage is columns_image: the derivative of ImageColumns.
type ColumnsImage struct {
	In, Out Matrix
	Columns
}

// Grid implements [Kernel].
func (k ColumnsImage) Grid() Grid { return Each(k.Batch * k.Channels * k.Height * k.Width) }

// Pool holds the windows of H×W elements on planes of Height×Width.
type Pool struct {
	Planes, Height, Width, OutHeight, OutWidth, H, W, PadH, PadW, StrideH, StrideW int
}

// MaxPool is max_pool: the largest element of each window, and its index in the plane.
type MaxPool struct {
	In, Out Matrix
	Index   Doubles
	Pool
}

// Grid implements [Kernel].
func (k MaxPool) Grid() Grid { return Each(k.Planes * k.OutHeight * k.OutWidth) }

// MaxPoolGradient is max_pool_gradient: the derivative of MaxPool from its indices.
type MaxPoolGradient struct {
	Index  Doubles
	G, Out Matrix
	Pool
}

// Grid implements [Kernel].
func (k MaxPoolGradient) Grid() Grid { return Each(k.Planes * k.Height * k.Width) }

// AveragePool is average_pool: the sum of each window, divided by Width.
type AveragePool struct {
	In, Out Matrix
	Pool
}

// Grid implements [Kernel].
func (k AveragePool) Grid() Grid { return Each(k.Planes * k.OutHeight * k.OutWidth) }

// AveragePoolGradient is average_pool_gradient: gorgonia's derivative of AveragePool.
type AveragePoolGradient struct {
	G, Out Matrix
	Pool
}

// Grid implements [Kernel].
func (k AveragePoolGradient) Grid() Grid { return Each(k.Planes) }
