package refusal

import (
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	deniedTable   = regexp.MustCompile(`^permission denied for table "?(\w+)"?$`)
	deniedCommand = regexp.MustCompile(`(?i)^SQL statement "\s*(select|insert|update|delete)\b`)
)

// MissingRule says which rule of a model custom code lacks that was refused a table, as far as
// Postgres tells: the database admits code to a table only for what a rule of its model is about.
// It is empty for other errors.
func MissingRule(raised *pgconn.PgError) string {
	denied := deniedTable.FindStringSubmatch(raised.Message)
	if raised.Code != "42501" || raised.Where == "" || denied == nil {
		return ""
	}
	command := deniedCommand.FindStringSubmatch(raised.Where)
	kind, also := "what the code does", ""
	if command != nil {
		kind = strings.ToLower(command[1])
		switch kind {
		case "select":
			kind = "get or list"
		case "insert":
			kind, also = "create", ", or it writes a field that only the database writes"
		case "update":
			also = ", or it writes a field that only the database writes"
		}
	}
	return "the model of table " + denied[1] + " has no @permission for " + kind + ", so custom code may not do it" + also
}
