/** A server's work for one who came. */
export interface Turn<Server> {
  readonly server: Server;
  /** When it began, by `performance.now()`; missing while the server is at the one before. */
  readonly beganMs: number | undefined;
}

/** A turn that was given and has not ended. */
export interface OpenTurn<Server> extends Turn<Server> {
  readonly caller: string;
  /** In which order turns were given. */
  readonly number: number;
  readonly hasGivenWay: boolean;
  beganMs: number | undefined;
  isTakenBack: boolean;
  /** Others were given later and have ended, so that nobody else is to wait for it. */
  isSlow: boolean;
}

/** The turns of servers that are with someone: the first of each has begun, others are given ahead. */
export class Turns<Server> {
  /** First those of servers that have been at one for longest. */
  readonly #byServer = new Map<Server, OpenTurn<Server>[]>();
  #givenCount = 0;

  /** How many servers are with someone. */
  get busy(): number {
    return this.#byServer.size;
  }

  /** Gives a server one more, which begins at once where it has no other. */
  give(server: Server, caller: string, hasGivenWay: boolean): OpenTurn<Server> {
    const others = this.#byServer.get(server) ?? [];
    const turn: OpenTurn<Server> = {
      server,
      caller,
      number: this.#givenCount++,
      hasGivenWay,
      beganMs: others.length === 0 ? performance.now() : undefined,
      isTakenBack: false,
      isSlow: false,
    };
    this.#byServer.set(server, [...others, turn]);
    return turn;
  }

  /** Ends a turn, so that the server's next begins; gives it as it was, or nothing where it had ended before. */
  end(turn: Turn<Server>): OpenTurn<Server> | undefined {
    const { server } = turn;
    const open = this.#byServer.get(server) ?? [];
    const ended = open.find((one) => one === turn);
    if (!ended) return undefined;
    const left = open.filter((one) => one !== ended);
    const [first] = left;
    if (first?.beganMs === undefined) this.#byServer.delete(server);
    if (first) {
      first.beganMs ??= performance.now();
      this.#byServer.set(server, left);
    }
    return ended;
  }

  /** Forgets all turns of a server. */
  forget(server: Server): void {
    this.#byServer.delete(server);
  }

  /** Whether a server is with someone. */
  has(server: Server): boolean {
    return this.#byServer.has(server);
  }

  /** Those that have not begun, first of servers that have been at one for longest. */
  ahead(): OpenTurn<Server>[] {
    const ahead: OpenTurn<Server>[] = [];
    for (const turns of this.#byServer.values())
      for (const turn of turns) if (turn.beganMs === undefined && !turn.isTakenBack) ahead.push(turn);
    return ahead;
  }

  /** Servers that are at the only turn they have, and not slow. */
  withNoneAhead(): Server[] {
    const servers: Server[] = [];
    for (const [server, [first, next]] of this.#byServer) if (!next && !first!.isSlow) servers.push(server);
    return servers;
  }

  /** Gives turns ahead of servers that are slower than the one of this turn, which has ended; such are given no more. */
  slowerThan({ number }: OpenTurn<Server>): OpenTurn<Server>[] {
    const slower = this.ahead().filter((turn) => turn.number < number);
    for (const { server } of slower) this.#byServer.get(server)![0]!.isSlow = true;
    return slower;
  }
}
