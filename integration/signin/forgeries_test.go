package signin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
)

type forgery struct{ name, token string }

// forgeries are ID tokens that must not be accepted. Those with an address have the given
// one.
func forgeries(t *testing.T, p *issuer, elsewhere string) []forgery {
	t.Helper()
	foreign, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := jwk.FromRaw(foreign.Public())
	if err != nil {
		t.Fatal(err)
	}
	right, err := jwk.FromRaw(p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	rightText, err := json.Marshal(right)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(algorithm jwa.SignatureAlgorithm, key any, headers map[string]any, edit func(map[string]any)) string {
		claims := p.claims()
		if edit != nil {
			edit(claims)
		}
		payload, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		h := jws.NewHeaders()
		for name, v := range headers {
			if err := h.Set(name, v); err != nil {
				t.Fatal(err)
			}
		}
		signed, err := jws.Sign(payload, jws.WithKey(algorithm, key, jws.WithProtectedHeaders(h)))
		if err != nil {
			t.Fatal(err)
		}
		return string(signed)
	}
	claims := func(edit func(map[string]any)) string {
		return sign(jwa.ES256, p.key, map[string]any{"kid": "key-1"}, edit)
	}
	without := func(name string) string { return claims(func(c map[string]any) { delete(c, name) }) }
	with := func(name string, v any) string { return claims(func(c map[string]any) { c[name] = v }) }

	good := p.idToken(nil)
	parts := strings.Split(good, ".")
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	now := time.Now().Unix()
	return []forgery{
		{"nothing in it", "a.b.c"},
		{"two parts", parts[0] + "." + parts[1]},
		{"five parts, as encrypted ones have", good + ".a.b"},
		{"no signature", parts[0] + "." + parts[1] + "."},
		{"alg none", part(`{"alg":"none"}`) + "." + parts[1] + "."},
		{"alg None", part(`{"alg":"None"}`) + "." + parts[1] + "."},
		{"alg empty", part(`{"alg":""}`) + "." + parts[1] + "." + parts[2]},
		{"signed with the public key as a secret", sign(jwa.HS256, rightText, map[string]any{"kid": "key-1"}, nil)},
		{"another algorithm than the key's", part(`{"alg":"RS256","kid":"key-1"}`) + "." + parts[1] + "." + parts[2]},
		{"a foreign key under the right name", sign(jwa.ES256, foreign, map[string]any{"kid": "key-1"}, nil)},
		{"a foreign key under its own name", sign(jwa.ES256, foreign, map[string]any{"kid": "foreign"}, nil)},
		{"a foreign key without a name", sign(jwa.ES256, foreign, nil, nil)},
		{"a name that is a path", sign(jwa.ES256, foreign, map[string]any{"kid": "../../../../dev/null"}, nil)},
		{"a key set elsewhere", sign(jwa.ES256, foreign, map[string]any{"kid": "foreign", "jku": elsewhere + "/keys"}, nil)},
		{"a certificate elsewhere", sign(jwa.ES256, foreign, map[string]any{"kid": "foreign", "x5u": elsewhere + "/certificate"}, nil)},
		{"a key of its own", sign(jwa.ES256, foreign, map[string]any{"jwk": public}, nil)},
		{"a critical extension", sign(jwa.ES256, p.key, map[string]any{"kid": "key-1", "crit": []string{"exp"}, "exp": now}, nil)},
		{"changed after it was signed", parts[0] + "." + part(`{"iss":"`+p.URL+`","aud":"`+clientID+`","sub":"user-9","iat":1,"exp":9999999999}`) + "." + parts[2]},
		{"too long", with("padding", strings.Repeat("a", 16<<10))},
		{"another client", with("aud", "somebody-else")},
		{"no client", without("aud")},
		{"an empty list of clients", with("aud", []string{})},
		{"several clients and nobody named among them", with("aud", []string{clientID, "somebody-else"})},
		{"somebody else named among the clients", claims(func(c map[string]any) { c["aud"], c["azp"] = []string{clientID, "somebody-else"}, "somebody-else" })},
		{"somebody else named", with("azp", "somebody-else")},
		{"expired beyond what clocks differ", with("exp", now-61)},
		{"no end", without("exp")},
		{"an end in text", with("exp", "9999999999")},
		{"issued in the future", with("iat", now+90)},
		{"never issued", without("iat")},
		{"not yet good", with("nbf", now+90)},
		{"no subject", without("sub")},
		{"an empty subject", with("sub", "")},
		{"a subject that is not a text", with("sub", 7)},
		{"a subject that the database cannot hold", with("sub", "a\x00b")},
		{"a subject that is too long", with("sub", strings.Repeat("a", 2049))},
		{"a subject in other letters", claims(func(c map[string]any) { delete(c, "sub"); c["Sub"] = "user-1" })},
	}
}
