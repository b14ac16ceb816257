#!/usr/bin/env python3
"""Makes query.fasta and database.fasta: synthetic proteins.

Residues are drawn with the frequencies that they have in real proteins (Robinson and Robinson, 1991). Every ninth protein of the
database is a relative of the query: a part of it, mutated, with residues lost and inserted, between random ones.
"""

import random

RESIDUES = "ARNDCQEGHILKMFPSTWYV"
FREQUENCIES = [78, 51, 45, 54, 19, 43, 63, 74, 22, 51, 90, 57, 22, 39, 52, 71, 58, 13, 32, 64]
random.seed(62)


def protein(length):
    return "".join(random.choices(RESIDUES, FREQUENCIES, k=length))


def relative(query, identity):
    first = random.randrange(0, len(query) // 2)
    last = random.randrange(len(query) * 3 // 4, len(query) + 1)
    residues = []
    for residue in query[first:last]:
        change = random.random()
        if change < 0.015:
            residues.append(protein(random.randint(1, 5)))  # inserted
        elif change < 0.03:
            continue  # lost
        residues.append(residue if random.random() < identity else protein(1))
    head, tail = protein(random.randint(5, 80)), protein(random.randint(5, 80))
    return head + "".join(residues) + tail, f"synthetic, like {first + 1}-{last} of the query, {identity:.0%} kept"


def record(name, description, residues):
    lines = [residues[i : i + 60] for i in range(0, len(residues), 60)]
    return "\n".join([f">{name} {description}", *lines, ""])


query = protein(174)
with open("query.fasta", "w") as file:
    file.write(record("query", "synthetic, 174 residues", query))
with open("database.fasta", "w") as file:
    for number in range(1, 127):
        if number % 9 == 4:
            residues, description = relative(query, random.choice([0.95, 0.8, 0.6, 0.45, 0.35, 0.25]))
        else:
            residues, description = protein(random.randint(100, 400)), "synthetic, random"
        file.write(record(f"P{number:03}", description, residues))
