export function withLock<Result>(path: string, run: () => Promise<Result>): Promise<Result>;
export function isRunning(pid: number): boolean;
