"""Research cryptography: additively homomorphic encryption of 64-bit words."""
