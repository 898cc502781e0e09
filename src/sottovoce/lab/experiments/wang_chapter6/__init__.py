"""Wang 2021, chapter 6: marginals of many attributes."""
