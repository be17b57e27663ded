"""Enrols a person and looks for it on another photograph: python example_gallery.py URL API_KEY GALLERY ONE TWO"""

import sys
from pathlib import Path

from visage import VisageClient, VisageError

address, api_key, gallery, one, two = sys.argv[1:]

with VisageClient(address, api_key) as client:
    try:
        client.galleries.create(gallery)
        client.galleries.enrol_face(gallery, "17", Path(one), display_name="Ann")
        for number, face in enumerate(client.galleries.identify(gallery, Path(two)).faces, 1):
            names = [f"{match.display_name} ({match.distance:.2f})" for match in face.matches]
            print(f"face {number}: {names[0] if names else 'unknown'}")
        with client.galleries.export(gallery) as faces:
            print(f"{sum(1 for _ in faces)} faces saved")
        client.galleries.delete(gallery)
    except VisageError as error:
        sys.exit(str(error))
