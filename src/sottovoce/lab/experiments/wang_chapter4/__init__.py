"""Wang 2021, chapter 4: long values."""
