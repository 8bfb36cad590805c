package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The parameters of codes (RFC 6238): those that every authenticator app knows.
const (
	totpStep    = 30 // seconds
	totpDigits  = 6
	totpSkew    = 1  // steps before and after the present one
	totpKeySize = 20 // bytes, as RFC 4226 recommends
)

// hotp returns the code for a counter (RFC 4226, section 5.3).
func hotp(key []byte, counter uint64, digits int) string {
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, counter) // never fails
	sum := mac.Sum(nil)
	bits := binary.BigEndian.Uint32(sum[sum[len(sum)-1]&15:]) & 0x7fffffff
	text := fmt.Sprintf("%010d", bits)
	return text[len(text)-digits:]
}

// matchTOTP returns the step whose code a text is, if it is one of those around a moment.
func matchTOTP(key []byte, code string, at time.Time) (step int64, ok bool) {
	code = strings.ReplaceAll(code, " ", "")
	now := at.Unix() / totpStep
	for s := now - totpSkew; s <= now+totpSkew; s++ {
		if subtle.ConstantTimeCompare([]byte(hotp(key, uint64(s), totpDigits)), []byte(code)) == 1 {
			step, ok = s, true
		}
	}
	return step, ok
}

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// newTOTPSecret returns a random key in base32, as authenticator apps show it.
func newTOTPSecret() string {
	key := make([]byte, totpKeySize)
	_, _ = rand.Read(key) // never fails
	return base32Text.EncodeToString(key)
}

// totpURL returns the address that an authenticator app reads from a QR code.
func totpURL(service, account, secret string) string {
	label := url.PathEscape(strings.ReplaceAll(service, ":", " ") + ":" + account)
	return "otpauth://totp/" + label + "?secret=" + secret + "&issuer=" + strings.ReplaceAll(url.QueryEscape(service), "+", "%20")
}

// recoveryCodes is how many an identity gets at once.
const recoveryCodes = 10

// newRecoveryCodes returns random codes of 80 bits, in four groups that a person can copy, and their hashes. One round
// of a hash is enough: they cannot be guessed.
func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		bits := make([]byte, 10)
		_, _ = rand.Read(bits) // never fails
		text := strings.ToLower(base32Text.EncodeToString(bits))
		code := text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
		codes, hashes = append(codes, code), append(hashes, hashRecoveryCode(code))
	}
	return codes, hashes
}

// hashRecoveryCode returns the stored hash of a recovery code, however its groups are written.
func hashRecoveryCode(code string) []byte {
	return HashSecret(strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code)))
}
