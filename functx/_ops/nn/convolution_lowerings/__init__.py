"""Ways to lower a convolution, one to a file, and the primitive that is lowered by them.

- `xla_kernels`: by XLA's own convolutions.
- `im2col`: the windows of an image, or of a few of its rows, as a matrix, and one product.
- `depthwise`: one channel and one filter in a group, element by element of the kernel.
- `phases`: by strides, without products with the zeros between.
- `planes`: volumes as convolutions of their planes.
- `on_cpus`: which of these is fastest on CPUs.
"""
