/** Which values of the message code reads by name, and whether one of them is new. */
import { AppError } from '../../kernel/errors.ts'
import type { Path } from '../placeholders/scope.ts'
import type { PlugContext } from '../plug/plug.ts'

/** Names of the values of the message that paths read, each once. No path reads the message as a whole. */
export function messageNames(uses: readonly Path[]): readonly string[] {
  const names = new Set<string>()
  for (const { root, segments } of uses) {
    const [name] = segments
    if (root === 'streamdata' && name !== undefined) names.add(name)
  }
  return [...names]
}

/** The failure of a call that remembers nothing yet and finds nothing new. */
export function noNews(names: readonly string[]): AppError {
  const listed = names.slice(0, 10).map((name) => `"${name}"`)
  return new AppError('BINDING', `no message has brought a value of ${listed.join(' or ')} yet, so nothing can be said`)
}

/**
 * Whether there is something new for code that reads these values of the message: the message at hand has one of them
 * itself. Code that reads none of the message, as of other nodes alone, finds something new at every run.
 */
export function hasNews(context: Pick<PlugContext, 'isNew'>, names: readonly string[]): boolean {
  if (names.length === 0) return true
  for (const name of names) if (context.isNew(name)) return true
  return false
}
