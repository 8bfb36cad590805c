package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkInvitation reads the @invitation of a create, once the other attributes are read. One input is the address that the
// mail goes to, and one to-one to Identity waits for whoever accepts.
func (c *checker) checkInvitation(a *actionDecl) {
	i := slices.IndexFunc(a.attrs, isInvitation)
	if i < 0 {
		return
	}
	at := a.attrs[i]
	if a.Custom {
		c.report(FunctionAttribute, at.Name.Span(), functionAttribute("invitation"))
	}
	if !c.noArgument(at) || a.Custom || a.doubtful {
		return
	}
	var addresses, accounts []*model.Field
	isWritten := map[*model.Field]bool{}
	for _, in := range a.Writes {
		if in.Explicit {
			continue
		}
		first := in.Path[0]
		isWritten[first], isWritten[first.FKOf] = true, true
		if first.Format != nil && first.Format.Name == "email" && !first.Type.Array {
			addresses = append(addresses, first)
		}
	}
	for _, set := range a.Sets {
		isWritten[set.Target[0]], isWritten[set.Target[0].FKOf] = true, true
	}
	for _, f := range a.Model.Fields {
		if f.IsToOne() && f.Target != nil && f.Target.IsIdentity && f.FK != nil && f.Optional && f.Computed == nil && !isWritten[f] {
			accounts = append(accounts, f)
		}
	}
	switch {
	case len(addresses) != 1:
		c.report(BadInvitation, at.Name.Span(), invitationAddress(a.Name))
	case len(accounts) != 1:
		c.report(BadInvitation, at.Name.Span(), invitationAccount(a.Model.Name))
	default:
		a.Invitation = &model.Invitation{Address: addresses[0], Account: accounts[0]}
	}
}

// invites tells whether an action of the schema bears @invitation.
func (c *checker) invites() bool {
	return slices.ContainsFunc(c.models, func(m *modelDecl) bool {
		return slices.ContainsFunc(syntax.ActionsOf(m.tree.Members), func(a *syntax.Action) bool {
			return slices.ContainsFunc(a.Attrs, isInvitation)
		})
	})
}

func isInvitation(at *syntax.Attribute) bool { return at.Name.Name == "invitation" }
