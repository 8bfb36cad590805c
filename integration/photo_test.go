package integration

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// photoPage is a page of an application on another origin, whose users add photos.
const photoPage = `<!doctype html>
<title>Photos</title>
<input type="file">
<output></output>
<script>
const query = new URLSearchParams(location.search);
const api = query.get("base") + "/api/json/photographBicycle";
const post = async (url, body) => {
  const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
};
document.querySelector("input").onchange = async (event) => {
  const file = event.target.files[0];
  const upload = await post(api + "/upload/photos", { filename: file.name, contentType: file.type, size: file.size });
  const { "Content-Length": length, ...headers } = upload.headers; // which browsers send by themselves
  const put = await fetch(upload.url, { method: "PUT", headers, body: file });
  if (!put.ok) throw new Error("PUT: " + put.status);
  const bicycle = await post(api, { where: { id: query.get("bicycle") }, values: { photos: [upload.key] } });
  const [photo] = bicycle.photos;
  const image = new Image();
  image.src = photo.url;
  document.body.append(image);
  await image.decode();
  document.querySelector("output").textContent = [photo.filename, photo.contentType, image.naturalWidth, image.naturalHeight].join(" ");
};
</script>`

// TestPhotoInBrowser uploads a photo from a page of another origin and looks at it.
func TestPhotoInBrowser(t *testing.T) {
	const consequence = "no browser uploads a file"
	t.Parallel()
	browser := findBrowser(t, consequence)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(photoPage))
	}))
	t.Cleanup(page.Close)
	for _, c := range []struct {
		name, put string
		how       func(*testing.T) serving
	}{
		{"bucket", "200 elsewhere", onBucket},
		{"folder", "200 here", func(*testing.T) serving { return serving{} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			how := c.how(t)
			how.env = append(how.env, "STERNPOST_CORS_ORIGINS="+page.URL)
			db := installApp(t, appDir("workshop"))
			a := &filesApp{app: serveWith(t, db, appDir("workshop"), db.ServerURL(), how), store: how.store}
			ada := read[struct{ ID string }](t, a.ok(t, "createCustomer", "", `{"name":"Ada"}`)).ID
			bicycle := read[struct{ ID string }](t, a.ok(t, "registerBicycle", "",
				`{"owner":{"id":"`+ada+`"},"brand":"Gazelle","frameNumber":"GZ-1","kind":"City"}`)).ID
			want := "page: front ü.png image/png 3 2\nput: " + c.put + "\ncomplaints: none\n"
			browse(t, browser, want, "photo.mjs", a.url, page.URL, bicycle)
		})
	}
}
