"""Published methods for marginals other than CALM, to compare it with."""
