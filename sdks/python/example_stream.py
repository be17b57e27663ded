"""Analyses the photographs of a folder on one stream: python example_stream.py URL API_KEY FOLDER"""

import sys
from pathlib import Path

from visage import VisageClient, VisageError

address, api_key, folder = sys.argv[1:]
photos = ((path.name, path) for path in Path(folder).iterdir() if path.suffix.lower() in (".jpg", ".jpeg", ".png"))

with VisageClient(address, api_key) as client:
    try:
        for result in client.analyze_images(photos):
            if result.response:
                print(f"{result.key}: {len(result.response.faces)} faces")
            else:
                print(f"{result.key}: {result.error}", file=sys.stderr)
    except VisageError as error:
        sys.exit(str(error))
