package auth

import (
	"errors"
	"strings"

	"golang.org/x/oauth2"
)

// The methods by which a client proves that it began the sign-in of its code (RFC 7636).
const (
	challengeS256  = "S256"
	challengePlain = "plain"
)

// checkChallenge checks the challenge at the beginning of a sign-in. It returns the
// method for the later comparison with the verifier; none without a challenge. The error
// tells what is wrong.
func (mode PKCE) checkChallenge(challenge, method string) (string, error) {
	if challenge == "" {
		switch {
		case method != "":
			return "", errors.New("code_challenge_method needs a code_challenge")
		case mode != PKCEOptional:
			return "", errors.New("code_challenge is required")
		}
		return "", nil
	}
	if method == "" {
		method = challengePlain
	}
	switch {
	case method != challengeS256 && method != challengePlain:
		return "", errors.New("code_challenge_method is neither S256 nor plain")
	case method == challengePlain && mode == PKCES256:
		return "", errors.New("code_challenge_method must be S256")
	case !isVerifier(challenge) || method == challengeS256 && len(challenge) != 43:
		return "", errors.New("code_challenge is malformed")
	}
	return method, nil
}

// isVerifier tells whether a text has the form of a verifier, or of a plain challenge.
func isVerifier(text string) bool {
	return 43 <= len(text) && len(text) <= 128 && !strings.ContainsFunc(text, func(r rune) bool {
		isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !isLetter && (r < '0' || r > '9') && !strings.ContainsRune("-._~", r)
	})
}

// Proof proves at the end of a sign-in that the client began it: the store compares these
// digests with its own. The time of the comparison does not help an attacker: to learn
// how much of a digest is right reveals nothing about the verifier. The zero proof is
// that of a client without verifier.
type Proof struct {
	VerifierHash  []byte // SHA-256 of the verifier
	ChallengeHash []byte // SHA-256 of the S256 challenge made from it
}

// proofOf returns the proof from a verifier. A malformed verifier proves nothing, but
// does not count as absent: its client relies on a protection that a sign-in without a
// challenge does not have.
func proofOf(verifier string) Proof {
	switch {
	case verifier == "":
		return Proof{}
	case !isVerifier(verifier):
		return Proof{VerifierHash: []byte{}, ChallengeHash: []byte{}}
	}
	return Proof{
		VerifierHash:  HashSecret(verifier),
		ChallengeHash: HashSecret(oauth2.S256ChallengeFromVerifier(verifier)),
	}
}
