<?php
// Calls the four operations and one of the typed API. Arguments: ADDRESS API_KEY ONE TWO.
declare(strict_types=1);

/** A failed call: an error of the service, or of the connection to it (UNREACHABLE). */
final class VisageException extends RuntimeException
{
    public function __construct(
        string $message,
        public readonly string $reason,
        public readonly string $envelopeCode = '',
        public readonly string $image = '',
        public readonly bool $retryable = false,
        public readonly int $retryAfterSeconds = 0,
    ) {
        parent::__construct($message);
    }
}

final class Visage
{
    public function __construct(private string $address, private string $apiKey, private int $timeoutSeconds = 30)
    {
    }

    /** Sends files: ['img' => 'photo.jpg']. Returns the result. */
    public function sendFiles(string $operation, array $paths, array $query = []): array
    {
        $files = array_map(
            fn ($path) => is_readable($path) ? new CURLFile($path) : throw new RuntimeException("Cannot read $path."),
            $paths,
        );
        return $this->send($operation, $files, [], $query);
    }

    /** Sends Base64 or URLs as JSON: ['img' => base64_encode($bytes)]. Returns the result. */
    public function sendJson(string $operation, array $fields, array $query = []): array
    {
        $body = json_encode($fields, JSON_THROW_ON_ERROR);
        return $this->send($operation, $body, ['Content-Type: application/json'], $query);
    }

    /** Retries twice if the service says that it helps; after an internal error only once. */
    private function send(string $operation, array|string $body, array $headers, array $query): array
    {
        for ($attempt = 0; ; $attempt++) {
            try {
                return $this->post($operation, $body, $headers, $query);
            } catch (VisageException $error) {
                $delay = max($error->retryAfterSeconds, 0.1 * 2 ** $attempt);
                $retries = $error->reason === 'INTERNAL' ? 1 : 2;
                if (!$error->retryable || $attempt >= $retries || $delay > $this->timeoutSeconds) {
                    throw $error;
                }
                usleep((int) ($delay * (1 + mt_rand() / mt_getrandmax() / 2) * 1e6));
            }
        }
    }

    private function post(string $operation, array|string $body, array $headers, array $query): array
    {
        $answer = [];
        $curl = curl_init("$this->address/$operation?" . http_build_query($query));
        curl_setopt_array($curl, [
            CURLOPT_POSTFIELDS => $body,
            CURLOPT_HTTPHEADER => ["Authorization: Bearer $this->apiKey", ...$headers],
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => $this->timeoutSeconds,
            CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$answer): int {
                [$name, $value] = array_map('trim', explode(':', $line, 2)) + [1 => ''];
                $answer[strtolower($name)] = $value;
                return strlen($line);
            },
        ]);
        $text = curl_exec($curl);
        if ($text === false) {
            throw new VisageException(curl_error($curl), 'UNREACHABLE', retryable: true);
        }
        // A proxy may answer with something else than JSON.
        $body = json_decode($text, true);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        // The typed API has no envelope: its response is the result itself, or the status of an error.
        $hasEnvelope = isset($body['success']);
        if (is_array($body) && ($hasEnvelope ? $body['success'] : $status === 200)) {
            return $hasEnvelope ? $body['data'] : $body;
        }
        $details = $hasEnvelope ? $body['data'] : $body;
        if (!isset($details['reason'])) {
            throw new VisageException("HTTP status $status", 'UNREACHABLE', retryable: $status >= 502);
        }
        throw new VisageException(
            $body['message'],
            $details['reason'],
            $hasEnvelope ? $body['code'] : $body['details'][0]['metadata']['code'],
            $answer['x-visage-image'] ?? '',
            $details['retryable'],
            (int) ($answer['retry-after'] ?? 0),
        );
    }
}

[, $address, $apiKey, $one, $two] = $argv;
$visage = new Visage($address, $apiKey);
try {
    $match = $visage->sendFiles('match_faces', ['img_1' => $one, 'img_2' => $two]);
    echo "match_faces: {$match['status']} ({$match['score']})\n";

    $base64 = array_map(fn ($path) => base64_encode(file_get_contents($path)), ['img_1' => $one, 'img_2' => $two]);
    $comparison = $visage->sendJson('compare_faces', $base64);
    echo "compare_faces: {$comparison['confidence']}\n";

    $attributes = $visage->sendFiles('get_image_attr', ['image_attr' => $one])['attributes'];
    [$height, $width] = $attributes['image_size'];
    unset($attributes['image_size']);
    echo 'get_image_attr: ', count($attributes), " faces, $width x $height pixels\n";

    $vector = $visage->sendJson('get_face_vec', ['img' => $base64['img_1']], ['quality' => 1])['vector'];
    echo 'get_face_vec: ', count($vector), " numbers\n";

    $analysis = $visage->sendFiles('v1/images:analyze', ['image' => $two], ['features' => 'FEATURE_QUALITY']);
    $usable = array_filter($analysis['faces'], fn ($face) => $face['quality']['usable']);
    echo 'analyze: ', count($analysis['faces']), ' faces, ', count($usable), " usable\n";
} catch (VisageException $error) {
    $retryable = var_export($error->retryable, true);
    fwrite(STDERR, "$error->reason $error->envelopeCode, image: $error->image, retryable: $retryable: {$error->getMessage()}\n");
    exit(1);
}
