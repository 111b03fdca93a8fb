//! Signatures of DarkPlaces' `rcon`. Feature `secure-rcon`.

use hmac::{Hmac, KeyInit, Mac};
use md4::Md4;

use super::password::Password;
use crate::quake3::wire::secure_rcon::{MAC, SecureMode, SecureRconRequest};

impl<'a> SecureRconRequest<'a> {
    /// Signs. `signed`: time or challenge, a blank, the command. The password up to its first blank is the key, as on
    /// DarkPlaces. Feature `secure-rcon`.
    #[must_use]
    pub fn sign(mode: SecureMode, password: &Password, signed: &'a [u8]) -> Self {
        Self { mode, mac: hmac_md4(password, signed), signed }
    }

    /// Whether the signature was made with this password. Whether the time or the challenge is valid is for the caller to
    /// check, see [`verify_challenge`](crate::quake3::server::verify_challenge). Feature `secure-rcon`.
    #[must_use]
    pub fn verify(&self, password: &Password) -> bool {
        !password.as_bytes().is_empty()
            && Password::new(hmac_md4(password, self.signed).to_vec()).matches(&self.mac)
    }
}

fn hmac_md4(password: &Password, signed: &[u8]) -> [u8; MAC] {
    let key = password.as_bytes().split(|&byte| byte == b' ').next().unwrap_or_default();
    // HMAC takes keys of every length: there is no error.
    Hmac::<Md4>::new_from_slice(key)
        .map_or([0; MAC], |mac| mac.chain_update(signed).finalize().into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with an independent MD4 (RFC 1320) and HMAC (RFC 2104).
    #[test]
    fn known_signatures() {
        let password = Password::new("secret");
        for (mode, signed, mac) in [
            (SecureMode::Time, "1700000000.000123 status", "c6cf6c6ad27c18f387566c17a6039f2f"),
            (SecureMode::Challenge, "ABCDEFGHIJK status", "9f0a54dcdcfb759e140ff546bcd26696"),
        ] {
            let request = SecureRconRequest::sign(mode, &password, signed.as_bytes());
            assert_eq!(hex::encode(request.mac), mac);
            assert!(request.verify(&password) && request.verify(&Password::new("secret and more")));
            assert!(!request.verify(&Password::new("Secret")) && !request.verify(&Password::new("")));
            let other = SecureRconRequest { signed: b"1700000000.000123 quit", ..request };
            assert!(!other.verify(&password));
        }
    }
}
