package visage

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// maxWait is how long the service lets an image wait for its turn, in addition to the time that it needs.
const maxWait = 30 * time.Second

// StreamImage is an image of a stream.
type StreamImage struct {
	// Key comes back with the result. It need not be unique, and is not sent to the service.
	Key   string
	Image Image
	// Boxes select the faces instead of detecting them.
	Boxes []*visagev1.BoundingBox
}

// StreamResult is the result of an image of a stream.
type StreamResult struct {
	// Key is the key of the image.
	Key string
	// Response has the faces of the image. It is nil if the image failed.
	Response *visagev1.AnalyzeImageResponse
	// Failure is why this image was not analysed; nil otherwise. Other images are not affected.
	Failure *Error
}

// AnalyzeImages measures the faces of many images on one stream. Results come as they are ready, not in the order of the
// images. Options may be nil.
//
// An image is read when the service takes it. The sequence of images runs in another goroutine. At most
// Options.MaxInFlight images have no result. When the stream breaks, a new one is opened and the images without a result
// are sent again, up to Options.Retries times without a new result. If that does not help, the last pair of the sequence
// has an *Error.
func (c *Client) AnalyzeImages(
	ctx context.Context, images iter.Seq[StreamImage], options *AnalyzeOptions,
) iter.Seq2[StreamResult, error] {
	return func(yield func(StreamResult, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream := &imageStream{
			client: c, ctx: ctx, unanswered: map[string]sentImage{}, source: readImages(ctx, images, deref(options)),
			yield: yield,
		}
		if err := stream.run(); err != nil {
			yield(StreamResult{}, err)
		}
	}
}

// readImage is an image and its request, or the error of reading it.
type readImage struct {
	key     string
	request *visagev1.AnalyzeImageRequest
	err     error
}

// sentImage is an image that has no result yet.
type sentImage struct {
	number  int
	key     string
	request *visagev1.AnalyzeImagesRequest
}

// imageStream sends images and yields their results.
type imageStream struct {
	client *Client
	ctx    context.Context
	yield  func(StreamResult, error) bool
	// source is closed at the end of the images, and nil after that.
	source <-chan readImage
	// unanswered has the images that have no result yet, by the key of their requests.
	unanswered map[string]sentImage
	// unsent has the requests that the current attempt has not taken.
	unsent  []*visagev1.AnalyzeImagesRequest
	count   int
	attempt *streamAttempt
	// failing has the attempts since the last result; nil if there was no failure.
	failing *failingStream
	// waitingSince is when a result was awaited first.
	waitingSince time.Time
}

// errStopped ends a stream whose caller takes no more results.
var errStopped = errors.New("visage: stopped")

func (s *imageStream) run() error {
	defer s.close()
	for s.source != nil || s.attempt != nil {
		if err := s.step(); err != nil {
			if errors.Is(err, errStopped) {
				return nil
			}
			return err
		}
	}
	return nil
}

// step waits for one event and handles it.
func (s *imageStream) step() error {
	var source <-chan readImage
	if len(s.unsent) == 0 && len(s.unanswered) < s.client.maxInFlight {
		source = s.source
	}
	var events <-chan streamEvent
	var outbox chan<- *visagev1.AnalyzeImagesRequest
	var first *visagev1.AnalyzeImagesRequest
	if s.attempt != nil {
		events = s.attempt.events
		if len(s.unsent) > 0 {
			outbox, first = s.attempt.outbox, s.unsent[0]
		}
	}
	overdue, stop := s.overdue()
	defer stop()
	select {
	case image, ok := <-source:
		return s.send(image, ok)
	case outbox <- first:
		s.unsent = s.unsent[1:]
		s.endIfSent()
		return nil
	case event := <-events:
		if event.err != nil {
			return s.reopen(event)
		}
		return s.receive(event.response)
	case <-overdue:
		s.attempt.cancel()
		return s.reopen(streamEvent{err: context.DeadlineExceeded})
	case <-s.ctx.Done():
		return errorFromContext(s.ctx)
	case <-s.client.limit.closed:
		return errorFromClose()
	}
}

// overdue returns a channel that receives when a result should have come.
func (s *imageStream) overdue() (<-chan time.Time, func()) {
	if s.attempt == nil || len(s.unanswered) == 0 {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(s.waitingSince.Add(s.client.timeout + maxWait)))
	return timer.C, func() { timer.Stop() }
}

// send takes the next image, or the end of the images.
func (s *imageStream) send(image readImage, ok bool) error {
	if !ok {
		s.source = nil
		s.endIfSent()
		return nil
	}
	var failure *Error
	if errors.As(image.err, &failure) {
		return s.deliver(StreamResult{Key: image.key, Failure: failure})
	}
	if s.attempt == nil {
		s.open()
	}
	if len(s.unanswered) == 0 {
		s.waitingSince = time.Now()
	}
	// The caller's own key may be long, and need not be unique.
	s.count++
	key := strconv.Itoa(s.count)
	request := &visagev1.AnalyzeImagesRequest{Key: key, Request: image.request}
	s.unanswered[key] = sentImage{number: s.count, key: image.key, request: request}
	s.unsent = append(s.unsent, request)
	return nil
}

func (s *imageStream) receive(response *visagev1.AnalyzeImagesResponse) error {
	sent, ok := s.unanswered[response.GetKey()]
	if !ok {
		return nil
	}
	delete(s.unanswered, response.GetKey())
	s.failing.close()
	s.failing = nil
	result := StreamResult{Key: sent.key, Response: response.GetResponse()}
	if response.GetError() != nil {
		result.Failure = s.client.errorFromStatus(status.FromProto(response.GetError()).Err())
	}
	return s.deliver(result)
}

func (s *imageStream) deliver(result StreamResult) error {
	if !s.yield(result, nil) {
		return errStopped
	}
	// The time that the caller took does not count.
	s.waitingSince = time.Now()
	return nil
}

// endIfSent ends the requests when all images were sent.
func (s *imageStream) endIfSent() {
	if s.source == nil && len(s.unsent) == 0 && s.attempt != nil {
		s.attempt.end()
	}
}

// reopen continues after the end of an attempt: it opens a new one if some images have no result.
func (s *imageStream) reopen(end streamEvent) error {
	s.attempt.cancel()
	s.attempt, s.unsent = nil, nil
	if ended := s.client.endedBy(s.ctx); ended != nil {
		return ended
	}
	// The service also ends a stream on which nothing was sent for a while.
	if len(s.unanswered) == 0 {
		return nil
	}
	failure := s.client.errorFromEnd(end.err)
	if s.failing == nil {
		s.failing = newFailingStream(s.ctx, s.client)
	}
	delay, ok := s.failing.next(s.failing.ctx, failure, end.trailer)
	if !ok {
		return failure
	}
	s.client.limit.sleep(s.ctx, delay)
	if ended := s.client.endedBy(s.ctx); ended != nil {
		return ended
	}
	s.open()
	s.waitingSince = time.Now()
	sent := make([]sentImage, 0, len(s.unanswered))
	for _, image := range s.unanswered {
		sent = append(sent, image)
	}
	slices.SortFunc(sent, func(a, b sentImage) int { return a.number - b.number })
	for _, image := range sent {
		s.unsent = append(s.unsent, image.request)
	}
	return nil
}

func (s *imageStream) open() {
	ctx, cancel := context.WithCancel(s.ctx)
	s.attempt = &streamAttempt{
		cancel: cancel,
		outbox: make(chan *visagev1.AnalyzeImagesRequest),
		events: make(chan streamEvent),
	}
	go s.attempt.run(ctx, s.client.rawAnalysis)
}

func (s *imageStream) close() {
	if s.attempt != nil {
		s.attempt.cancel()
	}
	s.failing.close()
}

// failingStream has the attempts of a stream since its last result, which have one deadline.
type failingStream struct {
	*attempts
	ctx    context.Context
	cancel context.CancelFunc
}

func newFailingStream(ctx context.Context, client *Client) *failingStream {
	ctx, cancel := context.WithTimeout(ctx, client.timeout)
	return &failingStream{attempts: client.newAttempts(), ctx: ctx, cancel: cancel}
}

func (f *failingStream) close() {
	if f != nil {
		f.cancel()
	}
}

// streamEvent is a response, or the end of an attempt.
type streamEvent struct {
	response *visagev1.AnalyzeImagesResponse
	// err is io.EOF if the service ended the stream.
	err     error
	trailer metadata.MD
}

// streamAttempt is one stream to the service.
type streamAttempt struct {
	cancel  context.CancelFunc
	outbox  chan *visagev1.AnalyzeImagesRequest
	events  chan streamEvent
	isEnded bool
}

// end ends the requests.
func (a *streamAttempt) end() {
	if !a.isEnded {
		close(a.outbox)
	}
	a.isEnded = true
}

// run opens the stream, and sends and receives until its end.
func (a *streamAttempt) run(ctx context.Context, client visagev1.FaceAnalysisServiceClient) {
	defer a.cancel()
	stream, err := client.AnalyzeImages(ctx)
	if err != nil {
		a.report(ctx, streamEvent{err: err})
		return
	}
	go func() {
		for {
			select {
			case request, ok := <-a.outbox:
				if !ok {
					_ = stream.CloseSend()
					return
				}
				// Recv returns the error.
				if stream.Send(request) != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		response, err := stream.Recv()
		event := streamEvent{response: response, err: err}
		if err != nil {
			event.trailer = stream.Trailer()
		}
		if !a.report(ctx, event) || err != nil {
			return
		}
	}
}

func (a *streamAttempt) report(ctx context.Context, event streamEvent) bool {
	select {
	case a.events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}

// readImages reads images one by one, each when it is taken from the channel.
func readImages(ctx context.Context, images iter.Seq[StreamImage], options AnalyzeOptions) <-chan readImage {
	read := make(chan readImage)
	go func() {
		defer close(read)
		for image := range images {
			request, err := options.request(image.Image, image.Boxes)
			select {
			case read <- readImage{key: image.Key, request: request, err: err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return read
}

// errorFromEnd converts the error with which a stream ended.
func (c *Client) errorFromEnd(err error) *Error {
	switch {
	case errors.Is(err, io.EOF):
		err = status.Error(codes.Unavailable, "The stream ended before all results came.")
	case errors.Is(err, context.DeadlineExceeded):
		err = status.Error(codes.DeadlineExceeded, "No result came within the deadline.")
	}
	return c.errorFromStatus(err)
}
