"""The methods of Wang 2021, chapter 9, and those it compares with, as they were published."""
