import type { ClientHttp2Session, SecureClientSessionOptions } from "node:http2";
import { Http2SessionManager } from "@connectrpc/connect-node";

/**
 * Detects connections that were lost without notice: after this time without a response, the client sends a PING, and
 * gives up the connection after as much time again.
 */
const PING_MS = 10_000;

/**
 * Node resets streams when a connection holds more than this, 10 MB by default: about 120 calls with photographs. The
 * clients limit their memory by the number of calls in flight instead. Node 20 takes at most 4,294.
 */
const MAX_SESSION_MEMORY_MB = 4_000;

/** The connections of a client to a service. */
export class Http2Sessions extends Http2SessionManager {
  readonly #sessions = new WeakSet<ClientHttp2Session>();

  constructor(address: string, options: SecureClientSessionOptions = {}) {
    const ping = { pingIntervalMs: PING_MS, pingTimeoutMs: PING_MS };
    super(address, ping, { maxSessionMemory: MAX_SESSION_MEMORY_MB, ...options });
  }

  override async request(
    ...args: Parameters<Http2SessionManager["request"]>
  ): ReturnType<Http2SessionManager["request"]> {
    const stream = await super.request(...args);
    const session = stream.session as ClientHttp2Session | undefined;
    if (session && !this.#sessions.has(session)) {
      this.#sessions.add(session);
      // The calls report errors. But a session may also emit one after the manager has stopped listening, which would
      // end the process: a server without HTTP/2 breaks the session, and the client is closed before that is torn down.
      session.on("error", () => {});
    }
    return stream;
  }
}
