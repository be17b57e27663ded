"""Analyses photographs at the same time: python example_async.py URL API_KEY PHOTO..."""

import asyncio
import sys
from pathlib import Path

from visage import AsyncVisageClient, VisageError


async def main() -> None:
    address, api_key, *paths = sys.argv[1:]
    async with AsyncVisageClient(address, api_key) as client:
        analyses = await asyncio.gather(*(client.analyze_image(Path(path)) for path in paths))
    for path, analysis in zip(paths, analyses):
        for face in analysis.faces:
            gender = face.gender.value if face.gender else "unknown"
            print(f"{Path(path).name}: {gender}, {face.age.range if face.age else 'unknown'}")


try:
    asyncio.run(main())
except VisageError as error:
    sys.exit(str(error))
