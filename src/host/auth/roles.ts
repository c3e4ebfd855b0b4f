/** Reads the scopes of groups, whose names tokens carry. */
import { type Scope, SCOPES } from '#kernel'

const NAMED = SCOPES.filter((scope) => scope !== 'provision')

/** Adds a problem for each text that is not of the form `group=scope+scope`. */
export function rolesOf(texts: readonly string[], problems: string[]): ReadonlyMap<string, readonly Scope[]> {
  const roles = new Map<string, readonly Scope[]>(NAMED.map((scope) => [scope, [scope]]))
  for (const text of texts) {
    const [, group, names = ''] = /^(.{1,200})=([a-z+]+)$/.exec(text) ?? []
    const asked = names.split('+')
    const scopes = NAMED.filter((scope) => asked.includes(scope))
    if (group !== undefined && scopes.length === asked.length) roles.set(group, scopes)
    else problems.push(`--role: "${text.slice(0, 200)}" cannot be used; write group=${NAMED.join(' or +')}`)
  }
  return roles
}
