import type { Random } from "../../support/random.ts";
import type { Fixtures } from "./script.ts";

// biome-ignore format: a table
export const HOSTS: readonly (readonly string[])[] = [
  [], [""], [" "], ["["], ["[]"], ["[::1"], ["[::1]"], ["[::1]:80"], ["a b"], ["a:99999"], [":99999"], [":"], ["a:"],
  ["a:b"], ["a/b"], ["a?b"], ["a#b"], ["a@b"], ["a\\b"], ["%"], ["%zz"], ["\xe9"], ["\0"], ["a\0b"], ["a,b"], ["a", "b"],
  ["a", "a"], ["", "a"], ["x".repeat(5_000)], ["<script>"], ["1.2.3.4.5"], ["0x7f.1"], ["xn--"], ["a..b"], ["^"], ["|"],
];

/** The head of a request: its request line and header lines. */
export function head(requestLine: string, lines: readonly string[]): string {
  return `${[requestLine, ...lines].join("\r\n")}\r\n\r\n`;
}

/** The header line of a known user (most often), of an unknown user, or none. */
export function someUser(random: Random, { user }: Fixtures): string[] {
  return random.pick([[`user_id: ${user}`], [`user_id: ${user}`], ["user_id: unknown-user"], []]);
}
