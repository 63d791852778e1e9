"""Kernels of dense and sparse linear algebra, stencils, recurrences and masks, in plain NumPy style."""

from kernels import applications, factorisations, products, stencils

KERNELS = {k.name: k for module in (stencils, factorisations, products, applications) for k in module.KERNELS}
