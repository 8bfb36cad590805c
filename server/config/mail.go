package config

import (
	"errors"
	"fmt"
	netmail "net/mail"
)

// HasMail tells whether mails can be requested: in development they are stored if they
// cannot be sent.
func (c *Config) HasMail() bool {
	return c.Mode == Development || c.Mail.Host != ""
}

func (c *Config) checkMail() []error {
	var problems []error
	switch {
	case c.Mail.Host != "" && c.Mail.From == "":
		problems = append(problems, errors.New("mail.smtp.host is set without mail.from: set the sender of mails too"))
	case c.Mail.Host == "" && c.Mode == Production && c.Mail.From != "":
		problems = append(problems, errors.New("mail.from is set without mail.smtp.host: set the server that sends mails too"))
	}
	if (c.Mail.Username == "") != (c.Mail.Password == "") {
		problems = append(problems, errors.New("only one of mail.smtp.username and mail.smtp.password is set: set both or neither"))
	}
	if c.Verification.SendsMail() && !c.HasMail() {
		problems = append(problems, fmt.Errorf("auth.password.verification is %s, which sends mails: set mail.smtp.host too", c.Verification))
	}
	return problems
}

// mailAddress reads the sender of mails.
func mailAddress(text string) (string, error) {
	if _, err := netmail.ParseAddress(text); err != nil {
		return "", errors.New("is not an e-mail address such as Shop <noreply@example.com>")
	}
	return text, nil
}
