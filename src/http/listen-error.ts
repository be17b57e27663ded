/** The address of a server and the settings that select it. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly settings: string;
}

/** Why a server cannot listen, by error code. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses this port",
  EACCES: "this user may not use this port",
  EADDRNOTAVAIL: "this machine does not have this address",
  ENOTFOUND: "this host name is unknown",
};

/** Creates an error that says in one sentence why a server cannot listen. */
export function createListenError(server: string, address: ListenAddress, cause: unknown): Error {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const { host, port, settings } = address;
  const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return new Error(
    `${server} cannot listen on ${where}: ${REASONS[code] ?? message}; ${settings} select another address`,
    { cause },
  );
}
