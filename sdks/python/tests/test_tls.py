"""Tests TLS with a private CA and with client certificates."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import grpc
from fake_service import FakeService, serve

from visage import VisageClient, VisageError


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class TlsTest(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        for name in ("server", "client"):
            cls._create_certificate(name)

    @classmethod
    def _create_certificate(cls, name: str) -> None:
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj"
        subprocess.run(
            [*command.split(), f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
            + ["-keyout", cls.folder / f"{name}.key", "-out", cls.folder / f"{name}.pem"],
            check=True,
            capture_output=True,
        )

    def pem(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def test_trusts_the_given_ca_only(self) -> None:
        credentials = grpc.ssl_server_credentials([(self.pem("server.key"), self.pem("server.pem"))])
        with serve(FakeService(), credentials=credentials) as port:
            address = f"https://127.0.0.1:{port}"
            for ca in (self.pem("server.pem"), self.folder / "server.pem"):
                with VisageClient(address, "key", ca=ca) as client:
                    client.get_face_vec(b"photo")
            with VisageClient(address, "key", retries=0) as client, self.assertRaises(VisageError) as raised:
                client.get_face_vec(b"photo")
        self.assertEqual(raised.exception.reason, "UNREACHABLE")

    def test_presents_a_client_certificate(self) -> None:
        service = FakeService()
        credentials = grpc.ssl_server_credentials(
            [(self.pem("server.key"), self.pem("server.pem"))], self.pem("client.pem"), require_client_auth=True
        )
        with serve(service, credentials=credentials) as port:
            with VisageClient(
                f"https://127.0.0.1:{port}",
                ca=self.folder / "server.pem",
                client_certificate=self.folder / "client.pem",
                client_key=self.folder / "client.key",
            ) as client:
                client.get_face_vec(b"photo")
        self.assertNotIn("authorization", service.metadata[0])


if __name__ == "__main__":
    unittest.main()
