"""The figures and tables of the papers, one file for each chapter or paper."""
