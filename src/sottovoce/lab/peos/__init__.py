"""Research cryptography, not for production: the private encrypted oblivious shuffle (PEOS).

Several shufflers permute secret-shared reports so that none of them, and no minority of them
together with the server, learns the permutation.  One share of every report stays encrypted under
the server's key.  docs/peos.md says who learns what, what it costs and where it is weak.

The product shuffles by sealed messages in a chain.  Nothing in the product imports this package,
and no task document can name it.
"""
