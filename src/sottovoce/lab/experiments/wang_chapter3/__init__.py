"""Wang 2021, chapter 3: frequency oracles."""
