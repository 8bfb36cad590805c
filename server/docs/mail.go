package docs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/gofiber/fiber/v2"
)

// mailPath is the path of the mails in development.
const mailPath = "/mail"

// mailsShown is the number of mails shown, the latest ones.
const mailsShown = 50

// mailView is a mail as the page shows it.
type mailView struct {
	Name, Recipient, AskedAt, State string
	Subject, Failure                string
	Text                            []piece // nil if it cannot be opened
}

// piece is a part of a text: a link, or the text between links.
type piece struct {
	Text   string
	IsLink bool
}

// mailsQuery lists the latest mails.
const mailsQuery = `
	select coalesce(json_agg(json_build_object(
		'name', name, 'recipient', recipient, 'content', encode(content, 'base64'), 'askedAt', asked_at, 'isSent', sent_at is not null, 'failure', failure
	)), '[]')::text
	from platform.mail_list($1)`

// mailPage shows the mails, which are stored in development.
func (s *Pages) mailPage(c *fiber.Ctx) error {
	var text string
	if err := s.DB.QueryRow(mailsQuery, []any{int32(mailsShown)}, &text); err != nil {
		return refuseCatalog("list the mails", err)
	}
	var kept []struct {
		Name, Recipient string
		Content         []byte
		AskedAt         time.Time
		IsSent          bool
		Failure         string
	}
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return fmt.Errorf("read the mails: %w", err)
	}
	views := []mailView{}
	for _, m := range kept {
		v := mailView{Name: m.Name, Recipient: m.Recipient, AskedAt: m.AskedAt.Format(time.DateTime), Failure: m.Failure, State: "waiting"}
		switch {
		case m.IsSent && s.Config.Mail.Host != "":
			v.State = "sent"
		case m.IsSent:
			v.State = "not sent: no mail server is configured"
		case m.Failure != "":
			v.State = "not sent"
		}
		if content, err := s.OpenMail(m.Name, m.Content); err == nil {
			v.Subject, v.Text = content.Subject, pieces(content.Text)
		}
		views = append(views, v)
	}
	number, m := s.Release()
	return sendPage(c, s.pages()["mail"], struct {
		frame
		Mails []mailView
	}{s.frame(number, m, "", 0), views})
}

var isLink = regexp.MustCompile(`https?://[^\s<>"]+`)

// pieces finds the links of a text.
func pieces(text string) []piece {
	var all []piece
	at := 0
	for _, place := range isLink.FindAllStringIndex(text, -1) {
		all = append(all, piece{Text: text[at:place[0]]}, piece{Text: text[place[0]:place[1]], IsLink: true})
		at = place[1]
	}
	return append(all, piece{Text: text[at:]})
}
