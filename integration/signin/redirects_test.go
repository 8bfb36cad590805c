package signin

import "strings"

// redirects are redirect URIs of clients: whether each is allowed if none is configured,
// and with the entries https://app.example.com/done, http://localhost/native and
// com.example.app:/done.
var redirects = []struct {
	uri        string
	isLoopback bool
	isListed   bool
}{
	// The intended ones.
	{"http://localhost", true, false},
	{"http://localhost/", true, false},
	{"http://localhost:3000/done", true, false},
	{"http://localhost:3000/done?next=%2Fa", true, false},
	{"http://localhost?next=1", true, false},
	{"http://127.0.0.1:65535/done", true, false},
	{"http://[::1]:3000/done", true, false},
	{"http://localhost/" + strings.Repeat("a", 2048-len("http://localhost/")), true, false},
	{"http://localhost/native", true, true},
	{"http://localhost:51004/native", true, true},
	{"https://app.example.com/done", false, true},
	{"com.example.app:/done", false, true},

	// Other hosts that look like it.
	{"http://localhost.evil.example/", false, false},
	{"http://localhost@evil.example/", false, false},
	{"http://localhost:80@evil.example/", false, false},
	{"http://localhost%40evil.example/", false, false},
	{"http://localhost%2eevil.example/", false, false},
	{"http://localhost%00.evil.example/", false, false},
	{"http://localhost\\.evil.example/", false, false},
	{"http://localhost\\@evil.example/", false, false},
	{"http://localhost#@evil.example/", false, false},
	{"http://localhost:3000.evil.example/", false, false},
	{"http://evil.example/localhost", false, false},
	{"http://evil.example#localhost", false, false},
	{"http://evil.example?http://localhost/", false, false},
	{"http://evil.example\\localhost/", false, false},
	{"http://xn--localhst-0za.example/", false, false},
	{"http://loc\u0430lhost/", false, false}, // with a Cyrillic letter
	{"http://\uff4cocalhost/", false, false}, // with a wide one
	{"http://127.0.0.1.evil.example/", false, false},
	{"http://127.0.0.1@evil.example/", false, false},
	{"http://127.0.0.2/", false, false},
	{"http://127.1/", false, false},
	{"http://0/", false, false},
	{"http://0.0.0.0/", false, false},
	{"http://2130706433/", false, false},
	{"http://0x7f000001/", false, false},
	{"http://0177.0.0.1/", false, false},
	{"http://[::ffff:127.0.0.1]/", false, false},
	{"http://[::]/", false, false},
	{"http://[::1].evil.example/", false, false},
	{"http://[::1%25eth0]/", false, false},

	// The right host in a refused form.
	{"https://localhost/", false, false},
	{"HTTP://localhost/", false, false},
	{"http://LOCALHOST/", false, false},
	{"http://localhost./", false, false},
	{"http://localhost:/", false, false},
	{"http://localhost:0/", false, false},
	{"http://localhost:65536/", false, false},
	{"http://localhost:-1/", false, false},
	{"http://user@localhost/", false, false},
	{"http://user:password@localhost/", false, false},
	{"http://@localhost/", false, false},
	{"http://localhost/#", false, false},
	{"http://localhost/#token", false, false},
	{"http:///localhost/", false, false},
	{"http:localhost/", false, false},
	{"http:/localhost/", false, false},
	{"//localhost/", false, false},
	{"/localhost", false, false},
	{"localhost", false, false},
	{"http://localhost/ ", false, false},
	{" http://localhost/", false, false},
	{"http://localhost/\r\nSet-Cookie: a=b", false, false},
	{"http://localhost/\t", false, false},
	{"http://local\nhost/", false, false},
	{"http://localhost/%", false, false},
	{"http://localhost/%zz", false, false},
	{"http://localhost/<script>", false, false},
	{"http://localhost/\xff", false, false},
	{"http://localhost/" + strings.Repeat("a", 2049-len("http://localhost/")), false, false},

	// Other schemes.
	{"javascript:alert(1)//http://localhost/", false, false},
	{"data:text/html,localhost", false, false},
	{"file:///localhost", false, false},
	{"ftp://localhost/", false, false},
	{"vbscript:localhost", false, false},
	{"intent://localhost/#Intent;end", false, false},

	// Beside the entries.
	{"https://app.example.com/done/", false, false},
	{"https://app.example.com/done?a=b", false, false},
	{"https://app.example.com/done#a", false, false},
	{"https://app.example.com/done/../steal", false, false},
	{"https://app.example.com/%64one", false, false},
	{"https://app.example.com:443/done", false, false},
	{"https://APP.example.com/done", false, false},
	{"https://app.example.com@evil.example/done", false, false},
	{"https://app.example.com.evil.example/done", false, false},
	{"http://app.example.com/done", false, false},
	{"http://localhost/native/", true, false},
	{"http://localhost:1/native?a", true, false},
	{"http://127.0.0.1/native", true, false},
	{"http://localhost:99999/native", false, false},
	{"com.example.app:/done2", false, false},
	{"com.example.app://done", false, false},
	{"com.example.app.evil:/done", false, false},
}
