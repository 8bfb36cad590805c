package bench

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sternpost/sternpost/auth"
)

// The same API written by hand, for this one schema: the body decoded into a struct
// and checked, one prepared statement, the JSON of Postgres passed on. A rule is
// in the statement, with the caller as a parameter.

const postColumns = `
  post.id as "id",
  post.title as "title",
  post.body as "body",
  post.status as "status",
  trim_scale(post.score) as "score",
  post.author_id as "authorId",
  to_char(post.published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "publishedAt",
  to_char(post.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
  to_char(post.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"`

const (
	returningPost = `
returning (select row_to_json(record)::text from (select` + postColumns + `) as record)`

	handGet = `select row_to_json(record)::text from (select` + postColumns + `
from app.post where post.id = $1) as record`

	handGetOwn = `select row_to_json(record)::text from (select` + postColumns + `
from app.post join app.author on author.id = post.author_id
where post.id = $1 and author.identity_id = $2) as record`

	handCreate = `insert into app.post (title, body, status, author_id, published_at)
values ($1, $2, coalesce($3, 'Draft'), $4, $5)` + returningPost

	handCreateDiscussion = `with inserted as (
  insert into app.post (title, body, status, author_id) values ($1, $2, coalesce($3, 'Draft'), $4) returning *
), comments as (
  insert into app.comment (post_id, text, stars)
  select inserted.id, comment.text, coalesce(comment.stars, 0)
  from inserted, unnest($5::text[], $6::bigint[]) as comment (text, stars)
)
select row_to_json(record)::text from (select` + postColumns + ` from inserted as post) as record`

	handUpdate = `update app.post set title = coalesce($2, title), body = coalesce($3, body), status = coalesce($4, status)
where post.id = $1` + returningPost

	handUpdateOwn = `update app.post set title = coalesce($2, title), body = coalesce($3, body), status = coalesce($4, status)
from app.author
where post.id = $1 and author.id = post.author_id and author.identity_id = $5` + returningPost
)

// The first and the last row delimit a page. The client sends them back to get the
// next one.
const (
	handPage = `select string_agg(row_to_json(record)::text, ','), count(*), (array_agg(record.id))[count(*)] from (`

	handList = handPage + `select` + postColumns + `
from app.post `

	newestPosts = ` order by post.created_at desc, post.id limit $1) as record`

	handListByStatus = handList + `where post.status = $2` + newestPosts
	handListByAuthor = handList + `where post.author_id = $2` + newestPosts
	handListByOthers = handList + `where post.status = any ($2) and post.score <= $3` + newestPosts
	handListOwn      = handList + `join app.author on author.id = post.author_id where author.identity_id = $2` + newestPosts

	handListEntries = handPage + `select
  entry.id as "id",
  entry.text as "text",
  to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "at",
  to_char(entry.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
  to_char(entry.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
from app.entry `
	newestEntries = ` order by entry.at desc, entry.id limit $1) as record`

	handListEntriesFirst = handListEntries + newestEntries
	handListEntriesAfter = handListEntries + `where entry.at <= $2 and (entry.at < $2 or entry.id > $3)` + newestEntries
)

// byHand is the server.
type byHand struct {
	pool   *pgxpool.Pool
	tokens *auth.Tokens
}

func serveByHand(databaseURL, address, poolSize string, tokens *auth.Tokens) error {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return err
	}
	size, err := strconv.ParseInt(poolSize, 10, 32)
	if err != nil {
		return err
	}
	config.MaxConns = int32(size)
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return err
	}
	s := &byHand{pool: pool, tokens: tokens}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Post("/api/json/getPost", s.get)
	app.Post("/api/json/getOwnPost", s.getOwn)
	app.Post("/api/json/createPost", s.create)
	app.Post("/api/json/createDiscussion", s.createDiscussion)
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

// row answers with the one value of a statement.
func (s *byHand) row(c *fiber.Ctx, sql string, arguments ...any) error {
	rows, err := s.pool.Query(c.Context(), sql, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	c.Set("Content-Type", "application/json")
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return fiber.ErrNotFound
	}
	return c.Send(append([]byte(nil), rows.RawValues()[0]...))
}

// page answers with the rows of a list.
func (s *byHand) page(c *fiber.Ctx, size int, sql string, arguments ...any) error {
	var records, last *string
	var count int
	err := s.pool.QueryRow(c.Context(), sql, append([]any{size}, arguments...)...).Scan(&records, &count, &last)
	if err != nil {
		return err
	}
	if records == nil {
		empty := ""
		records, last = &empty, &empty
	}
	more := "false"
	if count == size {
		more = "true"
	}
	c.Set("Content-Type", "application/json")
	return c.SendString(`{"results":[` + *records + `],"pageInfo":{"endCursor":"` + *last + `","hasNextPage":` + more + `}}`)
}

func (s *byHand) get(c *fiber.Ctx) error {
	var in struct{ ID *string }
	if err := json.Unmarshal(c.Body(), &in); err != nil || in.ID == nil {
		return fiber.ErrBadRequest
	}
	return s.row(c, handGet, *in.ID)
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
	return s.row(c, handGetOwn, *in.ID, who)
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
	return s.row(c, handCreate, *in.Title, *in.Body, in.Status, *in.Author.ID, in.PublishedAt)
}

func (s *byHand) createDiscussion(c *fiber.Ctx) error {
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
	return s.row(c, handCreateDiscussion, *in.Title, *in.Body, in.Status, *in.Author.ID, texts, stars)
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
	return s.row(c, handUpdate, *in.Where.ID, in.Values.Title, in.Values.Body, in.Values.Status)
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
	return s.row(c, handUpdateOwn, *in.Where.ID, in.Values.Title, in.Values.Body, in.Values.Status, who)
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
		return s.page(c, *in.First, handListByStatus, *where.Status.Equals)
	case where.Author.ID.Equals != nil:
		return s.page(c, *in.First, handListByAuthor, *where.Author.ID.Equals)
	case where.Status.OneOf != nil && where.Score.LessThanOrEquals != nil:
		return s.page(c, *in.First, handListByOthers, where.Status.OneOf, *where.Score.LessThanOrEquals)
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
	return s.page(c, *in.First, handListOwn, who)
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
		return s.page(c, *in.First, handListEntriesFirst)
	}
	return s.page(c, *in.First, handListEntriesAfter, in.After.At, in.After.ID)
}
