// Package mail writes the mails that the service sends, and hands them to a mail server.
//
// Templates turn the name of a mail, the languages of its reader and a link into a Content;
// Sender sends one by SMTP. This package does not decide when a mail is sent, how often it
// is tried, and what it proves.
package mail
