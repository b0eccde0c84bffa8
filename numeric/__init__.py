"""The mathematics of the Transformer as arithmetic: layers in NumPy, and a checker for other people's implementations."""
