"""The rules, one module a section of the specification, in the specification's order.

A rule is a pure function over the state (or a stream's plan) and one message. It returns the fault where its
clause is broken, None where it holds.
"""
