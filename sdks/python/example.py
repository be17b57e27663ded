"""Checks whether two photographs show the same person: python example.py URL API_KEY ONE TWO"""

import sys
from pathlib import Path

from visage import VisageClient, VisageError

address, api_key, one, two = sys.argv[1:]

with VisageClient(address, api_key) as client:
    try:
        match = client.match_faces(Path(one), Path(two))
    except VisageError as error:
        sys.exit(str(error))
print(f"{'match' if match.is_match else 'not a match'}: {match.distance:.4f}")
