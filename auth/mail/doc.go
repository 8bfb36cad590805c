// Package mail writes the mails that the service sends, and hands them to a mail server.
//
// Templates turn the name of a mail, the languages that somebody reads and a link into a
// Content; Sender sends one by SMTP. When a mail is sent, how often it is tried, and what it
// proves, is not known here.
package mail
