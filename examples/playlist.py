"""Which songs, and which songs together, are on most playlists, although nobody shows theirs.

python examples/playlist.py [people] [picture.png]
"""

import sys

import sottovoce as sv
from sottovoce.lab.populations.discoveries import SONGS, playlists

people = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
picture = sys.argv[2] if len(sys.argv) > 2 else "playlist.png"

lists = playlists(people, seed=3)
counts = lists.counts(len(SONGS))
truth = {song: int(count) for song, count in zip(SONGS, counts, strict=True)}

songs = sv.simulate(sv.Task("songs", sv.TopItems(SONGS, top=12), epsilon=2.0), lists, seed=3)
print(songs)
best = sorted(truth, key=truth.__getitem__, reverse=True)[:12]
print(f"\n{len(set(best) & set(songs.labels))} of the 12 most frequent songs were found.\n")

together = sv.simulate(sv.Task("together", sv.Itemsets(SONGS, top=16), epsilon=2.0), lists, seed=3)
print(together)
places = {song: place for place, song in enumerate(SONGS)}
for row in together.rows():
    named = [places[song] for song in row["value"].split(" + ")]
    if len(named) > 1:
        really = int(lists.holding([sorted(named)]).sizes.sum())
        print(f"{really:>9,} {row['estimate']:>9,.0f}  {row['value']}")

songs.plot(picture, truth={label: truth[label] for label in songs.labels})
print(f"\nDrawn to {picture}")
