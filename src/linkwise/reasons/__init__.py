"""Why the clusters are what they are, in words.

`explain` describes a clustering by rules on the columns, through a tree; `why` says of two rows what put them
together or apart: answers, a row that stands for others, or a rule.
"""
