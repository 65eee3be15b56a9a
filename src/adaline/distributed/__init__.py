"""The same sums over the workers of a Dask cluster; the only package that imports Dask."""
