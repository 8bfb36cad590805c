package bench

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The same API written by hand, for this one schema: the body decoded into a
// struct and checked, one prepared statement, the JSON of Postgres passed on.

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
	handGet = `select row_to_json(record)::text from (select` + postColumns + `
from app.post where post.id = $1) as record`

	handCreate = `insert into app.post (title, body, status, author_id, published_at)
values ($1, $2, coalesce($3, 'Draft'), $4, $5)
returning (select row_to_json(record)::text from (select` + postColumns + `) as record)`

	handList = `select string_agg(row_to_json(record)::text, ','), max(record.id), count(*) from (select` + postColumns + `
from app.post where post.status = $1 order by post.id limit $2) as record`

	handUpdate = `update app.post set title = coalesce($2, title), body = coalesce($3, body), status = coalesce($4, status)
where post.id = $1
returning (select row_to_json(record)::text from (select` + postColumns + `) as record)`
)

func serveByHand(databaseURL, address string, poolSize int32) error {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return err
	}
	config.MaxConns = poolSize
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return err
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	one := func(c *fiber.Ctx, sql string, arguments ...any) error {
		rows, err := pool.Query(c.Context(), sql, arguments...)
		if err != nil {
			return err
		}
		defer rows.Close()
		c.Set("Content-Type", "application/json")
		if !rows.Next() {
			if err := rows.Err(); err != nil {
				return err
			}
			return c.SendString("null")
		}
		return c.Send(append([]byte(nil), rows.RawValues()[0]...))
	}
	app.Post("/api/json/getPost", func(c *fiber.Ctx) error {
		var in struct{ ID *string }
		if err := json.Unmarshal(c.Body(), &in); err != nil || in.ID == nil {
			return fiber.ErrBadRequest
		}
		return one(c, handGet, *in.ID)
	})
	app.Post("/api/json/createPost", func(c *fiber.Ctx) error {
		var in struct {
			Title, Body *string
			Status      *string
			Author      *struct{ ID *string }
			PublishedAt *time.Time
		}
		if err := json.Unmarshal(c.Body(), &in); err != nil || in.Title == nil || in.Body == nil || in.Author == nil || in.Author.ID == nil {
			return fiber.ErrBadRequest
		}
		if in.Status != nil && *in.Status != "Draft" && *in.Status != "Live" {
			return fiber.ErrBadRequest
		}
		return one(c, handCreate, *in.Title, *in.Body, in.Status, *in.Author.ID, in.PublishedAt)
	})
	app.Post("/api/json/updatePost", func(c *fiber.Ctx) error {
		var in struct {
			Where  struct{ ID *string }
			Values struct{ Title, Body, Status *string }
		}
		if err := json.Unmarshal(c.Body(), &in); err != nil || in.Where.ID == nil {
			return fiber.ErrBadRequest
		}
		return one(c, handUpdate, *in.Where.ID, in.Values.Title, in.Values.Body, in.Values.Status)
	})
	app.Post("/api/json/listPosts", func(c *fiber.Ctx) error {
		var in struct {
			Where struct{ Status struct{ Equals *string } }
			First *int
		}
		if err := json.Unmarshal(c.Body(), &in); err != nil || in.Where.Status.Equals == nil || in.First == nil {
			return fiber.ErrBadRequest
		}
		var records, last *string
		var count int
		err := pool.QueryRow(c.Context(), handList, *in.Where.Status.Equals, *in.First).Scan(&records, &last, &count)
		if err != nil {
			return err
		}
		if records == nil {
			empty := ""
			records, last = &empty, &empty
		}
		c.Set("Content-Type", "application/json")
		return c.SendString(`{"results":[` + *records + `],"pageInfo":{"endCursor":"` + *last + `"}}`)
	})
	return app.Listen(address)
}
