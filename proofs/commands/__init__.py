"""What `python -m proofs` does; its interface stands in __main__.py."""
