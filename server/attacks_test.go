package server

import "testing"

// TestAttacks is the table of known attacks, scaled down: those that take the service down, keep others from it, or
// reach it through another user's browser. They run one after the other and alone, since some check the memory of the
// process.
func TestAttacks(t *testing.T) {
	for _, test := range []struct {
		attack string
		run    func(*testing.T)
	}{
		{"connections use up the descriptors", attackOnDescriptors},
		{"idle connections keep others out", attackWithConnections},
		{"a connection is opened and left alone", attackBySilence},
		{"idle connections keep their buffers", attackByKeeping},
		{"61 bytes announce a body of megabytes", attackByAnnouncing},
		{"a body is sent to where none is wanted", attackWithRefusedBodies},
		{"bodies use up the memory", attackWithManyBodies},
		{"uploads to the disk use up the memory", attackWithUploads},
		{"slow downloads use up the memory and the places", attackWithDownloads},
		{"fat answers that nobody reads use up the memory", attackWithAnswers},
		{"calls queue up whose clients have left", attackByLeaving},
		{"a name leads the pages of others to those of development", attackByName},
		{"others than our pages ask for rows, or for the token of an identity", attackOnRows},
		{"a foreign page sends a body that no browser asks about", attackByForeignBody},
	} {
		t.Run(test.attack, test.run)
	}
}
