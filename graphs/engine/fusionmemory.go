package engine

// spareFusion is the memory, in bytes, that fusing may take in any case.
const spareFusion = 16 << 20

// frugal returns groups in an order whose peak of memory is at most that of the single steps,
// or spareFusion: the groups as they are, or their connected parts, or the steps one by one.
//
// The results of a group live together until their readers have run, where fifty sums of fifty
// products, one after the other, hold one product at a time.
func (x *Executor) frugal(groups [][]int, inOrder func([][]int) ([][]int, error)) ([][]int, error) {
	single := make([][]int, len(x.steps))
	for i := range single {
		single[i] = []int{i}
	}
	most := max(spareFusion, x.peak(single, false))
	for _, try := range [][][]int{groups, x.connected(groups)} {
		ordered, err := inOrder(try)
		if err != nil {
			return nil, err
		}
		if x.peak(ordered, false) <= most && x.peak(ordered, true) <= most {
			return ordered, nil
		}
	}
	return single, nil
}

// connected divides groups into their connected parts: each step reads a result of its part.
func (x *Executor) connected(groups [][]int) (parts [][]int) {
	for _, g := range groups {
		writer := map[int]int{} // by slot, the step of the group
		parent := map[int]int{} // of a step: the root of a part is its own
		root := func(i int) int {
			for parent[i] != i {
				i = parent[i]
			}
			return i
		}
		for _, i := range g {
			parent[i] = i
			for _, slot := range x.steps[i].in {
				if w, ok := writer[slot]; ok {
					parent[root(w)] = i
				}
			}
			writer[x.steps[i].out] = i
		}
		at := map[int]int{}
		for _, i := range g {
			r := root(i)
			if _, ok := at[r]; !ok {
				at[r] = len(parts)
				parts = append(parts, nil)
			}
			parts[at[r]] = append(parts[at[r]], i)
		}
	}
	return parts
}

// peak returns the largest memory, in bytes, that results hold at a time where the groups run
// in this order, each as one kernel or step by step. Inputs and constants are not counted,
// because they are the same in every order.
func (x *Executor) peak(groups [][]int, fused bool) int {
	readers := x.readers() // that are left
	live, most := make([]int, len(x.shapes)), 0
	held := 0
	take := func(slot int) {
		live[slot] = x.size(slot) * int(x.dtypes[slot].Size())
		held += live[slot]
		most = max(most, held)
	}
	drop := func(slot int) {
		if readers[slot] == 0 {
			held -= live[slot]
			live[slot] = 0
		}
	}
	for _, g := range groups {
		whole := fused && len(g) > 1
		if whole {
			inside := map[int]int{}
			for _, i := range g {
				for _, slot := range x.steps[i].in {
					inside[slot]++
				}
			}
			for _, i := range g {
				if out := x.steps[i].out; readers[out] > inside[out] {
					take(out)
				}
			}
		}
		for _, i := range g {
			s := x.steps[i]
			if !whole {
				take(s.out)
			}
			for _, slot := range s.in {
				readers[slot]--
			}
			if whole {
				continue
			}
			drop(s.out)
			for _, slot := range s.in {
				drop(slot)
			}
		}
		if whole {
			for _, i := range g {
				drop(x.steps[i].out)
				for _, slot := range x.steps[i].in {
					drop(slot)
				}
			}
		}
	}
	return most
}
