"""Why the clusters are what they are, in words.

`explain` describes a clustering by rules on the columns, which are the leaves of a tree. `why` gives the
reason why two rows are together or apart: answers, a representative, or a rule.
"""
