"""The same sums over the workers of a Dask cluster; the only room that imports Dask."""
