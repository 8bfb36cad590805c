package integration

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestInvoices lets 16 colleagues of two practices write 1,000 random invoices at once, and tries others that are
// refused. Each total is exact, by a calculation with fractions, and each practice counts without gaps.
func TestInvoices(t *testing.T) {
	t.Parallel()
	const writers, wanted = 16, 1000
	a := serveApp(t, appDir("clinic"))
	a.seed(t, appDir("clinic"))
	headers := map[string]http.Header{"north": authorized(a.token(t, "nora")), "south": authorized(a.token(t, "sara"))}
	other := map[string]string{"north": "south", "south": "north"}

	// call returns the record that an action answers, and its status.
	call := func(practice, action string, input map[string]any) (record map[string]any, status int) {
		body, err := json.Marshal(input)
		if err != nil {
			t.Error(err)
		}
		response, text, err := a.try(t.Context(), "POST", "/api/json/"+action, headers[practice], string(body))
		if err != nil {
			t.Error(err)
			return nil, 0
		}
		if response.StatusCode == http.StatusOK {
			if record, err = exactObject(text); err != nil {
				t.Errorf("%s answers %s", action, text)
			}
		}
		return record, response.StatusCode
	}
	link := func(id string) map[string]any { return map[string]any{"id": id} }

	type invoice struct{ practice, id string }
	type sums struct{ total, paid big.Rat }
	expected := map[invoice]*sums{}
	var lock sync.Mutex
	var refused int
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(w)))
			for range wanted/writers + 1 {
				practice := []string{"north", "south"}[r.IntN(2)]
				draft := map[string]any{"patient": link(practice + "-patient-1"), "issuedOn": "2027-03-02"}
				if r.IntN(3) == 0 { // the patient is another practice's
					_, status := call(practice, "draftInvoice", map[string]any{"patient": link(other[practice] + "-patient-1"), "issuedOn": "2027-03-02"})
					if status != http.StatusForbidden {
						t.Errorf("an invoice for the other practice's patient: %d", status)
					}
					lock.Lock()
					refused++
					lock.Unlock()
				}
				drafted, status := call(practice, "draftInvoice", draft)
				if status != http.StatusOK {
					t.Errorf("an invoice is refused: %d", status)
					return
				}
				of := invoice{practice, drafted["id"].(string)}
				sum := &sums{}
				for range r.IntN(4) {
					quantity, percent := int64(r.IntN(99)+1), big.NewRat(int64(r.IntN(10_001)), 100)
					line, status := call(practice, "addLine", map[string]any{
						"invoice": link(of.id), "service": link(practice + "-visit"), "quantity": quantity, "discount": json.Number(percent.FloatString(2)),
					})
					if status != http.StatusOK {
						t.Errorf("a line is refused: %d", status)
						return
					}
					price, _ := new(big.Rat).SetString(string(line["price"].(json.Number)))
					left := new(big.Rat).Sub(big.NewRat(100, 1), percent)
					sum.total.Add(&sum.total, cents(new(big.Rat).Mul(new(big.Rat).Mul(price, big.NewRat(quantity, 100)), left)))
				}
				for range r.IntN(3) {
					amount := big.NewRat(int64(r.IntN(100_000)), 100)
					if _, status := call(practice, "recordPayment", map[string]any{"invoice": link(of.id), "amount": json.Number(amount.FloatString(2)), "paidOn": "2027-03-03"}); status != http.StatusOK {
						t.Errorf("a payment is refused: %d", status)
						return
					}
					sum.paid.Add(&sum.paid, amount)
				}
				lock.Lock()
				expected[of] = sum
				lock.Unlock()
			}
		})
	}
	group.Wait()
	if len(expected) < wanted || refused < wanted/5 {
		t.Fatalf("there are %d invoices, and %d calls were refused", len(expected), refused)
	}

	numbers := map[string]map[string]bool{"north": {}, "south": {}}
	for of, want := range expected {
		read, _ := call(of.practice, "getInvoice", map[string]any{"id": of.id})
		for name, sum := range map[string]*big.Rat{"total": &want.total, "paid": &want.paid} {
			if got, ok := new(big.Rat).SetString(string(read[name].(json.Number))); !ok || got.Cmp(sum) != 0 {
				t.Errorf("%s of %s is %v, want %s", name, of.id, read[name], sum.FloatString(4))
			}
		}
		numbers[of.practice][read["number"].(string)] = true
	}
	for practice, given := range numbers {
		for n := range len(given) { // the seeds have two
			if number := fmt.Sprintf("INV-%04d", n+3); !given[number] {
				t.Errorf("%s has no %s among %d numbers", practice, number, len(given))
			}
		}
	}
	if given := len(numbers["north"]) + len(numbers["south"]); given != len(expected) {
		t.Errorf("%d invoices have %d numbers", len(expected), given)
	}
}

// exactObject reads an object whose numbers stay as they were written.
func exactObject(text string) (map[string]any, error) {
	var record map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&record)
	return record, err
}

// cents rounds to two digits, half away from zero.
func cents(x *big.Rat) *big.Rat {
	rounded, _ := new(big.Rat).SetString(x.FloatString(2))
	return rounded
}
