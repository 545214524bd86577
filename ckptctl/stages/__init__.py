"""The stages between a training step and a folder that stays: who decides what, and where.

Pure functions over an experiment: which settings its trainer reads (`applies`), how its records
are ranked (`ranking`), where two stages disagree (`conflicts`), and all of it in one answer
(`told`), which the verb `policy` shows and the rules CKP401 to CKP404 draw on.
"""
