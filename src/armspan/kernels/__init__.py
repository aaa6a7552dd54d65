"""The compiled inner functions and loops: numbers in, numbers out. Importing this room imports numba."""
