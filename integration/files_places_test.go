package integration

import (
	"net/http"
	"testing"

	"github.com/sternpost/sternpost/storage/storagetest"
)

// Files of a union and of messages, which custom code reads and answers.
const albumSchema = `
model Photo {
  fields {
    title Text @unique
    image File? @accepts(["image/*"])
    more File[] @default
  }
  actions {
    write addPhoto(NewPhoto) returns (Added)
    read album() returns (Album)
    write keepPhoto(Kept) returns (Kept)
    create importPhoto() with (title, image) {
      @function
    }
  }
  @permission(expression: true, actions: [get, list, create, update, read, write])
}

message NewPhoto {
  title Text
  details Details
}

message Details {
  image File
  more File[]?
}

message Added {
  image File
}

message Album {
  cover File?
  none File?
  pages Page[]
}

message Page {
  caption Text
  images File[]
}

/// Both sent and answered: with its contents, then with where they lie.
message Kept {
  title Text
  image File
  notes KeptNote[]
}

message KeptNote {
  scan File?
}

union Picture {
  fields {
    title Text
    image File?
    more File[]?
  }
  arms {
    photo Photo
  }
  actions {
    list listPictures() {
      @orderBy(title: asc)
    }
  }
  @permission(expression: true, actions: [list])
}
`

var albumCode = map[string]string{
	"schema.stern": albumSchema,
	"functions/addPhoto.sql": `
create function functions.add_photo(input jsonb) returns jsonb
language sql
volatile
security invoker
as $$
  insert into app.photo (title, image, more)
  values (
    input->>'title',
    input #> '{details,image}',
    array(select jsonb_array_elements(coalesce(nullif(input #> '{details,more}', 'null'), '[]')))
  )
  returning jsonb_build_object('image', photo.image);
$$;
`,
	"functions/keepPhoto.sql": `
create function functions.keep_photo(input jsonb) returns jsonb
language sql
volatile
security invoker
as $$
  insert into app.photo (title, image, more)
  values (
    input->>'title',
    input->'image',
    array(select note->'scan' from jsonb_array_elements(input->'notes') as note where note->>'scan' is not null)
  )
  returning input;
$$;
`,
	"functions/album.sql": `
create function functions.album() returns jsonb
language sql
stable
security invoker
as $$
  select jsonb_build_object(
    'cover', (select photo.image from app.photo order by photo.title limit 1),
    'none', null,
    'pages', (
      select jsonb_agg(jsonb_build_object('caption', photo.title, 'images', to_jsonb(photo.image || photo.more)) order by photo.title)
      from app.photo
    )
  );
$$;
`,
	"functions/importPhoto.sql": `
create function functions.import_photo(title text, image jsonb) returns app.photo
language sql
volatile
security invoker
as $$
  insert into app.photo (title, image) values (title, image) returning *;
$$;
`,
}

func TestFilesOfCustomCodeAndUnions(t *testing.T) {
	t.Parallel()
	how := onBucket(t)
	dir := writeProject(t, albumCode)
	db := installApp(t, dir)
	a := &filesApp{app: serveWith(t, db, dir, db.ServerURL(), how), store: how.store}

	image, page := dataURL("image/png", "a.png", "image"), dataURL("text/plain", "b.txt", "page")
	type added struct{ Image *file }
	got := read[added](t, a.ok(t, "addPhoto", "", `{"title":"a","details":{"image":"`+image+`","more":["`+page+`"]}}`))
	if got.Image == nil || got.Image.Filename != "a.png" || string(storagetest.Fetch(t, got.Image.URL)) != "image" {
		t.Errorf("addPhoto: got %+v", got.Image)
	}

	// A file within a message comes inline, and has no upload route.
	a.refuses(t, "addPhoto", "", `{"title":"b","details":{"image":"AAAAAAAAAAAAAAAAAAAAAA"}}`, "details.image",
		"is not a data URL with a type, a name and base64 data")
	for _, route := range []string{"addPhoto/upload/image", "addPhoto/upload/details"} {
		if status, text := a.post(t, route, "", anUpload); status != http.StatusNotFound {
			t.Errorf("POST %s: got %d %s, want 404", route, status, text)
		}
	}
	// An input of a create with custom code has one, with the limits of the field.
	a.refuses(t, "importPhoto/upload/image", "", `{"filename":"a","contentType":"text/html","size":3}`, "contentType", "content type text/html is not accepted")
	imported := read[added](t, a.ok(t, "importPhoto", "", `{"title":"b","image":"`+a.sent(t, "importPhoto/upload/image", "", "image/png", "sent")+`"}`))
	if imported.Image == nil || string(storagetest.Fetch(t, imported.Image.URL)) != "sent" {
		t.Errorf("importPhoto: got %+v", imported.Image)
	}

	// A message that is both sent and answered has the file at every depth.
	kept := read[struct {
		Image file
		Notes []struct{ Scan *file }
	}](t, a.ok(t, "keepPhoto", "", `{"title":"c","image":"`+dataURL("image/png", "c.png", "kept")+`","notes":[{"scan":"`+page+`"},{"scan":null},{}]}`))
	if len(kept.Notes) != 3 || kept.Notes[0].Scan == nil || kept.Notes[1].Scan != nil || string(storagetest.Fetch(t, kept.Image.URL)) != "kept" ||
		string(storagetest.Fetch(t, kept.Notes[0].Scan.URL)) != "page" {
		t.Errorf("keepPhoto: got %+v", kept)
	}
	a.refuses(t, "keepPhoto", "", `{"title":"d","image":"`+image+`","notes":[{"scan":"x"}]}`, "notes.0.scan",
		"is not a data URL with a type, a name and base64 data")

	// Each file of a result has its url, at every depth.
	album := read[struct {
		Cover, None *file
		Pages       []struct{ Images []file }
	}](t, a.ok(t, "album", "", `{}`))
	pictures := read[struct {
		Results []struct {
			Image *file
			More  []file
		}
	}](t, a.ok(t, "listPictures", "", `{}`))
	if album.Cover == nil || album.None != nil || len(album.Pages) != 3 || len(album.Pages[0].Images) != 2 || len(pictures.Results) != 3 || len(pictures.Results[0].More) != 1 {
		t.Fatalf("got the album %+v and the pictures %+v", album, pictures)
	}
	for _, c := range []struct {
		name string
		file file
		want string
	}{
		{"the cover of the album", *album.Cover, "image"},
		{"the first page of the album", album.Pages[0].Images[1], "page"},
		{"the second page of the album", album.Pages[1].Images[0], "sent"},
		{"the image of a picture", *pictures.Results[0].Image, "image"},
		{"what else a picture has", pictures.Results[0].More[0], "page"},
	} {
		if contents := string(storagetest.Fetch(t, c.file.URL)); contents != c.want {
			t.Errorf("%s: got %q, want %q", c.name, contents, c.want)
		}
	}
	if got, want := a.counts(t), "5 held, 0 free, 0 neither"; got != want {
		t.Errorf("files: %s, want %s", got, want)
	}
}
