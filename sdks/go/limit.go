package visage

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// initialLimit is the first limit.
const initialLimit = 8

// inFlightLimit limits the calls in flight. Calls get their slots in the order of their numbers.
//
// The limit adapts to the service between 1 and the maximum, like the congestion window of TCP: it grows by one with
// every accepted call until the first rejection, and by one with every full window of accepted calls after it. A
// rejection halves it. Without this, a service that is slower than the maximum would reject some calls until their
// deadline.
type inFlightLimit struct {
	maximum int
	// closed is closed with the client.
	closed    chan struct{}
	closeOnce sync.Once

	mutex        sync.Mutex
	limit        float64
	hasRejection bool
	inFlight     int
	// pauses counts the rejected calls that wait for their delay. Meanwhile no call starts.
	pauses     int
	nextNumber uint64
	waiters    waiterHeap
}

func newInFlightLimit(maximum int) *inFlightLimit {
	return &inFlightLimit{maximum: maximum, limit: float64(min(maximum, initialLimit)), closed: make(chan struct{})}
}

// close ends every wait for a slot.
func (l *inFlightLimit) close() { l.closeOnce.Do(func() { close(l.closed) }) }

func (l *inFlightLimit) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// slot creates the slot of a new call. It is not acquired yet.
func (l *inFlightLimit) slot() *slot {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.nextNumber++
	return &slot{limit: l, number: l.nextNumber}
}

// sleep waits for a delay, until the context is done or until the limit is closed.
func (l *inFlightLimit) sleep(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-l.closed:
	}
}

// startWaiting starts the calls for which there is room. The caller holds the mutex.
func (l *inFlightLimit) startWaiting() {
	for len(l.waiters) > 0 && l.pauses == 0 && l.inFlight < int(l.limit) {
		next := heap.Pop(&l.waiters).(*waiter)
		l.inFlight++
		close(next.granted)
	}
}

// slot is the right of one call to be in flight. Only one goroutine may use it.
type slot struct {
	limit  *inFlightLimit
	number uint64
	isHeld bool
}

// acquire waits for the slot. It returns false if the context is done or the limit was closed first.
func (s *slot) acquire(ctx context.Context) bool {
	limit := s.limit
	waiting := &waiter{number: s.number, granted: make(chan struct{})}
	limit.mutex.Lock()
	heap.Push(&limit.waiters, waiting)
	limit.startWaiting()
	limit.mutex.Unlock()
	select {
	case <-waiting.granted:
	case <-ctx.Done():
	case <-limit.closed:
	}
	limit.mutex.Lock()
	defer limit.mutex.Unlock()
	if waiting.index >= 0 {
		heap.Remove(&limit.waiters, waiting.index)
	} else {
		s.isHeld = true
	}
	return s.isHeld && ctx.Err() == nil && !limit.isClosed()
}

// accept reports that the service accepted the call.
func (s *slot) accept() {
	limit := s.limit
	limit.mutex.Lock()
	defer limit.mutex.Unlock()
	growth := 1.0
	if limit.hasRejection {
		growth = 1 / limit.limit
	}
	limit.limit = min(float64(limit.maximum), limit.limit+growth)
	limit.startWaiting()
}

// reject reports that the service rejected the call because of its load. It releases the slot and lets no call start
// for the delay.
func (s *slot) reject(ctx context.Context, delay time.Duration) {
	limit := s.limit
	limit.mutex.Lock()
	limit.hasRejection = true
	// Calls that were sent together are rejected together.
	if limit.pauses == 0 {
		limit.limit = max(1, limit.limit/2)
	}
	limit.pauses++
	limit.mutex.Unlock()
	s.release()
	limit.sleep(ctx, delay)
	limit.mutex.Lock()
	defer limit.mutex.Unlock()
	limit.pauses--
	limit.startWaiting()
}

// release gives the slot back, if the call has it.
func (s *slot) release() {
	if !s.isHeld {
		return
	}
	s.isHeld = false
	s.limit.mutex.Lock()
	defer s.limit.mutex.Unlock()
	s.limit.inFlight--
	s.limit.startWaiting()
}

// waiter is a call that waits for a slot.
type waiter struct {
	number  uint64
	granted chan struct{}
	// index is the position in the heap; -1 outside of it.
	index int
}

// waiterHeap has the lowest number first. It implements heap.Interface.
type waiterHeap []*waiter

func (h waiterHeap) Len() int           { return len(h) }
func (h waiterHeap) Less(i, j int) bool { return h[i].number < h[j].number }
func (h waiterHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *waiterHeap) Push(value any) {
	added := value.(*waiter)
	added.index = len(*h)
	*h = append(*h, added)
}

func (h *waiterHeap) Pop() any {
	last := len(*h) - 1
	removed := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	removed.index = -1
	return removed
}
