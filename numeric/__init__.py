"""The mathematics of the Transformer as arithmetic: layers in NumPy, and a checker of other implementations."""
