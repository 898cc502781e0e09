"""Wang 2021, chapter 7: analytics over several columns."""
