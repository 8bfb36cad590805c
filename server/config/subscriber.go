package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Subscriber is a webhook: where a subscriber's events are sent.
type Subscriber struct {
	Name         string
	URL          string
	Secret       []byte   // that signs; nil means that none is set
	Previous     [][]byte // that sign too, while the receiver learns the new one
	Timeout      time.Duration
	MaxAttempts  int
	Concurrency  int  // deliveries of this server at the same time
	AllowPrivate bool // whether the address may be of this machine, or of a private network
}

// subscriberMembers lists the keys of one of subscribers.
var subscriberMembers = []setting[Subscriber]{
	{key: "url", set: one(webhookURL, func(s *Subscriber) *string { return &s.URL })},
	{key: "secret", set: one(webhookSecret, func(s *Subscriber) *[]byte { return &s.Secret }), isSecret: true},
	{key: "previousSecrets", set: each(webhookSecret, func(s *Subscriber) *[][]byte { return &s.Previous }), isList: true, isSecret: true},
	{key: "timeout", set: one(secondsUpTo(0.1, 300), func(s *Subscriber) *time.Duration { return &s.Timeout }), production: "10", development: "10"},
	{key: "maxAttempts", set: one(integer(1, 100), func(s *Subscriber) *int { return &s.MaxAttempts }), production: "12", development: "12"},
	{key: "concurrency", set: one(integer(1, math.MaxInt16), func(s *Subscriber) *int { return &s.Concurrency }), production: "10", development: "10"},
	{key: "allowPrivate", set: one(boolean, func(s *Subscriber) *bool { return &s.AllowPrivate }), production: "false", development: "true"},
}

// readSubscribers reads subscribers, in the order of the file. A secret in the environment wins.
func readSubscribers(objects []object, mode Mode, env []string) ([]Subscriber, []error) {
	var subscribers []Subscriber
	var problems []error
	var variables []string
	for _, o := range objects {
		variables = append(variables, SubscriberVariable(o.name))
	}
	for i, o := range objects {
		s := Subscriber{Name: o.name}
		inEnvironment, err := readSecret(variables[i], variables, env)
		if err != nil {
			problems = append(problems, err)
		}
		found := func(member *setting[Subscriber]) (given, bool) {
			if member.key == "secret" && inEnvironment != "" {
				return given{texts: []string{inEnvironment}, place: variables[i]}, true
			}
			g, ok := o.values[member.key]
			return g, ok
		}
		wrong := setAll(subscriberMembers, &s, mode, found)
		refuse := func(text string) {
			wrong = append(wrong, o.place.problem(fmt.Errorf("subscribers.%s: %s", s.Name, text)))
		}
		switch {
		case !isSubscriber(s.Name):
			refuse("it is not the name of a subscriber, which begins with a small letter and has only letters and digits")
		case len(wrong) > 0:
		case s.URL == "":
			refuse("url is required")
		case strings.HasPrefix(s.URL, "http://") && mode == Production:
			refuse("url must begin with https:// in production")
		}
		problems = append(problems, wrong...)
		subscribers = append(subscribers, s)
	}
	return subscribers, problems
}

var isSubscriber = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`).MatchString

// SubscriberVariable returns the name of the secret of a subscriber in the environment.
func SubscriberVariable(name string) string {
	return "SUBSCRIBER_SECRET_" + upperSnake(name)
}

// Readers of texts. Each error continues a sentence that begins with the text.

func webhookURL(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return "", errors.New("is not an address such as https://warehouse.example.com/hook")
	case u.User != nil, strings.Contains(text, "#"):
		return "", errors.New("may not have a user name, or a part that begins with #")
	}
	return text, nil
}

// webhookSecret reads a secret of Standard Webhooks.
func webhookSecret(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New(`is not whsec_ and 24 to 64 bytes in base64: make one with echo "whsec_$(openssl rand -base64 32)"`)
	}
	return key, nil
}
