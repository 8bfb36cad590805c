package value

// The schemas of every database. The platform makes them, and the roles that package role names.
const (
	AppSchema     = "app"
	RelatedSchema = "related"
	APISchema     = "api"
	CodeSchema    = "functions"
)

// The limits of Postgres, as compiled into it.
const (
	MaxColumns = 1600        // of a table
	MaxKeys    = 32          // columns of a constraint or index
	MaxInputs  = 100         // parameters of a function
	MaxOrder   = MaxKeys - 2 // keys of a list's own order, whose index may begin with a foreign key and ends with the id
)
