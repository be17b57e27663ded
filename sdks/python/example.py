"""Compares the person in a photograph with everybody in another: python example.py URL API_KEY ONE TWO"""

import sys
from pathlib import Path

from visage import VisageClient, VisageError

address, api_key, one, two = sys.argv[1:]

with VisageClient(address, api_key) as client:
    try:
        comparison = client.compare_faces(Path(one), Path(two))
    except VisageError as error:
        sys.exit(str(error))
for match in comparison.matches:
    print(f"{'match' if match.matched else 'no match'}: {match.distance:.4f}")
