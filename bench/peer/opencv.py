# Prints the milliseconds of CPU time for one vector of a photo, for each line on standard input.
# Arguments: YuNet in the form of the OpenCV model zoo (but for RGB), SFace, photo.
import sys, time
import cv2, numpy

detector_file, recognizer_file, photo = sys.argv[1:]
cv2.setNumThreads(1)
detector = cv2.FaceDetectorYN.create(detector_file, "", (320, 320))
recognizer = cv2.FaceRecognizerSF.create(recognizer_file, "")
encoded = numpy.fromfile(photo, numpy.uint8)

def embed():
    image = cv2.imdecode(encoded, cv2.IMREAD_COLOR)
    scale = 320 / max(image.shape)
    small = cv2.cvtColor(cv2.resize(image, None, fx=scale, fy=scale), cv2.COLOR_BGR2RGB)
    detector.setInputSize(small.shape[1::-1])
    face = detector.detect(small)[1][0]
    face[:14] /= scale
    return recognizer.feature(recognizer.alignCrop(image, face))

for _ in sys.stdin:
    start = time.process_time()
    embed()
    print(1000 * (time.process_time() - start), flush=True)
