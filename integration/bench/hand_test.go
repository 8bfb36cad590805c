package bench

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/goccy/go-json"
	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sternpost/sternpost/auth"
)

// The same API written by hand, for this one schema, in the two forms that a careful developer could choose. The body is
// decoded into a struct and checked, and one prepared statement is sent, whose plan is kept and whose order an index has.
// A rule is in the statement, with the caller as a parameter.

// handForm is how rows become JSON.
type handForm struct {
	post, entry handRecord
}

var handForms = map[string]handForm{
	"json": {post: inPostgres(jsonOfPost), entry: inPostgres(jsonOfEntry)},
	"rows": {post: inStructs(rowOfPost, appendPost), entry: inStructs(rowOfEntry, appendEntry)},
}

// handRecord is a form for the rows of one table.
type handRecord struct {
	selecting func(from string) string // a statement
	returning string                   // the end of one that writes
	write     func([]byte, pgx.Rows) ([]byte, error)
}

// inPostgres is the form in which Postgres builds the JSON, and the server passes the bytes on.
func inPostgres(columns string) handRecord {
	return handRecord{
		selecting: func(from string) string {
			return "select row_to_json(record) from (select " + columns + " " + from + ") as record"
		},
		returning: " returning (select row_to_json(record) from (select " + columns + ") as record)",
		write:     func(out []byte, rows pgx.Rows) ([]byte, error) { return append(out, rows.RawValues()[0]...), nil },
	}
}

// inStructs is the form in which the server reads rows, in binary, into structs, and writes these as JSON.
func inStructs(columns string, write func([]byte, pgx.Rows) ([]byte, error)) handRecord {
	return handRecord{
		selecting: func(from string) string { return "select " + columns + " " + from },
		returning: " returning " + columns,
		write:     write,
	}
}

const (
	jsonOfPost = `
  post.id as "id",
  post.title as "title",
  post.body as "body",
  post.status as "status",
  trim_scale(post.score) as "score",
  post.author_id as "authorId",
  to_char(post.published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "publishedAt",
  to_char(post.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
  to_char(post.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"`

	jsonOfEntry = `
  entry.id as "id",
  entry.text as "text",
  to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at",
  to_char(entry.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
  to_char(entry.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"`

	rowOfPost = `post.id, post.title, post.body, post.status, trim_scale(post.score)::text, post.author_id,
  post.published_at, post.created_at, post.updated_at`

	rowOfEntry = `entry.id, entry.text, entry.at, entry.created_at, entry.updated_at`
)

const (
	fromPost = "from app.post where post.id = $1"

	fromOwnPost = `from app.post join app.author on author.id = post.author_id
where post.id = $1 and author.identity_id = $2`

	insertPost = `insert into app.post (title, body, status, author_id, published_at)
values ($1, $2, coalesce($3, 'Draft'), $4, $5)`

	insertDiscussion = `with inserted as (
  insert into app.post (title, body, status, author_id) values ($1, $2, coalesce($3, 'Draft'), $4) returning *
), comments as (
  insert into app.comment (post_id, text, stars)
  select inserted.id, comment.text, coalesce(comment.stars, 0)
  from inserted, unnest($5::text[], $6::bigint[]) as comment (text, stars)
)
`
	fromInserted = "from inserted as post"

	updatePost = `update app.post set title = coalesce($2, title), body = coalesce($3, body), status = coalesce($4, status)
where post.id = $1`

	updateOwnPost = `update app.post set title = coalesce($2, title), body = coalesce($3, body), status = coalesce($4, status)
from app.author
where post.id = $1 and author.id = post.author_id and author.identity_id = $5`
)

// Lists take the number of rows as their first parameter. A client gets the next page by the values of the last row.
const (
	newestPosts = " order by post.created_at desc, post.id desc limit $1"

	fromPostsByStatus = "from app.post where post.status = $2" + newestPosts
	fromPostsByAuthor = "from app.post where post.author_id = $2" + newestPosts
	fromOwnPosts      = "from app.post where post.author_id = (select author.id from app.author where author.identity_id = $2)" + newestPosts

	// The index on the status has the rows of each status in the order of the list.
	fromPostsByOthers = `from unnest($2::text[]) as wanted (status)
cross join lateral (
  select * from app.post where post.status = wanted.status and post.score <= $3
  order by post.status desc, post.created_at desc, post.id desc limit $1
) as post` + newestPosts

	newestEntries = " order by entry.at desc, entry.id desc limit $1"

	fromEntries      = "from app.entry" + newestEntries
	fromEntriesAfter = "from app.entry where (entry.at, entry.id) < ($2, $3)" + newestEntries
)

// byHand is the server.
type byHand struct {
	pool        *pgxpool.Pool
	tokens      *auth.Tokens
	post, entry handRecord

	getPost, getOwnPost, createPost, createDiscussion, updatePost, updateOwnPost          string
	postsByStatus, postsByAuthor, postsByOthers, ownPosts, firstEntries, entriesFollowing string
}

func serveByHand(form handForm, databaseURL, address, poolSize string, tokens *auth.Tokens) error {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return err
	}
	size, err := strconv.ParseInt(poolSize, 10, 32)
	if err != nil {
		return err
	}
	config.MaxConns = int32(size)
	// The number of rows would otherwise make Postgres plan each list anew.
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return err
	}
	post, entry := form.post, form.entry
	s := &byHand{
		pool: pool, tokens: tokens, post: post, entry: entry,
		getPost: post.selecting(fromPost), getOwnPost: post.selecting(fromOwnPost),
		createPost: insertPost + post.returning, createDiscussion: insertDiscussion + post.selecting(fromInserted),
		updatePost: updatePost + post.returning, updateOwnPost: updateOwnPost + post.returning,
		postsByStatus: post.selecting(fromPostsByStatus), postsByAuthor: post.selecting(fromPostsByAuthor),
		postsByOthers: post.selecting(fromPostsByOthers), ownPosts: post.selecting(fromOwnPosts),
		firstEntries: entry.selecting(fromEntries), entriesFollowing: entry.selecting(fromEntriesAfter),
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Post("/api/json/getPost", s.get)
	app.Post("/api/json/getOwnPost", s.getOwn)
	app.Post("/api/json/createPost", s.create)
	app.Post("/api/json/createDiscussion", s.discuss)
	app.Post("/api/json/updatePost", s.update)
	app.Post("/api/json/updateOwnPost", s.updateOwn)
	app.Post("/api/json/listPosts", s.list)
	app.Post("/api/json/listOwnPosts", s.listOwn)
	app.Post("/api/json/listEntries", s.listEntries)
	return app.Listen(address)
}

// identify returns the caller. It refuses anonymous callers.
func (s *byHand) identify(c *fiber.Ctx) (string, error) {
	who, err := s.tokens.Identify(c.Context(), []string{c.Get("Authorization")})
	if err != nil || who.ID == "" {
		return "", fiber.ErrUnauthorized
	}
	return who.ID, nil
}

// answer sends the rows of a statement as write puts them behind one another. It writes to the body of an earlier answer.
func (s *byHand) answer(c *fiber.Ctx, write func([]byte, pgx.Rows) ([]byte, error), sql string, arguments ...any) error {
	rows, err := s.pool.Query(c.Context(), sql, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	response := c.Response()
	body, err := write(response.SwapBody(nil)[:0], rows)
	response.SwapBody(body)
	c.Set("Content-Type", "application/json")
	return errors.Join(err, rows.Err())
}

// row answers with the one row of a statement.
func (s *byHand) row(c *fiber.Ctx, sql string, arguments ...any) error {
	return s.answer(c, func(body []byte, rows pgx.Rows) ([]byte, error) {
		if !rows.Next() {
			return body, errors.Join(rows.Err(), fiber.ErrNotFound)
		}
		return s.post.write(body, rows)
	}, sql, arguments...)
}

// page answers with the rows of a list. It asks for one more, to see whether there is a next page.
func (s *byHand) page(c *fiber.Ctx, record handRecord, size int, sql string, arguments ...any) error {
	return s.answer(c, func(body []byte, rows pgx.Rows) ([]byte, error) {
		body = append(body, `{"results":[`...)
		var err error
		n := 0
		for ; rows.Next() && err == nil; n++ {
			if n == size {
				continue
			}
			if n > 0 {
				body = append(body, ',')
			}
			body, err = record.write(body, rows)
		}
		body = append(body, `],"pageInfo":{"hasNextPage":`...)
		return append(strconv.AppendBool(body, n > size), "}}"...), err
	}, sql, append([]any{size + 1}, arguments...)...)
}

func (s *byHand) get(c *fiber.Ctx) error {
	var in struct{ ID *string }
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.ID == nil {
		return fiber.ErrBadRequest
	}
	return s.row(c, s.getPost, *in.ID)
}

func (s *byHand) getOwn(c *fiber.Ctx) error {
	who, err := s.identify(c)
	if err != nil {
		return err
	}
	var in struct{ ID *string }
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.ID == nil {
		return fiber.ErrBadRequest
	}
	return s.row(c, s.getOwnPost, *in.ID, who)
}

func isStatus(text *string) bool { return text == nil || *text == "Draft" || *text == "Live" }

func (s *byHand) create(c *fiber.Ctx) error {
	var in struct {
		Title, Body *string
		Status      *string
		Author      *struct{ ID *string }
		PublishedAt *time.Time
	}
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.Title == nil || in.Body == nil || in.Author == nil || in.Author.ID == nil || !isStatus(in.Status) {
		return fiber.ErrBadRequest
	}
	return s.row(c, s.createPost, *in.Title, *in.Body, in.Status, *in.Author.ID, in.PublishedAt)
}

func (s *byHand) discuss(c *fiber.Ctx) error {
	var in struct {
		Title, Body *string
		Status      *string
		Author      *struct{ ID *string }
		Comments    []struct {
			Text  *string
			Stars *int64
		}
	}
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.Title == nil || in.Body == nil || in.Author == nil || in.Author.ID == nil || in.Comments == nil || !isStatus(in.Status) {
		return fiber.ErrBadRequest
	}
	texts, stars := make([]string, len(in.Comments)), make([]*int64, len(in.Comments))
	for i, comment := range in.Comments {
		if comment.Text == nil {
			return fiber.ErrBadRequest
		}
		texts[i], stars[i] = *comment.Text, comment.Stars
	}
	return s.row(c, s.createDiscussion, *in.Title, *in.Body, in.Status, *in.Author.ID, texts, stars)
}

// update is the body of a request to change a post.
type update struct {
	Where  struct{ ID *string }
	Values struct{ Title, Body, Status *string }
}

func (s *byHand) update(c *fiber.Ctx) error {
	var in update
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.Where.ID == nil || !isStatus(in.Values.Status) {
		return fiber.ErrBadRequest
	}
	return s.row(c, s.updatePost, *in.Where.ID, in.Values.Title, in.Values.Body, in.Values.Status)
}

func (s *byHand) updateOwn(c *fiber.Ctx) error {
	who, err := s.identify(c)
	if err != nil {
		return err
	}
	var in update
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.Where.ID == nil || !isStatus(in.Values.Status) {
		return fiber.ErrBadRequest
	}
	return s.row(c, s.updateOwnPost, *in.Where.ID, in.Values.Title, in.Values.Body, in.Values.Status, who)
}

func (s *byHand) list(c *fiber.Ctx) error {
	var in struct {
		Where struct {
			Status struct {
				Equals *string
				OneOf  []string
			}
			Score  struct{ LessThanOrEquals *float64 }
			Author struct{ ID struct{ Equals *string } }
		}
		First *int
	}
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.First == nil {
		return fiber.ErrBadRequest
	}
	where := &in.Where
	switch {
	case where.Status.Equals != nil && isStatus(where.Status.Equals):
		return s.page(c, s.post, *in.First, s.postsByStatus, *where.Status.Equals)
	case where.Author.ID.Equals != nil:
		return s.page(c, s.post, *in.First, s.postsByAuthor, *where.Author.ID.Equals)
	case where.Status.OneOf != nil && where.Score.LessThanOrEquals != nil:
		return s.page(c, s.post, *in.First, s.postsByOthers, where.Status.OneOf, *where.Score.LessThanOrEquals)
	}
	return fiber.ErrBadRequest
}

func (s *byHand) listOwn(c *fiber.Ctx) error {
	who, err := s.identify(c)
	if err != nil {
		return err
	}
	var in struct{ First *int }
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.First == nil {
		return fiber.ErrBadRequest
	}
	return s.page(c, s.post, *in.First, s.ownPosts, who)
}

func (s *byHand) listEntries(c *fiber.Ctx) error {
	var in struct {
		First *int
		After *struct {
			At time.Time
			ID string
		}
	}
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.First == nil {
		return fiber.ErrBadRequest
	}
	if in.After == nil {
		return s.page(c, s.entry, *in.First, s.firstEntries)
	}
	return s.page(c, s.entry, *in.First, s.entriesFollowing, in.After.At, in.After.ID)
}
