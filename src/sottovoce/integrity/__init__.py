"""Whether reports can be honest: tests of sealed rounds, and corrections that are asked for."""
