MISTAKES = ()
FITS = ()
