/** Errors in words. */

/** Returns the message of what was thrown; a host that cannot be reached has none of its own. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof TypeError && /fetch|network|load failed/i.test(thrown.message))
    return 'The host does not answer.'
  return thrown instanceof Error ? thrown.message : String(thrown)
}
