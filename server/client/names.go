package client

import (
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/sql/release"
)

// The names that are added to the runtime's, for any schema.
const (
	errorType       = "ApiError"
	storedFileType  = "StoredFile"
	pagingType      = "ListPaging"
	uploadsType     = "UploadFields"
	inputFieldsType = "InputFields"
	inputFieldType  = "InputField"
	signInsType     = "SignInActions"
	uploadMember    = "upload"
)

// languageTypes are types of the language that occur outside of the runtime.
var languageTypes = []string{"AsyncIterable", "Blob", "Promise"}

// signInMembers are the members of the runtime's interface SignInActions.
var signInMembers = []string{
	"signIn", "signInWithPasskey", "signInWith", "finishSignIn", "signInWithIdToken", "signInProviders", "signOut", "isSignedIn", "accessToken", "onSignInChange",
}

// typeNames returns the type name of each component: its own, or one with a number
// appended if the runtime or the language uses that name.
func typeNames(components release.Schemas, clientType string) map[string]string {
	taken := runtimeWords()
	for _, name := range slices.Concat(languageTypes, []string{errorType, pagingType, uploadsType, inputFieldsType, inputFieldType, clientType}) {
		taken[name] = true
	}
	isComponent := map[string]bool{}
	for _, c := range components {
		isComponent[c.Name] = true
	}
	names := map[string]string{}
	for _, c := range components {
		own := c.Name
		if own == "File" { // which is a type of every page
			own = storedFileType
		}
		name := own
		for n := 2; taken[name] || name != c.Name && isComponent[name]; n++ {
			name = own + strconv.Itoa(n)
		}
		taken[name] = true
		names[c.Name] = name
	}
	return names
}

// methodName returns the name of the method of an action, as an interface writes it: its own, with two exceptions. The
// language takes an object with a method then for a promise, and await would call the action. It reads new without
// quotes as a constructor.
func methodName(a *release.Action) string {
	switch a.Name {
	case "then":
		return "then_"
	case "new":
		return quote(a.Name)
	}
	return member(a.Name)
}

// memberName returns the name of a member that is not an action: its own, or one with an
// underscore appended if an action has that name.
func memberName(name string, api *release.API) string {
	for slices.Contains(api.Actions, name) {
		name += "_"
	}
	return name
}
