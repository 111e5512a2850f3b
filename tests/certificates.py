"""Certificates for tests: private authorities, and certificates for a server's name or for a client."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PEM = serialization.Encoding.PEM


class Files(NamedTuple):
    """Paths of a certificate, its key, and its authority."""

    cert: Path
    key: Path
    authority: Path


class Authority:
    """A private authority in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"authority {folder.name}")])
        self._certificate = self._sign(
            self._name, self._key.public_key(), x509.BasicConstraints(ca=True, path_length=0)
        )
        self.path = folder / "ca.crt"
        self.path.write_bytes(self._certificate.public_bytes(PEM))

    def issue(self, name: str, *, server: bool, days: int = 30) -> Files:
        """Writes a certificate. A negative number of days makes one that has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
        certificate = self._sign(
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]),
            key.public_key(),
            x509.BasicConstraints(ca=False, path_length=None),
            x509.ExtendedKeyUsage([usage]),
            x509.SubjectAlternativeName([x509.DNSName(name)]),
            days=days,
        )
        files = Files(self.folder / f"{name}.crt", self.folder / f"{name}.key", self.path)
        files.cert.write_bytes(certificate.public_bytes(PEM))
        files.key.write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        return files

    def _sign(
        self, name: x509.Name, key: ec.EllipticCurvePublicKey, *extensions: x509.ExtensionType, days: int = 30
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(self._name, name, key, x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=60)).not_valid_after(now + timedelta(days=days))
        for one in extensions:
            builder = builder.add_extension(one, critical=isinstance(one, x509.BasicConstraints))
        return builder.sign(self._key, hashes.SHA256())
